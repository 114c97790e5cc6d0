/*
 * Session tickets of servers, sealed with the keys of a ring. Section 7 of the header has the format:
 *
 *   name (16) | salt (32) | AES-256-GCM of the session | tag (16)
 *
 * The key is new for each ticket (HKDF-SHA256 of secret and salt), so that one nonce is enough, and no number of tickets
 * is too many for a secret (RFC 5116, 3.2 would ask for a count).
 */
#include "tls/tickets.h"

#include <string.h>

#include <openssl/aead.h>
#include <openssl/bytestring.h>
#include <openssl/digest.h>
#include <openssl/err.h>
#include <openssl/hkdf.h>
#include <openssl/rand.h>

#include "clock.h"
#include "memory.h"
#include "ticket_keys.h"
#include "tls/internal.h"

enum { NAME_LEN = SST__TICKET_NAME_LEN, SALT_LEN = 32, TAG_LEN = 16, KEY_LEN = 32, NONCE_LEN = 12 };
enum { HEAD_LEN = NAME_LEN + SALT_LEN, OVERHEAD = HEAD_LEN + TAG_LEN };

void sst__random(uint8_t *out, size_t len) {
  (void)RAND_bytes(out, len); /* BoringSSL's never fails */
}

/* ---- one ticket ---- */

static bool set_key(EVP_AEAD_CTX *aead, const sst__ticket_key *key, const uint8_t *salt) {
  static const char label[] = "securestream ticket";
  uint8_t derived[KEY_LEN];
  const bool set = HKDF(derived, sizeof derived, EVP_sha256(), key->secret, sizeof key->secret, salt, SALT_LEN,
                        (const uint8_t *)label, sizeof label - 1) == 1 &&
                   EVP_AEAD_CTX_init(aead, EVP_aead_aes_256_gcm(), derived, sizeof derived, TAG_LEN, NULL) == 1;
  sst__wipe(derived, sizeof derived);
  return set;
}

static const uint8_t nonce[NONCE_LEN] = {0};

/* false: no memory. */
static bool seal_with(const sst__ticket_key *key, uint8_t *out, size_t out_cap, size_t *out_len, const uint8_t *in,
                      size_t in_len) {
  EVP_AEAD_CTX aead;
  EVP_AEAD_CTX_zero(&aead);
  size_t sealed = 0;
  memcpy(out, key->name, NAME_LEN);
  sst__random(out + NAME_LEN, SALT_LEN);
  const bool made =
      set_key(&aead, key, out + NAME_LEN) && EVP_AEAD_CTX_seal(&aead, out + HEAD_LEN, &sealed, out_cap - HEAD_LEN,
                                                               nonce, sizeof nonce, in, in_len, NULL, 0) == 1;
  EVP_AEAD_CTX_cleanup(&aead);
  *out_len = made ? HEAD_LEN + sealed : 0;
  return made;
}

static bool open_with(const sst__ticket_key *key, uint8_t *out, size_t out_cap, size_t *out_len, const uint8_t *in,
                      size_t in_len) {
  EVP_AEAD_CTX aead;
  EVP_AEAD_CTX_zero(&aead);
  const bool opened =
      set_key(&aead, key, in + NAME_LEN) && EVP_AEAD_CTX_open(&aead, out, out_len, out_cap, nonce, sizeof nonce,
                                                              in + HEAD_LEN, in_len - HEAD_LEN, NULL, 0) == 1;
  EVP_AEAD_CTX_cleanup(&aead);
  return opened;
}

/* ---- whose ticket it is ---- */

/* The certificates of the client in a session. BoringSSL shows them of an SSL alone. */
static bool judge_certificates(sst__tls *tls, SSL *holder) {
  const sst__settings *settings = tls->context->parts.settings;
  const STACK_OF(CRYPTO_BUFFER) *chain = SSL_get0_peer_certificates(holder);
  if (chain == NULL || sk_CRYPTO_BUFFER_num(chain) == 0) {
    return settings->client_certificate != SST_CLIENT_CERTIFICATE_REQUIRE;
  }
  if (settings->verify == SST_VERIFY_NONE) return true;
  sst_error ignored;
  tls->stored_good = sst__judge_chain(tls, chain, &tls->stored_path, &ignored) == SST_OK;
  return tls->stored_good;
}

/* A client that showed a certificate is judged again, by the time and the revocation lists of now: BoringSSL does not
   do that. Nobody who has expired or was revoked resumes. */
bool sst__client_is_good_now(sst__tls *tls, SSL_SESSION *session) {
  tls->stored_good = false;
  tls->stored_path.length = 0;
  if (tls->context->parts.settings->client_certificate == SST_CLIENT_CERTIFICATE_NONE) return true;
  SSL *holder = SSL_new(tls->context->ctx);
  bool good = false;
  if (holder != NULL) {
    SSL_set_session(holder, session);
    good = judge_certificates(tls, holder);
  }
  SSL_free(holder);
  return good;
}

static bool client_is_good_now(sst__tls *tls, const uint8_t *plaintext, size_t len) {
  if (tls->context->parts.settings->client_certificate == SST_CLIENT_CERTIFICATE_NONE) return true;
  SSL_SESSION *session = SSL_SESSION_from_bytes(plaintext, len, tls->context->ctx);
  const bool good = session != NULL && sst__client_is_good_now(tls, session);
  SSL_SESSION_free(session);
  return good;
}

/* ---- BoringSSL's method ---- */

static size_t max_overhead(SSL *ssl) {
  (void)ssl;
  return OVERHEAD;
}

