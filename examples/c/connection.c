#define _POSIX_C_SOURCE 200809L
#include "connection.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  STEPS = 8,           /* so much for one client, then the next one has its turn */
  LINGER_MS = 1000,    /* for a client to read our alert */
  GOODBYE_MS = 1000,   /* for a silent client to answer our close_notify */
  INTERNAL_ERROR = 80, /* an alert */
};

static void say(const connection *c, const char *text) {
  fprintf(stderr, "%s: %s\n", c->who, text);
}

static void move_deadline(connection *c, int timeout_ms) {
  c->deadline_ms = net_now_ms() + timeout_ms;
}

/* Any byte that moves shows that the client lives; but a handshake has one deadline for the whole of it, or a client
   could hold a place for ever by a byte now and then. */
static void on_wire(void *context, bool sent, const uint8_t *bytes, size_t len) {
  connection *c = context;
  if (c->stage == STAGE_OPEN && !c->stopping) move_deadline(c, c->options->timeout_ms);
  if (c->options->verbose) report_flight(c->who, &c->wire, sent, bytes, len);
}

static bool open_files(connection *c, unsigned number) {
  const options *o = c->options;
  if (o->mode == MODE_SEND) c->source = open(o->path, O_RDONLY | O_CLOEXEC);
  const bool good =
      (o->mode != MODE_SEND || c->source >= 0) && (o->mode != MODE_RECEIVE || store_open(&c->target, o->path, number));
  if (!good) fprintf(stderr, "%s: %s: %s\n", c->who, o->path, strerror(errno));
  return good;
}

connection *connection_new(const options *o, sst_config *config, FILE *key_log, int fd, unsigned number,
                           const char *name) {
  connection *c = malloc(sizeof *c);
  sst_stream *stream = NULL;
  const sst_status status = c ? sst_stream_new(config, SST_ROLE_SERVER, &stream) : SST_ERR_NO_MEMORY;
  if (status != SST_OK) {
    fprintf(stderr, "secure-server: client %u: %s\n", number, sst_status_text(status));
    free(c);
    close(fd);
    return NULL;
  }
  memset(c, 0, offsetof(connection, data));
  c->options = o;
  c->key_log = key_log;
  c->stream = stream;
  c->source = c->target.fd = -1;
  c->wire.stage = "handshake";
  c->ready = true;
  snprintf(c->who, sizeof c->who, "client %u (%s)", number, name);
  pump_start(&c->pump, stream, fd);
  c->pump.on_wire = on_wire;
  c->pump.context = c;
  move_deadline(c, o->timeout_ms);
  if (open_files(c, number)) return c;
  connection_free(c);
  return NULL;
}

void connection_free(connection *c) {
  if (!c) return;
  store_discard(&c->target);
  if (c->source >= 0) close(c->source);
  sst_stream_free(c->stream);
  close(c->pump.fd);
  free(c);
}

/* Gives the client a moment to read our alert. */
static void linger(connection *c) {
  c->stage = STAGE_LINGER;
  c->ready = true;
  move_deadline(c, LINGER_MS);
}

/* The pump has failed: says why. */
static void give_up(connection *c) {
  const char *what = c->stage == STAGE_HANDSHAKE ? "handshake failed" : "connection failed";
  if (c->pump.system_error != 0) {
    fprintf(stderr, "%s: %s: %s\n", c->who, what, strerror(c->pump.system_error));
    c->stage = STAGE_DONE;
    return;
  }
  report_stream_error(c->who, what, c->stream);
  linger(c);
}

static void step_handshake(connection *c) {
  c->asked = false;
  switch (pump_handshake(&c->pump)) {
    case PUMP_OK: {
      char text[512];
      report_negotiated(c->stream, text, sizeof text);
      say(c, text);
      c->stage = STAGE_OPEN;
      c->wire.stage = "data";
      if (!c->stopping) move_deadline(c, c->options->timeout_ms);
      c->ready = true;
      return;
    }
    case PUMP_WANT_READ:
      c->events = POLLIN;
      return;
    case PUMP_WANT_WRITE:
      c->events = POLLOUT;
      return;
    case PUMP_ASKED:
      c->asked = true;
      return;
    case PUMP_END:
    case PUMP_FAILED:
      give_up(c);
      return;
  }
}

/* Our own fault: the client must not take what it got for the whole. */
static void fail_locally(connection *c, const char *path) {
  fprintf(stderr, "%s: %s: %s\n", c->who, path, strerror(errno));
  (void)sst_stream_abort(c->stream, INTERNAL_ERROR);
  linger(c);
}

static void read_source(connection *c) {
  ssize_t n;
  do
    n = read(c->source, c->data, sizeof c->data);
  while (n < 0 && errno == EINTR);
  if (n < 0) {
    fail_locally(c, c->options->path);
    return;
  }
  c->data_start = 0;
  c->data_len = (size_t)n;
  if (n > 0) return;
  close(c->source);
  c->source = -1;
}

/* Everything that this side has to say is said. */
static bool nothing_owed(const connection *c) {
  if (c->data_len > 0 || c->source >= 0) return false;
  return c->options->mode == MODE_SEND || c->peer_closed || c->stopping;
}

