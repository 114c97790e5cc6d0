/*
 * bare_ssl.h - BoringSSL alone: a client and a server SSL over a window BIO, as a user would write it by hand. The
 * yardstick for time and for allocations.
 */
#ifndef SST_BARE_SSL_H
#define SST_BARE_SSL_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BARE_SSL_CAP = 20000 };

/* What one side has written and the other not read. */
typedef struct Window {
  uint8_t bytes[BARE_SSL_CAP];
  size_t begin, end;
} Window;

typedef struct BareSsl {
  SSL_CTX *client_ctx, *server_ctx;
  SSL *client, *server;
  BIO_METHOD *method;
  Window to_server, to_client;
} BareSsl;

/* An open pair of a version; AES-128-GCM as our own pairs choose it. */
BareSsl *bare_ssl_open(uint16_t version);
void bare_ssl_free(BareSsl *bare);

/* The client seals, the server opens; false: other than expected. */
bool bare_ssl_move(BareSsl *bare, const uint8_t *data, int len, uint8_t *out);

#endif
