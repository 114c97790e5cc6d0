#define _POSIX_C_SOURCE 200809L
#include "link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

static sst_status socket_failed(link_end *end) {
  end->system_error = errno;
  return SST_ERR_SYSTEM;
}

static void took(link_end *end, size_t consumed) {
  end->in_start += consumed;
  end->in_len -= consumed;
}

static sst_status write_all(link_end *end, size_t len) {
  for (size_t at = 0; at < len;) {
    const ssize_t n = send(end->fd, end->out + at, len - at, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return socket_failed(end);
    at += (size_t)n;
  }
  return SST_OK;
}

/* A reset is an end of the transport like any other here: what the peer said before it may lie in our buffer. */
static sst_status read_some(link_end *end) {
  memmove(end->in, end->in + end->in_start, end->in_len);
  end->in_start = 0;
  ssize_t n;
  do
    n = recv(end->fd, end->in + end->in_len, sizeof end->in - end->in_len, 0);
  while (n < 0 && errno == EINTR);
  if (n < 0 && errno != ECONNRESET) return socket_failed(end);
  if (n < 0) end->system_error = errno;
  if (n <= 0) {
    end->transport_ended = true;
    return sst_stream_input_eof(end->stream);
  }
  end->in_len += (size_t)n;
  return SST_OK;
}

static sst_status flush(link_end *end) {
  sst_status status = SST_NEED_OUTPUT, sent = SST_OK;
  while (status == SST_NEED_OUTPUT && sent == SST_OK) {
    sst_progress done;
    status = sst_stream_flush(end->stream, end->out, sizeof end->out, &done);
    sent = write_all(end, done.produced);
  }
  return sent == SST_OK ? status : sent;
}

sst_status link_handshake(link_end *end) {
  for (;;) {
    sst_progress done;
    const sst_status status =
        sst_stream_handshake(end->stream, end->in + end->in_start, end->in_len, end->out, sizeof end->out, &done);
    took(end, done.consumed);
    const sst_status sent = write_all(end, done.produced);
    if (status == SST_NEED_OUTPUT) continue;
    if (status != SST_NEED_INPUT) return status;
    /* A peer that has refused us no longer takes anything; why it did can still be read. */
    (void)sent;
    const sst_status read = read_some(end);
    if (read != SST_OK) return read;
  }
}

sst_status link_send(link_end *end, const uint8_t *data, size_t data_len) {
  while (data_len > 0) {
    sst_progress done;
    const sst_status status = sst_stream_encrypt(end->stream, data, data_len, end->out, sizeof end->out, &done);
    if (status < 0) return status;
    const sst_status sent = write_all(end, done.produced);
    if (sent != SST_OK) return sent;
    data += done.consumed;
    data_len -= done.consumed;
    end->sent += done.consumed;
  }
  return SST_OK;
}

sst_status link_early(link_end *end, const uint8_t *early, size_t early_len, size_t *sent) {
  sst_progress done;
  *sent = 0;
  const sst_status status = sst_stream_handshake(end->stream, NULL, 0, end->out, sizeof end->out, &done);
  if (status != SST_NEED_INPUT) return status;
  const sst_status written = write_all(end, done.produced);
  const size_t left = sst_stream_early_data_left(end->stream);
  if (written != SST_OK) return written;
  if (early && (done.flags & SST_EARLY_DATA) != 0) {
    const sst_status early_status = link_send(end, early, early_len < left ? early_len : left);
    if (early_status != SST_OK) return early_status;
    *sent = (size_t)end->sent;
  }
  return link_handshake(end);
}

sst_status link_session(link_end *end, sst_session **session) {
  static uint8_t plaintext[SST_RECORD_MAX];
  while ((*session = sst_stream_take_session(end->stream)) == NULL) {
    const sst_status read = end->in_len == 0 ? read_some(end) : SST_OK;
    sst_progress done;
    if (read != SST_OK) return read;
    const sst_status status =
        sst_stream_decrypt(end->stream, end->in + end->in_start, end->in_len, plaintext, sizeof plaintext, &done);
    took(end, done.consumed);
    if (status < 0 || status == SST_CLOSED) return status;
  }
  return SST_OK;
}

sst_status link_receive_early(link_end *end, FILE *early, FILE *late, uint64_t limit) {
  static uint8_t plaintext[4 * SST_RECORD_MAX + SST_RECORD_MAX];
  for (uint64_t got = 0; got < limit;) {
    sst_progress done;
    const sst_status status =
        sst_stream_decrypt(end->stream, end->in + end->in_start, end->in_len, plaintext, sizeof plaintext, &done);
    took(end, done.consumed);
    got += done.produced;
    FILE *target = (done.flags & SST_EARLY_DATA) != 0 ? early : late;
    if (done.produced > 0 && fwrite(plaintext, 1, done.produced, target) != done.produced) return socket_failed(end);
    if (status < 0 || status == SST_CLOSED) return status;
    if (status == SST_NEED_OUTPUT || got >= limit) continue;
    const sst_status read = read_some(end);
    if (read != SST_OK) return read;
  }
  return SST_OK;
}

sst_status link_close(link_end *end) {
  sst_status status = SST_NEED_OUTPUT;
  while (status == SST_NEED_OUTPUT) {
    sst_progress done;
    status = sst_stream_close(end->stream, end->out, sizeof end->out, &done);
    const sst_status sent = write_all(end, done.produced);
    if (sent != SST_OK) return sent;
  }
  return status;
}

static bool ends_with(const char *tail, size_t tail_len, const char *text) {
  const size_t len = strlen(text);
  return tail_len >= len && memcmp(tail + tail_len - len, text, len) == 0;
}

/* Keeps the last bytes that came, to find the text at the end in them. */
static size_t keep_tail(char tail[256], size_t tail_len, const uint8_t *data, size_t data_len) {
  const size_t fresh = data_len < 128 ? data_len : 128;
  const size_t old = tail_len < 128 ? tail_len : 128;
  memmove(tail, tail + tail_len - old, old);
  memcpy(tail + old, data + data_len - fresh, fresh);
  return old + fresh;
}

sst_status link_receive(link_end *end, FILE *target, uint64_t limit, const char *until) {
  static uint8_t plaintext[SST_RECORD_MAX];
  char tail[256];
  size_t tail_len = 0;
  for (uint64_t got = 0; got < limit;) {
    const size_t room = limit - got < sizeof plaintext ? (size_t)(limit - got) : sizeof plaintext;
    sst_progress done;
    const sst_status status =
        sst_stream_decrypt(end->stream, end->in + end->in_start, end->in_len, plaintext, room, &done);
    took(end, done.consumed);
    got += done.produced;
    end->received += done.produced;
    if (done.produced > 0 && fwrite(plaintext, 1, done.produced, target) != done.produced) return socket_failed(end);
    if (done.produced > 0) tail_len = keep_tail(tail, tail_len, plaintext, done.produced);
    if (done.flags & SST_HAS_OUTPUT) (void)flush(end);
    if (status < 0 || status == SST_CLOSED) return status;
    if (until != NULL && ends_with(tail, tail_len, until)) return SST_OK;
    if (status == SST_NEED_OUTPUT || got >= limit) continue;
    const sst_status read = read_some(end);
    if (read != SST_OK) return read;
  }
  return SST_OK;
}

void link_linger(link_end *end) {
  uint8_t unwanted[4096];
  const struct timeval patience = {.tv_sec = 2};
  (void)flush(end);
  (void)setsockopt(end->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  (void)shutdown(end->fd, SHUT_WR);
  ssize_t n;
  do
    n = recv(end->fd, unwanted, sizeof unwanted, 0);
  while (n > 0 || (n < 0 && errno == EINTR));
}
