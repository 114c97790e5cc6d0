/*
 * The state table. Each call is one function that reads the stream's state, leaves early where the table says so, and
 * else lets the engine move bytes. Order of the checks, in all of them: the stream's failure, closed by us, not open
 * yet.
 */
#include "stream.h"

#include <string.h>

#include "error.h"
#include "memory.h"
#include "records.h"
#include "turn.h"

/* Text and alert of the one failure that leaves the sending side alone; it needs no memory. */
static const sst_error truncation = {.size = sizeof(sst_error),
                                     .code = SST_ERR_TRUNCATED,
                                     .alert_sent = SST__NO_ALERT,
                                     .alert_received = SST__NO_ALERT,
                                     .message = "the transport ended without close_notify"};
static const sst_error out_of_memory = {.size = sizeof(sst_error),
                                        .code = SST_ERR_NO_MEMORY,
                                        .alert_sent = SST__NO_ALERT,
                                        .alert_received = SST__NO_ALERT,
                                        .message = "an allocation failed"};
const sst_error sst__closed = {.size = sizeof(sst_error), .alert_sent = SST__NO_ALERT, .alert_received = SST__NO_ALERT};

enum { OPEN = SST_STATE_OPEN, FAILED = SST_STATE_FAILED, TRUNCATED = SST_STATE_TRUNCATED };
enum { SUSPENDED = SST_STATE_SUSPENDED };
enum { PEER_CLOSED = SST_STATE_PEER_CLOSED, WE_CLOSED = SST_STATE_WE_CLOSED, ENDED = SST_STATE_ENDED_EARLY };

/* ---- failures ---- */

/* The state is read first: sst__publish writes it behind the record. */
static const sst_error *failure_of(const sst_stream *stream) {
  const uint32_t state = sst__state(stream);
  if ((state & FAILED) == 0) return (state & TRUNCATED) != 0 ? &truncation : NULL;
  return atomic_load_explicit(&stream->due.end, memory_order_acquire);
}

void sst__stream_free_failure(sst_stream *stream) {
  const sst_error *end = atomic_load_explicit(&stream->due.end, memory_order_acquire);
  if (end != &sst__closed && end != &out_of_memory) sst__free((void *)end);
}

/* Both sides may fail at once, or one while the other closes: one word decides whose record is told and whose alert goes
   out, so that it is the same failure's. Behind close_notify there is a record, but no alert. The alert is noted last, so
   that who writes it sees FAILED and writes nothing behind it. */
sst_status sst__publish(sst_stream *stream, const sst_error *error) {
  sst_error *record = sst__copy(error, sizeof *error);
  const sst_error *end = record != NULL ? record : &out_of_memory, *closed = &sst__closed;
  const bool has_last_word = sst__due_end(&stream->due, end);
  const bool owes = has_last_word && stream->engine->alerts_are_due && end->alert_sent >= 0;
  if (!has_last_word && record != NULL) record->alert_sent = SST__NO_ALERT;
  if (!has_last_word && !atomic_compare_exchange_strong_explicit(&stream->due.end, &closed, end, memory_order_release,
                                                                 memory_order_relaxed)) {
    sst__free(record);
  }
  sst__question_drop(&stream->question);
  sst__early_over(stream);
  sst__end_state(stream, SUSPENDED);
  sst__set_state(stream, FAILED);
  if (owes) sst__due_add(&stream->due, SST__DUE_ALERT);
  return failure_of(stream)->code;
}

