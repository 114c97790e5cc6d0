/* openssl_pair.h - the system's OpenSSL 3, loaded at run time, and a handshake of it with itself. */
#ifndef SST_OPENSSL_PAIR_H
#define SST_OPENSSL_PAIR_H

#include <stdbool.h>
#include <stddef.h>

#define OPENSSL_FUNCTIONS(X)                                                   \
  X(const void *, TLS_method, (void))                                          \
  X(void *, SSL_CTX_new, (const void *method))                                 \
  X(void, SSL_CTX_free, (void *ctx))                                           \
  X(int, SSL_CTX_use_certificate_chain_file, (void *ctx, const char *file))    \
  X(int, SSL_CTX_use_PrivateKey_file, (void *ctx, const char *file, int type)) \
  X(void *, SSL_new, (void *ctx))                                              \
  X(void, SSL_free, (void *ssl))                                               \
  X(void, SSL_set_bio, (void *ssl, void *in, void *out))                       \
  X(void, SSL_set_accept_state, (void *ssl))                                   \
  X(void, SSL_set_connect_state, (void *ssl))                                  \
  X(int, SSL_do_handshake, (void *ssl))                                        \
  X(int, SSL_read, (void *ssl, void *data, int cap))                           \
  X(int, SSL_write, (void *ssl, const void *data, int len))                    \
  X(int, BIO_new_bio_pair, (void **first, size_t first_cap, void **second, size_t second_cap))

typedef struct OpensslPair {
  void *handle;
#define OPENSSL_MEMBER(result, name, parameters) result(*name) parameters;
  OPENSSL_FUNCTIONS(OPENSSL_MEMBER)
#undef OPENSSL_MEMBER
} OpensslPair;

/* false: there is no libssl.so.3, and a line says so. */
bool openssl_pair_load(OpensslPair *openssl, int flags);
bool openssl_pair_echoes(const OpensslPair *openssl);

#endif
