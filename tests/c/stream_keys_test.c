/*
 * Keying material of a stream: exporters, channel bindings, traffic secrets. Both ends must have the same, and keep it.
 */
#include "pair.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_KEY = 8160, MOST_CONTEXT = 65535, MOST_LABEL = 249 };

static const char label[] = "EXPERIMENTAL test";

static void export(const Side *side, const uint8_t *context, size_t context_len, uint8_t *out, size_t out_len) {
  memset(out, 0xa5, out_len);
  REQUIRE_STATUS(sst_stream_export_key(side->stream, label, sizeof label - 1, context, context_len, out, out_len),
                 SST_OK);
}

static bool same(const uint8_t *a, const uint8_t *b, size_t len) {
  return memcmp(a, b, len) == 0;
}

/* ---- exporters ---- */

static void both_have_the_same(const Pair *pair, const uint8_t *context, size_t context_len) {
  static const size_t lengths[] = {1, 16, 31, 32, 33, 48, 64, 255, 1000, MOST_KEY};
  static uint8_t client[MOST_KEY], server[MOST_KEY], longest[MOST_KEY];
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    test_note("%zu bytes, context of %zu", lengths[i], context_len);
    export(&pair->client, context, context_len, client, lengths[i]);
    export(&pair->server, context, context_len, server, lengths[i]);
    EXPECT_BYTES(client, lengths[i], server, lengths[i]);
  }
  export(&pair->client, context, context_len, longest, MOST_KEY);
  EXPECT_BYTES(client, MOST_KEY, longest, MOST_KEY); /* asked again, the answer is the same */
  test_note(NULL);
}

static void exporters_agree(const SideOptions *client) {
  static uint8_t context[MOST_CONTEXT];
  Pair pair = pair_open(.client = *client);
  pattern_fill(context, sizeof context, 1);
  both_have_the_same(&pair, NULL, 0);
  both_have_the_same(&pair, context, 0);
  both_have_the_same(&pair, context, 1);
  both_have_the_same(&pair, context, sizeof context);
  pair_free(&pair);
}

TEST_VERSIONS(stream_keys, exporters_of_both_ends_agree) {
  exporters_agree(&(SideOptions){.max_version = version});
}

/* Its hash is another one. */
TEST(stream_keys, exporters_of_a_suite_with_sha384_agree_tls12) {
  exporters_agree(&(SideOptions){.max_version = SST_TLS1_2, .suites = {0xc02c}});
}

TEST(stream_keys, exporters_of_chacha20_agree_tls12) {
  exporters_agree(&(SideOptions){.max_version = SST_TLS1_2, .suites = {0xcca9}});
}

/* Other label, other context, other connection: another key. */
TEST_VERSIONS(stream_keys, exporters_tell_labels_contexts_and_connections_apart) {
  Pair pair = pair_open(.client = {.max_version = version});
  Pair other = pair_open(.client = {.max_version = version});
  uint8_t key[32], second[32];
  const sst_stream *stream = pair.client.stream;
  export(&pair.client, (const uint8_t *)"a", 1, key, sizeof key);
  export(&pair.client, (const uint8_t *)"b", 1, second, sizeof second);
  EXPECT(!same(key, second, sizeof key));
  export(&pair.client, NULL, 0, second, sizeof second);
  EXPECT(!same(key, second, sizeof key));
  export(&other.client, (const uint8_t *)"a", 1, second, sizeof second);
  EXPECT(!same(key, second, sizeof key));
  EXPECT_STATUS(sst_stream_export_key(stream, "EXPERIMENTAL tesu", 17, (const uint8_t *)"a", 1, second, 32), SST_OK);
  EXPECT(!same(key, second, sizeof key));
  pair_free(&other);
  pair_free(&pair);
}

