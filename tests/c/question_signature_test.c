/*
 * WANT_PRIVATE_KEY_OPERATION: the key is elsewhere, and signs with every scheme, in both roles and versions; and what
 * becomes of signatures that are none.
 */
#include "answer.h"
#include "hello.h"
#include "openssl_signer.h"

#include <stdlib.h>
#include <string.h>

#define SIGNS ASK(SST_WANT_PRIVATE_KEY_OPERATION)

/* A pair whose server, or client, has a key elsewhere. */
static Pair signing_pair(uint16_t version, bool client_signs, const char *name, uint16_t scheme) {
  SideOptions client = {.max_version = version, .groups = {29, 23, 24, 25}}, server = {.groups = {29, 23, 24, 25}};
  const uint64_t before = sst_live_objects();
  SideOptions *signer = client_signs ? &client : &server;
  signer->credential = "";
  if (client_signs) server.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE;
  sst_config *config = pair_config(signer, client_signs ? SST_ROLE_CLIENT : SST_ROLE_SERVER);
  sst_credential *credential = answer_credential(name, scheme);
  REQUIRE_STATUS(sst_config_add_credential(config, credential), SST_OK);
  sst_credential_free(credential);
  signer->config = config;
  Pair pair = pair_make(&(PairOptions){.client = client, .server = server});
  sst_config_free(config);
  pair.objects = sst_live_objects() - before;
  return pair;
}

static void signs(uint16_t version, const char *kind, uint16_t scheme) {
  for (int client = 0; client < 2; client++) {
    char name[32] = "";
    test_note("%s with 0x%04x, client %d", kind, scheme, client);
    strcat(strcat(name, client ? "client-" : "server-"), kind);
    Pair pair = signing_pair(version, client, name, scheme);
    Answers answers = {.server = {.key = name}, .client = {.key = name}};
    EXPECT_STATUS(answer_handshake(&pair, &answers), SST_OK);
    EXPECT_EQ(client ? answers.client.asked : answers.server.asked, SIGNS);
    EXPECT_EQ(answers.client.questions + answers.server.questions, 1);
    EXPECT_EQ(info_of(client ? &pair.client : &pair.server).local_scheme, scheme);
    EXPECT_EQ(info_of(client ? &pair.server : &pair.client).peer_scheme, scheme);
    pair_echo(&pair, 1000);
    pair_free(&pair);
  }
}

TEST_VERSIONS(question_signature, ecdsa_signs) {
  signs(version, "p256", 0x0403);
  signs(version, "p384", 0x0503);
  signs(version, "p521", 0x0603);
}

TEST_VERSIONS(question_signature, rsa_pss_signs) {
  signs(version, "rsa2048", 0x0804);
  signs(version, "rsa2048", 0x0805);
  signs(version, "rsa4096", 0x0806);
}

TEST_VERSIONS(question_signature, ed25519_signs) {
  signs(version, "ed25519", 0x0807);
}

/* TLS 1.2 alone has PKCS#1, and leaves the curve open (RFC 5246, 7.4.1.4.1). */
TEST(question_signature, schemes_of_tls12_alone_sign) {
  signs(SST_TLS1_2, "rsa2048", 0x0401);
  signs(SST_TLS1_2, "rsa2048", 0x0501);
  signs(SST_TLS1_2, "rsa4096", 0x0601);
  signs(SST_TLS1_2, "p256", 0x0503);
  signs(SST_TLS1_2, "p384", 0x0403);
}

TEST(question_signature, schemes_of_tls12_alone_do_not_sign_in_tls13) {
  Pair pair = signing_pair(SST_TLS1_3, false, "server-rsa2048", 0x0401);
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_NO_COMMON_SCHEME);
  pair_free(&pair);
}

/* ---- what is to be signed ---- */

static size_t message_of(const Side *side, uint8_t *message, size_t cap, uint16_t *scheme) {
  int32_t operation = 9;
  size_t len = 0, again = 0;
  EXPECT_STATUS(sst_stream_private_key_operation(side->stream, &operation, scheme, message, cap, &len), SST_OK);
  EXPECT_EQ(operation, SST_OPERATION_SIGN);
  *scheme = 0;
  EXPECT_STATUS(sst_stream_private_key_operation(side->stream, &operation, scheme, NULL, 0, &again), SST_NEED_OUTPUT);
  EXPECT_EQ(again, len);
  EXPECT_EQ(*scheme, 0x0403);
  message[0] ^= 0xff;
  EXPECT_STATUS(sst_stream_private_key_operation(side->stream, &operation, scheme, message, len - 1, &again),
                SST_NEED_OUTPUT);
  message[0] ^= 0xff;
  return len;
}

