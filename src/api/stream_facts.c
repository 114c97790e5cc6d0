/* What is known about a stream. Facts never change once the handshake has ended. */
#include <stdio.h>

#include "error.h"
#include "stream.h"

enum { MAX_DESCRIPTION = 256 };

uint32_t sst_stream_state(const sst_stream *stream) {
  return stream == NULL ? 0 : sst__state(stream);
}

sst_status sst_stream_get_info(const sst_stream *stream, sst_stream_info *info) {
  if (stream == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return sst__fill(&stream->facts.info, sizeof stream->facts.info, info);
}

sst_status sst_stream_alpn(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len) {
  if (stream == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return sst__give(stream->facts.alpn, stream->facts.alpn_len, out, out_cap, out_len);
}

/* ---- what an open question shows of them ---- */

static bool hold(const sst_stream *stream, sst_status want) {
  return sst__question_hold((sst__question *)&stream->question, want); /* const for the caller, the lock is not */
}

/* Those who may ask at a question, on any thread, may find that the handshake has gone on meanwhile: they look at the
   facts once the state says that these never change again. (0-RTT, where a client has those of its session, is for one
   thread.) */
static bool is_open(const sst_stream *stream) {
  return (sst__state(stream) & SST_STATE_OPEN) != 0 || sst__is_early(stream);
}

static sst_status release(const sst_stream *stream, sst_status status) {
  sst__question_release((sst__question *)&stream->question);
  return status;
}

static sst_status give_view(const sst_stream *stream, sst__fact fact, uint8_t *out, size_t out_cap, size_t *out_len) {
  sst__view view;
  (void)stream->engine->ops->fact(stream->engine, fact, 0, &view);
  return release(stream, sst__give(view.data, view.len, out, out_cap, out_len));
}

sst_status sst_stream_server_name(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len) {
  if (stream == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (hold(stream, SST_OK)) return give_view(stream, SST__FACT_SERVER_NAME, out, out_cap, out_len);
  if (!is_open(stream)) return sst__give(NULL, 0, out, out_cap, out_len);
  return sst__give(stream->facts.server_name, stream->facts.server_name_len, out, out_cap, out_len);
}

sst_status sst_stream_ocsp_response(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len) {
  if (stream != NULL && hold(stream, SST_WANT_CERTIFICATE_VERIFY)) {
    return give_view(stream, SST__FACT_OCSP_RESPONSE, out, out_cap, out_len);
  }
  if (stream == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (!is_open(stream)) return sst__give(NULL, 0, out, out_cap, out_len);
  return sst__give(stream->facts.ocsp_response, stream->facts.ocsp_response_len, out, out_cap, out_len);
}

sst_status sst_stream_scts(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len) {
  if (stream != NULL && hold(stream, SST_WANT_CERTIFICATE_VERIFY)) {
    return give_view(stream, SST__FACT_SCTS, out, out_cap, out_len);
  }
  if (stream == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (!is_open(stream)) return sst__give(NULL, 0, out, out_cap, out_len);
  return sst__give(stream->facts.scts, stream->facts.scts_len, out, out_cap, out_len);
}

static const char *version_name(uint16_t version) {
  if (version == SST_TLS1_3) return "TLS 1.3";
  return version == SST_TLS1_2 ? "TLS 1.2" : "no handshake yet";
}

sst_status sst_stream_describe(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len) {
  if (stream == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  const sst_stream_info *info = &stream->facts.info;
  const char *role = stream->role == SST_ROLE_SERVER ? "server" : "client";
  const bool verified = (info->flags & SST_INFO_VERIFIED) != 0;
  char text[MAX_DESCRIPTION];
  const char *peer = verified                                  ? "peer verified"
                     : stream->facts.num_peer_certificates > 0 ? "peer not verified"
                                                               : "peer without certificate";
  const int size = info->version == 0 ? snprintf(text, sizeof text, "%s, %s", version_name(0), role)
                                      : snprintf(text, sizeof text, "%s, %s, %s, %s, %s", version_name(info->version),
                                                 sst_suite_name(info->suite), sst_group_name(info->group), role, peer);
  return sst__give(text, (size_t)size, out, out_cap, out_len);
}

/* The question whether the chain is good shows it before it is judged. */
static size_t num_in_question(const sst_stream *stream) {
  size_t num = 0, len = 0;
  do {
    (void)stream->engine->ops->certificate(stream->engine, SST__CHAIN_PEER, num, NULL, 0, &len);
  } while (len > 0 && ++num > 0);
  (void)release(stream, SST_OK);
  return num;
}

size_t sst_stream_num_peer_certificates(const sst_stream *stream) {
  if (stream == NULL) return 0;
  if (hold(stream, SST_WANT_CERTIFICATE_VERIFY)) return num_in_question(stream);
  return is_open(stream) ? stream->facts.num_peer_certificates : 0;
}

static sst_status certificate(const sst_stream *stream, sst__chain chain, size_t num, size_t index, uint8_t *out,
                              size_t out_cap, size_t *out_len) {
  if (index >= num) return sst__give(NULL, 0, out, out_cap, out_len); /* none */
  return stream->engine->ops->certificate(stream->engine, chain, index, out, out_cap, out_len);
}

static sst_status no_stream(size_t *out_len) {
  if (out_len != NULL) *out_len = 0;
  return sst__refuse(SST_ERR_INVALID_ARGUMENT);
}

sst_status sst_stream_peer_certificate(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap,
                                       size_t *out_len) {
  if (stream == NULL) return no_stream(out_len);
  if (hold(stream, SST_WANT_CERTIFICATE_VERIFY)) {
    return release(stream, certificate(stream, SST__CHAIN_PEER, SIZE_MAX, index, out, out_cap, out_len));
  }
  const size_t num = is_open(stream) ? stream->facts.num_peer_certificates : 0;
  return certificate(stream, SST__CHAIN_PEER, num, index, out, out_cap, out_len);
}

sst_status sst_stream_verified_certificate(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap,
                                           size_t *out_len) {
  if (stream == NULL) return no_stream(out_len);
  return certificate(stream, SST__CHAIN_VERIFIED, stream->facts.num_verified_certificates, index, out, out_cap,
                     out_len);
}

sst_status sst_stream_local_certificate(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap,
                                        size_t *out_len) {
  if (stream == NULL) return no_stream(out_len);
  if (hold(stream, SST_WANT_PRIVATE_KEY_OPERATION)) { /* whose key is wanted */
    return release(stream, certificate(stream, SST__CHAIN_LOCAL, SIZE_MAX, index, out, out_cap, out_len));
  }
  const size_t num = is_open(stream) ? stream->facts.num_local_certificates : 0;
  return certificate(stream, SST__CHAIN_LOCAL, num, index, out, out_cap, out_len);
}

/* The failure is published after the chain was kept: whoever sees it, on any thread, sees the chain whole. */
sst_status sst_stream_refused_certificate(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap,
                                          size_t *out_len) {
  if (stream == NULL) return no_stream(out_len);
  sst_error error = {.size = sizeof error};
  const bool failed =
      sst_stream_last_error(stream, &error) == SST_OK &&
      (sst__is_certificate_code(error.code) || error.code == SST_ERR_KEY_USAGE || error.code == SST_ERR_REJECTED);
  return certificate(stream, SST__CHAIN_REFUSED, failed ? SIZE_MAX : 0, index, out, out_cap, out_len);
}

/* ---- counters and sizes: any thread ---- */

uint64_t sst_stream_counter(const sst_stream *stream, int32_t which) {
  if (stream == NULL || which < 0) return 0;
  if (which == SST_COUNTER_EVENTS_LOST) return sst__events_lost(stream->events);
  return which < SST__NUM_COUNTERS ? atomic_load_explicit(sst__counter(&stream->counters, which), memory_order_relaxed)
                                   : 0;
}

size_t sst_stream_output_size(const sst_stream *stream) {
  return stream == NULL ? 0 : sst__queue_size(&stream->wire) + sst__due_size(&stream->due);
}

size_t sst_stream_plaintext_size(const sst_stream *stream) {
  return stream == NULL ? 0 : sst__kept_size(&stream->kept);
}

/* ---- events ---- */

sst_status sst_stream_next_event(sst_stream *stream, sst_event *event, uint8_t *out, size_t out_cap) {
  if (stream == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return sst__events_take(stream->events, event, out, out_cap);
}

sst_session *sst_stream_take_session(sst_stream *stream) {
  return stream == NULL ? NULL : sst__events_take_session(stream->events);
}
