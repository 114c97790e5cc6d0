/*
 * secure-client: a TLS client for the command line. --help tells how to use it and what its exit codes mean.
 *
 * It sends and receives at the same time: a program that sends all before it reads can wait for ever for a peer that
 * waits for it to read.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net.h"
#include "pump.h"
#include "report.h"
#include "setup.h"
#include "store.h"

enum { EXIT_GOOD, EXIT_LOCAL, EXIT_NO_CONNECTION, EXIT_NOT_TRUSTED, EXIT_REFUSED, EXIT_BROKEN, EXIT_TIMED_OUT };
enum { LINGER_MS = 1000 };

static const char me[] = "secure-client";

typedef struct client {
  const options *options;
  FILE *key_log;
  pump pump;
  int source; /* -1: all was read */
  store target;
  bool we_closed;
  uint64_t sent, received;
  report_wire wire;
  size_t data_start, data_len; /* what of the source is to be sent */
  uint8_t data[PUMP_BUFFER];
  uint8_t room[PUMP_ROOM]; /* what has come */
} client;

static void on_wire(void *context, bool sent, const uint8_t *bytes, size_t len) {
  client *c = context;
  if (c->options->verbose) report_flight(me, &c->wire, sent, bytes, len);
}

static int local_failure(const char *what) {
  fprintf(stderr, "%s: %s: %s\n", me, what ? what : "standard input or output", strerror(errno));
  return EXIT_LOCAL;
}

/* Says why the stream or the socket has failed, and lets the peer read our alert. */
static int failure(client *c) {
  const bool open = sst_stream_state(c->pump.stream) & SST_STATE_OPEN;
  const char *what = open ? "the connection broke off" : "the handshake failed";
  if (c->pump.system_error != 0) {
    fprintf(stderr, "%s: %s: %s\n", me, what, strerror(c->pump.system_error));
    return open ? EXIT_BROKEN : EXIT_REFUSED;
  }
  sst_error error = {.size = sizeof error};
  (void)sst_stream_last_error(c->pump.stream, &error);
  const bool distrust = error.code <= SST_ERR_CERT_ISSUER_NOT_FOUND && error.code > SST_ERR_NEGOTIATE;
  if (distrust) what = "refused, the peer is not trusted";
  if (error.alert_received > 0) what = "the peer refused us";
  report_error(me, what, &error);
  net_linger(c->pump.fd, LINGER_MS);
  if (distrust) return EXIT_NOT_TRUSTED;
  if (error.code == SST_ERR_NO_EXPECTED_NAME) return EXIT_LOCAL;
  return open && error.alert_received <= 0 ? EXIT_BROKEN : EXIT_REFUSED;
}

/* Waits for the socket, and for the source if it is to be read: *source_ready. False: nothing happened. */
static bool wait_for(client *c, short events, int timeout_ms, bool *source_ready) {
  struct pollfd polls[] = {{.fd = c->pump.fd, .events = events},
                           {.fd = source_ready ? c->source : -1, .events = POLLIN}};
  int n;
  do
    n = poll(polls, 2, timeout_ms);
  while (n < 0 && errno == EINTR);
  if (source_ready) *source_ready = polls[1].revents != 0;
  return n != 0;
}

static int timed_out(const char *where) {
  fprintf(stderr, "%s: timed out %s\n", me, where);
  return EXIT_TIMED_OUT;
}

static int do_handshake(client *c) {
  const int64_t deadline_ms = net_now_ms() + c->options->timeout_ms;
  c->wire.stage = "handshake";
  for (;;) {
    const pump_status status = pump_handshake(&c->pump);
    report_events(me, c->pump.stream, c->key_log, c->options->verbose);
    if (status == PUMP_OK) return EXIT_GOOD;
    if (status == PUMP_FAILED) return failure(c);
    const int64_t left_ms = deadline_ms - net_now_ms();
    const short events = status == PUMP_WANT_READ ? POLLIN : POLLOUT;
    if (left_ms <= 0 || !wait_for(c, events, (int)left_ms, NULL)) return timed_out("in the handshake");
  }
}

/* Takes a piece of the source. It is only called when reading does not wait. */
static int read_source(client *c) {
  ssize_t n;
  do
    n = read(c->source, c->data, sizeof c->data);
  while (n < 0 && errno == EINTR);
  if (n < 0 && errno == EAGAIN) return EXIT_GOOD;
  if (n < 0) return local_failure(c->options->input);
  c->data_start = 0;
  c->data_len = (size_t)n;
  if (n == 0) c->source = -1;
  return EXIT_GOOD;
}

/* Sends data, or close_notify behind the last. */
static pump_status send_some(client *c) {
  if (c->data_len == 0 && c->source >= 0) return pump_flush(&c->pump);
  if (c->data_len == 0) {
    c->wire.stage = "close";
    const pump_status status = pump_close(&c->pump);
    c->we_closed = status == PUMP_OK;
    return status;
  }
  size_t taken;
  const pump_status status = pump_write(&c->pump, c->data + c->data_start, c->data_len, &taken);
  c->data_start += taken;
  c->data_len -= taken;
  c->sent += taken;
  return status;
}

