/* White-box: the life of a pair with every n-th allocation failing. It ends in a clean NO_MEMORY or goes on as if
   nothing had happened: never a crash, a leak, wrong data, or a success that must not be. */
#include "allocations.h"
#include "bare.h"
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>

enum { BODY = 20000 };

typedef struct Life {
  sst_config *client, *server;
  Bare *bare;
  sst_status expected; /* of a client that must refuse; SST_OK: all goes well */
  bool key_updates, looked_twice;
  uint8_t data[BODY], out[BODY];
} Life;

/* Not frozen yet. */
static Life *life_begin(const SideOptions *client, const SideOptions *server) {
  Life *life = test_allocate(sizeof *life);
  life->client = pair_config(client, SST_ROLE_CLIENT);
  life->server = pair_config(server, SST_ROLE_SERVER);
  life->bare = test_allocate(sizeof *life->bare);
  life->expected = SST_OK;
  life->looked_twice = false;
  life->key_updates = client->max_version != SST_TLS1_2;
  pattern_fill(life->data, BODY, 5);
  return life;
}

static Life *life_ready(Life *life) {
  REQUIRE_STATUS(sst_config_freeze(life->client, SST_ROLE_CLIENT), SST_OK);
  REQUIRE_STATUS(sst_config_freeze(life->server, SST_ROLE_SERVER), SST_OK);
  return life;
}

