/* White-box: our own exporters, bindings and traffic secrets against BoringSSL's, of one and the same connection. */
#include "allocations.h"
#include "pair.h"
#include "stream.h"
#include "tls/record.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 8160 };

#if defined(SST_RECORD_PATH_BOTH)

/* The client's records go through our record layer, the server's through BoringSSL's SSL. */
static Pair mixed_open(const SideOptions *client, const SideOptions *server) {
  Pair pair = pair_new(.client = *client, .server = *server);
  for (int i = 0; i < 4; i++) {
    atomic_store(&sst__record_path_is_ssl, false);
    side_handshake(&pair.client);
    atomic_store(&sst__record_path_is_ssl, true);
    side_handshake(&pair.server);
  }
  atomic_store(&sst__record_path_is_ssl, false);
  REQUIRE(sst_stream_state(pair.client.stream) == SST_STATE_OPEN);
  REQUIRE(sst_stream_state(pair.server.stream) == SST_STATE_OPEN);
  return pair;
}

static void exports_are_the_same(const Pair *pair, const char *label, size_t label_len, const uint8_t *context,
                                 size_t context_len, size_t len) {
  static uint8_t own[LONGEST], theirs[LONGEST];
  EXPECT_STATUS(sst_stream_export_key(pair->client.stream, label, label_len, context, context_len, own, len), SST_OK);
  EXPECT_STATUS(sst_stream_export_key(pair->server.stream, label, label_len, context, context_len, theirs, len),
                SST_OK);
  EXPECT_BYTES(own, len, theirs, len);
}

static void all_exports_are_the_same(const Pair *pair) {
  static const size_t lengths[] = {1, 20, 32, 48, 49, 64, 1000, LONGEST};
  static const size_t contexts[] = {0, 1, 32, 255, 256, 65535};
  static uint8_t context[65535];
  char label[249];
  pattern_fill(context, sizeof context, 3);
  pattern_fill((uint8_t *)label, sizeof label, 4);
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    for (size_t label_len = 1; label_len <= sizeof label; label_len += 31) {
      test_note("label of %zu, %zu bytes", label_len, lengths[i]);
      exports_are_the_same(pair, label, label_len, NULL, 0, lengths[i]);
      for (size_t k = 0; k < sizeof contexts / sizeof contexts[0]; k++)
        exports_are_the_same(pair, label, label_len, context, contexts[k], lengths[i]);
    }
  }
  test_note(NULL);
}

static void binding_is_the_same(const Pair *pair, int32_t kind, sst_status expected) {
  uint8_t own[64], theirs[64];
  size_t own_len = 0, their_len = 0;
  EXPECT_STATUS(sst_stream_channel_binding(pair->client.stream, kind, own, sizeof own, &own_len), expected);
  EXPECT_STATUS(sst_stream_channel_binding(pair->server.stream, kind, theirs, sizeof theirs, &their_len), expected);
  EXPECT_BYTES(own, own_len, theirs, their_len);
}

static void secret_is_the_same(const Pair *pair, int32_t direction) {
  uint8_t own[64], theirs[64];
  size_t own_len = 0, their_len = 0;
  EXPECT_STATUS(sst_stream_traffic_secret(pair->client.stream, direction, own, sizeof own, &own_len), SST_OK);
  EXPECT_STATUS(sst_stream_traffic_secret(pair->server.stream, 1 - direction, theirs, sizeof theirs, &their_len),
                SST_OK);
  EXPECT_BYTES(own, own_len, theirs, their_len);
}

static void keys_are_the_same(const SideOptions *client, const char *server_credential) {
  const bool tls12 = client->max_version == SST_TLS1_2;
  Pair pair = mixed_open(client, &(SideOptions){.credential = server_credential});
  all_exports_are_the_same(&pair);
  binding_is_the_same(&pair, SST_BINDING_TLS_UNIQUE, tls12 ? SST_OK : SST_ERR_UNSUPPORTED);
  binding_is_the_same(&pair, SST_BINDING_TLS_SERVER_END_POINT, SST_OK);
  binding_is_the_same(&pair, SST_BINDING_TLS_EXPORTER, SST_OK);
  for (int i = 0; i < 3 && !tls12; i++) {
    secret_is_the_same(&pair, SST_DIRECTION_SEND);
    secret_is_the_same(&pair, SST_DIRECTION_RECEIVE);
    EXPECT_STATUS(sst_stream_key_update((i % 2 == 0 ? pair.client : pair.server).stream, 1), SST_OK);
    pair_echo(&pair, 100);
  }
  pair_free(&pair);
}

