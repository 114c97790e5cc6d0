/* The engine of TLS streams: all bytes go through BoringSSL's SSL, by a BIO over the caller's windows. */
#include <openssl/err.h>
#include <string.h>

#include "memory.h"
#include "session.h"
#include "tls/internal.h"
#include "tls/window.h"

enum {
  RECORD_VERSION_MAJOR = 3,
  MAX_CIPHERTEXT = 16704, /* BoringSSL's limit for the body of a record */
  MAX_PLAINTEXT = 16384,  /* RFC 8446, 5.1 */
  KEY_UPDATE_SIZE = 5 + 5 + 1 + 16,
  TYPE_ALERT = 21,
  TYPE_HANDSHAKE = 22,
};

static sst__tls *tls_of(sst__engine *engine) {
  return (sst__tls *)engine; /* base is the first member */
}
static const sst__tls *const_tls_of(const sst__engine *engine) {
  return (const sst__tls *)engine;
}

/* ---- one call ---- */

typedef struct call {
  sst__tls *tls;
  uint64_t failed_allocations;
} call;

/* Looking is much cheaper than clearing, and the queue is empty but after a failure. */
static void clear_errors(void) {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

static call begin(sst__tls *tls, sst__input *in, sst__output *wire, sst_error *error) {
  tls->in = in;
  tls->wire = wire;
  tls->error = error;
  tls->judged = false;
  clear_errors(); /* a stale entry would turn "wants input" into a failure */
  return (call){.tls = tls, .failed_allocations = sst__failed_allocations()};
}

static sst__step end(const call *now, sst__step step) {
  clear_errors();
  now->tls->in = NULL;
  now->tls->wire = NULL;
  now->tls->error = NULL;
  now->tls->certificate = NULL;
  return step;
}

static sst__step end_failed(const call *now, int ssl_error) {
  return end(now, sst__tls_failed(now->tls, ssl_error, now->failed_allocations));
}

/* ---- handshake ---- */

static bool tls_start(sst__engine *engine, const sst__setup *setup, uint32_t max_fragment) {
  sst__tls *tls = tls_of(engine);
  tls->setup = setup;
  tls->in_handshake = true;
  SSL_set_max_send_fragment(tls->ssl, max_fragment);
  const sst__host *host = &setup->server_name;
  const bool send_name = tls->context->parts.role == SST_ROLE_CLIENT && host->name[0] != 0 && !host->is_ip;
  if (send_name && SSL_set_tlsext_host_name(tls->ssl, host->name) != 1) return false;
  return tls->context->parts.role != SST_ROLE_CLIENT || sst__resumption_start(tls, setup);
}

/* BoringSSL takes an SSLv2 ClientHello for a TLS 1.2 one without extensions, and tells of other protocols late: the
   first byte decides. An alert may come first too. */
static bool first_byte_is_tls(sst__tls *tls) {
  const sst__input *in = tls->in;
  if (tls->first_byte_seen || in->len == in->used) return true;
  const uint8_t *data = in->data + in->used;
  const size_t len = in->len - in->used;
  tls->first_byte_seen = true;
  if (data[0] == TYPE_HANDSHAKE || data[0] == TYPE_ALERT) return true;

  const bool http = len >= 4 && (memcmp(data, "HTTP", 4) == 0 || memcmp(data, "GET ", 4) == 0 ||
                                 memcmp(data, "POST", 4) == 0 || memcmp(data, "HEAD", 4) == 0);
  sst__judge(tls, SST_ERR_NOT_TLS, "%s: its first byte is 0x%02x%s", sst_status_text(SST_ERR_NOT_TLS), data[0],
             http ? " (plain HTTP)" : "");
  return false;
}

static void set_record_sizes(sst__tls *tls) {
  const uint16_t suite = SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(tls->ssl));
  const bool chacha = suite == 0xcca8 || suite == 0xcca9;
  tls->version = (uint16_t)SSL_version(tls->ssl);
  if (tls->version == SST_TLS1_3) {
    tls->expansion = 1 + 16; /* content type and tag (RFC 8446, 5.2) */
    tls->base.key_update_size = KEY_UPDATE_SIZE;
  } else {
    tls->expansion = chacha ? 16 : 8 + 16; /* GCM has an explicit nonce (RFC 5288, 3) */
  }
  tls->base.overhead = SST__HEADER_LEN + tls->expansion;
}

