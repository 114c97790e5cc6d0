/*
 * WANT_CERTIFICATE: the credential is the caller's choice, in both roles and versions.
 */
#include "answer.h"

#include <stdlib.h>
#include <string.h>

#define CERTIFICATE ASK(SST_WANT_CERTIFICATE)
#define MUTUAL .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE

static void shows(const Side *side, sst_status (*get)(const sst_stream *, size_t, uint8_t *, size_t, size_t *),
                  const char *name) {
  uint8_t der[8192];
  size_t len = 0;
  const Data leaf = data_certificate(name, 0);
  EXPECT_STATUS(get(side->stream, 0, der, sizeof der, &len), SST_OK);
  EXPECT_BYTES(der, len, leaf.bytes, leaf.len);
  free(leaf.bytes);
}

static void presents(uint16_t version, const char *server, const char *client) {
  test_note("%s, %s", server, client);
  Answers answers = {.server = {.credential = data_credential(server)},
                     .client = {.credential = data_credential(client)}};
  Pair pair =
      pair_new(.client = {.max_version = version,
                          .suspend = CERTIFICATE,
                          .credential = "client-b",
                          .groups = {29, 23, 24, 25}},
               .server = {.suspend = CERTIFICATE, MUTUAL, .credential = "server-other", .groups = {29, 23, 24, 25}});
  EXPECT_STATUS(answer_handshake(&pair, &answers), SST_OK);
  EXPECT_EQ(answers.client.questions + answers.server.questions, 2);
  shows(&pair.client, sst_stream_peer_certificate, server);
  shows(&pair.client, sst_stream_local_certificate, client);
  shows(&pair.server, sst_stream_peer_certificate, client);
  shows(&pair.server, sst_stream_local_certificate, server);
  sst_credential_free(answers.server.credential);
  sst_credential_free(answers.client.credential);
  pair.objects += 2;
  shows(&pair.server, sst_stream_local_certificate, server); /* the stream has it still */
  EXPECT_EQ(info_of(&pair.client).local_scheme, info_of(&pair.server).peer_scheme);
  pair_echo(&pair, 1000);
  pair_free(&pair);
}

TEST_VERSIONS(question_certificate, answer_is_what_is_presented) {
  presents(version, "server-p256", "client-p256");
  presents(version, "server-p384", "client-rsa2048");
  presents(version, "server-rsa2048", "client-p521");
  presents(version, "server-ed25519", "client-p384");
  presents(version, "server-p521", "client-ed25519");
}

/* ---- none ---- */

TEST_VERSIONS(question_certificate, server_without_one_fails_with_an_alert) {
  Pair pair = pair_new(.client = {.max_version = version}, .server = {.suspend = CERTIFICATE});
  EXPECT_STATUS(answer_handshake(&pair, &(Answers){.server = {.credential = NULL}}), SST_ERR_NO_CREDENTIAL);
  EXPECT_EQ(error_of(&pair.server).alert_sent, 40);
  EXPECT_CONTAINS(error_of(&pair.server).message, "no credential");
  EXPECT_EQ(error_of(&pair.client).alert_received, 40);
  EXPECT_EQ(records_count(pair.server.out, 0, RECORD_HANDSHAKE), 0);
  pair_free(&pair);
}

static void client_has_none(uint16_t version, int32_t rule, sst_status status) {
  Pair pair = pair_new(.client = {.max_version = version, .suspend = CERTIFICATE, .credential = "client-p256"},
                       .server = {.client_certificate = rule});
  Answers answers = {.client = {.credential = NULL}};
  EXPECT_STATUS(answer_handshake(&pair, &answers), status);
  EXPECT_EQ(answers.client.questions, 1);
  EXPECT_EQ(sst_stream_num_peer_certificates(pair.server.stream), 0);
  if (status == SST_OK) {
    uint8_t der[4096];
    size_t len = 1;
    EXPECT_STATUS(sst_stream_local_certificate(pair.client.stream, 0, der, sizeof der, &len), SST_OK);
    EXPECT_EQ(len, 0);
    EXPECT_EQ(info_of(&pair.client).local_scheme, 0);
    pair_echo(&pair, 100);
  }
  pair_free(&pair);
}

TEST_VERSIONS(question_certificate, client_without_one_sends_none) {
  client_has_none(version, SST_CLIENT_CERTIFICATE_REQUEST, SST_OK);
  client_has_none(version, SST_CLIENT_CERTIFICATE_REQUIRE, SST_ERR_PEER_CERT_REQUIRED);
}