/* 64 spaces, the context, a zero byte and the hash of the transcript (RFC 8446, 4.4.3). */
TEST(question_signature, message_is_the_one_of_tls13) {
  for (int client = 0; client < 2; client++) {
    Pair pair = signing_pair(SST_TLS1_3, client != 0, client ? "client-p256" : "server-p256", 0x0403);
    uint8_t message[200];
    uint16_t scheme = 0;
    EXPECT_STATUS(pair_handshake(&pair), SST_WANT_PRIVATE_KEY_OPERATION);
    const size_t len = message_of(client ? &pair.client : &pair.server, message, sizeof message, &scheme);
    const char *context = client ? "TLS 1.3, client CertificateVerify" : "TLS 1.3, server CertificateVerify";
    EXPECT_EQ(len, 64 + strlen(context) + 1 + 32);
    for (int i = 0; i < 64; i++)
      EXPECT_EQ(message[i], ' ');
    EXPECT_BYTES(message + 64, strlen(context) + 1, context, strlen(context) + 1);
    pair_free(&pair);
  }
}

/* Both randoms and the parameters (RFC 8422, 5.4). */
TEST(question_signature, message_is_the_one_of_a_tls12_server) {
  Pair pair = signing_pair(SST_TLS1_2, false, "server-p256", 0x0403);
  uint8_t message[200];
  uint16_t scheme = 0;
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_PRIVATE_KEY_OPERATION);
  const size_t len = message_of(&pair.server, message, sizeof message, &scheme);
  Hello hello = hello_read(pair.client.out->bytes, pair.client.out->len);
  EXPECT_EQ(len, 32 + 32 + 4 + 32);
  EXPECT_BYTES(message, 32, hello.random, 32);
  EXPECT_BYTES(message + 64, 4, "\x03\x00\x1d\x20", 4);
  hello_free(&hello);
  pair_free(&pair);
}

/* All messages so far (RFC 5246, 7.4.8): those on the wire, and two of ours that wait for the signature. */
TEST(question_signature, message_is_the_one_of_a_tls12_client) {
  Pair pair = signing_pair(SST_TLS1_2, true, "client-p256", 0x0403);
  static uint8_t message[16384];
  uint16_t scheme = 0;
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_PRIVATE_KEY_OPERATION);
  const size_t len = message_of(&pair.client, message, sizeof message, &scheme);
  const Data hello = reframe(pair.client.out->bytes, pair.client.out->len, 16384);
  const Data flight = reframe(pair.server.out->bytes, pair.server.out->len, 16384);
  const size_t hello_len = hello.len - RECORD_HEADER, flight_len = flight.len - RECORD_HEADER;
  EXPECT_AT_LEAST(len, hello_len + flight_len + 400);
  EXPECT_BYTES(message, hello_len, hello.bytes + RECORD_HEADER, hello_len);
  EXPECT_BYTES(message + hello_len, flight_len, flight.bytes + RECORD_HEADER, flight_len);
  EXPECT_EQ(message[hello_len + flight_len], 11); /* Certificate */
  free(hello.bytes);
  free(flight.bytes);
  pair_free(&pair);
}

