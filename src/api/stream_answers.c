/* Questions: the answers. Each checks what it brings, and posts it once; the next handshake call takes it. */
#include "config.h"
#include "credential.h"
#include "error.h"
#include "fork.h"
#include "memory.h"
#include "session.h"
#include "stream.h"

static sst_status may_answer(const sst_stream *stream, bool arguments_ok) {
  if (stream == NULL || !arguments_ok) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return stream->fork_generation == sst__fork_generation() ? SST_OK : sst__refuse(SST_ERR_FORKED);
}

static sst_status give(sst_stream *stream, sst_status want, const sst__answer *answer) {
  return sst__question_give(&stream->question, want, answer, &stream->state);
}

sst_status sst_stream_set_config(sst_stream *stream, sst_config *config) {
  sst__answer answer = {.rejected = false};
  sst_status status = may_answer(stream, config != NULL);
  if (status != SST_OK) return status;
  /* Looked at before the config is frozen, and again when the answer is given. */
  if (sst__question_waits(&stream->question) != SST_WANT_CLIENT_HELLO) return sst__refuse(SST_ERR_STATE);
  status = sst__config_context(config, SST_ROLE_SERVER, &answer.context);
  if (status != SST_OK) return status;
  answer.config = sst_config_ref(config);
  status = give(stream, SST_WANT_CLIENT_HELLO, &answer);
  if (status != SST_OK) sst_config_free(config);
  return status;
}

sst_status sst_stream_set_credential(sst_stream *stream, sst_credential *credential) {
  sst_status status = may_answer(stream, true);
  if (status != SST_OK) return status;
  if (sst__question_waits(&stream->question) != SST_WANT_CERTIFICATE) return sst__refuse(SST_ERR_STATE);
  sst__answer answer = {.credential = credential};
  if (credential != NULL) {
    answer.identity = sst__credential_identity(credential);
    if (!sst__identity_is_complete(answer.identity)) return sst__refuse(SST_ERR_NO_CREDENTIAL);
    const uint32_t bits = sst__identity_rsa_bits(answer.identity);
    const uint32_t least = sst__config_settings(stream->config)->minimum_rsa_bits;
    if (bits != 0 && bits < least) return sst__refuse(SST_ERR_UNSUPPORTED_KEY);
    sst__credential_freeze(credential);
    (void)sst_credential_ref(credential);
  }
  status = give(stream, SST_WANT_CERTIFICATE, &answer);
  if (status != SST_OK) sst_credential_free(credential);
  return status;
}

sst_status sst_stream_accept(sst_stream *stream) {
  const sst_status status = may_answer(stream, true);
  return status != SST_OK ? status : give(stream, SST_WANT_CERTIFICATE_VERIFY, &(sst__answer){.accepted = true});
}

sst_status sst_stream_accept_default(sst_stream *stream) {
  const sst_status status = may_answer(stream, true);
  return status != SST_OK ? status : give(stream, SST_WANT_CERTIFICATE_VERIFY, &(sst__answer){.accepted = false});
}

sst_status sst_stream_reject(sst_stream *stream, int32_t alert) {
  const sst_status status = may_answer(stream, alert == -1 || (alert >= 1 && alert <= 255));
  return status != SST_OK ? status : give(stream, SST_OK, &(sst__answer){.rejected = true, .alert = alert});
}

/* Answers that are bytes. */
static sst_status give_bytes(sst_stream *stream, sst_status want, const uint8_t *data, size_t len) {
  sst_status status = may_answer(stream, sst__buffer_ok(data, len));
  if (status != SST_OK) return status;
  if (sst__question_waits(&stream->question) != want) return sst__refuse(SST_ERR_STATE);
  sst__answer answer = {.bytes = sst__copy(data, len), .len = len};
  if (answer.bytes == NULL) return sst__refuse(SST_ERR_NO_MEMORY);
  status = give(stream, want, &answer);
  if (status != SST_OK) sst__free(answer.bytes);
  return status;
}

sst_status sst_stream_set_signature(sst_stream *stream, const uint8_t *signature, size_t signature_len) {
  return give_bytes(stream, SST_WANT_PRIVATE_KEY_OPERATION, signature, signature_len);
}

sst_status sst_stream_set_ticket_plaintext(sst_stream *stream, const uint8_t *plaintext, size_t plaintext_len) {
  return give_bytes(stream, SST_WANT_TICKET_DECRYPT, plaintext, plaintext_len);
}

sst_status sst_stream_ignore_ticket(sst_stream *stream) {
  const sst_status status = may_answer(stream, true);
  return status != SST_OK ? status : give(stream, SST_WANT_TICKET_DECRYPT, &(sst__answer){.len = 0});
}

sst_status sst_stream_answer_session(sst_stream *stream, sst_session *session) {
  sst_status status = may_answer(stream, session == NULL || sst__session_state(session) != NULL);
  if (status != SST_OK) return status;
  status = give(stream, SST_WANT_SESSION, &(sst__answer){.session = sst_session_ref(session)});
  if (status != SST_OK) sst_session_free(session);
  return status;
}

sst_status sst_stream_continue_without_early_data(sst_stream *stream) {
  const sst_status status = may_answer(stream, true);
  return status != SST_OK ? status : give(stream, SST_WANT_EARLY_DATA_RETRY, &(sst__answer){.len = 0});
}
