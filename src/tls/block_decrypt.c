/* The encryption of PEM blocks before PKCS#8, as OpenSSL wrote it for decades: the key is one round of MD5 over password
   and salt, the salt the first 8 bytes of the IV. Read, never written. */
#include <string.h>

#include <openssl/cipher.h>
#include <openssl/digest.h>
#include <openssl/err.h>

#include "memory.h"
#include "tls/internal.h"

enum { SALT_LEN = 8, IV_CAP = 16 };

typedef struct dek {
  const EVP_CIPHER *cipher;
  uint8_t iv[IV_CAP];
} dek;

static const EVP_CIPHER *find_cipher(const char *name, size_t len) {
  static const struct {
    const char *name;
    const EVP_CIPHER *(*cipher)(void);
  } known[] = {{"AES-128-CBC", EVP_aes_128_cbc},
               {"AES-192-CBC", EVP_aes_192_cbc},
               {"AES-256-CBC", EVP_aes_256_cbc},
               {"DES-EDE3-CBC", EVP_des_ede3_cbc}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strlen(known[i].name) == len && memcmp(known[i].name, name, len) == 0) return known[i].cipher();
  }
  return NULL;
}

static int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_iv(const char *hex, size_t hex_len, uint8_t *iv, size_t iv_len) {
  if (hex_len != 2 * iv_len) return false;
  for (size_t i = 0; i < iv_len; i++) {
    const int high = hex_value(hex[2 * i]), low = hex_value(hex[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    iv[i] = (uint8_t)(high << 4 | low);
  }
  return true;
}

/* "AES-256-CBC,00112233..." */
static sst_status read_dek_info(const sst__pem_block *block, const char *name, dek *out, sst_error *record) {
  const char *text = (const char *)block->dek_info;
  size_t len = block->dek_info_len;
  while (len > 0 && (text[0] == ' ' || text[0] == '\t'))
    text++, len--;
  while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
    len--;
  const char *comma = len == 0 ? NULL : memchr(text, ',', len);
  if (comma == NULL) return sst__fail(record, SST_ERR_PARSE, "%s: encrypted, and no DEK-Info says how", name);
  const size_t name_len = (size_t)(comma - text);
  out->cipher = find_cipher(text, name_len);
  if (out->cipher == NULL) {
    char cipher[32];
    sst__printable(text, name_len, cipher, sizeof cipher);
    return sst__fail(record, SST_ERR_UNSUPPORTED_CIPHER, "%s: encrypted by %s; convert it to PKCS#8", name, cipher);
  }
  if (read_iv(comma + 1, len - name_len - 1, out->iv, EVP_CIPHER_iv_length(out->cipher))) return SST_OK;
  return sst__fail(record, SST_ERR_PARSE, "%s: the IV in DEK-Info is not %u bytes in hexadecimal", name,
                   EVP_CIPHER_iv_length(out->cipher));
}

/* Decrypts len bytes at data in place; false: bad padding, or no memory. */
static bool decrypt(const dek *how, const char *password, size_t password_len, uint8_t *data, size_t *len) {
  uint8_t key[EVP_MAX_KEY_LENGTH];
  EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
  uint8_t *plain = sst__alloc_unset(*len + EVP_MAX_BLOCK_LENGTH);
  int part = 0, rest = 0;
  const bool done =
      ctx != NULL && plain != NULL &&
      EVP_BytesToKey(how->cipher, EVP_md5(), how->iv, (const uint8_t *)password, password_len, 1, key, NULL) > 0 &&
      EVP_DecryptInit_ex(ctx, how->cipher, NULL, key, how->iv) &&
      EVP_DecryptUpdate(ctx, plain, &part, data, (int)*len) && EVP_DecryptFinal_ex(ctx, plain + part, &rest);
  if (done) {
    *len = (size_t)part + (size_t)rest;
    memcpy(data, plain, *len);
  }
  sst__wipe(key, sizeof key);
  sst__free(plain);
  EVP_CIPHER_CTX_free(ctx);
  ERR_clear_error();
  return done;
}

sst_status sst__decrypt_block(const sst__pem_block *block, const char *name, const char *password, size_t password_len,
                              uint8_t **der, size_t *der_len, sst_error *record) {
  dek how = {.cipher = NULL};
  *der = NULL;
  *der_len = 0;
  if (password_len == 0) return sst__fail(record, SST_ERR_PASSWORD_REQUIRED, "%s: encrypted, and no password", name);
  sst_status status = read_dek_info(block, name, &how, record);
  if (status == SST_OK) status = sst__pem_decode(block, der, der_len, record);
  if (status != SST_OK) return status;
  if (*der_len > INT32_MAX / 2 || *der_len % EVP_CIPHER_block_size(how.cipher) != 0) {
    status = sst__fail(record, SST_ERR_PARSE, "%s: %zu bytes are no whole number of cipher blocks", name, *der_len);
  } else if (!decrypt(&how, password, password_len, *der, der_len)) {
    status = sst__fail(record, SST_ERR_BAD_PASSWORD, "%s: the password does not open it", name);
  }
  if (status == SST_OK) return SST_OK;
  sst__free(*der);
  *der = NULL;
  return status;
}
