/* White-box: the life of a pair with every n-th allocation failing. It ends in a clean NO_MEMORY or goes on as if
   nothing had happened: never a crash, a leak, wrong data, or a success that must not be. */
#include "allocations.h"
#include "bare.h"
#include "pair.h"

#include <stdlib.h>

enum { BODY = 20000 };

typedef struct Life {
  sst_config *client, *server;
  Bare *bare;
  sst_status expected; /* of a client that must refuse; SST_OK: all goes well */
  bool key_updates;
  uint8_t data[BODY], out[BODY];
} Life;

static Life *life_new(const SideOptions *client, const SideOptions *server) {
  Life *life = test_allocate(sizeof *life);
  life->client = pair_config(client, SST_ROLE_CLIENT);
  life->server = pair_config(server, SST_ROLE_SERVER);
  life->bare = test_allocate(sizeof *life->bare);
  life->expected = SST_OK;
  life->key_updates = client->max_version != SST_TLS1_2;
  pattern_fill(life->data, BODY, 5);
  REQUIRE_STATUS(sst_config_freeze(life->client, SST_ROLE_CLIENT), SST_OK);
  REQUIRE_STATUS(sst_config_freeze(life->server, SST_ROLE_SERVER), SST_OK);
  return life;
}

static void life_free(Life *life) {
  sst_config_free(life->client);
  sst_config_free(life->server);
  free(life->bare);
  free(life);
}

/* Records that are cut, kept and answered: the paths that allocate. */
static sst_status move_in_parts(Life *life) {
  BareSide *client = &life->bare->client;
  sst_stream *server = life->bare->server.stream;
  sst_progress done;
  sst_status status = sst_stream_encrypt(client->stream, life->data, 1000, client->out, BARE_CAP, &done);
  if (status != SST_OK) return status;
  const size_t sent = done.produced, first = sent / 2;
  status = sst_stream_decrypt(server, client->out, first, life->out, BODY, &done);
  if (status != SST_NEED_INPUT || done.consumed != first) return status < 0 ? status : SST_ERR_INTERNAL;
  status = sst_stream_decrypt(server, client->out + first, sent - first, life->out, 10, &done);
  if (status != SST_NEED_OUTPUT || done.produced != 10) return status < 0 ? status : SST_ERR_INTERNAL;
  status = sst_stream_decrypt(server, NULL, 0, life->out, BODY, &done);
  if (status != SST_NEED_INPUT) return status;
  return done.produced == 990 ? SST_OK : SST_ERR_INTERNAL;
}

static sst_status live(Life *life) {
  Bare *bare = life->bare;
  sst_status status = bare_new(bare, life->client, life->server);
  if (status == SST_OK) status = bare_handshake(bare);
  if (status == SST_OK) status = bare_echo(bare, life->data, BODY, life->out);
  if (status == SST_OK && life->key_updates) status = sst_stream_key_update(bare->client.stream, 1);
  if (status == SST_OK) status = bare_echo(bare, life->data, 100, life->out);
  if (status == SST_OK) status = move_in_parts(life);
  if (status == SST_OK) status = bare_close(bare);
  return status;
}

/* The side that ran out of memory says so for ever. The other was told by an alert (which it cannot open if the failure
   came between ChangeCipherSpec and the change of keys), or waits for bytes that never come. */
static bool ran_out_of_memory(const BareSide *side) {
  sst_error error = {.size = sizeof error};
  if (side->stream == NULL) return true;
  EXPECT_STATUS(sst_stream_last_error(side->stream, &error), SST_OK);
  if (error.code != SST_ERR_NO_MEMORY) return false;
  uint8_t out[100];
  sst_progress done;
  EXPECT_STATUS(sst_stream_encrypt(side->stream, (const uint8_t *)"x", 1, out, sizeof out, &done), SST_ERR_NO_MEMORY);
  EXPECT_STATUS(sst_stream_decrypt(side->stream, NULL, 0, out, sizeof out, &done), SST_ERR_NO_MEMORY);
  return true;
}

