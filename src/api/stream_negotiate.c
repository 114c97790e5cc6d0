/* The calls that only Negotiate streams have. This version makes no such stream. */
#include "error.h"
#include "stream.h"

static sst_status not_built(bool arguments_ok) {
  return sst__refuse(arguments_ok ? SST_ERR_UNSUPPORTED : SST_ERR_INVALID_ARGUMENT);
}

sst_status sst_stream_new_negotiate(sst_negotiate_config *config, int32_t role, sst_stream **stream) {
  if (stream != NULL) *stream = NULL;
  const bool known = role == SST_ROLE_CLIENT || role == SST_ROLE_SERVER;
  return not_built(config != NULL && stream != NULL && known);
}

sst_status sst_stream_set_target_name(sst_stream *stream, const char *name, size_t name_len) {
  return not_built(stream != NULL && sst__buffer_ok(name, name_len));
}

sst_status sst_stream_set_channel_binding(sst_stream *stream, const uint8_t *binding, size_t binding_len) {
  return not_built(stream != NULL && sst__buffer_ok(binding, binding_len));
}

sst_status sst_stream_get_negotiate_info(const sst_stream *stream, sst_negotiate_info *info) {
  return not_built(stream != NULL && info != NULL);
}

static sst_status name(const sst_stream *stream, const uint8_t *out, size_t out_cap, size_t *out_len) {
  if (out_len != NULL) *out_len = 0;
  return not_built(stream != NULL && out_len != NULL && sst__buffer_ok(out, out_cap));
}

sst_status sst_stream_remote_name(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len) {
  return name(stream, out, out_cap, out_len);
}

sst_status sst_stream_local_name(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len) {
  return name(stream, out, out_cap, out_len);
}

sst_negotiate_config *sst_stream_delegated_credential(sst_stream *stream) {
  (void)stream;
  return NULL;
}
