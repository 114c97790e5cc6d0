/*
 * Credentials from damaged texts, and wrong arguments.
 */
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "test.h"

static sst_status load_text(sst_credential *credential, const char *text, size_t len) {
  return sst_credential_load_pem(credential, (const uint8_t *)text, len, NULL, 0);
}

static void expect_refused(const char *text, sst_status expected, const char *message) {
  sst_credential *credential = sst_credential_new();
  sst_error error = {.size = sizeof error};
  size_t len = 1;
  EXPECT_STATUS(load_text(credential, text, strlen(text)), expected);
  EXPECT_STATUS(sst_credential_last_error(credential, &error), SST_OK);
  EXPECT_STATUS(error.code, expected);
  EXPECT_STRING(error.message, message);
  EXPECT_STATUS(sst_credential_certificate(credential, 0, NULL, 0, &len), SST_OK);
  EXPECT_EQ(len, 0);
  sst_credential_free(credential);
}

/* server-p256.pem, terminated; the caller frees it. */
static char *chain_text(void) {
  Data chain = data_read("server-p256", "pem");
  char *text = test_reallocate(chain.bytes, chain.len + 1);
  text[chain.len] = 0;
  return text;
}

TEST(credential_text, text_without_a_block_is_no_certificate) {
  expect_refused("", SST_ERR_NO_CERTIFICATE, "neither a certificate nor a private key in the input");
  expect_refused("# nothing\n", SST_ERR_NO_CERTIFICATE, "neither a certificate nor a private key in the input");
  expect_refused("-----BEGIN DH PARAMETERS-----\nAAAA\n-----END DH PARAMETERS-----\n", SST_ERR_NO_CERTIFICATE,
                 "neither a certificate nor a private key in the input");
}

TEST(credential_text, last_certificate_without_end_is_refused_whole) {
  char *text = chain_text();
  *strrchr(text, 'E') = 0;
  expect_refused(text, SST_ERR_PARSE, "certificate 2 of 2: damaged END line at line 23");
  free(text);
}

TEST(credential_text, bad_base64_names_certificate_and_line) {
  char *text = chain_text();
  strstr(text + 10, "-----BEGIN")[60] = '!';
  expect_refused(text, SST_ERR_PARSE, "certificate 2 of 2: bad base64 at line 14");
  free(text);
}

TEST(credential_text, block_that_holds_no_certificate_names_it) {
  expect_refused("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n", SST_ERR_PARSE,
                 "certificate 1 of 1: not a valid certificate, in the block at line 1");
  char *text = chain_text();
  strstr(text, "-----END")[-10] ^= 1; /* in the signature: it parses still */
  sst_credential *credential = sst_credential_new();
  EXPECT_STATUS(load_text(credential, text, strlen(text)), SST_OK);
  sst_credential_free(credential);
  free(text);
}

TEST(credential_text, bytes_behind_a_certificate_are_refused) {
  const Data der = data_certificate("server-p256", 0);
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char *text = test_allocate(der.len * 2 + 100);
  size_t len = (size_t)(stpcpy(text, "-----BEGIN CERTIFICATE-----\n") - text);
  for (size_t i = 0; i < der.len + 3; i += 3) { /* and three bytes or fewer of zeros behind */
    uint32_t bits = 0;
    for (size_t j = i; j < i + 3; j++)
      bits = bits << 8 | (j < der.len ? der.bytes[j] : 0u);
    for (int shift = 18; shift >= 0; shift -= 6)
      text[len++] = digits[bits >> shift & 63];
  }
  strcpy(text + len, "\n-----END CERTIFICATE-----\n");
  expect_refused(text, SST_ERR_PARSE, "certificate 1 of 1: not a valid certificate, in the block at line 1");
  free(text);
  free(der.bytes);
}

TEST(credential_text, key_that_does_not_parse_is_named) {
  expect_refused("-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n", SST_ERR_PARSE,
                 "private key: not a valid key in \"PRIVATE KEY\"");
  expect_refused("-----BEGIN EC PRIVATE KEY-----\nMAA=\n-----END EC PRIVATE KEY-----\n", SST_ERR_PARSE,
                 "private key: not a valid key in \"EC PRIVATE KEY\"");
  expect_refused("-----BEGIN RSA PRIVATE KEY-----\nMAA=\n-----END RSA PRIVATE KEY-----\n", SST_ERR_PARSE,
                 "private key: not a valid key in \"RSA PRIVATE KEY\"");
  expect_refused("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n", SST_ERR_PARSE,
                 "private key: not an EncryptedPrivateKeyInfo");
}

TEST(credential_text, two_keys_in_one_text_are_refused) {
  const Data key = data_read("server-p256", "key");
  char *text = test_allocate(2 * key.len + 1);
  memcpy(text, key.bytes, key.len);
  memcpy(text + key.len, key.bytes, key.len);
  text[2 * key.len] = 0;
  expect_refused(text, SST_ERR_PARSE, "a second private key at line 6");
  free(text);
  free(key.bytes);
}

TEST(credential_text, wrong_arguments_change_nothing_and_leave_no_record) {
  sst_credential *credential = sst_credential_new();
  const uint8_t byte = 0;
  size_t len = 7;
  sst_error error = {.size = sizeof error};
  const size_t too_long = (size_t)PTRDIFF_MAX + 1;
  EXPECT_STATUS(sst_credential_load_pem(NULL, &byte, 1, NULL, 0), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_load_pem(credential, NULL, 1, NULL, 0), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_load_pem(credential, &byte, too_long, NULL, 0), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_load_pem(credential, &byte, 1, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_load_pem(credential, &byte, 1, "", too_long), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_certificate(NULL, 0, NULL, 0, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(len, 0);
  EXPECT_STATUS(sst_credential_certificate(credential, 0, NULL, 0, NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_certificate(credential, 0, NULL, 1, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_last_error(NULL, &error), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_last_error(credential, NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_last_error(credential, &error), SST_OK);
  EXPECT_STATUS(error.code, SST_OK);
  sst_credential_free(credential);
}

TEST(credential_text, frozen_one_refuses_to_load_and_keeps_its_record) {
  sst_credential *credential = data_credential("server-p256");
  sst_config *config = sst_config_new();
  sst_error error = {.size = sizeof error};
  EXPECT_STATUS(load_text(credential, "", 0), SST_ERR_NO_CERTIFICATE);
  EXPECT_STATUS(sst_config_add_credential(config, credential), SST_OK);

  char *text = chain_text();
  EXPECT_STATUS(load_text(credential, text, strlen(text)), SST_ERR_FROZEN);
  EXPECT_STATUS(sst_credential_last_error(credential, &error), SST_OK);
  EXPECT_STATUS(error.code, SST_ERR_NO_CERTIFICATE);
  free(text);
  sst_config_free(config);
  sst_credential_free(credential);
}
