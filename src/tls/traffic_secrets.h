/* The one call of BoringSSL that C cannot make. */
#ifndef SST_TRAFFIC_SECRETS_H
#define SST_TRAFFIC_SECRETS_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The traffic secrets of a finished TLS 1.3 handshake, borrowed from ssl; false: it is none. */
bool sst__traffic_secrets(const SSL *ssl, const uint8_t **read, const uint8_t **write, size_t *len);

#ifdef __cplusplus
}
#endif

#endif
