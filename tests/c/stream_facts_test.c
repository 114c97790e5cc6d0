/*
 * What a stream tells of itself: copied when the handshake ends, "none" before, the same ever after.
 */
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The layouts that a binding builds by hand (x86-64). */
_Static_assert(sizeof(sst_progress) == 40 && offsetof(sst_progress, flags) == 32, "sst_progress");
_Static_assert(offsetof(sst_progress, produced) == 8 && offsetof(sst_progress, needed) == 16, "sst_progress");
_Static_assert(offsetof(sst_progress, waiting) == 24 && offsetof(sst_progress, reserved) == 36, "sst_progress");
_Static_assert(sizeof(sst_range) == 16 && offsetof(sst_range, length) == 8, "sst_range");
_Static_assert(sizeof(sst_slice) == 16 && offsetof(sst_slice, length) == 8, "sst_slice");
_Static_assert(sizeof(sst_error) == 544 && offsetof(sst_error, alert_received) == 12, "sst_error");
_Static_assert(offsetof(sst_error, reasons) == 16 && offsetof(sst_error, message) == 32, "sst_error");
_Static_assert(sizeof(sst_event) == 32 && offsetof(sst_event, value) == 8, "sst_event");
_Static_assert(offsetof(sst_event, lost) == 16 && offsetof(sst_event, length) == 24, "sst_event");
_Static_assert(sizeof(sst_stream_info) == 20 && offsetof(sst_stream_info, flags) == 16, "sst_stream_info");
_Static_assert(sizeof(sst_session_info) == 32 && offsetof(sst_session_info, flags) == 24, "sst_session_info");
_Static_assert(sizeof(sst_negotiate_info) == 24 && offsetof(sst_negotiate_info, mechanism) == 12, "sst_negotiate_info");

static Pair facts_pair(uint16_t version) {
  return pair_new(.client = {.max_version = version, .alpn = {"h2"}, .credential = "client-rsa2048"},
                  .server = {.alpn = {"h2"}, .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE});
}

TEST(stream_facts, info_before_the_handshake_is_zero) {
  Pair pair = facts_pair(0);
  for (int round = 0; round < 2; round++) {
    const sst_stream_info info = info_of(&pair.client), zero = {.size = sizeof zero};
    EXPECT_BYTES(&info, sizeof info, &zero, sizeof zero);
    EXPECT_EQ(sst_stream_num_peer_certificates(pair.client.stream), 0);
    EXPECT_STRING(side_text(&pair.client, sst_stream_alpn), "");
    EXPECT_EQ(error_of(&pair.client).code, SST_OK);
    EXPECT_EQ(error_of(&pair.client).alert_sent, -1);
    EXPECT_EQ(error_of(&pair.client).alert_received, -1);
    side_handshake(&pair.client);
  }
  pair_free(&pair);
}

TEST_VERSIONS(stream_facts, info_shows_what_was_negotiated) {
  Pair pair = facts_pair(version);
  REQUIRE_STATUS(pair_handshake(&pair), SST_OK);
  const sst_stream_info client = info_of(&pair.client), server = info_of(&pair.server);
  EXPECT_EQ(client.version, version);
  EXPECT_EQ(client.group, version == SST_TLS1_3 ? 4588 : 29);
  EXPECT_EQ(client.peer_scheme, 0x0403);
  EXPECT_EQ(client.local_scheme, server.peer_scheme);
  EXPECT_EQ(client.reserved, 0);
  EXPECT_EQ(client.flags, SST_INFO_VERIFIED | SST_INFO_EXTENDED_MASTER_SECRET);
  EXPECT_EQ(server.flags, SST_INFO_VERIFIED | SST_INFO_EXTENDED_MASTER_SECRET);
  EXPECT_EQ(server.suite, client.suite);
  EXPECT_EQ(server.local_scheme, 0x0403);
  pair_free(&pair);
}