TEST_VERSIONS(question_certificate, client_that_is_not_asked_has_no_question) {
  Pair pair = pair_new(.client = {.max_version = version, .suspend = CERTIFICATE});
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  pair_free(&pair);
}

/* ---- no credential that would do ---- */

static void fits_no_scheme(uint16_t version, const char *server) {
  Pair pair = pair_new(.client = {.max_version = version, .schemes = {0x0403}},
                       .server = {.suspend = CERTIFICATE, .credential = ""});
  Answers answers = {.server = {.credential = data_credential(server)}};
  EXPECT_STATUS(answer_handshake(&pair, &answers), SST_ERR_NO_COMMON_SCHEME);
  EXPECT_EQ(error_of(&pair.server).alert_sent, 40);
  EXPECT_EQ(error_of(&pair.client).alert_received, 40);
  pair_free(&pair);
  sst_credential_free(answers.server.credential);
}

TEST_VERSIONS(question_certificate, server_credential_of_no_common_scheme_fails_with_an_alert) {
  fits_no_scheme(version, "server-rsa2048");
  fits_no_scheme(version, "server-ed25519");
}

static void client_fits_no_scheme(uint16_t version, const char *client) {
  Pair pair =
      pair_new(.client = {.max_version = version, .suspend = CERTIFICATE}, .server = {MUTUAL, .schemes = {0x0403}});
  Answers answers = {.client = {.credential = data_credential(client)}};
  EXPECT_STATUS(answer_handshake(&pair, &answers), SST_ERR_NO_COMMON_SCHEME);
  EXPECT_EQ(error_of(&pair.client).alert_sent, 40);
  EXPECT_EQ(error_of(&pair.server).alert_received, 40);
  pair_free(&pair);
  sst_credential_free(answers.client.credential);
}

TEST_VERSIONS(question_certificate, client_credential_of_no_common_scheme_fails_with_an_alert) {
  client_fits_no_scheme(version, "client-rsa2048");
  client_fits_no_scheme(version, "client-ed25519");
}

TEST_VERSIONS(question_certificate, incomplete_credential_leaves_the_question_open) {
  sst_credential *parts[3] = {sst_credential_new(), sst_credential_new(), sst_credential_new()};
  const Data chain = data_read("server-p256", "pem"), key = data_read("server-p256", "key");
  const uint16_t scheme = 0x0403;
  EXPECT_STATUS(sst_credential_load_pem(parts[0], chain.bytes, chain.len, NULL, 0), SST_OK);
  EXPECT_STATUS(sst_credential_load_pem(parts[1], key.bytes, key.len, NULL, 0), SST_OK);
  EXPECT_STATUS(sst_credential_set_caller_signs(parts[2], &scheme, 1), SST_OK);
  Pair pair = pair_new(.client = {.max_version = version}, .server = {.suspend = CERTIFICATE});
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CERTIFICATE);
  for (int i = 0; i < 3; i++) {
    EXPECT_STATUS(sst_stream_set_credential(pair.server.stream, parts[i]), SST_ERR_NO_CREDENTIAL);
    EXPECT_STATUS(side_handshake(&pair.server), SST_WANT_CERTIFICATE);
  }
  /* It was not frozen: what is missing can be loaded, and then it does. */
  EXPECT_STATUS(sst_credential_load_pem(parts[0], key.bytes, key.len, NULL, 0), SST_OK);
  EXPECT_STATUS(sst_stream_set_credential(pair.server.stream, parts[0]), SST_OK);
  EXPECT_STATUS(sst_credential_load_pem(parts[0], key.bytes, key.len, NULL, 0), SST_ERR_FROZEN);
  EXPECT_STATUS(sst_credential_load_pem(parts[0], chain.bytes, chain.len, NULL, 0), SST_ERR_FROZEN);
  EXPECT_STATUS(sst_credential_set_caller_signs(parts[0], &scheme, 1), SST_ERR_FROZEN);
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  pair_echo(&pair, 100);
  pair_free(&pair);
  for (int i = 0; i < 3; i++)
    sst_credential_free(parts[i]);
  free(chain.bytes);
  free(key.bytes);
}

/* A config's own rules would send nothing to a server that names other issuers; the caller knows better. */
TEST_VERSIONS(question_certificate, answer_is_sent_whatever_issuers_are_named) {
  Pair pair = pair_new(.client = {.max_version = version, .suspend = CERTIFICATE},
                       .server = {MUTUAL, .client_ca = "client-root-b"});
  Answers answers = {.client = {.credential = data_credential("client-p256")}};
  EXPECT_STATUS(answer_handshake(&pair, &answers), SST_OK);
  shows(&pair.server, sst_stream_peer_certificate, "client-p256");
  pair_free(&pair);
  sst_credential_free(answers.client.credential);
}