static sst__step tls_handshake(sst__engine *engine, sst__input *in, sst__output *wire, sst_error *error) {
  sst__tls *tls = tls_of(engine);
  const call now = begin(tls, in, wire, error);
  if (!first_byte_is_tls(tls)) return end_failed(&now, SSL_ERROR_SSL);
  const size_t from = in->used;
  const int result = SSL_do_handshake(tls->ssl);
  if (sst__has_no_config(tls) && !sst__keep_taken(tls, in->data + from, in->used - from)) tls->no_memory = true;
  if (tls->no_memory) return end_failed(&now, SSL_ERROR_SSL);
  if (result == 1 && SSL_in_early_data(tls->ssl)) {
    set_record_sizes(tls);
    return end(&now, sst__tls_begin_early(tls));
  }
  if (result == 1) {
    if (tls->early_data_offered) sst__tls_tell_early_data(tls, SSL_early_data_accepted(tls->ssl));
    sst__tls_take_stored_verdict(tls);
    tls->in_handshake = false;
    tls->setup = NULL;
    set_record_sizes(tls);
    return end(&now, SST__STEP_DONE);
  }
  const int ssl_error = SSL_get_error(tls->ssl, result);
  if (ssl_error == SSL_ERROR_EARLY_DATA_REJECTED && sst__tls_goes_on_without(tls)) {
    (void)end(&now, SST__STEP_MORE);
    return tls_handshake(engine, in, wire, error);
  }
  tls->base.want = sst__want_of(ssl_error);
  if (tls->base.want != SST_OK) return end(&now, SST__STEP_WANT);
  return ssl_error == SSL_ERROR_WANT_READ ? end(&now, SST__STEP_MORE) : end_failed(&now, ssl_error);
}

static bool tls_confirmed(sst__engine *engine) {
  sst__tls *tls = tls_of(engine);
  if (SSL_in_init(tls->ssl) || SSL_in_early_data(tls->ssl)) return false;
  tls->in_handshake = false;
  tls->setup = NULL;
  return true;
}

static void tls_facts(const sst__engine *engine, sst__facts *facts) {
  const sst__tls *tls = const_tls_of(engine);
  const SSL *ssl = tls->ssl;
  const STACK_OF(CRYPTO_BUFFER) *peer = SSL_get0_peer_certificates(ssl);
  unsigned alpn_len = 0;
  *facts = (sst__facts){.info = {.size = sizeof facts->info, .version = tls->version}};
  facts->info.suite = SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(ssl));
  facts->info.group = SSL_get_group_id(ssl);
  facts->info.peer_scheme = SSL_get_peer_signature_algorithm(ssl);
  facts->info.local_scheme = tls->local_scheme;
  if (SSL_session_reused(ssl)) facts->info.flags |= SST_INFO_RESUMED;
  if (tls->verified) facts->info.flags |= SST_INFO_VERIFIED;
  if (SSL_early_data_accepted(ssl)) facts->info.flags |= SST_INFO_EARLY_DATA_ACCEPTED;
  if (SSL_used_hello_retry_request(ssl)) facts->info.flags |= SST_INFO_HELLO_RETRY;
  if (SSL_get_extms_support(ssl)) facts->info.flags |= SST_INFO_EXTENDED_MASTER_SECRET;

  SSL_get0_alpn_selected(ssl, &facts->alpn, &alpn_len);
  facts->alpn_len = alpn_len;
  facts->server_name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  facts->server_name_len = facts->server_name == NULL ? 0 : strlen(facts->server_name);
  facts->num_peer_certificates = peer == NULL ? 0 : sk_CRYPTO_BUFFER_num(peer);
  facts->num_verified_certificates = tls->path.length;
  if (tls->local != NULL) facts->num_local_certificates = sk_CRYPTO_BUFFER_num(tls->local->chain);
  SSL_get0_ocsp_response(ssl, &facts->ocsp_response, &facts->ocsp_response_len);
  SSL_get0_signed_cert_timestamp_list(ssl, &facts->scts, &facts->scts_len);
}

/* ---- records ---- */

/* Joins slices for BoringSSL, which takes one piece. */
static const uint8_t *join(const sst_slice *slices, size_t skip, size_t size, uint8_t *buffer) {
  if (slices[0].length - skip >= size) return slices[0].data + skip;
  for (size_t used = 0; used < size; slices++) {
    const size_t left = slices->length - skip;
    const size_t piece = left < size - used ? left : size - used;
    if (piece > 0) memcpy(buffer + used, slices->data + skip, piece);
    used += piece;
    skip = 0;
  }
  return buffer;
}

