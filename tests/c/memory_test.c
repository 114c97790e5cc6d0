/* White-box: what streams leave behind: connections that fail (M01), and long runs. */
#include "allocations.h"
#include "bare.h"
#include "pair.h"

#include <stdlib.h>

enum { ECHO = 16384, PAGE = 4096 };

typedef struct Bench {
  sst_config *client, *server;
  Bare *bare;
  uint8_t data[ECHO], out[ECHO];
} Bench;

static Bench *bench_new(const SideOptions *client, const SideOptions *server) {
  Bench *bench = test_allocate(sizeof *bench);
  bench->client = pair_config(client, SST_ROLE_CLIENT);
  bench->server = pair_config(server, SST_ROLE_SERVER);
  bench->bare = test_allocate(sizeof *bench->bare);
  pattern_fill(bench->data, ECHO, 1);
  return bench;
}

static void bench_free(Bench *bench) {
  sst_config_free(bench->client);
  sst_config_free(bench->server);
  free(bench->bare);
  free(bench);
}

/* ---- M01: connections that fail ---- */

typedef void (*Failing)(Bench *bench);

static void begin(Bench *bench) {
  REQUIRE_STATUS(bare_new(bench->bare, bench->client, bench->server), SST_OK);
}

static void transport_ends(Bench *bench) {
  begin(bench);
  BareSide *client = &bench->bare->client;
  sst_progress done;
  EXPECT_STATUS(sst_stream_handshake(client->stream, NULL, 0, client->out, BARE_CAP, &done), SST_NEED_INPUT);
  EXPECT_STATUS(sst_stream_input_eof(client->stream), SST_OK);
  EXPECT_STATUS(sst_stream_handshake(client->stream, NULL, 0, client->out, BARE_CAP, &done), SST_ERR_HANDSHAKE_EOF);
  EXPECT_STATUS(sst_stream_handshake(bench->bare->server.stream, client->out, 100, bench->out, ECHO, &done),
                SST_NEED_INPUT);
}

static void garbage_comes(Bench *bench) {
  begin(bench);
  sst_progress done;
  EXPECT(sst_stream_handshake(bench->bare->server.stream, bench->data, 200, bench->out, ECHO, &done) < 0);
  const uint8_t hello[] = {22, 3, 1, 0, 4, 1, 0, 0, 0};
  EXPECT(sst_stream_handshake(bench->bare->client.stream, NULL, 0, bench->out, ECHO, &done) == SST_NEED_INPUT);
  EXPECT(sst_stream_handshake(bench->bare->client.stream, hello, sizeof hello, bench->out, ECHO, &done) < 0);
}

static void handshake_fails(Bench *bench) {
  begin(bench);
  EXPECT(bare_handshake(bench->bare) < 0);
}

/* TLS 1.3: the client has finished when the server refuses. */
static void certificate_is_missing(Bench *bench) {
  begin(bench);
  EXPECT(bare_handshake(bench->bare) < 0);
  EXPECT_STATUS(bench->bare->server.status, SST_ERR_PEER_CERT_REQUIRED);
}

static void nothing_happens(Bench *bench) {
  begin(bench);
}

static void write_is_not_finished(Bench *bench) {
  begin(bench);
  REQUIRE_STATUS(bare_handshake(bench->bare), SST_OK);
  sst_stream *stream = bench->bare->client.stream;
  sst_progress done;
  EXPECT_STATUS(sst_stream_encrypt(stream, bench->data, ECHO, bench->out, 100, &done), SST_NEED_OUTPUT);
  EXPECT_STATUS(sst_stream_key_update(stream, 1), SST_OK);
  EXPECT_STATUS(sst_stream_flush(stream, bench->out, 5, &done), SST_NEED_OUTPUT);
}

/* A record that was cut, and one that is kept. */
static void read_is_not_finished(Bench *bench) {
  begin(bench);
  REQUIRE_STATUS(bare_handshake(bench->bare), SST_OK);
  BareSide *client = &bench->bare->client;
  sst_stream *server = bench->bare->server.stream;
  sst_progress done;
  EXPECT_STATUS(sst_stream_encrypt(client->stream, bench->data, ECHO, client->out, BARE_CAP, &done), SST_OK);
  const size_t first = done.produced;
  EXPECT_STATUS(sst_stream_encrypt(client->stream, bench->data, 10, client->out + first, BARE_CAP - first, &done),
                SST_OK);
  EXPECT_STATUS(sst_stream_decrypt(server, client->out, first, bench->out, 10, &done), SST_NEED_OUTPUT);
  EXPECT_STATUS(sst_stream_abort(server, 90), SST_OK);
  EXPECT_STATUS(sst_stream_decrypt(client->stream, bench->data, 3, bench->out, 10, &done), SST_NEED_INPUT);
}