TEST_VERSIONS(question_certificate, least_size_of_rsa_keys_holds_for_the_answer) {
  sst_credential *small = data_credential("server-rsa1024");
  for (int allowed = 0; allowed < 2; allowed++) {
    Pair pair = pair_new(.client = {.max_version = version, .minimum_rsa = 1024},
                         .server = {.suspend = CERTIFICATE, .credential = "", .minimum_rsa = allowed ? 1024 : 0});
    EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CERTIFICATE);
    EXPECT_STATUS(sst_stream_set_credential(pair.server.stream, small), allowed ? SST_OK : SST_ERR_UNSUPPORTED_KEY);
    EXPECT_STATUS(pair_handshake(&pair), allowed ? SST_OK : SST_WANT_CERTIFICATE);
    pair_free(&pair);
  }
  sst_credential_free(small);
}

/* Whatever credential is chosen: what is wrong is not it. */
TEST(question_certificate, suites_without_overlap_are_told_from_schemes) {
  Pair pair = pair_new(.client = {.max_version = SST_TLS1_2, .suites = {0xc02b, 0xc02f}},
                       .server = {.suspend = CERTIFICATE, .suites = {0xcca9, 0xcca8}});
  Answers answers = {.server = {.credential = data_credential("server-p256")}};
  EXPECT_STATUS(answer_handshake(&pair, &answers), SST_ERR_NO_SHARED_SUITE);
  EXPECT_EQ(error_of(&pair.client).alert_received, 40);
  pair_free(&pair);
  sst_credential_free(answers.server.credential);
}

/* ---- facts ---- */

static void schemes_are(const Side *side, const uint16_t *expected, size_t num) {
  uint16_t schemes[32] = {0};
  size_t len = 0;
  EXPECT_STATUS(sst_stream_accepted_schemes(side->stream, schemes, 32, &len), SST_OK);
  EXPECT_BYTES(schemes, 2 * len, expected, 2 * num);
  if (num == 0) return;
  EXPECT_STATUS(sst_stream_accepted_schemes(side->stream, schemes, num - 1, &len), SST_NEED_OUTPUT);
  EXPECT_EQ(len, num);
  EXPECT_STATUS(sst_stream_accepted_schemes(side->stream, NULL, 0, &len), SST_NEED_OUTPUT);
}

static void ca_is(const Side *side, size_t index, const void *name, size_t name_len) {
  uint8_t der[1024];
  size_t len = 1;
  EXPECT_STATUS(sst_stream_accepted_ca(side->stream, index, der, sizeof der, &len), SST_OK);
  EXPECT_BYTES(der, len, name, name_len);
}

/* What one side was given as a setting is what the other must show. */
TEST_VERSIONS(question_certificate, facts_are_what_the_peer_sent) {
  /* Name ::= { { { commonName "one" } } } (RFC 5280, 4.1.2.4) */
  static const uint8_t one[] = {0x30, 14, 0x31, 12, 0x30, 10, 6, 3, 0x55, 4, 3, 0x0c, 3, 'o', 'n', 'e'};
  static const uint8_t two[] = {0x30, 14, 0x31, 12, 0x30, 10, 6, 3, 0x55, 4, 3, 0x0c, 3, 't', 'w', 'o'};
  static const uint16_t of_client[] = {0x0403, 0x0804, 0x0401}, of_server[] = {0x0503, 0x0403};
  sst_config *config =
      pair_config(&(SideOptions){MUTUAL, .suspend = CERTIFICATE, .schemes = {0x0503, 0x0403}}, SST_ROLE_SERVER);
  EXPECT_STATUS(sst_config_add_client_ca(config, one, sizeof one), SST_OK);
  EXPECT_STATUS(sst_config_add_client_ca(config, two, sizeof two), SST_OK);
  Pair pair = pair_new(.client = {.max_version = version, .suspend = CERTIFICATE, .schemes = {0x0403, 0x0804, 0x0401}},
                       .server = {.config = config});
  Answers answers = {.server = {.credential = data_credential("server-p256")},
                     .client = {.credential = data_credential("client-p256")}};
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CERTIFICATE);
  schemes_are(&pair.server, of_client, 3);
  schemes_are(&pair.client, NULL, 0);
  ca_is(&pair.server, 0, NULL, 0);
  EXPECT_STRING(side_text(&pair.server, sst_stream_server_name), "server.test");
  answer(&pair.server, &answers.server);
  schemes_are(&pair.server, NULL, 0);
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CERTIFICATE);
  schemes_are(&pair.client, of_server, 2);
  EXPECT_STRING(side_text(&pair.client, sst_stream_server_name), "server.test");
  ca_is(&pair.client, 0, one, sizeof one);
  ca_is(&pair.client, 1, two, sizeof two);
  ca_is(&pair.client, 2, NULL, 0);
  ca_is(&pair.client, SIZE_MAX, NULL, 0);
  size_t len = 0;
  EXPECT_STATUS(sst_stream_accepted_ca(pair.client.stream, 1, NULL, 0, &len), SST_NEED_OUTPUT);
  EXPECT_EQ(len, sizeof two);
  EXPECT_STATUS(answer_handshake(&pair, &answers), SST_OK);
  ca_is(&pair.client, 0, NULL, 0);
  schemes_are(&pair.client, NULL, 0);
  pair_free(&pair);
  sst_config_free(config);
  sst_credential_free(answers.server.credential);
  sst_credential_free(answers.client.credential);
}

