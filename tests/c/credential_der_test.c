/*
 * Credentials from DER and PKCS#12 (cases.md X13), and keys in forms that other tools write (V12).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "pair.h"
#include "test.h"

static sst_error error_of_credential(const sst_credential *credential) {
  sst_error error = {.size = sizeof error};
  EXPECT_STATUS(sst_credential_last_error(credential, &error), SST_OK);
  return error;
}

/* The credential has the chain of server-chain, in order, and nothing behind it. */
static void expect_chain(const sst_credential *credential) {
  uint8_t out[4096];
  size_t len = 0;
  for (size_t i = 0; i < 3; i++) {
    const Data der = data_certificate("server-chain", i);
    EXPECT_STATUS(sst_credential_certificate(credential, i, out, sizeof out, &len), SST_OK);
    EXPECT_BYTES(out, len, der.bytes, der.len);
    free(der.bytes);
  }
  EXPECT_STATUS(sst_credential_certificate(credential, 3, out, sizeof out, &len), SST_OK);
  EXPECT_EQ(len, 0);
}

/* A server with the credential shakes hands with a client that trusts the root alone. Frees it. */
static void expect_serves(sst_credential *credential, uint16_t version) {
  sst_config *config = sst_config_new();
  EXPECT_STATUS(sst_config_add_credential(config, credential), SST_OK);
  Pair pair = pair_new(.server = {.config = config}, .client = {.max_version = version});
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  pair_echo(&pair, 100);
  pair_free(&pair);
  sst_config_free(config);
  sst_credential_free(credential);
}

static sst_status load_der(sst_credential *credential, const char *certificates, const char *key) {
  const Data der = certificates == NULL ? (Data){NULL, 0} : data_read(certificates, "der");
  const Data key_der = key == NULL ? (Data){NULL, 0} : data_read(key, "key.der");
  const sst_status status = sst_credential_load_der(credential, der.bytes, der.len, key_der.bytes, key_der.len);
  free(der.bytes);
  free(key_der.bytes);
  return status;
}

static void expect_refused(sst_credential *credential, sst_status status, sst_status expected, const char *message) {
  size_t len = 1;
  EXPECT_STATUS(status, expected);
  EXPECT_STATUS(error_of_credential(credential).code, expected);
  EXPECT_CONTAINS(error_of_credential(credential).message, message);
  EXPECT_STATUS(sst_credential_certificate(credential, 0, NULL, 0, &len), SST_OK);
  EXPECT_EQ(len, 0); /* nothing half-loaded */
  sst_config *config = sst_config_new();
  EXPECT_STATUS(sst_config_add_credential(config, credential), SST_ERR_NO_CREDENTIAL);
  sst_config_free(config);
  sst_credential_free(credential);
}

/* ---- DER ---- */

TEST(credential_der, chain_and_key_load_together_and_apart) {
  static const char *const keys[] = {"server-chain", "server-chain-sec1"};
  for (size_t i = 0; i < 2; i++) {
    sst_credential *credential = sst_credential_new();
    EXPECT_STATUS(load_der(credential, "server-chain", keys[i]), SST_OK);
    expect_chain(credential);
    expect_serves(credential, SST_TLS1_3);

    credential = sst_credential_new();
    EXPECT_STATUS(load_der(credential, NULL, keys[i]), SST_OK);
    EXPECT_STATUS(load_der(credential, "server-chain", NULL), SST_OK);
    expect_chain(credential);
    expect_serves(credential, SST_TLS1_2);
  }
}

TEST(credential_der, pkcs1_key_loads) {
  sst_credential *credential = sst_credential_new();
  EXPECT_STATUS(load_der(credential, "server-rsa2048", "server-rsa2048-pkcs1"), SST_OK);
  EXPECT_STATUS(error_of_credential(credential).code, SST_OK);
  sst_credential_free(credential);
}

TEST(credential_der, refusals_name_the_place) {
  sst_credential *credential = sst_credential_new();
  expect_refused(credential, load_der(credential, "server-chain", "server-rsa2048-pkcs1"), SST_ERR_KEY_MISMATCH,
                 "any of the 3 certificates");
  credential = sst_credential_new();
  expect_refused(credential, load_der(credential, "server-chain", "server-chain-encrypted"), SST_ERR_PASSWORD_REQUIRED,
                 "private key: encrypted");
  credential = sst_credential_new();
  expect_refused(credential, sst_credential_load_der(credential, NULL, 0, NULL, 0), SST_ERR_NO_CERTIFICATE, "neither");
  credential = sst_credential_new();
  const uint8_t noise[] = {0x30, 0x03, 0x02, 0x01, 0x05};
  expect_refused(credential, sst_credential_load_der(credential, NULL, 0, noise, sizeof noise), SST_ERR_PARSE,
                 "private key: neither PKCS#8 nor PKCS#1 nor SEC1");
  credential = sst_credential_new();
  expect_refused(credential, sst_credential_load_der(credential, noise, sizeof noise, NULL, 0), SST_ERR_PARSE,
                 "certificate 1: not a valid certificate in DER, at byte 0");
}

