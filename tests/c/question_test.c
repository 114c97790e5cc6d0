/*
 * Each question once, asked and answered; and what holds of all of them: nothing is taken or lost while a stream is
 * suspended, an answer counts once, and an answer that comes too late changes nothing.
 */
#include "answer.h"

static const uint32_t everything =
    ASK(SST_WANT_CERTIFICATE) | ASK(SST_WANT_CERTIFICATE_VERIFY) | ASK(SST_WANT_PRIVATE_KEY_OPERATION);

TEST_VERSIONS(question, server_without_a_config_takes_the_one_that_it_is_given) {
  sst_config *config = pair_config(&(SideOptions){.max_version = version, .alpn = {"h2"}}, SST_ROLE_SERVER);
  Pair pair = pair_new(.client = {.alpn = {"x", "h2"}}, .server = {.no_config = true});
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CLIENT_HELLO);
  EXPECT_EQ(sst_stream_state(pair.server.stream), SST_STATE_HANDSHAKE | SST_STATE_SUSPENDED);
  EXPECT_STRING(side_text(&pair.server, sst_stream_server_name), "server.test");
  EXPECT_STATUS(sst_stream_set_config(pair.server.stream, config), SST_OK);
  EXPECT_EQ(sst_stream_state(pair.server.stream), SST_STATE_HANDSHAKE);
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  EXPECT_EQ(info_of(&pair.server).version, version);
  EXPECT_STRING(side_text(&pair.server, sst_stream_alpn), "h2");
  pair_echo(&pair, 20000);
  pair_free(&pair);
  sst_config_free(config);
}

TEST_VERSIONS(question, certificate_is_the_callers_choice_on_both_sides) {
  sst_credential *server = data_credential("server-p256"), *client = data_credential("client-p256");
  Pair pair = pair_new(.client = {.max_version = version, .suspend = ASK(SST_WANT_CERTIFICATE)},
                       .server = {.credential = "",
                                  .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE,
                                  .suspend = ASK(SST_WANT_CERTIFICATE)});
  uint16_t schemes[32];
  size_t num = 0;
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CERTIFICATE);
  EXPECT_STATUS(sst_stream_accepted_schemes(pair.server.stream, schemes, 32, &num), SST_OK);
  EXPECT_EQ(schemes[0], 0x0403);
  EXPECT_STATUS(sst_stream_set_credential(pair.server.stream, server), SST_OK);
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CERTIFICATE);
  EXPECT_STATUS(pair.client.status, SST_WANT_CERTIFICATE);
  EXPECT_STATUS(sst_stream_set_credential(pair.client.stream, client), SST_OK);
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  EXPECT_EQ(sst_stream_num_peer_certificates(pair.server.stream), 1);
  uint8_t der[4096];
  EXPECT_STATUS(sst_stream_local_certificate(pair.client.stream, 0, der, sizeof der, &num), SST_OK);
  EXPECT_AT_LEAST(num, 200);
  pair_echo(&pair, 100);
  pair_free(&pair);
  sst_credential_free(server);
  sst_credential_free(client);
}

TEST_VERSIONS(question, verdict_is_offered_with_all_its_reasons_and_the_chain) {
  Pair pair = pair_new(.client = {.max_version = version,
                                  .trust = "",
                                  .server_name = "other.test",
                                  .suspend = ASK(SST_WANT_CERTIFICATE_VERIFY)});
  sst_error verdict = {.size = sizeof verdict};
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CERTIFICATE_VERIFY);
  EXPECT_STATUS(sst_stream_verdict(pair.client.stream, &verdict), SST_OK);
  EXPECT_STATUS(verdict.code, SST_ERR_CERT_ISSUER_NOT_FOUND);
  EXPECT_EQ(verdict.reasons, 1 | UINT64_C(1) << 30);
  EXPECT_EQ(sst_stream_num_peer_certificates(pair.client.stream), 2);
  EXPECT_STATUS(sst_stream_accept(pair.client.stream), SST_OK);
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  EXPECT_EQ(info_of(&pair.client).flags & SST_INFO_VERIFIED, 0);
  pair_echo(&pair, 100);
  pair_free(&pair);
}

