/* write_read, read_write, concurrent, transfer: data between two open streams. */
#include <stdlib.h>
#include <string.h>

#include "lane.h"
#include "measure.h"
#include "pair.h"
#include "workers.h"

struct Work {
  const Case *what;
  Pair pair;
  Lane there, back;
};

static Work *begin(const Case *what) {
  SideOptions client = {.min_version = what->version, .max_version = what->version, .minimum_rsa = what->minimum_rsa},
              server = client;
  memcpy(client.groups, what->groups, sizeof client.groups);
  memcpy(server.groups, what->groups, sizeof server.groups);
  server.credential = what->leaf;
  server.tickets = TICKETS_BY_DEFAULT;
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

static void move(Work *work, uint64_t rounds) {
  for (uint64_t i = 0; i < rounds; i++)
    if (!lane_move(&work->there)) lane_fail(&work->there);
  lane_check(&work->there);
}

static void write_read(Work *work, uint64_t n) {
  move(work, n * work->what->rounds);
}

static void read_write(Work *work, uint64_t n) {
  Lane *lane = &work->there;
  for (uint64_t i = 0; i < n * work->what->rounds; i++)
    if (!lane_read_nothing(lane) || !lane_move(lane)) lane_fail(lane);
  lane_check(lane);
}

static void transfer(Work *work, uint64_t n) {
  move(work, n * (work->what->total / work->what->size));
}

/* A thread must not leave by the harness: it says what happened. */
typedef struct Half {
  Lane *lane;
  uint64_t rounds;
  bool good;
} Half;

static void run_half(void *context) {
  Half *half = context;
  half->good = true;
  for (uint64_t i = 0; i < half->rounds && half->good; i++)
    half->good = lane_move(half->lane);
}

static void concurrent(Work *work, uint64_t n) {
  Half halves[2] = {{&work->there, n * work->what->rounds, false}, {&work->back, n * work->what->rounds, false}};
  workers_run(2, run_half, halves, sizeof *halves);
  for (int i = 0; i < 2; i++) {
    if (!halves[i].good) lane_fail(halves[i].lane);
    lane_check(halves[i].lane);
  }
}

const Kind kind_write_read = {.name = "write_read", .begin = begin, .end = end, .pass = write_read, .bytes = bytes};
const Kind kind_read_write = {.name = "read_write", .begin = begin, .end = end, .pass = read_write, .bytes = bytes};
const Kind kind_concurrent = {
    .name = "concurrent", .begin = begin, .end = end, .pass = concurrent, .bytes = bytes_both};
const Kind kind_transfer = {.name = "transfer", .begin = begin, .end = end, .pass = transfer, .bytes = bytes_total};
