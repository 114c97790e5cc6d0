/* What the files of src/tls share among themselves: the only header of ours that names BoringSSL types. */
#ifndef SST_TLS_INTERNAL_H
#define SST_TLS_INTERNAL_H

#include <openssl/pool.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "engine.h"
#include "error.h"
#include "pem.h"
#include "tls/certificates.h"
#include "tls/context.h"

/* ---- certificates.c, anchors.c ---- */

struct sst__identity {
  EVP_PKEY *key;                   /* NULL until loaded */
  STACK_OF(CRYPTO_BUFFER) * chain; /* leaf first; NULL until loaded */
  SSL_CREDENTIAL *credential;      /* both, as BoringSSL takes them; NULL until complete */
};

struct sst__anchors {
  STACK_OF(X509) * list; /* in the order of loading, no two alike */
  X509_STORE *store;     /* empty: verification does not start without one */
  bool partial_chain;
};

/* Parses a certificate with all that verification wants to know of it; NULL: malformed, or no memory. Its extensions
   are read at once: a failed allocation while a handshake reads them first would spoil a shared certificate for
   ever. */
X509 *sst__parse_certificate(const CRYPTO_BUFFER *der);

/* ---- private_key.c ---- */

/* Reads the key in a block of PEM text. */
sst_status sst__read_private_key(const sst__pem_block *block, const char *password, size_t password_len, EVP_PKEY **key,
                                 sst_error *record);
/* SST_OK, or SST_ERR_UNSUPPORTED_KEY for a key (NULL: one that nobody knows) of a kind or size that a credential cannot
   have. */
sst_status sst__check_key_kind(const EVP_PKEY *key, const char *whose, sst_error *record);

/* ---- identity_fits.c ---- */

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

/* ---- verify.c ---- */

typedef struct sst__verify_request {
  const STACK_OF(CRYPTO_BUFFER) * chain; /* as the peer sent it, leaf first, not empty */
  const sst__anchors *anchors;
  const char *name; /* DNS name or IP address that the leaf must have, terminated; NULL: none */
  bool name_is_ip;
  bool peer_is_server; /* else a client */
  int64_t unix_s;
  uint32_t minimum_rsa_bits;
  bool allow_sha1;
} sst__verify_request;

/* Judges a chain: SST_OK, or a code of the certificate band (or NO_MEMORY) with record filled: all reasons, the alert,
   a message that names certificate and cause. */
sst_status sst__verify_chain(const sst__verify_request *request, sst_error *record);

/* ---- context.c ---- */

struct sst__context {
  SSL_CTX *ctx;
  sst__context_parts parts;
};

/* ---- engine.c ---- */

enum { SST__HEADER_LEN = 5, SST__NO_IDENTITY = -1 };

/* The engine of one TLS stream. */
typedef struct sst__tls {
  sst__engine base;
  SSL *ssl;
  const sst__context *context;
  const sst__setup *setup; /* until the handshake has ended */

  /* For the time of one call. */
  sst__input *in;
  sst__output *wire;
  sst_error *error;

  uint8_t header[SST__HEADER_LEN]; /* of the record in progress */
  uint8_t header_len;
  size_t body_left; /* > 0: the header is whole, and so many bytes of the body are missing */

  uint8_t short_body[2]; /* the body of a record of two bytes: an alert that is not encrypted */

  int32_t alert_sent, alert_received; /* fatal ones, or close_notify inside the handshake */
  int16_t local_identity;             /* index of what we sent */
  uint16_t local_scheme;
  uint16_t version; /* once the handshake has ended */
  size_t expansion; /* bytes that a record's body is longer than its plaintext */
  bool in_handshake;
  bool first_byte_seen;                  /* of the peer */
  bool judged;                           /* error is filled already: by verification, or by a rule of ours */
  bool no_memory;                        /* the queue could not grow */
  bool verified;                         /* the peer's certificate was judged good */
  bool no_common_suite, no_common_group; /* what a server saw in the ClientHello */
  bool answer_due;                       /* a KeyUpdate request was taken in */
  bool closed;                           /* our close_notify is out */
} sst__tls;

static inline sst__tls *sst__tls_of(const SSL *ssl) {
  return SSL_get_app_data(ssl);
}

/* Fails the call in progress with a rule of ours: BoringSSL's own reason is then not looked at. */
#define sst__judge(tls, code, ...) ((tls)->judged = true, sst__fail((tls)->error, (code), __VA_ARGS__))

/* ---- observe.c ---- */

/* Installs what watches alerts, messages and key-log lines. */
void sst__observe(SSL_CTX *ctx, uint32_t report);

/* ---- failure.c ---- */

/* Ends a call that failed: fills tls->error from what is known, and sends an alert if the failure has one and none was
   sent or received. failed_allocations is their number before the call. */
sst__step sst__tls_failed(sst__tls *tls, int ssl_error, uint64_t failed_allocations);

#endif
