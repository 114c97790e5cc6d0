/* White-box: handshakes that stop for every question, with each of their allocations failing: a clean NO_MEMORY, or as
   if nothing had happened; and never a peer accepted who must not be. */
#include "allocations.h"
#include "answer.h"
#include "bare.h"
#include "channel.h"
#include "openssl_signer.h"

#include <stdio.h>
#include <stdlib.h>

enum { DATA = 3000 };

typedef struct Life {
  sst_config *client, *server;
  sst_credential *of_client, *of_server;
  const char *client_key, *server_key;
  Bare *bare;
  sst_status expected; /* of a client that must refuse; SST_OK: all goes well */
  bool answered_twice; /* an answer found no memory, and was given again */
  uint8_t data[DATA], out[DATA];
} Life;

static sst_config *frozen_config(const SideOptions *options, int32_t role) {
  sst_config *config = pair_config(options, role);
  REQUIRE_STATUS(sst_config_freeze(config, role), SST_OK);
  return config;
}

static Life *life_new(uint16_t version, const char *client, const char *server, const char *trust) {
  char name[64];
  Life *life = test_allocate(sizeof *life);
  snprintf(name, sizeof name, "client-%s", client);
  const SideOptions of_client = {.max_version = version, .suspend = ASK_ALL, .trust = trust, .alpn = {"x"}};
  const SideOptions of_server = {.suspend = ASK_ALL,
                                 .credential = "",
                                 .alpn = {"x"},
                                 .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE,
                                 .client_ca = "client-root"};
  *life = (Life){.client = frozen_config(&of_client, SST_ROLE_CLIENT),
                 .server = frozen_config(&of_server, SST_ROLE_SERVER),
                 .of_client = answer_credential(name, 0),
                 .of_server = answer_credential(server, 0),
                 .client_key = client[0] == 'p' ? "client-p256" : "client-rsa2048",
                 .server_key = server,
                 .bare = test_allocate(sizeof *life->bare)};
  pattern_fill(life->data, DATA, 7);
  return life;
}

static void life_free(Life *life) {
  sst_config_free(life->client);
  sst_config_free(life->server);
  sst_credential_free(life->of_client);
  sst_credential_free(life->of_server);
  free(life->bare);
  free(life);
}

/* The signature is made on a thread whose allocations do not fail. */
typedef struct Signing {
  const sst_stream *stream;
  const char *key;
  uint8_t signature[512];
  size_t len;
} Signing;

static void *sign(void *argument) {
  Signing *signing = argument;
  static uint8_t message[16384];
  int32_t operation;
  uint16_t scheme;
  size_t len = 0;
  EXPECT_STATUS(sst_stream_private_key_operation(signing->stream, &operation, &scheme, message, sizeof message, &len),
                SST_OK);
  signing->len = openssl_sign(signing->key, scheme, message, len, signing->signature, sizeof signing->signature);
  return NULL;
}

static sst_status give_signature(Life *life, BareSide *side) {
  Signing signing = {.stream = side->stream, .key = side == &life->bare->client ? life->client_key : life->server_key};
  thread_join(thread_start(sign, &signing));
  sst_status status = sst_stream_set_signature(side->stream, signing.signature, signing.len);
  if (status == SST_ERR_NO_MEMORY && allocations_hit()) {
    life->answered_twice = true;
    status = sst_stream_set_signature(side->stream, signing.signature, signing.len);
  }
  return status;
}

/* A caller who trusts the verdict must never be told that a bad chain is good. */
static sst_status give_judgement(Life *life, BareSide *side) {
  sst_error verdict = {.size = sizeof verdict};
  EXPECT_STATUS(sst_stream_verdict(side->stream, &verdict), SST_OK);
  EXPECT_STATUS(verdict.code, side == &life->bare->client ? life->expected : SST_OK);
  EXPECT_AT_LEAST(sst_stream_num_peer_certificates(side->stream), 1);
  return sst_stream_accept_default(side->stream);
}

