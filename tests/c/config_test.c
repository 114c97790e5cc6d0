/*
 * Settings of a config: what each setter takes and refuses, and that a refusal changes nothing and says why.
 */
#include "hello.h"
#include "pair.h"

#include <stdlib.h>
#include <string.h>

static sst_config *new_config(void) {
  sst_config *config = sst_config_new();
  REQUIRE(config != NULL);
  return config;
}

static sst_error record_of(const sst_config *config) {
  sst_error error = {.size = sizeof error};
  EXPECT_STATUS(sst_config_last_error(config, &error), SST_OK);
  return error;
}

/* A setter of one number. */
typedef sst_status (*SetNumber)(sst_config *config, int64_t value);

static sst_status set_profile(sst_config *config, int64_t value) {
  return sst_config_set_profile(config, (int32_t)value);
}
static sst_status set_lenient(sst_config *config, int64_t value) {
  return sst_config_set_alpn_lenient(config, (int32_t)value);
}
static sst_status set_verify(sst_config *config, int64_t value) {
  return sst_config_set_verify(config, (int32_t)value);
}
static sst_status set_client_certificate(sst_config *config, int64_t value) {
  return sst_config_set_client_certificate(config, (int32_t)value);
}
static sst_status set_digests(sst_config *config, int64_t value) {
  return sst_config_set_chain_digests(config, (int32_t)value);
}
static sst_status set_minimum_key(sst_config *config, int64_t value) {
  return sst_config_set_minimum_key(config, (uint32_t)value);
}
static sst_status set_fragment(sst_config *config, int64_t value) {
  return sst_config_set_max_fragment(config, (uint32_t)value);
}

static const struct {
  const char *name;
  SetNumber set;
  int64_t good[3], bad[4];
} numbers[] = {{"profile", set_profile, {0, 1, 0}, {-1, 2, INT32_MAX, INT32_MIN}},
               {"alpn_lenient", set_lenient, {0, 1, 0}, {-1, 2, INT32_MAX, INT32_MIN}},
               {"verify", set_verify, {0, 1, 2}, {-1, 3, INT32_MAX, INT32_MIN}},
               {"client_certificate", set_client_certificate, {0, 1, 2}, {-1, 3, INT32_MAX, INT32_MIN}},
               {"chain_digests", set_digests, {0, 1, 0}, {-1, 2, INT32_MAX, INT32_MIN}},
               {"minimum_key", set_minimum_key, {1024, 2048, 8192}, {0, 1023, 8193, UINT32_MAX}},
               {"max_fragment", set_fragment, {512, 4096, 16384}, {0, 511, 16385, UINT32_MAX}}};

enum { NUM_NUMBERS = sizeof numbers / sizeof *numbers };

TEST(config, numbers_take_their_range_only) {
  sst_config *config = new_config();
  for (size_t i = 0; i < NUM_NUMBERS; i++) {
    for (size_t j = 0; j < 3; j++) {
      test_note("%s %lld", numbers[i].name, (long long)numbers[i].good[j]);
      EXPECT_STATUS(numbers[i].set(config, numbers[i].good[j]), SST_OK);
    }
    for (size_t j = 0; j < 4; j++) {
      test_note("%s %lld", numbers[i].name, (long long)numbers[i].bad[j]);
      EXPECT_STATUS(numbers[i].set(config, numbers[i].bad[j]), SST_ERR_INVALID_ARGUMENT);
      EXPECT_STATUS(numbers[i].set(NULL, numbers[i].good[0]), SST_ERR_INVALID_ARGUMENT);
    }
  }
  sst_config_free(config);
}

