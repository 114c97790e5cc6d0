/* What comes into an identity: from PEM, DER and PKCS#12 into sst__loaded, and from there into the identity. */
#include <openssl/bytestring.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pool.h>
#include <openssl/x509.h>

#include "memory.h"
#include "pem.h"
#include "tls/internal.h"

enum { MOST_CERTIFICATES = 200 }; /* in one load: a chain has 2 to 5, and a bundle of the world's roots is none */

sst_status sst__loaded_add(sst__loaded *in, const uint8_t *der, size_t der_len, bool *valid, sst_error *record) {
  *valid = false;
  if (in->certificates == NULL) in->certificates = sk_CRYPTO_BUFFER_new_null();
  CRYPTO_BUFFER *buffer = in->certificates == NULL ? NULL : CRYPTO_BUFFER_new(der, der_len, NULL);
  if (buffer == NULL) return sst__fail(record, SST_ERR_NO_MEMORY, "no memory for a certificate");
  if (sk_CRYPTO_BUFFER_num(in->certificates) == MOST_CERTIFICATES) {
    CRYPTO_BUFFER_free(buffer);
    return sst__fail(record, SST_ERR_LIST_TOO_LONG, "more than %d certificates", MOST_CERTIFICATES);
  }
  X509 *certificate = sst__parse_certificate(buffer);
  *valid = certificate != NULL;
  X509_free(certificate);
  if (*valid && sk_CRYPTO_BUFFER_push(in->certificates, buffer)) return SST_OK;
  CRYPTO_BUFFER_free(buffer);
  return *valid ? sst__fail(record, SST_ERR_NO_MEMORY, "no memory for a certificate") : SST_OK;
}

/* ---- PEM ---- */

static sst_status read_certificate(const sst__pem_block *block, sst__loaded *in, sst_error *record) {
  uint8_t *der = NULL;
  size_t der_len = 0;
  bool valid = false;
  sst_status status = sst__pem_decode(block, &der, &der_len, record);
  if (status != SST_OK) return status;
  status = sst__loaded_add(in, der, der_len, &valid, record);
  sst__free(der);
  if (status != SST_OK || valid) return status;
  char name[SST__SUBJECT_CAP];
  sst__pem_describe(block, name, sizeof name);
  return sst__fail(record, SST_ERR_PARSE, "%s: not a valid certificate, in the block at line %zu", name, block->line);
}

static sst_status read_key(const sst__pem_block *block, const char *password, size_t password_len, sst__loaded *in,
                           sst_error *record) {
  if (in->key != NULL) { /* which of them was meant is not ours to guess */
    return sst__fail(record, SST_ERR_PARSE, "a second private key at line %zu", block->line);
  }
  return sst__read_private_key(block, password, password_len, &in->key, record);
}

static sst_status read_blocks(const uint8_t *pem, size_t pem_len, const char *password, size_t password_len,
                              sst__loaded *in, sst_error *record) {
  sst__pem scanner;
  sst__pem_block block;
  sst__pem_start(&scanner, pem, pem_len);
  sst_status status = sst__pem_next(&scanner, &block, record);
  while (status == SST_OK) {
    if (block.kind == SST__PEM_CERTIFICATE) status = read_certificate(&block, in, record);
    if (block.kind == SST__PEM_PRIVATE_KEY) status = read_key(&block, password, password_len, in, record);
    if (status == SST_OK) status = sst__pem_next(&scanner, &block, record);
  }
  return status == SST_NONE ? SST_OK : status;
}

/* ---- DER ---- */

static sst_status read_der(const uint8_t *der, size_t der_len, sst__loaded *in, sst_error *record) {
  CBS cbs, element;
  CBS_init(&cbs, der, der_len);
  for (size_t number = 1; CBS_len(&cbs) > 0; number++) {
    const size_t at = der_len - CBS_len(&cbs);
    bool valid = false;
    sst_status status = SST_OK;
    if (sst__next_der(&cbs, &element)) {
      status = sst__loaded_add(in, CBS_data(&element), CBS_len(&element), &valid, record);
    }
    if (status != SST_OK) return status;
    if (!valid) {
      return sst__fail(record, SST_ERR_PARSE, "certificate %zu: not a valid certificate in DER, at byte %zu", number,
                       at);
    }
  }
  return SST_OK;
}

/* ---- the three ways in ---- */

/* Takes over what was read (status says how that went). in is empty afterwards. */
static sst_status finish(sst__identity *identity, sst__loaded *in, sst_status status, uint64_t failed_allocations,
                         sst_error *record) {
  if (status == SST_OK && in->certificates == NULL && in->key == NULL) {
    status = sst__fail(record, SST_ERR_NO_CERTIFICATE, "neither a certificate nor a private key in the input");
  }
  if (status == SST_OK) status = sst__identity_merge(identity, in, record);
  sk_CRYPTO_BUFFER_pop_free(in->certificates, CRYPTO_BUFFER_free);
  EVP_PKEY_free(in->key);
  ERR_clear_error();
  if (status != SST_OK && sst__failed_allocations() != failed_allocations) {
    return sst__fail(record, SST_ERR_NO_MEMORY, "no memory to load a credential");
  }
  return status;
}

sst_status sst__identity_load_pem(sst__identity *identity, const uint8_t *pem, size_t pem_len, const char *password,
                                  size_t password_len, sst_error *record) {
  const uint64_t failed = sst__failed_allocations();
  sst__loaded in = {.key = NULL};
  ERR_clear_error();
  const sst_status status = read_blocks(pem, pem_len, password, password_len, &in, record);
  return finish(identity, &in, status, failed, record);
}

sst_status sst__identity_load_der(sst__identity *identity, const uint8_t *der, size_t der_len, const uint8_t *key,
                                  size_t key_len, sst_error *record) {
  const uint64_t failed = sst__failed_allocations();
  sst__loaded in = {.key = NULL};
  ERR_clear_error();
  sst_status status = read_der(der, der_len, &in, record);
  if (status == SST_OK && key_len > 0) status = sst__read_private_key_der(key, key_len, &in.key, record);
  return finish(identity, &in, status, failed, record);
}

sst_status sst__identity_load_pkcs12(sst__identity *identity, const uint8_t *pfx, size_t pfx_len, const char *password,
                                     size_t password_len, sst_error *record) {
  const uint64_t failed = sst__failed_allocations();
  sst__loaded in = {.key = NULL};
  ERR_clear_error();
  const sst_status status = sst__read_pkcs12(pfx, pfx_len, password, password_len, &in, record);
  return finish(identity, &in, status, failed, record);
}
