/*
 * What a server sends beside its certificate, an OCSP response and SCTs: the client sees the bytes; a certificate that
 * demands a response is refused without one.
 */
#include "hello.h"
#include "openssl_peer.h"

#include <stdlib.h>
#include <string.h>

/* An OCSP response without a body, and lists of timestamps: shape is all that counts. */
static const uint8_t response[] = {0x30, 0x03, 0x0a, 0x01, 0x03}, scts[] = {0, 7, 0, 2, 'a', 'b', 0, 1, 'c'};

static sst_config *stapling_config(const char *name, const uint8_t *ocsp, size_t ocsp_len, const uint8_t *list,
                                   size_t list_len) {
  sst_config *config = pair_config(&(SideOptions){.credential = ""}, SST_ROLE_SERVER);
  sst_credential *credential = data_credential(name);
  REQUIRE_STATUS(sst_credential_set_ocsp_response(credential, ocsp, ocsp_len), SST_OK);
  REQUIRE_STATUS(sst_credential_set_scts(credential, list, list_len), SST_OK);
  REQUIRE_STATUS(sst_config_add_credential(config, credential), SST_OK);
  sst_credential_free(credential);
  return config;
}

static void expect_fact(const Side *side, Getter getter, const uint8_t *expected, size_t expected_len) {
  static uint8_t out[40000];
  size_t len = 7;
  EXPECT_STATUS(getter(side->stream, NULL, 0, &len), expected_len == 0 ? SST_OK : SST_NEED_OUTPUT);
  EXPECT_EQ(len, expected_len);
  EXPECT_STATUS(getter(side->stream, out, sizeof out, &len), SST_OK);
  EXPECT_BYTES(out, len, expected, expected_len);
}

static void client_sees(uint16_t version, const uint8_t *ocsp, size_t ocsp_len, const uint8_t *list, size_t list_len) {
  sst_config *config = stapling_config("server-p256", ocsp, ocsp_len, list, list_len);
  Pair pair = pair_new(.client = {.max_version = version}, .server = {.config = config});
  pair.server.room = SIDE_LEARN; /* the flight may be large */
  expect_fact(&pair.client, sst_stream_ocsp_response, NULL, 0);
  expect_fact(&pair.client, sst_stream_scts, NULL, 0);
  REQUIRE_STATUS(pair_handshake(&pair), SST_OK);
  expect_fact(&pair.client, sst_stream_ocsp_response, ocsp, ocsp_len);
  expect_fact(&pair.client, sst_stream_scts, list, list_len);
  expect_fact(&pair.server, sst_stream_ocsp_response, NULL, 0);
  expect_fact(&pair.server, sst_stream_scts, NULL, 0);
  EXPECT_STRING(side_text(&pair.client, sst_stream_server_name), "server.test");
  pair_echo(&pair, 1000);
  EXPECT_STATUS(sst_stream_abort(pair.client.stream, 80), SST_OK);
  expect_fact(&pair.client, sst_stream_ocsp_response, ocsp, ocsp_len);
  pair_free(&pair);
  sst_config_free(config);
}

TEST_VERSIONS(staple, client_sees_what_the_server_staples) {
  client_sees(version, response, sizeof response, scts, sizeof scts);
}

TEST_VERSIONS(staple, client_sees_a_response_alone) {
  client_sees(version, response, sizeof response, NULL, 0);
}

TEST_VERSIONS(staple, client_sees_timestamps_alone) {
  client_sees(version, NULL, 0, scts, sizeof scts);
}

TEST_VERSIONS(staple, nothing_is_stapled_by_default) {
  client_sees(version, NULL, 0, NULL, 0);
}

/* The most that a credential takes of both fits into a handshake. */
TEST_VERSIONS(staple, largest_of_both_arrive) {
  enum { MOST = 32000 };
  static uint8_t large[MOST] = {0x30, 0x82, (MOST - 4) >> 8,  (MOST - 4) & 255, 0x0a, 1, 0,
                                0xa0, 0x82, (MOST - 11) >> 8, (MOST - 11) & 255};
  static uint8_t list[MOST] = {(MOST - 2) >> 8, (MOST - 2) & 255, (MOST - 4) >> 8, (MOST - 4) & 255};
  client_sees(version, large, sizeof large, list, sizeof list);
}