TEST(credential_der, rest_behind_a_certificate_is_parse_with_its_place) {
  const Data der = data_read("server-rsa2048", "der");
  uint8_t *longer = test_allocate(der.len + 1);
  memcpy(longer, der.bytes, der.len);
  longer[der.len] = 0;
  char place[64];
  (void)snprintf(place, sizeof place, "certificate 2: not a valid certificate in DER, at byte %zu", der.len);
  sst_credential *credential = sst_credential_new();
  expect_refused(credential, sst_credential_load_der(credential, longer, der.len + 1, NULL, 0), SST_ERR_PARSE, place);
  credential = sst_credential_new();
  expect_refused(credential, sst_credential_load_der(credential, der.bytes, der.len - 1, NULL, 0), SST_ERR_PARSE,
                 "certificate 1");
  free(longer);
  free(der.bytes);
}

TEST(credential_der, rest_behind_a_key_is_parse) {
  const Data der = data_read("server-chain", "key.der");
  uint8_t *longer = test_allocate(der.len + 1);
  memcpy(longer, der.bytes, der.len);
  longer[der.len] = 0;
  sst_credential *credential = sst_credential_new();
  expect_refused(credential, sst_credential_load_der(credential, NULL, 0, longer, der.len + 1), SST_ERR_PARSE,
                 "private key: not a valid key");
  free(longer);
  free(der.bytes);
}

