/*
 * handshake: a client and a server are made from shared configs, shake hands, and are freed. Argument: the leaf.
 * resumed: the same with the session of the op before, whose ticket the client has read. unverified: where that can be
 * left out, the client that resumes verifies nothing again. reloaded: the session has been
 * bytes in between. early: resumed, with data in the first flight, which the server reads.
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

static Work *begin_use(const Peer *peer, const char *leaf, Use use) {
  if (peer->handshake == NULL) die("%s has no handshake", peer->name);
  if (use != FULL && peer->keep_session == NULL) die("%s cannot resume", peer->name);
  if (use == EARLY && peer->early_seal == NULL) die("%s has no 0-RTT", peer->name);
  Work *work = allocate(sizeof *work);
  work->party = party_new(peer, leaf, use);
  return work;
}

static void *begin(const Peer *peer, const char *leaf) {
  return begin_use(peer, leaf, FULL);
}

/* With the first session. */
static Work *begin_sessions(const Peer *peer, const char *leaf, Use use) {
  Work *work = begin_use(peer, leaf, use);
  peer->pair_free(party_open(&work->party));
  return work;
}

static void *begin_resumed(const Peer *peer, const char *leaf) {
  return begin_sessions(peer, leaf, RESUMED);
}

static void *begin_unverified(const Peer *peer, const char *leaf) {
  return begin_sessions(peer, leaf, UNVERIFIED);
}

static void *begin_reloaded(const Peer *peer, const char *leaf) {
  if (peer->reload_session == NULL) die("%s has no sessions as bytes", peer->name);
  Work *work = begin_resumed(peer, leaf);
  work->party.reloads = true;
  return work;
}

static void *begin_early(const Peer *peer, const char *leaf) {
  return begin_sessions(peer, leaf, EARLY);
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
const Kind kind_resumed = {"resumed", begin_resumed, pass};
const Kind kind_unverified = {"unverified", begin_unverified, pass};
const Kind kind_reloaded = {"reloaded", begin_reloaded, pass};
const Kind kind_early = {"early", begin_early, pass};
const Kind kind_over = {"over", begin_over, pass_over};
