/*
 * handshake: a client and a server are made from shared configs, shake hands, and are freed. Argument: the leaf.
 * over: the same through a connected pair of blocking sockets, one write a flight. Argument: ipv4, ipv6 or unix.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "job.h"

typedef struct Work {
  Party party;
  int fd[2]; /* by side */
} Work;

static void *begin(const Peer *peer, const char *leaf) {
  if (peer->handshake == NULL) die("%s has no handshake", peer->name);
  Work *work = allocate(sizeof *work);
  work->party = party_new(peer, leaf);
  return work;
}

static uint64_t pass(void *context, uint64_t n) {
  Work *work = context;
  const uint64_t began = thread_ns();
  for (uint64_t i = 0; i < n; i++)
    work->party.peer->pair_free(party_open(&work->party));
  return thread_ns() - began;
}

static void connect_tcp(int domain, int fd[2]) {
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  struct sockaddr *address = domain == AF_INET ? (struct sockaddr *)&four : (struct sockaddr *)&six;
  socklen_t len = domain == AF_INET ? sizeof four : sizeof six;
  const int listener = socket(domain, SOCK_STREAM, 0), on = 1;
  REQUIRE(listener >= 0 && bind(listener, address, len) == 0 && listen(listener, 1) == 0);
  REQUIRE(getsockname(listener, address, &len) == 0);
  fd[CLIENT] = socket(domain, SOCK_STREAM, 0);
  REQUIRE(fd[CLIENT] >= 0 && connect(fd[CLIENT], address, len) == 0);
  fd[SERVER] = accept(listener, NULL, NULL);
  REQUIRE(fd[SERVER] >= 0);
  close(listener);
  for (int side = CLIENT; side <= SERVER; side++)
    REQUIRE(setsockopt(fd[side], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
}

static void *begin_over(const Peer *peer, const char *way) {
  Work *work = begin(peer, "server-p256");
  if (strcmp(way, "unix") == 0) {
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, work->fd) == 0);
  } else {
    REQUIRE(strcmp(way, "ipv4") == 0 || strcmp(way, "ipv6") == 0);
    connect_tcp(strcmp(way, "ipv4") == 0 ? AF_INET : AF_INET6, work->fd);
  }
  return work;
}

/* One call of a side: what has come in, if it waits for something, and what it answers, in one write. */
static bool step(Work *work, void *pair, Side side, bool reads) {
  static _Thread_local uint8_t in[FLIGHT_ROOM], out[FLIGHT_ROOM];
  bool open = false;
  const ssize_t came = reads ? read(work->fd[side], in, sizeof in) : 0;
  REQUIRE(came > 0 || !reads);
  const size_t answer = work->party.peer->handshake(pair, side, in, (size_t)came, out, sizeof out, &open);
  REQUIRE(answer == 0 || write(work->fd[side], out, answer) == (ssize_t)answer);
  return open;
}

/* The clock of the wall: a delay in the transport is no CPU time. */
static uint64_t pass_over(void *context, uint64_t n) {
  Work *work = context;
  const uint64_t began = wall_ns();
  for (uint64_t i = 0; i < n; i++) {
    void *pair = work->party.peer->pair_new(work->party.configs);
    (void)step(work, pair, CLIENT, false);
    (void)step(work, pair, SERVER, true);
    REQUIRE(step(work, pair, CLIENT, true));
    REQUIRE(step(work, pair, SERVER, true));
    work->party.peer->pair_free(pair);
  }
  return wall_ns() - began;
}

const Kind kind_handshake = {"handshake", begin, pass};
const Kind kind_over = {"over", begin_over, pass_over};
