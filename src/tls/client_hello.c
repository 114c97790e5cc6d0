/*
 * WANT_CLIENT_HELLO: a server stream that has no config yet. BoringSSL cannot change all of its settings inside of a
 * handshake (versions, groups, verification and ticket keys stay), so the ClientHello is read by an SSL that has no
 * settings and answers nothing. An SSL of the chosen config then reads the same bytes again.
 */
#include <pthread.h>

#include <openssl/err.h>
#include <string.h>

#include "memory.h"
#include "tls/internal.h"
#include "tls/window.h"

/* Only what messages of failures say is looked at. */
static const sst__settings no_settings = {.min_version = SST_TLS1_2, .max_version = SST_TLS1_3};

static enum ssl_select_cert_result_t want_config(const SSL_CLIENT_HELLO *hello) {
  sst__tls *tls = sst__tls_of(hello->ssl);
  if (tls->hello == NULL) {
    tls->hello = sst__copy(hello->client_hello, hello->client_hello_len);
    tls->hello_len = hello->client_hello_len;
  }
  if (tls->hello != NULL) return ssl_select_cert_retry;
  tls->no_memory = true;
  return ssl_select_cert_error;
}

static pthread_mutex_t context_lock = PTHREAD_MUTEX_INITIALIZER;
static sst__context context_of_none;

/* Made once in a process and never freed. Not pthread_once: a try that found no memory may be repeated. */
const sst__context *sst__context_of_none(void) {
  pthread_mutex_lock(&context_lock);
  if (context_of_none.ctx == NULL) {
    ERR_clear_error();
    context_of_none.parts = (sst__context_parts){.settings = &no_settings, .role = SST_ROLE_SERVER};
    context_of_none.ctx = SSL_CTX_new(TLS_with_buffers_method());
    if (context_of_none.ctx != NULL) {
      SSL_CTX_set_select_certificate_cb(context_of_none.ctx, want_config);
      sst__observe(context_of_none.ctx);
    }
    ERR_clear_error();
  }
  const bool made = context_of_none.ctx != NULL;
  pthread_mutex_unlock(&context_lock);
  return made ? &context_of_none : NULL;
}

bool sst__has_no_config(const sst__tls *tls) {
  return tls->context == &context_of_none;
}

bool sst__keep_taken(sst__tls *tls, const uint8_t *data, size_t len) {
  if (len == 0) return true;
  uint8_t *longer = sst__alloc_unset(tls->taken_len + len);
  if (longer == NULL) return false;
  if (tls->taken_len > 0) memcpy(longer, tls->taken, tls->taken_len);
  memcpy(longer + tls->taken_len, data, len);
  sst__free(tls->taken);
  tls->taken = longer;
  tls->taken_len += len;
  return true;
}

bool sst__tls_adopt(sst__engine *engine, const sst__context *context) {
  sst__tls *tls = (sst__tls *)engine; /* base is the first member */
  SSL *reader = tls->ssl;
  tls->context = context;
  if (!sst__tls_make_ssl(tls)) {
    SSL_free(tls->ssl);
    tls->ssl = reader; /* which can still send an alert */
    return false;
  }
  SSL_free(reader);
  tls->header_len = 0;
  tls->body_left = 0;
  sst__free(tls->hello);
  tls->hello = NULL;
  tls->reads_again = tls->taken_len > 0;
  return true;
}

/* The names of certificate_authorities (RFC 8446, 4.2.4), for a server that is asked for a credential. */
bool sst__keep_accepted_cas(sst__tls *tls, const SSL_CLIENT_HELLO *hello) {
  const uint8_t *data = NULL;
  size_t len = 0;
  CBS body, names;
  if (!SSL_early_callback_ctx_extension_get(hello, TLSEXT_TYPE_certificate_authorities, &data, &len)) return true;
  CBS_init(&body, data, len);
  if (tls->accepted_cas != NULL || !CBS_get_u16_length_prefixed(&body, &names) || CBS_len(&names) == 0) return true;
  tls->accepted_cas = sst__copy(CBS_data(&names), CBS_len(&names));
  tls->accepted_cas_len = CBS_len(&names);
  return tls->accepted_cas != NULL;
}

/* ---- facts ---- */

static bool parse(const sst__tls *tls, SSL_CLIENT_HELLO *hello) {
  return tls->hello != NULL && SSL_parse_client_hello(tls->ssl, hello, tls->hello, tls->hello_len) == 1;
}

static bool extension(const SSL_CLIENT_HELLO *hello, uint16_t number, CBS *body) {
  const uint8_t *data = NULL;
  size_t len = 0;
  if (!SSL_early_callback_ctx_extension_get(hello, number, &data, &len)) return false;
  CBS_init(body, data, len);
  return true;
}

static bool show(sst__view *view, const CBS *cbs) {
  *view = (sst__view){.data = CBS_data(cbs), .len = CBS_len(cbs)};
  return true;
}

/* A list of numbers behind its length: of two bytes, or of one in supported_versions (RFC 8446, 4.2.1). */
static bool list_in(const SSL_CLIENT_HELLO *hello, uint16_t number, bool short_length, sst__view *view) {
  CBS body, list;
  if (!extension(hello, number, &body)) return false;
  const bool read = short_length ? CBS_get_u8_length_prefixed(&body, &list) : CBS_get_u16_length_prefixed(&body, &list);
  return read && show(view, &list);
}

static bool list(const SSL_CLIENT_HELLO *hello, size_t which, sst__view *view) {
  switch (which) {
    case SST_HELLO_SUITES:
      *view = (sst__view){.data = hello->cipher_suites, .len = hello->cipher_suites_len};
      return true;
    case SST_HELLO_GROUPS:
      return list_in(hello, TLSEXT_TYPE_supported_groups, false, view);
    case SST_HELLO_SCHEMES:
      return list_in(hello, TLSEXT_TYPE_signature_algorithms, false, view);
    default:
      return list_in(hello, TLSEXT_TYPE_supported_versions, true, view);
  }
}

static bool alpn(const SSL_CLIENT_HELLO *hello, size_t index, sst__view *view) {
  CBS body, names, name;
  if (!extension(hello, TLSEXT_TYPE_application_layer_protocol_negotiation, &body) ||
      !CBS_get_u16_length_prefixed(&body, &names)) {
    return false;
  }
  for (size_t i = 0; CBS_get_u8_length_prefixed(&names, &name); i++) {
    if (i == index) return show(view, &name);
  }
  return false;
}

bool sst__hello_fact(const sst__tls *tls, sst__fact fact, size_t index, sst__view *view) {
  SSL_CLIENT_HELLO hello;
  CBS body;
  if (!parse(tls, &hello)) return false;
  if (fact == SST__FACT_HELLO_LIST) return list(&hello, index, view);
  if (fact == SST__FACT_HELLO_ALPN) return alpn(&hello, index, view);
  if (fact == SST__FACT_HELLO_EXTENSION) {
    return index <= UINT16_MAX && extension(&hello, (uint16_t)index, &body) && show(view, &body);
  }
  *view = (sst__view){.data = tls->hello, .len = tls->hello_len};
  return true;
}
