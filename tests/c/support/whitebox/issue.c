#include "issue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bytestring.h>
#include <openssl/conf.h>
#include <openssl/ec_key.h>
#include <openssl/mem.h>
#include <openssl/nid.h>
#include <openssl/pool.h>
#include <openssl/rsa.h>

#include "test.h"

enum { KEYS_OF_A_KIND = 4, MAX_CERTIFICATES = 256, DAY = 86400 };

static EVP_PKEY *keys[KEY_KINDS][KEYS_OF_A_KIND];
static X509 *certificates[MAX_CERTIFICATES];
static size_t num_certificates;

static EVP_PKEY *make(int type, int curve, int bits) {
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id(type, NULL);
  REQUIRE(context != NULL && EVP_PKEY_keygen_init(context));
  if (type == EVP_PKEY_EC) REQUIRE(EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, curve));
  if (type == EVP_PKEY_RSA) REQUIRE(EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits));
  REQUIRE(EVP_PKEY_keygen(context, &key));
  EVP_PKEY_CTX_free(context);
  return key;
}

EVP_PKEY *key_of(KeyKind kind, unsigned number) {
  static const struct {
    int type, curve, bits;
  } kinds[KEY_KINDS] = {
      [KEY_P224] = {EVP_PKEY_EC, NID_secp224r1, 0}, [KEY_P256] = {EVP_PKEY_EC, NID_X9_62_prime256v1, 0},
      [KEY_P384] = {EVP_PKEY_EC, NID_secp384r1, 0}, [KEY_P521] = {EVP_PKEY_EC, NID_secp521r1, 0},
      [KEY_ED25519] = {EVP_PKEY_ED25519, 0, 0},     [KEY_RSA1024] = {EVP_PKEY_RSA, 0, 1024},
      [KEY_RSA2048] = {EVP_PKEY_RSA, 0, 2048}};
  REQUIRE(kind < KEY_KINDS && number < KEYS_OF_A_KIND);
  if (keys[kind][number] == NULL) keys[kind][number] = make(kinds[kind].type, kinds[kind].curve, kinds[kind].bits);
  return keys[kind][number];
}

static X509 *keep(X509 *certificate) {
  REQUIRE(certificate != NULL && num_certificates < MAX_CERTIFICATES);
  certificates[num_certificates++] = certificate;
  return certificate;
}

static void extend(X509 *certificate, const X509 *issuer, int nid, const char *value) {
  if (value == NULL) return;
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_nconf_nid(NULL, &context, nid, value);
  REQUIRE(extension != NULL && X509_add_ext(certificate, extension, -1));
  X509_EXTENSION_free(extension);
}

static void extend_unknown(X509 *certificate) {
  ASN1_OBJECT *object = OBJ_txt2obj("1.2.3.4.5", 1);
  ASN1_OCTET_STRING *value = ASN1_OCTET_STRING_new();
  REQUIRE(object != NULL && value != NULL && ASN1_OCTET_STRING_set(value, (const uint8_t *)"\x05", 2));
  X509_EXTENSION *extension = X509_EXTENSION_create_by_OBJ(NULL, object, 1, value);
  REQUIRE(extension != NULL && X509_add_ext(certificate, extension, -1));
  X509_EXTENSION_free(extension);
  ASN1_OCTET_STRING_free(value);
  ASN1_OBJECT_free(object);
}

static void add_extensions(X509 *certificate, const X509 *issuer, const Issue *order) {
  char constraint[64];
  snprintf(constraint, sizeof constraint, "critical,CA:TRUE%s%s",
           order->path_length == NULL ? "" : ",pathlen:", order->path_length == NULL ? "" : order->path_length);
  if (order->ca) extend(certificate, issuer, NID_basic_constraints, constraint);
  extend(certificate, issuer, NID_key_usage,
         order->usage != NULL ? order->usage
         : order->ca          ? "critical,keyCertSign"
                              : NULL);
  extend(certificate, issuer, NID_ext_key_usage, order->purposes);
  extend(certificate, issuer, NID_subject_alt_name, order->names);
  extend(certificate, issuer, NID_name_constraints, order->constraints);
  if (order->key_ids) extend(certificate, issuer, NID_subject_key_identifier, "hash");
  const bool issuer_has_id = order->issuer != NULL && X509_get0_subject_key_id(order->issuer) != NULL;
  if (order->key_ids && issuer_has_id) extend(certificate, issuer, NID_authority_key_identifier, "keyid:always");
  if (order->unknown_critical) extend_unknown(certificate);
}

X509 *issue(const Issue *order) {
  static int serial;
  X509 *certificate = keep(X509_new());
  const X509 *issuer = order->issuer != NULL ? order->issuer : certificate;
  EVP_PKEY *issuer_key = order->issuer_key != NULL ? order->issuer_key : order->key;
  const bool default_times = order->begin == 0 && order->end == 0;
  const int begin = default_times ? -100 : order->begin, end = default_times ? 100 : order->end;

  REQUIRE(X509_set_version(certificate, X509_VERSION_3));
  REQUIRE(ASN1_INTEGER_set_int64(X509_get_serialNumber(certificate), 1000 + serial++));
  REQUIRE(X509_set_pubkey(certificate, order->key));
  X509_NAME *subject = X509_get_subject_name(certificate);
  if (order->subject[0] != 0) {
    REQUIRE(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const uint8_t *)order->subject, -1, -1, 0));
  }
  REQUIRE(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)));
  REQUIRE(ASN1_TIME_set_posix(X509_getm_notBefore(certificate), DATA_CLOCK + (int64_t)begin * DAY));
  REQUIRE(ASN1_TIME_set_posix(X509_getm_notAfter(certificate), DATA_CLOCK + (int64_t)end * DAY));
  add_extensions(certificate, issuer, order);
  const EVP_MD *digest = order->digest != NULL                         ? order->digest
                         : EVP_PKEY_id(issuer_key) == EVP_PKEY_ED25519 ? NULL
                                                                       : EVP_sha256();
  REQUIRE(X509_sign(certificate, issuer_key, digest) > 0);
  return certificate;
}

X509 *issue_damaged(const X509 *certificate) {
  uint8_t *der = NULL;
  const int len = i2d_X509(certificate, &der);
  REQUIRE(len > 0);
  der[len - 1] ^= 1;
  const uint8_t *parsed = der;
  X509 *damaged = keep(d2i_X509(NULL, &parsed, len));
  OPENSSL_free(der);
  return damaged;
}

void issue_free_all(void) {
  while (num_certificates > 0)
    X509_free(certificates[--num_certificates]);
  for (size_t kind = 0; kind < KEY_KINDS; kind++) {
    for (size_t i = 0; i < KEYS_OF_A_KIND; i++) {
      EVP_PKEY_free(keys[kind][i]);
      keys[kind][i] = NULL;
    }
  }
}

char *issue_pem(const X509 *const *list) {
  char *pem = test_allocate(1);
  size_t len = 0;
  for (; *list != NULL; list++) {
    uint8_t *der = NULL;
    const int der_len = i2d_X509(*list, &der);
    REQUIRE(der_len > 0);
    pem = test_reallocate(pem, len + (size_t)der_len * 2 + 100);
    len += (size_t)sprintf(pem + len, "-----BEGIN CERTIFICATE-----\n");
    len += EVP_EncodeBlock((uint8_t *)pem + len, der, (size_t)der_len);
    len += (size_t)sprintf(pem + len, "\n-----END CERTIFICATE-----\n");
    OPENSSL_free(der);
  }
  pem[len] = 0;
  return pem;
}
