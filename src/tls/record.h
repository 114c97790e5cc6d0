/*
 * Our record layer: what protects the bytes of a stream once its handshake has ended (RFC 8446, 5; RFC 5246, 6, with the
 * AEAD suites of RFC 5288, 5289 and 7905). A sender and a receiver, which share nothing that changes but atomics: the
 * stream's sst__due, events and counters.
 */
#ifndef SST_RECORD_H
#define SST_RECORD_H

#include <endian.h>
#include <pthread.h>
#include <string.h>

#include <openssl/aead.h>
#include <openssl/base.h>

#include "tls/internal.h"

enum {
  SST__TAG_LEN = 16,
  SST__NONCE_LEN = 12,
  SST__EXPLICIT_LEN = 8,       /* the part of a TLS 1.2 GCM nonce that is sent */
  SST__MOST_PLAINTEXT = 16384, /* RFC 8446, 5.1 */
};
enum { SST__CHANGE_CIPHER_SPEC = 20, SST__ALERT = 21, SST__HANDSHAKE = 22, SST__APPLICATION_DATA = 23 };

/* What both directions have in common; does not change. */
typedef struct sst__suite {
  const EVP_AEAD *aead;
  const EVP_MD *hash;
  bool tls13, explicit_nonce;
} sst__suite;

/* The keys of one direction. */
typedef struct sst__keys {
  EVP_AEAD_CTX aead;
  uint64_t sequence; /* of the next record */
  uint8_t iv[SST__NONCE_LEN];
  uint8_t secret[SST__MOST_SECRET]; /* TLS 1.3: the traffic secret that key and iv come from */
} sst__keys;

typedef struct sst__sender {
  sst__keys keys;
  uint64_t most_records; /* under one key */
} sst__sender;

typedef struct sst__receiver {
  sst__keys keys;
  uint8_t *record; /* the one in progress, as far as it was taken in; NULL: none */
  size_t record_len;
  uint8_t header[SST__HEADER_LEN]; /* of the one in progress, before there is a buffer */
  uint8_t header_len;
  uint8_t *message; /* a handshake message in progress; NULL: none */
  size_t message_len, message_cap;
  uint8_t empty_records, warnings, key_updates; /* in a row, without data */
} sst__receiver;

typedef struct sst__record_engine {
  sst__engine base;
  const sst__context *context; /* kept alive by the stream's config */
  sst__suite suite;
  sst__sender sender;
  sst__receiver receiver;
  atomic_uint answers_expected; /* KeyUpdates that the peer owes us */

  SSL_SESSION *session;   /* of this connection: what the tickets of TLS 1.3 are made sessions with; NULL: not wanted */
  struct sst__bond *bond; /* of those sessions */

  pthread_mutex_t secrets; /* held while a traffic secret changes, or is read on another thread */
  sst__exporter exporter;
  STACK_OF(CRYPTO_BUFFER) * peer; /* what the peer sent; NULL: nothing */
  sst__path path;
  const sst__identity *local; /* what we sent; NULL: nothing. Kept alive by config or credential of the stream */
  char names[];               /* ALPN protocol, server name, OCSP response, SCTs */
} sst__record_engine;

static inline sst__record_engine *sst__record_of(sst__engine *engine) {
  return (sst__record_engine *)engine; /* base is the first member */
}

/* ---- record_keys.c ---- */

/* Takes suite, keys and sequence numbers over from a finished handshake; false: BoringSSL refused, which it does without
   memory. */
bool sst__keys_take_over(sst__record_engine *record, const SSL *ssl);
/* The next generation (RFC 8446, 7.2); false: as above, and the keys are of no use any more. */
bool sst__keys_update(sst__record_engine *record, sst__keys *keys);
void sst__keys_clear(sst__keys *keys);
/* Writes the nonce of the next record: the iv and the number (RFC 8446, 5.3). In a nonce of TLS 1.2 with an explicit part
   the number itself stands behind the salt, as with BoringSSL (RFC 5288, 3): the iv is zero there. Made in registers and
   stored in the words that the AEAD loads, 8 bytes and 4: a load that spans two stores waits for both. */
