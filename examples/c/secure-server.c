/*
 * secure-server: a TLS server for many clients in one thread. --help tells how to use it.
 *
 * This file has the poll loop; connection.c has one client, pump.c what moves bytes between a stream and a socket.
 */
#define _GNU_SOURCE /* pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connection.h"
#include "setup.h"

enum { POLL_LISTENER, POLL_SIGNALS, FIRST_CLIENT };
enum {
  GRACE_MS = 1000,       /* for clients to go, after a signal */
  ACCEPT_PAUSE_MS = 200, /* when there is no descriptor for a new client */
  LONG_MS = 3600000,
};

typedef struct server {
  const options *options;
  sst_config *config;
  FILE *key_log;
  int listener; /* -1: closed */
  int64_t accept_after_ms;
  unsigned num_accepted;
  bool stopping;
  bool all_good;

  connection **connections;
  struct pollfd *polls; /* of the listener, of the signals, and from FIRST_CLIENT on of the connections */
  size_t num_connections, cap;
} server;

/* A signal becomes a byte in a pipe: poll sees it like anything else, whether it comes before, during or after. */
static int signal_pipe[2];

static void on_signal(int number) {
  const int saved = errno;
  (void)number;
  if (write(signal_pipe[1], "", 1) < 0) errno = saved; /* full: many wait already */
  errno = saved;
}

static bool catch_signals(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  if (pipe2(signal_pipe, O_NONBLOCK | O_CLOEXEC) != 0) return false;
  signal(SIGPIPE, SIG_IGN); /* whoever reads our messages may go */
  return sigaction(SIGINT, &action, NULL) == 0 && sigaction(SIGTERM, &action, NULL) == 0;
}

static void stop_listening(server *s) {
  if (s->listener >= 0) close(s->listener);
  s->listener = -1;
}

static bool make_room(server *s) {
  if (s->num_connections < s->cap) return true;
  const size_t cap = s->cap ? 2 * s->cap : 16;
  connection **connections = realloc(s->connections, cap * sizeof *connections);
  if (connections) s->connections = connections;
  struct pollfd *polls = realloc(s->polls, (cap + FIRST_CLIENT) * sizeof *polls);
  if (polls) s->polls = polls;
  if (connections && polls) s->cap = cap;
  return connections && polls;
}

static void accept_clients(server *s) {
  while (s->listener >= 0 && make_room(s)) {
    char name[NET_NAME];
    const int fd = net_accept(s->listener, name);
    if (fd < 0) {
      if (errno == EAGAIN) return;
      if (errno == EINTR || errno == ECONNABORTED) continue;
      /* No descriptor or no memory. The client stays in the queue and poll would report it at once, again and again:
         look away until a connection has ended, or for a moment. */
      if (s->accept_after_ms == 0) fprintf(stderr, "secure-server: cannot accept for now: %s\n", strerror(errno));
      s->accept_after_ms = net_now_ms() + ACCEPT_PAUSE_MS;
      return;
    }
    connection *c = connection_new(s->options, s->config, s->key_log, fd, ++s->num_accepted, name);
    if (c) s->connections[s->num_connections++] = c;
    if (!c) s->all_good = false;
    s->accept_after_ms = 0;
    if (s->options->once) stop_listening(s);
  }
}

static void begin_stop(server *s) {
  fprintf(stderr, "secure-server: stopping, %zu clients\n", s->num_connections);
  s->stopping = true;
  stop_listening(s);
  for (size_t i = 0; i < s->num_connections; i++)
    connection_stop(s->connections[i], net_now_ms() + GRACE_MS);
}

/* Fills polls and returns how long to wait. */
static int prepare(server *s) {
  const int64_t now_ms = net_now_ms();
  const bool accepting = s->listener >= 0 && s->accept_after_ms <= now_ms;
  int64_t wait_ms = s->listener >= 0 && !accepting ? s->accept_after_ms - now_ms : LONG_MS;
  s->polls[POLL_LISTENER] = (struct pollfd){.fd = accepting ? s->listener : -1, .events = POLLIN};
  s->polls[POLL_SIGNALS] = (struct pollfd){.fd = signal_pipe[0], .events = POLLIN};
  for (size_t i = 0; i < s->num_connections; i++) {
    const connection *c = s->connections[i];
    s->polls[FIRST_CLIENT + i] = (struct pollfd){.fd = c->pump.fd, .events = c->events};
    const int64_t left_ms = c->ready ? 0 : c->deadline_ms - now_ms;
    if (left_ms < wait_ms) wait_ms = left_ms;
  }
  return wait_ms > 0 ? (int)wait_ms : 0;
}

