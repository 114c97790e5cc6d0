#include "openssl_signer.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

#include "data.h"
#include "test.h"

enum { PSS_PADDING = 6, SALT_AS_DIGEST = -1 };

static struct {
  void *(*mem_buf)(const void *, int);
  void *(*read_key)(void *, void *, void *, void *);
  int (*free_bio)(void *);
  void (*free_key)(void *);
  void *(*new_context)(void);
  void (*free_context)(void *);
  int (*init)(void *, void **, const void *, void *, void *);
  int (*sign)(void *, unsigned char *, size_t *, const unsigned char *, size_t);
  int (*set_padding)(void *, int);
  int (*set_salt)(void *, int);
  const void *(*digest)(const char *);
} crypto;

/* dlsym gives pointers to objects; the union is how POSIX wants them read as functions. */
#define LOAD(library, member, name)                             \
  do {                                                          \
    void *symbol = dlsym((library), (name));                    \
    if (symbol == NULL) SKIP("libcrypto.so.3 has no %s", name); \
    *(void **)(void *)&crypto.member = symbol;                  \
  } while (0)

void openssl_signer_load(void) {
  if (crypto.sign != NULL) return;
  void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) SKIP("there is no libcrypto.so.3");
  LOAD(library, mem_buf, "BIO_new_mem_buf");
  LOAD(library, read_key, "PEM_read_bio_PrivateKey");
  LOAD(library, free_bio, "BIO_free");
  LOAD(library, free_key, "EVP_PKEY_free");
  LOAD(library, new_context, "EVP_MD_CTX_new");
  LOAD(library, free_context, "EVP_MD_CTX_free");
  LOAD(library, init, "EVP_DigestSignInit");
  LOAD(library, set_padding, "EVP_PKEY_CTX_set_rsa_padding");
  LOAD(library, set_salt, "EVP_PKEY_CTX_set_rsa_pss_saltlen");
  LOAD(library, digest, "EVP_get_digestbyname");
  LOAD(library, sign, "EVP_DigestSign");
}

static const void *digest_of(uint16_t scheme) {
  switch (scheme) {
    case 0x0403:
    case 0x0804:
    case 0x0401:
      return crypto.digest("SHA256");
    case 0x0503:
    case 0x0805:
    case 0x0501:
      return crypto.digest("SHA384");
    case 0x0603:
    case 0x0806:
    case 0x0601:
      return crypto.digest("SHA512");
    default:
      return NULL; /* Ed25519 hashes by itself */
  }
}

size_t openssl_sign(const char *key, uint16_t scheme, const uint8_t *message, size_t message_len, uint8_t *out,
                    size_t out_cap) {
  openssl_signer_load();
  const Data pem = data_read(key, "key");
  void *bio = crypto.mem_buf(pem.bytes, (int)pem.len);
  void *pkey = crypto.read_key(bio, NULL, NULL, NULL);
  void *context = crypto.new_context(), *key_context = NULL;
  const bool pss = scheme >= 0x0804 && scheme <= 0x0806;
  size_t len = out_cap;
  REQUIRE(pkey != NULL);
  REQUIRE_EQ(crypto.init(context, &key_context, digest_of(scheme), NULL, pkey), 1);
  if (pss)
    REQUIRE(crypto.set_padding(key_context, PSS_PADDING) > 0 && crypto.set_salt(key_context, SALT_AS_DIGEST) > 0);
  REQUIRE_EQ(crypto.sign(context, out, &len, message, message_len), 1);
  crypto.free_context(context);
  crypto.free_key(pkey);
  (void)crypto.free_bio(bio);
  free(pem.bytes);
  return len;
}