SST__INLINE void sst__keys_nonce(const sst__keys *keys, uint8_t nonce[SST__NONCE_LEN]) {
  uint64_t first;
  uint32_t last;
  memcpy(&first, keys->iv, sizeof first);
  memcpy(&last, keys->iv + sizeof first, sizeof last);
  first ^= htole64((uint64_t)__builtin_bswap32((uint32_t)(keys->sequence >> 32)) << 32);
  last ^= htobe32((uint32_t)keys->sequence);
  memcpy(nonce, &first, sizeof first);
  memcpy(nonce + sizeof first, &last, sizeof last);
}
/* Writes the additional data of a TLS 1.2 record with so much plaintext; returns its length. */
size_t sst__additional_data(const sst__keys *keys, uint8_t type, size_t plaintext_len, uint8_t out[13]);

/* What HKDF-Expand-Label takes (RFC 8446, 7.1): the label without "tls13 ", at most 249 bytes, and a context of at most
   64. */
typedef struct sst__label {
  const char *text;
  size_t text_len;
  const uint8_t *context;
  size_t context_len;
} sst__label;
bool sst__expand_label(const EVP_MD *hash, const uint8_t *secret, const sst__label *label, uint8_t *out,
                       size_t out_len);

/* ---- exporter.c ---- */

sst_status sst__record_export_key(const sst__engine *, const sst__export *, uint8_t *out, size_t out_len);
sst_status sst__record_channel_binding(const sst__engine *, int32_t kind, uint8_t *out, size_t out_cap,
                                       size_t *out_len);
sst_status sst__record_traffic_secret(sst__engine *, int32_t direction, uint8_t *out, size_t out_cap, size_t *out_len);

/* ---- record_send.c: ops of the sending side ---- */

sst__step sst__record_seal(sst__engine *, const sst_slice *slices, size_t skip, size_t size, sst__output *wire,
                           sst_error *error);
sst__step sst__record_bring_out(sst__engine *, bool before_data, sst__output *wire, sst_error *error);
sst__step sst__record_close(sst__engine *, sst__output *wire, sst_error *error);
sst__step sst__record_key_update(sst__engine *, bool request_peer, sst__output *wire, sst_error *error);
/* Marks that a KeyUpdate must go before the next data, if that is so: it takes the last place under a key. */
void sst__record_look_at_limit(sst__record_engine *);

/* ---- record_receive.c: ops of the receiving side ---- */

void sst__record_next_frame(const sst__engine *, const uint8_t *in, size_t in_len, sst__frame *);
sst__step sst__record_open(sst__engine *, sst__input *in, uint8_t *out, size_t cap, size_t *produced, sst__kept *kept,
                           sst__output *answers, sst_error *error);
sst__step sst__record_open_in_place(sst__engine *, uint8_t *record, size_t len, size_t *offset, size_t *produced,
                                    sst__output *answers, sst_error *error);

/* ---- record_message.c: what is in a record that holds no data ---- */

/* The content of an opened record, in two pieces: part of it lies where the caller's room ended. */
typedef struct sst__content {
  const uint8_t *piece[2];
  size_t len[2];
} sst__content;

/* Makes a session of a ticket and keeps it in the stream's events; without memory it is lost: resumption.c. */
void sst__receive_ticket(sst__record_engine *, const sst__ticket *);

/* MORE: taken in. CLOSED: it was close_notify. FAILED: error says the alert as well. */
sst__step sst__receive_handshake(sst__record_engine *, const sst__content *, sst_error *error);
sst__step sst__receive_alert(sst__record_engine *, const sst__content *, sst_error *error);
/* True if that alert ends the stream. */
bool sst__is_error_alert(const sst__suite *suite, uint8_t level, uint8_t alert);

#endif
