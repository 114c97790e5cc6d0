/*
 * 0-RTT (RFC 8446, 2.3). A client sends early data by encrypt between two calls of handshake. A server is open before
 * its handshake is confirmed: decrypt gives the early data, and takes the rest of the handshake in between. All of that
 * goes through BoringSSL's SSL; the hand-over comes with the confirmation.
 */
#include "error.h"
#include "stream.h"
#include "turn.h"

enum { BOTH = SST__SENDING | SST__RECEIVING };

/* The calls of both sides go through one SSL, and a receiving one may write. */
bool sst__early_claim(sst_stream *stream) {
  if (!sst__turn_claim(stream, BOTH)) return false;
  stream->early_has_turn = true;
  return true;
}

void sst__early_release(sst_stream *stream, sst_progress *progress) {
  if (progress != NULL && (stream->early_given || sst__is_early(stream))) progress->flags |= SST_EARLY_DATA;
  stream->early_has_turn = stream->early_given = false;
  sst__turn_release(stream, BOTH);
}

void sst__early_begin(sst_stream *stream) {
  if (sst__is_early(stream)) return;
  atomic_store_explicit(&stream->early, true, memory_order_relaxed);
  stream->engine->ops->facts(stream->engine, &stream->facts);
  if (stream->role == SST_ROLE_SERVER) return;
  /* A client knows what the session says, and nothing of the connection. */
  stream->facts.info.group = stream->facts.info.peer_scheme = 0;
  stream->facts.info.flags = 0;
  atomic_store_explicit(&stream->early_left, stream->engine->most_early_data, memory_order_relaxed);
}

void sst__early_sent(sst_stream *stream, size_t size) {
  if (stream->role == SST_ROLE_CLIENT) atomic_fetch_sub_explicit(&stream->early_left, size, memory_order_relaxed);
}

sst_status sst__early_eof(sst_stream *stream) {
  sst_error error;
  (void)sst__fail(&error, SST_ERR_HANDSHAKE_EOF, "the transport ended before the handshake was confirmed");
  return sst__publish(stream, &error);
}

void sst__early_end(sst_stream *stream) {
  atomic_store_explicit(&stream->early_left, 0, memory_order_relaxed);
  atomic_store_explicit(&stream->early, false, memory_order_relaxed);
}

void sst__early_over(sst_stream *stream) {
  if (stream->role != SST_ROLE_CLIENT || !sst__is_early(stream)) return;
  sst__early_end(stream);
  stream->facts = (sst__facts){.info = {.size = sizeof stream->facts.info}}; /* what is behind them goes too */
}

/* BoringSSL sends no close_notify inside of a handshake: that of a server that has closed already goes out now. */
static bool close_now(sst_stream *stream, sst_error *error) {
  sst__output queue_only = {.queue = &stream->wire};
  if ((sst__state(stream) & SST_STATE_WE_CLOSED) == 0) return true;
  const sst__step step = stream->engine->ops->close(stream->engine, &queue_only, error);
  if (step == SST__STEP_NO_MEMORY) (void)sst__fail(error, SST_ERR_NO_MEMORY, "no memory for close_notify");
  return step == SST__STEP_DONE;
}

bool sst__early_confirm(sst_stream *stream, sst_error *error) {
  if (!stream->engine->ops->confirmed(stream->engine)) return true;
  if (!sst__hand_over(stream, error)) return false;
  sst__early_end(stream);
  sst__end_state(stream, SST_STATE_HANDSHAKE);
  return close_now(stream, error);
}

size_t sst_stream_early_data_left(const sst_stream *stream) {
  return stream == NULL ? 0 : atomic_load_explicit(&stream->early_left, memory_order_relaxed);
}
