#include <openssl/bytestring.h>

#include "tls/internal.h"

enum { MOST_LEVELS = 24 };

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

/* Salt and count stand beside each other, wherever they are: OCTET STRING, INTEGER (RFC 8018, A.2; RFC 7292, 4 and
   C). An element of indefinite length is its header alone here: what is in it follows, and is read as its neighbour. */
static uint64_t rounds_in(CBS in, unsigned level) {
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
    if (tag == CBS_ASN1_INTEGER && last == CBS_ASN1_OCTETSTRING) rounds = add(rounds, value_of(element));
    const bool string = (tag & ~CBS_ASN1_CONSTRUCTED) == CBS_ASN1_OCTETSTRING;
    if ((tag & CBS_ASN1_CONSTRUCTED) != 0 || (string && holds_sequence(element))) {
      rounds = add(rounds, rounds_in(element, level + 1));
    }
    last = string ? CBS_ASN1_OCTETSTRING : tag;
  }
  return rounds;
}

uint64_t sst__hashing_rounds(const uint8_t *der, size_t der_len) {
  CBS cbs;
  CBS_init(&cbs, der, der_len);
  return rounds_in(cbs, 0);
}
