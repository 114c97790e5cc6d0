/* 0-RTT inside of a handshake that BoringSSL performs (RFC 8446, 2.3). */
#include "tls/internal.h"

enum { CHANGE_CIPHER_SPEC_SIZE = 5 + 1 };

void sst__tls_tell_early_data(sst__tls *tls, bool accepted) {
  if (!tls->early_data_told) sst__events_add(tls->base.events, SST_EVENT_EARLY_DATA, accepted ? 1 : 0, NULL, 0);
  tls->early_data_told = true;
}

void sst__tls_take_stored_verdict(sst__tls *tls) {
  if (!SSL_session_reused(tls->ssl)) return;
  tls->verified = tls->stored_good;
  tls->path = tls->stored_path;
}

sst__step sst__tls_begin_early(sst__tls *tls) {
  if (tls->context->parts.role == SST_ROLE_CLIENT) {
    /* How much went out is known only in this mode: BoringSSL stops at the ticket's limit in the middle of a write. */
    SSL_set_mode(tls->ssl, SSL_MODE_ENABLE_PARTIAL_WRITE);
    tls->base.most_early_data = tls->most_early_data;
    tls->base.overhead += CHANGE_CIPHER_SPEC_SIZE; /* goes before the first record (RFC 8446, D.4) */
    tls->early_data_offered = true;
  } else {
    sst__tls_take_stored_verdict(tls);
    sst__tls_tell_early_data(tls, true);
  }
  return SST__STEP_EARLY;
}

/* Early data that nobody sent need not be sent again, and nobody is asked about it. */
bool sst__tls_goes_on_without(sst__tls *tls) {
  sst__tls_tell_early_data(tls, false);
  if (tls->early_data_sent && sst__tls_answer(tls, SST_WANT_EARLY_DATA_RETRY) == NULL) return false;
  SSL_reset_early_data_reject(tls->ssl);
  tls->base.most_early_data = 0;
  return true;
}
