#define _POSIX_C_SOURCE 200809L
#include "loop.h"

#include <errno.h>
#include <poll.h>

enum { POLL_LISTENER, POLL_ANSWERS, FIRST_CLIENT };
enum { LONG_MS = 3600000 };

static void accept_clients(loop *l) {
  while (l->num_clients < LOOP_CLIENTS) {
    char name[NET_NAME];
    const int fd = net_accept(l->listener, name);
    if (fd < 0) return; /* none, or none that can be served: poll tells of it again */
    connection *c = connection_new(l->options, l->config, NULL, fd, ++l->num_accepted, name);
    if (c) l->clients[l->num_clients++].connection = c;
    if (c) l->clients[l->num_clients - 1].waits = false;
  }
}

void loop_answered(loop *l, const connection *c) {
  for (size_t i = 0; i < l->num_clients; i++) {
    if (l->clients[i].connection != c) continue;
    l->num_waiting--;
    l->clients[i].waits = false;
    l->clients[i].connection->ready = true;
  }
}

/* Fills polls and returns how long to wait. */
static int prepare(const loop *l, struct pollfd *polls) {
  const int64_t now_ms = net_now_ms();
  int64_t wait_ms = LONG_MS;
  polls[POLL_LISTENER] = (struct pollfd){.fd = l->num_clients < LOOP_CLIENTS ? l->listener : -1, .events = POLLIN};
  polls[POLL_ANSWERS] = (struct pollfd){.fd = l->answers, .events = POLLIN};
  for (size_t i = 0; i < l->num_clients; i++) {
    const connection *c = l->clients[i].connection;
    const bool waits = l->clients[i].waits;
    polls[FIRST_CLIENT + i] = (struct pollfd){.fd = waits ? -1 : c->pump.fd, .events = c->events};
    const int64_t left_ms = c->ready ? 0 : c->deadline_ms - now_ms;
    if (!waits && left_ms < wait_ms) wait_ms = left_ms;
  }
  return wait_ms > 0 ? (int)wait_ms : 0;
}

static void serve(loop *l, const struct pollfd *polls) {
  const int64_t now_ms = net_now_ms();
  for (size_t i = 0; i < l->num_clients; i++) {
    connection *c = l->clients[i].connection;
    if (l->clients[i].waits) continue;
    if (c->ready || polls[FIRST_CLIENT + i].revents) connection_step(c);
    if (c->stage == STAGE_HANDSHAKE && c->asked) {
      l->clients[i].waits = true;
      l->num_waiting++;
      l->ask(l->context, c);
    } else if (c->stage != STAGE_DONE && c->deadline_ms <= now_ms) {
      connection_expire(c);
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < l->num_clients; i++) {
    if (l->clients[i].connection->stage == STAGE_DONE)
      connection_free(l->clients[i].connection);
    else
      l->clients[kept++] = l->clients[i];
  }
  l->num_clients = kept;
}

void loop_run(loop *l) {
  struct pollfd polls[FIRST_CLIENT + LOOP_CLIENTS];
  for (;;) {
    const int wait_ms = prepare(l, polls);
    const int n = poll(polls, FIRST_CLIENT + l->num_clients, wait_ms);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      perror("poll");
      return;
    }
    serve(l, polls);
    if (polls[POLL_ANSWERS].revents) l->take(l->context);
    if (polls[POLL_LISTENER].revents) accept_clients(l);
  }
}