static sst_status give(Life *life, BareSide *side) {
  const bool client = side == &life->bare->client;
  uint8_t out[10];
  size_t len = 0;
  switch (side->status) {
    case SST_WANT_CLIENT_HELLO:
      EXPECT_STATUS(sst_stream_client_hello_alpn(side->stream, 0, out, sizeof out, &len), SST_OK);
      EXPECT_TEXT(out, len, "x");
      return sst_stream_set_config(side->stream, life->server);
    case SST_WANT_CERTIFICATE:
      EXPECT_STATUS(sst_stream_accepted_schemes(side->stream, NULL, 0, &len), SST_NEED_OUTPUT);
      return sst_stream_set_credential(side->stream, client ? life->of_client : life->of_server);
    case SST_WANT_CERTIFICATE_VERIFY:
      return give_judgement(life, side);
    default:
      return give_signature(life, side);
  }
}

static sst_status shake_hands(Life *life) {
  Bare *bare = life->bare;
  for (;;) {
    sst_status status = bare_handshake(bare);
    BareSide *asked = bare->client.status >= SST_WANT_CLIENT_HELLO   ? &bare->client
                      : bare->server.status >= SST_WANT_CLIENT_HELLO ? &bare->server
                                                                     : NULL;
    if (status < 0 || asked == NULL) return status;
    status = give(life, asked);
    if (status != SST_OK) return status;
  }
}

static sst_status live(Life *life) {
  Bare *bare = life->bare;
  sst_status status = bare_new(bare, life->client, NULL);
  if (status == SST_OK) status = shake_hands(life);
  if (status != SST_OK) return status;
  sst_stream_info info = {.size = sizeof info};
  EXPECT_STATUS(sst_stream_get_info(bare->client.stream, &info), SST_OK);
  EXPECT_EQ(info.flags & SST_INFO_VERIFIED, SST_INFO_VERIFIED);
  EXPECT_EQ(sst_stream_num_peer_certificates(bare->server.stream), 1);
  status = bare_echo(bare, life->data, DATA, life->out);
  return status != SST_OK ? status : bare_close(bare);
}

static bool ran_out_of_memory(const BareSide *side) {
  sst_error error = {.size = sizeof error};
  if (side->stream == NULL) return true;
  EXPECT_STATUS(sst_stream_last_error(side->stream, &error), SST_OK);
  return error.code == SST_ERR_NO_MEMORY;
}

/* The other side was told by an alert, or waits for bytes that never come. */
static void expect_no_memory(const Life *life, sst_status status) {
  if (status == SST_ERR_NO_MEMORY) return;
  const bool told = status <= SST_ERR_ALERT_RECEIVED || status == SST_ERR_BAD_RECORD_MAC || status == SST_NEED_INPUT;
  if (!told) EXPECT_STATUS(status, SST_ERR_NO_MEMORY);
  EXPECT(ran_out_of_memory(&life->bare->client) || ran_out_of_memory(&life->bare->server));
}

typedef struct Before {
  uint64_t objects, bytes;
  int64_t blocks;
} Before;

/* One life with the n-th allocation failing, or all from there on, and at times one with memory enough: what is shared
   must be as good as before. Returns whether the n-th was reached. */
static bool fail_one(Life *life, uint64_t n, bool later_too, const Before *before, unsigned *refused) {
  test_note("allocation %u%s", (unsigned)n, later_too ? " and all later ones" : "");
  life->answered_twice = false;
  if (later_too) {
    allocations_fail_from(n);
  } else {
    allocations_fail_at(n);
  }
  const sst_status status = live(life);
  const bool hit = allocations_hit() || life->answered_twice;
  if (status != life->expected) {
    EXPECT(status != SST_OK);
    expect_no_memory(life, status);
    ++*refused;
  }
  bare_end(life->bare);
  REQUIRE_EQ(sst_live_objects(), before->objects);
  REQUIRE_EQ(sst_allocated_bytes(), before->bytes);
  REQUIRE_EQ(heap_now().blocks, before->blocks);
  if (n % 16 == 0) {
    REQUIRE_STATUS(live(life), life->expected);
    bare_end(life->bare);
  }
  return hit;
}

