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

Party party_new(const Peer *peer, const char *leaf) {
  return (Party){peer, peer->configs_new(leaf)};
}

static void finish(const Peer *peer, void *pair) {
  static _Thread_local uint8_t wire[2][FLIGHT_ROOM];
  size_t len[2] = {0, 0};
  bool open[2] = {false, false};
  for (int turn = 0; !open[CLIENT] || !open[SERVER]; turn++) {
    REQUIRE(turn < 8);
    for (int side = CLIENT; side <= SERVER; side++) {
      const int other = 1 - side;
      if (open[side] && len[side] == 0) continue;
      heap_side(side);
      len[other] = peer->handshake(pair, (Side)side, wire[side], len[side], wire[other], FLIGHT_ROOM, &open[side]);
      len[side] = 0;
    }
  }
  heap_side(2);
}

void *party_open(const Party *party) {
  void *pair = party->peer->pair_new(party->configs);
  heap_side(2);
  if (party->peer->handshake != NULL) finish(party->peer, pair);
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