static Life *life_new(const SideOptions *client, const SideOptions *server) {
  return life_ready(life_begin(client, server));
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

/* Getters that allocate: a failure of theirs is no failure of the stream. */
static sst_status look(Life *life) {
  typedef sst_status (*Numbered)(const sst_stream *, size_t, uint8_t *, size_t, size_t *);
  static const Numbered getters[] = {sst_stream_verified_certificate, sst_stream_peer_certificate,
                                     sst_stream_local_certificate};
  const sst_stream *streams[] = {life->bare->client.stream, life->bare->server.stream};
  for (int i = 0; i < 2; i++) {
    size_t len = 1;
    for (size_t k = 0; k < sizeof getters / sizeof getters[0]; k++) {
      len = 1;
      for (size_t index = 0; len > 0; index++) {
        const sst_status status = getters[k](streams[i], index, life->out, BODY, &len);
        if (status != SST_OK) return status;
      }
    }
    const sst_status status = sst_stream_describe(streams[i], life->out, BODY, &len);
    if (status != SST_OK) return status;
  }
  return SST_OK;
}

/* With memory enough again they give what they did not give. */
static sst_status look_twice(Life *life) {
  sst_status status = look(life);
  if (status == SST_ERR_NO_MEMORY && allocations_hit()) {
    status = look(life);
    life->looked_twice = true;
  }
  return status;
}

static sst_status live(Life *life) {
  Bare *bare = life->bare;
  sst_status status = bare_new(bare, life->client, life->server);
  if (status == SST_OK) status = bare_handshake(bare);
  if (status == SST_OK) status = look_twice(life);
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

typedef struct Before {
  uint64_t objects, bytes;
  int64_t blocks;
} Before;

/* One life with the n-th allocation failing, or all from there on, and one with memory enough: the shared configs must be
   as good as before. Returns whether the n-th was reached. */
static bool fail_one(Life *life, uint64_t n, bool later_too, const Before *before, uint64_t *refused) {
  test_note("allocation %u%s", (unsigned)n, later_too ? " and all later ones" : "");
  life->looked_twice = false;
  if (later_too) {
    allocations_fail_from(n);
  } else {
    allocations_fail_at(n);
  }
  const sst_status status = live(life);
  const bool hit = allocations_hit() || life->looked_twice;
  if (status != life->expected) {
    EXPECT(status != SST_OK);
    expect_no_memory(life, status);
    ++*refused;
  }
  bare_end(life->bare);
  REQUIRE_EQ(sst_live_objects(), before->objects);
  REQUIRE_EQ(sst_allocated_bytes(), before->bytes);
  REQUIRE_EQ(heap_now().blocks, before->blocks);
  REQUIRE_STATUS(live(life), life->expected);
  bare_end(life->bare);
  return hit;
}

/* Each n-th allocation from first in turn, in steps; alone, and where first is 1 with all later ones. */
static void fail_some(Life *life, uint64_t first, uint64_t step) {
  if (!allocations_are_wrapped()) SKIP("malloc is not wrapped in this build");
  EXPECT_STATUS(live(life), life->expected); /* what is made once in a process is made here */
  bare_end(life->bare);
  const Before before = {sst_live_objects(), sst_allocated_bytes(), heap_now().blocks};
  for (int later_too = 0; later_too < (first == 1 ? 2 : 1); later_too++) {
    uint64_t refused = 0, n = first;
    while (fail_one(life, n, later_too != 0, &before, &refused))
      n += step;
    test_note(NULL);
    printf("%u allocations, %u of %u lives refused%s\n", (unsigned)n - 1, (unsigned)refused, (unsigned)(n / step),
           later_too ? " where all fail from there on" : "");
    EXPECT_AT_LEAST(n / step, 50);
    EXPECT_AT_LEAST(refused, n / step / 3);
  }
  life_free(life);
}

static void fail_each(Life *life) {
  fail_some(life, 1, 1);
}

TEST(memory_fail, every_allocation_of_a_life_tls13) {
  fail_each(life_new(&(SideOptions){.min_version = SST_TLS1_3}, &(SideOptions){.min_version = SST_TLS1_3}));
}

TEST(memory_fail, every_allocation_of_a_life_tls12) {
  fail_each(life_new(&(SideOptions){.max_version = SST_TLS1_2}, &(SideOptions){.max_version = SST_TLS1_2}));
}

/* Both sides verify; RSA allocates more than ECDSA. */
static Life *mutual_life(uint16_t version) {
  return life_new(&(SideOptions){.max_version = version, .credential = "client-rsa2048", .alpn = {"h2", "x"}},
                  &(SideOptions){.credential = "server-rsa2048",
                                 .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE,
                                 .client_ca = "client-root",
                                 .alpn = {"x"}});
}

/* In three parts, since it takes long. */
TEST_VERSIONS(memory_fail, first_of_three_allocations_of_a_mutual_life) {
  fail_some(mutual_life(version), 1, 3);
}

TEST_VERSIONS(memory_fail, second_of_three_allocations_of_a_mutual_life) {
  fail_some(mutual_life(version), 2, 3);
}

TEST_VERSIONS(memory_fail, third_of_three_allocations_of_a_mutual_life) {
  fail_some(mutual_life(version), 3, 3);
}

static sst_trust *trust_with_lists(const char *anchor, const char *list, const char *other_list) {
  const char *const names[] = {list, other_list};
  sst_trust *trust = data_trust(anchor);
  for (int i = 0; i < 2 && names[i] != NULL; i++) {
    const Data crl = data_read(names[i], "pem");
    EXPECT_STATUS(sst_trust_load_crl(trust, crl.bytes, crl.len), SST_OK);
    free(crl.bytes);
  }
  return trust;
}

static void set_trust(sst_config *config, sst_trust *trust) {
  EXPECT_STATUS(sst_config_set_trust(config, trust), SST_OK);
  sst_trust_free(trust);
}

/* Both sides verify by a trust with revocation lists. */
static Life *life_with_lists(uint16_t version, const char *of_root) {
  Life *life = life_begin(&(SideOptions){.max_version = version, .credential = "client-p256", .alpn = {"h2", "x"}},
                          &(SideOptions){.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE, .alpn = {"x"}});
  set_trust(life->client, trust_with_lists("root", of_root, "crl-intermediate"));
  set_trust(life->server, trust_with_lists("client-root", "crl-client-root", NULL));
  return life_ready(life);
}

TEST_VERSIONS(memory_fail, every_allocation_of_a_mutual_life_with_revocation_lists) {
  fail_each(life_with_lists(version, "crl-root"));
}

TEST_VERSIONS(memory_fail, revoked_server_is_never_accepted) {
  Life *life = life_with_lists(version, "crl-root-revokes");
  life->expected = SST_ERR_CERT_REVOKED;
  fail_each(life);
}

/* Events that cannot be kept are lost and counted: they are no reason to fail. */
TEST_VERSIONS(memory_fail, every_allocation_of_a_life_with_events) {
  const uint32_t report = 1u << SST_EVENT_KEY_LOG | 1u << SST_EVENT_ALERT_RECEIVED;
  fail_each(life_new(&(SideOptions){.max_version = version, .report = report}, &(SideOptions){.report = report}));
}

/* The client must refuse the server, and no failed allocation may make a success of it. */
static void never_accepted(uint16_t version, const char *credential, const char *name, sst_status expected) {
  Life *life =
      life_new(&(SideOptions){.max_version = version, .trust = name}, &(SideOptions){.credential = credential});
  life->expected = expected;
  fail_each(life);
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
