/* The handshake of a stream: from its first byte to the hand-over, with the questions that it stops for. */
#include "config.h"
#include "error.h"
#include "memory.h"
#include "stream.h"

/* What must hold before the first byte. */
static sst_status start(sst_stream *stream, sst_error *error) {
  const sst__setup *setup = stream->setup;
  const sst__host *name = setup->has_verify_name ? &setup->verify_name : &setup->server_name;
  if (stream->role == SST_ROLE_CLIENT && name->name[0] == 0 && sst__config_checks_name(stream->config)) {
    return sst__fail(error, SST_ERR_NO_EXPECTED_NAME,
                     "no server name is set, so any certificate would do: set one, or choose SST_VERIFY_CHAIN_ONLY");
  }
  if (atomic_load(&stream->eof)) {
    return sst__fail(error, SST_ERR_HANDSHAKE_EOF, "the transport ended before the handshake");
  }
  if (!stream->engine->ops->start(stream->engine, setup, stream->max_fragment)) {
    return sst__fail(error, SST_ERR_NO_MEMORY, "no memory to start the handshake");
  }
  sst__set_state(stream, SST_STATE_HANDSHAKE);
  return SST_OK;
}

bool sst__hand_over(sst_stream *stream, sst_error *error) {
  sst__engine *engine = stream->engine;
  sst__facts facts;
  engine->ops->facts(engine, &facts);
  sst__output later = {.queue = &stream->wire};
  sst__engine *next = engine->ops->hand_over(engine, &facts, &later, error);
  if (next == NULL) return false;
  stream->engine = next;
  stream->facts = facts;
  stream->established = true;
  sst__setup_free(stream);
  return true;
}

/* Without memory for the hand-over the peer, for whom the handshake may have ended, gets an alert. */
static sst_status establish(sst_stream *stream, sst__output *out) {
  sst_error error;
  if (sst__hand_over(stream, &error)) return SST_OK;
  stream->engine->ops->alert(stream->engine, error.alert_sent, out);
  return sst__publish(stream, &error);
}

/* The stream is open once the last flight is in the caller's hands. What joins the queue behind that flight is none of
   the handshake: it goes out with whatever is sent next, and nobody need wait for it. */
static sst_status finish(sst_stream *stream, sst__output *out) {
  const bool flight_waits = sst__queue_size(&stream->wire) > 0;
  if (!stream->established) {
    const sst_status status = establish(stream, out);
    if (status != SST_OK) return status;
  }
  sst__early_end(stream);
  if (flight_waits) return SST_OK;
  sst__set_state(stream, SST_STATE_OPEN);
  sst__end_state(stream, SST_STATE_HANDSHAKE);
  return SST_OK;
}

static sst_status need_input(sst_stream *stream, sst_progress *progress) {
  if (atomic_load(&stream->eof) && sst__queue_size(&stream->wire) == 0) {
    sst_error error;
    (void)sst__fail(&error, SST_ERR_HANDSHAKE_EOF, "the transport ended inside the handshake");
    return sst__publish(stream, &error);
  }
  sst__frame frame;
  stream->engine->ops->next_frame(stream->engine, NULL, 0, &frame);
  progress->needed = frame.missing;
  return SST_NEED_INPUT;
}

/* ---- questions ---- */

/* The alert for a peer that is turned away without a choice of the caller's. */
static int32_t usual_alert(const sst_stream *stream, sst_status want) {
  enum { HANDSHAKE_FAILURE = 40, CERTIFICATE_UNKNOWN = 46, INTERNAL_ERROR = 80, UNRECOGNIZED_NAME = 112 };
  sst__view verdict;
  switch (want) {
    case SST_WANT_CLIENT_HELLO:
      return UNRECOGNIZED_NAME;
    case SST_WANT_PRIVATE_KEY_OPERATION:
    case SST_WANT_EARLY_DATA_RETRY:
      return INTERNAL_ERROR;
    case SST_WANT_CERTIFICATE_VERIFY:
      if (stream->engine->ops->fact(stream->engine, SST__FACT_VERDICT, 0, &verdict)) {
        const sst_error *error = (const void *)verdict.data;
        if (error->alert_sent >= 0) return error->alert_sent;
      }
      return CERTIFICATE_UNKNOWN;
    default:
      return HANDSHAKE_FAILURE;
  }
}

