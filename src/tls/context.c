#include "tls/context.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pool.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "memory.h"
#include "tls/internal.h"

typedef struct suite {
  uint16_t number;
  bool needs_rsa; /* else ECDSA or Ed25519 */
  const char *name;
} suite;

/* TLS 1.2 with ECDHE and AEAD, as BoringSSL writes them. */
static const suite suites[] = {
    {0xc02b, false, "ECDHE-ECDSA-AES128-GCM-SHA256"}, {0xc02f, true, "ECDHE-RSA-AES128-GCM-SHA256"},
    {0xc02c, false, "ECDHE-ECDSA-AES256-GCM-SHA384"}, {0xc030, true, "ECDHE-RSA-AES256-GCM-SHA384"},
    {0xcca9, false, "ECDHE-ECDSA-CHACHA20-POLY1305"}, {0xcca8, true, "ECDHE-RSA-CHACHA20-POLY1305"},
};
enum { NUM_SUITES = sizeof suites / sizeof suites[0] };

static const suite *find_suite(uint16_t number) {
  for (size_t i = 0; i < NUM_SUITES; i++) {
    if (suites[i].number == number) return &suites[i];
  }
  return NULL; /* the setter takes no other */
}

/* ---- what happens inside a handshake ---- */

static bool lacks_extended_master_secret(const sst__tls *tls) {
  return tls->context->parts.settings->profile != SST_PROFILE_COMPAT && SSL_version(tls->ssl) == TLS1_2_VERSION &&
         !SSL_get_extms_support(tls->ssl);
}

static uint8_t refuse_without_extended_master_secret(sst__tls *tls) {
  sst__judge(tls, SST_ERR_NO_EXTENDED_MASTER_SECRET, "%s; SST_PROFILE_COMPAT accepts it (RFC 7627, 5)",
             sst_status_text(SST_ERR_NO_EXTENDED_MASTER_SECRET));
  return SSL_AD_HANDSHAKE_FAILURE;
}

static bool has_ocsp_response(const SSL *ssl) {
  const uint8_t *response = NULL;
  size_t response_len = 0;
  SSL_get0_ocsp_response(ssl, &response, &response_len);
  return response_len > 0;
}

int64_t sst__judging_time(const sst__tls *tls) {
  return tls->setup->has_verify_time ? tls->setup->verify_time : sst__unix_s();
}

sst_status sst__judge_chain(const sst__tls *tls, const STACK_OF(CRYPTO_BUFFER) * chain, sst__path *path,
                            sst_error *error) {
  const sst__context_parts *parts = &tls->context->parts;
  const sst__settings *settings = parts->settings;
  const sst__setup *setup = tls->setup;
  const sst__host *host = setup->has_verify_name ? &setup->verify_name : &setup->server_name;
  const bool check_name = settings->verify == SST_VERIFY_FULL && host->name[0] != 0;
  const sst__verify_request request = {
      .chain = chain,
      .anchors = parts->anchors,
      .name = check_name ? host->name : NULL,
      .name_is_ip = host->is_ip,
      .peer_is_server = parts->role == SST_ROLE_CLIENT,
      .unix_s = sst__judging_time(tls),
      .minimum_rsa_bits = settings->minimum_rsa_bits,
      .allow_sha1 = settings->chain_digests == SST_CHAIN_DIGEST_SHA1,
      .stapled = has_ocsp_response(tls->ssl),
      .path = path,
  };
  return sst__verify_chain(&request, error);
}

/* Under the config's own rules. */
static sst_status judge_peer(sst__tls *tls) {
  sst__error_clear(&tls->verdict);
  if (tls->context->parts.settings->verify == SST_VERIFY_NONE) return SST_OK;
  const sst_status status = sst__judge_chain(tls, SSL_get0_peer_certificates(tls->ssl), &tls->path, &tls->verdict);
  if (status == SST_OK) tls->verified = true;
  return status;
}

static enum ssl_verify_result_t refuse_chain(sst__tls *tls, uint8_t *out_alert) {
  *tls->error = tls->verdict;
  tls->judged = true;
  *out_alert = tls->error->alert_sent >= 0 ? (uint8_t)tls->error->alert_sent : SSL_AD_CERTIFICATE_UNKNOWN;
  return ssl_verify_invalid;
}

