/* Identities: chains and their private keys. Everything is parsed at load, so that no handshake meets a fault in it. */
#include <stdio.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pool.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "memory.h"
#include "tls/internal.h"

sst__identity *sst__identity_new(void) {
  return sst__alloc(sizeof(sst__identity));
}

void sst__identity_free(sst__identity *identity) {
  if (identity == NULL) return;
  EVP_PKEY_free(identity->key);
  sk_CRYPTO_BUFFER_pop_free(identity->certificates, CRYPTO_BUFFER_free);
  sk_CRYPTO_BUFFER_pop_free(identity->chain, CRYPTO_BUFFER_free);
  SSL_CREDENTIAL_free(identity->credential);
  CRYPTO_BUFFER_free(identity->staples.ocsp_response);
  CRYPTO_BUFFER_free(identity->staples.scts);
  sst__free(identity);
}

bool sst__identity_has_private_key(const sst__identity *identity) {
  return identity->key != NULL && identity->num_schemes == 0;
}

bool sst__identity_is_complete(const sst__identity *identity) {
  return identity->credential != NULL;
}

uint32_t sst__identity_rsa_bits(const sst__identity *identity) {
  if (identity->key == NULL || EVP_PKEY_id(identity->key) != EVP_PKEY_RSA) return 0;
  return (uint32_t)EVP_PKEY_bits(identity->key);
}

bool sst__identity_certificate(const sst__identity *identity, size_t index, const uint8_t **der, size_t *der_len) {
  if (identity->chain == NULL || index >= sk_CRYPTO_BUFFER_num(identity->chain)) return false;
  const CRYPTO_BUFFER *certificate = sk_CRYPTO_BUFFER_value(identity->chain, index);
  *der = CRYPTO_BUFFER_data(certificate);
  *der_len = CRYPTO_BUFFER_len(certificate);
  return true;
}

