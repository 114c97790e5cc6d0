#include "shim_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shim_answers.h"

static bool send_all(Link *link, const uint8_t *bytes, size_t len) {
  while (len > 0) {
    const ssize_t n = send(link->fd, bytes, len, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes += n;
    len -= (size_t)n;
  }
  return true;
}

bool link_open(Link *link) {
  const Flags *flags = link->flags;
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)flags->port)};
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)flags->port)};
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  v6.sin6_addr = in6addr_loopback;
  const int one = 1;
  link->fd = socket(flags->ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
  if (link->fd < 0) return false;
  (void)setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  const int result = flags->ipv6 ? connect(link->fd, (struct sockaddr *)&v6, sizeof v6)
                                 : connect(link->fd, (struct sockaddr *)&v4, sizeof v4);
  uint8_t id[8];
  for (size_t i = 0; i < sizeof id; i++)
    id[i] = (uint8_t)((uint64_t)flags->shim_id >> (8 * i));
  return result == 0 && send_all(link, id, sizeof id);
}

void link_end(Link *link) {
  if (link->fd < 0) return;
  (void)shutdown(link->fd, SHUT_WR);
  while (recv(link->fd, link->in, sizeof link->in, 0) > 0)
    continue;
  (void)close(link->fd);
  link->fd = -1;
}

/* Gives the stream more to read. An asynchronous case gets what comes one byte at a time. */
static size_t offered(const Link *link) {
  return link->flags->async && link->in_len > 1 ? 1 : link->in_len;
}

static void take(Link *link, size_t consumed) {
  link->in_start += consumed;
  link->in_len -= consumed;
}

static bool fill(Link *link) {
  if (link->eof) return false;
  if (link->in_len > 0) memmove(link->in, link->in + link->in_start, link->in_len);
  link->in_start = 0;
  const ssize_t n = recv(link->fd, link->in + link->in_len, sizeof link->in - link->in_len, 0);
  if (n < 0 && errno == EINTR) return true;
  if (n > 0) link->in_len += (size_t)n;
  link->eof = n <= 0;
  if (link->eof) (void)sst_stream_input_eof(link->stream);
  return true;
}

/* A failure repeats itself (section 2 of the header). */
static void check_repeats(Link *link, sst_status status) {
  uint8_t out[256];
  sst_progress done;
  const sst_status again = sst_stream_handshake(link->stream, NULL, 0, out, sizeof out, &done);
  (void)send_all(link, out, done.produced);
  if (again != status)
    fprintf(stderr, "a failed stream gave %s, then %s\n", sst_status_name(status), sst_status_name(again));
}

Stage link_handshake(Link *link, bool stop_early) {
  uint8_t out[2 * SST_RECORD_MAX];
  sst_status before = SST_OK;
  for (;;) {
    sst_progress done;
    const size_t offer = offered(link);
    const sst_status status =
        sst_stream_handshake(link->stream, link->in + link->in_start, offer, out, sizeof out, &done);
    take(link, done.consumed);
    if (done.produced > 0 && !link_write_rest(link)) link->eof = true;
    if (!send_all(link, out, done.produced)) link->eof = true;
    if (status < 0) {
      check_repeats(link, status);
      (void)link_flush(link);
      return STAGE_FAILED;
    }
    if (status == SST_OK) return STAGE_DONE;
    if (status == SST_WANT_EARLY_DATA_RETRY) return STAGE_RETRY;
    if (status >= SST_WANT_CLIENT_HELLO) {
      /* Asynchronous: the question is put again, as long as there is no answer. */
      if (!link->flags->async || before == status) answer(link, status);
      before = before == status ? SST_OK : status;
      continue;
    }
    if (status == SST_NEED_INPUT && stop_early && (done.flags & SST_EARLY_DATA) != 0) return STAGE_EARLY;
    if (status == SST_NEED_INPUT && link->in_len == 0 && !fill(link)) return STAGE_FAILED;
  }
}

static bool encrypt(Link *link, const uint8_t *data, size_t len, bool hold) {
  uint8_t out[2 * SST_RECORD_MAX];
  sst_status status;
  do {
    sst_progress done;
    status = sst_stream_encrypt(link->stream, data, len, out, sizeof out, &done);
    data = len > 0 ? data + done.consumed : data;
    len -= done.consumed;
    const size_t now = hold && done.produced > 0 ? 1 : done.produced;
    if (!send_all(link, out, now)) return false;
    memcpy(link->unsent, out + now, done.produced - now);
    link->held = done.produced - now;
  } while (status == SST_NEED_OUTPUT);
  if (status != SST_OK) fprintf(stderr, "encrypt: %s\n", sst_status_name(status));
  return status == SST_OK;
}

