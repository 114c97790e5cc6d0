/* White-box: what an idle stream holds (M02), and what one record in steady state allocates. */
#include "tls/internal.h"
#include "allocations.h"
#include "bare.h"
#include "bare_ssl.h"
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>

/* Of what a stream may hold: on our path, and where BoringSSL's SSL stays. */
enum { STREAMS = 2000, ECHO = 16384, BUDGET = 2560, SSL_BUDGET = 8192 };

typedef struct Crowd {
  sst_config *client, *server;
  Bare *bare; /* lends its buffers to each pair in turn */
  sst_stream *clients[STREAMS], *servers[STREAMS];
  uint8_t data[ECHO], out[ECHO];
} Crowd;

static Crowd *crowd_new(const SideOptions *client, const SideOptions *server) {
  Crowd *crowd = test_allocate(sizeof *crowd);
  crowd->client = pair_config(client, SST_ROLE_CLIENT);
  crowd->server = pair_config(server, SST_ROLE_SERVER);
  crowd->bare = test_allocate(sizeof *crowd->bare);
  pattern_fill(crowd->data, ECHO, 1);
  REQUIRE_STATUS(sst_config_freeze(crowd->client, SST_ROLE_CLIENT), SST_OK);
  REQUIRE_STATUS(sst_config_freeze(crowd->server, SST_ROLE_SERVER), SST_OK);
  return crowd;
}

static void crowd_free(Crowd *crowd) {
  sst_config_free(crowd->client);
  sst_config_free(crowd->server);
  free(crowd->bare);
  free(crowd);
}

static void shake_hands(Crowd *crowd, size_t i) {
  REQUIRE_STATUS(bare_new(crowd->bare, crowd->client, crowd->server), SST_OK);
  REQUIRE_STATUS(bare_handshake(crowd->bare), SST_OK);
  crowd->clients[i] = crowd->bare->client.stream;
  crowd->servers[i] = crowd->bare->server.stream;
}

/* Every pair echoes once. */
static void echo_all(Crowd *crowd) {
  for (size_t i = 0; i < STREAMS; i++) {
    crowd->bare->client.stream = crowd->clients[i];
    crowd->bare->server.stream = crowd->servers[i];
    REQUIRE_STATUS(bare_echo(crowd->bare, crowd->data, ECHO, crowd->out), SST_OK);
  }
}

static void free_all(sst_stream **streams) {
  for (size_t i = 0; i < STREAMS; i++)
    sst_stream_free(streams[i]);
}

/* Bytes and blocks of heap per idle stream, from all streams of a role that are freed. */
static void report(const char *what, const Heap *with, const Heap *without, int64_t counted) {
  const int64_t bytes = (with->bytes - without->bytes) / STREAMS;
  printf("note: idle %s: %lld bytes of heap in %lld blocks, %lld of them counted by sst_allocated_bytes\n", what,
         (long long)bytes, (long long)((with->blocks - without->blocks) / STREAMS), (long long)(counted / STREAMS));
  EXPECT_AT_LEAST(bytes, 1000);
  EXPECT_AT_MOST(bytes, sst__keeps_ssl() ? SSL_BUDGET : BUDGET);
}

static void idle_streams_are_small(const char *what, const SideOptions *client, const SideOptions *server) {
  if (!allocations_are_wrapped()) SKIP("malloc is not wrapped in this build");
  char text[64];
  Crowd *crowd = crowd_new(client, server);
  for (size_t i = 0; i < STREAMS; i++)
    shake_hands(crowd, i);
  const Heap fresh = heap_now();
  echo_all(crowd);
  const Heap idle = heap_now();
  EXPECT_EQ(idle.bytes, fresh.bytes);
  EXPECT_EQ(idle.blocks, fresh.blocks);
  echo_all(crowd);
  const Heap again = heap_now();
  EXPECT_EQ(again.bytes, fresh.bytes);

  uint64_t counted = sst_allocated_bytes();
  free_all(crowd->clients);
  const Heap servers = heap_now();
  snprintf(text, sizeof text, "client, %s", what);
  report(text, &idle, &servers, (int64_t)(counted - sst_allocated_bytes()));
  counted = sst_allocated_bytes();
  free_all(crowd->servers);
  const Heap none = heap_now();
  snprintf(text, sizeof text, "server, %s", what);
  report(text, &servers, &none, (int64_t)(counted - sst_allocated_bytes()));
  crowd_free(crowd);
}