/* Objects and bytes are the same after the first and after the last of rounds connections. */
static void leaves_nothing(const SideOptions *client, const SideOptions *server, Failing failing, int rounds) {
  Bench *bench = bench_new(client, server);
  failing(bench); /* what is made once in a process is made here */
  bare_end(bench->bare);
  const uint64_t objects = sst_live_objects(), bytes = sst_allocated_bytes();
  const Heap before = heap_now();
  for (int round = 0; round < rounds; round++) {
    failing(bench);
    bare_end(bench->bare);
  }
  const Heap after = heap_now();
  EXPECT_EQ(sst_live_objects(), objects);
  EXPECT_EQ(sst_allocated_bytes(), bytes);
  EXPECT_EQ(after.blocks, before.blocks);
  EXPECT_AT_MOST(after.bytes - before.bytes, PAGE);
  bench_free(bench);
}

static void all_leave_nothing(uint16_t version, int rounds) {
  const SideOptions client = {.max_version = version}, server = {.min_version = SST_TLS1_2};
  const SideOptions untrusted = {.credential = "server-untrusted"};
  const SideOptions wants = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE};
  const SideOptions others = {.min_version = SST_TLS1_3, .groups = {24}},
                    few = {.max_version = version, .groups = {29}};
  leaves_nothing(&client, &server, transport_ends, rounds);
  leaves_nothing(&client, &server, garbage_comes, rounds);
  leaves_nothing(&client, &untrusted, handshake_fails, rounds);
  leaves_nothing(&client, &wants, certificate_is_missing, rounds);
  leaves_nothing(&few, &others, handshake_fails, rounds);
  leaves_nothing(&client, &server, nothing_happens, rounds);
  leaves_nothing(&client, &server, read_is_not_finished, rounds);
  if (version == SST_TLS1_3) leaves_nothing(&client, &server, write_is_not_finished, rounds);
}

TEST_VERSIONS(memory, failed_connections_leave_nothing_behind) {
  all_leave_nothing(version, 300);
}

TEST_VERSIONS(performance, ten_thousand_failed_connections_leave_nothing_behind) {
  all_leave_nothing(version, 10000);
}

/* ---- long runs ---- */

static void one_life(Bench *bench) {
  begin(bench);
  REQUIRE_STATUS(bare_handshake(bench->bare), SST_OK);
  REQUIRE_STATUS(bare_echo(bench->bare, bench->data, ECHO, bench->out), SST_OK);
  REQUIRE_STATUS(bare_close(bench->bare), SST_OK);
}

TEST_VERSIONS(memory, thousand_handshakes_with_data_do_not_grow) {
  const SideOptions client = {.max_version = version, .credential = "client-p256", .report = 1u << SST_EVENT_KEY_LOG};
  const SideOptions server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE};
  leaves_nothing(&client, &server, one_life, 1000);
}

/* A config that is copied, frozen and dropped with each connection. */
TEST(memory, configs_come_and_go_without_growth) {
  Bench *bench = bench_new(&(SideOptions){.alpn = {"h2"}}, &(SideOptions){.alpn = {"h2"}});
  one_life(bench);
  bare_end(bench->bare);
  const uint64_t objects = sst_live_objects(), bytes = sst_allocated_bytes();
  for (int round = 0; round < 200; round++) {
    sst_config *client = sst_config_copy(bench->client), *server = sst_config_copy(bench->server);
    REQUIRE_STATUS(bare_new(bench->bare, client, server), SST_OK);
    sst_config_free(client);
    sst_config_free(server);
    REQUIRE_STATUS(bare_handshake(bench->bare), SST_OK);
    bare_end(bench->bare);
  }
  EXPECT_EQ(sst_live_objects(), objects);
  EXPECT_EQ(sst_allocated_bytes(), bytes);
  bench_free(bench);
}
