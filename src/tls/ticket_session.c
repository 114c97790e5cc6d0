/* Sessions out of the tickets of TLS 1.3. BoringSSL makes them with the SSL of the connection alone, which is some 2 KiB
   that an idle client would have to keep; they are made of the session of the connection here, in the form that BoringSSL
   writes and reads (its source has the ASN.1: ssl/ssl_asn1.cc). */
#include <string.h>

#include <openssl/bytestring.h>
#include <openssl/err.h>
#include <openssl/sha2.h>

#include "memory.h"
#include "tls/record.h"

enum { MOST_SECRET = 48 };
enum {
  TIME = 1,
  TIMEOUT = 2,
  TICKET = 10,
  TICKET_AGE_ADD = 21,
  TICKET_MAX_EARLY_DATA = 24,
  AUTH_TIMEOUT = 25,
  END = 99
};

bool sst__ticket_parse(CBS *body, sst__ticket *ticket, const char **fault) {
  CBS extensions;
  *ticket = (sst__ticket){.lifetime_s = 0};
  *fault = "a session ticket that does not parse";
  if (!CBS_get_u32(body, &ticket->lifetime_s) || !CBS_get_u32(body, &ticket->age_add) ||
      !CBS_get_u8_length_prefixed(body, &ticket->nonce) || !CBS_get_u16_length_prefixed(body, &ticket->ticket) ||
      CBS_len(&ticket->ticket) == 0 || !CBS_get_u16_length_prefixed(body, &extensions) || CBS_len(body) > 0) {
    return false;
  }
  while (CBS_len(&extensions) > 0) {
    CBS extension;
    uint16_t type = 0;
    *fault = "a session ticket whose extensions do not parse";
    if (!CBS_get_u16(&extensions, &type) || !CBS_get_u16_length_prefixed(&extensions, &extension)) return false;
    if (type != TLSEXT_TYPE_early_data) continue;
    *fault = "a session ticket whose limit of early data is not 4 bytes long";
    if (!CBS_get_u32(&extension, &ticket->max_early_data) || CBS_len(&extension) > 0) return false;
  }
  return true;
}

/* ---- what changes ---- */

/* The key of the session: HKDF-Expand-Label(secret, "resumption", nonce) (RFC 8446, 4.6.1). */
static bool derive(const EVP_MD *hash, const CBS *secret, const CBS *nonce, uint8_t out[MOST_SECRET]) {
  const size_t len = EVP_MD_size(hash);
  const sst__label label = {
      .text = "resumption", .text_len = 10, .context = CBS_data(nonce), .context_len = CBS_len(nonce)};
  return CBS_len(secret) == len && len <= MOST_SECRET && sst__expand_label(hash, CBS_data(secret), &label, out, len);
}

/* Times count from the ticket on, and end when they would have ended: with the server's word, or seven days after the
   handshake with certificates. */
typedef struct times {
  uint64_t now, timeout, auth_timeout;
} times;

static uint64_t later(uint64_t timeout, uint64_t age) {
  return timeout > age ? timeout - age : 0;
}

static times times_of(uint64_t made, uint64_t timeout, uint64_t auth_timeout, uint64_t now, uint32_t lifetime_s) {
  if (made > now) return (times){.now = now};
  times result = {now, later(timeout, now - made), later(auth_timeout, now - made)};
  if (result.timeout > lifetime_s) result.timeout = lifetime_s;
  return result;
}

/* ---- the form ---- */

static CBS_ASN1_TAG tag_of(unsigned number) {
  return CBS_ASN1_CONSTRUCTED | CBS_ASN1_CONTEXT_SPECIFIC | number;
}

static bool put_number(CBB *out, unsigned tag, uint64_t value) {
  CBB child;
  return CBB_add_asn1(out, &child, tag_of(tag)) && CBB_add_asn1_uint64(&child, value) && CBB_flush(out);
}

static bool put_bytes(CBB *out, unsigned tag, const uint8_t *data, size_t len) {
  CBB child;
  return CBB_add_asn1(out, &child, tag_of(tag)) && CBB_add_asn1_octet_string(&child, data, len) && CBB_flush(out);
}

/* Puts what a ticket adds to the place that its number has, in front of an element of number before. */
static bool put_added(CBB *out, unsigned *done, unsigned before, const sst__ticket *ticket, const times *at) {
  const uint8_t age_add[4] = {(uint8_t)(ticket->age_add >> 24), (uint8_t)(ticket->age_add >> 16),
                              (uint8_t)(ticket->age_add >> 8), (uint8_t)ticket->age_add};
  bool put = true;
  if (*done < TICKET && before > TICKET)
    put = put && put_bytes(out, TICKET, CBS_data(&ticket->ticket), CBS_len(&ticket->ticket));
  if (*done < TICKET_AGE_ADD && before > TICKET_AGE_ADD)
    put = put && put_bytes(out, TICKET_AGE_ADD, age_add, sizeof age_add);
  if (*done < TICKET_MAX_EARLY_DATA && before > TICKET_MAX_EARLY_DATA && ticket->max_early_data > 0)
    put = put && put_number(out, TICKET_MAX_EARLY_DATA, ticket->max_early_data);
  if (*done < AUTH_TIMEOUT && before > AUTH_TIMEOUT && at->auth_timeout != at->timeout)
    put = put && put_number(out, AUTH_TIMEOUT, at->auth_timeout);
  *done = before;
  return put;
}

