/* White-box: which hash tls-server-end-point takes of a certificate (RFC 5929, 4.1). */
#include "tls/internal.h"
#include "issue.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/digest.h>
#include <openssl/mem.h>

static CRYPTO_BUFFER *buffer_of(const X509 *certificate) {
  uint8_t *der = NULL;
  const int len = i2d_X509((X509 *)certificate, &der);
  REQUIRE(len > 0);
  CRYPTO_BUFFER *buffer = CRYPTO_BUFFER_new(der, (size_t)len, NULL);
  OPENSSL_free(der);
  REQUIRE(buffer != NULL);
  return buffer;
}

/* hash NULL: there is no such binding. */
static void expect_hash(CRYPTO_BUFFER *certificate, const EVP_MD *hash) {
  uint8_t expected[EVP_MAX_MD_SIZE], bound[EVP_MAX_MD_SIZE];
  unsigned expected_len = 0;
  size_t len = 0;
  const sst_status status = sst__end_point(certificate, bound, sizeof bound, &len);
  EXPECT_STATUS(status, hash == NULL ? SST_ERR_UNSUPPORTED : SST_OK);
  if (hash != NULL && status == SST_OK) {
    REQUIRE(EVP_Digest(CRYPTO_BUFFER_data(certificate), CRYPTO_BUFFER_len(certificate), expected, &expected_len, hash,
                       NULL) == 1);
    EXPECT_BYTES(bound, len, expected, expected_len);
  }
  CRYPTO_BUFFER_free(certificate);
}

static CRYPTO_BUFFER *signed_with(KeyKind kind, const EVP_MD *digest) {
  return buffer_of(ISSUE(.subject = "s", .key = key_of(kind, 0), .digest = digest));
}

static CRYPTO_BUFFER *from_file(const char *name) {
  const Data der = data_certificate(name, 0);
  CRYPTO_BUFFER *buffer = CRYPTO_BUFFER_new(der.bytes, der.len, NULL);
  free(der.bytes);
  REQUIRE(buffer != NULL);
  return buffer;
}

TEST(end_point, hash_is_that_of_the_signature) {
  expect_hash(signed_with(KEY_P256, EVP_sha256()), EVP_sha256());
  expect_hash(signed_with(KEY_P384, EVP_sha384()), EVP_sha384());
  expect_hash(signed_with(KEY_P256, EVP_sha512()), EVP_sha512());
  expect_hash(signed_with(KEY_RSA2048, EVP_sha256()), EVP_sha256());
  expect_hash(signed_with(KEY_RSA2048, EVP_sha384()), EVP_sha384());
  expect_hash(signed_with(KEY_RSA2048, EVP_sha512()), EVP_sha512());
  issue_free_all();
}

TEST(end_point, md5_and_sha1_give_way_to_sha256) {
  expect_hash(from_file("chains/md5-leaf"), EVP_sha256());
  expect_hash(from_file("chains/sha1-leaf"), EVP_sha256());
  expect_hash(from_file("chains/rsa-sha1-leaf"), EVP_sha256());
}

TEST(end_point, ed25519_has_none) {
  expect_hash(signed_with(KEY_ED25519, NULL), NULL);
  issue_free_all();
}

/* A certificate as far as it is looked at: an empty first part, then the algorithm. */
static CRYPTO_BUFFER *with_algorithm(const void *algorithm, size_t len) {
  CBB cbb, outer, part;
  uint8_t *der = NULL;
  size_t der_len = 0;
  REQUIRE(CBB_init(&cbb, 64) && CBB_add_asn1(&cbb, &outer, CBS_ASN1_SEQUENCE) &&
          CBB_add_asn1(&outer, &part, CBS_ASN1_SEQUENCE) && CBB_add_asn1(&outer, &part, CBS_ASN1_SEQUENCE) &&
          CBB_add_bytes(&part, algorithm, len) && CBB_finish(&cbb, &der, &der_len));
  CRYPTO_BUFFER *buffer = CRYPTO_BUFFER_new(der, der_len, NULL);
  OPENSSL_free(der);
  REQUIRE(buffer != NULL);
  return buffer;
}

/* RSASSA-PSS, and SHA-512 as its hash (RFC 4055, 3.1 and 2.1). */
#define PSS "\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a"
#define SHA512 "\xa0\x0f\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00"
#define WITH(text) with_algorithm(text, sizeof text - 1)

TEST(end_point, hash_of_pss_stands_in_its_parameters) {
  expect_hash(from_file("odd-rsa-pss"), EVP_sha256());
  expect_hash(WITH(PSS "\x30\x11" SHA512), EVP_sha512());
  expect_hash(WITH(PSS "\x30\x00"), EVP_sha256()); /* the default, SHA-1 */
  expect_hash(WITH(PSS), NULL);
  expect_hash(WITH(PSS "\x05\x00"), NULL);
  expect_hash(WITH(PSS "\x30\x04\xa0\x02\x05\x00"), NULL);
}

TEST(end_point, what_does_not_parse_has_none) {
  uint8_t out[EVP_MAX_MD_SIZE];
  size_t len = 0;
  EXPECT_STATUS(sst__end_point(NULL, out, sizeof out, &len), SST_ERR_UNSUPPORTED);
  expect_hash(CRYPTO_BUFFER_new((const uint8_t *)"", 0, NULL), NULL);
  expect_hash(CRYPTO_BUFFER_new((const uint8_t *)"\x30\x00", 2, NULL), NULL);
  expect_hash(WITH(""), NULL);
  expect_hash(WITH("\x06\x03\x2a\x03\x04"), NULL); /* an algorithm that nobody knows */
  expect_hash(WITH("\x05\x00"), NULL);
}
