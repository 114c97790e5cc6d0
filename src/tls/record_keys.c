/* Keys of the record layer. */
#include <string.h>

#include <openssl/digest.h>
#include <openssl/err.h>
#include <openssl/hkdf.h>

#include "memory.h"
#include "tls/record.h"
#include "tls/traffic_secrets.h"

enum { MOST_KEY = 32, SALT_LEN = 4 };

bool sst__expand_label(const EVP_MD *hash, const uint8_t *secret, const sst__label *label, uint8_t *out,
                       size_t out_len) {
  static const char prefix[] = "tls13 ";
  uint8_t info[2 + 1 + UINT8_MAX + 1 + UINT8_MAX];
  const size_t prefix_len = sizeof prefix - 1;
  size_t used = 0;
  if (label->text_len > UINT8_MAX - prefix_len || label->context_len > UINT8_MAX) return false;
  info[used++] = (uint8_t)(out_len >> 8);
  info[used++] = (uint8_t)out_len;
  info[used++] = (uint8_t)(prefix_len + label->text_len);
  memcpy(info + used, prefix, prefix_len);
  memcpy(info + used + prefix_len, label->text, label->text_len);
  used += prefix_len + label->text_len;
  info[used++] = (uint8_t)label->context_len;
  if (label->context_len > 0) memcpy(info + used, label->context, label->context_len);
  used += label->context_len;
  return HKDF_expand(out, out_len, hash, secret, EVP_MD_size(hash), info, used) == 1;
}

static bool expand(const sst__suite *suite, const uint8_t *secret, const char *text, uint8_t *out, size_t out_len) {
  const sst__label label = {.text = text, .text_len = strlen(text)};
  return sst__expand_label(suite->hash, secret, &label, out, out_len);
}

/* Key and iv from a traffic secret (RFC 8446, 7.3). The plain AEAD: the variants "for TLS 1.3" take the first nonce that
   they see as the number 0. */
static bool derive(sst__keys *keys, const sst__suite *suite, const uint8_t *secret) {
  uint8_t key[MOST_KEY];
  const size_t key_len = EVP_AEAD_key_length(suite->aead);
  bool derived = expand(suite, secret, "key", key, key_len) && expand(suite, secret, "iv", keys->iv, sizeof keys->iv);
  if (derived) {
    EVP_AEAD_CTX_cleanup(&keys->aead);
    derived = EVP_AEAD_CTX_init(&keys->aead, suite->aead, key, key_len, SST__TAG_LEN, NULL) == 1;
    memmove(keys->secret, secret, EVP_MD_size(suite->hash));
  }
  sst__wipe(key, sizeof key);
  return derived;
}

bool sst__keys_update(sst__record_engine *record, sst__keys *keys) {
  const sst__suite *suite = &record->suite;
  uint8_t next[SST__MOST_SECRET];
  bool derived = expand(suite, keys->secret, "traffic upd", next, EVP_MD_size(suite->hash));
  pthread_mutex_lock(&record->secrets);
  derived = derived && derive(keys, suite, next);
  pthread_mutex_unlock(&record->secrets);
  if (derived) keys->sequence = 0;
  sst__wipe(next, sizeof next);
  ERR_clear_error();
  return derived;
}

void sst__keys_clear(sst__keys *keys) {
  EVP_AEAD_CTX_cleanup(&keys->aead);
  sst__wipe(keys, sizeof *keys);
}

static const EVP_AEAD *aead_of(uint16_t suite) {
  switch (suite) {
    case 0x1301:
    case 0xc02b:
    case 0xc02f:
      return EVP_aead_aes_128_gcm();
    case 0x1302:
    case 0xc02c:
    case 0xc030:
      return EVP_aead_aes_256_gcm();
    case 0x1303:
    case 0xcca8:
    case 0xcca9:
      return EVP_aead_chacha20_poly1305();
    default:
      return NULL;
  }
}