/* RFC 5705, 4 tells an empty context from none; RFC 8446, 7.5 does not. */
TEST_VERSIONS(stream_keys, empty_context_is_none_in_tls13_alone) {
  Pair pair = pair_open(.client = {.max_version = version});
  uint8_t none[32], empty[32];
  export(&pair.client, NULL, 0, none, sizeof none);
  export(&pair.client, (const uint8_t *)"", 0, empty, sizeof empty);
  EXPECT_EQ(same(none, empty, sizeof none), version == SST_TLS1_3);
  pair_free(&pair);
}

TEST_VERSIONS(stream_keys, exporter_of_no_bytes_is_nothing) {
  Pair pair = pair_open(.client = {.max_version = version});
  uint8_t out = 0xa5;
  EXPECT_STATUS(sst_stream_export_key(pair.client.stream, "l", 1, NULL, 0, &out, 0), SST_OK);
  EXPECT_STATUS(sst_stream_export_key(pair.client.stream, "l", 1, NULL, 0, NULL, 0), SST_OK);
  EXPECT_EQ(out, 0xa5);
  pair_free(&pair);
}

static sst_status with_label(const sst_stream *stream, const char *text, size_t len) {
  uint8_t out[16];
  return sst_stream_export_key(stream, text, len, NULL, 0, out, sizeof out);
}