TEST(question_certificate, bad_arguments_are_refused) {
  Pair pair = pair_new(.server = {.suspend = CERTIFICATE});
  uint16_t schemes[4];
  uint8_t der[4];
  size_t len = 5;
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CERTIFICATE);
  EXPECT_STATUS(sst_stream_accepted_schemes(NULL, schemes, 4, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(len, 0);
  EXPECT_STATUS(sst_stream_accepted_schemes(pair.server.stream, NULL, 4, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_accepted_ca(pair.server.stream, 0, der, 4, NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_accepted_ca(pair.server.stream, 0, NULL, 4, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_credential(NULL, NULL), SST_ERR_INVALID_ARGUMENT);
  pair_free(&pair);
}

/* ---- a credential whose caller signs, as an answer ---- */

TEST_VERSIONS(question_certificate, answer_may_be_one_whose_caller_signs) {
  Answers answers = {.server = {.credential = answer_credential("server-rsa2048", 0), .key = "server-rsa2048"},
                     .client = {.credential = answer_credential("client-p256", 0x0403), .key = "client-p256"}};
  Pair pair = pair_new(.client = {.max_version = version, .suspend = CERTIFICATE},
                       .server = {.suspend = CERTIFICATE, MUTUAL, .credential = ""});
  EXPECT_STATUS(answer_handshake(&pair, &answers), SST_OK);
  EXPECT_EQ(answers.server.asked, CERTIFICATE | ASK(SST_WANT_PRIVATE_KEY_OPERATION));
  EXPECT_EQ(answers.client.asked, CERTIFICATE | ASK(SST_WANT_PRIVATE_KEY_OPERATION));
  EXPECT_EQ(info_of(&pair.server).local_scheme, 0x0804);
  pair_echo(&pair, 100);
  pair_free(&pair);
  sst_credential_free(answers.server.credential);
  sst_credential_free(answers.client.credential);
}

/* ---- one for many ---- */

TEST_VERSIONS(question_certificate, one_credential_serves_many_streams_at_once) {
  enum { STREAMS = 100 };
  static Pair pairs[STREAMS];
  sst_credential *credential = data_credential("server-p256");
  sst_config *client = pair_config(&(SideOptions){.max_version = version}, SST_ROLE_CLIENT);
  sst_config *server = pair_config(&(SideOptions){.credential = "", .suspend = CERTIFICATE}, SST_ROLE_SERVER);
  for (int i = 0; i < STREAMS; i++) {
    pairs[i] = pair_new(.client = {.config = client}, .server = {.config = server});
    EXPECT_STATUS(pair_handshake(&pairs[i]), SST_WANT_CERTIFICATE);
  }
  for (int i = 0; i < STREAMS; i++)
    EXPECT_STATUS(sst_stream_set_credential(pairs[i].server.stream, credential), SST_OK);
  sst_credential_free(credential);
  for (int i = 0; i < STREAMS; i += 2)
    pair_free(&pairs[i]);
  for (int i = 1; i < STREAMS; i += 2) {
    EXPECT_STATUS(pair_handshake(&pairs[i]), SST_OK);
    pair_echo(&pairs[i], 10);
    if (i == STREAMS - 1) pairs[i].objects++; /* the credential goes with the last of them */
    pair_free(&pairs[i]);
  }
  sst_config_free(client);
  sst_config_free(server);
}