/* Where there is no key, no memory, or too much to say, no ticket is made: the handshake goes on without. */
static int seal_ticket(SSL *ssl, uint8_t *out, size_t *out_len, size_t max_out_len, const uint8_t *in, size_t in_len) {
  const sst__context_parts *parts = &sst__tls_of(ssl)->context->parts;
  sst__ticket_key key;
  *out_len = 0;
  if (parts->settings->ticket_count == 0 || in_len + OVERHEAD > SST__MOST_TICKET) return 1;
  if (!sst__ticket_keys_sealing(parts->ticket_keys, (uint64_t)sst__unix_s(), &key)) return 1;
  if (!seal_with(&key, out, max_out_len, out_len, in, in_len)) ERR_clear_error();
  sst__wipe(&key, sizeof key);
  return 1;
}

/* No key of the ring opens it: the caller may have one. */
static enum ssl_ticket_aead_result_t open_unknown_ticket(sst__tls *tls, uint8_t *out, size_t *out_len,
                                                         size_t max_out_len, const uint8_t *in, size_t in_len) {
  if (!sst__asks(tls, SST_WANT_TICKET_DECRYPT)) return ssl_ticket_aead_ignore_ticket;
  const sst__answer *answer = sst__tls_answer(tls, SST_WANT_TICKET_DECRYPT);
  if (answer == NULL) {
    sst__free(tls->ticket);
    tls->ticket = sst__copy(in, in_len);
    tls->ticket_len = in_len;
    return tls->ticket == NULL ? ssl_ticket_aead_ignore_ticket : ssl_ticket_aead_retry;
  }
  if (answer->bytes == NULL || answer->len > max_out_len) return ssl_ticket_aead_ignore_ticket;
  memcpy(out, answer->bytes, answer->len);
  *out_len = answer->len;
  return client_is_good_now(tls, out, *out_len) ? ssl_ticket_aead_success : ssl_ticket_aead_ignore_ticket;
}

static enum ssl_ticket_aead_result_t open_ticket(SSL *ssl, uint8_t *out, size_t *out_len, size_t max_out_len,
                                                 const uint8_t *in, size_t in_len) {
  sst__tls *tls = sst__tls_of(ssl);
  sst__ticket_key key;
  bool newest = false;
  *out_len = 0;
  if (in_len < NAME_LEN ||
      !sst__ticket_keys_opening(tls->context->parts.ticket_keys, in, (uint64_t)sst__unix_s(), &key, &newest)) {
    return open_unknown_ticket(tls, out, out_len, max_out_len, in, in_len);
  }
  const bool good = in_len >= OVERHEAD && open_with(&key, out, max_out_len, out_len, in, in_len) &&
                    client_is_good_now(tls, out, *out_len);
  sst__wipe(&key, sizeof key);
  ERR_clear_error();
  return good ? ssl_ticket_aead_success : ssl_ticket_aead_ignore_ticket;
}

static const SSL_TICKET_AEAD_METHOD method = {.max_overhead = max_overhead, .seal = seal_ticket, .open = open_ticket};

void sst__tickets_set_up(SSL_CTX *ctx, const sst__context_parts *parts) {
  const sst__settings *settings = parts->settings;
  sst__session_ids_set_up(ctx, settings);
  SSL_CTX_set_ticket_aead_method(ctx, &method);
  SSL_CTX_set_num_tickets(ctx, settings->ticket_count);
  if (settings->session_lifetime_s == 0) {
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(ctx, 0);
  } else {
    sst__ticket_keys_cover(parts->ticket_keys, settings->session_lifetime_s);
  }
}

/* ---- renewal in TLS 1.2 ---- */

/* A handshake hint with the opened ticket and the wish for another one (src of BoringSSL: ssl/handoff.cc). */
static bool hint(SSL *ssl, const uint8_t *plaintext, size_t len) {
  CBB cbb, sequence, opened, renew;
  uint8_t *bytes = NULL;
  size_t bytes_len = 0;
  const bool made =
      CBB_init(&cbb, len + 32) && CBB_add_asn1(&cbb, &sequence, CBS_ASN1_SEQUENCE) &&
      CBB_add_asn1(&sequence, &opened, CBS_ASN1_CONTEXT_SPECIFIC | 8) && CBB_add_bytes(&opened, plaintext, len) &&
      CBB_add_asn1(&sequence, &renew, CBS_ASN1_CONTEXT_SPECIFIC | 9) && CBB_finish(&cbb, &bytes, &bytes_len);
  if (!made) CBB_cleanup(&cbb);
  const bool given = made && SSL_set_handshake_hints(ssl, bytes, bytes_len) == 1;
  OPENSSL_free(bytes);
  return given;
}

void sst__tickets_renew(SSL *ssl, const SSL_CLIENT_HELLO *hello) {
  sst__tls *tls = sst__tls_of(ssl);
  const sst__context_parts *parts = &tls->context->parts;
  const uint8_t *ticket = NULL;
  size_t ticket_len = 0, len = 0;
  sst__ticket_key key;
  bool newest = false;
  if (parts->settings->session_lifetime_s == 0 ||
      !SSL_early_callback_ctx_extension_get(hello, TLSEXT_TYPE_session_ticket, &ticket, &ticket_len) ||
      ticket_len < OVERHEAD ||
      !sst__ticket_keys_opening(parts->ticket_keys, ticket, (uint64_t)sst__unix_s(), &key, &newest)) {
    return;
  }
  sst__wipe(&key, sizeof key);
  if (newest) return;
  uint8_t *plaintext = sst__alloc_unset(ticket_len);
  if (plaintext == NULL) return;
  if (open_ticket(ssl, plaintext, &len, ticket_len, ticket, ticket_len) == ssl_ticket_aead_success) {
    (void)hint(ssl, plaintext, len);
  }
  sst__free(plaintext);
  ERR_clear_error();
}
