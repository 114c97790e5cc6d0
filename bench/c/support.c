#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "job.h"

void die(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
  fputc('\n', stderr);
  exit(1);
}

void *allocate(size_t size) {
  void *memory = calloc(1, size > 0 ? size : 1);
  REQUIRE(memory != NULL);
  return memory;
}

const char *data_path(const char *name, const char *extension) {
  static _Thread_local char path[1024];
  snprintf(path, sizeof path, "%s/%s.%s", BENCH_DATA, name, extension);
  return path;
}

uint8_t *data_read(const char *name, const char *extension, size_t *len) {
  enum { MOST = 65536 };
  uint8_t *bytes = allocate(MOST);
  FILE *file = fopen(data_path(name, extension), "rb");
  if (file == NULL) die("no file %s", data_path(name, extension));
  *len = fread(bytes, 1, MOST - 1, file);
  fclose(file);
  return bytes;
}

static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t thread_ns(void) {
  return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t wall_ns(void) {
  return clock_ns(CLOCK_MONOTONIC);
}

static void *heap_function(const char *name) {
  void *function = dlsym(RTLD_DEFAULT, name);
  if (function == NULL) die("heap counts need LD_PRELOAD of libbench_heap.so");
  return function;
}

Heap heap_now(void) {
  static void (*now)(uint64_t *, int64_t *);
  Heap heap;
  if (now == NULL) *(void **)&now = heap_function("bench_heap_now");
  now(&heap.calls, heap.bytes);
  return heap;
}

void heap_side(int side) {
  static void (*set)(int);
  static bool looked;
  if (!looked) *(void **)&set = dlsym(RTLD_DEFAULT, "bench_heap_side");
  looked = true;
  if (set != NULL) set(side);
}

Party party_new(const Peer *peer, const char *leaf, Use use) {
  return (Party){.peer = peer, .configs = peer->configs_new(leaf, use), .use = use};
}

/* What each side has not taken yet. */
typedef struct Wires {
  uint8_t bytes[2][FLIGHT_ROOM];
  size_t len[2];
} Wires;

/* From here on until both sides are open. What comes to a side that is open stays: the tickets. */
static void finish(const Peer *peer, void *pair, Wires *wires) {
  bool open[2] = {false, false};
  for (int turn = 0; !open[CLIENT] || !open[SERVER]; turn++) {
    REQUIRE(turn < 8);
    for (int side = CLIENT; side <= SERVER; side++) {
      const int other = 1 - side;
      if (open[side]) continue;
      heap_side(side);
      wires->len[other] = peer->handshake(pair, (Side)side, wires->bytes[side], wires->len[side], wires->bytes[other],
                                          FLIGHT_ROOM, &open[side]);
      wires->len[side] = 0;
    }
  }
}

/* The first flights, with data from the client. */
static void send_early(const Peer *peer, void *pair, Wires *wires) {
  static uint8_t data[EARLY_SIZE], read[RECORD_ROOM];
  size_t read_len = 0;
  memset(data, 'e', sizeof data);
  heap_side(CLIENT);
  const size_t flight = peer->early_seal(pair, data, sizeof data, wires->bytes[SERVER], FLIGHT_ROOM);
  heap_side(SERVER);
  wires->len[CLIENT] =
      peer->early_open(pair, wires->bytes[SERVER], flight, wires->bytes[CLIENT], FLIGHT_ROOM, read, &read_len);
  REQUIRE(read_len == sizeof data && memcmp(read, data, sizeof data) == 0);
  memset(read, 0, sizeof data);
}

static void keep_session(Party *party, void *pair, Wires *wires) {
  const Peer *peer = party->peer;
  uint8_t *in = wires->bytes[CLIENT];
  size_t len = wires->len[CLIENT];
  heap_side(SERVER);
  if (peer->tickets != NULL) len += peer->tickets(pair, in + len, FLIGHT_ROOM - len);
  heap_side(CLIENT);
  peer->keep_session(party->configs, pair, in, len, party->has_session);
  if (party->reloads) peer->reload_session(party->configs);
  party->has_session = party->use >= RESUMED;
}

void *party_open(Party *party) {
  static _Thread_local Wires wires;
  void *pair = party->peer->pair_new(party->configs);
  heap_side(2);
  wires.len[CLIENT] = wires.len[SERVER] = 0;
  if (party->use == EARLY && party->has_session) send_early(party->peer, pair, &wires);
  if (party->peer->handshake != NULL) finish(party->peer, pair, &wires);
  if (party->use != FULL) keep_session(party, pair, &wires);
  heap_side(2);
  return pair;
}

void party_echo(const Party *party, void *pair) {
  static _Thread_local uint8_t plain[RECORD + 1], wire[2 * RECORD_ROOM], read[2 * RECORD_ROOM];
  for (int side = CLIENT; side <= SERVER; side++) {
    memset(plain, 'a' + side, RECORD);
    heap_side(side);
    const size_t sealed = party->peer->seal(pair, (Side)side, plain, RECORD, wire, sizeof wire);
    heap_side(1 - side);
    REQUIRE(party->peer->open(pair, (Side)(1 - side), wire, sealed, read, sizeof read) == RECORD);
    REQUIRE(memcmp(plain, read, RECORD) == 0);
  }
  heap_side(2);
}
