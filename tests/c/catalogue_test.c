/* White-box: codes of the catalogue that need a file of the moment, which BoringSSL makes here. */
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/mem.h>
#include <openssl/pem.h>
#include <openssl/pkcs8.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#include "pair.h"

static X509 *certificate(const char *name) {
  const Data der = data_certificate(name, 0);
  const uint8_t *at = der.bytes;
  X509 *made = d2i_X509(NULL, &at, (long)der.len);
  free(der.bytes);
  REQUIRE(made != NULL);
  return made;
}

static EVP_PKEY *private_key(const char *name) {
  const Data pem = data_read(name, "key");
  BIO *bio = BIO_new_mem_buf(pem.bytes, (ossl_ssize_t)pem.len);
  EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
  BIO_free(bio);
  free(pem.bytes);
  REQUIRE(key != NULL);
  return key;
}

/* ---- PKCS#12 ---- */

/* What "openssl pkcs12 -nokeys" makes: it is whole, and useless as a credential. */
TEST(catalogue, pkcs12_without_a_key_is_told) {
  X509 *leaf = certificate("server-p256");
  PKCS12 *made = PKCS12_create("secret", NULL, NULL, leaf, NULL, 0, 0, 0, 0, 0);
  uint8_t *der = NULL;
  const int len = i2d_PKCS12(made, &der);
  REQUIRE(len > 0);
  sst_credential *credential = sst_credential_new();
  EXPECT_STATUS(sst_credential_load_pkcs12(credential, der, (size_t)len, "secret", 6), SST_ERR_NO_PRIVATE_KEY);
  sst_error error = {.size = sizeof error};
  EXPECT_STATUS(sst_credential_last_error(credential, &error), SST_OK);
  EXPECT_STATUS(error.code, SST_ERR_NO_PRIVATE_KEY);
  EXPECT_CONTAINS(error.message, "PKCS#12");
  sst_credential_free(credential);
  OPENSSL_free(der);
  PKCS12_free(made);
  X509_free(leaf);
}

/* ---- revocation lists ---- */

enum { DAY = 86400 };

/* A list of an issuer, valid for so many days around the clock of the tests, in which revoked (NULL: nobody) stands. */
static void load_list(sst_trust *trust, const char *issuer, const char *revoked, int64_t first_day, int64_t last_day) {
  X509 *ca = certificate(issuer);
  EVP_PKEY *key = private_key(issuer);
  X509_CRL *list = X509_CRL_new();
  ASN1_TIME *time = ASN1_TIME_new();
  REQUIRE(list != NULL && time != NULL);
  REQUIRE(X509_CRL_set_version(list, X509_CRL_VERSION_2) == 1);
  REQUIRE(X509_CRL_set_issuer_name(list, X509_get_subject_name(ca)) == 1);
  REQUIRE(ASN1_TIME_set_posix(time, DATA_CLOCK + first_day * DAY) != NULL);
  REQUIRE(X509_CRL_set1_lastUpdate(list, time) == 1);
  if (revoked != NULL) {
    X509 *victim = certificate(revoked);
    X509_REVOKED *entry = X509_REVOKED_new();
    REQUIRE(X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(victim)) == 1);
    REQUIRE(X509_REVOKED_set_revocationDate(entry, time) == 1);
    REQUIRE(X509_CRL_add0_revoked(list, entry) == 1);
    X509_free(victim);
  }
  REQUIRE(ASN1_TIME_set_posix(time, DATA_CLOCK + last_day * DAY) != NULL);
  REQUIRE(X509_CRL_set1_nextUpdate(list, time) == 1);
  REQUIRE(X509_CRL_sign(list, key, EVP_sha256()) > 0);
  uint8_t *der = NULL;
  const int len = i2d_X509_CRL(list, &der);
  REQUIRE(len > 0);
  EXPECT_STATUS(sst_trust_load_crl(trust, der, (size_t)len), SST_OK);
  OPENSSL_free(der);
  ASN1_TIME_free(time);
  X509_CRL_free(list);
  EVP_PKEY_free(key);
  X509_free(ca);
}

/* The client's verdict on server-p256 with this trust, which is given away, and what the server is told. */
static sst_error verdict(sst_trust *trust) {
  sst_config *config = pair_config(&(SideOptions){0}, SST_ROLE_CLIENT);
  REQUIRE_STATUS(sst_config_set_trust(config, trust), SST_OK);
  sst_trust_free(trust);
  Pair pair = pair_new(.client = {.config = config});
  const sst_status status = pair_handshake(&pair);
  const sst_error error = error_of(&pair.client);
  EXPECT_STATUS(error.code, status);
  if (status != SST_OK) EXPECT_EQ(error_of(&pair.server).alert_received, error.alert_sent);
  pair_free(&pair);
  sst_config_free(config);
  return error;
}

TEST(catalogue, leaf_that_no_list_names_is_good) {
  sst_trust *trust = data_trust("root");
  load_list(trust, "root", NULL, -1, 30);
  load_list(trust, "intermediate", "server-p384", -1, 30);
  EXPECT_STATUS(verdict(trust).code, SST_OK);
}

TEST(catalogue, revoked_leaf_is_told_to_both) {
  sst_trust *trust = data_trust("root");
  load_list(trust, "root", NULL, -1, 30);
  load_list(trust, "intermediate", "server-p256", -1, 30);
  const sst_error error = verdict(trust);
  EXPECT_STATUS(error.code, SST_ERR_CERT_REVOKED);
  EXPECT_EQ(error.alert_sent, 44);
  EXPECT_EQ(error.reasons, UINT64_C(1) << (SST_ERR_CERT_ISSUER_NOT_FOUND - SST_ERR_CERT_REVOKED));
}

TEST(catalogue, revoked_intermediate_is_told) {
  sst_trust *trust = data_trust("root");
  load_list(trust, "root", "intermediate", -1, 30);
  load_list(trust, "intermediate", NULL, -1, 30);
  EXPECT_STATUS(verdict(trust).code, SST_ERR_CERT_REVOKED);
}

static void unusable(const char *what, sst_trust *trust) {
  test_note("%s", what);
  const sst_error error = verdict(trust);
  EXPECT_STATUS(error.code, SST_ERR_CERT_CRL);
  EXPECT_EQ(error.alert_sent, 48);
  EXPECT_EQ(error.reasons, UINT64_C(1) << (SST_ERR_CERT_ISSUER_NOT_FOUND - SST_ERR_CERT_CRL));
}

TEST(catalogue, list_that_is_missing_expired_or_early_is_told) {
  sst_trust *trust = data_trust("root");
  load_list(trust, "intermediate", NULL, -1, 30);
  unusable("the root's is missing", trust);

  trust = data_trust("root");
  load_list(trust, "root", NULL, -1, 30);
  load_list(trust, "intermediate", NULL, -30, -1);
  unusable("the intermediate's is expired", trust);

  trust = data_trust("root");
  load_list(trust, "root", NULL, -1, 30);
  load_list(trust, "intermediate", NULL, 1, 30);
  unusable("the intermediate's is not valid yet", trust);
}
