#include "rings.h"

#include "loads.h"

#include <openssl/aead.h>
#include <openssl/digest.h>
#include <openssl/hkdf.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 16, SECRET = 64, ENTRY = 88, SALT = 32, TAG = 16, MOST_RINGS = 8, MOST_KEYS = 8 };

/* One case runs at a time. */
static struct {
  char *name;
  sst_ticket_keys *keys;
} rings[MOST_RINGS];
static size_t num_rings;

sst_ticket_keys *ring_of(const Token *name) {
  for (size_t i = 0; i < num_rings; i++)
    if (token_is(name, rings[i].name)) return rings[i].keys;
  REQUIRE(num_rings < MOST_RINGS);
  char *copy = test_allocate(name->len + 1);
  memcpy(copy, name->text, name->len);
  copy[name->len] = '\0';
  sst_ticket_keys *keys = sst_ticket_keys_new();
  rings[num_rings].name = copy;
  rings[num_rings++].keys = keys;
  REQUIRE(keys != NULL);
  return keys;
}

void rings_free(void) {
  for (size_t i = 0; i < num_rings; i++) {
    sst_ticket_keys_free(rings[i].keys);
    free(rings[i].name);
  }
  num_rings = 0;
}

/* The name, padded by 0; the secret is the name again and again; it never expires. */
static void fill_key(const Token *key, uint8_t entry[ENTRY]) {
  REQUIRE(key->len > 0 && key->len <= NAME);
  memset(entry, 0, ENTRY);
  memcpy(entry, key->text, key->len);
  for (size_t i = 0; i < SECRET; i++)
    entry[NAME + i] = (uint8_t)key->text[i % key->len];
}

typedef struct Ring {
  uint8_t bytes[MOST_KEYS * ENTRY];
  size_t len;
} Ring;

static sst_status add_key(void *context, const Token *key) {
  Ring *ring = context;
  REQUIRE(ring->len < sizeof ring->bytes);
  fill_key(key, ring->bytes + ring->len);
  ring->len += ENTRY;
  return SST_OK;
}

sst_status ring_replace(sst_ticket_keys *keys, const Match *match, size_t place) {
  Ring ring = {.len = 0};
  if (place < match->num_places) place_list(match, place, add_key, &ring);
  return sst_ticket_keys_replace(keys, ring.bytes, ring.len);
}

size_t ring_open_ticket(const Token *name, const uint8_t *ticket, size_t ticket_len, uint8_t *plaintext, size_t cap) {
  uint8_t entry[ENTRY], key[32], nonce[12] = {0};
  size_t len = 0;
  fill_key(name, entry);
  REQUIRE(ticket_len > NAME + SALT + TAG);
  EXPECT_BYTES(ticket, NAME, entry, NAME);
  REQUIRE(HKDF(key, sizeof key, EVP_sha256(), entry + NAME, SECRET, ticket + NAME, SALT,
               (const uint8_t *)"securestream ticket", 19) == 1);
  EVP_AEAD_CTX *aead = EVP_AEAD_CTX_new(EVP_aead_aes_256_gcm(), key, sizeof key, TAG);
  const int opened = EVP_AEAD_CTX_open(aead, plaintext, &len, cap, nonce, sizeof nonce, ticket + NAME + SALT,
                                       ticket_len - NAME - SALT, NULL, 0);
  EVP_AEAD_CTX_free(aead);
  REQUIRE_EQ(opened, 1);
  return len;
}

sst_status has_ring(Making *making, const Match *match) {
  return sst_config_set_ticket_keys(making->config, ring_of(place_text(match, 0)));
}

sst_status session_lifetime(Making *making, const Match *match) {
  return sst_config_set_session_lifetime(making->config, (uint32_t)place_number(match, 0));
}

sst_status early_data(Making *making, const Match *match) {
  (void)match;
  return sst_config_set_early_data(making->config, 1);
}