static sst_status check_leaf(const STACK_OF(CRYPTO_BUFFER) * chain, sst_error *record) {
  X509 *leaf = sst__parse_certificate(sk_CRYPTO_BUFFER_value(chain, 0));
  if (leaf == NULL)
    return sst__fail(record, SST_ERR_PARSE, "certificate 1 of %zu, the leaf, does not parse",
                     sk_CRYPTO_BUFFER_num(chain));
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

/* Ours, so that no signature is ever made with SHA-1, which BoringSSL has at the end of its list. */
static const uint16_t signing_schemes[] = {SSL_SIGN_ECDSA_SECP256R1_SHA256, SSL_SIGN_ECDSA_SECP384R1_SHA384,
                                           SSL_SIGN_ECDSA_SECP521R1_SHA512, SSL_SIGN_ED25519,
                                           SSL_SIGN_RSA_PSS_RSAE_SHA256,    SSL_SIGN_RSA_PSS_RSAE_SHA384,
                                           SSL_SIGN_RSA_PSS_RSAE_SHA512,    SSL_SIGN_RSA_PKCS1_SHA256,
                                           SSL_SIGN_RSA_PKCS1_SHA384,       SSL_SIGN_RSA_PKCS1_SHA512};

/* Key, and the schemes that it is to be used with: a list of the caller's, who signs, or ours. */
static bool set_key(SSL_CREDENTIAL *credential, const sst__identity *identity, const EVP_PKEY *key) {
  if (identity->num_schemes > 0) {
    return SSL_CREDENTIAL_set_private_key_method(credential, sst__caller_signs()) &&
           SSL_CREDENTIAL_set1_signing_algorithm_prefs(credential, identity->schemes, identity->num_schemes);
  }
  return SSL_CREDENTIAL_set1_private_key(credential, key) &&
         SSL_CREDENTIAL_set1_signing_algorithm_prefs(credential, signing_schemes,
                                                     sizeof signing_schemes / sizeof signing_schemes[0]);
}

static bool staple(SSL_CREDENTIAL *credential, const sst__staples *staples) {
  const CRYPTO_BUFFER *ocsp_response = staples->ocsp_response, *scts = staples->scts;
  return (ocsp_response == NULL || SSL_CREDENTIAL_set1_ocsp_response(credential, ocsp_response)) &&
         (scts == NULL || SSL_CREDENTIAL_set1_signed_cert_timestamp_list(credential, scts));
}

SSL_CREDENTIAL *sst__make_credential(const sst__identity *identity, const STACK_OF(CRYPTO_BUFFER) * chain,
                                     const EVP_PKEY *key) {
  const size_t count = sk_CRYPTO_BUFFER_num(chain);
  SSL_CREDENTIAL *credential = SSL_CREDENTIAL_new_x509();
  CRYPTO_BUFFER **certificates = sst__alloc(count * sizeof *certificates);
  bool made = credential != NULL && certificates != NULL;
  for (size_t i = 0; made && i < count; i++)
    certificates[i] = sk_CRYPTO_BUFFER_value(chain, i);
  made = made && SSL_CREDENTIAL_set1_cert_chain(credential, certificates, count) &&
         set_key(credential, identity, key) && staple(credential, &identity->staples);
  sst__free(certificates);
  if (made) return credential;
  SSL_CREDENTIAL_free(credential);
  return NULL;
}

static void take_certificates(STACK_OF(CRYPTO_BUFFER) * *to, STACK_OF(CRYPTO_BUFFER) * *from) {
  if (*from == NULL) return;
  sk_CRYPTO_BUFFER_pop_free(*to, CRYPTO_BUFFER_free);
  *to = *from;
  *from = NULL;
}

/* A chain whose key is elsewhere: what the key is stands in the leaf. */
static EVP_PKEY *public_key(const STACK_OF(CRYPTO_BUFFER) * chain) {
  X509 *leaf = sst__parse_certificate(sk_CRYPTO_BUFFER_value(chain, 0));
  EVP_PKEY *key = leaf == NULL ? NULL : X509_get_pubkey(leaf);
  X509_free(leaf);
  return key;
}

static sst_status check_schemes(const sst__identity *identity, const EVP_PKEY *key, sst_error *record) {
  if (key == NULL) return sst__fail(record, SST_ERR_NO_MEMORY, "no memory for a public key");
  for (size_t i = 0; i < identity->num_schemes; i++) {
    if (sst__key_can_sign(key, identity->schemes[i], false)) return SST_OK;
  }
  return sst__fail(record, SST_ERR_KEY_MISMATCH,
                   "the leaf's key makes no signatures of the schemes that the caller has");
}

sst_status sst__identity_set_caller_signs(sst__identity *identity, const uint16_t *schemes, size_t num_schemes,
                                          sst_error *record) {
  const sst__identity before = *identity;
  sst__loaded none = {.key = NULL};
  memcpy(identity->schemes, schemes, num_schemes * sizeof *schemes);
  identity->num_schemes = num_schemes;
  const sst_status status = sst__identity_merge(identity, &none, record);
  EVP_PKEY_free(none.key);
  ERR_clear_error();
  if (status == SST_OK) return SST_OK;
  memcpy(identity->schemes, before.schemes, sizeof before.schemes);
  identity->num_schemes = before.num_schemes;
  return status;
}

sst_status sst__identity_merge(sst__identity *identity, sst__loaded *in, sst_error *record) {
  if (identity->num_schemes > 0 && in->key != NULL) {
    return sst__fail(record, SST_ERR_KEY_MISMATCH, "a private key for a credential whose caller signs");
  }
  const bool caller_signs = identity->num_schemes > 0;
  const STACK_OF(CRYPTO_BUFFER) *certificates = in->certificates != NULL ? in->certificates : identity->certificates;
  const EVP_PKEY *key = in->key != NULL ? in->key : identity->key;
  if (caller_signs) key = NULL;
  STACK_OF(CRYPTO_BUFFER) *chain = NULL;
  SSL_CREDENTIAL *credential = NULL;
  sst_status status = SST_OK;
  if (certificates != NULL) {
    status = sst__order_chain(certificates, key, &chain, record);
    if (status == SST_OK) status = check_leaf(chain, record);
    if (status == SST_OK && caller_signs) {
      key = in->key = public_key(chain);
      status = check_schemes(identity, key, record);
    }
  }
  if (status == SST_OK && chain != NULL && key != NULL) {
    credential = sst__make_credential(identity, chain, key);
    if (credential == NULL) {
      const char *refusal = ERR_reason_error_string(ERR_peek_error());
      status = sst__fail(record, SST_ERR_UNSUPPORTED_KEY, "chain and key cannot be used for TLS: %s",
                         refusal == NULL ? "no reason is known" : refusal);
    }
  }
  if (status != SST_OK) {
    sk_CRYPTO_BUFFER_pop_free(chain, CRYPTO_BUFFER_free);
    return status;
  }

  take_certificates(&identity->certificates, &in->certificates);
  take_certificates(&identity->chain, &chain);
  if (in->key != NULL) {
    EVP_PKEY_free(identity->key);
    identity->key = in->key;
    in->key = NULL;
  }
  SSL_CREDENTIAL_free(identity->credential);
  identity->credential = credential;
  return SST_OK;
}
