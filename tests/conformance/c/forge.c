/* Records that the other side could have sealed (section 8): TLS 1.3, keys from the key log. */
#include <openssl/aead.h>
#include <openssl/digest.h>
#include <openssl/hkdf.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

enum { IV_SIZE = 12, KEY_UPDATE = 24 };

typedef struct Suite {
  const EVP_MD *hash;
  const EVP_AEAD *aead;
} Suite;

static Suite suite_of(const End *end) {
  const sst_stream_info info = info_of(&end->side);
  REQUIRE_EQ(info.version, SST_TLS1_3);
  switch (info.suite) {
    case 0x1301:
      return (Suite){EVP_sha256(), EVP_aead_aes_128_gcm()};
    case 0x1302:
      return (Suite){EVP_sha384(), EVP_aead_aes_256_gcm()};
    case 0x1303:
      return (Suite){EVP_sha256(), EVP_aead_chacha20_poly1305()};
    default:
      FAIL("no TLS 1.3 suite");
  }
}

/* HKDF-Expand-Label with an empty context (RFC 8446, 7.1). */
static void expand(const Suite *suite, const uint8_t *secret, const char *label, uint8_t *out, size_t len) {
  uint8_t info[64];
  const size_t label_len = strlen(label);
  info[0] = 0;
  info[1] = (uint8_t)len;
  info[2] = (uint8_t)(6 + label_len);
  memcpy(info + 3, "tls13 ", 6);
  memcpy(info + 9, label, label_len);
  info[9 + label_len] = 0;
  REQUIRE(HKDF_expand(out, len, suite->hash, secret, EVP_MD_size(suite->hash), info, 10 + label_len) == 1);
}

static const char *key_log_line(const End *end, const char *label) {
  for (size_t i = 0; i < end->events.num_lines; i++)
    if (strncmp(end->events.lines[i], label, strlen(label)) == 0) return end->events.lines[i];
  return NULL;
}

static void begin(World *world, End *from, const Suite *suite) {
  const char *label = from == &world->client ? "CLIENT_TRAFFIC_SECRET_0 " : "SERVER_TRAFFIC_SECRET_0 ";
  const char *line = key_log_line(&world->client, label);
  if (line == NULL) line = key_log_line(&world->server, label);
  if (line == NULL) FAIL("no side keeps a key log");
  const char *hex = strrchr(line, ' ') + 1;
  const size_t len = EVP_MD_size(suite->hash);
  REQUIRE_EQ(strlen(hex), 2 * len);
  for (size_t i = 0; i < len; i++) {
    const char digits[] = {hex[2 * i], hex[2 * i + 1], '\0'};
    from->forger.secret[i] = (uint8_t)strtoul(digits, NULL, 16);
  }
  REQUIRE(from->open);
  from->forger.sequence = records_count(from->sent, from->opened_at, 0);
  from->forger.begun = true;
}

static void seal(End *from, const Suite *suite, uint8_t type, const uint8_t *payload, size_t len) {
  uint8_t key[32], iv[IV_SIZE];
  expand(suite, from->forger.secret, "key", key, EVP_AEAD_key_length(suite->aead));
  expand(suite, from->forger.secret, "iv", iv, sizeof iv);
  for (size_t i = 0; i < 8; i++)
    iv[IV_SIZE - 1 - i] ^= (uint8_t)(from->forger.sequence >> (8 * i));
  from->forger.sequence++;

  const size_t sealed = len + 1 + 16;
  uint8_t *record = test_allocate(RECORD_HEADER + sealed), *content = test_allocate(len + 1);
  if (len > 0) memcpy(content, payload, len);
  content[len] = type;
  const uint8_t header[RECORD_HEADER] = {RECORD_APPLICATION_DATA, 3, 3, (uint8_t)(sealed >> 8), (uint8_t)sealed};
  memcpy(record, header, sizeof header);
  EVP_AEAD_CTX context;
  size_t wrote = 0;
  REQUIRE(EVP_AEAD_CTX_init(&context, suite->aead, key, EVP_AEAD_key_length(suite->aead), 16, NULL) == 1);
  REQUIRE(EVP_AEAD_CTX_seal(&context, record + RECORD_HEADER, &wrote, sealed, iv, sizeof iv, content, len + 1, header,
                            sizeof header) == 1);
  EVP_AEAD_CTX_cleanup(&context);
  wire_insert(from->side.out, record, RECORD_HEADER + wrote);
  free(record);
  free(content);
}

void forge(World *world, End *to, uint8_t type, const uint8_t *payload, size_t len, unsigned long count) {
  End *from = other_end(world, to);
  const Suite suite = suite_of(to);
  REQUIRE_EQ(sst_stream_counter(from->side.stream, SST_COUNTER_KEY_UPDATES_SENT), 0);
  if (!from->forger.begun) begin(world, from, &suite);
  for (unsigned long i = 0; i < count; i++) {
    seal(from, &suite, type, payload, len);
    if (type != RECORD_HANDSHAKE || len == 0 || payload[0] != KEY_UPDATE) continue;
    uint8_t next[64];
    expand(&suite, from->forger.secret, "traffic upd", next, EVP_MD_size(suite.hash));
    memcpy(from->forger.secret, next, sizeof next);
    from->forger.sequence = 0;
  }
}