/* A server that asks for a certificate takes one that promises a staple: clients have no way to send it. */
TEST_VERSIONS(staple, server_does_not_want_a_staple_of_a_client) {
  Pair pair = pair_new(.client = {.max_version = version, .credential = "refused/staple"},
                       .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE, .trust = "root"});
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  EXPECT_EQ(sst_stream_num_peer_certificates(pair.server.stream), 2);
  pair_free(&pair);
}

/* ---- a certificate that demands it ---- */

static void expect_refused(const Side *client, const Side *server, sst_status code, uint64_t reasons, int alert) {
  EXPECT_STATUS(error_of(client).code, code);
  EXPECT_EQ(error_of(client).reasons, reasons);
  EXPECT_EQ(error_of(client).alert_sent, alert);
  EXPECT_STATUS(error_of(server).code, SST_ERR_ALERT_RECEIVED - alert);
  expect_fact(client, sst_stream_ocsp_response, NULL, 0);
}

TEST_VERSIONS(staple, must_staple_without_one_is_refused) {
  Pair pair = pair_new(.client = {.max_version = version}, .server = {.credential = "refused/staple"});
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_CERT_STAPLE_MISSING);
  side_receive(&pair.server); /* a TLS 1.3 server has not finished; TLS 1.2 has nothing left */
  expect_refused(&pair.client, &pair.server, SST_ERR_CERT_STAPLE_MISSING, UINT64_C(1) << 40, 113);
  EXPECT_CONTAINS(error_of(&pair.client).message, "certificate 1 of 3");
  EXPECT_CONTAINS(error_of(&pair.client).message, "OCSP");
  pair_free(&pair);
}

static void must_staple_with(uint16_t version, const uint8_t *ocsp, size_t ocsp_len, sst_status expected) {
  sst_config *config = stapling_config("refused/staple", ocsp, ocsp_len, scts, sizeof scts);
  Pair pair = pair_new(.client = {.max_version = version}, .server = {.config = config});
  EXPECT_STATUS(pair_handshake(&pair), expected);
  pair_free(&pair);
  sst_config_free(config);
}

TEST_VERSIONS(staple, must_staple_with_one_is_accepted) {
  must_staple_with(version, response, sizeof response, SST_OK);
}

TEST_VERSIONS(staple, must_staple_is_not_content_with_timestamps) {
  must_staple_with(version, NULL, 0, SST_ERR_CERT_STAPLE_MISSING);
}

TEST_VERSIONS(staple, missing_staple_stands_behind_the_name) {
  Pair pair = pair_new(.client = {.max_version = version, .verify_name = "other.test"},
                       .server = {.credential = "refused/staple"});
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_CERT_NAME_MISMATCH);
  expect_refused(&pair.client, &pair.server, SST_ERR_CERT_NAME_MISMATCH, UINT64_C(1) << 30 | UINT64_C(1) << 40, 42);
  pair_free(&pair);
}

TEST_VERSIONS(staple, chain_only_wants_the_staple_too) {
  Pair pair = pair_new(.client = {.max_version = version, .verify = SST_VERIFY_CHAIN_ONLY},
                       .server = {.credential = "refused/staple"});
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_CERT_STAPLE_MISSING);
  pair_free(&pair);
}

TEST_VERSIONS(staple, who_does_not_verify_wants_no_staple) {
  Pair pair = pair_new(.client = {.max_version = version, .verify = SST_VERIFY_NONE},
                       .server = {.credential = "refused/staple"});
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  pair_free(&pair);
}

/* ---- on the wire ---- */

/* Both are asked for (RFC 6066, 8; RFC 6962, 3.3.1). */
TEST(staple, client_asks_for_both) {
  enum { STATUS_REQUEST = 5, SIGNED_CERTIFICATE_TIMESTAMP = 18 };
  Pair pair = pair_new();
  side_handshake(&pair.client);
  Hello hello = hello_read(wire_head(pair.client.out), wire_waiting(pair.client.out));
  size_t len = 0;
  const uint8_t *body = hello_extension(&hello, STATUS_REQUEST, &len);
  REQUIRE(body != NULL);
  EXPECT_BYTES(body, len, "\1\0\0\0\0", 5);
  EXPECT(hello_extension(&hello, SIGNED_CERTIFICATE_TIMESTAMP, &len) != NULL);
  EXPECT_EQ(len, 0);
  hello_free(&hello);
  pair_free(&pair);
}