TEST_VERSIONS(question_signature, operation_is_shown_while_the_question_is_open) {
  Pair pair = signing_pair(version, false, "server-p256", 0x0403);
  const sst_stream *stream = pair.server.stream;
  int32_t operation = 7;
  uint16_t scheme = 7;
  uint8_t out[200];
  size_t len = 7;
  EXPECT_STATUS(sst_stream_private_key_operation(stream, &operation, &scheme, out, 200, &len), SST_ERR_STATE);
  EXPECT_EQ(len, 0);
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_PRIVATE_KEY_OPERATION);
  EXPECT_STATUS(sst_stream_private_key_operation(NULL, &operation, &scheme, out, 200, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_private_key_operation(stream, NULL, &scheme, out, 200, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_private_key_operation(stream, &operation, NULL, out, 200, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_private_key_operation(stream, &operation, &scheme, NULL, 200, &len),
                SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_private_key_operation(stream, &operation, &scheme, out, 200, NULL),
                SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_signature(NULL, out, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_signature(pair.server.stream, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STRING(side_text(&pair.server, sst_stream_server_name), "server.test");
  (void)answer_signature(&pair.server, "server-p256");
  EXPECT_STATUS(sst_stream_private_key_operation(stream, &operation, &scheme, out, 200, &len), SST_ERR_STATE);
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  EXPECT_STATUS(sst_stream_private_key_operation(stream, &operation, &scheme, out, 200, &len), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_set_signature(pair.server.stream, out, 1), SST_ERR_STATE);
  pair_free(&pair);
}

/* A key that is loaded asks nothing, whatever the mask. */
TEST_VERSIONS(question_signature, loaded_key_signs_without_a_question) {
  Pair pair = pair_new(.client = {.max_version = version, .suspend = SIGNS, .credential = "client-p256"},
                       .server = {.suspend = SIGNS, .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE});
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  pair_free(&pair);
}

/* ---- signatures that are none ---- */

typedef struct Wrong {
  size_t len;
  sst_status status; /* of the signer */
  int32_t alert;     /* to the peer, or (51) from it */
} Wrong;

static void fails_with(uint16_t version, bool client, const char *name, uint16_t scheme, const Wrong *wrong,
                       const uint8_t *signature) {
  test_note("%s, %zu bytes", name, wrong->len);
  Pair pair = signing_pair(version, client, name, scheme);
  Side *signer = client ? &pair.client : &pair.server, *peer = client ? &pair.server : &pair.client;
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_PRIVATE_KEY_OPERATION);
  EXPECT_STATUS(sst_stream_set_signature(signer->stream, signature, wrong->len), SST_OK);
  (void)pair_handshake(&pair);
  if (signer->status == SST_OK) (void)side_receive(signer); /* a TLS 1.3 client hears of it later */
  EXPECT_STATUS(signer->status, wrong->status);
  EXPECT_STATUS(error_of(signer).code, wrong->status);
  if (wrong->status == SST_ERR_PRIVATE_KEY_OPERATION) {
    EXPECT_EQ(error_of(signer).alert_sent, wrong->alert);
    EXPECT_EQ(error_of(peer).alert_received, wrong->alert);
    EXPECT_CONTAINS(error_of(signer).message, "signature has");
  } else {
    EXPECT_STATUS(error_of(peer).code, SST_ERR_PROTOCOL);
    EXPECT_EQ(error_of(peer).alert_sent, wrong->alert);
  }
  pair_free(&pair);
}

TEST_VERSIONS(question_signature, wrong_one_is_noticed_by_the_peer) {
  static uint8_t signature[600];
  const Wrong fails = {256, SST_ERR_ALERT_RECEIVED - 51, 51};
  const Wrong short_one = {1, SST_ERR_ALERT_RECEIVED - 51, 51};
  for (int client = 0; client < 2; client++) {
    memset(signature, 0, sizeof signature);
    fails_with(version, client, client ? "client-rsa2048" : "server-rsa2048", 0x0804, &fails, signature);
    /* A good signature by the right key, of another message. */
    const size_t len = openssl_sign(client ? "client-p256" : "server-p256", 0x0403, signature, 100, signature, 600);
    fails_with(version, client, client ? "client-p256" : "server-p256", 0x0403,
               &(Wrong){len, SST_ERR_ALERT_RECEIVED - 51, 51}, signature);
    fails_with(version, client, client ? "client-p256" : "server-p256", 0x0403, &short_one, signature);
  }
}

TEST_VERSIONS(question_signature, empty_or_too_long_one_fails_the_handshake) {
  static const uint8_t bytes[1024];
  const sst_status code = SST_ERR_PRIVATE_KEY_OPERATION;
  for (int client = 0; client < 2; client++) {
    const char *rsa = client ? "client-rsa2048" : "server-rsa2048", *ecdsa = client ? "client-p256" : "server-p256";
    fails_with(version, client, rsa, 0x0804, &(Wrong){0, code, 80}, bytes);
    fails_with(version, client, rsa, 0x0804, &(Wrong){0, code, 80}, NULL);
    fails_with(version, client, rsa, 0x0804, &(Wrong){257, code, 80}, bytes);
    fails_with(version, client, ecdsa, 0x0403, &(Wrong){73, code, 80}, bytes);
    fails_with(version, client, ecdsa, 0x0403, &(Wrong){1024, code, 80}, bytes);
  }
}

TEST_VERSIONS(question_signature, rejected_question_sends_internal_error) {
  for (int client = 0; client < 2; client++) {
    Pair pair = signing_pair(version, client != 0, client ? "client-p256" : "server-p256", 0x0403);
    Side *signer = client ? &pair.client : &pair.server, *peer = client ? &pair.server : &pair.client;
    EXPECT_STATUS(pair_handshake(&pair), SST_WANT_PRIVATE_KEY_OPERATION);
    EXPECT_STATUS(sst_stream_reject(signer->stream, -1), SST_OK);
    EXPECT_STATUS(pair_handshake(&pair), SST_ERR_REJECTED);
    EXPECT_EQ(error_of(peer).alert_received, 80);
    EXPECT_EQ(error_of(signer).reasons, 0);
    pair_free(&pair);
  }
}