sst_status sst_stream_last_error(const sst_stream *stream, sst_error *error) {
  if (stream == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  const sst_error *failure = failure_of(stream);
  sst_error none;
  sst__error_clear(&none);
  return sst__error_get(failure == NULL ? &none : failure, error);
}

/* ---- output ---- */

static sst__output output_of(sst_stream *stream, sst__room out) {
  return (sst__output){.data = out.data, .cap = out.cap, .queue = &stream->wire};
}

/* Moves what waits into the room, and then what waited behind it, or is due; false: for that there is neither room nor
   memory. What cannot be written fails the stream. */
static bool drain_all(sst_stream *stream, sst__output *out) {
  sst_error error;
  if (!sst__output_drain(out)) return true;
  const uint32_t state = sst__state(stream) & (OPEN | FAILED);
  if (state != OPEN && !sst__due_any(&stream->due)) return true;
  const sst__step step = stream->engine->ops->bring_out(stream->engine, false, out, &error);
  if (step == SST__STEP_FAILED && (sst__state(stream) & FAILED) == 0) (void)sst__publish(stream, &error);
  return step != SST__STEP_ROOM;
}

/* Nearly always there is nothing. An engine whose sides take turns may hold back what due does not say. */
SST__INLINE bool drain(sst_stream *stream, sst__output *out) {
  const bool nothing = sst__queue_size(&stream->wire) == 0 && !sst__due_any(&stream->due);
  return (nothing && !stream->engine->one_at_a_time) || drain_all(stream, out);
}

static bool is_drained(const sst_stream *stream) {
  return sst__queue_size(&stream->wire) == 0;
}

static void wrote(sst_stream *stream, const sst__output *out, sst_progress *progress) {
  progress->produced = out->used;
  sst__count(&stream->counters, SST_COUNTER_WIRE_SENT, out->used);
}

/* What waits comes before any outcome but an error. drained: as drain has said. */
static sst_status unless_output_waits(sst_stream *stream, sst_progress *progress, bool drained, sst_status status) {
  if (status < 0 || (drained && sst__queue_size(&stream->wire) == 0)) return status;
  progress->needed = sst__queue_size(&stream->wire) + sst__due_size(&stream->due);
  return SST_NEED_OUTPUT;
}

/* ---- handshake ---- */

static sst_status handshake(sst_stream *stream, sst__input *in, sst__room room, sst_progress *progress) {
  const uint32_t state = sst__state(stream);
  if ((state & FAILED) == 0) {
    if ((state & ENDED) != 0) return sst__refuse(SST_ERR_CLOSED);
    if ((state & OPEN) != 0) return SST_OK;
  }
  sst__output out = output_of(stream, room);
  sst_status status = SST_OK;
  const bool drained = drain(stream, &out);
  if ((state & FAILED) != 0) {
    status = failure_of(stream)->code;
  } else if (is_drained(stream)) {
    status = sst__run_handshake(stream, in, &out, progress);
  }
  wrote(stream, &out, progress);
  if (status == SST_OK && (sst__state(stream) & OPEN) != 0) return SST_OK;
  return unless_output_waits(stream, progress, drained, status);
}

sst_status sst__stream_handshake(sst_stream *stream, const uint8_t *in, size_t in_len, sst__room out,
                                 sst_progress *progress) {
  const unsigned sides = SST__SENDING | SST__RECEIVING;
  const sst_status turn = sst__turn_begin(stream, sides, progress);
  if (turn != SST_OK) return turn;
  sst__input input = {.data = in, .len = in_len};
  return sst__turn_end(stream, sides, progress, handshake(stream, &input, out, progress));
}

/* ---- sending ---- */

static sst_status may_send(const sst_stream *stream) {
  const uint32_t state = sst__state(stream);
  if ((state & FAILED) != 0) return failure_of(stream)->code;
  if ((state & (WE_CLOSED | ENDED)) != 0) return sst__refuse(SST_ERR_CLOSED);
  return (state & OPEN) != 0 ? SST_OK : sst__refuse(SST_ERR_STATE);
}

static bool is_within(const sst_slice *slices, size_t num_slices, size_t limit) {
  for (size_t i = 0; i < num_slices; i++) {
    if (slices[i].length > limit) return false;
    limit -= slices[i].length;
  }
  return true;
}

/* Early data of a client: as much as the server takes. */
static sst_status may_encrypt(const sst_stream *stream, const sst_slice *slices, size_t num_slices) {
  const sst_status allowed = may_send(stream);
  const bool early = allowed == SST_ERR_STATE && sst__is_early(stream);
  if (!early || !is_within(slices, num_slices, sst_stream_early_data_left(stream))) return allowed;
  return SST_OK;
}

SST__INLINE sst_status encrypt(sst_stream *stream, const sst_slice *slices, size_t num_slices, sst__room room,
                               sst_progress *progress) {
  const sst_status allowed = may_encrypt(stream, slices, num_slices);
  if (allowed != SST_OK) return allowed;
  sst__output out = output_of(stream, room);
  sst_error error;
  (void)drain(stream, &out); /* what is due is tried again before data */
  if ((sst__state(stream) & FAILED) != 0) {
    wrote(stream, &out, progress);
    return failure_of(stream)->code;
  }
  const sst__step step = sst__seal_records(stream, slices, num_slices, &out, progress, &error);
  if (sst__is_early(stream)) sst__early_sent(stream, progress->consumed);
  wrote(stream, &out, progress);
  if (step == SST__STEP_FAILED) return sst__publish(stream, &error);
  if (step == SST__STEP_CLOSED) return failure_of(stream)->code;
  return step == SST__STEP_ROOM ? SST_NEED_OUTPUT : SST_OK;
}

sst_status sst__stream_encrypt(sst_stream *stream, const sst_slice *slices, size_t num_slices, sst__room out,
                               sst_progress *progress) {
  const sst_status turn = sst__turn_begin(stream, SST__SENDING, progress);
  if (turn != SST_OK) return turn;
  return sst__turn_end(stream, SST__SENDING, progress, encrypt(stream, slices, num_slices, out, progress));
}

static sst_status close_stream(sst_stream *stream, sst__output *out) {
  const uint32_t state = sst__state(stream);
  if ((state & (FAILED | WE_CLOSED | ENDED)) != 0) return SST_OK;
  if ((state & OPEN) == 0) {
    sst__question_drop(&stream->question);
    sst__early_over(stream);
    sst__end_state(stream, SUSPENDED);
    sst__set_state(stream, ENDED);
    return SST_OK;
  }
  if (sst__is_early(stream)) { /* its close_notify goes out once the handshake is confirmed */
    sst__set_state(stream, WE_CLOSED);
    return SST_OK;
  }
  sst_error error;
  const sst__step step = stream->engine->ops->close(stream->engine, out, &error);
  if (step == SST__STEP_NO_MEMORY && out->used == 0) return sst__refuse(SST_ERR_NO_MEMORY);
  if (step != SST__STEP_NO_MEMORY) sst__set_state(stream, WE_CLOSED);
  return step == SST__STEP_DONE ? SST_OK : sst__publish(stream, &error);
}

/* flush and close: what waits goes first, then close_notify if this is its time. */
static sst_status flush(sst_stream *stream, bool and_close, sst__room room, sst_progress *progress) {
  const sst_status turn = sst__turn_begin(stream, SST__SENDING, progress);
  if (turn != SST_OK) return turn;
  sst__output out = output_of(stream, room);
  const bool drained = drain(stream, &out);
  const sst_status status = and_close ? close_stream(stream, &out) : SST_OK;
  wrote(stream, &out, progress);
  return sst__turn_end(stream, SST__SENDING, progress, unless_output_waits(stream, progress, drained, status));
}

sst_status sst__stream_flush(sst_stream *stream, sst__room out, sst_progress *progress) {
  return flush(stream, false, out, progress);
}

sst_status sst__stream_close(sst_stream *stream, sst__room out, sst_progress *progress) {
  return flush(stream, true, out, progress);
}

static sst_status abort_stream(sst_stream *stream, int32_t alert) {
  const uint32_t state = sst__state(stream);
  if ((state & FAILED) != 0) return failure_of(stream)->code;
  if ((state & (WE_CLOSED | ENDED)) != 0) return sst__refuse(SST_ERR_CLOSED);
  sst__question_drop(&stream->question); /* before the engine runs: its facts are read by other threads */
  sst__output queue_only = output_of(stream, (sst__room){NULL, 0});
  if (!stream->engine->alerts_are_due) stream->engine->ops->alert(stream->engine, alert, &queue_only);
  sst_error error;
  (void)sst__fail(&error, SST_ERR_ABORTED, "aborted by this side with the alert %s (%d)", sst_alert_name(alert),
                  (int)alert);
  error.alert_sent = alert;
  const sst_status failure = sst__publish(stream, &error); /* the other side may have failed at the same time */
  return failure == SST_ERR_ABORTED ? SST_OK : failure;
}

sst_status sst__stream_abort(sst_stream *stream, int32_t alert) {
  const sst_status turn = sst__turn_begin(stream, SST__SENDING, NULL);
  if (turn != SST_OK) return turn;
  return sst__turn_end(stream, SST__SENDING, NULL, abort_stream(stream, alert));
}

static sst_status key_update(sst_stream *stream, bool request_peer) {
  const sst_status allowed = may_send(stream);
  if (allowed != SST_OK) return allowed;
  if (sst__is_early(stream)) return sst__refuse(SST_ERR_STATE);
  if (stream->engine->key_update_size == 0) return sst__refuse(SST_ERR_UNSUPPORTED);
  sst__output queue_only = output_of(stream, (sst__room){NULL, 0});
  sst_error error;
  const sst__step step = stream->engine->ops->key_update(stream->engine, request_peer, &queue_only, &error);
  if (step == SST__STEP_NO_MEMORY) return sst__refuse(SST_ERR_NO_MEMORY);
  return step == SST__STEP_DONE ? SST_OK : sst__publish(stream, &error);
}

sst_status sst__stream_key_update(sst_stream *stream, bool request_peer) {
  const sst_status turn = sst__turn_begin(stream, SST__SENDING, NULL);
  if (turn != SST_OK) return turn;
  return sst__turn_end(stream, SST__SENDING, NULL, key_update(stream, request_peer));
}

/* ---- receiving ---- */

static sst_status may_receive(const sst_stream *stream) {
  const uint32_t state = sst__state(stream);
  if ((state & FAILED) != 0) return failure_of(stream)->code;
  if ((state & ENDED) != 0) return sst__refuse(SST_ERR_CLOSED);
  if ((state & OPEN) == 0) return sst__refuse(SST_ERR_STATE);
  if ((state & PEER_CLOSED) != 0) return SST_CLOSED;
  return (state & TRUNCATED) != 0 ? failure_of(stream)->code : SST_OK;
}

/* The end of a call that opened records. */
static sst_status received(sst_stream *stream, sst__step step, sst_progress *progress, const sst_error *error) {
  sst__count(&stream->counters, SST_COUNTER_WIRE_RECEIVED, progress->consumed);
  switch (step) {
    case SST__STEP_ROOM:
      return SST_NEED_OUTPUT;
    case SST__STEP_MORE:
      if (!atomic_load(&stream->eof)) return SST_NEED_INPUT;
      if (sst__is_early(stream)) {
        (void)sst__early_eof(stream);
      } else {
        sst__set_state(stream, TRUNCATED);
      }
      break;
    case SST__STEP_CLOSED:
      sst__set_state(stream, PEER_CLOSED);
      break;
    case SST__STEP_NO_MEMORY:
      if (progress->consumed == 0 && progress->produced == 0) return sst__refuse(SST_ERR_NO_MEMORY);
      (void)sst__publish(stream, error);
      break;
    case SST__STEP_DONE:
    case SST__STEP_WANT:
    case SST__STEP_EARLY:
    case SST__STEP_FAILED:
      (void)sst__publish(stream, error);
      break;
  }
  progress->needed = 0;
  return may_receive(stream);
}

SST__INLINE sst_status decrypt(sst_stream *stream, sst__input *in, sst__room out, sst_progress *progress) {
  if (!sst__give_kept(&stream->kept, out, progress)) return SST_NEED_OUTPUT;
  const sst_status allowed = may_receive(stream);
  if (allowed != SST_OK) return allowed;
  const bool leave_partial = (stream->options & SST_OPTION_LEAVE_PARTIAL) != 0 || atomic_load(&stream->eof);
  sst_error error;
  const sst__step step = sst__open_records(stream, in, out, leave_partial, progress, &error);
  progress->consumed = in->used;
  return received(stream, step, progress, &error);
}

sst_status sst__stream_decrypt(sst_stream *stream, const uint8_t *in, size_t in_len, sst__room out,
                               sst_progress *progress) {
  const sst_status turn = sst__turn_begin(stream, SST__RECEIVING, progress);
  if (turn != SST_OK) return turn;
  sst__input input = {.data = in, .len = in_len};
  return sst__turn_end(stream, SST__RECEIVING, progress, decrypt(stream, &input, out, progress));
}

SST__INLINE sst_status decrypt_in_place(sst_stream *stream, const sst__in_place *place, sst_progress *progress) {
  bool begun = false;
  if (sst__kept_size(&stream->kept) > 0) return sst__refuse(SST_ERR_STATE);
  const sst_status allowed = may_receive(stream);
  if (allowed != SST_OK) return allowed;
  sst_error error;
  const sst__step step = sst__open_in_place(stream, place, progress, &begun, &error);
  if (begun) return sst__refuse(SST_ERR_STATE);
  return received(stream, step, progress, &error);
}

sst_status sst__stream_decrypt_in_place(sst_stream *stream, const sst__in_place *place, sst_progress *progress) {
  const sst_status turn = sst__turn_begin(stream, SST__RECEIVING, progress);
  if (turn != SST_OK) return turn;
  return sst__turn_end(stream, SST__RECEIVING, progress, decrypt_in_place(stream, place, progress));
}

sst_status sst__stream_input_eof(sst_stream *stream) {
  const sst_status turn = sst__turn_begin(stream, SST__RECEIVING, NULL);
  if (turn != SST_OK) return turn;
  atomic_store(&stream->eof, true);
  return sst__turn_end(stream, SST__RECEIVING, NULL, SST_OK);
}
