/*
 * sst_guard: does one thing so many times, for guards.py to count.
 *
 *   sst_guard move SIZE N       the client encrypts SIZE bytes in one call, the server decrypts them in one call
 *   sst_guard place SIZE N      the same, decrypted in place
 *   sst_guard handshake LEAF N  prints the calls of malloc and its kin per handshake of both sides
 *   sst_guard idle LEAF N       prints the bytes of heap per open client, and per open server, after an echo of 16 KiB
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bare.h"
#include "data.h"
#include "test.h"

enum { ROOM = 40000, RANGES = 4, ECHO = 16384 };

/* Stands in front of the C library's allocator for the whole process, the shared library included. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *memory, size_t size);
static _Atomic uint64_t calls;

void *malloc(size_t size) {
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  return __libc_realloc(memory, size);
}

static void need(bool good, const char *what) {
  if (good) return;
  fprintf(stderr, "sst_guard: %s\n", what);
  exit(1);
}

typedef struct Configs {
  sst_config *client, *server;
} Configs;

static Configs configs_new(const char *leaf) {
  static const uint16_t groups[] = {29}; /* x25519 */
  Configs configs = {sst_config_new(), sst_config_new()};
  sst_credential *credential = data_credential(leaf);
  sst_trust *trust = data_trust("root");
  for (int i = 0; i < 2; i++)
    need(sst_config_set_groups(i == 0 ? configs.client : configs.server, groups, 1) == SST_OK, "groups");
  need(sst_config_add_credential(configs.server, credential) == SST_OK, "credential");
  need(sst_config_set_trust(configs.client, trust) == SST_OK, "trust");
  sst_credential_free(credential);
  sst_trust_free(trust);
  return configs;
}

static void open_pair(Bare *bare, const Configs *configs) {
  need(bare_new(bare, configs->client, configs->server) == SST_OK && bare_handshake(bare) == SST_OK, "handshake");
}

static void move(Bare *bare, size_t size, unsigned long n, bool in_place) {
  static uint8_t plain[ECHO], wire[ROOM], read[ROOM];
  sst_progress done;
  sst_range ranges[RANGES];
  need(size > 0 && size <= sizeof plain, "size");
  for (size_t i = 0; i < size; i++)
    plain[i] = (uint8_t)(i * 7);
  for (unsigned long i = 0; i < n; i++) {
    size_t used = 0;
    need(sst_stream_encrypt(bare->client.stream, plain, size, wire, ROOM, &done) == SST_OK, "encrypt");
    const size_t sealed = done.produced;
    const sst_status status =
        in_place ? sst_stream_decrypt_in_place(bare->server.stream, wire, sealed, ranges, RANGES, &used, &done)
                 : sst_stream_decrypt(bare->server.stream, wire, sealed, read, ROOM, &done);
    need(status == SST_NEED_INPUT && done.produced == size, "decrypt");
  }
  need(memcmp(in_place ? wire + ranges[0].offset : read, plain, size) == 0, "other bytes came than were sent");
}

static double handshakes(Bare *bare, const Configs *configs, unsigned long n) {
  open_pair(bare, configs); /* what is made once, is made now */
  bare_end(bare);
  const uint64_t before = atomic_load(&calls);
  for (unsigned long i = 0; i < n; i++) {
    open_pair(bare, configs);
    bare_end(bare);
  }
  return (double)(atomic_load(&calls) - before) / (double)n;
}

static double per_stream(sst_stream **streams, unsigned long n) {
  const uint64_t before = sst_allocated_bytes();
  for (unsigned long i = 0; i < n; i++)
    sst_stream_free(streams[i]);
  return (double)(before - sst_allocated_bytes()) / (double)n;
}

/* One pair stays open till the end: what all streams share is not counted. */
static void idle(Bare *bare, const Configs *configs, unsigned long n) {
  static uint8_t plain[ECHO], read[ECHO];
  sst_stream **clients = calloc(n + 1, sizeof *clients), **servers = calloc(n + 1, sizeof *servers);
  need(clients != NULL && servers != NULL, "memory");
  for (unsigned long i = 0; i <= n; i++) {
    open_pair(bare, configs);
    need(bare_echo(bare, plain, sizeof plain, read) == SST_OK, "echo");
    clients[i] = bare->client.stream;
    servers[i] = bare->server.stream;
  }
  const double client = per_stream(clients, n), server = per_stream(servers, n);
  printf("%.0f %.0f\n", client, server);
  free(clients);
  free(servers);
}

int main(int argc, char **argv) {
  static Bare bare;
  need(argc == 4, "usage: sst_guard move|place SIZE N | handshake|idle LEAF N");
  const unsigned long n = strtoul(argv[3], NULL, 10);
  need(n > 0, "N");
  if (strcmp(argv[1], "move") == 0 || strcmp(argv[1], "place") == 0) {
    const Configs configs = configs_new("server-p256");
    open_pair(&bare, &configs);
    move(&bare, strtoul(argv[2], NULL, 10), n, strcmp(argv[1], "place") == 0);
    return 0;
  }
  const Configs configs = configs_new(argv[2]);
  if (strcmp(argv[1], "handshake") == 0) {
    printf("%.2f\n", handshakes(&bare, &configs, n));
  } else {
    need(strcmp(argv[1], "idle") == 0, "no such guard");
    idle(&bare, &configs, n);
  }
  return 0;
}
