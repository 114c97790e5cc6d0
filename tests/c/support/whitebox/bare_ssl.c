#include "bare_ssl.h"

#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

typedef struct Ends {
  Window *in, *out;
} Ends;

static int window_write(BIO *bio, const char *data, int len) {
  Window *window = ((Ends *)BIO_get_data(bio))->out;
  BIO_clear_retry_flags(bio);
  if (len < 0 || (size_t)len > BARE_SSL_CAP - window->end) return -1;
  memcpy(window->bytes + window->end, data, (size_t)len);
  window->end += (size_t)len;
  return len;
}

static int window_read(BIO *bio, char *out, int len) {
  Window *window = ((Ends *)BIO_get_data(bio))->in;
  BIO_clear_retry_flags(bio);
  const size_t waiting = window->end - window->begin;
  if (waiting == 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const size_t size = waiting < (size_t)len ? waiting : (size_t)len;
  memcpy(out, window->bytes + window->begin, size);
  window->begin += size;
  if (window->begin == window->end) window->begin = window->end = 0;
  return (int)size;
}

static long window_control(BIO *bio, int command, long number, void *pointer) {
  (void)bio, (void)number, (void)pointer;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

static int window_destroy(BIO *bio) {
  free(BIO_get_data(bio));
  return 1;
}

static enum ssl_verify_result_t accept_any(SSL *ssl, uint8_t *alert) {
  (void)ssl, (void)alert;
  return ssl_verify_ok;
}

static SSL_CTX *context_new(uint16_t version) {
  /* TLS 1.2 wants the leaf's curve too. */
  static const uint16_t groups[] = {SSL_GROUP_X25519, SSL_GROUP_SECP256R1};
  SSL_CTX *ctx = SSL_CTX_new(TLS_with_buffers_method());
  REQUIRE(ctx != NULL);
  REQUIRE(SSL_CTX_set_min_proto_version(ctx, version) == 1 && SSL_CTX_set_max_proto_version(ctx, version) == 1);
  REQUIRE_EQ(SSL_CTX_set1_group_ids(ctx, groups, 2), 1);
  SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(ctx, 0);
  return ctx;
}

static SSL *ssl_new(const BareSsl *bare, SSL_CTX *ctx, Window *in, Window *out) {
  SSL *ssl = SSL_new(ctx);
  BIO *bio = BIO_new(bare->method);
  Ends *ends = test_allocate(sizeof *ends);
  REQUIRE(ssl != NULL && bio != NULL);
  *ends = (Ends){in, out};
  BIO_set_data(bio, ends);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl, bio, bio);
  return ssl;
}

static void use_credential(SSL_CTX *ctx, const char *name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.pem", SST_TEST_DATA, name);
  REQUIRE_EQ(SSL_CTX_use_certificate_chain_file(ctx, path), 1);
  snprintf(path, sizeof path, "%s/%s.key", SST_TEST_DATA, name);
  REQUIRE_EQ(SSL_CTX_use_PrivateKey_file(ctx, path, SSL_FILETYPE_PEM), 1);
}

BareSsl *bare_ssl_open(uint16_t version) {
  BareSsl *bare = test_allocate(sizeof *bare);
  memset(bare, 0, sizeof *bare);
  bare->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "window of a test");
  REQUIRE(bare->method != NULL);
  BIO_meth_set_write(bare->method, window_write);
  BIO_meth_set_read(bare->method, window_read);
  BIO_meth_set_ctrl(bare->method, window_control);
  BIO_meth_set_destroy(bare->method, window_destroy);
  bare->client_ctx = context_new(version);
  bare->server_ctx = context_new(version);
  SSL_CTX_set_custom_verify(bare->client_ctx, SSL_VERIFY_PEER, accept_any);
  use_credential(bare->server_ctx, "server-p256");
  bare->client = ssl_new(bare, bare->client_ctx, &bare->to_client, &bare->to_server);
  bare->server = ssl_new(bare, bare->server_ctx, &bare->to_server, &bare->to_client);
  SSL_set_connect_state(bare->client);
  SSL_set_accept_state(bare->server);
  int client = 0, server = 0;
  for (int turn = 0; turn < 6 && (client != 1 || server != 1); turn++) {
    client = SSL_do_handshake(bare->client);
    server = SSL_do_handshake(bare->server);
    ERR_clear_error();
  }
  REQUIRE(client == 1 && server == 1);
  return bare;
}

void bare_ssl_free(BareSsl *bare) {
  SSL_free(bare->client);
  SSL_free(bare->server);
  SSL_CTX_free(bare->client_ctx);
  SSL_CTX_free(bare->server_ctx);
  BIO_meth_free(bare->method);
  free(bare);
}

/* With an empty error queue before each call, as SSL_get_error wants it. */
bool bare_ssl_move(BareSsl *bare, const uint8_t *data, int len, uint8_t *out) {
  ERR_clear_error();
  if (SSL_write(bare->client, data, len) != len) return false;
  ERR_clear_error();
  return SSL_read(bare->server, out, len) == len;
}
