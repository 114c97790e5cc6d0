/*
 * Raw AEAD: the cryptography of TLS 1.3 records and nothing else. Each record of len bytes is sealed by one call of
 * EVP_AEAD_CTX_seal over len + 1 bytes, the content type included, with a header as additional data and a counted nonce,
 * and opened by one call of EVP_AEAD_CTX_open. This is the limit of the data path.
 */
#include <openssl/aead.h>
#include <stdlib.h>
#include <string.h>

#include "boringssl_peers.h"

enum { HEADER = 5, TAG = 16, NONCE = 12 };

/* One direction, at one side. */
typedef struct Key {
  EVP_AEAD_CTX aead;
  uint64_t sequence;
} Key;

typedef struct Pair {
  Key seals[2], opens[2]; /* by side */
} Pair;

static void *configs_new(const char *leaf, Use use) {
  (void)leaf, (void)use;
  return allocate(1);
}

static void key_init(Key *key, uint8_t value) {
  uint8_t bytes[16];
  memset(bytes, value, sizeof bytes);
  REQUIRE(EVP_AEAD_CTX_init(&key->aead, EVP_aead_aes_128_gcm(), bytes, sizeof bytes, TAG, NULL) == 1);
}

static void *pair_new(void *configs) {
  (void)configs;
  Pair *pair = allocate(sizeof *pair);
  for (int side = CLIENT; side <= SERVER; side++) {
    key_init(&pair->seals[side], (uint8_t)(1 + side));
    key_init(&pair->opens[1 - side], (uint8_t)(1 + side));
  }
  return pair;
}

static void pair_free(void *context) {
  Pair *pair = context;
  for (int side = CLIENT; side <= SERVER; side++) {
    EVP_AEAD_CTX_cleanup(&pair->seals[side].aead);
    EVP_AEAD_CTX_cleanup(&pair->opens[side].aead);
  }
  free(pair);
}

static void next_nonce(Key *key, uint8_t nonce[NONCE]) {
  const uint64_t sequence = __builtin_bswap64(key->sequence++);
  memset(nonce, 7, NONCE - sizeof sequence);
  memcpy(nonce + NONCE - sizeof sequence, &sequence, sizeof sequence);
}

/* in has one byte more than len: a record reads the byte behind it as its content type. */
static size_t seal(void *pair, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap) {
  Key *key = &((Pair *)pair)->seals[side];
  size_t used = 0;
  for (size_t at = 0; at < len; at += RECORD) {
    const size_t size = len - at < RECORD ? len - at : RECORD, body = size + 1 + TAG;
    uint8_t nonce[NONCE], *header = out + used;
    size_t sealed;
    next_nonce(key, nonce);
    REQUIRE(cap - used >= HEADER + body);
    memcpy(header, (const uint8_t[]){23, 3, 3, (uint8_t)(body >> 8), (uint8_t)body}, HEADER);
    REQUIRE(EVP_AEAD_CTX_seal(&key->aead, header + HEADER, &sealed, cap - used - HEADER, nonce, NONCE, in + at,
                              size + 1, header, HEADER) == 1);
    used += HEADER + sealed;
  }
  return used;
}

/* The content type of a record lies where the next one's plaintext begins, and is written over. */
static size_t open_records(void *pair, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap) {
  Key *key = &((Pair *)pair)->opens[side];
  size_t produced = 0;
  for (size_t at = 0; at < len;) {
    const uint8_t *header = in + at;
    const size_t body = (size_t)header[3] << 8 | header[4];
    uint8_t nonce[NONCE];
    size_t opened;
    next_nonce(key, nonce);
    REQUIRE(EVP_AEAD_CTX_open(&key->aead, out + produced, &opened, cap - produced, nonce, NONCE, header + HEADER, body,
                              header, HEADER) == 1);
    produced += opened - 1;
    at += HEADER + body;
  }
  return produced;
}

static size_t open_in_place(void *pair, Side side, uint8_t *data, size_t len) {
  Key *key = &((Pair *)pair)->opens[side];
  size_t produced = 0;
  for (size_t at = 0; at < len;) {
    uint8_t *header = data + at, nonce[NONCE];
    const size_t body = (size_t)header[3] << 8 | header[4];
    size_t opened;
    next_nonce(key, nonce);
    REQUIRE(EVP_AEAD_CTX_open(&key->aead, header + HEADER, &opened, body, nonce, NONCE, header + HEADER, body, header,
                              HEADER) == 1);
    produced += opened - 1;
    at += HEADER + body;
  }
  return produced;
}

const Peer aead_peer = {.name = "aead",
                        .configs_new = configs_new,
                        .configs_free = free,
                        .pair_new = pair_new,
                        .pair_free = pair_free,
                        .seal = seal,
                        .open = open_records,
                        .open_in_place = open_in_place};
