#define _POSIX_C_SOURCE 200809L
#include "pump.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

static pump_status failed(pump *p, int system_error) {
  p->system_error = system_error;
  return PUMP_FAILED;
}

/* Takes over what a call of the stream has done. */
static void account(pump *p, size_t consumed, size_t produced) {
  p->in_start += consumed;
  p->in_len -= consumed;
  p->out_start = 0;
  p->out_len = produced;
}

void pump_start(pump *p, sst_stream *stream, int fd) {
  /* A flight goes out as one write; it must not wait for the acknowledgement of the flight before (Nagle). */
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(const int){1}, sizeof(int));
  memset(p, 0, offsetof(pump, in));
  p->stream = stream;
  p->fd = fd;
}

bool pump_unsent(const pump *p) {
  return p->out_len > 0 || sst_stream_output_size(p->stream) > 0;
}

/* Sends what is in the room. */
static pump_status send_room(pump *p) {
  while (p->out_len > 0) {
    const ssize_t n = send(p->fd, p->out + p->out_start, p->out_len, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN ? PUMP_WANT_WRITE : failed(p, errno);
    if (p->on_wire) p->on_wire(p->context, true, p->out + p->out_start, (size_t)n);
    p->out_start += (size_t)n; /* The socket may take a part only. */
    p->out_len -= (size_t)n;
  }
  return PUMP_OK;
}

pump_status pump_flush(pump *p) {
  pump_status sent = send_room(p);
  while (sent == PUMP_OK &&
         pump_unsent(p)) { /* What the stream has made by itself: an alert, an answer to KeyUpdate. */
    sst_progress done;
    if (sst_stream_flush(p->stream, p->out, sizeof p->out, &done) < 0) return failed(p, 0);
    account(p, 0, done.produced);
    sent = send_room(p);
  }
  return sent;
}

static pump_status receive(pump *p) {
  memmove(p->in, p->in + p->in_start, p->in_len);
  p->in_start = 0;
  const ssize_t n = recv(p->fd, p->in + p->in_len, sizeof p->in - p->in_len, 0);
  if (n < 0 && errno == EINTR) return receive(p);
  if (n < 0) return errno == EAGAIN ? PUMP_WANT_READ : failed(p, errno);
  /* The end of TCP is not the end of the data: the stream knows whether close_notify came, and says so. */
  if (n == 0) return sst_stream_input_eof(p->stream) == SST_OK ? PUMP_OK : failed(p, 0);
  if (p->on_wire) p->on_wire(p->context, false, p->in + p->in_len, (size_t)n);
  p->in_len += (size_t)n;
  return PUMP_OK;
}

pump_status pump_handshake(pump *p) {
  for (;;) {
    pump_status sent = pump_flush(p); /* The room must be empty before the stream writes to it. */
    if (sent != PUMP_OK) return sent;
    sst_progress done;
    const sst_status status =
        sst_stream_handshake(p->stream, p->in + p->in_start, p->in_len, p->out, sizeof p->out, &done);
    account(p, done.consumed, done.produced);
    if (status == SST_NEED_OUTPUT) continue;
    /* One write for the whole flight. A server's session tickets wait behind it for the first write. */
    sent = status == SST_OK ? send_room(p) : pump_flush(p);
    if (status < 0) return failed(p, 0); /* The alert that tells the peer why is on its way. */
    if (sent != PUMP_OK || status == SST_OK) return sent;
    if (status != SST_NEED_INPUT) {
      p->question = status;
      return PUMP_ASKED;
    }
    const pump_status received = receive(p);
    if (received != PUMP_OK) return received;
  }
}

pump_status pump_write(pump *p, const uint8_t *data, size_t len, size_t *taken) {
  *taken = 0;
  pump_status sent = pump_flush(p);
  while (sent == PUMP_OK && *taken < len) {
    sst_progress done;
    const sst_status status = sst_stream_encrypt(p->stream, data + *taken, len - *taken, p->out, sizeof p->out, &done);
    account(p, 0, done.produced);
    if (status < 0) return failed(p, 0);
    *taken += done.consumed;
    sent = pump_flush(p);
  }
  return sent;
}

pump_status pump_read(pump *p, uint8_t *data, size_t cap, size_t *got) {
  for (;;) {
    sst_progress done;
    const sst_status status = sst_stream_decrypt(p->stream, p->in + p->in_start, p->in_len, data, cap, &done);
    p->in_start += done.consumed;
    p->in_len -= done.consumed;
    *got = done.produced;
    if (done.flags & SST_HAS_OUTPUT) (void)pump_flush(p);      /* What does not fit goes out with the next call. */
    if (*got > 0 || status == SST_NEED_OUTPUT) return PUMP_OK; /* An end or an error comes again with the next call. */
    if (status == SST_CLOSED) return PUMP_END;
    if (status < 0) return failed(p, 0);
    const pump_status received = receive(p);
    if (received != PUMP_OK) return received;
  }
}

pump_status pump_close(pump *p) {
  const pump_status sent = pump_flush(p);
  if (sent != PUMP_OK) return sent;
  sst_progress done;
  if (sst_stream_close(p->stream, p->out, sizeof p->out, &done) < 0) return failed(p, 0);
  account(p, 0, done.produced);
  return pump_flush(p);
}