bool link_write(Link *link, const void *data, size_t len) {
  const uint8_t *bytes = data;
  const bool early = (sst_stream_state(link->stream) & SST_STATE_OPEN) == 0;
  const size_t left = sst_stream_early_data_left(link->stream);
  if (!early || len <= left) return encrypt(link, bytes, len, false);
  /* What is too much for early data waits for the end of the handshake. */
  if (!encrypt(link, bytes, left, false)) return false;
  const Stage stage = link_handshake(link, false);
  link->was_refused = stage == STAGE_RETRY;
  return stage == STAGE_DONE && encrypt(link, bytes + left, len - left, false);
}

bool link_write_one_byte(Link *link, const void *data, size_t len) {
  return encrypt(link, data, len, true);
}

bool link_write_rest(Link *link) {
  const size_t len = link->held;
  link->held = 0;
  return send_all(link, link->unsent, len);
}

bool link_flush(Link *link) {
  uint8_t out[SST_RECORD_MAX];
  sst_progress done;
  sst_status status;
  /* What stands behind an unfinished write waits for it. */
  if (link->held > 0) return true;
  do {
    status = sst_stream_flush(link->stream, out, sizeof out, &done);
    if (!send_all(link, out, done.produced)) return false;
  } while (status == SST_NEED_OUTPUT);
  return status == SST_OK;
}

void link_collect(Link *link) {
  uint8_t id[512];
  sst_event event = {.size = sizeof event};
  while (sst_stream_next_event(link->stream, &event, id, sizeof id) == SST_OK) {
    if (event.kind != SST_EVENT_SESSION) continue;
    sst_session *session = sst_stream_take_session(link->stream);
    if (session == NULL) continue;
    Store *store = link->store;
    if (link->flags->server && store->count < STORE_SESSIONS && event.length <= sizeof store->at[0].id) {
      memcpy(store->at[store->count].id, id, event.length);
      store->at[store->count].id_len = event.length;
      store->at[store->count++].session = sst_session_ref(session);
    }
    sst_session_free(link->session);
    link->session = session;
  }
}

static int read_open(Link *link, uint8_t *data, size_t cap) {
  for (;;) {
    sst_progress done;
    /* A server's handshake goes on in here behind early data. Else what waits goes out with the next write, so that one
       answer stands for many requests for new keys (RFC 8446, 4.6.3). */
    const bool in_handshake = (sst_stream_state(link->stream) & SST_STATE_HANDSHAKE) != 0;
    const sst_status status =
        sst_stream_decrypt(link->stream, link->in + link->in_start, offered(link), data, cap, &done);
    take(link, done.consumed);
    if (in_handshake && (done.flags & SST_HAS_OUTPUT) != 0 && !link_flush(link)) link->eof = true;
    if ((done.flags & SST_HAS_EVENT) != 0) link_collect(link);
    if (done.produced > 0) return (int)done.produced;
    if (status == SST_CLOSED || status == SST_ERR_TRUNCATED) return READ_END;
    if (status < 0) {
      (void)link_flush(link);
      return READ_FAILED;
    }
    if (status == SST_NEED_INPUT && link->in_len == 0 && !fill(link)) return READ_END;
  }
}

int link_read(Link *link, uint8_t *data, size_t cap) {
  const uint32_t state = sst_stream_state(link->stream);
  if ((state & SST_STATE_OPEN) == 0) {
    const Stage stage = link_handshake(link, false);
    if (stage == STAGE_RETRY) return READ_RETRY;
    if (stage != STAGE_DONE) return READ_FAILED;
    link_collect(link);
  }
  return read_open(link, data, cap);
}

bool link_shut(Link *link) {
  uint8_t out[SST_RECORD_MAX];
  sst_progress done;
  sst_status status;
  do {
    status = sst_stream_close(link->stream, out, sizeof out, &done);
    if (!send_all(link, out, done.produced)) return false;
  } while (status == SST_NEED_OUTPUT);
  return status == SST_OK;
}

bool link_await_close(Link *link) {
  uint8_t data[512];
  const int n = link_read(link, data, sizeof data);
  if (n > 0) fprintf(stderr, ":APPLICATION_DATA_ON_SHUTDOWN:\n");
  if (n == READ_FAILED) link_explain(link);
  const bool closed = (sst_stream_state(link->stream) & SST_STATE_PEER_CLOSED) != 0;
  if (n == READ_END && !closed) fprintf(stderr, "Unexpected SSL_shutdown result: -1 != 1\n");
  return n == READ_END && closed;
}

/* The reason that BoringSSL gives stands in brackets at the end of the message. The runner looks for it between
   colons. */
void link_explain(const Link *link) {
  sst_error error = {.size = sizeof error};
  (void)sst_stream_last_error(link->stream, &error);
  if (error.code == SST_OK) return;
  fprintf(stderr, "%s", sst_status_name(error.code));
  if (error.alert_received >= 0) fprintf(stderr, " %s", sst_alert_name(error.alert_received));
  fprintf(stderr, ": %s\n", error.message);
  const char *open = strrchr(error.message, '(');
  const size_t len = open == NULL ? 0 : strcspn(open + 1, ")");
  if (len > 3 && strspn(open + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == len)
    fprintf(stderr, ":%.*s:\n", (int)len, open + 1);
}
