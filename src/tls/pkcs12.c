/* PKCS#12 files (RFC 7292). */
#include <string.h>

#include <openssl/digest.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pkcs8.h>
#include <openssl/x509.h>

#include "memory.h"
#include "tls/internal.h"

/* What BoringSSL's queue says of a file that it did not take. */
static sst_status read_reason(int library, int reason, bool has_password, sst_error *record) {
  if (library == ERR_LIB_DIGEST && reason == DIGEST_R_UNKNOWN_HASH) {
    return sst__fail(record, SST_ERR_UNSUPPORTED_CIPHER, "PKCS#12: a MAC of a kind that is not read");
  }
  if (library == ERR_LIB_EVP && reason == EVP_R_UNSUPPORTED_ALGORITHM) {
    return sst__check_key_kind(NULL, "PKCS#12: the private key", record);
  }
  if (library != ERR_LIB_PKCS8) return SST_OK;
  switch (reason) {
    case PKCS8_R_INCORRECT_PASSWORD:
      if (has_password) return sst__fail(record, SST_ERR_BAD_PASSWORD, "PKCS#12: the password does not open it");
      return sst__fail(record, SST_ERR_PASSWORD_REQUIRED, "PKCS#12: it has a password, and none was given");
    case PKCS8_R_INVALID_CHARACTERS:
      return sst__fail(record, SST_ERR_BAD_PASSWORD, "PKCS#12: the password is not UTF-8");
    case PKCS8_R_UNKNOWN_ALGORITHM:
    case PKCS8_R_UNSUPPORTED_CIPHER:
    case PKCS8_R_UNSUPPORTED_KEY_DERIVATION_FUNCTION:
    case PKCS8_R_UNSUPPORTED_KEYLENGTH:
    case PKCS8_R_UNSUPPORTED_PRF:
    case PKCS8_R_UNSUPPORTED_SALT_TYPE:
      return sst__fail(record, SST_ERR_UNSUPPORTED_CIPHER, "PKCS#12: encrypted by a cipher that is not read");
    case PKCS8_R_PKCS12_PUBLIC_KEY_INTEGRITY_NOT_SUPPORTED:
      return sst__fail(record, SST_ERR_UNSUPPORTED_CIPHER, "PKCS#12: signed with a key instead of a MAC");
    case PKCS8_R_MISSING_MAC:
      return sst__fail(record, SST_ERR_PARSE, "PKCS#12: it has no MAC");
    case PKCS8_R_MULTIPLE_PRIVATE_KEYS_IN_PKCS12:
      return sst__fail(record, SST_ERR_PARSE, "PKCS#12: it has more than one private key");
    default:
      return SST_OK;
  }
}

static sst_status read_failure(bool has_password, sst_error *record) {
  for (uint32_t error = ERR_get_error(); error != 0; error = ERR_get_error()) {
    const sst_status status = read_reason(ERR_GET_LIB(error), ERR_GET_REASON(error), has_password, record);
    if (status != SST_OK) return status;
  }
  return sst__fail(record, SST_ERR_PARSE, "PKCS#12: damaged, cut off, or something else");
}

/* BoringSSL takes the password as a C string. */
static sst_status copy_password(const char *password, size_t password_len, char **copy, sst_error *record) {
  if (password_len > 0 && memchr(password, 0, password_len) != NULL) {
    return sst__fail(record, SST_ERR_BAD_PASSWORD, "PKCS#12: a NUL in the password");
  }
  *copy = sst__alloc(password_len + 1);
  if (*copy == NULL) return sst__fail(record, SST_ERR_NO_MEMORY, "no memory to load a credential");
  if (password_len > 0) memcpy(*copy, password, password_len);
  return SST_OK;
}

static sst_status take_certificates(const STACK_OF(X509) * certificates, sst__loaded *in, sst_error *record) {
  const size_t count = sk_X509_num(certificates);
  for (size_t i = 0; i < count; i++) {
    uint8_t *der = NULL;
    const int der_len = i2d_X509(sk_X509_value(certificates, i), &der);
    bool valid = false;
    if (der_len <= 0) return sst__fail(record, SST_ERR_NO_MEMORY, "no memory for a certificate");
    const sst_status status = sst__loaded_add(in, der, (size_t)der_len, &valid, record);
    OPENSSL_free(der);
    if (status != SST_OK) return status;
    if (!valid) return sst__fail(record, SST_ERR_PARSE, "PKCS#12: certificate %zu of %zu is not valid", i + 1, count);
  }
  return SST_OK;
}

static sst_status refuse_rest(size_t len, sst_error *record) {
  return sst__fail(record, SST_ERR_PARSE, "PKCS#12: %zu bytes behind its end", len);
}

/* BoringSSL does not say that what is wrong is behind the end. */
static sst_status check_end(CBS pfx, sst_error *record) {
  CBS element;
  CBS_ASN1_TAG tag;
  int indefinite = 0;
  if (!CBS_get_any_ber_asn1_element(&pfx, &element, &tag, NULL, NULL, &indefinite) || indefinite) return SST_OK;
  return CBS_len(&pfx) == 0 ? SST_OK : refuse_rest(CBS_len(&pfx), record);
}

static sst_status parse(const uint8_t *pfx, size_t pfx_len, const char *password, sst__loaded *in,
                        STACK_OF(X509) * certificates, sst_error *record) {
  CBS cbs;
  CBS_init(&cbs, pfx, pfx_len);
  sst_status status = check_end(cbs, record);
  if (status != SST_OK) return status;
  if (!PKCS12_get_key_and_certs(&in->key, certificates, &cbs, password)) return read_failure(password[0] != 0, record);
  if (CBS_len(&cbs) > 0) return refuse_rest(CBS_len(&cbs), record); /* of a file in BER */
  if (in->key == NULL) return sst__fail(record, SST_ERR_NO_PRIVATE_KEY, "PKCS#12: there is no private key in it");
  if (sk_X509_num(certificates) == 0) {
    return sst__fail(record, SST_ERR_NO_CERTIFICATE, "PKCS#12: there is no certificate in it");
  }
  status = sst__check_key_kind(in->key, "PKCS#12: the private key", record);
  return status == SST_OK ? take_certificates(certificates, in, record) : status;
}

sst_status sst__read_pkcs12(const uint8_t *pfx, size_t pfx_len, const char *password, size_t password_len,
                            sst__loaded *in, sst_error *record) {
  if (sst__hashing_rounds(pfx, pfx_len) > SST__MOST_HASHING_ROUNDS) {
    return sst__fail(record, SST_ERR_UNSUPPORTED_CIPHER, "PKCS#12: its password must be hashed more than %d times",
                     SST__MOST_HASHING_ROUNDS);
  }
  char *copy = NULL;
  sst_status status = copy_password(password, password_len, &copy, record);
  if (status != SST_OK) return status;
  STACK_OF(X509) *certificates = sk_X509_new_null();
  status = certificates == NULL ? sst__fail(record, SST_ERR_NO_MEMORY, "no memory to load a credential")
                                : parse(pfx, pfx_len, copy, in, certificates, record);
  sk_X509_pop_free(certificates, X509_free);
  sst__free(copy); /* wiped */
  return status;
}