static sst__step tls_seal(sst__engine *engine, const sst_slice *slices, size_t skip, size_t size, sst__output *wire,
                          sst_error *error) {
  sst__tls *tls = tls_of(engine);
  uint8_t joined[MAX_PLAINTEXT];
  const uint8_t *data = join(slices, skip, size, joined);
  const call now = begin(tls, NULL, wire, error);
  tls->early_data_sent |= tls->in_handshake;
  const int written = SSL_write(tls->ssl, data, (int)size);
  const bool sealed = written == (int)size && !tls->no_memory;
  const sst__step step = sealed ? end(&now, SST__STEP_DONE) : end_failed(&now, SSL_get_error(tls->ssl, written));
  if (data == joined) sst__wipe(joined, size);
  return step;
}

static void tls_next_frame(const sst__engine *engine, const uint8_t *in, size_t in_len, sst__frame *frame) {
  const sst__tls *tls = const_tls_of(engine);
  *frame = (sst__frame){.begun = tls->header_len > 0, .length = in_len};
  uint8_t header[SST__HEADER_LEN];
  size_t have = tls->header_len, used = 0;
  memcpy(header, tls->header, have);
  while (have < SST__HEADER_LEN && used < in_len)
    header[have++] = in[used++];
  if (have < SST__HEADER_LEN) {
    frame->missing = SST__HEADER_LEN - have;
    return;
  }
  const size_t body = (size_t)header[3] << 8 | header[4];
  const size_t left = tls->body_left > 0 ? tls->body_left : body;
  const bool bad_version = header[1] != RECORD_VERSION_MAJOR || (!tls->in_handshake && header[2] != 3);
  const bool bad = body > MAX_CIPHERTEXT || bad_version;
  frame->plaintext_max = body > tls->expansion ? body - tls->expansion : 0;
  frame->whole = bad || in_len - used >= left; /* a bad one need not be waited for: its header says enough */
  if (bad && in_len - used < left) return;
  frame->length = frame->whole ? used + left : in_len;
  frame->missing = frame->whole ? 0 : left - (in_len - used);
}

/* Moves the plaintext that BoringSSL still holds into kept. */
static bool keep_rest(sst__tls *tls, sst__kept *kept) {
  const int pending = SSL_pending(tls->ssl);
  if (pending <= 0) return true;
  kept->data = sst__alloc_unset((size_t)pending);
  if (kept->data == NULL) return false;
  if (SSL_read(tls->ssl, kept->data, pending) != pending) return false;
  kept->begin = 0;
  kept->end = (size_t)pending;
  atomic_store_explicit(&kept->size, kept->end, memory_order_relaxed);
  return true;
}

/* Brings the answer to a KeyUpdate out now, so that flush has it. While other output waits it stays inside, where
   further requests add nothing to it: a peer that asks and never reads must not fill the queue (RFC 8446, 4.6.3). After
   our close_notify none is owed. */
static void bring_answer_out(sst__tls *tls) {
  if (!tls->answer_due || tls->closed || sst__queue_size(tls->wire->queue) > 0) return;
  tls->answer_due = false;
  (void)SSL_write(tls->ssl, "", 0);
}

static sst__step tls_bring_out(sst__engine *engine, bool before_data, sst__output *wire, sst_error *error) {
  sst__tls *tls = tls_of(engine);
  (void)before_data;
  if (!tls->answer_due) return SST__STEP_DONE;
  const call now = begin(tls, NULL, wire, error);
  bring_answer_out(tls);
  return end(&now, SST__STEP_DONE);
}

static sst__step tls_open(sst__engine *engine, sst__input *in, uint8_t *out, size_t cap, size_t *produced,
                          sst__kept *kept, sst__output *answers, sst_error *error) {
  sst__tls *tls = tls_of(engine);
  const call now = begin(tls, in, answers, error);
  uint8_t probe;
  *produced = 0;
  /* SSL_read of nothing would lose what the record was: a peek opens it and leaves it pending. */
  const int room = cap > MAX_PLAINTEXT ? MAX_PLAINTEXT : (int)cap;
  const int got = room > 0 ? SSL_read(tls->ssl, out, room) : SSL_peek(tls->ssl, &probe, 1);
  if (got > 0) {
    if (room > 0) *produced = (size_t)got;
    if (!keep_rest(tls, kept)) {
      sst__judge(tls, SST_ERR_NO_MEMORY, "no memory for the rest of a record");
      return end_failed(&now, SSL_ERROR_SSL);
    }
    return end(&now, SST__STEP_DONE);
  }
  const int ssl_error = SSL_get_error(tls->ssl, got);
  /* Under early keys, which anybody may replay, it is the end of nothing (RFC 8446, 8). */
  if (ssl_error == SSL_ERROR_ZERO_RETURN && !tls->in_handshake) return end(&now, SST__STEP_CLOSED);
  if (ssl_error != SSL_ERROR_WANT_READ) return end_failed(&now, ssl_error);
  bring_answer_out(tls);
  return tls->no_memory ? end_failed(&now, SSL_ERROR_SSL) : end(&now, SST__STEP_MORE);
}