static void expect_no_memory(const Life *life, sst_status status) {
  const BareSide *client = &life->bare->client, *server = &life->bare->server;
  if (status == SST_ERR_NO_MEMORY) return;
  const bool told = status <= SST_ERR_ALERT_RECEIVED || status == SST_ERR_BAD_RECORD_MAC || status == SST_NEED_INPUT;
  if (!told) EXPECT_STATUS(status, SST_ERR_NO_MEMORY);
  EXPECT(ran_out_of_memory(client) || ran_out_of_memory(server));
}

/* Each n-th allocation from first in turn, in steps; afterwards the shared configs must be as good as before. */
static void fail_each(Life *life, uint64_t step) {
  if (!allocations_are_wrapped()) SKIP("malloc is not wrapped in this build");
  EXPECT_STATUS(live(life), life->expected); /* what is made once in a process is made here */
  bare_end(life->bare);
  const uint64_t objects = sst_live_objects(), bytes = sst_allocated_bytes();
  const Heap before = heap_now();
  uint64_t refused = 0, n = 1;
  for (bool hit = true; hit; n += step) {
    test_note("allocation %u", (unsigned)n);
    allocations_fail_at(n);
    const sst_status status = live(life);
    hit = allocations_hit();
    if (status != life->expected) {
      expect_no_memory(life, status);
      refused++;
    }
    bare_end(life->bare);
    REQUIRE_EQ(sst_live_objects(), objects);
    REQUIRE_EQ(sst_allocated_bytes(), bytes);
    REQUIRE_EQ(heap_now().blocks, before.blocks);
    REQUIRE_STATUS(live(life), life->expected);
    bare_end(life->bare);
  }
  test_note(NULL);
  EXPECT_AT_LEAST(n / step, 50);
  EXPECT_AT_LEAST(refused, n / step / 3);
  life_free(life);
}

TEST(memory_fail, every_allocation_of_a_life_tls13) {
  fail_each(life_new(&(SideOptions){.min_version = SST_TLS1_3}, &(SideOptions){.min_version = SST_TLS1_3}), 1);
}

TEST(memory_fail, every_allocation_of_a_life_tls12) {
  fail_each(life_new(&(SideOptions){.max_version = SST_TLS1_2}, &(SideOptions){.max_version = SST_TLS1_2}), 1);
}

/* Both sides verify; RSA allocates more than ECDSA. */
static Life *mutual_life(uint16_t version) {
  return life_new(&(SideOptions){.max_version = version, .credential = "client-rsa2048", .alpn = {"h2", "x"}},
                  &(SideOptions){.credential = "server-rsa2048",
                                 .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE,
                                 .client_ca = "client-root",
                                 .alpn = {"x"}});
}

TEST_VERSIONS(memory_fail, every_third_allocation_of_a_mutual_life) {
  fail_each(mutual_life(version), 3);
}

/* Events that cannot be kept are lost and counted: they are no reason to fail. */
TEST_VERSIONS(memory_fail, every_allocation_of_a_life_with_events) {
  const uint32_t report = 1u << SST_EVENT_KEY_LOG | 1u << SST_EVENT_ALERT_RECEIVED;
  fail_each(life_new(&(SideOptions){.max_version = version, .report = report}, &(SideOptions){.report = report}), 1);
}

/* The client must refuse the server, and no failed allocation may make a success of it. */
static void never_accepted(uint16_t version, const char *credential, const char *name, sst_status expected) {
  Life *life =
      life_new(&(SideOptions){.max_version = version, .trust = name}, &(SideOptions){.credential = credential});
  life->expected = expected;
  fail_each(life, 1);
}

TEST_VERSIONS(memory_fail, untrusted_server_is_never_accepted) {
  never_accepted(version, "server-untrusted", "root", SST_ERR_CERT_ISSUER_NOT_FOUND);
}

TEST_VERSIONS(memory_fail, expired_server_is_never_accepted) {
  never_accepted(version, "server-expired", "root", SST_ERR_CERT_EXPIRED);
}

TEST_VERSIONS(memory_fail, server_of_another_name_is_never_accepted) {
  never_accepted(version, "server-other", "root", SST_ERR_CERT_NAME_MISMATCH);
}
