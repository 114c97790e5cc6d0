#include "pfx.h"

#include <string.h>

#include <openssl/bytestring.h>
#include <openssl/mem.h>
#include <openssl/pkcs8.h>
#include <openssl/sha.h>

#include "judge.h"

/* The key of a MAC by SHA-1 in one round (RFC 7292, B.2): one block of 64 bytes each of the number 3, the salt and the
   password "pw" with its end, in UTF-16. */
static void mac_key(const uint8_t salt[8], uint8_t key[SHA_DIGEST_LENGTH]) {
  static const uint8_t password[6] = {0, 'p', 0, 'w', 0, 0};
  uint8_t input[192];
  memset(input, 3, 64);
  for (size_t i = 0; i < 64; i++) {
    input[64 + i] = salt[i % 8];
    input[128 + i] = password[i % sizeof password];
  }
  SHA1(input, sizeof input, key);
}

static void hmac_sha1(const uint8_t key[SHA_DIGEST_LENGTH], const uint8_t *data, size_t len,
                      uint8_t mac[SHA_DIGEST_LENGTH]) {
  uint8_t pad[64];
  SHA_CTX context;
  for (int outer = 0; outer < 2; outer++) {
    memset(pad, outer == 0 ? 0x36 : 0x5c, sizeof pad);
    for (size_t i = 0; i < SHA_DIGEST_LENGTH; i++)
      pad[i] ^= key[i];
    SHA1_Init(&context);
    SHA1_Update(&context, pad, sizeof pad);
    SHA1_Update(&context, outer == 0 ? data : mac, outer == 0 ? len : SHA_DIGEST_LENGTH);
    SHA1_Final(mac, &context);
  }
}

static void add_oid(CBB *to, const char *text) {
  CBB oid;
  REQUIRE(CBB_add_asn1(to, &oid, CBS_ASN1_OBJECT) && CBB_add_asn1_oid_from_text(&oid, text, strlen(text)));
  REQUIRE(CBB_flush(to));
}

Data pfx_wrap(const uint8_t *safe, size_t safe_len) {
  static const uint8_t salt[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  uint8_t key[SHA_DIGEST_LENGTH], mac[SHA_DIGEST_LENGTH];
  mac_key(salt, key);
  hmac_sha1(key, safe, safe_len, mac);
  CBB cbb, pfx, info, tagged, mac_data, digest, algorithm, null;
  REQUIRE(CBB_init(&cbb, 0) && CBB_add_asn1(&cbb, &pfx, CBS_ASN1_SEQUENCE) && CBB_add_asn1_uint64(&pfx, 3));
  REQUIRE(CBB_add_asn1(&pfx, &info, CBS_ASN1_SEQUENCE));
  add_oid(&info, "1.2.840.113549.1.7.1");
  REQUIRE(CBB_add_asn1(&info, &tagged, CBS_ASN1_CONTEXT_SPECIFIC | CBS_ASN1_CONSTRUCTED | 0));
  REQUIRE(CBB_add_asn1_octet_string(&tagged, safe, safe_len));
  REQUIRE(CBB_add_asn1(&pfx, &mac_data, CBS_ASN1_SEQUENCE) && CBB_add_asn1(&mac_data, &digest, CBS_ASN1_SEQUENCE));
  REQUIRE(CBB_add_asn1(&digest, &algorithm, CBS_ASN1_SEQUENCE));
  add_oid(&algorithm, "1.3.14.3.2.26");
  REQUIRE(CBB_add_asn1(&algorithm, &null, CBS_ASN1_NULL));
  REQUIRE(CBB_add_asn1_octet_string(&digest, mac, sizeof mac));
  REQUIRE(CBB_add_asn1_octet_string(&mac_data, salt, sizeof salt) && CBB_add_asn1_uint64(&mac_data, 1));
  uint8_t *der = NULL;
  size_t len = 0;
  REQUIRE(CBB_finish(&cbb, &der, &len));
  const Data made = {test_allocate(len), len};
  memcpy(made.bytes, der, len);
  OPENSSL_free(der);
  return made;
}

Data pfx_safe(int key_nid, int certificate_nid, int rounds) {
  X509 *root = judge_root();
  STACK_OF(X509) *issuers = sk_X509_new_null();
  X509 *intermediate = judge_intermediate(root);
  REQUIRE(issuers != NULL && sk_X509_push(issuers, intermediate));
  PKCS12 *made = PKCS12_create("pw", "name", key_of(KEY_P256, 2), judge_leaf(intermediate), issuers, key_nid,
                               certificate_nid, rounds, 1, 0);
  uint8_t *der = NULL;
  const int len = i2d_PKCS12(made, &der);
  REQUIRE(len > 0);
  CBS cbs, pfx, info, tagged, safe;
  CBS_init(&cbs, der, (size_t)len);
  REQUIRE(CBS_get_asn1(&cbs, &pfx, CBS_ASN1_SEQUENCE) && CBS_get_asn1(&pfx, NULL, CBS_ASN1_INTEGER));
  REQUIRE(CBS_get_asn1(&pfx, &info, CBS_ASN1_SEQUENCE) && CBS_get_asn1(&info, NULL, CBS_ASN1_OBJECT));
  REQUIRE(CBS_get_asn1(&info, &tagged, CBS_ASN1_CONTEXT_SPECIFIC | CBS_ASN1_CONSTRUCTED | 0));
  REQUIRE(CBS_get_asn1(&tagged, &safe, CBS_ASN1_OCTETSTRING));
  const Data data = {test_allocate(CBS_len(&safe)), CBS_len(&safe)};
  memcpy(data.bytes, CBS_data(&safe), data.len);
  OPENSSL_free(der);
  PKCS12_free(made);
  sk_X509_free(issuers);
  return data;
}