static void fail_each(Life *life) {
  if (!allocations_are_wrapped()) SKIP("malloc is not wrapped in this build");
  openssl_signer_load();
  for (int i = 0; i < 2; i++) {
    EXPECT_STATUS(live(life), life->expected); /* what is made once in a process is made here */
    bare_end(life->bare);
  }
  const Before before = {sst_live_objects(), sst_allocated_bytes(), heap_now().blocks};
  for (int later_too = 0; later_too < 2; later_too++) {
    unsigned refused = 0;
    uint64_t n = 1;
    while (fail_one(life, n, later_too != 0, &before, &refused))
      n++;
    test_note(NULL);
    printf("%u allocations, %u lives refused%s\n", (unsigned)n - 1, refused,
           later_too ? " where all fail from there on" : "");
    EXPECT_AT_LEAST(n, 100);
    EXPECT_AT_LEAST(refused, (unsigned)n / 3);
  }
  life_free(life);
}

/* An answer that fails for want of memory leaves the question open and the config as it was. */
TEST_VERSIONS(question_faults, config_that_is_frozen_by_the_answer) {
  if (!allocations_are_wrapped()) SKIP("malloc is not wrapped in this build");
  sst_config *config = pair_config(&(SideOptions){.alpn = {"x"}}, SST_ROLE_SERVER);
  bool hit = true;
  uint64_t refused = 0;
  for (uint64_t n = 1; hit; n++) {
    test_note("allocation %u", (unsigned)n);
    sst_config *fresh = sst_config_copy(config);
    Pair pair = pair_new(.client = {.max_version = version, .alpn = {"x"}}, .server = {.no_config = true});
    EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CLIENT_HELLO);
    allocations_fail_at(n);
    const sst_status status = sst_stream_set_config(pair.server.stream, fresh);
    hit = allocations_hit();
    if (status != SST_OK) {
      EXPECT_STATUS(status, SST_ERR_NO_MEMORY);
      EXPECT_STATUS(sst_config_suspend_on(fresh, 0), SST_OK); /* not frozen */
      EXPECT_STATUS(side_handshake(&pair.server), SST_WANT_CLIENT_HELLO);
      EXPECT_STATUS(sst_stream_set_config(pair.server.stream, fresh), SST_OK);
      refused++;
    }
    EXPECT_STATUS(pair_handshake(&pair), SST_OK);
    pair_free(&pair);
    sst_config_free(fresh);
  }
  EXPECT_AT_LEAST(refused, 5);
  sst_config_free(config);
}

TEST_VERSIONS(question_faults, every_allocation_with_ecdsa) {
  fail_each(life_new(version, "p256", "server-p256", NULL));
}

TEST_VERSIONS(question_faults, every_allocation_with_rsa) {
  fail_each(life_new(version, "rsa2048", "server-rsa2048", NULL));
}

TEST_VERSIONS(question_faults, untrusted_server_is_never_accepted) {
  Life *life = life_new(version, "p256", "server-untrusted", NULL);
  life->expected = SST_ERR_CERT_ISSUER_NOT_FOUND;
  fail_each(life);
}

TEST_VERSIONS(question_faults, expired_server_is_never_accepted) {
  Life *life = life_new(version, "p256", "server-expired", NULL);
  life->expected = SST_ERR_CERT_EXPIRED;
  fail_each(life);
}

TEST_VERSIONS(question_faults, server_is_never_accepted_without_trust) {
  Life *life = life_new(version, "p256", "server-p256", "");
  life->expected = SST_ERR_CERT_ISSUER_NOT_FOUND;
  fail_each(life);
}
