/*
 * Credentials: what loads, what is refused and why, and that a failed load changes nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "test.h"

/* The texts of files, one behind the other: {"server-p256.pem", "server-p256.key", NULL}. */
static Data text_of(const char *const *files) {
  Data all = {NULL, 0};
  for (; *files != NULL; files++) {
    char name[64];
    const char *dot = strrchr(*files, '.');
    memcpy(name, *files, (size_t)(dot - *files));
    name[dot - *files] = 0;
    const Data one = data_read(name, dot + 1);
    all.bytes = test_reallocate(all.bytes, all.len + one.len);
    memcpy(all.bytes + all.len, one.bytes, one.len);
    all.len += one.len;
    free(one.bytes);
  }
  return all;
}

#define FILES(...) ((const char *const[]){__VA_ARGS__, NULL})

static sst_status load_with(sst_credential *credential, const char *const *files, const char *password) {
  const Data text = text_of(files);
  const sst_status status = sst_credential_load_pem(credential, text.bytes, text.len, password, strlen(password));
  free(text.bytes);
  return status;
}

static sst_status load(sst_credential *credential, const char *const *files) {
  return load_with(credential, files, "");
}

static sst_status load_text(sst_credential *credential, const char *text) {
  return sst_credential_load_pem(credential, (const uint8_t *)text, strlen(text), NULL, 0);
}

static sst_error error_of(const sst_credential *credential) {
  sst_error error = {.size = sizeof error};
  EXPECT_STATUS(sst_credential_last_error(credential, &error), SST_OK);
  return error;
}

static void expect_failure(sst_credential *credential, sst_status status, sst_status expected, const char *message) {
  const sst_error error = error_of(credential);
  EXPECT_STATUS(status, expected);
  EXPECT_STATUS(error.code, expected);
  EXPECT_CONTAINS(error.message, message);
  EXPECT_EQ(error.alert_sent, -1);
}

/* Certificate index is that of a file. */
static void expect_certificate(const sst_credential *credential, size_t index, const char *file) {
  const Data der = data_certificate(file, index);
  uint8_t out[4096];
  size_t len = 0;
  EXPECT_STATUS(sst_credential_certificate(credential, index, out, sizeof out, &len), SST_OK);
  EXPECT_BYTES(out, len, der.bytes, der.len);
  free(der.bytes);
}

static bool is_whole(sst_credential *credential) {
  sst_config *config = sst_config_new();
  const sst_status status = sst_config_add_credential(config, credential);
  sst_config_free(config);
  return status == SST_OK;
}

/* A fresh credential takes these texts, one after the other, and is then whole. */
static void expect_loads(const char *const *first, const char *const *second, const char *password) {
  sst_credential *credential = sst_credential_new();
  EXPECT_STATUS(load_with(credential, first, password), SST_OK);
  if (second != NULL) EXPECT_STATUS(load_with(credential, second, password), SST_OK);
  EXPECT_STATUS(error_of(credential).code, SST_OK);
  EXPECT(is_whole(credential));
  sst_credential_free(credential);
}

static void expect_refused(const char *const *files, const char *password, sst_status expected, const char *message) {
  test_note("%s", files[0]);
  sst_credential *credential = sst_credential_new();
  expect_failure(credential, load_with(credential, files, password), expected, message);
  size_t len = 1;
  EXPECT_STATUS(sst_credential_certificate(credential, 0, NULL, 0, &len), SST_OK);
  EXPECT_EQ(len, 0);
  sst_credential_free(credential);
}

TEST(credential, new_one_is_empty) {
  sst_credential *credential = sst_credential_new();
  size_t len = 7;
  EXPECT_STATUS(sst_credential_certificate(credential, 0, NULL, 0, &len), SST_OK);
  EXPECT_EQ(len, 0);
  EXPECT_STATUS(error_of(credential).code, SST_OK);
  EXPECT(!is_whole(credential));
  sst_credential_free(credential);
}

