/* The hand-over: BoringSSL has performed the handshake, and our record layer goes on. */
#include <string.h>

#include <openssl/err.h>
#include <openssl/pool.h>

#include "memory.h"
#include "session.h"
#include "tls/record.h"

#if defined(SST_RECORD_PATH_BOTH)
atomic_bool sst__record_path_is_ssl;
#endif

/* The content type of TLS 1.3 beside the tag, and the message or alert itself. */
enum { TYPE_LEN = 1, ALERT_LEN = 2, KEY_UPDATE_LEN = 5 };

static STACK_OF(CRYPTO_BUFFER) * share(const STACK_OF(CRYPTO_BUFFER) * chain, bool *no_memory) {
  if (chain == NULL || sk_CRYPTO_BUFFER_num(chain) == 0) return NULL;
  STACK_OF(CRYPTO_BUFFER) *shared = sk_CRYPTO_BUFFER_new_null();
  *no_memory = shared == NULL;
  for (size_t i = 0; shared != NULL && i < sk_CRYPTO_BUFFER_num(chain); i++) {
    CRYPTO_BUFFER *certificate = sk_CRYPTO_BUFFER_value(chain, i);
    if (sk_CRYPTO_BUFFER_push(shared, certificate)) {
      (void)CRYPTO_BUFFER_up_ref(certificate);
      continue;
    }
    *no_memory = true;
    break;
  }
  return shared;
}

static sst_status record_certificate(const sst__engine *engine, sst__chain chain, size_t index, uint8_t *out,
                                     size_t out_cap, size_t *out_len) {
  const sst__record_engine *record = (const sst__record_engine *)engine;
  const sst__certificates certificates = {
      .context = record->context, .peer = record->peer, .path = &record->path, .local = record->local};
  return sst__give_certificate(&certificates, chain, index, out, out_cap, out_len);
}

static sst__engine *already_handed_over(sst__engine *engine, sst__facts *facts, sst__output *later, sst_error *error) {
  (void)facts, (void)later, (void)error;
  return engine;
}

static void record_free(sst__engine *engine) {
  sst__record_engine *record = sst__record_of(engine);
  sst__keys_clear(&record->sender.keys);
  sst__keys_clear(&record->receiver.keys);
  sst__free(record->receiver.record);
  sst__free(record->receiver.message);
  sk_CRYPTO_BUFFER_pop_free(record->peer, CRYPTO_BUFFER_free);
  SSL_SESSION_free(record->session);
  sst__bond_free(record->bond);
  sst__exporter_clear(&record->exporter);
  pthread_mutex_destroy(&record->secrets);
  sst__free(record);
}

/* start, handshake and facts are over; alerts are noted in due. */
static const sst__engine_ops record_ops = {
    .hand_over = already_handed_over,
    .certificate = record_certificate,
    .export_key = sst__record_export_key,
    .channel_binding = sst__record_channel_binding,
    .traffic_secret = sst__record_traffic_secret,
    .seal = sst__record_seal,
    .next_frame = sst__record_next_frame,
    .open = sst__record_open,
    .open_in_place = sst__record_open_in_place,
    .bring_out = sst__record_bring_out,
    .close = sst__record_close,
    .key_update = sst__record_key_update,
    .free = record_free,
};

static void note_sizes(sst__record_engine *record, const sst__tls *tls) {
  const size_t overhead = tls->base.overhead;
  record->base.overhead = overhead;
  record->base.key_update_size = tls->base.key_update_size;
  record->base.due->alert_size = (uint16_t)(overhead + ALERT_LEN);
  record->base.due->update_size = (uint16_t)(overhead + KEY_UPDATE_LEN);
}

/* ChaCha20-Poly1305 has no limit that a stream could reach (RFC 8446, 5.5). */
static uint64_t most_records(const sst__suite *suite, const sst__settings *settings) {
  if (suite->tls13) return settings->key_update_limit;
  return suite->explicit_nonce ? SST__MOST_RECORDS : UINT64_MAX;
}