/* A host built with a smaller struct gets no byte more than it has; one with a larger struct reads 0 in what is new. */
TEST(stream_facts, structs_are_filled_up_to_their_size) {
  Pair pair = pair_open();
  uint8_t small[sizeof(sst_stream_info)];
  memset(small, 0xa5, sizeof small);
  const uint32_t size = 8;
  memcpy(small, &size, sizeof size);
  EXPECT_STATUS(sst_stream_get_info(pair.client.stream, (sst_stream_info *)(void *)small), SST_OK);
  const uint16_t version = SST_TLS1_3;
  EXPECT_BYTES(small + 4, 2, &version, 2);
  for (size_t i = 8; i < sizeof small; i++)
    EXPECT_EQ(small[i], 0xa5);

  struct {
    sst_error error;
    uint8_t more[8];
  } large;
  memset(&large, 0xa5, sizeof large);
  large.error.size = sizeof large;
  EXPECT_STATUS(sst_stream_last_error(pair.client.stream, &large.error), SST_OK);
  EXPECT_EQ(large.error.code, SST_OK);
  EXPECT_EQ(large.error.alert_sent, -1);
  for (size_t i = 0; i < sizeof large.more; i++)
    EXPECT_EQ(large.more[i], 0);

  sst_error code_only;
  memset(&code_only, 0xa5, sizeof code_only);
  code_only.size = 8;
  EXPECT_STATUS(sst_stream_last_error(pair.client.stream, &code_only), SST_OK);
  EXPECT_EQ(code_only.code, SST_OK);
  EXPECT_EQ((uint32_t)code_only.alert_sent, 0xa5a5a5a5);
  pair_free(&pair);
}

/* A message that is cut by a small struct is still terminated. */
TEST(stream_facts, message_in_a_small_error_is_terminated) {
  Pair pair = pair_new(.client = {.server_name = ""});
  side_handshake(&pair.client);
  sst_error error;
  memset(&error, 0xa5, sizeof error);
  error.size = offsetof(sst_error, message) + 5;
  EXPECT_STATUS(sst_stream_last_error(pair.client.stream, &error), SST_OK);
  EXPECT_STATUS(error.code, SST_ERR_NO_EXPECTED_NAME);
  EXPECT_EQ(error.message[4], '\0');
  EXPECT_EQ((uint8_t)error.message[5], 0xa5);
  pair_free(&pair);
}