static void openssl_is_given(uint16_t version, bool asks) {
  sst_config *config = stapling_config("server-p256", response, sizeof response, scts, sizeof scts);
  Foreign foreign = foreign_new(SST_ROLE_SERVER, &(SideOptions){.config = config},
                                &(OpensslOptions){.version = version, .ask_ocsp_response = asks});
  size_t len = 0;
  REQUIRE_STATUS(openssl_handshake(foreign.peer, &foreign.side), SST_OK);
  const uint8_t *got = openssl_ocsp_response(foreign.peer, &len);
  EXPECT_BYTES(got, len, response, asks ? sizeof response : 0);
  foreign_free(&foreign);
  sst_config_free(config);
}

TEST_VERSIONS(staple, openssl_client_that_asks_gets_the_response) {
  openssl_is_given(version, true);
}

TEST_VERSIONS(staple, openssl_client_that_does_not_ask_gets_none) {
  openssl_is_given(version, false);
}

TEST_VERSIONS(staple, response_of_an_openssl_server_is_seen_and_satisfies) {
  const OpensslOptions theirs = {.version = version,
                                 .credential = "refused/staple",
                                 .ocsp_response = response,
                                 .ocsp_response_len = sizeof response};
  Foreign foreign = foreign_new(SST_ROLE_CLIENT, &(SideOptions){.max_version = version}, &theirs);
  EXPECT_STATUS(openssl_handshake(foreign.peer, &foreign.side), SST_OK);
  expect_fact(&foreign.side, sst_stream_ocsp_response, response, sizeof response);
  foreign_free(&foreign);
}

TEST_VERSIONS(staple, openssl_server_without_a_response_is_refused) {
  const OpensslOptions theirs = {.version = version, .credential = "refused/staple"};
  Foreign foreign = foreign_new(SST_ROLE_CLIENT, &(SideOptions){.max_version = version}, &theirs);
  EXPECT_STATUS(openssl_handshake(foreign.peer, &foreign.side), SST_ERR_CERT_STAPLE_MISSING);
  EXPECT_EQ(openssl_alert(foreign.peer), 113);
  foreign_free(&foreign);
}

/* ---- the credential ---- */

static sst_status set_response(sst_credential *credential, const void *bytes, size_t len) {
  return sst_credential_set_ocsp_response(credential, bytes, len);
}

TEST(staple, what_is_no_ocsp_response_is_parse) {
  sst_credential *credential = sst_credential_new();
  sst_error error = {.size = sizeof error};
  EXPECT_STATUS(set_response(credential, "junk", 4), SST_ERR_PARSE);
  EXPECT_STATUS(set_response(credential, "\x30\x00", 2), SST_ERR_PARSE);
  EXPECT_STATUS(set_response(credential, response, sizeof response - 1), SST_ERR_PARSE);
  EXPECT_STATUS(set_response(credential, "\x30\x03\x0a\x01\x00\x00", 6), SST_ERR_PARSE);
  EXPECT_STATUS(set_response(credential, "\x30\x05\x0a\x01\x00\x05\x00", 7), SST_ERR_PARSE);
  EXPECT_STATUS(set_response(credential, "\x30\x03\x02\x01\x00", 5), SST_ERR_PARSE);
  EXPECT_STATUS(sst_credential_last_error(credential, &error), SST_OK);
  EXPECT_STATUS(error.code, SST_ERR_PARSE);
  EXPECT_CONTAINS(error.message, "OCSP");
  EXPECT_STATUS(set_response(credential, "\x30\x05\x0a\x01\x00\xa0\x00", 7), SST_OK);
  sst_credential_free(credential);
}

