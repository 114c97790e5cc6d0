#include "shim_signer.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

#include "shim_flags.h"

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

/* dlsym gives pointers to objects; the cast is how POSIX wants them read as functions. */
static void load(void *library, void *member, const char *name) {
  void *symbol = dlsym(library, name);
  if (symbol == NULL) unimplemented("signing outside of the library: libcrypto.so.3 lacks a function");
  *(void **)member = symbol;
}

static void load_all(void) {
  if (crypto.sign != NULL) return;
  void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) unimplemented("signing outside of the library: there is no libcrypto.so.3");
  load(library, &crypto.mem_buf, "BIO_new_mem_buf");
  load(library, &crypto.read_key, "PEM_read_bio_PrivateKey");
  load(library, &crypto.free_bio, "BIO_free");
  load(library, &crypto.free_key, "EVP_PKEY_free");
  load(library, &crypto.new_context, "EVP_MD_CTX_new");
  load(library, &crypto.free_context, "EVP_MD_CTX_free");
  load(library, &crypto.init, "EVP_DigestSignInit");
  load(library, &crypto.set_padding, "EVP_PKEY_CTX_set_rsa_padding");
  load(library, &crypto.set_salt, "EVP_PKEY_CTX_set_rsa_pss_saltlen");
  load(library, &crypto.digest, "EVP_get_digestbyname");
  load(library, &crypto.sign, "EVP_DigestSign");
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

size_t shim_sign(const uint8_t *pem, size_t pem_len, uint16_t scheme, const uint8_t *message, size_t message_len,
                 uint8_t *out, size_t out_cap) {
  load_all();
  void *bio = crypto.mem_buf(pem, (int)pem_len);
  void *key = bio == NULL ? NULL : crypto.read_key(bio, NULL, NULL, NULL);
  void *context = crypto.new_context(), *key_context = NULL;
  const bool pss = scheme >= 0x0804 && scheme <= 0x0806;
  size_t len = out_cap;
  bool good = key != NULL && context != NULL;
  good = good && crypto.init(context, &key_context, digest_of(scheme), NULL, key) == 1;
  if (good && pss)
    good = crypto.set_padding(key_context, PSS_PADDING) > 0 && crypto.set_salt(key_context, SALT_AS_DIGEST) > 0;
  good = good && crypto.sign(context, out, &len, message, message_len) == 1;
  crypto.free_context(context);
  crypto.free_key(key);
  (void)crypto.free_bio(bio);
  return good ? len : 0;
}
