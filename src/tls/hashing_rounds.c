#include <string.h>

#include <openssl/bytestring.h>

#include "memory.h"
#include "tls/internal.h"

/* Of structure: the numbers stand 16 deep. Of strings in strings: what BoringSSL follows. */
enum { MOST_LEVELS = 24, MOST_STRING_LEVELS = 128 };

static uint64_t add(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* A number of 9 bytes and more is more than any limit. */
static uint64_t value_of(CBS content) {
  uint64_t value = 0;
  if (CBS_len(&content) > 8) return UINT64_MAX;
  for (uint8_t byte = 0; CBS_get_u8(&content, &byte);)
    value = value << 8 | byte;
  return value;
}

/* Ciphertext is not taken for a structure: one SEQUENCE must fill the string. */
static bool holds_sequence(CBS string) {
  CBS element;
  CBS_ASN1_TAG tag;
  int indefinite = 0;
  size_t header_len = 0;
  if (!CBS_get_any_ber_asn1_element(&string, &element, &tag, &header_len, NULL, &indefinite)) return false;
  return tag == CBS_ASN1_SEQUENCE && (indefinite || CBS_len(&string) == 0);
}

static bool skip_end_of_contents(CBS *in) {
  const uint8_t *data = CBS_data(in);
  return CBS_len(in) >= 2 && data[0] == 0 && data[1] == 0 && CBS_skip(in, 2);
}

/* Takes the pieces of a string from in (X.690, 8.7.3) and joins them at out, which is not behind them. false: they are
   something else, and no reader of PKCS#12 goes on. */
static bool join_pieces(CBS *in, bool indefinite, uint8_t *out, size_t *out_len, unsigned level) {
  while (CBS_len(in) > 0) {
    CBS piece;
    CBS_ASN1_TAG tag;
    size_t header_len = 0;
    int endless = 0;
    if (skip_end_of_contents(in)) return indefinite;
    if (!CBS_get_any_ber_asn1_element(in, &piece, &tag, &header_len, NULL, &endless)) return false;
    if ((tag & ~CBS_ASN1_CONSTRUCTED) != CBS_ASN1_OCTETSTRING || level == MOST_STRING_LEVELS) return false;
    (void)CBS_skip(&piece, header_len);
    if (tag == CBS_ASN1_OCTETSTRING) {
      memmove(out + *out_len, CBS_data(&piece), CBS_len(&piece));
      *out_len += CBS_len(&piece);
    } else if (!join_pieces(endless ? in : &piece, endless, out, out_len, level + 1)) {
      return false;
    }
  }
  return !indefinite;
}

/* What a constructed string says as a whole, joined where its pieces begin, at bytes; those of an indefinite length are
   taken from in. */
static CBS whole_string(CBS *in, CBS pieces, bool indefinite, uint8_t *bytes) {
  CBS whole = pieces, rest = indefinite ? *in : pieces;
  size_t len = 0;
  if (!join_pieces(&rest, indefinite, bytes, &len, 0)) return whole;
  if (indefinite) *in = rest;
  CBS_init(&whole, bytes, len);
  return whole;
}

/* Salt and count stand beside each other, wherever they are: OCTET STRING, INTEGER (RFC 8018, A.2; RFC 7292, 4 and
   C). An element of indefinite length is its header alone here: what is in it follows, and is read as its neighbour; but
   strings, whose pieces may cut what is in them anywhere, are put together. base: where in begins, to be written. */
static uint64_t rounds_in(CBS in, uint8_t *base, unsigned level) {
  const uint8_t *const begin = CBS_data(&in);
  uint64_t rounds = 0;
  CBS_ASN1_TAG last = 0;
  while (CBS_len(&in) > 0 && level < MOST_LEVELS) {
    CBS element;
    CBS_ASN1_TAG tag;
    size_t header_len = 0;
    int indefinite = 0;
    if (skip_end_of_contents(&in)) continue;
    if (!CBS_get_any_ber_asn1_element(&in, &element, &tag, &header_len, NULL, &indefinite)) break;
    (void)CBS_skip(&element, header_len);
    uint8_t *const inside = base + (CBS_data(&element) - begin);
    if (tag == CBS_ASN1_INTEGER && last == CBS_ASN1_OCTETSTRING) rounds = add(rounds, value_of(element));
    const bool string = (tag & ~CBS_ASN1_CONSTRUCTED) == CBS_ASN1_OCTETSTRING;
    if (tag == (CBS_ASN1_OCTETSTRING | CBS_ASN1_CONSTRUCTED)) {
      element = whole_string(&in, element, indefinite, inside);
    }
    if ((!string && (tag & CBS_ASN1_CONSTRUCTED) != 0) || (string && holds_sequence(element))) {
      rounds = add(rounds, rounds_in(element, inside, level + 1));
    }
    last = string ? CBS_ASN1_OCTETSTRING : tag;
  }
  return rounds;
}

uint64_t sst__hashing_rounds(const uint8_t *der, size_t der_len) {
  uint8_t *copy = sst__copy(der, der_len); /* strings are put together in it */
  CBS cbs;
  if (copy == NULL) return UINT64_MAX;
  CBS_init(&cbs, copy, der_len);
  const uint64_t rounds = rounds_in(cbs, copy, 0);
  sst__free(copy);
  return rounds;
}