TEST_VERSIONS(question, default_answer_refuses_as_without_a_question) {
  Pair pair =
      pair_new(.client = {
                   .max_version = version, .server_name = "other.test", .suspend = ASK(SST_WANT_CERTIFICATE_VERIFY)});
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CERTIFICATE_VERIFY);
  EXPECT_STATUS(sst_stream_accept_default(pair.client.stream), SST_OK);
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_CERT_NAME_MISMATCH);
  EXPECT_EQ(error_of(&pair.server).alert_received, 42);
  pair_free(&pair);
}

static void signs_elsewhere(uint16_t version, const char *server, const char *client, uint16_t scheme) {
  sst_credential *server_credential = answer_credential(server, scheme),
                 *client_credential = answer_credential(client, scheme);
  sst_config *config = pair_config(
      &(SideOptions){.credential = "", .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE, .max_version = version},
      SST_ROLE_SERVER);
  sst_config *client_config = pair_config(&(SideOptions){.credential = ""}, SST_ROLE_CLIENT);
  REQUIRE_STATUS(sst_config_add_credential(config, server_credential), SST_OK);
  REQUIRE_STATUS(sst_config_add_credential(client_config, client_credential), SST_OK);
  Pair pair = pair_new(.server = {.config = config}, .client = {.config = client_config});
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_PRIVATE_KEY_OPERATION);
  EXPECT_EQ(answer_signature(&pair.server, server), scheme);
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_PRIVATE_KEY_OPERATION);
  EXPECT_EQ(answer_signature(&pair.client, client), scheme);
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  EXPECT_EQ(info_of(&pair.server).local_scheme, scheme);
  pair_echo(&pair, 100);
  pair_free(&pair);
  sst_config_free(config);
  sst_config_free(client_config);
  sst_credential_free(server_credential);
  sst_credential_free(client_credential);
}

TEST_VERSIONS(question, caller_signs_with_every_kind_of_key) {
  signs_elsewhere(version, "server-p256", "client-p256", 0x0403);
  signs_elsewhere(version, "server-rsa2048", "client-rsa2048", 0x0804);
  if (version == SST_TLS1_2) signs_elsewhere(version, "server-rsa2048", "client-rsa2048", 0x0401);
}

TEST_VERSIONS(question, reject_sends_the_alert_and_fails_the_stream) {
  Pair pair = pair_new(.client = {.max_version = version}, .server = {.no_config = true});
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CLIENT_HELLO);
  EXPECT_STATUS(sst_stream_reject(pair.server.stream, -1), SST_OK);
  EXPECT_STATUS(sst_stream_reject(pair.server.stream, -1), SST_ERR_STATE);
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_REJECTED);
  EXPECT_EQ(error_of(&pair.client).alert_received, 112);
  EXPECT_EQ(error_of(&pair.server).alert_sent, 112);
  pair_free(&pair);
}

TEST_VERSIONS(question, suspended_stream_takes_nothing_and_answers_count_once) {
  Pair pair = pair_new(.client = {.max_version = version, .suspend = everything}, .server = {.suspend = everything});
  sst_stream *stream = pair.server.stream;
  sst_progress progress;
  uint8_t out[64];
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CERTIFICATE);
  EXPECT_STATUS(sst_stream_handshake(stream, (const uint8_t *)"x", 1, out, sizeof out, &progress),
                SST_WANT_CERTIFICATE);
  EXPECT_EQ(progress.consumed, 0);
  EXPECT_STATUS(sst_stream_encrypt(stream, out, 1, out + 8, 32, &progress), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_accept(stream), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_set_config(stream, pair.server.config), SST_ERR_STATE);
  sst_credential *credential = data_credential("server-p256");
  EXPECT_STATUS(sst_stream_set_credential(stream, credential), SST_OK);
  EXPECT_STATUS(sst_stream_set_credential(stream, credential), SST_ERR_STATE);
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CERTIFICATE_VERIFY);
  EXPECT_STATUS(sst_stream_accept_default(pair.client.stream), SST_OK);
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  EXPECT_STATUS(sst_stream_accept(pair.client.stream), SST_ERR_STATE);
  EXPECT_EQ(info_of(&pair.client).flags & SST_INFO_VERIFIED, SST_INFO_VERIFIED);
  pair_echo(&pair, 100);
  pair_free(&pair);
  sst_credential_free(credential);
}