/* Copies the elements behind the times, in ascending order of their numbers, and puts the added ones between. */
static bool put_rest(CBB *out, CBS rest, const sst__ticket *ticket, const times *at) {
  unsigned done = TIMEOUT;
  while (CBS_len(&rest) > 0) {
    CBS element;
    CBS_ASN1_TAG tag;
    if (!CBS_get_any_asn1_element(&rest, &element, &tag, NULL)) return false;
    const unsigned number = (unsigned)(tag & CBS_ASN1_TAG_NUMBER_MASK);
    const bool replaced =
        number == TICKET || number == TICKET_AGE_ADD || number == TICKET_MAX_EARLY_DATA || number == AUTH_TIMEOUT;
    if (replaced) continue;
    if (!put_added(out, &done, number, ticket, at) || !CBB_add_bytes(out, CBS_data(&element), CBS_len(&element)))
      return false;
  }
  return put_added(out, &done, END, ticket, at);
}

static bool find_auth_timeout(CBS rest, uint64_t *value) {
  while (CBS_len(&rest) > 0) {
    CBS element, child;
    CBS_ASN1_TAG tag;
    if (!CBS_get_any_asn1_element(&rest, &element, &tag, NULL)) return false;
    if ((unsigned)(tag & CBS_ASN1_TAG_NUMBER_MASK) != AUTH_TIMEOUT) continue;
    return CBS_get_asn1(&element, &child, tag) && CBS_get_asn1_uint64(&child, value);
  }
  return true;
}

static bool rewrite(CBS session, const EVP_MD *hash, const sst__ticket *ticket, uint64_t now, CBB *out) {
  CBS version, protocol, cipher, id, secret, child;
  uint64_t made = 0, timeout = 0;
  uint8_t key[MOST_SECRET], new_id[SHA256_DIGEST_LENGTH];
  CBB sequence;
  if (!CBS_get_asn1(&session, &session, CBS_ASN1_SEQUENCE) ||
      !CBS_get_asn1_element(&session, &version, CBS_ASN1_INTEGER) ||
      !CBS_get_asn1_element(&session, &protocol, CBS_ASN1_INTEGER) ||
      !CBS_get_asn1_element(&session, &cipher, CBS_ASN1_OCTETSTRING) ||
      !CBS_get_asn1(&session, &id, CBS_ASN1_OCTETSTRING) || !CBS_get_asn1(&session, &secret, CBS_ASN1_OCTETSTRING) ||
      !CBS_get_asn1(&session, &child, tag_of(TIME)) || !CBS_get_asn1_uint64(&child, &made) ||
      !CBS_get_asn1(&session, &child, tag_of(TIMEOUT)) || !CBS_get_asn1_uint64(&child, &timeout)) {
    return false;
  }
  uint64_t auth_timeout = timeout;
  if (!find_auth_timeout(session, &auth_timeout) || !derive(hash, &secret, &ticket->nonce, key)) return false;
  const times at = times_of(made, timeout, auth_timeout, now, ticket->lifetime_s);
  SHA256(CBS_data(&ticket->ticket), CBS_len(&ticket->ticket), new_id); /* as BoringSSL does */
  const bool written = CBB_add_asn1(out, &sequence, CBS_ASN1_SEQUENCE) &&
                       CBB_add_bytes(&sequence, CBS_data(&version), CBS_len(&version)) &&
                       CBB_add_bytes(&sequence, CBS_data(&protocol), CBS_len(&protocol)) &&
                       CBB_add_bytes(&sequence, CBS_data(&cipher), CBS_len(&cipher)) &&
                       CBB_add_asn1_octet_string(&sequence, new_id, sizeof new_id) &&
                       CBB_add_asn1_octet_string(&sequence, key, EVP_MD_size(hash)) &&
                       put_number(&sequence, TIME, at.now) && put_number(&sequence, TIMEOUT, at.timeout) &&
                       put_rest(&sequence, session, ticket, &at) && CBB_flush(out);
  sst__wipe(key, sizeof key);
  return written;
}

SSL_SESSION *sst__session_of_ticket(const SSL_SESSION *base, const EVP_MD *hash, const sst__ticket *ticket,
                                    uint64_t unix_s, const SSL_CTX *ctx) {
  uint8_t *old = NULL, *made = NULL;
  size_t old_len = 0, made_len = 0;
  SSL_SESSION *session = NULL;
  CBS in;
  CBB out;
  CBB_zero(&out);
  if (SSL_SESSION_to_bytes_for_ticket(base, &old, &old_len) == 1 &&
      CBB_init(&out, old_len + CBS_len(&ticket->ticket) + 128)) {
    CBS_init(&in, old, old_len);
    if (rewrite(in, hash, ticket, unix_s, &out) && CBB_finish(&out, &made, &made_len)) {
      session = SSL_SESSION_from_bytes(made, made_len, ctx);
    }
  }
  CBB_cleanup(&out);
  OPENSSL_free(old);
  OPENSSL_free(made);
  ERR_clear_error();
  return session;
}