TEST(credential, references_are_counted) {
  const uint64_t before = sst_live_objects();
  sst_credential *credential = sst_credential_new();
  EXPECT(sst_credential_ref(credential) == credential);
  sst_credential_free(credential);
  EXPECT_EQ(sst_live_objects(), before + 1);
  sst_credential_free(credential);
  EXPECT_EQ(sst_live_objects(), before);
  EXPECT(sst_credential_ref(NULL) == NULL);
  sst_credential_free(NULL);
}

TEST(credential, chain_and_key_load_in_any_order_and_together) {
  expect_loads(FILES("server-p256.pem", "server-p256.key"), NULL, "");
  expect_loads(FILES("server-p256.key", "server-p256.pem"), NULL, "");
  expect_loads(FILES("server-p256.pem"), FILES("server-p256.key"), "");
  expect_loads(FILES("server-p256.key"), FILES("server-p256.pem"), "");
}

TEST(credential, every_kind_of_key_of_the_header_loads) {
  expect_loads(FILES("server-p256.pem", "server-p256.key"), NULL, "");
  expect_loads(FILES("server-p384.pem", "server-p384.key"), NULL, "");
  expect_loads(FILES("server-p521.pem", "server-p521.key"), NULL, "");
  expect_loads(FILES("server-ed25519.pem", "server-ed25519.key"), NULL, "");
  expect_loads(FILES("server-rsa1024.pem", "server-rsa1024.key"), NULL, "");
  expect_loads(FILES("server-rsa2048.pem", "server-rsa2048.key"), NULL, "");
  expect_loads(FILES("server-rsa4096.pem", "server-rsa4096.key"), NULL, "");
  expect_loads(FILES("server-rsa8192.pem", "server-rsa8192.key"), NULL, "");
}

TEST(credential, every_form_of_a_key_loads) {
  expect_loads(FILES("server-p256.pem", "server-p256-sec1.key"), NULL, "");
  expect_loads(FILES("server-rsa2048.pem", "server-rsa2048-pkcs1.key"), NULL, "");
}

TEST(credential, ec_parameters_in_front_of_the_key_are_skipped) {
  sst_credential *credential = sst_credential_new();
  EXPECT_STATUS(load(credential, FILES("server-p256.pem")), SST_OK);
  Data key = data_read("server-p256-sec1", "key");
  static const char parameters[] = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";
  Data both = {test_allocate(sizeof parameters - 1 + key.len), sizeof parameters - 1 + key.len};
  memcpy(both.bytes, parameters, sizeof parameters - 1);
  memcpy(both.bytes + sizeof parameters - 1, key.bytes, key.len);
  EXPECT_STATUS(sst_credential_load_pem(credential, both.bytes, both.len, NULL, 0), SST_OK);
  EXPECT(is_whole(credential));
  free(key.bytes);
  free(both.bytes);
  sst_credential_free(credential);
}

TEST(credential, certificates_are_given_as_loaded) {
  sst_credential *credential = sst_credential_new();
  EXPECT_STATUS(load(credential, FILES("server-chain.pem", "server-chain.key")), SST_OK);
  for (size_t i = 0; i < 3; i++)
    expect_certificate(credential, i, "server-chain");

  uint8_t out[4096];
  size_t len = 0, again = 0;
  EXPECT_STATUS(sst_credential_certificate(credential, 3, out, sizeof out, &len), SST_OK);
  EXPECT_EQ(len, 0);
  EXPECT_STATUS(sst_credential_certificate(credential, SIZE_MAX, out, sizeof out, &len), SST_OK);
  EXPECT_EQ(len, 0);
  EXPECT_STATUS(sst_credential_certificate(credential, 0, NULL, 0, &len), SST_NEED_OUTPUT);
  memset(out, 0xee, sizeof out);
  EXPECT_STATUS(sst_credential_certificate(credential, 0, out, len - 1, &again), SST_NEED_OUTPUT);
  EXPECT_EQ(again, len);
  EXPECT_EQ(out[0], 0xee);
  EXPECT_STATUS(sst_credential_certificate(credential, 0, out, len, &again), SST_OK);
  sst_credential_free(credential);
}

