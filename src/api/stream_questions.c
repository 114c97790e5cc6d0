/* Questions and their answers. In this version none is asked: getters give "none", answers are out of state. */
#include "error.h"
#include "stream.h"

static sst_status none(const sst_stream *stream, const void *out, size_t out_cap, size_t *out_len) {
  if (out_len != NULL) *out_len = 0;
  const bool bad = stream == NULL || out_len == NULL || !sst__buffer_ok(out, out_cap);
  return bad ? sst__refuse(SST_ERR_INVALID_ARGUMENT) : SST_OK;
}

/* Checks what an answer brings; then there is no question that it answers. */
static sst_status not_asked(const sst_stream *stream, bool arguments_ok) {
  return sst__refuse(stream != NULL && arguments_ok ? SST_ERR_STATE : SST_ERR_INVALID_ARGUMENT);
}

sst_status sst_stream_client_hello(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len) {
  return none(stream, out, out_cap, out_len);
}

sst_status sst_stream_client_hello_list(const sst_stream *stream, int32_t list, uint16_t *out, size_t out_cap,
                                        size_t *out_len) {
  if (list < SST_HELLO_SUITES || list > SST_HELLO_VERSIONS) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return none(stream, out, out_cap, out_len);
}

sst_status sst_stream_client_hello_alpn(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap,
                                        size_t *out_len) {
  (void)index;
  return none(stream, out, out_cap, out_len);
}

sst_status sst_stream_client_hello_extension(const sst_stream *stream, uint16_t type, uint8_t *out, size_t out_cap,
                                             size_t *out_len) {
  (void)type;
  return none(stream, out, out_cap, out_len);
}

sst_status sst_stream_accepted_schemes(const sst_stream *stream, uint16_t *out, size_t out_cap, size_t *out_len) {
  return none(stream, out, out_cap, out_len);
}

sst_status sst_stream_accepted_ca(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap,
                                  size_t *out_len) {
  (void)index;
  return none(stream, out, out_cap, out_len);
}

sst_status sst_stream_verdict(const sst_stream *stream, sst_error *error) {
  return not_asked(stream, error != NULL);
}

sst_status sst_stream_private_key_operation(const sst_stream *stream, int32_t *operation, uint16_t *scheme,
                                            uint8_t *out, size_t out_cap, size_t *out_len) {
  if (out_len != NULL) *out_len = 0;
  return not_asked(stream, operation != NULL && scheme != NULL && out_len != NULL && sst__buffer_ok(out, out_cap));
}

sst_status sst_stream_ticket(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len) {
  return none(stream, out, out_cap, out_len);
}

sst_status sst_stream_session_id(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len) {
  return none(stream, out, out_cap, out_len);
}

sst_status sst_stream_set_config(sst_stream *stream, sst_config *config) {
  return not_asked(stream, config != NULL);
}

sst_status sst_stream_set_credential(sst_stream *stream, sst_credential *credential) {
  (void)credential;
  return not_asked(stream, true);
}

sst_status sst_stream_accept(sst_stream *stream) {
  return not_asked(stream, true);
}

sst_status sst_stream_accept_default(sst_stream *stream) {
  return not_asked(stream, true);
}

sst_status sst_stream_reject(sst_stream *stream, int32_t alert) {
  return not_asked(stream, alert == -1 || (alert >= 1 && alert <= 255));
}

sst_status sst_stream_set_signature(sst_stream *stream, const uint8_t *signature, size_t signature_len) {
  return not_asked(stream, sst__buffer_ok(signature, signature_len));
}

sst_status sst_stream_set_ticket_plaintext(sst_stream *stream, const uint8_t *plaintext, size_t plaintext_len) {
  return not_asked(stream, sst__buffer_ok(plaintext, plaintext_len));
}

sst_status sst_stream_ignore_ticket(sst_stream *stream) {
  return not_asked(stream, true);
}

sst_status sst_stream_answer_session(sst_stream *stream, sst_session *session) {
  (void)session;
  return not_asked(stream, true);
}

sst_status sst_stream_continue_without_early_data(sst_stream *stream) {
  return not_asked(stream, true);
}
