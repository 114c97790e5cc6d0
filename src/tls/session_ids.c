/* WANT_SESSION: sessions of a TLS 1.2 server that stay with it, for clients without tickets (RFC 5246, 7.3). The server
   sends an id; who is told of the session keeps it, and is asked for it by that id. */
#include <string.h>

#include "host.h"
#include "memory.h"
#include "session.h"
#include "tls/internal.h"

static SSL_SESSION *state_of(const sst_session *session) {
  return (SSL_SESSION *)(uintptr_t)sst__session_state(session); /* never changed here */
}

static SSL_SESSION *find(SSL *ssl, const uint8_t *id, int id_len, int *is_copied) {
  sst__tls *tls = sst__tls_of(ssl);
  const sst__answer *answer = sst__tls_answer(tls, SST_WANT_SESSION);
  *is_copied = 0;
  if (answer == NULL) {
    tls->session_id_len = (size_t)id_len < sizeof tls->session_id ? (size_t)id_len : sizeof tls->session_id;
    memcpy(tls->session_id, id, tls->session_id_len);
    return SSL_magic_pending_session_ptr();
  }
  SSL_SESSION *session = answer->session == NULL ? NULL : state_of(answer->session);
  if (session == NULL || !sst__is_servers(session) || !sst__client_is_good_now(tls, session)) return NULL;
  (void)SSL_SESSION_up_ref(session);
  return session;
}

/* Bound to no host: the id context inside of the session says under which rule the client was let in. */
static int tell(SSL *ssl, SSL_SESSION *session) {
  sst__tls *tls = sst__tls_of(ssl);
  static const sst__host nobody = {.is_ip = false};
  unsigned id_len = 0;
  const uint8_t *id = SSL_SESSION_get_id(session, &id_len);
  const sst__session_facts facts = {.extended_master_secret = SSL_get_extms_support(ssl) == 1};
  if (!sst__is_servers(session)) return 0;
  sst__bond *bond = sst__bond_new(&nobody, &nobody, tls->context->rule);
  sst_session *made = bond == NULL ? NULL : sst__session_new((sst__resumable *)session, bond, &facts);
  sst__bond_free(bond);
  sst__events_add_session(tls->base.events, made, id, id_len);
  return made != NULL ? 1 : 0;
}

bool sst__is_servers(const SSL_SESSION *session) {
  unsigned context_len = 0, id_len = 0;
  (void)SSL_SESSION_get0_id_context(session, &context_len);
  (void)SSL_SESSION_get_id(session, &id_len);
  return context_len == SST__DIGEST_LEN && id_len > 0 && SSL_SESSION_get_protocol_version(session) == TLS1_2_VERSION;
}

void sst__session_ids_set_up(SSL_CTX *ctx, const sst__settings *settings) {
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF); /* all that is known of a session is in its ticket */
  if (!sst__suspends_on(settings, SST_WANT_SESSION) || settings->session_lifetime_s == 0) return;
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_SERVER | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_get_cb(ctx, find);
  SSL_CTX_sess_set_new_cb(ctx, tell);
}
