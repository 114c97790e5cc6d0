#include <openssl/bytestring.h>
#include <openssl/evp.h>
#include <openssl/nid.h>
#include <openssl/ssl.h>

#include "tls/internal.h"

bool sst__key_can_sign(const EVP_PKEY *key, uint16_t scheme, bool tls13) {
  const int kind = EVP_PKEY_id(key);
  const int curve = kind == EVP_PKEY_EC ? EVP_PKEY_get_ec_curve_nid(key) : NID_undef;
  switch (scheme) {
    case SSL_SIGN_RSA_PSS_RSAE_SHA256:
    case SSL_SIGN_RSA_PSS_RSAE_SHA384:
    case SSL_SIGN_RSA_PSS_RSAE_SHA512:
      return kind == EVP_PKEY_RSA;
    case SSL_SIGN_RSA_PKCS1_SHA256:
    case SSL_SIGN_RSA_PKCS1_SHA384:
    case SSL_SIGN_RSA_PKCS1_SHA512:
      return kind == EVP_PKEY_RSA && !tls13;
    case SSL_SIGN_ED25519:
      return kind == EVP_PKEY_ED25519;
    /* TLS 1.2 names the digest only, TLS 1.3 the curve as well (RFC 8446, 4.2.3). */
    case SSL_SIGN_ECDSA_SECP256R1_SHA256:
      return kind == EVP_PKEY_EC && (!tls13 || curve == NID_X9_62_prime256v1);
    case SSL_SIGN_ECDSA_SECP384R1_SHA384:
      return kind == EVP_PKEY_EC && (!tls13 || curve == NID_secp384r1);
    case SSL_SIGN_ECDSA_SECP521R1_SHA512:
      return kind == EVP_PKEY_EC && (!tls13 || curve == NID_secp521r1);
    default:
      return false;
  }
}

static bool scheme_fits(const sst__identity *identity, const SSL *ssl) {
  const uint16_t *schemes = NULL;
  const size_t num_schemes = SSL_get0_peer_verify_algorithms(ssl, &schemes);
  const bool tls13 = SSL_version(ssl) >= TLS1_3_VERSION;
  for (size_t i = 0; i < num_schemes; i++) {
    const bool ours =
        identity->num_schemes == 0 || sst__has_number(identity->schemes, identity->num_schemes, schemes[i]);
    if (ours && sst__key_can_sign(identity->key, schemes[i], tls13)) return true;
  }
  return false;
}

/* ClientCertificateType of TLS 1.2 (RFC 5246, 7.4.4): rsa_sign, and ecdsa_sign, which stands for EdDSA too (RFC 8422,
   5.5). */
static bool type_fits(const sst__identity *identity, const SSL *ssl) {
  const uint8_t *types = NULL;
  const size_t num_types = SSL_get0_certificate_types(ssl, &types);
  const uint8_t ours = EVP_PKEY_id(identity->key) == EVP_PKEY_RSA ? SSL3_CT_RSA_SIGN : (uint8_t)TLS_CT_ECDSA_SIGN;
  if (SSL_version(ssl) >= TLS1_3_VERSION) return true;
  for (size_t i = 0; i < num_types; i++) {
    if (types[i] == ours) return true;
  }
  return false;
}

/* Cuts the issuer's name out of a certificate, without a parse of the whole (RFC 5280, 4.1). */
static bool issuer_of(const CRYPTO_BUFFER *certificate, CBS *issuer) {
  CBS cbs, outer, signed_part;
  CRYPTO_BUFFER_init_CBS(certificate, &cbs);
  return CBS_get_asn1(&cbs, &outer, CBS_ASN1_SEQUENCE) && CBS_get_asn1(&outer, &signed_part, CBS_ASN1_SEQUENCE) &&
         CBS_get_optional_asn1(&signed_part, NULL, NULL, CBS_ASN1_CONSTRUCTED | CBS_ASN1_CONTEXT_SPECIFIC | 0) &&
         CBS_get_asn1(&signed_part, NULL, CBS_ASN1_INTEGER) && CBS_get_asn1(&signed_part, NULL, CBS_ASN1_SEQUENCE) &&
         CBS_get_asn1_element(&signed_part, issuer, CBS_ASN1_SEQUENCE);
}

/* An empty list takes any issuer. Names are compared as bytes: both are copies of the issuer's own subject. */
static bool issuer_fits(const sst__identity *identity, const SSL *ssl) {
  const STACK_OF(CRYPTO_BUFFER) *names = SSL_get0_server_requested_CAs(ssl);
  if (names == NULL || sk_CRYPTO_BUFFER_num(names) == 0) return true;
  for (size_t i = 0; i < sk_CRYPTO_BUFFER_num(identity->chain); i++) {
    CBS issuer;
    if (!issuer_of(sk_CRYPTO_BUFFER_value(identity->chain, i), &issuer)) continue;
    for (size_t j = 0; j < sk_CRYPTO_BUFFER_num(names); j++) {
      const CRYPTO_BUFFER *name = sk_CRYPTO_BUFFER_value(names, j);
      if (CBS_mem_equal(&issuer, CRYPTO_BUFFER_data(name), CRYPTO_BUFFER_len(name))) return true;
    }
  }
  return false;
}

bool sst__identity_fits(const sst__identity *identity, const SSL *ssl) {
  return identity->credential != NULL && scheme_fits(identity, ssl) && type_fits(identity, ssl) &&
         issuer_fits(identity, ssl);
}
