/* move, seal, open, place: data between the two sides of an open pair. The argument is the size of a write. */
#include <stdlib.h>
#include <string.h>

#include "job.h"

/* A batch is sealed as a whole, then opened: the clock is read between the two. */
enum { BATCH_BYTES = 131072 };

typedef struct Lane {
  const Peer *peer;
  void *pair;
  size_t size, batch, slot; /* writes a batch; room of each on the wire */
  size_t *sealed;
  uint8_t *plain, *wire, *read;
} Lane;

/* All jobs of a size use the same buffers: where they happen to lie must not favour a peer. */
static void take_buffers(Lane *lane) {
  static Lane known[8];
  size_t at = 0;
  while (known[at].plain != NULL && known[at].size != lane->size)
    at++;
  REQUIRE(at < sizeof known / sizeof *known);
  if (known[at].plain == NULL) {
    known[at].size = lane->size;
    known[at].plain = allocate(lane->size + 1); /* raw AEAD reads the content type behind it */
    known[at].wire = allocate(lane->batch * lane->slot);
    known[at].read = allocate(lane->size + RECORD_ROOM);
    for (size_t i = 0; i < lane->size; i++)
      known[at].plain[i] = (uint8_t)(i * 31 + i / 251);
  }
  lane->plain = known[at].plain;
  lane->wire = known[at].wire;
  lane->read = known[at].read;
}

static void *begin(const Peer *peer, const char *argument) {
  Lane *lane = allocate(sizeof *lane);
  Party party = party_new(peer, "server-p256", FULL);
  lane->peer = peer;
  lane->pair = party_open(&party);
  lane->size = strtoul(argument, NULL, 10);
  REQUIRE(lane->size > 0);
  lane->batch = lane->size < BATCH_BYTES ? BATCH_BYTES / lane->size : 1;
  if (lane->batch > 64) lane->batch = 64;
  lane->slot = (lane->size / RECORD + 1) * RECORD_ROOM;
  lane->sealed = allocate(lane->batch * sizeof *lane->sealed);
  take_buffers(lane);
  party_echo(&party, lane->pair);
  return lane;
}

static void check(Lane *lane) {
  REQUIRE(memcmp(lane->plain, lane->read, lane->size) == 0);
  memset(lane->read, 0, lane->size);
}

static uint64_t move(void *work, uint64_t n) {
  Lane *lane = work;
  const Peer *peer = lane->peer;
  const uint64_t began = thread_ns();
  for (uint64_t i = 0; i < n; i++) {
    const size_t sealed = peer->seal(lane->pair, CLIENT, lane->plain, lane->size, lane->wire, lane->slot);
    const size_t opened = peer->open(lane->pair, SERVER, lane->wire, sealed, lane->read, lane->size + RECORD_ROOM);
    REQUIRE(opened == lane->size);
  }
  const uint64_t took = thread_ns() - began;
  check(lane);
  return took;
}

static uint64_t seal_batch(Lane *lane, size_t batch) {
  const uint64_t began = thread_ns();
  for (size_t i = 0; i < batch; i++)
    lane->sealed[i] =
        lane->peer->seal(lane->pair, CLIENT, lane->plain, lane->size, lane->wire + i * lane->slot, lane->slot);
  return thread_ns() - began;
}

static uint64_t open_batch(Lane *lane, size_t batch) {
  const uint64_t began = thread_ns();
  for (size_t i = 0; i < batch; i++) {
    const size_t opened = lane->peer->open(lane->pair, SERVER, lane->wire + i * lane->slot, lane->sealed[i], lane->read,
                                           lane->size + RECORD_ROOM);
    REQUIRE(opened == lane->size);
  }
  return thread_ns() - began;
}

static uint64_t place_batch(Lane *lane, size_t batch) {
  const uint64_t began = thread_ns();
  for (size_t i = 0; i < batch; i++) {
    const size_t opened = lane->peer->open_in_place(lane->pair, SERVER, lane->wire + i * lane->slot, lane->sealed[i]);
    REQUIRE(opened == lane->size);
  }
  return thread_ns() - began;
}

/* The nanoseconds of sealing, and of opening. */
static void batches(Lane *lane, uint64_t n, uint64_t (*open)(Lane *, size_t), uint64_t took[2]) {
  took[0] = took[1] = 0;
  while (n > 0) {
    const size_t batch = n < lane->batch ? (size_t)n : lane->batch;
    took[0] += seal_batch(lane, batch);
    took[1] += open(lane, batch);
    n -= batch;
  }
}

static uint64_t seal(void *work, uint64_t n) {
  uint64_t took[2];
  batches(work, n, open_batch, took);
  check(work);
  return took[0];
}

static uint64_t open(void *work, uint64_t n) {
  uint64_t took[2];
  batches(work, n, open_batch, took);
  check(work);
  return took[1];
}

static uint64_t place(void *work, uint64_t n) {
  uint64_t took[2];
  batches(work, n, place_batch, took);
  return took[1];
}

static void *begin_place(const Peer *peer, const char *argument) {
  if (peer->open_in_place == NULL) die("%s cannot open in place", peer->name);
  return begin(peer, argument);
}

const Kind kind_move = {"move", begin, move};
const Kind kind_seal = {"seal", begin, seal};
const Kind kind_open = {"open", begin, open};
const Kind kind_place = {"place", begin_place, place};
