/* Sessions of clients: received, kept as bytes, offered again. */
#include <string.h>

#include <openssl/err.h>
#include <openssl/sha2.h>

#include "clock.h"
#include "memory.h"
#include "session.h"
#include "tls/record.h"

/* A longer ticket has no room in a ClientHello beside the rest (RFC 8446, 4.2): who keeps it could never connect. */
enum { MOST_TICKET = SST__MOST_TICKET };

void sst__digest(const void *data, size_t len, uint8_t out[SST__DIGEST_LEN]) {
  (void)SHA256(data, len, out);
}

/* ---- the state of a session ---- */

static SSL_SESSION *session_of(const sst__resumable *state) {
  return (SSL_SESSION *)(uintptr_t)state; /* never changed here; BoringSSL's getters are not all const */
}

static size_t ticket_len(const SSL_SESSION *session) {
  size_t len = 0;
  SSL_SESSION_get0_ticket(session, NULL, &len);
  return len;
}

void sst__resumable_free(sst__resumable *state) {
  SSL_SESSION_free(session_of(state));
}

bool sst__resumable_bytes(const sst__resumable *state, uint8_t **bytes, size_t *len) {
  uint8_t *made = NULL;
  *bytes = NULL;
  if (SSL_SESSION_to_bytes(session_of(state), &made, len) == 1) *bytes = sst__copy(made, *len);
  OPENSSL_free(made);
  ERR_clear_error();
  return *bytes != NULL;
}

static bool can_be_offered(const SSL_SESSION *session) {
  unsigned context_len = 0;
  (void)SSL_SESSION_get0_id_context(session, &context_len); /* a client's has none */
  const uint16_t version = SSL_SESSION_get_protocol_version(session);
  return SSL_SESSION_is_resumable(session) && context_len == 0 && version >= TLS1_2_VERSION &&
         version <= TLS1_3_VERSION && ticket_len(session) <= MOST_TICKET;
}

/* BoringSSL wants a context for the kind of certificates that it makes; it keeps nothing of it. */
sst_status sst__resumable_read(const uint8_t *bytes, size_t len, sst__resumable **state) {
  const uint64_t failed = sst__failed_allocations();
  SSL_CTX *ctx = SSL_CTX_new(TLS_with_buffers_method());
  SSL_SESSION *session = ctx == NULL ? NULL : SSL_SESSION_from_bytes(bytes, len, ctx);
  SSL_CTX_free(ctx);
  ERR_clear_error();
  *state = (sst__resumable *)session;
  if (session != NULL && (can_be_offered(session) || sst__is_servers(session))) return SST_OK;
  SSL_SESSION_free(session);
  *state = NULL;
  return sst__refuse(sst__failed_allocations() != failed ? SST_ERR_NO_MEMORY : SST_ERR_BAD_SESSION);
}

void sst__resumable_info(const sst__resumable *state, sst_session_info *info) {
  const SSL_SESSION *session = session_of(state);
  info->version = SSL_SESSION_get_protocol_version(session);
  info->suite = SSL_CIPHER_get_protocol_id(SSL_SESSION_get0_cipher(session));
  info->created_unix_s = SSL_SESSION_get_time(session);
  info->expires_unix_s = info->created_unix_s + SSL_SESSION_get_timeout(session);
}

/* ---- received ---- */

/* Keeps a session for the owner of the stream; true: it is ours now. Without memory it is lost, and the stream lives. */
static bool keep(SSL_SESSION *session, sst__events *events, sst__bond *bond, const sst__session_facts *facts) {
  if (!can_be_offered(session)) return false;
  sst_session *made = sst__session_new((sst__resumable *)session, bond, facts);
  sst__events_add_session(events, made, NULL, 0);
  return made != NULL;
}

/* The verdict on the peer, for who resumes under the same judgement. */
static void remember(const sst__context *context, const sst__path *path, sst__session_facts *facts) {
  if (!context->remembers) return;
  facts->path = *path;
  memcpy(facts->judgement, context->judgement, sizeof facts->judgement);
}

/* From BoringSSL: TLS 1.2, inside the handshake; TLS 1.3 only where records go on through its SSL. */
static int receive_session(SSL *ssl, SSL_SESSION *session) {
  sst__tls *tls = sst__tls_of(ssl);
  /* A hint is all that the server says of its time (RFC 5077, 3.3). */
  const uint32_t hint = SSL_SESSION_get_ticket_lifetime_hint(session);
  if (hint > 0 && hint < SSL_SESSION_get_timeout(session)) (void)SSL_SESSION_set_timeout(session, hint);
  sst__session_facts facts = {.extended_master_secret = SSL_get_extms_support(ssl) == 1,
                              .max_early_data = tls->ticket_early_data};
  remember(tls->context, SSL_session_reused(ssl) ? &tls->stored_path : &tls->path, &facts);
  return keep(session, tls->base.events, tls->bond, &facts) ? 1 : 0;
}

