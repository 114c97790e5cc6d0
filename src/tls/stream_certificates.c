/* The certificates of a stream. */
#include <openssl/bytestring.h>
#include <openssl/err.h>
#include <openssl/pool.h>
#include <openssl/x509.h>

#include "tls/internal.h"

static sst_status give(const STACK_OF(CRYPTO_BUFFER) * chain, size_t index, uint8_t *out, size_t out_cap,
                       size_t *out_len) {
  if (chain == NULL || index >= sk_CRYPTO_BUFFER_num(chain)) return sst__give(NULL, 0, out, out_cap, out_len);
  const CRYPTO_BUFFER *certificate = sk_CRYPTO_BUFFER_value(chain, index);
  return sst__give(CRYPTO_BUFFER_data(certificate), CRYPTO_BUFFER_len(certificate), out, out_cap, out_len);
}

/* An anchor is kept parsed; what it was parsed from is encoded again, byte for byte. */
static sst_status give_anchor(const X509 *anchor, uint8_t *out, size_t out_cap, size_t *out_len) {
  uint8_t *der = NULL;
  const int der_len = i2d_X509((X509 *)anchor, &der);
  ERR_clear_error();
  if (der_len > 0) {
    const sst_status status = sst__give(der, (size_t)der_len, out, out_cap, out_len);
    OPENSSL_free(der);
    return status;
  }
  if (out_len != NULL) *out_len = 0;
  return sst__refuse(SST_ERR_NO_MEMORY);
}

const CRYPTO_BUFFER *sst__server_leaf(const sst__certificates *certificates) {
  const sst__identity *ours = certificates->local;
  const bool is_server = certificates->context->parts.role == SST_ROLE_SERVER;
  const STACK_OF(CRYPTO_BUFFER) *chain = is_server ? (ours != NULL ? ours->chain : NULL) : certificates->peer;
  return chain != NULL && sk_CRYPTO_BUFFER_num(chain) > 0 ? sk_CRYPTO_BUFFER_value(chain, 0) : NULL;
}

sst_status sst__give_certificate(const sst__certificates *certificates, sst__chain chain, size_t index, uint8_t *out,
                                 size_t out_cap, size_t *out_len) {
  const sst__context_parts *parts = &certificates->context->parts;
  const sst__path *path = certificates->path;
  switch (chain) {
    case SST__CHAIN_PEER:
      return give(certificates->peer, index, out, out_cap, out_len);
    case SST__CHAIN_LOCAL:
      if (certificates->local == NULL) break;
      return give(certificates->local->chain, index, out, out_cap, out_len);
    case SST__CHAIN_REFUSED:
      return give(certificates->refused, index, out, out_cap, out_len);
    case SST__CHAIN_VERIFIED:
      if (index >= path->length) break;
      if (path->at[index] < SST__IN_TRUST) return give(certificates->peer, path->at[index], out, out_cap, out_len);
      return give_anchor(sk_X509_value(parts->anchors->list, path->at[index] - SST__IN_TRUST), out, out_cap, out_len);
  }
  return sst__give(NULL, 0, out, out_cap, out_len);
}

sst_status sst__tls_certificate(const sst__engine *engine, sst__chain chain, size_t index, uint8_t *out, size_t out_cap,
                                size_t *out_len) {
  const sst__tls *tls = (const sst__tls *)engine; /* base is the first member */
  const sst__certificates certificates = {.context = tls->context,
                                          .peer = SSL_get0_peer_certificates(tls->ssl),
                                          .refused = tls->refused,
                                          .path = &tls->path,
                                          .local = tls->local};
  return sst__give_certificate(&certificates, chain, index, out, out_cap, out_len);
}

/* Takes the certificates out of the body of a Certificate message (RFC 8446, 4.4.2, and RFC 5246, 7.4.2, which has
   neither context nor extensions). */
static void keep_message(sst__tls *tls) {
  const bool has_extensions = SSL_version(tls->ssl) == TLS1_3_VERSION;
  CBS message, context, list, certificate, extensions;
  CBS_init(&message, tls->certificate, tls->certificate_len);
  if (has_extensions && !CBS_get_u8_length_prefixed(&message, &context)) return;
  if (!CBS_get_u24_length_prefixed(&message, &list)) return;
  while (CBS_get_u24_length_prefixed(&list, &certificate) &&
         (!has_extensions || CBS_get_u16_length_prefixed(&list, &extensions))) {
    CRYPTO_BUFFER *copy = CRYPTO_BUFFER_new_from_CBS(&certificate, NULL);
    if (copy != NULL && sk_CRYPTO_BUFFER_push(tls->refused, copy) > 0) continue;
    CRYPTO_BUFFER_free(copy);
    return;
  }
}

void sst__tls_forget_refused(sst__tls *tls) {
  sk_CRYPTO_BUFFER_pop_free(tls->refused, CRYPTO_BUFFER_free);
  tls->refused = NULL;
}

void sst__tls_keep_refused(sst__tls *tls) {
  const STACK_OF(CRYPTO_BUFFER) *chain = SSL_get0_peer_certificates(tls->ssl);
  if (tls->refused != NULL) return;
  tls->refused = sk_CRYPTO_BUFFER_new_null();
  if (tls->refused == NULL) return;
  if (chain == NULL && tls->certificate != NULL) keep_message(tls);
  for (size_t i = 0; chain != NULL && i < sk_CRYPTO_BUFFER_num(chain); i++) {
    CRYPTO_BUFFER *certificate = sk_CRYPTO_BUFFER_value(chain, i);
    if (!sk_CRYPTO_BUFFER_push(tls->refused, certificate)) return;
    (void)CRYPTO_BUFFER_up_ref(certificate);
  }
}