TEST(stream_facts, structs_without_size_are_refused) {
  Pair pair = pair_open();
  sst_stream_info info = {.size = 0};
  sst_error error = {.size = 3};
  EXPECT_STATUS(sst_stream_get_info(pair.client.stream, &info), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_last_error(pair.client.stream, &error), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_get_info(pair.client.stream, NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_last_error(pair.client.stream, NULL), SST_ERR_INVALID_ARGUMENT);
  pair_free(&pair);
}

static sst_status peer_leaf(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len) {
  return sst_stream_peer_certificate(stream, 0, out, out_cap, out_len);
}

static sst_status local_leaf(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len) {
  return sst_stream_local_certificate(stream, 0, out, out_cap, out_len);
}

/* The protocol of getters of variable size: the size first, nothing written, then all of it. */
static void keeps_protocol(const Side *side, const char *name, Getter getter) {
  test_note("%s of the %s", name, side->label);
  uint8_t out[2048];
  memset(out, 0xa5, sizeof out);
  size_t needed = 0, len = 0;
  EXPECT_STATUS(getter(side->stream, NULL, 0, &needed), SST_NEED_OUTPUT);
  REQUIRE(needed > 0 && needed < sizeof out);
  EXPECT_STATUS(getter(side->stream, out, needed - 1, &len), SST_NEED_OUTPUT);
  EXPECT_EQ(len, needed);
  for (size_t i = 0; i < needed; i++)
    EXPECT_EQ(out[i], 0xa5);
  len = 0;
  EXPECT_STATUS(getter(side->stream, out, needed, &len), SST_OK);
  EXPECT_EQ(len, needed);
  EXPECT_EQ(out[needed], 0xa5); /* no NUL is added */
  len = 0;
  EXPECT_STATUS(getter(side->stream, out, sizeof out, &len), SST_OK);
  EXPECT_EQ(len, needed);
  EXPECT_STATUS(getter(side->stream, out, sizeof out, NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(getter(side->stream, NULL, 1, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(getter(NULL, out, sizeof out, &len), SST_ERR_INVALID_ARGUMENT);
}

TEST_VERSIONS(stream_facts, getters_of_variable_size_keep_their_protocol) {
  Pair pair = facts_pair(version);
  REQUIRE_STATUS(pair_handshake(&pair), SST_OK);
  const struct {
    const char *name;
    Getter getter;
  } getters[] = {{"alpn", sst_stream_alpn},
                 {"server_name", sst_stream_server_name},
                 {"describe", sst_stream_describe},
                 {"peer_certificate", peer_leaf},
                 {"local_certificate", local_leaf}};
  for (size_t i = 0; i < sizeof getters / sizeof *getters; i++) {
    keeps_protocol(&pair.client, getters[i].name, getters[i].getter);
    keeps_protocol(&pair.server, getters[i].name, getters[i].getter);
  }
  pair_free(&pair);
}

typedef sst_status (*Indexed)(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap, size_t *out_len);

static void shows_chain(const Side *side, Indexed getter, const char *name, size_t length) {
  test_note("%s at the %s", name, side->label);
  uint8_t out[4096];
  size_t len = 0;
  for (size_t i = 0; i < length; i++) {
    const Data der = data_certificate(name, i);
    EXPECT_STATUS(getter(side->stream, i, out, sizeof out, &len), SST_OK);
    EXPECT_BYTES(out, len, der.bytes, der.len);
    free(der.bytes);
  }
  const size_t beyond[] = {length, length + 1, SIZE_MAX};
  for (size_t i = 0; i < 3; i++) {
    len = 7;
    EXPECT_STATUS(getter(side->stream, beyond[i], out, sizeof out, &len), SST_OK);
    EXPECT_EQ(len, 0);
  }
}

TEST_VERSIONS(stream_facts, certificates_are_those_of_the_files) {
  Pair pair = facts_pair(version);
  REQUIRE_STATUS(pair_handshake(&pair), SST_OK);
  EXPECT_EQ(sst_stream_num_peer_certificates(pair.client.stream), 2);
  EXPECT_EQ(sst_stream_num_peer_certificates(pair.server.stream), 1);
  shows_chain(&pair.client, sst_stream_peer_certificate, "server-p256", 2);
  shows_chain(&pair.server, sst_stream_local_certificate, "server-p256", 2);
  shows_chain(&pair.server, sst_stream_peer_certificate, "client-rsa2048", 1);
  shows_chain(&pair.client, sst_stream_local_certificate, "client-rsa2048", 1);
  test_note(NULL);
  pair_free(&pair);
}

/* Facts outlive the ends of the stream. */
TEST_VERSIONS(stream_facts, facts_stay_after_failure) {
  Pair pair = facts_pair(version);
  REQUIRE_STATUS(pair_handshake(&pair), SST_OK);
  const sst_stream_info before = info_of(&pair.client);
  EXPECT_STATUS(sst_stream_abort(pair.client.stream, 80), SST_OK);
  side_flush(&pair.client);
  const sst_stream_info after = info_of(&pair.client);
  EXPECT_BYTES(&after, sizeof after, &before, sizeof before);
  EXPECT_STRING(side_text(&pair.client, sst_stream_alpn), "h2");
  shows_chain(&pair.client, sst_stream_peer_certificate, "server-p256", 2);
  test_note(NULL);
  pair_free(&pair);
}

/* A chain that was refused is never shown. */
TEST_VERSIONS(stream_facts, refused_chain_is_not_shown) {
  Pair pair = pair_new(.client = {.max_version = version}, .server = {.credential = "server-untrusted"});
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_CERT_ISSUER_NOT_FOUND);
  EXPECT_EQ(sst_stream_num_peer_certificates(pair.client.stream), 0);
  size_t len = 7;
  EXPECT_STATUS(sst_stream_peer_certificate(pair.client.stream, 0, NULL, 0, &len), SST_OK);
  EXPECT_EQ(len, 0);
  EXPECT_EQ(info_of(&pair.client).flags & SST_INFO_VERIFIED, 0);
  pair_free(&pair);
}

TEST_VERSIONS(stream_facts, describe_is_one_line_of_names) {
  Pair pair = facts_pair(version);
  EXPECT(strlen(side_text(&pair.client, sst_stream_describe)) < 200);
  REQUIRE_STATUS(pair_handshake(&pair), SST_OK);
  const Side *const sides[] = {&pair.client, &pair.server};
  for (int i = 0; i < 2; i++) {
    const char *text = side_text(sides[i], sst_stream_describe);
    EXPECT_CONTAINS(text, version == SST_TLS1_3 ? "TLS 1.3" : "TLS 1.2");
    EXPECT_CONTAINS(text, sst_suite_name(info_of(sides[i]).suite));
    EXPECT_CONTAINS(text, sst_group_name(info_of(sides[i]).group));
    EXPECT_CONTAINS(text, sides[i]->label);
    EXPECT_CONTAINS(text, "verified");
    EXPECT(strchr(text, '\n') == NULL);
  }
  pair_free(&pair);
}

/* A line for logs must not say "verified" of what nobody has verified. */
TEST(stream_facts, describe_does_not_call_an_unverified_peer_verified) {
  Pair pair = pair_open(.client = {.verify = SST_VERIFY_NONE});
  const char *text = side_text(&pair.client, sst_stream_describe);
  const char *at = strstr(text, "verified");
  EXPECT(at == NULL || (at - text >= 2 && (strncmp(at - 2, "un", 2) == 0 || strncmp(at - 4, "not ", 4) == 0)));
  pair_free(&pair);
}

TEST(stream_facts, names_are_those_of_iana) {
  EXPECT_STRING(sst_suite_name(0x1301), "TLS_AES_128_GCM_SHA256");
  EXPECT_STRING(sst_suite_name(0x1302), "TLS_AES_256_GCM_SHA384");
  EXPECT_STRING(sst_suite_name(0x1303), "TLS_CHACHA20_POLY1305_SHA256");
  EXPECT_STRING(sst_suite_name(0xc02b), "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256");
  EXPECT_STRING(sst_suite_name(0xcca8), "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256");
  EXPECT_STRING(sst_group_name(29), "x25519");
  EXPECT_STRING(sst_group_name(25), "secp521r1");
  EXPECT_STRING(sst_group_name(4588), "X25519MLKEM768");
  EXPECT_STRING(sst_group_name(514), "MLKEM1024");
  EXPECT_STRING(sst_scheme_name(0x0403), "ecdsa_secp256r1_sha256");
  EXPECT_STRING(sst_scheme_name(0x0807), "ed25519");
  EXPECT_STRING(sst_scheme_name(0x0804), "rsa_pss_rsae_sha256");
  EXPECT_STRING(sst_alert_name(0), "close_notify");
  EXPECT_STRING(sst_alert_name(40), "handshake_failure");
  EXPECT_STRING(sst_alert_name(116), "certificate_required");
  EXPECT_STRING(sst_alert_name(120), "no_application_protocol");
  EXPECT_STRING(sst_suite_name(0xfefe), "unknown");
  EXPECT_STRING(sst_group_name(0), "unknown");
  EXPECT_STRING(sst_scheme_name(0xfefe), "unknown");
  EXPECT_STRING(sst_alert_name(-1), "unknown");
  EXPECT_STRING(sst_alert_name(256), "unknown");
}

TEST(stream_facts, statuses_have_names_and_texts) {
  EXPECT_STRING(sst_status_name(SST_OK), "OK");
  EXPECT_STRING(sst_status_name(SST_NEED_INPUT), "NEED_INPUT");
  EXPECT_STRING(sst_status_name(SST_WANT_EARLY_DATA_RETRY), "WANT_EARLY_DATA_RETRY");
  EXPECT_STRING(sst_status_name(SST_ERR_CERT_EXPIRED), "ERR_CERT_EXPIRED");
  EXPECT_STRING(sst_status_name(SST_ERR_ALERT_RECEIVED - 40), "ERR_ALERT_RECEIVED");
  EXPECT(strcmp(sst_status_text(SST_ERR_ALERT_RECEIVED - 40), "unknown") != 0);
  EXPECT_STRING(sst_status_name(-1256), "unknown");
  const sst_status unknown[] = {5, 15, 23, -1, -426, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
    EXPECT_STRING(sst_status_name(unknown[i]), "unknown");
    EXPECT_STRING(sst_status_text(unknown[i]), "unknown");
  }
  const sst_status known[] = {SST_CLOSED,        SST_ERR_BUSY,     SST_ERR_NO_MEMORY,
                              SST_ERR_TRUNCATED, SST_ERR_INTERNAL, SST_ERR_REPLAY};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    EXPECT(strcmp(sst_status_text(known[i]), "unknown") != 0);
    EXPECT(strchr(sst_status_text(known[i]), '\n') == NULL);
  }
}

TEST(stream_facts, version_is_that_of_the_header) {
  char text[32];
  EXPECT_EQ(sst_version_number(), SST_VERSION_NUMBER);
  const unsigned number = sst_version_number();
  snprintf(text, sizeof text, "%u.%u.%u", number >> 16, number >> 8 & 255, number & 255);
  EXPECT_STRING(sst_version_string(), text);
}
