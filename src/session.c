/* Sessions: made, counted and freed; what is in them comes with resumption. */
#include "error.h"
#include "object.h"

struct sst_session {
  sst__object object;
};

sst_session *sst_session_new(void) {
  return sst__object_new(sizeof(sst_session));
}

sst_session *sst_session_ref(sst_session *session) {
  if (session != NULL) sst__object_ref(&session->object);
  return session;
}

void sst_session_free(sst_session *session) {
  if (session != NULL && sst__object_unref(&session->object)) sst__object_end(&session->object);
}

sst_status sst_session_load(sst_session *session, const uint8_t *bytes, size_t bytes_len) {
  if (session == NULL || !sst__buffer_ok(bytes, bytes_len)) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return sst__refuse(SST_ERR_UNSUPPORTED);
}

sst_status sst_session_to_bytes(const sst_session *session, uint8_t *out, size_t out_cap, size_t *out_len) {
  if (out_len != NULL) *out_len = 0;
  if (session == NULL || out_len == NULL || !sst__buffer_ok(out, out_cap)) {
    return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  }
  return sst__refuse(SST_ERR_UNSUPPORTED);
}

sst_status sst_session_get_info(const sst_session *session, sst_session_info *info) {
  if (session == NULL || info == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return sst__refuse(SST_ERR_UNSUPPORTED);
}

sst_status sst_session_set_reusable(sst_session *session, int32_t on) {
  if (session == NULL || (on != 0 && on != 1)) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return sst__refuse(SST_ERR_UNSUPPORTED);
}

sst_status sst_session_last_error(const sst_session *session, sst_error *error) {
  if (session == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return sst__error_get(&session->object.last, error);
}
