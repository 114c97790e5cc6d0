#include "openssl_pair.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { FILETYPE_PEM = 1 };

bool openssl_pair_load(OpensslPair *openssl, int flags) {
  openssl->handle = dlopen("libssl.so.3", RTLD_NOW | flags);
  if (openssl->handle == NULL) {
    printf("skipped: there is no libssl.so.3 (Debian: libssl3)\n");
    return false;
  }
#define LOAD(result, name, parameters)                   \
  do {                                                   \
    void *symbol = dlsym(openssl->handle, #name);        \
    if (symbol == NULL) {                                \
      printf("skipped: libssl.so.3 has no %s\n", #name); \
      return false;                                      \
    }                                                    \
    memcpy(&openssl->name, &symbol, sizeof symbol);      \
  } while (0);
  OPENSSL_FUNCTIONS(LOAD)
#undef LOAD
  return true;
}

static bool use_credential(const OpensslPair *openssl, void *ctx) {
  return openssl->SSL_CTX_use_certificate_chain_file(ctx, SST_TEST_DATA "/server-p256.pem") == 1 &&
         openssl->SSL_CTX_use_PrivateKey_file(ctx, SST_TEST_DATA "/server-p256.key", FILETYPE_PEM) == 1;
}

static bool shake_hands_and_echo(const OpensslPair *openssl, void *client, void *server) {
  static const char text[] = "through OpenSSL";
  char out[sizeof text];
  int client_done = 0, server_done = 0;
  for (int turn = 0; turn < 6 && (client_done != 1 || server_done != 1); turn++) {
    client_done = openssl->SSL_do_handshake(client);
    server_done = openssl->SSL_do_handshake(server);
  }
  return client_done == 1 && server_done == 1 && openssl->SSL_write(client, text, sizeof text) == sizeof text &&
         openssl->SSL_read(server, out, sizeof out) == sizeof text && memcmp(out, text, sizeof text) == 0;
}

bool openssl_pair_echoes(const OpensslPair *openssl) {
  void *ctx = openssl->SSL_CTX_new(openssl->TLS_method());
  void *client = ctx == NULL ? NULL : openssl->SSL_new(ctx), *client_bio = NULL, *server_bio = NULL;
  bool good = client != NULL && use_credential(openssl, ctx);
  void *server = good ? openssl->SSL_new(ctx) : NULL;
  good = server != NULL && openssl->BIO_new_bio_pair(&client_bio, 0, &server_bio, 0) == 1;
  if (good) {
    openssl->SSL_set_bio(client, client_bio, client_bio);
    openssl->SSL_set_bio(server, server_bio, server_bio);
    openssl->SSL_set_connect_state(client);
    openssl->SSL_set_accept_state(server);
    good = shake_hands_and_echo(openssl, client, server);
  }
  openssl->SSL_free(client);
  openssl->SSL_free(server);
  openssl->SSL_CTX_free(ctx);
  return good;
}