/* BoringSSL's custom verification: the whole judgement is ours, or the caller's. */
static enum ssl_verify_result_t verify(SSL *ssl, uint8_t *out_alert) {
  sst__tls *tls = sst__tls_of(ssl);
  if (tls->context->parts.role == SST_ROLE_CLIENT && lacks_extended_master_secret(tls)) {
    *out_alert = refuse_without_extended_master_secret(tls);
    return ssl_verify_invalid;
  }
  const sst__answer *answer = sst__tls_answer(tls, SST_WANT_CERTIFICATE_VERIFY);
  if (answer == NULL) {
    const sst_status judged = judge_peer(tls);
    if (sst__asks(tls, SST_WANT_CERTIFICATE_VERIFY) && judged != SST_ERR_NO_MEMORY) {
      sst__tls_keep_refused(tls);
      return ssl_verify_retry;
    }
  }
  const bool accepted = answer != NULL && answer->accepted;
  if (!accepted && tls->verdict.code != SST_OK) return refuse_chain(tls, out_alert);
  sst__tls_forget_refused(tls);
  return ssl_verify_ok;
}

/* A client takes the first credential that the server's lists cover, or none: BoringSSL would fail the handshake
   instead. */
static bool choose_client_credential(sst__tls *tls) {
  const sst__context_parts *parts = &tls->context->parts;
  SSL_certs_clear(tls->ssl);
  for (size_t i = 0; i < parts->num_identities; i++) {
    if (!sst__identity_fits(parts->identities[i], tls->ssl)) continue;
    return SSL_add1_credential(tls->ssl, parts->identities[i]->credential) == 1;
  }
  return true;
}

/* The caller's choice: nothing of the config's is left beside it. */
static int take_credential(sst__tls *tls, const sst__answer *answer, uint8_t *out_alert) {
  SSL_certs_clear(tls->ssl);
  tls->certificate_chosen = true;
  tls->chosen = answer->identity;
  if (tls->chosen != NULL) return SSL_add1_credential(tls->ssl, tls->chosen->credential) == 1 ? 1 : 0;
  if (tls->context->parts.role == SST_ROLE_CLIENT) return 1;
  sst__judge(tls, SST_ERR_NO_CREDENTIAL, "no credential was chosen for this client");
  *out_alert = SSL_AD_HANDSHAKE_FAILURE;
  return 0;
}

static int choose_certificate(SSL *ssl, void *arg, uint8_t *out_alert) {
  enum { LATER = -1 };
  (void)arg;
  sst__tls *tls = sst__tls_of(ssl);
  const bool is_client = tls->context->parts.role == SST_ROLE_CLIENT;
  if (!is_client && lacks_extended_master_secret(tls)) {
    *out_alert = refuse_without_extended_master_secret(tls);
    return 0;
  }
  if (sst__asks(tls, SST_WANT_CERTIFICATE)) {
    const sst__answer *answer = sst__tls_answer(tls, SST_WANT_CERTIFICATE);
    if (answer != NULL) return take_credential(tls, answer, out_alert);
    return tls->certificate_chosen ? 1 : LATER;
  }
  return !is_client || choose_client_credential(tls) ? 1 : 0;
}

static bool shares(const uint8_t *wire, size_t wire_len, const uint16_t *list, size_t num) {
  for (size_t i = 0; i + 2 <= wire_len; i += 2) {
    if (sst__has_number(list, num, (uint16_t)(wire[i] << 8 | wire[i + 1]))) return true;
  }
  return false;
}

/* The TLS 1.2 suites that a credential of ours can serve; one that the caller will choose may be of any kind. */
static size_t usable_suites(const sst__context_parts *parts, uint16_t *usable) {
  const bool any_kind = sst__suspends_on(parts->settings, SST_WANT_CERTIFICATE);
  size_t num = 0;
  for (size_t i = 0; i < parts->settings->num_suites; i++) {
    const suite *one = find_suite(parts->settings->suites[i]);
    bool served = one != NULL && any_kind;
    for (size_t k = 0; one != NULL && !served && k < parts->num_identities; k++)
      served = (EVP_PKEY_id(parts->identities[k]->key) == EVP_PKEY_RSA) == one->needs_rsa;
    if (served) usable[num++] = one->number;
  }
  return num;
}

/* Looks what client and server have in common, for the case that it is not enough; and prepares for what it may
   resume. */
