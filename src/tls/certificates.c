/* Identities: chains and their private keys. Everything is parsed at load, so that no handshake meets a fault in it. */
#include <stdio.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pool.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "memory.h"
#include "pem.h"
#include "tls/internal.h"

/* What is in the input of one load. */
typedef struct loaded {
  STACK_OF(CRYPTO_BUFFER) * chain; /* NULL: no certificate */
  EVP_PKEY *key;                   /* NULL: no key */
} loaded;

sst__identity *sst__identity_new(void) {
  return sst__alloc(sizeof(sst__identity));
}

void sst__identity_free(sst__identity *identity) {
  if (identity == NULL) return;
  EVP_PKEY_free(identity->key);
  sk_CRYPTO_BUFFER_pop_free(identity->chain, CRYPTO_BUFFER_free);
  SSL_CREDENTIAL_free(identity->credential);
  sst__free(identity);
}

bool sst__identity_is_complete(const sst__identity *identity) {
  return identity->credential != NULL;
}

bool sst__identity_certificate(const sst__identity *identity, size_t index, const uint8_t **der, size_t *der_len) {
  if (identity->chain == NULL || index >= sk_CRYPTO_BUFFER_num(identity->chain)) return false;
  const CRYPTO_BUFFER *certificate = sk_CRYPTO_BUFFER_value(identity->chain, index);
  *der = CRYPTO_BUFFER_data(certificate);
  *der_len = CRYPTO_BUFFER_len(certificate);
  return true;
}

X509 *sst__parse_certificate(const CRYPTO_BUFFER *der) {
  X509 *certificate = X509_parse_from_buffer(der);
  if (certificate == NULL) return NULL;
  if ((X509_get_extension_flags(certificate) & EXFLAG_INVALID) != 0) {
    X509_free(certificate);
    return NULL;
  }
  (void)X509_get0_pubkey(certificate); /* decoded once and kept, as well */
  return certificate;
}

/* Adds the certificate in a block to loaded->chain. */
static sst_status read_certificate(const sst__pem_block *block, loaded *in, sst_error *record) {
  uint8_t *der = NULL;
  size_t der_len = 0;
  sst_status status = sst__pem_decode(block, &der, &der_len, record);
  if (status != SST_OK) return status;
  if (in->chain == NULL) in->chain = sk_CRYPTO_BUFFER_new_null();
  CRYPTO_BUFFER *buffer = CRYPTO_BUFFER_new(der, der_len, NULL);
  sst__free(der);
  X509 *certificate = buffer == NULL ? NULL : sst__parse_certificate(buffer);
  if (certificate == NULL) {
    char name[SST__SUBJECT_CAP];
    sst__pem_describe(block, name, sizeof name);
    status =
        sst__fail(record, SST_ERR_PARSE, "%s: not a valid certificate, in the block at line %zu", name, block->line);
    goto done;
  }
  if (in->chain == NULL || !sk_CRYPTO_BUFFER_push(in->chain, buffer)) {
    status = sst__fail(record, SST_ERR_NO_MEMORY, "no memory for a certificate");
    goto done;
  }
  buffer = NULL;
done:
  CRYPTO_BUFFER_free(buffer);
  X509_free(certificate);
  return status;
}

static sst_status read_key(const sst__pem_block *block, const char *password, size_t password_len, loaded *in,
                           sst_error *record) {
  if (in->key != NULL) { /* which of them was meant is not ours to guess */
    return sst__fail(record, SST_ERR_PARSE, "a second private key at line %zu", block->line);
  }
  return sst__read_private_key(block, password, password_len, &in->key, record);
}

static sst_status read_blocks(const uint8_t *pem, size_t pem_len, const char *password, size_t password_len, loaded *in,
                              sst_error *record) {
  sst__pem scanner;
  sst__pem_block block;
  sst__pem_start(&scanner, pem, pem_len);
  sst_status status = sst__pem_next(&scanner, &block, record);
  while (status == SST_OK) {
    if (block.kind == SST__PEM_CERTIFICATE) status = read_certificate(&block, in, record);
    if (block.kind == SST__PEM_PRIVATE_KEY) status = read_key(&block, password, password_len, in, record);
    if (status == SST_OK) status = sst__pem_next(&scanner, &block, record);
  }
  if (status != SST_NONE) return status;
  if (in->chain != NULL || in->key != NULL) return SST_OK;
  return sst__fail(record, SST_ERR_NO_CERTIFICATE, "neither a certificate nor a private key in the input");
}

static X509 *certificate_at(const STACK_OF(CRYPTO_BUFFER) * chain, size_t index) {
  return sst__parse_certificate(sk_CRYPTO_BUFFER_value(chain, index));
}

static sst_status check_leaf(const STACK_OF(CRYPTO_BUFFER) * chain, sst_error *record) {
  X509 *leaf = certificate_at(chain, 0);
  if (leaf == NULL) return sst__fail(record, SST_ERR_PARSE, "the leaf certificate does not parse");
  char subject[SST__SUBJECT_CAP], whose[SST__SUBJECT_CAP + 32];
  sst__subject_text(X509_get_subject_name(leaf), subject, sizeof subject);
  (void)snprintf(whose, sizeof whose, "the leaf's key (%s)", subject);
  sst_status status = sst__check_key_kind(X509_get0_pubkey(leaf), whose, record);
  /* RFC 8446, 4.4.2.2 and RFC 5246, 7.4.2: with ECDHE and in TLS 1.3 a leaf does nothing but sign. Peers refuse
     others. */
  if (status == SST_OK && (X509_get_key_usage(leaf) & X509v3_KU_DIGITAL_SIGNATURE) == 0) {
    status = sst__fail(record, SST_ERR_UNSUPPORTED_KEY,
                       "the leaf certificate (%s) has a key usage without digitalSignature", subject);
  }
  X509_free(leaf);
  return status;
}

