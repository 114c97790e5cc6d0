/*
 * Credentials whose caller signs: how they are made, what they refuse, and which of several is used.
 */
#include "answer.h"

#include <stdlib.h>
#include <string.h>

static sst_status load(sst_credential *credential, const char *name, const char *extension) {
  const Data data = data_read(name, extension);
  const sst_status status = sst_credential_load_pem(credential, data.bytes, data.len, NULL, 0);
  free(data.bytes);
  return status;
}

static sst_status caller_signs(sst_credential *credential, uint16_t scheme) {
  return sst_credential_set_caller_signs(credential, &scheme, 1);
}

static sst_error error_on(const sst_credential *credential) {
  sst_error error = {.size = sizeof error};
  EXPECT_STATUS(sst_credential_last_error(credential, &error), SST_OK);
  return error;
}

static void serves(uint16_t version, sst_credential *credential, const char *key, uint16_t scheme) {
  sst_config *config = pair_config(&(SideOptions){.credential = ""}, SST_ROLE_SERVER);
  REQUIRE_STATUS(sst_config_add_credential(config, credential), SST_OK);
  Pair pair = pair_new(.client = {.max_version = version}, .server = {.config = config});
  Answers answers = {.server = {.key = key}};
  EXPECT_STATUS(answer_handshake(&pair, &answers), SST_OK);
  EXPECT_EQ(answers.server.questions, 1);
  EXPECT_EQ(info_of(&pair.server).local_scheme, scheme);
  pair_free(&pair);
  sst_config_free(config);
}

TEST_VERSIONS(question_signer, chain_may_come_before_or_after_the_schemes) {
  sst_credential *before = sst_credential_new(), *after = sst_credential_new();
  EXPECT_STATUS(load(before, "server-p256", "pem"), SST_OK);
  EXPECT_STATUS(caller_signs(before, 0x0403), SST_OK);
  EXPECT_STATUS(caller_signs(after, 0x0403), SST_OK);
  EXPECT_STATUS(load(after, "server-p256", "pem"), SST_OK);
  serves(version, before, "server-p256", 0x0403);
  serves(version, after, "server-p256", 0x0403);
  sst_credential_free(before);
  sst_credential_free(after);
}

/* The order of the chain is found without a key as well. */
TEST_VERSIONS(question_signer, chain_may_come_in_any_order) {
  sst_credential *credential = sst_credential_new();
  EXPECT_STATUS(caller_signs(credential, 0x0403), SST_OK);
  EXPECT_STATUS(load(credential, "server-chain-shuffled", "pem"), SST_OK);
  serves(version, credential, "server-chain", 0x0403);
  sst_credential_free(credential);
}

/* The last word counts, for schemes and for the chain. */
TEST_VERSIONS(question_signer, second_load_and_second_list_replace_the_first) {
  sst_credential *credential = sst_credential_new();
  const uint16_t schemes[] = {0x0806, 0x0804};
  EXPECT_STATUS(caller_signs(credential, 0x0804), SST_OK);
  EXPECT_STATUS(load(credential, "server-rsa4096", "pem"), SST_OK);
  EXPECT_STATUS(load(credential, "server-rsa2048", "pem"), SST_OK);
  EXPECT_STATUS(sst_credential_set_caller_signs(credential, schemes, 2), SST_OK);
  serves(version, credential, "server-rsa2048", 0x0806); /* best first is the caller's order */
  EXPECT_STATUS(caller_signs(credential, 0x0804), SST_ERR_FROZEN);
  EXPECT_STATUS(load(credential, "server-rsa4096", "pem"), SST_ERR_FROZEN);
  sst_credential_free(credential);
}