/* Takes all that has come. PUMP_WANT_READ: there is no more now. */
static pump_status receive_all(client *c, int *code) {
  for (;;) {
    size_t got;
    const pump_status status = pump_read(&c->pump, c->room, sizeof c->room, &got);
    report_events(me, c->pump.stream, c->key_log, c->options->verbose);
    if (status != PUMP_OK) return status;
    c->received += got;
    if (store_write(&c->target, c->room, got)) continue;
    *code = local_failure(c->options->output);
    return PUMP_OK;
  }
}

/* The peer has ended and gets our close_notify too. What it will not read any more is our loss, and is said. */
static int end_of_peer(client *c) {
  if (c->we_closed) return EXIT_GOOD;
  struct pollfd source = {.fd = c->source, .events = POLLIN};
  if (c->data_len == 0 && poll(&source, 1, 0) > 0) (void)read_source(c);
  const bool all_sent = c->data_len == 0;
  (void)pump_close(&c->pump);
  if (all_sent) return EXIT_GOOD;
  fprintf(stderr, "%s: the peer closed before all was sent (%" PRIu64 " bytes were)\n", me, c->sent);
  return EXIT_BROKEN;
}

static int transfer(client *c) {
  bool source_ready = false;
  for (;;) {
    int code = source_ready ? read_source(c) : EXIT_GOOD;
    if (code != EXIT_GOOD) return code;

    const pump_status sent = c->we_closed ? pump_flush(&c->pump) : send_some(c);
    const pump_status received = receive_all(c, &code);
    if (code != EXIT_GOOD) return code;
    if (received == PUMP_END) return end_of_peer(c);
    /* When sending fails, what has come tells more than the socket: it may be the alert that says why. */
    if (received == PUMP_FAILED || sent == PUMP_FAILED) return failure(c);

    const bool wants_source = c->source >= 0 && c->data_len == 0;
    const short events = pump_unsent(&c->pump) ? POLLIN | POLLOUT : POLLIN;
    source_ready = false;
    /* A source may take its time; the peer may not. */
    if (!wait_for(c, events, wants_source ? -1 : c->options->timeout_ms, wants_source ? &source_ready : NULL))
      return timed_out("waiting for the peer");
  }
}

static void show_speed(const client *c, int64_t took_ms) {
  const double seconds = took_ms > 0 ? (double)took_ms / 1000 : 0.001;
  fprintf(stderr, "%s: sent %" PRIu64 " bytes, received %" PRIu64 ", %.3f s, %.1f MB/s\n", me, c->sent, c->received,
          seconds, (double)(c->sent + c->received) / 1e6 / seconds);
}

/* Over an open socket. */
static int talk(client *c, sst_config *config, int fd, const char *peer) {
  const options *o = c->options;
  sst_stream *stream = NULL;
  sst_status status = sst_stream_new(config, SST_ROLE_CLIENT, &stream);
  if (status == SST_OK) status = sst_stream_set_server_name(stream, o->server_name, strlen(o->server_name));
  if (status != SST_OK) {
    fprintf(stderr, "%s: '%s': %s (%s)\n", me, o->server_name, sst_status_text(status), sst_status_name(status));
    sst_stream_free(stream);
    return EXIT_LOCAL;
  }
  pump_start(&c->pump, stream, fd);
  c->pump.on_wire = on_wire;
  c->pump.context = c;

  int code = do_handshake(c);
  if (code == EXIT_GOOD) {
    char text[512];
    report_negotiated(stream, text, sizeof text);
    if (o->summary) fprintf(stderr, "%s: %s: %s\n", me, peer, text);
    const int64_t start_ms = net_now_ms();
    c->wire.stage = "data";
    code = transfer(c);
    if (o->summary) show_speed(c, net_now_ms() - start_ms);
  }
  sst_stream_free(stream);
  return code;
}

static int run(client *c, sst_config *config) {
  const options *o = c->options;
  if (o->input) c->source = open(o->input, O_RDONLY | O_CLOEXEC);
  if (c->source < 0) return local_failure(o->input);
  if (!store_open(&c->target, o->output, 0)) return local_failure(o->output);

  char peer[NET_NAME];
  const char *why = "";
  const int fd = net_connect(o->host, o->port, o->timeout_ms, peer, &why);
  if (fd < 0) {
    fprintf(stderr, "%s: cannot connect to %s port %s: %s\n", me, o->host, o->port, why);
    return EXIT_NO_CONNECTION;
  }
  const int code = talk(c, config, fd, peer);
  close(fd);
  if (code == EXIT_GOOD && !store_commit(&c->target)) return local_failure(o->output);
  return code;
}

int main(int argc, char **argv) {
  options o;
  setup_standard_files();
  options_of_client(argc, argv, &o);
  if (o.insecure) fprintf(stderr, "%s: --insecure: the peer is not verified\n", me);

  client *c = calloc(1, sizeof *c);
  sst_config *config = NULL;
  int code = EXIT_LOCAL;
  if (c) {
    c->options = &o;
    c->source = STDIN_FILENO;
    c->target.fd = -1;
    if (setup_key_log(me, &o, &c->key_log)) config = setup_config(me, &o, SST_ROLE_CLIENT);
    if (config) code = run(c, config);
    store_discard(&c->target);
    if (c->key_log) fclose(c->key_log);
  }
  sst_config_free(config);
  free(c);
  return code;
}