static bool key_belongs_to(const STACK_OF(CRYPTO_BUFFER) * chain, size_t index, const EVP_PKEY *key) {
  X509 *certificate = certificate_at(chain, index);
  const EVP_PKEY *public_key = certificate == NULL ? NULL : X509_get0_pubkey(certificate);
  const bool belongs = public_key != NULL && EVP_PKEY_eq(public_key, key) == 1;
  X509_free(certificate);
  return belongs;
}

static sst_status check_match(const STACK_OF(CRYPTO_BUFFER) * chain, const EVP_PKEY *key, sst_error *record) {
  if (key_belongs_to(chain, 0, key)) return SST_OK;
  const size_t count = sk_CRYPTO_BUFFER_num(chain);
  for (size_t i = 1; i < count; i++) {
    if (!key_belongs_to(chain, i, key)) continue;
    return sst__fail(record, SST_ERR_KEY_MISMATCH,
                     "the private key belongs to certificate %zu of %zu; the leaf must come first", i + 1, count);
  }
  return sst__fail(record, SST_ERR_KEY_MISMATCH, "the private key does not belong to the leaf certificate");
}

/* Ours, so that no signature is ever made with SHA-1, which BoringSSL has at the end of its list. */
static const uint16_t signing_schemes[] = {SSL_SIGN_ECDSA_SECP256R1_SHA256, SSL_SIGN_ECDSA_SECP384R1_SHA384,
                                           SSL_SIGN_ECDSA_SECP521R1_SHA512, SSL_SIGN_ED25519,
                                           SSL_SIGN_RSA_PSS_RSAE_SHA256,    SSL_SIGN_RSA_PSS_RSAE_SHA384,
                                           SSL_SIGN_RSA_PSS_RSAE_SHA512,    SSL_SIGN_RSA_PKCS1_SHA256,
                                           SSL_SIGN_RSA_PKCS1_SHA384,       SSL_SIGN_RSA_PKCS1_SHA512};

static SSL_CREDENTIAL *make_credential(const STACK_OF(CRYPTO_BUFFER) * chain, const EVP_PKEY *key) {
  const size_t count = sk_CRYPTO_BUFFER_num(chain);
  SSL_CREDENTIAL *credential = SSL_CREDENTIAL_new_x509();
  CRYPTO_BUFFER **certificates = sst__alloc(count * sizeof *certificates);
  bool made = credential != NULL && certificates != NULL;
  for (size_t i = 0; made && i < count; i++)
    certificates[i] = sk_CRYPTO_BUFFER_value(chain, i);
  made = made && SSL_CREDENTIAL_set1_cert_chain(credential, certificates, count) &&
         SSL_CREDENTIAL_set1_private_key(credential, key) &&
         SSL_CREDENTIAL_set1_signing_algorithm_prefs(credential, signing_schemes,
                                                     sizeof signing_schemes / sizeof signing_schemes[0]);
  sst__free(certificates);
  if (made) return credential;
  SSL_CREDENTIAL_free(credential);
  return NULL;
}

/* Puts what was loaded beside what was there, checks it, and makes it the identity's: the only place that changes
   one. */
static sst_status merge(sst__identity *identity, loaded *in, sst_error *record) {
  const STACK_OF(CRYPTO_BUFFER) *chain = in->chain != NULL ? in->chain : identity->chain;
  const EVP_PKEY *key = in->key != NULL ? in->key : identity->key;
  SSL_CREDENTIAL *credential = NULL;
  sst_status status = in->chain != NULL ? check_leaf(in->chain, record) : SST_OK;
  if (status == SST_OK && chain != NULL && key != NULL) {
    status = check_match(chain, key, record);
    if (status != SST_OK) return status;
    credential = make_credential(chain, key);
    if (credential == NULL) return sst__fail(record, SST_ERR_UNSUPPORTED_KEY, "chain and key cannot be used for TLS");
  }
  if (status != SST_OK) return status;

  if (in->chain != NULL) {
    sk_CRYPTO_BUFFER_pop_free(identity->chain, CRYPTO_BUFFER_free);
    identity->chain = in->chain;
    in->chain = NULL;
  }
  if (in->key != NULL) {
    EVP_PKEY_free(identity->key);
    identity->key = in->key;
    in->key = NULL;
  }
  SSL_CREDENTIAL_free(identity->credential);
  identity->credential = credential;
  return SST_OK;
}

sst_status sst__identity_load_pem(sst__identity *identity, const uint8_t *pem, size_t pem_len, const char *password,
                                  size_t password_len, sst_error *record) {
  const uint64_t failed = sst__failed_allocations();
  loaded in = {.chain = NULL};
  ERR_clear_error();
  sst_status status = read_blocks(pem, pem_len, password, password_len, &in, record);
  if (status == SST_OK) status = merge(identity, &in, record);
  sk_CRYPTO_BUFFER_pop_free(in.chain, CRYPTO_BUFFER_free);
  EVP_PKEY_free(in.key);
  ERR_clear_error();
  if (status != SST_OK && sst__failed_allocations() != failed) {
    return sst__fail(record, SST_ERR_NO_MEMORY, "no memory to load a credential");
  }
  return status;
}