TEST_VERSIONS(stream_keys, exporter_refuses_wrong_arguments) {
  static uint8_t many[MOST_CONTEXT + 1], out[MOST_KEY + 1];
  char longest[MOST_LABEL + 1];
  memset(longest, 'l', sizeof longest);
  Pair pair = pair_open(.client = {.max_version = version});
  const sst_stream *stream = pair.client.stream;
  EXPECT_STATUS(with_label(stream, longest, MOST_LABEL), SST_OK);
  EXPECT_STATUS(with_label(stream, longest, MOST_LABEL + 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(with_label(stream, longest, SIZE_MAX), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(with_label(stream, "", 0), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(with_label(stream, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(with_label(NULL, "l", 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_export_key(stream, "l", 1, many, sizeof many, out, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_export_key(stream, "l", 1, NULL, 1, out, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_export_key(stream, "l", 1, NULL, 0, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_export_key(stream, "l", 1, NULL, 0, out, sizeof out), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_export_key(stream, "l", 1, NULL, 0, out, SIZE_MAX), SST_ERR_INVALID_ARGUMENT);
  pair_free(&pair);
}

/* Labels that TLS 1.2 uses itself (RFC 5705, 4; RFC 7627, 4). */
TEST_VERSIONS(stream_keys, exporter_refuses_labels_of_the_protocol) {
  static const char *const reserved[] = {"client finished", "server finished", "master secret",
                                         "extended master secret", "key expansion"};
  Pair pair = pair_open(.client = {.max_version = version});
  for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
    const size_t len = strlen(reserved[i]);
    EXPECT_STATUS(with_label(pair.client.stream, reserved[i], len), SST_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(with_label(pair.client.stream, reserved[i], len - 1), SST_OK);
  }
  pair_free(&pair);
}

/* ---- when ---- */

static sst_status binding(const Side *side, int32_t kind, uint8_t *out, size_t *len) {
  *len = 7;
  return sst_stream_channel_binding(side->stream, kind, out, 64, len);
}

static sst_status secret(const Side *side, int32_t direction, uint8_t *out, size_t *len) {
  *len = 7;
  return sst_stream_traffic_secret(side->stream, direction, out, 64, len);
}

static void all_are(const Side *side, sst_status expected) {
  uint8_t out[64];
  size_t len;
  EXPECT_STATUS(with_label(side->stream, "l", 1), expected);
  for (int32_t kind = SST_BINDING_TLS_UNIQUE; kind <= SST_BINDING_TLS_EXPORTER; kind++) {
    EXPECT_STATUS(binding(side, kind, out, &len), expected);
    EXPECT_EQ(len, 0);
  }
  for (int32_t direction = SST_DIRECTION_SEND; direction <= SST_DIRECTION_RECEIVE; direction++) {
    EXPECT_STATUS(secret(side, direction, out, &len), expected);
    EXPECT_EQ(len, 0);
  }
}

TEST_VERSIONS(stream_keys, nothing_before_the_handshake_has_ended) {
  Pair pair = pair_new(.client = {.max_version = version});
  all_are(&pair.client, SST_ERR_STATE);
  side_handshake(&pair.client);
  all_are(&pair.client, SST_ERR_STATE);
  side_handshake(&pair.server);
  all_are(&pair.server, SST_ERR_STATE);
  pair_free(&pair);
}

TEST_VERSIONS(stream_keys, nothing_after_a_handshake_that_failed) {
  Pair pair = pair_new(.client = {.max_version = version}, .server = {.credential = "server-untrusted"});
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_CERT_ISSUER_NOT_FOUND);
  all_are(&pair.client, SST_ERR_STATE);
  pair_free(&pair);
}

static void expect_key(const Side *side, const uint8_t *key) {
  uint8_t again[32];
  export(side, NULL, 0, again, sizeof again);
  EXPECT_BYTES(again, sizeof again, key, sizeof again);
}

TEST_VERSIONS(stream_keys, exporters_stay_through_the_ends_of_the_stream) {
  Pair pair = pair_open(.client = {.max_version = version});
  uint8_t key[32];
  export(&pair.client, NULL, 0, key, sizeof key);
  pair_echo(&pair, 40000);
  expect_key(&pair.client, key);
  EXPECT_STATUS(side_close(&pair.client), SST_OK);
  EXPECT_STATUS(side_receive(&pair.server), SST_CLOSED);
  expect_key(&pair.client, key);
  expect_key(&pair.server, key);
  EXPECT_STATUS(sst_stream_abort(pair.server.stream, 80), SST_OK);
  side_flush(&pair.server);
  expect_key(&pair.server, key);
  EXPECT_STATUS(side_receive(&pair.client), SST_ERR_ALERT_RECEIVED - 80);
  expect_key(&pair.client, key);
  pair_free(&pair);
}

TEST(stream_keys, exporters_do_not_change_with_the_keys) {
  Pair pair = pair_open();
  uint8_t key[32];
  export(&pair.client, NULL, 0, key, sizeof key);
  EXPECT_STATUS(sst_stream_key_update(pair.client.stream, 1), SST_OK);
  pair_echo(&pair, 100);
  expect_key(&pair.client, key);
  expect_key(&pair.server, key);
  pair_free(&pair);
}

/* ---- channel bindings ---- */

static void bindings_agree(const Pair *pair, int32_t kind, size_t expected_len) {
  uint8_t client[64], server[64];
  size_t client_len, server_len;
  EXPECT_STATUS(binding(&pair->client, kind, client, &client_len), SST_OK);
  EXPECT_STATUS(binding(&pair->server, kind, server, &server_len), SST_OK);
  EXPECT_BYTES(client, client_len, server, server_len);
  EXPECT_EQ(client_len, expected_len);
}

/* RFC 9266, 2. */
TEST_VERSIONS(stream_keys, tls_exporter_is_an_exporter_with_an_empty_context) {
  Pair pair = pair_open(.client = {.max_version = version});
  uint8_t key[32], bound[64];
  size_t len;
  bindings_agree(&pair, SST_BINDING_TLS_EXPORTER, 32);
  EXPECT_STATUS(binding(&pair.client, SST_BINDING_TLS_EXPORTER, bound, &len), SST_OK);
  EXPECT_STATUS(sst_stream_export_key(pair.server.stream, "EXPORTER-Channel-Binding", 24, (const uint8_t *)"", 0, key,
                                      sizeof key),
                SST_OK);
  EXPECT_BYTES(bound, len, key, sizeof key);
  pair_free(&pair);
}

TEST(stream_keys, tls_unique_is_12_bytes_that_agree_tls12) {
  Pair pair = pair_open(.client = {.max_version = SST_TLS1_2}),
       other = pair_open(.client = {.max_version = SST_TLS1_2});
  uint8_t mine[64], theirs[64];
  size_t len;
  bindings_agree(&pair, SST_BINDING_TLS_UNIQUE, 12);
  EXPECT_STATUS(binding(&pair.client, SST_BINDING_TLS_UNIQUE, mine, &len), SST_OK);
  EXPECT_STATUS(binding(&other.client, SST_BINDING_TLS_UNIQUE, theirs, &len), SST_OK);
  EXPECT(!same(mine, theirs, 12));
  pair_free(&other);
  pair_free(&pair);
}

/* RFC 9266, 3.1. */
TEST(stream_keys, tls_unique_is_unsupported_tls13) {
  Pair pair = pair_open();
  uint8_t out[64];
  size_t len;
  EXPECT_STATUS(binding(&pair.client, SST_BINDING_TLS_UNIQUE, out, &len), SST_ERR_UNSUPPORTED);
  EXPECT_EQ(len, 0);
  EXPECT_STATUS(binding(&pair.server, SST_BINDING_TLS_UNIQUE, out, &len), SST_ERR_UNSUPPORTED);
  pair_free(&pair);
}

/* The same, whoever asks for a client certificate; and that of the file, by `openssl x509 -outform DER | sha256sum`. */
TEST_VERSIONS(stream_keys, server_end_point_is_the_hash_of_the_servers_leaf) {
  static const uint8_t expected[] = {0x25, 0x8c, 0x0e, 0x26, 0x71, 0x8f, 0x8a, 0xef, 0xfd, 0x3e, 0xfa,
                                     0xae, 0xbf, 0x20, 0x5a, 0x43, 0x75, 0x62, 0x73, 0x6d, 0x3f, 0xc9,
                                     0x09, 0x7f, 0xdb, 0xb6, 0x84, 0x4b, 0x86, 0x2c, 0xa8, 0x20};
  Pair pair = pair_open(.client = {.max_version = version, .credential = "client-p384"},
                        .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE});
  uint8_t bound[64];
  size_t len;
  bindings_agree(&pair, SST_BINDING_TLS_SERVER_END_POINT, 32);
  EXPECT_STATUS(binding(&pair.server, SST_BINDING_TLS_SERVER_END_POINT, bound, &len), SST_OK);
  EXPECT_BYTES(bound, len, expected, sizeof expected);
  pair_free(&pair);
}

static void keeps_protocol(const Side *side, int32_t kind, size_t size) {
  uint8_t out[64];
  size_t len = 7;
  memset(out, 0xa5, sizeof out);
  EXPECT_STATUS(sst_stream_channel_binding(side->stream, kind, NULL, 0, &len), SST_NEED_OUTPUT);
  EXPECT_EQ(len, size);
  EXPECT_STATUS(sst_stream_channel_binding(side->stream, kind, out, size - 1, &len), SST_NEED_OUTPUT);
  EXPECT_EQ(out[0], 0xa5);
  EXPECT_STATUS(sst_stream_channel_binding(side->stream, kind, out, size, &len), SST_OK);
  EXPECT_EQ(len, size);
  EXPECT_EQ(out[size], 0xa5);
  EXPECT_STATUS(sst_stream_channel_binding(side->stream, kind, out, size, NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_channel_binding(side->stream, kind, NULL, 1, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_channel_binding(NULL, kind, out, size, &len), SST_ERR_INVALID_ARGUMENT);
}

TEST(stream_keys, bindings_keep_the_protocol_of_getters) {
  Pair pair = pair_open(.client = {.max_version = SST_TLS1_2});
  uint8_t out[64];
  size_t len;
  keeps_protocol(&pair.client, SST_BINDING_TLS_UNIQUE, 12);
  keeps_protocol(&pair.server, SST_BINDING_TLS_SERVER_END_POINT, 32);
  keeps_protocol(&pair.client, SST_BINDING_TLS_EXPORTER, 32);
  EXPECT_STATUS(binding(&pair.client, -1, out, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(binding(&pair.client, 3, out, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(len, 0);
  pair_free(&pair);
}

/* ---- traffic secrets ---- */

static void secrets_agree(const Side *from, const Side *to, uint8_t *out) {
  uint8_t theirs[64];
  size_t len, their_len;
  EXPECT_STATUS(secret(from, SST_DIRECTION_SEND, out, &len), SST_OK);
  EXPECT_STATUS(secret(to, SST_DIRECTION_RECEIVE, theirs, &their_len), SST_OK);
  EXPECT_BYTES(out, len, theirs, their_len);
  EXPECT_EQ(len, 32);
}

static void from_hex(const char *hex, uint8_t *out, size_t len) {
  for (size_t i = 0; i < len; i++) {
    char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
    out[i] = (uint8_t)strtoul(digits, NULL, 16);
  }
}

/* What the key log says under name. */
static void logged(Side *side, const char *name, uint8_t *out, size_t len) {
  char line[512];
  sst_event event;
  while (side_event(side, SST_EVENT_KEY_LOG, &event, line, sizeof line)) {
    if (strncmp(line, name, strlen(name)) == 0) {
      from_hex(strrchr(line, ' ') + 1, out, len);
      return;
    }
  }
  FAIL("the key log has no %s", name);
}

TEST(stream_keys, traffic_secrets_are_those_of_the_key_log_tls13) {
  Pair pair = pair_open(.client = {.report = 1u << SST_EVENT_KEY_LOG});
  uint8_t up[64], down[64], expected[32];
  secrets_agree(&pair.client, &pair.server, up);
  secrets_agree(&pair.server, &pair.client, down);
  EXPECT(!same(up, down, 32));
  logged(&pair.client, "CLIENT_TRAFFIC_SECRET_0 ", expected, sizeof expected);
  EXPECT_BYTES(up, 32, expected, sizeof expected);
  logged(&pair.client, "SERVER_TRAFFIC_SECRET_0 ", expected, sizeof expected);
  EXPECT_BYTES(down, 32, expected, sizeof expected);
  pair_free(&pair);
}

TEST(stream_keys, traffic_secrets_follow_key_updates_tls13) {
  Pair pair = pair_open();
  uint8_t before[64], after[64];
  secrets_agree(&pair.client, &pair.server, before);
  EXPECT_STATUS(sst_stream_key_update(pair.client.stream, 0), SST_OK);
  EXPECT_STATUS(side_send(&pair.client, "x", 1), SST_OK);
  side_receive(&pair.server);
  EXPECT_RECEIVED(&pair.server, "x", 1);
  secrets_agree(&pair.client, &pair.server, after);
  EXPECT(!same(before, after, 32));
  secrets_agree(&pair.server, &pair.client, before); /* the other direction goes its own way */
  EXPECT_STATUS(sst_stream_key_update(pair.client.stream, 1), SST_OK);
  pair_echo(&pair, 10);
  secrets_agree(&pair.server, &pair.client, after);
  EXPECT(!same(before, after, 32));
  pair_free(&pair);
}

TEST(stream_keys, traffic_secrets_are_unsupported_tls12) {
  Pair pair = pair_open(.client = {.max_version = SST_TLS1_2});
  uint8_t out[64];
  size_t len;
  EXPECT_STATUS(secret(&pair.client, SST_DIRECTION_SEND, out, &len), SST_ERR_UNSUPPORTED);
  EXPECT_EQ(len, 0);
  EXPECT_STATUS(secret(&pair.server, SST_DIRECTION_RECEIVE, out, &len), SST_ERR_UNSUPPORTED);
  pair_free(&pair);
}

TEST(stream_keys, traffic_secret_refuses_wrong_arguments) {
  Pair pair = pair_open();
  uint8_t out[64];
  size_t len;
  EXPECT_STATUS(secret(&pair.client, 2, out, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(secret(&pair.client, -1, out, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_traffic_secret(NULL, SST_DIRECTION_SEND, out, 64, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_traffic_secret(pair.client.stream, SST_DIRECTION_SEND, out, 64, NULL),
                SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_traffic_secret(pair.client.stream, SST_DIRECTION_SEND, out, 31, &len), SST_NEED_OUTPUT);
  EXPECT_EQ(len, 32);
  pair_free(&pair);
}