TEST(credential, key_of_another_certificate_is_key_mismatch_in_both_orders) {
  const char *const pairs[][2] = {{"server-rsa2048.pem", "ku-none.key"},
                                  {"server-rsa2048.pem", "server-p256.key"},
                                  {"server-p256.pem", "server-p384.key"},
                                  {"server-p256.pem", "server-other.key"},
                                  {"server-ed25519.pem", "client-ed25519.key"}};
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    test_note("%s, %s", pairs[i][0], pairs[i][1]);
    for (int order = 0; order < 2; order++) {
      sst_credential *credential = sst_credential_new();
      EXPECT_STATUS(load(credential, FILES(pairs[i][order])), SST_OK);
      expect_failure(credential, load(credential, FILES(pairs[i][!order])), SST_ERR_KEY_MISMATCH,
                     "the private key does not belong to any of the 2 certificates");
      EXPECT(!is_whole(credential));
      sst_credential_free(credential);
    }
    expect_refused(FILES(pairs[i][0], pairs[i][1]), "", SST_ERR_KEY_MISMATCH, "does not belong");
  }
}

TEST(credential, key_of_the_only_certificate_is_told_so) {
  expect_refused(FILES("server-no-issuer.pem", "server-other.key"), "", SST_ERR_KEY_MISMATCH,
                 "the private key does not belong to the certificate");
}

TEST(credential, second_load_replaces_the_first) {
  sst_credential *credential = sst_credential_new();
  EXPECT_STATUS(load(credential, FILES("server-p256.pem", "server-p256.key")), SST_OK);
  EXPECT_STATUS(load(credential, FILES("server-rsa2048.pem", "server-rsa2048.key")), SST_OK);
  expect_certificate(credential, 0, "server-rsa2048");
  /* The same key in another form, and the same chain without issuers. */
  EXPECT_STATUS(load(credential, FILES("server-rsa2048-pkcs1.key")), SST_OK);
  EXPECT(is_whole(credential));
  sst_credential_free(credential);
}

TEST(credential, failed_load_leaves_what_was_there) {
  const char *const bad[][2] = {{"server-p384.key", NULL},
                                {"server-p384.pem", NULL},
                                {"server-rsa2048.pem", "server-p256.key"},
                                {"odd-p224.key", NULL},
                                {"odd-rsa-pss.pem", "odd-rsa-pss.key"},
                                {"server-p256-encrypted.key", NULL}};
  sst_credential *credential = sst_credential_new();
  EXPECT_STATUS(load(credential, FILES("server-p256.pem", "server-p256.key")), SST_OK);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    test_note("%s", bad[i][0]);
    EXPECT(load(credential, FILES(bad[i][0], bad[i][1])) != SST_OK);
    expect_certificate(credential, 0, "server-p256");
    expect_certificate(credential, 1, "server-p256");
  }
  EXPECT(is_whole(credential));
  sst_credential_free(credential);
}

TEST(credential, encrypted_key_wants_its_password) {
  expect_refused(FILES("server-p256.pem", "server-p256-encrypted.key"), "", SST_ERR_PASSWORD_REQUIRED, "private key");
  expect_refused(FILES("server-p256.pem", "server-p256-encrypted.key"), "Secret", SST_ERR_BAD_PASSWORD, "private key");
  expect_loads(FILES("server-p256.pem", "server-p256-encrypted.key"), NULL, "secret");
}

