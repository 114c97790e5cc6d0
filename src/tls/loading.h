/* Certificates, keys and trust, as they are loaded: what the files of src/tls that do it share. */
#ifndef SST_LOADING_H
#define SST_LOADING_H

#include <openssl/bytestring.h>
#include <openssl/pool.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "error.h"
#include "pem.h"
#include "settings.h"
#include "tls/certificates.h"

/* ---- certificate.c ---- */

/* Parses a certificate with all that verification wants to know of it; NULL: malformed, or no memory. Its extensions
   are read at once: a failed allocation while a handshake reads them first would spoil a shared certificate for
   ever. */
X509 *sst__parse_certificate(const CRYPTO_BUFFER *der);
/* Takes the next SEQUENCE from in, which holds several one behind the other; false: there is none at its front. */
bool sst__next_der(CBS *in, CBS *element);
/* BoringSSL's own mark (EXFLAG_SS) wants a key usage that allows signing certificates, which many a self-signed server
   certificate lacks. */
bool sst__is_self_signed(const X509 *certificate);
/* True if its own key has signed it, whatever its names say. */
bool sst__signs_itself(const X509 *certificate);

/* ---- identity.c ---- */

/* What a server sends beside its chain; NULL: nothing. */
typedef struct sst__staples {
  CRYPTO_BUFFER *ocsp_response, *scts;
} sst__staples;

struct sst__identity {
  EVP_PKEY *key;                          /* NULL until loaded */
  STACK_OF(CRYPTO_BUFFER) * certificates; /* as they were loaded; NULL until then */
  STACK_OF(CRYPTO_BUFFER) * chain;        /* those that are sent, leaf first */
  SSL_CREDENTIAL *credential;             /* key and chain, as BoringSSL takes them; NULL until complete */
  uint16_t schemes[SST__MAX_SCHEMES];     /* that the caller can sign with; then key is the leaf's public key */
  size_t num_schemes;                     /* 0: key is private, and ours */
  sst__staples staples;
};

/* What one load has read. */
typedef struct sst__loaded {
  STACK_OF(CRYPTO_BUFFER) * certificates; /* NULL: none */
  EVP_PKEY *key;                          /* NULL: none */
} sst__loaded;

/* Puts what was loaded beside what was there, checks it, and makes it the identity's: the only place that changes one.
   What was taken over is NULL in in afterwards. */
sst_status sst__identity_merge(sst__identity *identity, sst__loaded *in, sst_error *record);

/* NULL: BoringSSL refused, or there is no memory. */
SSL_CREDENTIAL *sst__make_credential(const sst__identity *identity, const STACK_OF(CRYPTO_BUFFER) * chain,
                                     const EVP_PKEY *key);

/* ---- identity_load.c ---- */

/* Adds a certificate; SST_OK with *valid false: it is none. */
sst_status sst__loaded_add(sst__loaded *in, const uint8_t *der, size_t der_len, bool *valid, sst_error *record);
/* ---- identity_order.c ---- */

/* Makes the chain that is sent of what was loaded: the manual is section 5 of the header. key may be NULL. */
sst_status sst__order_chain(const STACK_OF(CRYPTO_BUFFER) * loaded, const EVP_PKEY *key,
                            STACK_OF(CRYPTO_BUFFER) * *chain, sst_error *record);

/* ---- anchors.c, revocation.c ---- */

enum { SST__MOST_ANCHORS = 0x7fff };

typedef struct sst__authorities sst__authorities;

struct sst__anchors {
  STACK_OF(X509) * list;     /* in the order of loading, no two alike */
  STACK_OF(X509_CRL) * crls; /* NULL: revocation is not looked at */
  X509_STORE *store;         /* empty: verification does not start without one */
  sst__authorities *known;   /* those that stood between an anchor and a leaf */
  bool partial_chain;
};

/* Adds every certificate of PEM text to list, those that are there already left out. Leniently: steps over what does not
   parse, and takes text without a certificate; else SST_ERR_PARSE, SST_ERR_NO_CERTIFICATE. */
sst_status sst__read_certificates(const uint8_t *pem, size_t pem_len, bool lenient, STACK_OF(X509) * list,
                                  sst_error *record);

/* ---- private_key.c ---- */

/* Reads the key in a block of PEM text. */
sst_status sst__read_private_key(const sst__pem_block *block, const char *password, size_t password_len, EVP_PKEY **key,
                                 sst_error *record);
sst_status sst__read_private_key_der(const uint8_t *der, size_t der_len, EVP_PKEY **key, sst_error *record);
/* SST_OK, or SST_ERR_UNSUPPORTED_KEY for a key (NULL: one that nobody knows) of a kind or size that a credential cannot
   have. */
sst_status sst__check_key_kind(const EVP_PKEY *key, const char *whose, sst_error *record);

/* ---- block_decrypt.c ---- */

/* Decodes and decrypts a block with "Proc-Type: 4,ENCRYPTED" (RFC 1421, 4.6.1); name is what to call it. *der is the
   caller's to free (sst__free). */
sst_status sst__decrypt_block(const sst__pem_block *block, const char *name, const char *password, size_t password_len,
                              uint8_t **der, size_t *der_len, sst_error *record);

/* ---- pkcs12.c ---- */

sst_status sst__read_pkcs12(const uint8_t *pfx, size_t pfx_len, const char *password, size_t password_len,
                            sst__loaded *in, sst_error *record);

/* ---- hashing_rounds.c ---- */

enum { SST__MOST_HASHING_ROUNDS = 10000000 };

/* How often a password must be hashed, at most, to open what der holds (PKCS#8, PKCS#12; BER too), as far as can be seen
   without it; UINT64_MAX without memory. BoringSSL accepts 100,000,000 rounds a part, which is minutes. */
uint64_t sst__hashing_rounds(const uint8_t *der, size_t der_len);

/* ---- identity_fits.c ---- */

/* True if a key of this kind can make signatures of scheme in TLS 1.3, or in TLS 1.2. */
bool sst__key_can_sign(const EVP_PKEY *key, uint16_t scheme, bool tls13);

/* A client's question in the certificate callback: does what the server asked for (signature schemes, certificate types
   of TLS 1.2, issuers) cover this identity? BoringSSL does not ask: it fails the handshake where the schemes do not
   fit, and sends the certificate where the issuers do not. */
bool sst__identity_fits(const sst__identity *identity, const SSL *ssl);

/* ---- certificate_text.c: peer text for messages, printable, terminated, never longer than out_cap ---- */

enum { SST__SUBJECT_CAP = 80, SST__NAMES_CAP = 201, SST__TIME_CAP = 32 };

/* "CN=leaf", the whole name if it has no CN, or "no subject". */
void sst__subject_text(const X509_NAME *name, char *out, size_t out_cap);
/* The DNS names and addresses of the subject alternative names: "a.test, *.a.test, 127.0.0.1", or "it has no names". */
void sst__names_text(const X509 *certificate, char *out, size_t out_cap);
/* "2025-12-31T00:00:00Z" */
void sst__time_text(const ASN1_TIME *time, char *out, size_t out_cap);

#endif