TEST(question_signer, bad_lists_of_schemes_are_refused) {
  const uint16_t none[1] = {0}, unknown[] = {0x0403, 0x0203}, twice[] = {0x0403, 0x0503, 0x0403};
  const uint16_t all_twice[40] = {0x0403};
  sst_credential *credential = sst_credential_new();
  EXPECT_STATUS(sst_credential_set_caller_signs(credential, none, 0), SST_ERR_BAD_SCHEME);
  EXPECT_STATUS(sst_credential_set_caller_signs(credential, NULL, 0), SST_ERR_BAD_SCHEME);
  EXPECT_STATUS(sst_credential_set_caller_signs(credential, unknown, 2), SST_ERR_BAD_SCHEME);
  EXPECT_STATUS(sst_credential_set_caller_signs(credential, twice, 3), SST_ERR_BAD_SCHEME);
  EXPECT_STATUS(error_on(credential).code, SST_ERR_BAD_SCHEME);
  EXPECT_STATUS(sst_credential_set_caller_signs(credential, all_twice, 40), SST_ERR_BAD_SCHEME);
  EXPECT_STATUS(sst_credential_set_caller_signs(credential, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_set_caller_signs(credential, none, SIZE_MAX), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_set_caller_signs(NULL, unknown, 1), SST_ERR_INVALID_ARGUMENT);
  /* Nothing of them stayed: a key can be loaded. */
  EXPECT_STATUS(load(credential, "server-p256", "pem"), SST_OK);
  EXPECT_STATUS(load(credential, "server-p256", "key"), SST_OK);
  EXPECT_STATUS(caller_signs(credential, 0x0403), SST_ERR_STATE);
  sst_credential_free(credential);
}

TEST(question_signer, key_and_caller_exclude_each_other) {
  sst_credential *credential = sst_credential_new(), *key = sst_credential_new();
  const Data p12 = data_read("p12-aes256-pw", "p12");
  EXPECT_STATUS(load(key, "server-p256", "key"), SST_OK);
  EXPECT_STATUS(caller_signs(key, 0x0403), SST_ERR_STATE);
  EXPECT_STATUS(caller_signs(credential, 0x0403), SST_OK);
  EXPECT_STATUS(load(credential, "server-p256", "key"), SST_ERR_KEY_MISMATCH);
  EXPECT_CONTAINS(error_on(credential).message, "caller signs");
  EXPECT_STATUS(load(credential, "server-chain-all", "pem"), SST_ERR_KEY_MISMATCH); /* there is a key among them */
  EXPECT_STATUS(sst_credential_load_pkcs12(credential, p12.bytes, p12.len, "pw", 2), SST_ERR_KEY_MISMATCH);
  EXPECT_STATUS(load(credential, "server-p256", "pem"), SST_OK);
  EXPECT_STATUS(load(credential, "server-p256", "key"), SST_ERR_KEY_MISMATCH);
  serves(SST_TLS1_3, credential, "server-p256", 0x0403);
  free(p12.bytes);
  sst_credential_free(credential);
  sst_credential_free(key);
}

/* What a failed call would have changed is as it was. */
TEST_VERSIONS(question_signer, chain_that_makes_no_such_signatures_is_refused) {
  sst_credential *chain_first = sst_credential_new(), *schemes_first = sst_credential_new();
  EXPECT_STATUS(load(chain_first, "server-p256", "pem"), SST_OK);
  EXPECT_STATUS(caller_signs(chain_first, 0x0804), SST_ERR_KEY_MISMATCH);
  EXPECT_STATUS(caller_signs(chain_first, 0x0403), SST_OK);
  EXPECT_STATUS(caller_signs(chain_first, 0x0807), SST_ERR_KEY_MISMATCH);
  EXPECT_STATUS(caller_signs(schemes_first, 0x0403), SST_OK);
  EXPECT_STATUS(load(schemes_first, "server-rsa2048", "pem"), SST_ERR_KEY_MISMATCH);
  EXPECT_STATUS(load(schemes_first, "server-p256", "pem"), SST_OK);
  EXPECT_STATUS(load(schemes_first, "server-ed25519", "pem"), SST_ERR_KEY_MISMATCH);
  sst_credential *with_key = sst_credential_new();
  const uint16_t of_rsa[] = {0x0804, 0x0805};
  EXPECT_STATUS(load(with_key, "server-p256", "pem"), SST_OK);
  EXPECT_STATUS(sst_credential_set_caller_signs(with_key, of_rsa, 2), SST_ERR_KEY_MISMATCH);
  EXPECT_STATUS(load(with_key, "server-p256", "key"), SST_OK); /* nobody has said that the caller signs */
  sst_credential_free(with_key);
  serves(version, chain_first, "server-p256", 0x0403);
  serves(version, schemes_first, "server-p256", 0x0403);
  sst_credential_free(chain_first);
  sst_credential_free(schemes_first);
}

TEST(question_signer, least_size_of_rsa_keys_holds) {
  sst_credential *credential = answer_credential("server-rsa1024", 0x0804);
  sst_config *config = pair_config(&(SideOptions){.credential = ""}, SST_ROLE_SERVER);
  EXPECT_STATUS(sst_config_add_credential(config, credential), SST_OK);
  EXPECT_STATUS(sst_config_freeze(config, SST_ROLE_SERVER), SST_ERR_UNSUPPORTED_KEY);
  EXPECT_STATUS(sst_config_set_minimum_key(config, 1024), SST_OK);
  EXPECT_STATUS(sst_config_freeze(config, SST_ROLE_SERVER), SST_OK);
  sst_config_free(config);
  sst_credential_free(credential);
}

/* ---- one of several ---- */

static uint32_t asked_of(uint16_t version, uint16_t scheme) {
  sst_credential *credential = answer_credential("server-p256", 0);
  sst_config *config = pair_config(&(SideOptions){.credential = ""}, SST_ROLE_SERVER);
  REQUIRE_STATUS(sst_config_add_credential(config, credential), SST_OK);
  sst_credential *loaded = data_credential("server-rsa2048");
  REQUIRE_STATUS(sst_config_add_credential(config, loaded), SST_OK);
  Pair pair = pair_new(.client = {.max_version = version, .schemes = {scheme}}, .server = {.config = config});
  Answers answers = {.server = {.key = "server-p256"}};
  EXPECT_STATUS(answer_handshake(&pair, &answers), SST_OK);
  EXPECT_EQ(info_of(&pair.client).peer_scheme, scheme);
  pair_free(&pair);
  sst_config_free(config);
  sst_credential_free(credential);
  sst_credential_free(loaded);
  return answers.server.asked;
}

TEST_VERSIONS(question_signer, one_of_several_asks_if_it_is_the_one_that_is_used) {
  EXPECT_EQ(asked_of(version, 0x0403), ASK(SST_WANT_PRIVATE_KEY_OPERATION));
  EXPECT_EQ(asked_of(version, 0x0804), 0);
}

/* A client with schemes that the server does not take sends nothing, and is not asked. */
TEST_VERSIONS(question_signer, client_of_no_common_scheme_sends_none) {
  sst_credential *credential = answer_credential("client-rsa2048", 0x0805);
  sst_config *config = pair_config(&(SideOptions){.max_version = version}, SST_ROLE_CLIENT);
  REQUIRE_STATUS(sst_config_add_credential(config, credential), SST_OK);
  for (int i = 0; i < 2; i++) {
    Pair pair = pair_new(.client = {.config = config}, .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUEST,
                                                                  .schemes = {0x0403, i == 0 ? 0x0804 : 0x0805}});
    Answers answers = {.client = {.key = "client-rsa2048"}};
    EXPECT_STATUS(answer_handshake(&pair, &answers), SST_OK);
    EXPECT_EQ(answers.client.questions, i);
    EXPECT_EQ(sst_stream_num_peer_certificates(pair.server.stream), i == 0 ? 0 : 2 - 1);
    pair_free(&pair);
  }
  sst_config_free(config);
  sst_credential_free(credential);
}