TEST(staple, what_is_no_list_of_timestamps_is_parse) {
  static const struct {
    const char *bytes;
    size_t len;
  } bad[] = {{"\0", 1},         {"\0\0", 2},          {"\0\2\0\0", 4},  {"\0\3\0\2a", 5},
             {"\0\3\0\1a!", 6}, {"\0\5\0\1a\0\0", 7}, {"\0\4\0\1a", 5}, {"\0\4\0\1aa", 6}};
  sst_credential *credential = sst_credential_new();
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    test_note("list %zu", i);
    EXPECT_STATUS(sst_credential_set_scts(credential, (const uint8_t *)bad[i].bytes, bad[i].len), SST_ERR_PARSE);
  }
  EXPECT_STATUS(sst_credential_set_scts(credential, (const uint8_t *)"\0\3\0\1a", 5), SST_OK);
  sst_credential_free(credential);
}

/* One byte more than what is sent for sure. */
TEST(staple, larger_ones_are_too_long) {
  enum { SIZE = 32001 };
  static uint8_t large[SIZE] = {0x30, 0x82, (SIZE - 4) >> 8,  (SIZE - 4) & 255, 0x0a, 1, 0,
                                0xa0, 0x82, (SIZE - 11) >> 8, (SIZE - 11) & 255};
  static uint8_t list[SIZE] = {(SIZE - 2) >> 8, (SIZE - 2) & 255, (SIZE - 4) >> 8, (SIZE - 4) & 255};
  sst_credential *credential = sst_credential_new();
  EXPECT_STATUS(set_response(credential, large, sizeof large), SST_ERR_LIST_TOO_LONG);
  EXPECT_STATUS(sst_credential_set_scts(credential, list, sizeof list), SST_ERR_LIST_TOO_LONG);
  sst_credential_free(credential);
}

TEST(staple, setters_refuse_wrong_arguments_and_frozen_credentials) {
  sst_config *config = stapling_config("server-p256", NULL, 0, NULL, 0);
  sst_credential *credential = data_credential("server-p256");
  EXPECT_STATUS(set_response(NULL, response, sizeof response), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(set_response(credential, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_set_scts(NULL, scts, sizeof scts), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_set_scts(credential, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_config_add_credential(config, credential), SST_OK);
  EXPECT_STATUS(set_response(credential, response, sizeof response), SST_ERR_FROZEN);
  EXPECT_STATUS(sst_credential_set_scts(credential, scts, sizeof scts), SST_ERR_FROZEN);
  sst_credential_free(credential);
  sst_config_free(config);
}

/* Before the chain, after it, set anew, taken out again; a failure changes nothing. */
TEST_VERSIONS(staple, last_setting_counts_in_any_order) {
  static const uint8_t other[] = {0x30, 0x03, 0x0a, 0x01, 0x06};
  const Data pem = data_read("server-p256", "pem"), key = data_read("server-p256", "key");
  sst_config *config = pair_config(&(SideOptions){.credential = ""}, SST_ROLE_SERVER);
  sst_credential *credential = sst_credential_new();
  EXPECT_STATUS(set_response(credential, other, sizeof other), SST_OK);
  EXPECT_STATUS(sst_credential_set_scts(credential, scts, sizeof scts), SST_OK);
  EXPECT_STATUS(sst_credential_load_pem(credential, pem.bytes, pem.len, NULL, 0), SST_OK);
  EXPECT_STATUS(sst_credential_load_pem(credential, key.bytes, key.len, NULL, 0), SST_OK);
  EXPECT_STATUS(set_response(credential, response, sizeof response), SST_OK);
  EXPECT_STATUS(set_response(credential, "junk", 4), SST_ERR_PARSE);
  EXPECT_STATUS(sst_credential_set_scts(credential, NULL, 0), SST_OK);
  REQUIRE_STATUS(sst_config_add_credential(config, credential), SST_OK);
  Pair pair = pair_open(.client = {.max_version = version}, .server = {.config = config});
  expect_fact(&pair.client, sst_stream_ocsp_response, response, sizeof response);
  expect_fact(&pair.client, sst_stream_scts, NULL, 0);
  pair_free(&pair);
  sst_credential_free(credential);
  sst_config_free(config);
  free(pem.bytes);
  free(key.bytes);
}
