/* write_read, read_write, concurrent, transfer: data between two open streams. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "pair.h"

/* One direction: its plaintext, its records, and what was read of them. */
typedef struct Lane {
  sst_stream *from, *to;
  uint8_t *plain, *wire, *read;
  size_t len, wire_cap, read_cap;
} Lane;

struct Work {
  const Case *what;
  Pair pair;
  Lane there, back;
};

static Lane lane_new(sst_stream *from, sst_stream *to, size_t len) {
  Lane lane = {.from = from, .to = to, .len = len};
  lane.wire_cap = sst_stream_encrypted_size(from, len);
  lane.read_cap = len + SST_RECORD_MAX;
  lane.plain = test_allocate(len);
  lane.wire = test_allocate(lane.wire_cap);
  lane.read = test_allocate(lane.read_cap);
  pattern_fill(lane.plain, len, 1);
  return lane;
}

static void lane_free(Lane *lane) {
  free(lane->plain);
  free(lane->wire);
  free(lane->read);
}

static void fail(const char *call, sst_status status) {
  FAIL("%s gave %s", call, sst_status_name(status));
}

static void move(Lane *lane) {
  sst_progress done;
  sst_status status = sst_stream_encrypt(lane->from, lane->plain, lane->len, lane->wire, lane->wire_cap, &done);
  if (status != SST_OK) fail("encrypt", status);
  status = sst_stream_decrypt(lane->to, lane->wire, done.produced, lane->read, lane->read_cap, &done);
  if (status != SST_NEED_INPUT || done.produced != lane->len) fail("decrypt", status);
}

static void check(Lane *lane) {
  REQUIRE(memcmp(lane->plain, lane->read, lane->len) == 0);
  memset(lane->read, 0, lane->len);
}

static Work *begin(const Case *what) {
  SideOptions client = {.min_version = what->version, .max_version = what->version, .minimum_rsa = what->minimum_rsa},
              server = client;
  memcpy(client.groups, what->groups, sizeof client.groups);
  memcpy(server.groups, what->groups, sizeof server.groups);
  server.credential = what->leaf;
  Work *work = test_allocate(sizeof *work);
  work->what = what;
  work->pair = pair_opened(&(PairOptions){.client = client, .server = server});
  pair_echo(&work->pair, 16384);
  work->there = lane_new(work->pair.client.stream, work->pair.server.stream, what->size);
  work->back = lane_new(work->pair.server.stream, work->pair.client.stream, what->size);
  return work;
}

static void end(Work *work) {
  lane_free(&work->there);
  lane_free(&work->back);
  pair_free(&work->pair);
  free(work);
}

static uint64_t bytes(const Case *what) {
  return (uint64_t)what->size * what->rounds;
}

static uint64_t bytes_both(const Case *what) {
  return 2 * bytes(what);
}

static uint64_t bytes_total(const Case *what) {
  return what->total;
}

static void write_read(Work *work, uint64_t n) {
  for (uint64_t i = 0; i < n * work->what->rounds; i++)
    move(&work->there);
  check(&work->there);
}

static void read_write(Work *work, uint64_t n) {
  Lane *lane = &work->there;
  for (uint64_t i = 0; i < n * work->what->rounds; i++) {
    sst_progress done;
    const sst_status status = sst_stream_decrypt(lane->to, NULL, 0, lane->read, lane->read_cap, &done);
    if (status != SST_NEED_INPUT) fail("decrypt", status);
    move(lane);
  }
  check(lane);
}

static void transfer(Work *work, uint64_t n) {
  for (uint64_t i = 0; i < n * (work->what->total / work->what->size); i++)
    move(&work->there);
  check(&work->there);
}

/* A thread must not leave by the harness: it says what happened. */
typedef struct Half {
  Lane *lane;
  uint64_t rounds;
  bool good;
} Half;

static void *run_half(void *context) {
  Half *half = context;
  half->good = true;
  for (uint64_t i = 0; i < half->rounds && half->good; i++) {
    Lane *lane = half->lane;
    sst_progress done;
    half->good =
        sst_stream_encrypt(lane->from, lane->plain, lane->len, lane->wire, lane->wire_cap, &done) == SST_OK &&
        sst_stream_decrypt(lane->to, lane->wire, done.produced, lane->read, lane->read_cap, &done) == SST_NEED_INPUT &&
        done.produced == lane->len;
  }
  return NULL;
}

static void concurrent(Work *work, uint64_t n) {
  Half there = {&work->there, n * work->what->rounds, false}, back = {&work->back, n * work->what->rounds, false};
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, run_half, &there) == 0);
  run_half(&back);
  REQUIRE(pthread_join(thread, NULL) == 0);
  REQUIRE(there.good && back.good);
  check(&work->there);
  check(&work->back);
}

const Kind kind_write_read = {"write_read", begin, end, write_read, bytes};
const Kind kind_read_write = {"read_write", begin, end, read_write, bytes};
const Kind kind_concurrent = {"concurrent", begin, end, concurrent, bytes_both};
const Kind kind_transfer = {"transfer", begin, end, transfer, bytes_total};