/* BoringSSL copies a record out before it opens it. */
static sst__step tls_open_in_place(sst__engine *engine, uint8_t *record, size_t len, size_t *offset, size_t *produced,
                                   sst__output *answers, sst_error *error) {
  sst__input in = {.data = record, .len = len};
  sst__kept none = {.data = NULL};
  *offset = 0;
  return tls_open(engine, &in, record, len, produced, &none, answers, error);
}

static sst__step tls_close(sst__engine *engine, sst__output *wire, sst_error *error) {
  sst__tls *tls = tls_of(engine);
  const call now = begin(tls, NULL, wire, error);
  const int result = SSL_shutdown(tls->ssl);
  tls->closed = true;
  if (result < 0 || tls->no_memory) return end_failed(&now, SSL_get_error(tls->ssl, result));
  return end(&now, SST__STEP_DONE);
}

static sst__step tls_key_update(sst__engine *engine, bool request_peer, sst__output *wire, sst_error *error) {
  sst__tls *tls = tls_of(engine);
  const call now = begin(tls, NULL, wire, error);
  const int kind = request_peer ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED;
  const bool queued = SSL_key_update(tls->ssl, kind) == 1 && SSL_write(tls->ssl, "", 0) >= 0 && !tls->no_memory;
  return queued ? end(&now, SST__STEP_DONE) : end_failed(&now, SSL_ERROR_SSL);
}

static void tls_alert(sst__engine *engine, int32_t alert, sst__output *wire) {
  sst__tls *tls = tls_of(engine);
  sst_error ignored;
  const call now = begin(tls, NULL, wire, &ignored);
  if (tls->alert_sent < 0) (void)SSL_send_fatal_alert(tls->ssl, (uint8_t)alert);
  (void)end(&now, SST__STEP_DONE);
}

static void tls_free(sst__engine *engine) {
  sst__tls *tls = tls_of(engine);
  SSL_free(tls->ssl);
  sst__bond_free(tls->bond);
  sst__tls_forget_refused(tls);
  sst__free(tls->hello);
  sst__free(tls->taken);
  sst__free(tls->accepted_cas);
  sst__free(tls->message);
  sst__free(tls->ticket);
  sst__free(tls);
  ERR_clear_error();
}

static const sst__engine_ops tls_ops = {
    .start = tls_start,
    .handshake = tls_handshake,
    .confirmed = tls_confirmed,
    .adopt = sst__tls_adopt,
    .fact = sst__tls_fact,
    .facts = tls_facts,
    .hand_over = sst__tls_hand_over,
    .certificate = sst__tls_certificate,
    .export_key = sst__tls_export_key,
    .channel_binding = sst__tls_channel_binding,
    .traffic_secret = sst__tls_traffic_secret,
    .seal = tls_seal,
    .next_frame = tls_next_frame,
    .open = tls_open,
    .open_in_place = tls_open_in_place,
    .bring_out = tls_bring_out,
    .close = tls_close,
    .key_update = tls_key_update,
    .alert = tls_alert,
    .free = tls_free,
};

bool sst__tls_make_ssl(sst__tls *tls) {
  ERR_clear_error();
  tls->ssl = SSL_new(tls->context->ctx);
  if (tls->ssl == NULL || SSL_set_app_data(tls->ssl, tls) != 1 || !sst__window_attach(tls)) return false;
  SSL_set_shed_handshake_config(tls->ssl, 1);
  if (tls->context->parts.role == SST_ROLE_SERVER) {
    SSL_set_accept_state(tls->ssl);
  } else {
    SSL_set_connect_state(tls->ssl);
  }
  return true;
}

sst__engine *sst__context_engine(const sst__context *context, sst__due *due, sst__events *events,
                                 sst__counters *counters, sst__question *question) {
  sst__tls *tls = sst__alloc(sizeof *tls);
  if (tls == NULL) return NULL;
  tls->base = (sst__engine){
      .ops = &tls_ops, .one_at_a_time = true, .due = due, .events = events, .counters = counters, .question = question};
  tls->base.overhead = SST__HEADER_LEN + 8 + 16; /* the most of any suite, until the handshake has chosen */
  tls->context = context;
  tls->alert_sent = tls->alert_received = SST__NO_ALERT;
  if (sst__tls_make_ssl(tls)) return &tls->base;
  tls_free(&tls->base);
  return NULL;
}