static sst_status reject(sst_stream *stream, sst__output *out) {
  const sst_status want = stream->question.open;
  const int32_t chosen = stream->question.answer.alert;
  const int32_t alert = chosen >= 0 ? chosen : usual_alert(stream, want);
  sst_error error;
  (void)sst__fail(&error, SST_ERR_REJECTED, "%s at %s, with the alert %s (%d)", sst_status_text(SST_ERR_REJECTED),
                  sst_status_name(want), sst_alert_name(alert), (int)alert);
  sst__view verdict;
  if (want == SST_WANT_CERTIFICATE_VERIFY &&
      stream->engine->ops->fact(stream->engine, SST__FACT_VERDICT, 0, &verdict)) {
    error.reasons = ((const sst_error *)(const void *)verdict.data)->reasons;
  }
  error.alert_sent = alert;
  stream->engine->ops->alert(stream->engine, alert, out);
  return sst__publish(stream, &error);
}

/* What a stream takes over itself of an answer; the engine looks at the rest. false: no memory. */
static bool take_answer(sst_stream *stream) {
  sst__question *question = &stream->question;
  sst__answer *answer = &question->answer;
  if (question->open == SST_WANT_CERTIFICATE) {
    sst_credential_free(stream->credential);
    stream->credential = answer->credential;
    answer->credential = NULL;
    return true;
  }
  if (question->open != SST_WANT_CLIENT_HELLO) return true;
  sst_config_free(stream->config);
  stream->config = answer->config;
  answer->config = NULL;
  const sst__settings *settings = sst__config_settings(stream->config);
  if (!stream->setup->has_max_fragment) stream->max_fragment = settings->max_fragment;
  sst__events_report(stream->events, settings->report);
  return stream->engine->ops->adopt(stream->engine, answer->context) &&
         stream->engine->ops->start(stream->engine, stream->setup, stream->max_fragment);
}

static sst_status suspend(sst_stream *stream) {
  if (stream->engine->want == SST_WANT_EARLY_DATA_RETRY) sst__early_over(stream); /* what was sent is lost */
  sst__set_state(stream, SST_STATE_SUSPENDED); /* before somebody can answer, which takes it away */
  sst__question_put(&stream->question, stream->engine->want);
  return stream->engine->want;
}

/* ---- the call ---- */

/* A server is open, and its handshake goes on inside of decrypt; a client may send, and waits for the server. */
static sst_status begin_early(sst_stream *stream, sst_progress *progress) {
  if (stream->role == SST_ROLE_CLIENT) {
    sst__early_begin(stream);
    return need_input(stream, progress);
  }
  if (sst__queue_size(&stream->wire) > 0) return SST_OK; /* once its flight is in the caller's hands */
  sst__early_begin(stream);
  sst__set_state(stream, SST_STATE_OPEN);
  return SST_OK;
}

sst_status sst__run_handshake(sst_stream *stream, sst__input *in, sst__output *out, sst_progress *progress) {
  sst__question *question = &stream->question;
  sst_error error;
  if (sst__state(stream) == 0 && start(stream, &error) != SST_OK) return sst__publish(stream, &error);
  if (stream->established) return finish(stream, out);
  const sst_status waits = sst__question_waits(question);
  if (waits != SST_OK) return waits;
  if (question->answered && question->answer.rejected) return reject(stream, out);
  if (question->answered && !take_answer(stream)) {
    (void)sst__fail(&error, SST_ERR_NO_MEMORY, "no memory to go on with another config");
    stream->engine->ops->alert(stream->engine, error.alert_sent, out);
    return sst__publish(stream, &error);
  }
  const sst__step step = stream->engine->ops->handshake(stream->engine, in, out, &error);
  progress->consumed = in->used;
  sst__count(&stream->counters, SST_COUNTER_WIRE_RECEIVED, in->used);
  if (step == SST__STEP_WANT) return suspend(stream);
  if (step == SST__STEP_EARLY) return begin_early(stream, progress);
  if (question->open != SST_OK) sst__question_drop(question);
  if (step == SST__STEP_DONE) return finish(stream, out);
  if (stream->engine->most_early_data == 0) sst__early_over(stream); /* refused, and nobody need be asked */
  return step == SST__STEP_MORE ? need_input(stream, progress) : sst__publish(stream, &error);
}