TEST(memory_idle, streams_are_small_tls13) {
  idle_streams_are_small("TLS 1.3", &(SideOptions){.min_version = SST_TLS1_3},
                         &(SideOptions){.min_version = SST_TLS1_3});
}

TEST(memory_idle, streams_are_small_tls12) {
  idle_streams_are_small("TLS 1.2", &(SideOptions){.max_version = SST_TLS1_2},
                         &(SideOptions){.max_version = SST_TLS1_2});
}

/* Not in the budget, which is for servers without client certificates; the figure is for the reader. */
TEST(memory_idle, mutual_streams_are_small_tls13) {
  idle_streams_are_small(
      "TLS 1.3 with a client certificate", &(SideOptions){.min_version = SST_TLS1_3, .credential = "client-p256"},
      &(SideOptions){.min_version = SST_TLS1_3, .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE});
}

/* An idle stream holds no record buffer: what a cut or kept record took is given back with its last byte. */
TEST_VERSIONS(memory_idle, buffers_of_cut_and_kept_records_are_given_back) {
  Pair pair = pair_open(.client = {.max_version = version});
  uint8_t data[3 * ECHO];
  pattern_fill(data, sizeof data, 1);
  const uint64_t bytes = sst_allocated_bytes();
  for (int round = 0; round < 3; round++) {
    EXPECT_STATUS(side_send(&pair.client, data, sizeof data), SST_OK);
    pair.server.chunk = 1000;
    pair.server.room = 777;
    EXPECT_STATUS(side_receive(&pair.server), SST_NEED_INPUT);
    EXPECT_RECEIVED(&pair.server, data, sizeof data);
    EXPECT_EQ(sst_allocated_bytes(), bytes);
  }
  pair_free(&pair);
}

/* ---- one record in steady state ---- */

static uint64_t allocations_of_bare_boringssl(uint16_t version, const uint8_t *data, uint8_t *out) {
  BareSsl *bare = bare_ssl_open(version);
  REQUIRE(bare_ssl_move(bare, data, ECHO, out));
  allocations_fail_at(0);
  REQUIRE(bare_ssl_move(bare, data, ECHO, out));
  const uint64_t count = allocations_count();
  bare_ssl_free(bare);
  return count;
}

/* Nothing is allocated; where records go through BoringSSL nothing but what it does itself. Nothing stays. */
TEST_VERSIONS(memory_idle, full_record_allocates_nothing_of_ours) {
  if (!allocations_are_wrapped()) SKIP("malloc is not wrapped in this build");
  static uint8_t data[ECHO], wire[ECHO + SST_RECORD_MAX], out[ECHO + SST_RECORD_MAX];
  pattern_fill(data, ECHO, 1);
  const uint64_t expected = sst__keeps_ssl() ? allocations_of_bare_boringssl(version, data, out) : 0;
  Pair pair = pair_open(.client = {.max_version = version, .groups = {29, 23}});
  pair_echo(&pair, ECHO);
  const uint64_t bytes = sst_allocated_bytes();
  sst_progress done;
  allocations_fail_at(0);
  EXPECT_STATUS(sst_stream_encrypt(pair.client.stream, data, ECHO, wire, sizeof wire, &done), SST_OK);
  const uint64_t sealing = allocations_count();
  EXPECT_STATUS(sst_stream_decrypt(pair.server.stream, wire, done.produced, out, sizeof out, &done), SST_NEED_INPUT);
  const uint64_t both = allocations_count();
  printf("note: 16 KiB, %s: %u allocations to seal, %u to open; expected are %u for both\n",
         version == SST_TLS1_3 ? "TLS 1.3" : "TLS 1.2", (unsigned)sealing, (unsigned)(both - sealing),
         (unsigned)expected);
  EXPECT_EQ(both, expected);
  EXPECT_EQ(sst_allocated_bytes(), bytes);
  EXPECT_BYTES(out, done.produced, data, ECHO);
  pair_free(&pair);
}
