#include "tls/traffic_secrets.h"

#include <openssl/span.h>

extern "C" bool sst__traffic_secrets(const SSL *ssl, const uint8_t **read, const uint8_t **write, size_t *len) {
  bssl::Span<const uint8_t> read_secret, write_secret;
  if (!bssl::SSL_get_traffic_secrets(ssl, &read_secret, &write_secret)) return false;
  *read = read_secret.data();
  *write = write_secret.data();
  *len = write_secret.size();
  return read_secret.size() == write_secret.size();
}
