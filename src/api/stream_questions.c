/* Questions: what they are about. A fact is copied under the question's lock, while the engine stands still. */
#include <string.h>

#include "error.h"
#include "stream.h"

/* The stream is const for the caller, the lock is not. */
static sst__question *question_of(const sst_stream *stream) {
  return (sst__question *)&stream->question;
}

static bool show(const sst_stream *stream, sst__fact fact, size_t index, sst__view *view) {
  return stream->engine->ops->fact(stream->engine, fact, index, view);
}

/* The body of getters that give none while their question is not open. */
static sst_status give(const sst_stream *stream, sst_status want, sst__fact fact, size_t index, uint8_t *out,
                       size_t out_cap, size_t *out_len) {
  if (out_len != NULL) *out_len = 0;
  if (stream == NULL || out_len == NULL || !sst__buffer_ok(out, out_cap)) {
    return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  }
  if (!sst__question_hold(question_of(stream), want)) return SST_OK;
  sst__view view;
  const bool shown = show(stream, fact, index, &view);
  const sst_status status = shown ? sst__give(view.data, view.len, out, out_cap, out_len) : SST_OK;
  sst__question_release(question_of(stream));
  return status;
}

sst_status sst_stream_client_hello(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len) {
  return give(stream, SST_WANT_CLIENT_HELLO, SST__FACT_CLIENT_HELLO, 0, out, out_cap, out_len);
}

sst_status sst_stream_client_hello_alpn(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap,
                                        size_t *out_len) {
  return give(stream, SST_WANT_CLIENT_HELLO, SST__FACT_HELLO_ALPN, index, out, out_cap, out_len);
}

sst_status sst_stream_client_hello_extension(const sst_stream *stream, uint16_t type, uint8_t *out, size_t out_cap,
                                             size_t *out_len) {
  return give(stream, SST_WANT_CLIENT_HELLO, SST__FACT_HELLO_EXTENSION, type, out, out_cap, out_len);
}

sst_status sst_stream_accepted_ca(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap,
                                  size_t *out_len) {
  return give(stream, SST_WANT_CERTIFICATE, SST__FACT_ACCEPTED_CA, index, out, out_cap, out_len);
}

sst_status sst_stream_ticket(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len) {
  return give(stream, SST_WANT_TICKET_DECRYPT, SST__FACT_TICKET, 0, out, out_cap, out_len);
}

sst_status sst_stream_session_id(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len) {
  return give(stream, SST_WANT_SESSION, SST__FACT_SESSION_ID, 0, out, out_cap, out_len);
}

/* ---- lists of numbers ---- */

static uint16_t number_at(const sst__view *view, size_t index, bool as_on_wire) {
  const uint8_t *at = view->data + 2 * index;
  uint16_t number;
  memcpy(&number, at, sizeof number);
  return as_on_wire ? (uint16_t)((unsigned)at[0] << 8 | at[1]) : number;
}

static sst_status give_numbers(const sst_stream *stream, sst_status want, sst__fact fact, size_t index, uint16_t *out,
                               size_t out_cap, size_t *out_len) {
  const bool bad_cap = out_cap > (size_t)PTRDIFF_MAX / sizeof *out;
  if (out_len != NULL) *out_len = 0;
  if (stream == NULL || out_len == NULL || bad_cap || !sst__buffer_ok(out, out_cap)) {
    return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  }
  if (!sst__question_hold(question_of(stream), want)) return SST_OK;
  sst__view view;
  sst_status status = SST_OK;
  if (show(stream, fact, index, &view)) {
    *out_len = view.len / 2;
    if (*out_len > out_cap) status = SST_NEED_OUTPUT;
    for (size_t i = 0; status == SST_OK && i < *out_len; i++)
      out[i] = number_at(&view, i, fact == SST__FACT_HELLO_LIST);
  }
  sst__question_release(question_of(stream));
  return status;
}

sst_status sst_stream_client_hello_list(const sst_stream *stream, int32_t list, uint16_t *out, size_t out_cap,
                                        size_t *out_len) {
  if (list < SST_HELLO_SUITES || list > SST_HELLO_VERSIONS) {
    if (out_len != NULL) *out_len = 0;
    return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  }
  return give_numbers(stream, SST_WANT_CLIENT_HELLO, SST__FACT_HELLO_LIST, (size_t)list, out, out_cap, out_len);
}

sst_status sst_stream_accepted_schemes(const sst_stream *stream, uint16_t *out, size_t out_cap, size_t *out_len) {
  return give_numbers(stream, SST_WANT_CERTIFICATE, SST__FACT_ACCEPTED_SCHEMES, 0, out, out_cap, out_len);
}

/* ---- those that need their question ---- */

sst_status sst_stream_verdict(const sst_stream *stream, sst_error *error) {
  if (stream == NULL || error == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (!sst__question_hold(question_of(stream), SST_WANT_CERTIFICATE_VERIFY)) return sst__refuse(SST_ERR_STATE);
  sst__view view;
  (void)show(stream, SST__FACT_VERDICT, 0, &view);
  const sst_status status = sst__error_get((const sst_error *)(const void *)view.data, error);
  sst__question_release(question_of(stream));
  return status;
}

sst_status sst_stream_private_key_operation(const sst_stream *stream, int32_t *operation, uint16_t *scheme,
                                            uint8_t *out, size_t out_cap, size_t *out_len) {
  if (out_len != NULL) *out_len = 0;
  if (stream == NULL || operation == NULL || scheme == NULL || out_len == NULL || !sst__buffer_ok(out, out_cap)) {
    return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  }
  if (!sst__question_hold(question_of(stream), SST_WANT_PRIVATE_KEY_OPERATION)) return sst__refuse(SST_ERR_STATE);
  sst__view view;
  (void)show(stream, SST__FACT_OPERATION, 0, &view);
  *operation = SST_OPERATION_SIGN;
  *scheme = view.is_for;
  const sst_status status = sst__give(view.data, view.len, out, out_cap, out_len);
  sst__question_release(question_of(stream));
  return status;
}
