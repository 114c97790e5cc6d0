/* Watches BoringSSL's callbacks: alerts, handshake messages, key log. They note facts; nothing is decided here. */
#include "tls/internal.h"

#include <string.h>

enum { NEW_SESSION_TICKET = 4, CERTIFICATE = 11, SERVER_KEY_EXCHANGE = 12, CERTIFICATE_VERIFY = 15, KEY_UPDATE = 24 };
enum { LEVEL_FATAL = 2, MESSAGE_HEADER_LEN = 4 };

static void see_info(const SSL *ssl, int type, int value) {
  sst__tls *tls = sst__tls_of(ssl);
  if (tls == NULL) return; /* it lives on to make sessions, and says nothing */
  const int32_t alert = value & 0xff;
  const bool fatal = value >> 8 == LEVEL_FATAL;
  if (type == SSL_CB_READ_ALERT) {
    sst__events_add(tls->base.events, SST_EVENT_ALERT_RECEIVED, (uint64_t)alert, NULL, 0);
    if (fatal || (alert == SSL_AD_CLOSE_NOTIFY && tls->in_handshake)) tls->alert_received = alert;
  } else if (type == SSL_CB_WRITE_ALERT && fatal) {
    tls->alert_sent = alert;
  }
}

static const sst__identity *selected_identity(const sst__tls *tls) {
  const SSL_CREDENTIAL *selected = SSL_get0_selected_credential(tls->ssl);
  if (selected == NULL || tls->certificate_chosen) return selected == NULL ? NULL : tls->chosen;
  for (size_t i = 0; i < tls->context->parts.num_identities; i++) {
    if (tls->context->parts.identities[i]->credential == selected) return tls->context->parts.identities[i];
  }
  return NULL;
}

static uint16_t read_u16(const uint8_t *at) {
  return (uint16_t)(at[0] << 8 | at[1]);
}

/* Our signature scheme stands in CertificateVerify (RFC 8446, 4.4.3; RFC 5246, 7.4.8), or behind the parameters of a
   TLS 1.2 server's key exchange (RFC 8422, 5.4: curve type, curve, a point with its length). */
static uint16_t scheme_in(uint8_t type, const uint8_t *body, size_t len) {
  if (type == CERTIFICATE_VERIFY) return len >= 2 ? read_u16(body) : 0;
  if (len < 4) return 0;
  const size_t at = (size_t)4 + body[3];
  return len >= at + 2 ? read_u16(body + at) : 0;
}

static void see_sent(sst__tls *tls, uint8_t type, const uint8_t *body, size_t len) {
  if (type == CERTIFICATE) {
    tls->local = selected_identity(tls);
  } else if (type == CERTIFICATE_VERIFY || type == SERVER_KEY_EXCHANGE) {
    tls->local_scheme = scheme_in(type, body, len);
  } else if (type == KEY_UPDATE && !tls->closed) { /* after close_notify it is made, and never sent */
    sst__count(tls->base.counters, SST_COUNTER_KEY_UPDATES_SENT, 1);
    sst__events_add(tls->base.events, SST_EVENT_KEYS_UPDATED, SST_DIRECTION_SEND, NULL, 0);
  }
}

/* How much early data a ticket allows: BoringSSL's sessions do not tell. */
static uint32_t early_data_in(const sst__tls *tls, const uint8_t *body, size_t len) {
  sst__ticket ticket;
  const char *fault;
  CBS message;
  CBS_init(&message, body, len);
  const bool parsed = SSL_version(tls->ssl) == TLS1_3_VERSION && sst__ticket_parse(&message, &ticket, &fault);
  return parsed ? ticket.max_early_data : 0;
}

static void see_received(sst__tls *tls, uint8_t type, const uint8_t *body, size_t len) {
  if (type == NEW_SESSION_TICKET) tls->ticket_early_data = early_data_in(tls, body, len);
  const bool shown = type == CERTIFICATE && tls->in_handshake;
  tls->certificate = shown ? body : NULL;
  tls->certificate_len = shown ? len : 0;
  if (type != KEY_UPDATE) return;
  if (len == 1 && body[0] == SSL_KEY_UPDATE_REQUESTED) tls->answer_due = true;
  sst__count(tls->base.counters, SST_COUNTER_KEY_UPDATES_RECEIVED, 1);
  sst__events_add(tls->base.events, SST_EVENT_KEYS_UPDATED, SST_DIRECTION_RECEIVE, NULL, 0);
}

static void see_message(int is_write, int version, int content_type, const void *data, size_t len, SSL *ssl,
                        void *arg) {
  (void)version, (void)arg;
  if (content_type != SSL3_RT_HANDSHAKE || len < MESSAGE_HEADER_LEN || sst__tls_of(ssl) == NULL) return;
  const uint8_t *message = data;
  const uint8_t *body = message + MESSAGE_HEADER_LEN;
  if (is_write) {
    see_sent(sst__tls_of(ssl), message[0], body, len - MESSAGE_HEADER_LEN);
  } else {
    see_received(sst__tls_of(ssl), message[0], body, len - MESSAGE_HEADER_LEN);
  }
}

static void see_key_log(const SSL *ssl, const char *line) {
  sst__tls *tls = sst__tls_of(ssl);
  sst__exporter_see(&tls->exporter, line);
  sst__events_add(tls->base.events, SST_EVENT_KEY_LOG, 0, line, strlen(line));
}

void sst__observe(SSL_CTX *ctx) {
  SSL_CTX_set_info_callback(ctx, see_info);
  SSL_CTX_set_msg_callback(ctx, see_message);
  SSL_CTX_set_keylog_callback(ctx, see_key_log);
}