TEST(exporter, keys_are_those_of_boringssl_tls13) {
  keys_are_the_same(&(SideOptions){.min_version = SST_TLS1_3}, "server-p256");
}

TEST(exporter, keys_are_those_of_boringssl_with_sha256_tls12) {
  keys_are_the_same(&(SideOptions){.max_version = SST_TLS1_2, .suites = {0xc02b}}, "server-p256");
}

TEST(exporter, keys_are_those_of_boringssl_with_sha384_tls12) {
  keys_are_the_same(&(SideOptions){.max_version = SST_TLS1_2, .suites = {0xc030}}, "server-rsa2048");
}

TEST(exporter, keys_are_those_of_boringssl_with_chacha20_tls12) {
  keys_are_the_same(&(SideOptions){.max_version = SST_TLS1_2, .suites = {0xcca9}}, "server-ed25519");
}

#endif

/* Each allocation of an export failing: an error and no byte of a key, or the right key. */
TEST_VERSIONS(exporter, without_memory_nothing_is_exported) {
  if (!allocations_are_wrapped()) SKIP("malloc is not wrapped in this build");
  Pair pair = pair_open(.client = {.max_version = version});
  uint8_t expected[64], out[64];
  static const uint8_t nothing[sizeof out];
  bool hit = true;
  EXPECT_STATUS(sst_stream_export_key(pair.client.stream, "l", 1, NULL, 0, expected, sizeof expected), SST_OK);
  for (uint64_t n = 1; hit && n < 1000; n++) {
    memset(out, 0xa5, sizeof out);
    allocations_fail_at(n);
    const sst_status status = sst_stream_export_key(pair.client.stream, "l", 1, NULL, 0, out, sizeof out);
    hit = allocations_hit();
    EXPECT(status == SST_OK || (hit && status == SST_ERR_NO_MEMORY));
    EXPECT_BYTES(out, sizeof out, status == SST_OK ? expected : nothing, sizeof out);
  }
  EXPECT(!hit);
  pair_free(&pair);
}

/* ---- sequence numbers ---- */

static uint64_t sequence(const Side *side, int32_t direction) {
  const sst__record_engine *record = sst__record_of(side->stream->engine);
  return (direction == SST_DIRECTION_SEND ? &record->sender.keys : &record->receiver.keys)->sequence;
}

/* What the header says of the number that goes with a traffic secret. */
TEST(exporter, number_of_the_next_record_is_known_tls13) {
  if (sst__keeps_ssl()) SKIP("the numbers are inside BoringSSL");
  Pair pair = pair_open();
  Side *const sides[] = {&pair.client, &pair.server};
  pair_echo(&pair, 100000);
  for (int i = 0; i < 2; i++) {
    EXPECT_EQ(sequence(sides[i], SST_DIRECTION_RECEIVE),
              sst_stream_counter(sides[i]->stream, SST_COUNTER_RECORDS_RECEIVED));
    EXPECT_STATUS(sst_stream_key_update(sides[i]->stream, 0), SST_OK);
    EXPECT_STATUS(side_flush(sides[i]), SST_OK);
    EXPECT_EQ(sequence(sides[i], SST_DIRECTION_SEND), 0);
  }
  pair_echo(&pair, 10);
  pair_free(&pair);
}

/* The line is looked at, not trusted: what is none changes nothing. */
TEST(exporter, key_log_lines_of_other_kinds_are_passed_over) {
  static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
  sst__exporter exporter = {.secret_len = 0};
  char line[256];
  sst__exporter_see(&exporter, "EXPORTER_SECRET ");
  sst__exporter_see(&exporter, "EXPORTER_SECRE");
  sst__exporter_see(&exporter, "");
  snprintf(line, sizeof line, "CLIENT_TRAFFIC_SECRET_0 %s %s", zeros, zeros);
  sst__exporter_see(&exporter, line);
  snprintf(line, sizeof line, "EXPORTER_SECRET %s %s%s", zeros, zeros, zeros);
  sst__exporter_see(&exporter, line);
  EXPECT_EQ(exporter.secret_len, 0);
  snprintf(line, sizeof line, "EXPORTER_SECRET %s 00ff7Fa9", zeros);
  sst__exporter_see(&exporter, line);
  EXPECT_BYTES(exporter.secret, exporter.secret_len, "\x00\xff\x7f\xa9", 4);
}
