/*
 * Two threads, by the clock of the wall.
 *
 * both: one pair, a direction each. apart: a pair for each thread, the same work. Argument: the size of a write.
 * two_handshakes: n handshakes each. Argument: shared (one pair of configs) or own (one for each thread).
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

typedef struct Half {
  Party party;
  void *pair;
  Side from;
  size_t size, slot;
  uint8_t *plain, *wire, *read;
  uint64_t n;
} Half;

typedef struct Work {
  Half half[2];
  void *(*run)(void *half);
  pthread_barrier_t start;
} Work;

typedef struct Run {
  Work *work;
  int index;
  uint64_t ended;
} Run;

static void *move(void *context) {
  Half *half = context;
  const Peer *peer = half->party.peer;
  const Side to = (Side)(1 - half->from);
  for (uint64_t i = 0; i < half->n; i++) {
    const size_t sealed = peer->seal(half->pair, half->from, half->plain, half->size, half->wire, half->slot);
    REQUIRE(peer->open(half->pair, to, half->wire, sealed, half->read, half->size + RECORD_ROOM) == half->size);
  }
  REQUIRE(memcmp(half->plain, half->read, half->size) == 0);
  return NULL;
}

static void *shake(void *context) {
  Half *half = context;
  for (uint64_t i = 0; i < half->n; i++)
    half->party.peer->pair_free(party_open(&half->party));
  return NULL;
}

static Work *work_new(void *(*run)(void *)) {
  Work *work = allocate(sizeof *work);
  work->run = run;
  REQUIRE(pthread_barrier_init(&work->start, NULL, 2) == 0);
  return work;
}

static void give_buffers(Half *half, Side from, const char *size) {
  half->from = from;
  half->size = strtoul(size, NULL, 10);
  REQUIRE(half->size > 0);
  half->slot = (half->size / RECORD + 1) * RECORD_ROOM;
  half->plain = allocate(half->size + 1);
  half->wire = allocate(half->slot);
  half->read = allocate(half->size + RECORD_ROOM);
  memset(half->plain, 'a' + (int)from, half->size);
}

static void *begin_both(const Peer *peer, const char *size) {
  Work *work = work_new(move);
  Party party = party_new(peer, "server-p256", FULL);
  void *pair = party_open(&party);
  for (int i = 0; i < 2; i++) {
    work->half[i] = (Half){.party = party, .pair = pair};
    give_buffers(&work->half[i], (Side)i, size);
  }
  return work;
}

/* The same directions as both: only the pair is another one. */
static void *begin_apart(const Peer *peer, const char *size) {
  Work *work = work_new(move);
  Party party = party_new(peer, "server-p256", FULL);
  for (int i = 0; i < 2; i++) {
    work->half[i] = (Half){.party = party, .pair = party_open(&party)};
    give_buffers(&work->half[i], (Side)i, size);
  }
  return work;
}

static void *begin_two_handshakes(const Peer *peer, const char *whose) {
  Work *work = work_new(shake);
  REQUIRE(strcmp(whose, "shared") == 0 || strcmp(whose, "own") == 0);
  work->half[0].party = party_new(peer, "server-p256", FULL);
  work->half[1].party = strcmp(whose, "own") == 0 ? party_new(peer, "server-p256", FULL) : work->half[0].party;
  return work;
}

static void *run(void *context) {
  Run *run = context;
  pthread_barrier_wait(&run->work->start);
  run->work->run(&run->work->half[run->index]);
  run->ended = wall_ns();
  return NULL;
}

/* From the moment both are there until the later one ends. */
static uint64_t pass(void *context, uint64_t n) {
  Work *work = context;
  Run runs[2] = {{work, 0, 0}, {work, 1, 0}};
  pthread_t thread;
  work->half[0].n = work->half[1].n = n;
  REQUIRE(pthread_create(&thread, NULL, run, &runs[1]) == 0);
  pthread_barrier_wait(&work->start);
  const uint64_t began = wall_ns();
  work->run(&work->half[0]);
  runs[0].ended = wall_ns();
  REQUIRE(pthread_join(thread, NULL) == 0);
  const uint64_t ended = runs[0].ended > runs[1].ended ? runs[0].ended : runs[1].ended;
  return ended - began;
}

const Kind kind_both = {"both", begin_both, pass};
const Kind kind_apart = {"apart", begin_apart, pass};
const Kind kind_two_handshakes = {"two_handshakes", begin_two_handshakes, pass};
