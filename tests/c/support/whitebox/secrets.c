#include "secrets.h"

#include <openssl/hkdf.h>
#include <openssl/tls_prf.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_LEN = 16, EXPLICIT_LEN = 8, RANDOM_LEN = 32, MESSAGE_HEADER = 4 };

static uint8_t hex_digit(char c) {
  return (uint8_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
}

/* "LABEL client-random secret", the last two in hexadecimal (RFC 9850). */
static void add_line(Secrets *secrets, const char *line) {
  const char *random = strchr(line, ' ');
  const char *hex = random == NULL ? NULL : strchr(random + 1, ' ');
  if (hex == NULL || strlen(++hex) > (size_t)2 * SECRET_MAX || secrets->count == SECRETS_MAX)
    FAIL("no key-log line: %s", line);
  Secret *secret = &secrets->list[secrets->count++];
  memset(secret, 0, sizeof *secret);
  memcpy(secret->label, line, (size_t)(random - line));
  for (; hex[0] != '\0'; hex += 2)
    secret->bytes[secret->len++] = (uint8_t)(hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
}

void secrets_read(Secrets *secrets, Side *side) {
  sst_event event;
  char line[512];
  while (side_event(side, SST_EVENT_KEY_LOG, &event, line, sizeof line))
    add_line(secrets, line);
}

static const Secret *find(const Secrets *secrets, const char *label) {
  for (size_t i = 0; i < secrets->count; i++) {
    if (strcmp(secrets->list[i].label, label) == 0) return &secrets->list[i];
  }
  FAIL("the key log has no %s", label);
}

/* What ServerHello says: the first message that the server sent (RFC 8446, 4.1.3). */
typedef struct Chosen {
  const uint8_t *client_random, *server_random;
  uint16_t suite;
} Chosen;

static Chosen chosen(const Pair *pair) {
  const uint8_t *client = pair->client.out->bytes, *server = pair->server.out->bytes;
  const size_t at = RECORD_HEADER + MESSAGE_HEADER + 2;
  if (pair->server.out->len < 64 || server[RECORD_HEADER] != 2) FAIL("the server has sent no ServerHello");
  const size_t behind_id = at + RANDOM_LEN + 1 + server[at + RANDOM_LEN];
  return (Chosen){client + at, server + at, (uint16_t)(server[behind_id] << 8 | server[behind_id + 1])};
}

static uint16_t version_of(uint16_t suite) {
  return suite >> 8 == 0x13 ? SST_TLS1_3 : SST_TLS1_2;
}

uint16_t secrets_version(const Pair *pair) {
  return pair->server.out->len == 0 ? 0 : version_of(chosen(pair).suite);
}

static void set_suite(Keys *keys, uint16_t suite) {
  keys->digest = EVP_sha256();
  keys->iv_len = keys->version == SST_TLS1_3 ? 12 : 4;
  switch (suite) {
    case 0x1301:
    case 0xc02b:
    case 0xc02f:
      keys->aead = EVP_aead_aes_128_gcm();
      return;
    case 0x1302:
    case 0xc02c:
    case 0xc030:
      keys->aead = EVP_aead_aes_256_gcm();
      keys->digest = EVP_sha384();
      return;
    case 0x1303:
    case 0xcca8:
    case 0xcca9:
      keys->aead = EVP_aead_chacha20_poly1305();
      keys->iv_len = 12;
      return;
    default:
      FAIL("suite %04x is not known here", suite);
  }
}

/* HKDF-Expand-Label with an empty context (RFC 8446, 7.1). */
static void expand(const Keys *keys, const char *label, uint8_t *out, size_t out_len) {
  uint8_t info[64] = {(uint8_t)(out_len >> 8), (uint8_t)out_len, (uint8_t)(6 + strlen(label))};
  size_t len = 3;
  memcpy(info + len, "tls13 ", 6);
  memcpy(info + len + 6, label, strlen(label));
  len += 6 + strlen(label) + 1;
  REQUIRE(HKDF_expand(out, out_len, keys->digest, keys->secret, EVP_MD_size(keys->digest), info, len) == 1);
}

static void set_keys(Keys *keys) {
  expand(keys, "key", keys->key, EVP_AEAD_key_length(keys->aead));
  expand(keys, "iv", keys->iv, sizeof keys->iv);
  keys->sequence = 0;
}

/* RFC 5246, 6.3: client key, server key, client IV, server IV. Sequence 0 was the Finished. */
static void set_keys_of_tls12(Keys *keys, const Secrets *secrets, const Chosen *hello, bool of_client) {
  static const uint8_t label[] = "key expansion";
  const Secret *master = find(secrets, "CLIENT_RANDOM");
  const size_t key_len = EVP_AEAD_key_length(keys->aead);
  uint8_t block[2 * (32 + 12)];
  REQUIRE(CRYPTO_tls1_prf(keys->digest, block, sizeof block, master->bytes, master->len, label, sizeof label - 1,
                          hello->server_random, RANDOM_LEN, hello->client_random, RANDOM_LEN) == 1);
  memcpy(keys->key, block + (of_client ? 0 : key_len), key_len);
  memcpy(keys->iv, block + 2 * key_len + (of_client ? 0 : keys->iv_len), keys->iv_len);
  keys->sequence = 1;
}

Keys secrets_keys(const Secrets *secrets, const Pair *pair, Epoch epoch, int32_t role) {
  static const char *const labels[][2] = {
      [EPOCH_EARLY] = {"CLIENT_EARLY_TRAFFIC_SECRET", "none"},
      [EPOCH_HANDSHAKE] = {"CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET"},
      [EPOCH_DATA] = {"CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"},
  };
  const Chosen hello = chosen(pair);
  const bool of_client = role == SST_ROLE_CLIENT;
  Keys keys = {.version = version_of(hello.suite)};
  set_suite(&keys, hello.suite);
  if (keys.version == SST_TLS1_2) {
    set_keys_of_tls12(&keys, secrets, &hello, of_client);
    return keys;
  }
  const Secret *secret = find(secrets, labels[epoch][of_client ? 0 : 1]);
  memcpy(keys.secret, secret->bytes, secret->len);
  set_keys(&keys);
  return keys;
}

void keys_update(Keys *keys) {
  uint8_t next[SECRET_MAX];
  expand(keys, "traffic upd", next, EVP_MD_size(keys->digest));
  memcpy(keys->secret, next, sizeof next);
  set_keys(keys);
}

/* ---- records ---- */

static void put_sequence(const Keys *keys, uint8_t out[8]) {
  for (int i = 0; i < 8; i++)
    out[i] = (uint8_t)(keys->sequence >> (56 - 8 * i));
}

static bool has_explicit_nonce(const Keys *keys) {
  return keys->iv_len == 4;
}

/* RFC 8446, 5.3, and RFC 7905, 2; RFC 5288, 3. */
static void make_nonce(const Keys *keys, const uint8_t *explicit_part, uint8_t nonce[12]) {
  uint8_t sequence[8];
  put_sequence(keys, sequence);
  memcpy(nonce, keys->iv, sizeof keys->iv);
  if (has_explicit_nonce(keys)) {
    memcpy(nonce + 4, explicit_part, EXPLICIT_LEN);
    return;
  }
  for (int i = 0; i < 8; i++)
    nonce[4 + i] ^= sequence[i];
}

/* RFC 8446, 5.2: the header. RFC 5246, 6.2.3.3: sequence number, type, version and the length of the plaintext. */
static size_t make_ad(const Keys *keys, const uint8_t *header, size_t plaintext_len, uint8_t ad[13]) {
  if (keys->version == SST_TLS1_3) {
    memcpy(ad, header, RECORD_HEADER);
    return RECORD_HEADER;
  }
  put_sequence(keys, ad);
  memcpy(ad + 8, header, 3);
  ad[11] = (uint8_t)(plaintext_len >> 8);
  ad[12] = (uint8_t)plaintext_len;
  return 13;
}

static Data seal(Keys *keys, uint8_t type, const void *data, size_t len) {
  const size_t explicit_len = has_explicit_nonce(keys) ? EXPLICIT_LEN : 0;
  const size_t body = explicit_len + len + TAG_LEN;
  Data record = {test_allocate(RECORD_HEADER + body), RECORD_HEADER + body};
  const uint8_t header[RECORD_HEADER] = {type, 3, 3, (uint8_t)(body >> 8), (uint8_t)body};
  memcpy(record.bytes, header, sizeof header);
  if (explicit_len > 0) put_sequence(keys, record.bytes + RECORD_HEADER);

  uint8_t nonce[12], ad[13];
  make_nonce(keys, record.bytes + RECORD_HEADER, nonce);
  const size_t ad_len = make_ad(keys, header, len, ad);
  EVP_AEAD_CTX context;
  size_t sealed = 0;
  REQUIRE(EVP_AEAD_CTX_init(&context, keys->aead, keys->key, EVP_AEAD_key_length(keys->aead), TAG_LEN, NULL) == 1);
  REQUIRE(EVP_AEAD_CTX_seal(&context, record.bytes + RECORD_HEADER + explicit_len, &sealed, len + TAG_LEN, nonce,
                            sizeof nonce, data, len, ad, ad_len) == 1);
  EVP_AEAD_CTX_cleanup(&context);
  REQUIRE_EQ(sealed, len + TAG_LEN);
  keys->sequence++;
  return record;
}

Data keys_seal_inner(Keys *keys, const void *inner, size_t len) {
  return seal(keys, RECORD_APPLICATION_DATA, inner, len);
}

Data keys_seal(Keys *keys, uint8_t type, const void *data, size_t len) {
  if (keys->version == SST_TLS1_2) return seal(keys, type, data, len);
  uint8_t *inner = test_allocate(len + 1);
  if (len > 0) memcpy(inner, data, len);
  inner[len] = type;
  const Data record = keys_seal_inner(keys, inner, len + 1);
  free(inner);
  return record;
}

Opened keys_open(Keys *keys, const uint8_t *record, size_t len) {
  const size_t explicit_len = has_explicit_nonce(keys) ? EXPLICIT_LEN : 0;
  const size_t least = RECORD_HEADER + explicit_len + TAG_LEN;
  if (len < least) FAIL("a record of %zu bytes is not sealed", len);
  Opened opened = {.type = record[0], .plaintext = {test_allocate(len), 0}};
  uint8_t nonce[12], ad[13];
  make_nonce(keys, record + RECORD_HEADER, nonce);
  const size_t ad_len = make_ad(keys, record, len - least, ad);
  EVP_AEAD_CTX context;
  REQUIRE(EVP_AEAD_CTX_init(&context, keys->aead, keys->key, EVP_AEAD_key_length(keys->aead), TAG_LEN, NULL) == 1);
  const int open =
      EVP_AEAD_CTX_open(&context, opened.plaintext.bytes, &opened.plaintext.len, len, nonce, sizeof nonce,
                        record + RECORD_HEADER + explicit_len, len - RECORD_HEADER - explicit_len, ad, ad_len);
  EVP_AEAD_CTX_cleanup(&context);
  if (open != 1) FAIL("record %llu does not open", (unsigned long long)keys->sequence);
  keys->sequence++;
  if (keys->version != SST_TLS1_3) return opened;
  while (opened.plaintext.len > 0 && opened.plaintext.bytes[opened.plaintext.len - 1] == 0)
    opened.plaintext.len--;
  if (opened.plaintext.len == 0) FAIL("a record without a type");
  opened.type = opened.plaintext.bytes[--opened.plaintext.len];
  return opened;
}