TEST(config, versions_take_12_and_13_in_order) {
  sst_config *config = new_config();
  EXPECT_STATUS(sst_config_set_versions(config, SST_TLS1_2, SST_TLS1_2), SST_OK);
  EXPECT_STATUS(sst_config_set_versions(config, SST_TLS1_3, SST_TLS1_3), SST_OK);
  EXPECT_STATUS(sst_config_set_versions(config, SST_TLS1_2, SST_TLS1_3), SST_OK);
  const uint16_t bad[][2] = {{SST_TLS1_3, SST_TLS1_2}, {0x0302, SST_TLS1_3}, {SST_TLS1_2, 0x0305}, {0, 0},
                             {0, SST_TLS1_3},          {SST_TLS1_2, 0},      {0xfeff, 0xfefd}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    EXPECT_STATUS(sst_config_set_versions(config, bad[i][0], bad[i][1]), SST_ERR_BAD_VERSION);
  EXPECT_STATUS(record_of(config).code, SST_ERR_BAD_VERSION);
  EXPECT_STATUS(sst_config_set_versions(NULL, SST_TLS1_2, SST_TLS1_3), SST_ERR_INVALID_ARGUMENT);
  sst_config_free(config);
}

/* A setter of a list of numbers. */
typedef sst_status (*SetList)(sst_config *config, const uint16_t *list, size_t length);

static void takes_list(SetList set, const uint16_t *known, size_t num_known, const uint16_t *unknown,
                       size_t num_unknown, sst_status bad) {
  sst_config *config = new_config();
  EXPECT_STATUS(set(config, known, num_known), SST_OK);
  for (size_t i = 0; i < num_known; i++)
    EXPECT_STATUS(set(config, known + i, 1), SST_OK);
  EXPECT_EQ(record_of(config).code, SST_OK);
  for (size_t i = 0; i < num_unknown; i++) {
    const uint16_t list[] = {known[0], unknown[i]};
    test_note("%04x", unknown[i]);
    EXPECT_STATUS(set(config, list, 2), bad);
    EXPECT_STATUS(set(config, unknown + i, 1), bad);
    EXPECT_STATUS(record_of(config).code, bad);
    EXPECT(record_of(config).message[0] != '\0');
  }
  test_note(NULL);
  const uint16_t twice[] = {known[0], known[1], known[0]};
  EXPECT_STATUS(set(config, twice, 3), bad);
  EXPECT_STATUS(set(config, known, 0), bad);
  EXPECT_STATUS(set(config, NULL, 0), bad);
  EXPECT_STATUS(set(config, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(set(config, known, SIZE_MAX), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(set(NULL, known, 1), SST_ERR_INVALID_ARGUMENT);
  sst_config_free(config);
}

TEST(config, groups_take_known_ones_once) {
  const uint16_t known[] = {29, 23, 24, 25, 4588, 514}, unknown[] = {0, 1, 30, 256, 25497, 0xfe32, 0xffff};
  takes_list(sst_config_set_groups, known, 6, unknown, 7, SST_ERR_BAD_GROUP);
}

TEST(config, suites_take_ecdhe_aead_ones_once) {
  const uint16_t known[] = {0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8};
  const uint16_t unknown[] = {0,      0x1301, 0x1302, 0x1303, 0x002f, 0x009c,
                              0xc009, 0xc013, 0xc027, 0xccac, 0x00ff, 0xffff};
  takes_list(sst_config_set_tls12_suites, known, 6, unknown, 12, SST_ERR_BAD_SUITE);
}

TEST(config, schemes_take_known_ones_once) {
  const uint16_t known[] = {0x0403, 0x0503, 0x0603, 0x0807, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601};
  const uint16_t unknown[] = {0, 0x0201, 0x0203, 0x0301, 0x0808, 0x0809, 0x0904, 0x0101, 0xffff};
  takes_list(sst_config_set_signature_schemes, known, 10, unknown, 9, SST_ERR_BAD_SCHEME);
}

/* A list that is refused must not take the place of the one that stands. */
TEST(config, refused_lists_change_nothing) {
  const uint16_t groups[] = {24, 23}, suites[] = {0xc030, 0xc02c}, schemes[] = {0x0807, 0x0403}, bad[] = {23, 0xffff};
  sst_config *config = pair_config(&(SideOptions){.max_version = SST_TLS1_2}, SST_ROLE_CLIENT);
  EXPECT_STATUS(sst_config_set_groups(config, groups, 2), SST_OK);
  EXPECT_STATUS(sst_config_set_tls12_suites(config, suites, 2), SST_OK);
  EXPECT_STATUS(sst_config_set_signature_schemes(config, schemes, 2), SST_OK);
  EXPECT_STATUS(sst_config_set_groups(config, bad, 2), SST_ERR_BAD_GROUP);
  EXPECT_STATUS(sst_config_set_tls12_suites(config, bad, 2), SST_ERR_BAD_SUITE);
  EXPECT_STATUS(sst_config_set_signature_schemes(config, bad, 2), SST_ERR_BAD_SCHEME);
  EXPECT_STATUS(sst_config_set_versions(config, SST_TLS1_3, SST_TLS1_2), SST_ERR_BAD_VERSION);
  Pair pair = pair_new(.client = {.config = config});
  side_handshake(&pair.client);
  Hello hello = hello_read(pair.client.out->bytes, pair.client.out->len);
  uint16_t list[16];
  EXPECT_BYTES(list, 2 * hello_list(&hello, EXTENSION_SUPPORTED_GROUPS, list, 16), groups, sizeof groups);
  EXPECT_BYTES(list, 2 * hello_list(&hello, EXTENSION_SIGNATURE_ALGORITHMS, list, 16), schemes, sizeof schemes);
  EXPECT_AT_LEAST(hello_list(&hello, -1, list, 16), 2);
  EXPECT_BYTES(list, sizeof suites, suites, sizeof suites);
  size_t len = 0;
  EXPECT(hello_extension(&hello, EXTENSION_SUPPORTED_VERSIONS, &len) == NULL || len == 3);
  hello_free(&hello);
  pair_free(&pair);
  sst_config_free(config);
}

TEST(config, alpn_refuses_null_and_long) {
  sst_config *config = new_config();
  EXPECT_STATUS(sst_config_add_alpn(config, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_config_add_alpn(NULL, (const uint8_t *)"h2", 2), SST_ERR_INVALID_ARGUMENT);
  sst_config_free(config);
}

/* A client CA is named by PEM, by a certificate in DER, or by its name. */
TEST(config, client_ca_is_taken_in_each_form) {
  sst_config *config = new_config();
  const Data pem = data_read("client-root", "pem"), der = data_certificate("client-root", 0);
  /* Name of "CN=x": SEQUENCE, SET, SEQUENCE, OID 2.5.4.3, UTF8String. */
  static const uint8_t name[] = {0x30, 12, 0x31, 10, 0x30, 8, 6, 3, 0x55, 4, 3, 0x0c, 1, 'x'};
  EXPECT_STATUS(sst_config_add_client_ca(config, pem.bytes, pem.len), SST_OK);
  EXPECT_STATUS(sst_config_add_client_ca(config, der.bytes, der.len), SST_OK);
  EXPECT_STATUS(sst_config_add_client_ca(config, name, sizeof name), SST_OK);
  EXPECT_EQ(record_of(config).code, SST_OK);
  EXPECT_STATUS(sst_config_add_client_ca(config, name, sizeof name - 1), SST_ERR_PARSE);
  EXPECT_STATUS(sst_config_add_client_ca(config, der.bytes, der.len - 1), SST_ERR_PARSE);
  EXPECT_STATUS(sst_config_add_client_ca(config, pem.bytes, pem.len - 30), SST_ERR_PARSE);
  EXPECT_STATUS(sst_config_add_client_ca(config, (const uint8_t *)"garbage", 7), SST_ERR_PARSE);
  EXPECT_STATUS(sst_config_add_client_ca(config, NULL, 0), SST_ERR_PARSE);
  EXPECT_STATUS(record_of(config).code, SST_ERR_PARSE);
  EXPECT_STATUS(sst_config_add_client_ca(config, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_config_add_client_ca(NULL, name, sizeof name), SST_ERR_INVALID_ARGUMENT);
  free(pem.bytes);
  free(der.bytes);
  sst_config_free(config);
}

TEST(config, client_ca_list_over_65535_bytes_is_too_long) {
  sst_config *config = new_config();
  /* "CN=" and 240 letters: 258 bytes of Name, 260 on the wire, 252 of them fit. */
  uint8_t name[258] = {0x30, 0x81, 255, 0x31, 0x81, 252, 0x30, 0x81, 249, 6, 3, 0x55, 4, 3, 0x0c, 0x81, 241};
  memset(name + 17, 'x', 241);
  int added = 0;
  while (added < 1000 && sst_config_add_client_ca(config, name, sizeof name) == SST_OK)
    added++;
  EXPECT_EQ(added, 65535 / 260);
  EXPECT_STATUS(sst_config_add_client_ca(config, name, sizeof name), SST_ERR_LIST_TOO_LONG);
  EXPECT_STATUS(record_of(config).code, SST_ERR_LIST_TOO_LONG);
  sst_config_free(config);
}

/* A credential without chain or key would fail at the first handshake: it is refused at once. */
TEST(config, credential_must_be_whole) {
  sst_config *config = new_config();
  const Data chain = data_read("server-p256", "pem"), key = data_read("server-p256", "key");
  sst_credential *empty = sst_credential_new(), *no_key = sst_credential_new(), *no_chain = sst_credential_new();
  EXPECT_STATUS(sst_credential_load_pem(no_key, chain.bytes, chain.len, NULL, 0), SST_OK);
  EXPECT_STATUS(sst_credential_load_pem(no_chain, key.bytes, key.len, NULL, 0), SST_OK);
  EXPECT_STATUS(sst_config_add_credential(config, empty), SST_ERR_NO_CREDENTIAL);
  EXPECT_STATUS(sst_config_add_credential(config, no_key), SST_ERR_NO_CREDENTIAL);
  EXPECT_STATUS(sst_config_add_credential(config, no_chain), SST_ERR_NO_CREDENTIAL);
  EXPECT_STATUS(record_of(config).code, SST_ERR_NO_CREDENTIAL);
  EXPECT_STATUS(sst_config_add_credential(config, NULL), SST_ERR_INVALID_ARGUMENT);
  /* Refused ones are not frozen: the missing part may still come. */
  EXPECT_STATUS(sst_credential_load_pem(no_key, key.bytes, key.len, NULL, 0), SST_OK);
  EXPECT_STATUS(sst_config_add_credential(config, no_key), SST_OK);
  EXPECT_STATUS(sst_credential_load_pem(no_key, key.bytes, key.len, NULL, 0), SST_ERR_FROZEN);
  EXPECT_STATUS(sst_config_add_credential(NULL, no_key), SST_ERR_INVALID_ARGUMENT);
  free(chain.bytes);
  free(key.bytes);
  sst_credential_free(empty);
  sst_credential_free(no_key);
  sst_credential_free(no_chain);
  sst_config_free(config);
}

TEST(config, more_than_16_credentials_are_too_many) {
  sst_config *config = new_config();
  sst_credential *credential = data_credential("server-p256");
  for (int i = 0; i < 16; i++)
    EXPECT_STATUS(sst_config_add_credential(config, credential), SST_OK);
  EXPECT_STATUS(sst_config_add_credential(config, credential), SST_ERR_LIST_TOO_LONG);
  EXPECT_STATUS(record_of(config).code, SST_ERR_LIST_TOO_LONG);
  sst_credential_free(credential);
  sst_config_free(config);
}

TEST(config, trust_is_frozen_by_the_config_and_can_be_removed) {
  sst_config *config = new_config();
  sst_trust *trust = data_trust("root");
  const Data more = data_read("client-root", "pem");
  EXPECT_STATUS(sst_config_set_trust(config, trust), SST_OK);
  EXPECT_STATUS(sst_trust_load_pem(trust, more.bytes, more.len), SST_ERR_FROZEN);
  EXPECT_EQ(sst_trust_num_anchors(trust), 1);
  EXPECT_STATUS(sst_config_set_trust(config, NULL), SST_OK);
  EXPECT_STATUS(sst_config_freeze(config, SST_ROLE_CLIENT), SST_ERR_NO_TRUST);
  EXPECT_STATUS(sst_config_set_trust(NULL, trust), SST_ERR_INVALID_ARGUMENT);
  free(more.bytes);
  sst_trust_free(trust);
  sst_config_free(config);
}

TEST(config, record_is_empty_until_a_call_fails_and_stays_after_success) {
  sst_config *config = new_config();
  sst_error error = record_of(config);
  EXPECT_EQ(error.code, SST_OK);
  EXPECT_EQ(error.alert_sent, -1);
  EXPECT_EQ(error.alert_received, -1);
  EXPECT_EQ(error.reasons, 0);
  EXPECT_STRING(error.message, "");
  EXPECT_STATUS(sst_config_set_versions(config, 1, 2), SST_ERR_BAD_VERSION);
  EXPECT_STATUS(sst_config_set_versions(config, SST_TLS1_3, SST_TLS1_3), SST_OK);
  EXPECT_STATUS(record_of(config).code, SST_ERR_BAD_VERSION);
  EXPECT_STATUS(sst_config_last_error(NULL, &error), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_config_last_error(config, NULL), SST_ERR_INVALID_ARGUMENT);
  sst_config_free(config);
}

/* The config's fragment size is that of its streams, unless a stream has its own. */
TEST_VERSIONS(config, max_fragment_is_kept_by_every_record) {
  Pair pair = pair_new(.client = {.max_version = version, .max_fragment = 600});
  EXPECT_STATUS(sst_stream_set_max_fragment(pair.server.stream, 512), SST_OK);
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  pair_echo(&pair, 6000);
  EXPECT_EQ(sst_stream_counter(pair.client.stream, SST_COUNTER_RECORDS_SENT), 10);
  EXPECT_EQ(sst_stream_counter(pair.server.stream, SST_COUNTER_RECORDS_SENT), 12);
  pair_free(&pair);
}
