/* Where a handshake stops for its caller, and goes on with the answer. BoringSSL calls its callbacks again for that:
   each looks whether there is an answer, and else says "later". */
#include <string.h>

#include "memory.h"
#include "tls/internal.h"

sst_status sst__want_of(int ssl_error) {
  switch (ssl_error) {
    case SSL_ERROR_PENDING_CERTIFICATE:
      return SST_WANT_CLIENT_HELLO;
    case SSL_ERROR_WANT_X509_LOOKUP:
      return SST_WANT_CERTIFICATE;
    case SSL_ERROR_WANT_CERTIFICATE_VERIFY:
      return SST_WANT_CERTIFICATE_VERIFY;
    case SSL_ERROR_WANT_PRIVATE_KEY_OPERATION:
      return SST_WANT_PRIVATE_KEY_OPERATION;
    case SSL_ERROR_PENDING_SESSION:
      return SST_WANT_SESSION;
    case SSL_ERROR_PENDING_TICKET:
      return SST_WANT_TICKET_DECRYPT;
    case SSL_ERROR_EARLY_DATA_REJECTED:
      return SST_WANT_EARLY_DATA_RETRY;
    default:
      return SST_OK;
  }
}

bool sst__asks(const sst__tls *tls, sst_status want) {
  return sst__suspends_on(tls->context->parts.settings, want);
}

const sst__answer *sst__tls_answer(const sst__tls *tls, sst_status want) {
  return sst__question_answer(tls->base.question, want);
}

/* ---- signatures ---- */

static enum ssl_private_key_result_t want_signature(SSL *ssl, uint8_t *out, size_t *out_len, size_t max_out,
                                                    uint16_t scheme, const uint8_t *in, size_t in_len) {
  (void)out, (void)max_out;
  sst__tls *tls = sst__tls_of(ssl);
  *out_len = 0;
  sst__free(tls->message);
  tls->message = sst__copy(in, in_len);
  if (tls->message == NULL) return ssl_private_key_failure;
  tls->message_len = in_len;
  tls->message_scheme = scheme;
  return ssl_private_key_retry;
}

static enum ssl_private_key_result_t take_signature(SSL *ssl, uint8_t *out, size_t *out_len, size_t max_out) {
  sst__tls *tls = sst__tls_of(ssl);
  const sst__answer *answer = sst__tls_answer(tls, SST_WANT_PRIVATE_KEY_OPERATION);
  *out_len = 0;
  if (answer == NULL) return ssl_private_key_retry;
  if (answer->len == 0 || answer->len > max_out) {
    sst__judge(tls, SST_ERR_PRIVATE_KEY_OPERATION, "the signature has %zu bytes; this key makes 1 to %zu", answer->len,
               max_out);
    return ssl_private_key_failure;
  }
  memcpy(out, answer->bytes, answer->len);
  *out_len = answer->len;
  sst__free(tls->message);
  tls->message = NULL;
  return ssl_private_key_success;
}

/* RSA key exchange, which alone decrypts, is in no suite of ours. */
static enum ssl_private_key_result_t no_decryption(SSL *ssl, uint8_t *out, size_t *out_len, size_t max_out,
                                                   const uint8_t *in, size_t in_len) {
  (void)ssl, (void)out, (void)max_out, (void)in, (void)in_len;
  *out_len = 0;
  return ssl_private_key_failure;
}

const SSL_PRIVATE_KEY_METHOD *sst__caller_signs(void) {
  static const SSL_PRIVATE_KEY_METHOD method = {
      .sign = want_signature, .decrypt = no_decryption, .complete = take_signature};
  return &method;
}

/* ---- facts ---- */

static bool show_buffer(const uint8_t *data, size_t len, sst__view *view) {
  *view = (sst__view){.data = data, .len = len};
  return len > 0;
}

static bool show_schemes(const sst__tls *tls, sst__view *view) {
  const uint16_t *schemes = NULL;
  const size_t num = SSL_get0_peer_verify_algorithms(tls->ssl, &schemes);
  return show_buffer((const uint8_t *)schemes, num * sizeof *schemes, view);
}

static bool show_ca(const sst__tls *tls, size_t index, sst__view *view) {
  if (tls->context->parts.role == SST_ROLE_CLIENT) {
    const STACK_OF(CRYPTO_BUFFER) *names = SSL_get0_server_requested_CAs(tls->ssl);
    if (names == NULL || index >= sk_CRYPTO_BUFFER_num(names)) return false;
    const CRYPTO_BUFFER *name = sk_CRYPTO_BUFFER_value(names, index);
    return show_buffer(CRYPTO_BUFFER_data(name), CRYPTO_BUFFER_len(name), view);
  }
  CBS list, name;
  CBS_init(&list, tls->accepted_cas, tls->accepted_cas_len);
  for (size_t i = 0; CBS_get_u16_length_prefixed(&list, &name); i++) {
    if (i == index) return show_buffer(CBS_data(&name), CBS_len(&name), view);
  }
  return false;
}

static bool show_server_name(const sst__tls *tls, sst__view *view) {
  const char *name = SSL_get_servername(tls->ssl, TLSEXT_NAMETYPE_host_name);
  return name != NULL && show_buffer((const uint8_t *)name, strlen(name), view);
}

static bool show_operation(const sst__tls *tls, sst__view *view) {
  if (!show_buffer(tls->message, tls->message_len, view)) return false;
  view->is_for = tls->message_scheme;
  return true;
}

bool sst__tls_fact(const sst__engine *engine, sst__fact fact, size_t index, sst__view *view) {
  const sst__tls *tls = (const sst__tls *)engine; /* base is the first member */
  *view = (sst__view){.len = 0};
  switch (fact) {
    case SST__FACT_CLIENT_HELLO:
    case SST__FACT_HELLO_LIST:
    case SST__FACT_HELLO_ALPN:
    case SST__FACT_HELLO_EXTENSION:
      return sst__hello_fact(tls, fact, index, view);
    case SST__FACT_SERVER_NAME:
      return show_server_name(tls, view);
    case SST__FACT_ACCEPTED_SCHEMES:
      return show_schemes(tls, view);
    case SST__FACT_ACCEPTED_CA:
      return show_ca(tls, index, view);
    case SST__FACT_VERDICT:
      return show_buffer((const uint8_t *)&tls->verdict, sizeof tls->verdict, view);
    case SST__FACT_OPERATION:
      return show_operation(tls, view);
    case SST__FACT_OCSP_RESPONSE:
      SSL_get0_ocsp_response(tls->ssl, &view->data, &view->len);
      return view->len > 0;
    case SST__FACT_SCTS:
      SSL_get0_signed_cert_timestamp_list(tls->ssl, &view->data, &view->len);
      return view->len > 0;
    case SST__FACT_TICKET:
      return show_buffer(tls->ticket, tls->ticket_len, view);
    case SST__FACT_SESSION_ID:
      return show_buffer(tls->session_id, tls->session_id_len, view);
  }
  return false;
}
