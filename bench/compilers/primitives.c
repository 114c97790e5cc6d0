/*
 * What the primitives of a handshake and of a record cost with the BoringSSL that this is linked with. One request a line,
 * "OP N"; the answer is the CPU time of N ops in nanoseconds. bench/compilers/run builds it, once per compiler.
 */
#include <openssl/aead.h>
#include <openssl/bn.h>
#include <openssl/curve25519.h>
#include <openssl/digest.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/nid.h>
#include <openssl/rsa.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RECORD = 16384, TAG = 16, NONCE = 12, DIGEST = 32, RSA_BITS = 2048 };

static uint8_t ours[32], public_value[32], peers[32], digest[DIGEST], signature[RSA_BITS / 8], plain[RECORD + 1],
    sealed[RECORD + 1 + TAG];
static size_t rsa_len, ecdsa_len;
static uint8_t ecdsa_signature[80];
static EC_KEY *ec;
static RSA *rsa;
static EVP_AEAD_CTX aead;

static void need(bool good, const char *what) {
  if (good) return;
  fprintf(stderr, "primitives: %s\n", what);
  exit(1);
}

static bool x25519_keygen(void) {
  X25519_keypair(public_value, ours);
  return true;
}

static bool x25519_derive(void) {
  uint8_t shared[32];
  return X25519(shared, ours, peers) == 1;
}

static bool p256_keygen(void) {
  EC_KEY *key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
  const bool made = key != NULL && EC_KEY_generate_key(key) == 1;
  EC_KEY_free(key);
  return made;
}

static bool p256_sign(void) {
  uint8_t out[sizeof ecdsa_signature];
  unsigned len = 0;
  return ECDSA_sign(0, digest, DIGEST, out, &len, ec) == 1;
}

static bool p256_verify(void) {
  return ECDSA_verify(0, digest, DIGEST, ecdsa_signature, ecdsa_len, ec) == 1;
}

static bool rsa_sign(void) {
  uint8_t out[RSA_BITS / 8];
  size_t len = 0;
  return RSA_sign_pss_mgf1(rsa, &len, out, sizeof out, digest, DIGEST, EVP_sha256(), NULL, DIGEST) == 1;
}

static bool rsa_verify(void) {
  return RSA_verify_pss_mgf1(rsa, digest, DIGEST, EVP_sha256(), NULL, DIGEST, signature, rsa_len) == 1;
}

static bool seal(size_t len) {
  static const uint8_t nonce[NONCE] = {1}, header[5] = {23, 3, 3};
  size_t out = 0;
  return EVP_AEAD_CTX_seal(&aead, sealed, &out, sizeof sealed, nonce, NONCE, plain, len + 1, header, 5) == 1;
}

static bool gcm_small(void) {
  return seal(1);
}

static bool gcm_large(void) {
  return seal(RECORD);
}

static const struct {
  const char *name;
  bool (*once)(void);
} ops[] = {
    {"x25519-keygen", x25519_keygen}, {"x25519-derive", x25519_derive},
    {"p256-keygen", p256_keygen},     {"p256-sign", p256_sign},
    {"p256-verify", p256_verify},     {"rsa2048-sign", rsa_sign},
    {"rsa2048-verify", rsa_verify},   {"gcm-1", gcm_small},
    {"gcm-16384", gcm_large},
};
enum { NUM_OPS = sizeof ops / sizeof ops[0] };

static void prepare(void) {
  static const uint8_t key[16] = {7};
  uint8_t other[32];
  unsigned len = 0;
  X25519_keypair(public_value, ours);
  X25519_keypair(peers, other);
  memset(digest, 3, sizeof digest);
  ec = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
  need(ec != NULL && EC_KEY_generate_key(ec) == 1, "P-256");
  need(ECDSA_sign(0, digest, DIGEST, ecdsa_signature, &len, ec) == 1, "ECDSA");
  ecdsa_len = len;
  BIGNUM *exponent = BN_new();
  rsa = RSA_new();
  need(rsa != NULL && exponent != NULL && BN_set_word(exponent, RSA_F4) == 1, "memory");
  need(RSA_generate_key_ex(rsa, RSA_BITS, exponent, NULL) == 1, "RSA");
  need(RSA_sign_pss_mgf1(rsa, &rsa_len, signature, sizeof signature, digest, DIGEST, EVP_sha256(), NULL, DIGEST) == 1,
       "PSS");
  need(EVP_AEAD_CTX_init(&aead, EVP_aead_aes_128_gcm(), key, sizeof key, TAG, NULL) == 1, "AES-GCM");
  BN_free(exponent);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

int main(void) {
  char line[128], name[32];
  unsigned long n = 0;
  prepare();
  while (fgets(line, sizeof line, stdin) != NULL) {
    size_t at = 0;
    need(sscanf(line, "%31s %lu", name, &n) == 2, "not a request");
    while (at < NUM_OPS && strcmp(ops[at].name, name) != 0)
      at++;
    need(at < NUM_OPS, "no such op");
    const uint64_t began = now();
    for (unsigned long i = 0; i < n; i++)
      need(ops[at].once(), name);
    printf("%llu\n", (unsigned long long)(now() - began));
    fflush(stdout);
  }
  return 0;
}