void sst__receive_ticket(sst__record_engine *record, const sst__ticket *ticket) {
  sst__session_facts facts = {.extended_master_secret = true, .max_early_data = ticket->max_early_data};
  remember(record->context, &record->path, &facts);
  SSL_SESSION *session = sst__session_of_ticket(record->session, record->suite.hash, ticket, (uint64_t)sst__unix_s(),
                                                record->context->ctx);
  if (session == NULL) {
    sst__events_add_session(record->base.events, NULL, NULL, 0);
  } else if (!keep(session, record->base.events, record->bond, &facts)) {
    SSL_SESSION_free(session);
  }
}

bool sst__wants_sessions(const sst__settings *settings) {
  return (settings->report & (UINT32_C(1) << SST_EVENT_SESSION)) != 0 && settings->session_lifetime_s > 0;
}

void sst__resumption_set_up(SSL_CTX *ctx, const sst__settings *settings) {
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  /* Without a wish for sessions TLS 1.2 is not asked for a ticket; TLS 1.3 sends them unasked. */
  SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
  if (!sst__wants_sessions(settings)) return;
  SSL_CTX_clear_options(ctx, SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(ctx, receive_session);
}

/* ---- offered ---- */

/* What the handshake that made the session has agreed on must be what this config would agree on. */
static bool is_within(const sst__settings *settings, const sst_session *session) {
  const SSL_SESSION *state = session_of(sst__session_state(session));
  const uint16_t version = SSL_SESSION_get_protocol_version(state);
  if (version < settings->min_version || version > settings->max_version || !can_be_offered(state)) return false;
  if (version == TLS1_3_VERSION) return true;
  const uint16_t suite = SSL_CIPHER_get_protocol_id(SSL_SESSION_get0_cipher(state));
  const bool has_secret = sst__session_facts_of(session)->extended_master_secret;
  return sst__has_number(settings->suites, settings->num_suites, suite) &&
         (has_secret || settings->profile == SST_PROFILE_COMPAT);
}

/* True if the chain was found good by the same judgement, for the same name, as which the bond stands. Then only time
   goes on. */
static bool was_found_good(const sst__tls *tls, const sst__session_facts *facts) {
  const int64_t now = sst__judging_time(tls);
  return tls->context->remembers && facts->path.length > 0 &&
         memcmp(facts->judgement, tls->context->judgement, sizeof facts->judgement) == 0 &&
         now >= facts->path.not_before && now <= facts->path.not_after;
}

/* Judges the chain that is stored in the session, as if the peer had sent it now: under the present config. */
static bool is_good_now(sst__tls *tls, const sst__session_facts *facts) {
  const sst__settings *settings = tls->context->parts.settings;
  const STACK_OF(CRYPTO_BUFFER) *chain = SSL_get0_peer_certificates(tls->ssl);
  const uint16_t scheme = SSL_get_peer_signature_algorithm(tls->ssl);
  if (!sst__has_number(settings->schemes, settings->num_schemes, scheme)) return false;
  if (settings->verify == SST_VERIFY_NONE) return true;
  if (was_found_good(tls, facts)) {
    tls->stored_path = facts->path;
    tls->stored_good = true;
    return true;
  }
  sst_error ignored;
  tls->stored_good = chain != NULL && sk_CRYPTO_BUFFER_num(chain) > 0 &&
                     sst__judge_chain(tls, chain, &tls->stored_path, &ignored) == SST_OK;
  return tls->stored_good;
}

/* What does not fit is not offered: then the handshake is a full one. */
static void offer(sst__tls *tls, sst_session *session) {
  const sst__settings *settings = tls->context->parts.settings;
  if (settings->session_lifetime_s == 0 || !sst__session_is_bound_to(session, tls->bond) ||
      !is_within(settings, session)) {
    return;
  }
  SSL_set_session(tls->ssl, session_of(sst__session_state(session)));
  if (is_good_now(tls, sst__session_facts_of(session)) && sst__session_claim(session)) {
    SSL_clear_options(tls->ssl, SSL_OP_NO_TICKET);
    tls->most_early_data = sst__session_facts_of(session)->max_early_data;
  } else {
    SSL_set_session(tls->ssl, NULL);
  }
}

bool sst__resumption_start(sst__tls *tls, const sst__setup *setup) {
  if (setup->session == NULL && !sst__wants_sessions(tls->context->parts.settings)) return true;
  const sst__host *verify_name = setup->has_verify_name ? &setup->verify_name : &setup->server_name;
  tls->bond = sst__bond_new(&setup->server_name, verify_name, tls->context->rule);
  if (tls->bond == NULL) return false;
  if (setup->session != NULL) offer(tls, setup->session);
  return true;
}