/* Bad padding tells a wrong password but once in 256 times; then the plaintext must. */
TEST(credential, wrong_password_is_told_whatever_it_decrypts_to) {
  const Data key = data_read("odd-encrypted-pkcs12-3des", "key");
  sst_credential *credential = sst_credential_new();
  for (int i = 0; i < 1500; i++) {
    char password[16];
    const int len = snprintf(password, sizeof password, "wrong %d", i);
    EXPECT_STATUS(sst_credential_load_pem(credential, key.bytes, key.len, password, (size_t)len), SST_ERR_BAD_PASSWORD);
  }
  sst_credential_free(credential);
  free(key.bytes);
}

TEST(credential, password_for_a_plain_key_is_ignored) {
  expect_loads(FILES("server-p256.pem", "server-p256.key"), NULL, "secret");
  expect_loads(FILES("server-rsa2048.pem", "server-rsa2048-pkcs1.key"), NULL, "secret");
}

TEST(credential, password_never_comes_into_a_message) {
  sst_credential *credential = sst_credential_new();
  (void)load_with(credential, FILES("server-p256-encrypted.key"), "Tr0ub4dor");
  EXPECT(strstr(error_of(credential).message, "Tr0ub4dor") == NULL);
  sst_credential_free(credential);
}

TEST(credential, keys_encrypted_in_usual_ways_load) {
  expect_loads(FILES("server-p256.pem", "odd-encrypted-aes128.key"), NULL, "secret");
  expect_loads(FILES("server-p256.pem", "odd-encrypted-aes256.key"), NULL, "secret");
  expect_loads(FILES("server-p256.pem", "odd-encrypted-3des.key"), NULL, "secret");
  expect_loads(FILES("server-p256.pem", "odd-encrypted-pkcs12-3des.key"), NULL, "secret");
}

TEST(credential, other_encryption_is_unsupported_cipher_once_there_is_a_password) {
  const char *const files[] = {"odd-encrypted-camellia.key", "odd-encrypted-scrypt.key", "odd-encrypted-sha512.key"};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    expect_refused(FILES(files[i]), "", SST_ERR_PASSWORD_REQUIRED, "private key");
    expect_refused(FILES(files[i]), "secret", SST_ERR_UNSUPPORTED_CIPHER, "private key");
  }
}

TEST(credential, other_kinds_and_sizes_of_keys_are_unsupported) {
  expect_refused(FILES("odd-rsa-pss.key"), "", SST_ERR_UNSUPPORTED_KEY, "private key is of another kind");
  expect_refused(FILES("odd-rsa-pss.pem"), "", SST_ERR_UNSUPPORTED_KEY,
                 "the leaf's key (CN=rsa-pss) is of another kind");
  expect_refused(FILES("odd-p224.key"), "", SST_ERR_UNSUPPORTED_KEY, "accepted are");
  expect_refused(FILES("odd-secp256k1.key"), "", SST_ERR_UNSUPPORTED_KEY, "accepted are");
  expect_refused(FILES("odd-ed448.key"), "", SST_ERR_UNSUPPORTED_KEY, "accepted are");
  expect_refused(FILES("odd-x25519.key"), "", SST_ERR_UNSUPPORTED_KEY, "accepted are");
}

TEST(credential, label_of_a_key_that_is_not_read_is_named) {
  sst_credential *credential = sst_credential_new();
  const sst_status status =
      load_text(credential, "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA==\n-----END OPENSSH PRIVATE KEY-----\n");
  expect_failure(credential, status, SST_ERR_UNSUPPORTED_KEY, "\"OPENSSH PRIVATE KEY\"");
  sst_credential_free(credential);
}

TEST(credential, key_usage_that_forbids_signing_is_unsupported) {
  expect_refused(FILES("ku-encipherment.pem"), "", SST_ERR_UNSUPPORTED_KEY, "key usage without digitalSignature");
  expect_refused(FILES("ku-certsign.pem", "ku-certsign.key"), "", SST_ERR_UNSUPPORTED_KEY, "digitalSignature");
  expect_loads(FILES("ku-none.pem", "ku-none.key"), NULL, "");
  expect_loads(FILES("ku-signature.pem", "ku-signature.key"), NULL, "");
}