static size_t size_of_facts(const sst__facts *facts) {
  return facts->alpn_len + facts->server_name_len + facts->ocsp_response_len + facts->scts_len;
}

/* Copies to *to, which goes on behind it; returns where the copy is. */
static void *take(char **to, const void *from, size_t len) {
  char *copy = *to;
  if (len > 0) memcpy(copy, from, len);
  *to += len;
  return copy;
}

static void take_facts(sst__record_engine *record, sst__facts *facts) {
  char *to = record->names;
  facts->alpn = take(&to, facts->alpn, facts->alpn_len);
  facts->server_name = take(&to, facts->server_name, facts->server_name_len);
  facts->ocsp_response = take(&to, facts->ocsp_response, facts->ocsp_response_len);
  facts->scts = take(&to, facts->scts, facts->scts_len);
}

/* A server's tickets of TLS 1.3 wait inside BoringSSL for its next write (RFC 8446, 4.6.1). They own the first sequence
   numbers: they come out before those are read, and go first with whatever is sent next. */
static bool bring_tickets_out(sst__tls *tls, sst__output *later) {
  if (tls->context->parts.role != SST_ROLE_SERVER || tls->version != SST_TLS1_3) return true;
  tls->wire = later;
  const int written = SSL_write(tls->ssl, "", 0);
  tls->wire = NULL;
  return written >= 0 && !tls->no_memory;
}

/* What the tickets of TLS 1.3 are made sessions with, where the client wants them. */
static void keep_for_tickets(sst__record_engine *record, sst__tls *tls) {
  if (!record->suite.tls13 || tls->context->parts.role != SST_ROLE_CLIENT ||
      !sst__wants_sessions(tls->context->parts.settings)) {
    return;
  }
  record->session = SSL_get1_session(tls->ssl);
  record->bond = sst__bond_ref(tls->bond);
}

sst__engine *sst__tls_hand_over(sst__engine *engine, sst__facts *facts, sst__output *later, sst_error *error) {
  sst__tls *tls = (sst__tls *)engine; /* base is the first member */
  const uint64_t failed = sst__failed_allocations();
  if (!bring_tickets_out(tls, later)) {
    ERR_clear_error();
    (void)sst__fail(error, SST_ERR_NO_MEMORY, "no memory for the session tickets");
    return NULL;
  }
  if (sst__keeps_ssl()) return engine;
  sst__record_engine *record = sst__alloc(sizeof *record + size_of_facts(facts));
  bool no_memory = record == NULL;
  if (record != NULL) {
    record->base = (sst__engine){.ops = &record_ops,
                                 .alerts_are_due = true,
                                 .frame_header = SST__HEADER_LEN,
                                 .due = tls->base.due,
                                 .events = tls->base.events,
                                 .counters = tls->base.counters};
    pthread_mutex_init(&record->secrets, NULL);
    record->context = tls->context;
    record->local = tls->local;
    record->exporter = tls->exporter;
    record->path = tls->path;
    record->peer = share(SSL_get0_peer_certificates(tls->ssl), &no_memory);
    note_sizes(record, tls);
    if (!no_memory && sst__keys_take_over(record, tls->ssl) && sst__exporter_complete(&record->exporter, tls->ssl)) {
      record->sender.most_records = most_records(&record->suite, tls->context->parts.settings);
      if (record->suite.tls13) record->base.records_per_key = (size_t)record->sender.most_records - 1;
      sst__record_look_at_limit(record);
      take_facts(record, facts);
      keep_for_tickets(record, tls);
      tls->base.ops->free(engine);
      return &record->base;
    }
    record_free(&record->base);
  }
  ERR_clear_error();
  if (no_memory || sst__failed_allocations() != failed) {
    (void)sst__fail(error, SST_ERR_NO_MEMORY, "no memory for the keys of the stream");
  } else {
    (void)sst__fail(error, SST_ERR_INTERNAL, "the keys of the stream cannot be taken over");
  }
  return NULL;
}