/* The sending half of a step: the file or the echo, then close_notify. */
static void step_send(connection *c) {
  if (c->source >= 0 && c->data_len == 0) read_source(c);
  pump_status status = PUMP_OK;
  if (c->stage != STAGE_OPEN || c->we_closed) return;
  if (c->data_len > 0) {
    size_t taken;
    status = pump_write(&c->pump, c->data + c->data_start, c->data_len, &taken);
    c->data_start += taken;
    c->data_len -= taken;
    c->sent += taken;
    c->ready = c->ready || taken > 0;
  } else if (nothing_owed(c)) {
    c->wire.stage = "close";
    status = pump_close(&c->pump);
    c->we_closed = c->ready = status == PUMP_OK;
  }
  if (status == PUMP_WANT_WRITE) c->events |= POLLOUT;
  if (status == PUMP_FAILED) give_up(c);
}

/* len bytes have come into data. */
static void take_data(connection *c, size_t len) {
  c->ready = true;
  c->received += len;
  if (c->options->mode == MODE_ECHO && !c->we_closed) {
    c->data_start = 0;
    c->data_len = len;
  }
  if (c->options->mode == MODE_RECEIVE && !store_write(&c->target, c->data, len)) fail_locally(c, c->target.name);
}

static void take_end(connection *c) {
  c->peer_closed = c->ready = true;
  if (c->options->mode != MODE_RECEIVE) return;
  if (store_commit(&c->target))
    fprintf(stderr, "%s: stored %" PRIu64 " bytes in %s\n", c->who, c->received, c->target.name);
  else
    fail_locally(c, c->target.name);
}

/* A client to which all was sent may go without a word; one that stores with us may not. */
static bool client_has_left(connection *c) {
  sst_error error = {.size = sizeof error};
  (void)sst_stream_last_error(c->stream, &error);
  if (!c->we_closed || c->options->mode == MODE_RECEIVE) return false;
  if (error.code != SST_ERR_TRUNCATED && c->pump.system_error != ECONNRESET) return false;
  c->peer_closed = true;
  return true;
}

/* The receiving half of a step. While an echo waits for the client to read, nothing more is taken from it: TCP passes
   that on to the client, and no memory fills up here. */
static void step_receive(connection *c) {
  if (c->stage != STAGE_OPEN || c->peer_closed || c->data_len > 0) return;
  size_t got;
  switch (pump_read(&c->pump, c->data, sizeof c->data, &got)) {
    case PUMP_OK:
      take_data(c, got);
      break;
    case PUMP_END:
      take_end(c);
      break;
    case PUMP_WANT_READ:
      c->events |= POLLIN;
      break;
    case PUMP_WANT_WRITE:
    case PUMP_ASKED:
      break; /* not from pump_read */
    case PUMP_FAILED:
      if (!client_has_left(c)) give_up(c);
      break;
  }
  if (c->stage == STAGE_OPEN && pump_unsent(&c->pump)) c->events |= POLLOUT;
}

/* Waits until the client closes: closing our side over unread bytes would reset the connection, and a reset can take
   the alert out of the client's hands. */
static void step_linger(connection *c) {
  const pump_status sent = pump_flush(&c->pump);
  if (sent == PUMP_OK) (void)shutdown(c->pump.fd, SHUT_WR);
  const ssize_t n = recv(c->pump.fd, c->data, sizeof c->data, 0);
  if (sent == PUMP_FAILED || n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) c->stage = STAGE_DONE;
  c->ready = n > 0;
  c->events = sent == PUMP_WANT_WRITE ? POLLIN | POLLOUT : POLLIN;
}

static void finish(connection *c) {
  c->stage = STAGE_DONE;
  c->good = !c->expired;
  fprintf(stderr, "%s: closed; received %" PRIu64 " bytes, sent %" PRIu64 "\n", c->who, c->received, c->sent);
}

void connection_step(connection *c) {
  for (int i = 0; i < STEPS; i++) {
    c->events = 0;
    c->ready = false;
    switch (c->stage) {
      case STAGE_HANDSHAKE:
        step_handshake(c);
        break;
      case STAGE_OPEN:
        step_send(c);
        step_receive(c);
        if (c->stage == STAGE_OPEN && c->we_closed && c->peer_closed) finish(c);
        break;
      case STAGE_LINGER:
        step_linger(c);
        break;
      case STAGE_DONE:
        break;
    }
    report_events(c->who, c->stream, c->key_log, c->options->verbose);
    if (!c->ready || c->stage == STAGE_DONE) return;
  }
}

void connection_stop(connection *c, int64_t deadline_ms) {
  if (c->stage == STAGE_HANDSHAKE) c->stage = STAGE_DONE; /* There is nothing to close yet. */
  c->stopping = c->ready = true;
  c->deadline_ms = deadline_ms;
}

void connection_expire(connection *c) {
  switch (c->stage) {
    case STAGE_HANDSHAKE:
      say(c, "timed out in the handshake");
      c->stage = STAGE_DONE;
      return;
    case STAGE_OPEN: {
      say(c, c->stopping ? "did not close in time" : "timed out: silent for too long");
      c->expired = true;
      /* close_notify says that this was all. It would be a lie while something is owed. */
      const bool owes = c->data_len > 0 || c->source >= 0 || pump_unsent(&c->pump);
      if (c->stopping || owes)
        c->stage = STAGE_DONE;
      else
        connection_stop(c, net_now_ms() + GOODBYE_MS);
      return;
    }
    case STAGE_LINGER:
    case STAGE_DONE:
      c->stage = STAGE_DONE;
      return;
  }
}