static bool take_secrets(sst__record_engine *record, const SSL *ssl) {
  const uint8_t *read = NULL, *write = NULL;
  size_t len = 0;
  return sst__traffic_secrets(ssl, &read, &write, &len) && len == EVP_MD_size(record->suite.hash) &&
         derive(&record->receiver.keys, &record->suite, read) && derive(&record->sender.keys, &record->suite, write);
}

/* One direction of the key block (RFC 5246, 6.3): keys of both, then the fixed parts of the nonces of both. */
static bool take_from_block(sst__keys *keys, const sst__suite *suite, const uint8_t *block, size_t which) {
  const size_t key_len = EVP_AEAD_key_length(suite->aead);
  const size_t iv_len = suite->explicit_nonce ? SALT_LEN : SST__NONCE_LEN;
  memcpy(keys->iv, block + 2 * key_len + which * iv_len, iv_len);
  return EVP_AEAD_CTX_init(&keys->aead, suite->aead, block + which * key_len, key_len, SST__TAG_LEN, NULL) == 1;
}

static bool take_key_block(sst__record_engine *record, const SSL *ssl) {
  const sst__suite *suite = &record->suite;
  uint8_t block[2 * (MOST_KEY + SST__NONCE_LEN)];
  const size_t iv_len = suite->explicit_nonce ? SALT_LEN : SST__NONCE_LEN;
  const size_t len = 2 * (EVP_AEAD_key_length(suite->aead) + iv_len);
  const size_t ours = SSL_is_server(ssl) ? 1 : 0;
  const bool taken = SSL_get_key_block_len(ssl) == len && SSL_generate_key_block(ssl, block, len) == 1 &&
                     take_from_block(&record->sender.keys, suite, block, ours) &&
                     take_from_block(&record->receiver.keys, suite, block, 1 - ours);
  sst__wipe(block, sizeof block);
  return taken;
}

bool sst__keys_take_over(sst__record_engine *record, const SSL *ssl) {
  const SSL_CIPHER *cipher = SSL_get_current_cipher(ssl);
  sst__suite *suite = &record->suite;
  suite->aead = aead_of(SSL_CIPHER_get_protocol_id(cipher));
  suite->hash = SSL_CIPHER_get_handshake_digest(cipher);
  suite->tls13 = SSL_version(ssl) == TLS1_3_VERSION;
  suite->explicit_nonce = !suite->tls13 && suite->aead != EVP_aead_chacha20_poly1305();
  if (suite->aead == NULL || suite->hash == NULL || SSL_has_pending(ssl)) return false;
  EVP_AEAD_CTX_zero(&record->sender.keys.aead);
  EVP_AEAD_CTX_zero(&record->receiver.keys.aead);
  record->sender.keys.sequence = SSL_get_write_sequence(ssl);
  record->receiver.keys.sequence = SSL_get_read_sequence(ssl);
  return suite->tls13 ? take_secrets(record, ssl) : take_key_block(record, ssl);
}

/* Written out, so that compilers see one store. */
static void put_u64(uint8_t *out, uint64_t value) {
  out[0] = (uint8_t)(value >> 56);
  out[1] = (uint8_t)(value >> 48);
  out[2] = (uint8_t)(value >> 40);
  out[3] = (uint8_t)(value >> 32);
  out[4] = (uint8_t)(value >> 24);
  out[5] = (uint8_t)(value >> 16);
  out[6] = (uint8_t)(value >> 8);
  out[7] = (uint8_t)value;
}

size_t sst__additional_data(const sst__keys *keys, uint8_t type, size_t plaintext_len, uint8_t out[13]) {
  put_u64(out, keys->sequence);
  out[8] = type;
  out[9] = 3;
  out[10] = 3;
  out[11] = (uint8_t)(plaintext_len >> 8);
  out[12] = (uint8_t)plaintext_len;
  return 13;
}
