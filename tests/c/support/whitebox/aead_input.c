#include "aead_input.h"

#include <openssl/aead.h>

static _Thread_local AeadInput last;

void aead_input_forget(void) {
  last = (AeadInput){.calls = 0};
}

const AeadInput *aead_input(void) {
  return &last;
}

/* The linker leads every call of EVP_AEAD_CTX_sealv here (--wrap), and __real_x to BoringSSL's. */
int __real_EVP_AEAD_CTX_sealv(const EVP_AEAD_CTX *ctx, const CRYPTO_IOVEC *pieces, size_t num, uint8_t *tag,
                              size_t *tag_len, size_t tag_cap, const uint8_t *nonce, size_t nonce_len,
                              const CRYPTO_IVEC *additional, size_t num_additional);
int __wrap_EVP_AEAD_CTX_sealv(const EVP_AEAD_CTX *ctx, const CRYPTO_IOVEC *pieces, size_t num, uint8_t *tag,
                              size_t *tag_len, size_t tag_cap, const uint8_t *nonce, size_t nonce_len,
                              const CRYPTO_IVEC *additional, size_t num_additional);

int __wrap_EVP_AEAD_CTX_sealv(const EVP_AEAD_CTX *ctx, const CRYPTO_IOVEC *pieces, size_t num, uint8_t *tag,
                              size_t *tag_len, size_t tag_cap, const uint8_t *nonce, size_t nonce_len,
                              const CRYPTO_IVEC *additional, size_t num_additional) {
  last.calls++;
  last.num = num;
  for (size_t i = 0; i < num && i < AEAD_INPUT_MOST; i++) {
    last.piece[i].in = pieces[i].in;
    last.piece[i].out = pieces[i].out;
    last.piece[i].len = pieces[i].len;
  }
  return __real_EVP_AEAD_CTX_sealv(ctx, pieces, num, tag, tag_len, tag_cap, nonce, nonce_len, additional,
                                   num_additional);
}