/* Gives each client that can do something its turn, then frees those that are done. */
static void serve(server *s) {
  const int64_t now_ms = net_now_ms();
  for (size_t i = 0; i < s->num_connections; i++) {
    connection *c = s->connections[i];
    if (c->ready || s->polls[FIRST_CLIENT + i].revents) connection_step(c);
    if (c->stage != STAGE_DONE && c->deadline_ms <= now_ms) connection_expire(c);
  }
  size_t kept = 0;
  for (size_t i = 0; i < s->num_connections; i++) {
    connection *c = s->connections[i];
    if (c->stage != STAGE_DONE) {
      s->connections[kept++] = c;
      continue;
    }
    s->all_good = s->all_good && c->good;
    s->accept_after_ms = 0; /* its descriptor is free now */
    connection_free(c);
  }
  s->num_connections = kept;
}

/* Returns false at the second signal. */
static bool take_signals(server *s) {
  char bytes[16];
  const ssize_t n = read(signal_pipe[0], bytes, sizeof bytes);
  if (n > 1 || (n == 1 && s->stopping)) return false;
  if (n == 1) begin_stop(s);
  return true;
}

static bool run(server *s) {
  while (s->listener >= 0 || s->num_connections > 0) {
    const int wait_ms = prepare(s);
    const int n = poll(s->polls, FIRST_CLIENT + s->num_connections, wait_ms);
    if (n < 0 && errno != EINTR) {
      perror("secure-server: poll");
      return false;
    }
    if (n < 0) continue;
    serve(s);
    if (s->polls[POLL_LISTENER].revents) accept_clients(s);
    if (s->polls[POLL_SIGNALS].revents && !take_signals(s)) return true;
  }
  return true;
}

/* What would make every client fail is said at the start. */
static bool path_is_usable(const options *o) {
  struct stat info;
  if (o->mode == MODE_ECHO) return true;
  const bool exists = stat(o->path, &info) == 0;
  if (o->mode == MODE_RECEIVE && (!exists || S_ISDIR(info.st_mode) || S_ISREG(info.st_mode) || S_ISCHR(info.st_mode)))
    return true;
  if (o->mode == MODE_SEND && exists && S_ISREG(info.st_mode)) return true;
  fprintf(stderr, "secure-server: %s: %s\n", o->path, exists ? "not a file" : strerror(errno));
  return false;
}

static bool start(server *s, const options *o) {
  const char *why = "no memory";
  char name[NET_NAME];
  *s = (server){.options = o, .listener = -1, .all_good = true};
  if (!path_is_usable(o) || !setup_key_log("secure-server", o, &s->key_log)) return false;
  s->config = setup_config("secure-server", o, SST_ROLE_SERVER);
  if (!s->config) return false;
  s->listener = net_listen(o->bind, o->port, &why);
  if (s->listener < 0 || !make_room(s) || !catch_signals()) {
    fprintf(stderr, "secure-server: cannot listen on %s port %s: %s\n", o->bind, o->port, why);
    return false;
  }
  net_local_name(s->listener, name);
  printf("listening on %s\n", name);
  fflush(stdout);
  return true;
}

int main(int argc, char **argv) {
  options o;
  server s;
  setup_standard_files();
  options_of_server(argc, argv, &o);
  const bool ran = start(&s, &o) && run(&s);

  stop_listening(&s);
  for (size_t i = 0; i < s.num_connections; i++)
    connection_free(s.connections[i]);
  free(s.connections);
  free(s.polls);
  sst_config_free(s.config);
  if (s.key_log) fclose(s.key_log);
  if (!ran) return 1;
  return o.once && !s.all_good ? 2 : 0;
}
