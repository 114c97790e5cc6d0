/* Keying material that leaves the library: exporters, channel bindings, traffic secrets. From what our record layer has
   kept, and from BoringSSL's SSL where that stays. */
#include <string.h>

#include <openssl/digest.h>
#include <openssl/err.h>
#include <openssl/tls_prf.h>

#include "memory.h"
#include "tls/record.h"
#include "tls/traffic_secrets.h"

/* ---- what is taken from the handshake ---- */

static uint8_t nibble(char digit) {
  return (uint8_t)(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
}

/* "EXPORTER_SECRET random secret" in hex (RFC 9850). */
void sst__exporter_see(sst__exporter *exporter, const char *key_log_line) {
  static const char label[] = "EXPORTER_SECRET ";
  const size_t before = sizeof label - 1 + 2 * SST__RANDOM_LEN + 1;
  if (strncmp(key_log_line, label, sizeof label - 1) != 0 || strlen(key_log_line) < before) return;
  const char *hex = key_log_line + before;
  const size_t len = strlen(hex) / 2;
  if (len > sizeof exporter->secret) return;
  for (size_t i = 0; i < len; i++)
    exporter->secret[i] = (uint8_t)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
  exporter->secret_len = (uint8_t)len;
}

bool sst__exporter_complete(sst__exporter *exporter, const SSL *ssl) {
  if (SSL_version(ssl) == TLS1_3_VERSION) return exporter->secret_len > 0;
  sst__seed *seed = exporter->seed = sst__alloc(sizeof *seed);
  if (seed == NULL) return false;
  uint8_t *randoms = seed->randoms;
  size_t unique_len = 0;
  exporter->secret_len =
      (uint8_t)SSL_SESSION_get_master_key(SSL_get_session(ssl), exporter->secret, sizeof exporter->secret);
  /* There is none after a resumption without extended master secret, where it proves nothing. */
  (void)SSL_get_tls_unique(ssl, seed->unique, &unique_len, sizeof seed->unique);
  return exporter->secret_len > 0 && SSL_get_client_random(ssl, randoms, SST__RANDOM_LEN) == SST__RANDOM_LEN &&
         SSL_get_server_random(ssl, randoms + SST__RANDOM_LEN, SST__RANDOM_LEN) == SST__RANDOM_LEN;
}

void sst__exporter_clear(sst__exporter *exporter) {
  sst__free(exporter->seed);
  sst__wipe(exporter, sizeof *exporter);
}

/* ---- exporters ---- */

static sst_status exported(bool done, uint8_t *out, size_t out_len) {
  ERR_clear_error();
  if (done) return SST_OK;
  sst__wipe(out, out_len);
  return sst__refuse(SST_ERR_NO_MEMORY);
}

/* RFC 8446, 7.5. */
static bool export_tls13(const sst__record_engine *record, const sst__export *what, uint8_t *out, size_t out_len) {
  const EVP_MD *hash = record->suite.hash;
  const size_t hash_len = EVP_MD_size(hash);
  uint8_t nothing[EVP_MAX_MD_SIZE], context[EVP_MAX_MD_SIZE], secret[EVP_MAX_MD_SIZE];
  const sst__label own = {
      .text = what->label, .text_len = what->label_len, .context = nothing, .context_len = hash_len};
  const sst__label common = {.text = "exporter", .text_len = 8, .context = context, .context_len = hash_len};
  const bool done = EVP_Digest(NULL, 0, nothing, NULL, hash, NULL) == 1 &&
                    EVP_Digest(what->context, what->context_len, context, NULL, hash, NULL) == 1 &&
                    sst__expand_label(hash, record->exporter.secret, &own, secret, hash_len) &&
                    sst__expand_label(hash, secret, &common, out, out_len);
  sst__wipe(secret, sizeof secret);
  return done;
}

/* RFC 5705, 4: a context stands behind its length, even an empty one. */
static bool export_tls12(const sst__record_engine *record, const sst__export *what, uint8_t *out, size_t out_len) {
  const sst__exporter *exporter = &record->exporter;
  size_t seed_len = sizeof exporter->seed->randoms;
  uint8_t seed[sizeof exporter->seed->randoms + 2];
  memcpy(seed, exporter->seed->randoms, seed_len);
  if (what->context != NULL) {
    seed[seed_len++] = (uint8_t)(what->context_len >> 8);
    seed[seed_len++] = (uint8_t)what->context_len;
  }
  return CRYPTO_tls1_prf(record->suite.hash, out, out_len, exporter->secret, exporter->secret_len,
                         (const uint8_t *)what->label, what->label_len, seed, seed_len, what->context,
                         what->context_len) == 1;
}

sst_status sst__record_export_key(const sst__engine *engine, const sst__export *what, uint8_t *out, size_t out_len) {
  const sst__record_engine *record = (const sst__record_engine *)engine;
  const bool done =
      record->suite.tls13 ? export_tls13(record, what, out, out_len) : export_tls12(record, what, out, out_len);
  return exported(done, out, out_len);
}

sst_status sst__tls_export_key(const sst__engine *engine, const sst__export *what, uint8_t *out, size_t out_len) {
  const sst__tls *tls = (const sst__tls *)engine;
  const int done = SSL_export_keying_material(tls->ssl, out, out_len, what->label, what->label_len, what->context,
                                              what->context_len, what->context != NULL);
  return exported(done == 1, out, out_len);
}

/* ---- channel bindings ---- */

typedef struct binding_source {
  bool tls13;
  const uint8_t *unique;
  sst__certificates certificates;
} binding_source;

static sst_status give_binding(const binding_source *source, int32_t kind, uint8_t *out, size_t out_cap,
                               size_t *out_len) {
  if (kind == SST_BINDING_TLS_UNIQUE && !source->tls13) {
    return sst__give(source->unique, SST__UNIQUE_LEN, out, out_cap, out_len);
  }
  if (kind == SST_BINDING_TLS_SERVER_END_POINT) {
    return sst__end_point(sst__server_leaf(&source->certificates), out, out_cap, out_len);
  }
  return sst__refuse(SST_ERR_UNSUPPORTED); /* RFC 9266, 3.1: tls-unique is not defined for TLS 1.3 */
}

sst_status sst__record_channel_binding(const sst__engine *engine, int32_t kind, uint8_t *out, size_t out_cap,
                                       size_t *out_len) {
  const sst__record_engine *record = (const sst__record_engine *)engine;
  const binding_source source = {
      .tls13 = record->suite.tls13,
      .unique = record->exporter.seed == NULL ? NULL : record->exporter.seed->unique,
      .certificates = {.context = record->context, .peer = record->peer, .local = record->local}};
  return give_binding(&source, kind, out, out_cap, out_len);
}

sst_status sst__tls_channel_binding(const sst__engine *engine, int32_t kind, uint8_t *out, size_t out_cap,
                                    size_t *out_len) {
  const sst__tls *tls = (const sst__tls *)engine;
  uint8_t unique[SST__UNIQUE_LEN];
  size_t unique_len = 0;
  (void)SSL_get_tls_unique(tls->ssl, unique, &unique_len, sizeof unique);
  const binding_source source = {
      .tls13 = tls->version == SST_TLS1_3,
      .unique = unique,
      .certificates = {.context = tls->context, .peer = SSL_get0_peer_certificates(tls->ssl), .local = tls->local}};
  return give_binding(&source, kind, out, out_cap, out_len);
}

/* ---- traffic secrets ---- */

sst_status sst__record_traffic_secret(sst__engine *engine, int32_t direction, uint8_t *out, size_t out_cap,
                                      size_t *out_len) {
  sst__record_engine *record = sst__record_of(engine);
  if (!record->suite.tls13) return sst__refuse(SST_ERR_UNSUPPORTED);
  const sst__keys *keys = direction == SST_DIRECTION_SEND ? &record->sender.keys : &record->receiver.keys;
  pthread_mutex_lock(&record->secrets);
  const sst_status status = sst__give(keys->secret, EVP_MD_size(record->suite.hash), out, out_cap, out_len);
  pthread_mutex_unlock(&record->secrets);
  return status;
}

sst_status sst__tls_traffic_secret(sst__engine *engine, int32_t direction, uint8_t *out, size_t out_cap,
                                   size_t *out_len) {
  const sst__tls *tls = (const sst__tls *)engine;
  const uint8_t *read = NULL, *write = NULL;
  size_t len = 0;
  const bool found = tls->version == SST_TLS1_3 && sst__traffic_secrets(tls->ssl, &read, &write, &len);
  ERR_clear_error();
  if (!found) return sst__refuse(SST_ERR_UNSUPPORTED);
  return sst__give(direction == SST_DIRECTION_SEND ? write : read, len, out, out_cap, out_len);
}