TEST(credential_der, arguments_are_looked_at) {
  sst_credential *credential = sst_credential_new();
  const uint8_t byte = 0;
  EXPECT_STATUS(sst_credential_load_der(NULL, &byte, 1, NULL, 0), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_load_der(credential, NULL, 1, NULL, 0), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_load_der(credential, &byte, 1, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_load_pkcs12(NULL, &byte, 1, NULL, 0), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_load_pkcs12(credential, NULL, 1, NULL, 0), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_credential_load_pkcs12(credential, &byte, 1, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  sst_credential_free(credential);
  credential = data_credential("server-p256");
  sst_config *config = sst_config_new();
  EXPECT_STATUS(sst_config_add_credential(config, credential), SST_OK);
  EXPECT_STATUS(sst_credential_load_der(credential, &byte, 1, NULL, 0), SST_ERR_FROZEN);
  EXPECT_STATUS(sst_credential_load_pkcs12(credential, &byte, 1, NULL, 0), SST_ERR_FROZEN);
  sst_config_free(config);
  sst_credential_free(credential);
}

/* ---- PKCS#12 ---- */

static sst_status load_p12(sst_credential *credential, const char *name, const char *password) {
  char file[64];
  (void)snprintf(file, sizeof file, "p12-%s", name);
  test_note("%s", file);
  const Data pfx = data_read(file, "p12");
  const sst_status status =
      sst_credential_load_pkcs12(credential, pfx.bytes, pfx.len, password, password == NULL ? 0 : strlen(password));
  free(pfx.bytes);
  return status;
}

TEST(credential_der, pkcs12_of_every_age_and_password_loads) {
  static const char *const ages[] = {"aes256", "3des", "rc2-40", "plain"};
  static const struct {
    const char *name, *password;
  } passwords[] = {{"null", NULL}, {"null", ""}, {"empty", NULL}, {"empty", ""}, {"pw", "pw"}, {"utf8", "p\xc3\xa4"}};
  for (size_t i = 0; i < 4; i++) {
    for (size_t k = 0; k < sizeof passwords / sizeof passwords[0]; k++) {
      char name[32];
      (void)snprintf(name, sizeof name, "%s-%s", ages[i], passwords[k].name);
      sst_credential *credential = sst_credential_new();
      EXPECT_STATUS(load_p12(credential, name, passwords[k].password), SST_OK);
      expect_chain(credential);
      expect_serves(credential, SST_TLS1_3);
    }
  }
}

TEST(credential_der, stranger_in_pkcs12_is_not_sent) {
  sst_credential *credential = sst_credential_new();
  EXPECT_STATUS(load_p12(credential, "stranger", "pw"), SST_OK);
  expect_chain(credential);
  sst_credential_free(credential);
}

TEST(credential_der, refused_pkcs12_says_why) {
  static const struct {
    const char *name, *password;
    sst_status code;
    const char *message;
  } rows[] = {
      {"aes256-pw", "wrong", SST_ERR_BAD_PASSWORD, "the password does not open it"},
      {"3des-pw", "pW", SST_ERR_BAD_PASSWORD, "the password does not open it"},
      {"aes256-pw", NULL, SST_ERR_PASSWORD_REQUIRED, "it has a password, and none was given"},
      {"rc2-40-utf8", "p\xe4", SST_ERR_BAD_PASSWORD, "not UTF-8"},
      {"rc2-128", "pw", SST_ERR_UNSUPPORTED_CIPHER, "a cipher that is not read"},
      {"no-mac", "pw", SST_ERR_PARSE, "it has no MAC"},
      {"pbmac1", "pw", SST_ERR_UNSUPPORTED_CIPHER, "a MAC of a kind that is not read"},
      {"trailing", "pw", SST_ERR_PARSE, "1 bytes behind its end"},
      {"cut", "pw", SST_ERR_PARSE, "damaged, cut off"},
      {"no-key", "pw", SST_ERR_NO_PRIVATE_KEY, "no private key in it"},
      {"two-keys", "pw", SST_ERR_PARSE, "more than one private key"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    sst_credential *credential = sst_credential_new();
    expect_refused(credential, load_p12(credential, rows[i].name, rows[i].password), rows[i].code, rows[i].message);
  }
}

TEST(credential_der, password_with_a_nul_is_bad) {
  const Data pfx = data_read("p12-aes256-pw", "p12");
  sst_credential *credential = sst_credential_new();
  expect_refused(credential, sst_credential_load_pkcs12(credential, pfx.bytes, pfx.len, "pw\0x", 4),
                 SST_ERR_BAD_PASSWORD, "a NUL in the password");
  free(pfx.bytes);
}

TEST(credential_der, failed_load_of_pkcs12_leaves_what_was_there) {
  static const char *const names[] = {"aes256-empty", "rc2-128", "no-mac", "cut", "no-key", "trailing"};
  sst_credential *credential = sst_credential_new();
  EXPECT_STATUS(load_p12(credential, "plain-pw", "pw"), SST_OK);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    EXPECT(load_p12(credential, names[i], "pw") != SST_OK);
    expect_chain(credential);
  }
  expect_serves(credential, SST_TLS1_3);
}

/* ---- keys as other tools write them ---- */

static sst_status load_key(sst_credential *credential, const char *name, const char *password) {
  test_note("%s", name);
  const Data key = data_read(name, "key");
  const sst_status status =
      sst_credential_load_pem(credential, key.bytes, key.len, password, password == NULL ? 0 : strlen(password));
  free(key.bytes);
  return status;
}

static sst_credential *with_chain(const char *name) {
  sst_credential *credential = sst_credential_new();
  const Data pem = data_read(name, "pem");
  EXPECT_STATUS(sst_credential_load_pem(credential, pem.bytes, pem.len, NULL, 0), SST_OK);
  free(pem.bytes);
  return credential;
}

TEST(credential_der, ec_keys_with_parts_left_out_are_the_same_key) {
  static const char *const names[] = {"ec-params", "ec-public", "ec-both", "ec-neither"};
  for (size_t i = 0; i < 4; i++) {
    sst_credential *credential = with_chain("server-p256");
    EXPECT_STATUS(load_key(credential, names[i], NULL), SST_OK);
    expect_serves(credential, SST_TLS1_3);
  }
}

TEST(credential_der, ec_keys_without_a_curve_or_with_two_are_parse) {
  sst_credential *credential = sst_credential_new();
  expect_refused(credential, load_key(credential, "ec-sec1-no-params", NULL), SST_ERR_PARSE, "not a valid key");
  credential = sst_credential_new();
  expect_refused(credential, load_key(credential, "ec-curves-differ", NULL), SST_ERR_PARSE, "not a valid key");
}

TEST(credential_der, old_pem_encryption_is_read) {
  static const struct {
    const char *chain, *key;
  } rows[] = {{"server-p256", "old-ec-3des"},       {"server-p256", "old-ec-aes128"},
              {"server-p256", "old-ec-aes256"},     {"server-rsa2048", "old-rsa-3des"},
              {"server-rsa2048", "old-rsa-aes256"}, {"server-p256", "odd-encrypted-legacy"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    sst_credential *credential = with_chain(rows[i].chain);
    EXPECT_STATUS(load_key(credential, rows[i].key, NULL), SST_ERR_PASSWORD_REQUIRED);
    EXPECT_STATUS(load_key(credential, rows[i].key, "Secret"), SST_ERR_BAD_PASSWORD);
    EXPECT_STATUS(load_key(credential, rows[i].key, "secret"), SST_OK);
    expect_serves(credential, SST_TLS1_2);
  }
}

/* Once in 256 times a wrong password leaves good padding: then what comes out is no key. */
TEST(credential_der, wrong_password_of_old_encryption_is_told_whatever_it_decrypts_to) {
  const Data key = data_read("old-ec-3des", "key");
  sst_credential *credential = sst_credential_new();
  for (int i = 0; i < 1500; i++) {
    char password[16];
    const int len = snprintf(password, sizeof password, "wrong %d", i);
    EXPECT_STATUS(sst_credential_load_pem(credential, key.bytes, key.len, password, (size_t)len), SST_ERR_BAD_PASSWORD);
  }
  sst_credential_free(credential);
  free(key.bytes);
}

static void expect_text(const char *text, sst_status code, const char *message) {
  sst_credential *credential = sst_credential_new();
  const sst_status status = sst_credential_load_pem(credential, (const uint8_t *)text, strlen(text), "secret", 6);
  expect_refused(credential, status, code, message);
}

#define OLD(dek_info, body) \
  "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n" dek_info "\n" body "-----END EC PRIVATE KEY-----\n"

TEST(credential_der, damaged_old_encryption_says_what_is_wrong) {
  sst_credential *credential = sst_credential_new();
  expect_refused(credential, load_key(credential, "old-ec-camellia", "secret"), SST_ERR_UNSUPPORTED_CIPHER,
                 "encrypted by CAMELLIA-128-CBC; convert it to PKCS#8");
  const char *const iv = "the IV in DEK-Info is not 16 bytes in hexadecimal";
  expect_text(OLD("", "AAAA\n"), SST_ERR_PARSE, "no DEK-Info says how");
  expect_text(OLD("DEK-Info: AES-128-CBC\n", "AAAA\n"), SST_ERR_PARSE, "no DEK-Info says how");
  expect_text(OLD("DEK-Info: AES-128-CBC,\n", "AAAA\n"), SST_ERR_PARSE, iv);
  expect_text(OLD("DEK-Info: AES-128-CBC,00112233445566778899aabbccddee\n", "AAAA\n"), SST_ERR_PARSE, iv);
  expect_text(OLD("DEK-Info: AES-128-CBC,00112233445566778899aabbccddeefg\n", "AAAA\n"), SST_ERR_PARSE, iv);
  expect_text(OLD("DEK-Info: AES-128-CBC,00112233445566778899aabbccddeeff\n", "AAAA\n"), SST_ERR_PARSE,
              "3 bytes are no whole number of cipher blocks");
  expect_text(OLD("DEK-Info:  AES-128-CBC,00112233445566778899aabbccddeeff \n", "AAAAAAAAAAAAAAAAAAAAAA==\n"),
              SST_ERR_BAD_PASSWORD, "the password does not open it");
  expect_text(OLD("DEK-Info: DES-CBC,0011223344556677\n", "AAAA\n"), SST_ERR_UNSUPPORTED_CIPHER, "DES-CBC");
}

/* ---- every kind of key, for real ---- */

TEST(credential_der, rsa_keys_of_every_accepted_size_shake_hands) {
  static const struct {
    const char *name;
    uint32_t minimum;
  } rows[] = {{"server-rsa1024", 1024}, {"server-rsa2048", 0}, {"server-rsa4096", 0}, {"server-rsa8192", 0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (uint16_t version = SST_TLS1_2; version <= SST_TLS1_3; version++) {
      test_note("%s, %x", rows[i].name, version);
      Pair pair = pair_open(.server = {.credential = rows[i].name, .minimum_rsa = rows[i].minimum},
                            .client = {.max_version = version, .minimum_rsa = rows[i].minimum});
      pair_echo(&pair, 100);
      pair_free(&pair);
    }
  }
}

/* The opt-out of one side is not the other's. */
TEST(credential_der, small_rsa_key_is_weak_for_a_peer_that_did_not_opt_out) {
  Pair pair = pair_new(.server = {.credential = "server-rsa1024", .minimum_rsa = 1024});
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_CERT_WEAK_KEY);
  EXPECT_EQ(error_of(&pair.server).alert_received, 42);
  pair_free(&pair);
}