static enum ssl_select_cert_result_t look_at_hello(const SSL_CLIENT_HELLO *hello) {
  sst__tls *tls = sst__tls_of(hello->ssl);
  const sst__settings *settings = tls->context->parts.settings;
  const uint8_t *groups = NULL;
  size_t groups_len = 0;
  uint16_t usable[SST__MAX_SUITES];
  const size_t num_usable = usable_suites(&tls->context->parts, usable);
  tls->no_common_suite = !shares(hello->cipher_suites, hello->cipher_suites_len, usable, num_usable);
  if (SSL_early_callback_ctx_extension_get(hello, TLSEXT_TYPE_supported_groups, &groups, &groups_len) &&
      groups_len > 2) {
    tls->no_common_group = !shares(groups + 2, groups_len - 2, settings->groups, settings->num_groups);
  }
  if (sst__asks(tls, SST_WANT_CERTIFICATE) && !sst__keep_accepted_cas(tls, hello)) {
    tls->no_memory = true;
    return ssl_select_cert_error;
  }
  if (!sst__bind_to_host(hello->ssl, tls->context->rule)) return ssl_select_cert_error;
  sst__tickets_renew(hello->ssl, hello);
  return ssl_select_cert_success;
}

/* The server's order wins (RFC 7301, 3.2). */
static int choose_alpn(SSL *ssl, const uint8_t **out, uint8_t *out_len, const uint8_t *in, unsigned in_len, void *arg) {
  (void)arg;
  const sst__settings *settings = sst__tls_of(ssl)->context->parts.settings;
  uint8_t *chosen = NULL;
  const int found = SSL_select_next_proto(&chosen, out_len, settings->alpn, (unsigned)settings->alpn_len, in, in_len);
  *out = chosen;
  if (found == OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_OK;
  return settings->alpn_lenient != 0 ? SSL_TLSEXT_ERR_NOACK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* ---- making one ---- */

static bool set_suites(SSL_CTX *ctx, const sst__settings *settings) {
  char list[SST__MAX_SUITES * 40] = "";
  size_t used = 0;
  for (size_t i = 0; i < settings->num_suites; i++) {
    const suite *one = find_suite(settings->suites[i]);
    if (one == NULL) return false;
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ":" : "", one->name);
  }
  return SSL_CTX_set_strict_cipher_list(ctx, list) == 1;
}

static bool set_client_cas(SSL_CTX *ctx, const sst__settings *settings) {
  STACK_OF(CRYPTO_BUFFER) *names = sk_CRYPTO_BUFFER_new_null();
  if (names == NULL) return false;
  for (size_t at = 0; at + 2 <= settings->client_cas_len;) {
    const uint8_t *name = settings->client_cas + at;
    const size_t len = (size_t)name[0] << 8 | name[1];
    CRYPTO_BUFFER *buffer = CRYPTO_BUFFER_new(name + 2, len, NULL);
    if (buffer == NULL || sk_CRYPTO_BUFFER_push(names, buffer) == 0) {
      CRYPTO_BUFFER_free(buffer);
      sk_CRYPTO_BUFFER_pop_free(names, CRYPTO_BUFFER_free);
      return false;
    }
    at += 2 + len;
  }
  SSL_CTX_set0_client_CAs(ctx, names);
  return true;
}

static bool set_protocol(SSL_CTX *ctx, const sst__settings *settings) {
  return SSL_CTX_set_min_proto_version(ctx, settings->min_version) == 1 &&
         SSL_CTX_set_max_proto_version(ctx, settings->max_version) == 1 &&
         SSL_CTX_set1_group_ids(ctx, settings->groups, settings->num_groups) == 1 && set_suites(ctx, settings) &&
         SSL_CTX_set_verify_algorithm_prefs(ctx, settings->schemes, settings->num_schemes) == 1;
}

static bool set_pool(SSL_CTX *ctx) {
  CRYPTO_BUFFER_POOL *pool = CRYPTO_BUFFER_POOL_new();
  if (pool == NULL) return false;
  SSL_CTX_set1_buffer_pool(ctx, pool);
  CRYPTO_BUFFER_POOL_free(pool);
  return true;
}

static bool set_server(SSL_CTX *ctx, const sst__context_parts *parts) {
  const sst__settings *settings = parts->settings;
  SSL_CTX_set_select_certificate_cb(ctx, look_at_hello);
  sst__tickets_set_up(ctx, parts);
  if (settings->alpn_len > 0) SSL_CTX_set_alpn_select_cb(ctx, choose_alpn, NULL);
  if (settings->client_certificate != SST_CLIENT_CERTIFICATE_NONE) {
    const bool require = settings->client_certificate == SST_CLIENT_CERTIFICATE_REQUIRE;
    SSL_CTX_set_custom_verify(ctx, SSL_VERIFY_PEER | (require ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), verify);
  }
  if (!set_client_cas(ctx, settings)) return false;
  for (size_t i = 0; i < parts->num_identities; i++) {
    if (SSL_CTX_add1_credential(ctx, parts->identities[i]->credential) != 1) return false;
  }
  return true;
}

static bool set_client(SSL_CTX *ctx, const sst__context_parts *parts) {
  const sst__settings *settings = parts->settings;
  SSL_CTX_set_custom_verify(ctx, SSL_VERIFY_PEER, verify);
  sst__resumption_set_up(ctx, settings);
  SSL_CTX_enable_ocsp_stapling(ctx);
  SSL_CTX_enable_signed_cert_timestamps(ctx);
  /* This function alone returns 0 for success. */
  return settings->alpn_len == 0 || SSL_CTX_set_alpn_protos(ctx, settings->alpn, settings->alpn_len) == 0;
}

static bool set_up(SSL_CTX *ctx, const sst__context_parts *parts) {
  const uint32_t lifetime_s = parts->settings->session_lifetime_s;
  SSL_CTX_set_options(ctx, SSL_OP_CIPHER_SERVER_PREFERENCE);
  (void)SSL_CTX_set_timeout(ctx, lifetime_s);
  SSL_CTX_set_session_psk_dhe_timeout(ctx, lifetime_s);
  SSL_CTX_set_early_data_enabled(ctx, parts->settings->early_data);
  SSL_CTX_set_cert_cb_ex(ctx, choose_certificate, NULL);
  sst__observe(ctx);
  if (!set_protocol(ctx, parts->settings) || !set_pool(ctx)) return false;
  return parts->role == SST_ROLE_SERVER ? set_server(ctx, parts) : set_client(ctx, parts);
}

/* false: no memory. Only who gets sessions remembers verdicts; a revocation list may say something else each time. */
static bool set_rules(sst__context *context) {
  const sst__context_parts *parts = &context->parts;
  context->remembers = parts->role == SST_ROLE_CLIENT && sst__wants_sessions(parts->settings) &&
                       parts->anchors != NULL && parts->anchors->crls == NULL;
  return sst__rule_digest(parts, context->rule) &&
         (!context->remembers || sst__judgement_digest(parts, context->judgement));
}

sst_status sst__context_new(const sst__context_parts *parts, sst__context **context, sst_error *record) {
  *context = NULL;
  ERR_clear_error();
  const uint64_t failed_allocations = sst__failed_allocations();
  sst__context *made = sst__alloc(sizeof *made);
  if (made == NULL) return sst__fail(record, SST_ERR_NO_MEMORY, "no memory for a config");
  made->parts = *parts;
  if (parts->anchors == NULL && sst__suspends_on(parts->settings, SST_WANT_CERTIFICATE_VERIFY)) {
    made->parts.anchors = made->no_anchors = sst__anchors_new();
    if (made->no_anchors == NULL) {
      sst__free(made);
      return sst__fail(record, SST_ERR_NO_MEMORY, "no memory for a config");
    }
  }
  made->ctx = SSL_CTX_new(TLS_with_buffers_method()); /* the variant that keeps no X509 per stream */
  if (made->ctx == NULL || !set_up(made->ctx, &made->parts) || !set_rules(made)) {
    const char *reason = ERR_reason_error_string(ERR_peek_error());
    sst__context_free(made);
    if (sst__failed_allocations() != failed_allocations) {
      return sst__fail(record, SST_ERR_NO_MEMORY, "no memory for a config");
    }
    return sst__fail(record, SST_ERR_INTERNAL, "a setting was refused by the TLS implementation (%s)",
                     reason == NULL ? "no reason given" : reason);
  }
  ERR_clear_error();
  *context = made;
  return SST_OK;
}

void sst__context_free(sst__context *context) {
  if (context == NULL) return;
  SSL_CTX_free(context->ctx);
  sst__anchors_free(context->no_anchors);
  sst__free(context);
  ERR_clear_error();
}
