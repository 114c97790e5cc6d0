/*
 * What is in the header and not built yet says so, and does nothing else.
 */
#include "pair.h"

static void is_none(sst_status status, size_t *len) {
  EXPECT_STATUS(status, SST_OK);
  EXPECT_EQ(*len, 0);
  *len = 7;
}

TEST(unsupported, getters_that_are_not_built_give_none_or_unsupported) {
  Pair pair = pair_open();
  const sst_stream *stream = pair.client.stream;
  uint8_t out[64];
  uint16_t list[8];
  size_t len = 7;
  is_none(sst_stream_client_hello(stream, out, sizeof out, &len), &len);
  is_none(sst_stream_client_hello_list(stream, SST_HELLO_SUITES, list, 8, &len), &len);
  is_none(sst_stream_client_hello_alpn(stream, 0, out, sizeof out, &len), &len);
  is_none(sst_stream_client_hello_extension(stream, 0, out, sizeof out, &len), &len);
  is_none(sst_stream_accepted_schemes(stream, list, 8, &len), &len);
  is_none(sst_stream_accepted_ca(stream, 0, out, sizeof out, &len), &len);
  is_none(sst_stream_ticket(stream, out, sizeof out, &len), &len);
  is_none(sst_stream_session_id(stream, out, sizeof out, &len), &len);
  EXPECT(sst_stream_delegated_credential(pair.client.stream) == NULL);
  sst_negotiate_info info = {.size = sizeof info};
  EXPECT_STATUS(sst_stream_get_negotiate_info(stream, &info), SST_ERR_UNSUPPORTED);
  EXPECT_STATUS(sst_stream_remote_name(stream, out, sizeof out, &len), SST_ERR_UNSUPPORTED);
  EXPECT_STATUS(sst_stream_local_name(stream, out, sizeof out, &len), SST_ERR_UNSUPPORTED);
  pair_free(&pair);
}

/* No question is asked in this version: every answer comes at the wrong time. */
TEST(unsupported, answers_without_a_question_are_err_state) {
  Pair pair = pair_open();
  sst_stream *stream = pair.server.stream;
  sst_error verdict = {.size = sizeof verdict};
  int32_t operation;
  uint16_t scheme;
  size_t len;
  EXPECT_STATUS(sst_stream_set_config(stream, pair.server.config), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_set_credential(stream, NULL), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_accept(stream), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_accept_default(stream), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_reject(stream, -1), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_set_signature(stream, (const uint8_t *)"s", 1), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_set_ticket_plaintext(stream, (const uint8_t *)"t", 1), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_ignore_ticket(stream), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_answer_session(stream, NULL), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_continue_without_early_data(stream), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_verdict(stream, &verdict), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_private_key_operation(stream, &operation, &scheme, NULL, 0, &len), SST_ERR_STATE);
  pair_echo(&pair, 10);
  pair_free(&pair);
}

TEST(unsupported, setters_that_are_not_built_are_unsupported) {
  Pair pair = pair_new();
  EXPECT_STATUS(sst_stream_set_ech_config(pair.client.stream, (const uint8_t *)"e", 1), SST_ERR_UNSUPPORTED);
  EXPECT_STATUS(sst_stream_set_target_name(pair.client.stream, "HTTP/a.test", 11), SST_ERR_UNSUPPORTED);
  EXPECT_STATUS(sst_stream_set_channel_binding(pair.client.stream, (const uint8_t *)"b", 1), SST_ERR_UNSUPPORTED);
  pair_free(&pair);
}

static void negotiate_configs_are_objects(void) {
  sst_negotiate_config *config = sst_negotiate_config_new();
  REQUIRE(config != NULL);
  sst_stream *stream = (sst_stream *)(void *)config;
  sst_error error = {.size = sizeof error};
  EXPECT_STATUS(sst_negotiate_config_freeze(config, SST_ROLE_CLIENT), SST_ERR_UNSUPPORTED);
  EXPECT_STATUS(sst_negotiate_config_set_level(config, SST_LEVEL_SIGN, SST_LEVEL_SIGN), SST_ERR_UNSUPPORTED);
  EXPECT_STATUS(sst_negotiate_config_set_impersonation(config, SST_IMPERSONATION_DELEGATION), SST_ERR_UNSUPPORTED);
  EXPECT_STATUS(sst_negotiate_config_set_mutual(config, 1), SST_ERR_UNSUPPORTED);
  EXPECT_STATUS(sst_negotiate_config_set_password(config, "u", 1, "p", 1), SST_ERR_UNSUPPORTED);
  EXPECT_STATUS(sst_negotiate_config_set_keytab(config, "k", 1), SST_ERR_UNSUPPORTED);
  EXPECT_STATUS(sst_negotiate_config_set_ccache(config, "c", 1), SST_ERR_UNSUPPORTED);
  EXPECT_STATUS(sst_negotiate_config_set_mechanisms(config, SST_MECHANISM_KERBEROS), SST_ERR_UNSUPPORTED);
  EXPECT_STATUS(sst_negotiate_config_set_binding_policy(config, SST_BINDING_POLICY_ALWAYS), SST_ERR_UNSUPPORTED);
  EXPECT_STATUS(sst_negotiate_config_last_error(config, &error), SST_OK);
  EXPECT_STATUS(sst_stream_new_negotiate(config, SST_ROLE_CLIENT, &stream), SST_ERR_UNSUPPORTED);
  EXPECT(stream == NULL);
  EXPECT(sst_negotiate_config_ref(config) == config);
  sst_negotiate_config_free(config);
  sst_negotiate_config_free(config);
  sst_negotiate_config_free(NULL);
  EXPECT(sst_negotiate_config_ref(NULL) == NULL);
}

/* Objects of later steps can be made, counted and freed. */
TEST(unsupported, objects_that_are_not_built_can_be_made_and_freed) {
  const uint64_t before = sst_live_objects();
  negotiate_configs_are_objects();
  EXPECT_EQ(sst_live_objects(), before);
  sst_negotiate_config *config = sst_negotiate_config_new();
  EXPECT_EQ(sst_live_objects(), before + 1);
  sst_negotiate_config_free(config);
}

TEST(unsupported, setters_of_a_config_that_are_not_built_change_nothing) {
  sst_config *config = sst_config_new();
  EXPECT_STATUS(sst_config_set_ech_keys(config, (const uint8_t *)"e", 1), SST_ERR_UNSUPPORTED);
  sst_config_free(config);
}
