/*
 * key-signer: holds a private key, and signs for whoever may open its socket.
 *
 *     key-signer SOCKET KEY
 *
 * KEY is a file in PEM, or a PKCS#11 URI ("pkcs11:token=...;object=...;pin-value=..."), whose key never leaves its token:
 * OpenSSL's engine "pkcs11" must be installed. A request is the signature scheme (2 bytes, IANA), the length of the
 * message (4 bytes) and the message; an answer the length of the signature (4 bytes; 0: none) and the signature. Numbers
 * are big-endian; answers come in the order of the requests.
 */
#define OPENSSL_SUPPRESS_DEPRECATED /* engines */
#define _POSIX_C_SOURCE 200809L
#include <openssl/engine.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { HEADER = 6, MESSAGE_MAX = 65536, SIGNATURE_MAX = 2048, TLS_PSS = 0x08, TLS_ED25519 = 0x0807 };

static EVP_PKEY *load_key(const char *from) {
  if (strncmp(from, "pkcs11:", 7) != 0) {
    FILE *file = fopen(from, "r");
    EVP_PKEY *key = file ? PEM_read_PrivateKey(file, NULL, NULL, NULL) : NULL;
    if (file) fclose(file);
    return key;
  }
  ENGINE_load_builtin_engines();
  ENGINE *engine = ENGINE_by_id("pkcs11");
  return engine && ENGINE_init(engine) ? ENGINE_load_private_key(engine, from, NULL, NULL) : NULL;
}

/* The hash of a scheme: the high byte says it in TLS 1.2's numbers, the low one in those of RSA-PSS. */
static const EVP_MD *hash_of(uint16_t scheme) {
  switch (scheme >> 8 == TLS_PSS ? scheme & 0xff : scheme >> 8) {
    case 4:
      return EVP_sha256();
    case 5:
      return EVP_sha384();
    case 6:
      return EVP_sha512();
    default:
      return NULL;
  }
}

/* Returns the length of the signature; 0: it cannot be made. */
static size_t sign(EVP_PKEY *key, uint16_t scheme, const uint8_t *message, size_t message_len, uint8_t *out) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  EVP_PKEY_CTX *of_key = NULL;
  const EVP_MD *hash = hash_of(scheme);
  const bool pss = scheme >> 8 == TLS_PSS && scheme != TLS_ED25519;
  size_t len = SIGNATURE_MAX;
  bool good = context && (hash || scheme == TLS_ED25519);
  good = good && EVP_DigestSignInit(context, &of_key, hash, NULL, key) == 1;
  if (good && pss)
    good = EVP_PKEY_CTX_set_rsa_padding(of_key, RSA_PKCS1_PSS_PADDING) > 0 &&
           EVP_PKEY_CTX_set_rsa_pss_saltlen(of_key, RSA_PSS_SALTLEN_DIGEST) > 0;
  good = good && EVP_DigestSign(context, out, &len, message, message_len) == 1;
  if (!good) ERR_print_errors_fp(stderr);
  EVP_MD_CTX_free(context);
  return good ? len : 0;
}

static bool read_all(int fd, uint8_t *data, size_t len) {
  while (len > 0) {
    const ssize_t n = read(fd, data, len);
    if (n <= 0) return false;
    data += n;
    len -= (size_t)n;
  }
  return true;
}

static void serve(int fd, EVP_PKEY *key) {
  static uint8_t message[MESSAGE_MAX], answer[4 + SIGNATURE_MAX];
  uint8_t header[HEADER];
  while (read_all(fd, header, sizeof header)) {
    const uint16_t scheme = (uint16_t)(header[0] << 8 | header[1]);
    const size_t len = (size_t)header[2] << 24 | (size_t)header[3] << 16 | (size_t)header[4] << 8 | header[5];
    if (len > sizeof message || !read_all(fd, message, len)) return;
    const size_t size = sign(key, scheme, message, len, answer + 4);
    memcpy(answer, (uint8_t[4]){0, 0, (uint8_t)(size >> 8), (uint8_t)size}, 4);
    if (send(fd, answer, 4 + size, MSG_NOSIGNAL) != (ssize_t)(4 + size)) return;
  }
}

/* Only this user may connect. */
static int listen_on(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return -1;
  memcpy(address.sun_path, path, strlen(path) + 1);
  umask(0077);
  (void)unlink(path);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  const bool good = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 8) == 0;
  return good ? fd : -1;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: key-signer SOCKET KEY\n");
    return 1;
  }
  EVP_PKEY *key = load_key(argv[2]);
  const int listener = listen_on(argv[1]);
  if (!key || listener < 0) {
    fprintf(stderr, "key-signer: %s\n", key ? "the socket cannot be made" : "there is no such key");
    ERR_print_errors_fp(stderr);
    return 1;
  }
  printf("ready\n");
  fflush(stdout);
  for (;;) {
    const int fd = accept(listener, NULL, NULL);
    if (fd < 0) return 1;
    serve(fd, key);
    close(fd);
  }
}
