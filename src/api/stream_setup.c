/* Making and freeing a stream, and what is set before its first byte. */
#include "config.h"
#include "error.h"
#include "fork.h"
#include "memory.h"
#include "records.h"
#include "session.h"
#include "stream.h"

/* ---- life ---- */

/* True if a server is asked which config it is to have, though it has one. */
static bool is_asked_for(const sst__settings *settings, int32_t role) {
  return role == SST_ROLE_SERVER && sst__suspends_on(settings, SST_WANT_CLIENT_HELLO);
}

static sst_stream *make(sst_config *config, int32_t role, const sst__context *context) {
  const sst__settings *settings = config == NULL ? NULL : sst__config_settings(config);
  const uint32_t report = settings == NULL ? 0 : settings->report;
  const bool waits_for_config = settings == NULL || is_asked_for(settings, role);
  sst_stream *stream = sst__alloc(sizeof *stream);
  if (stream == NULL) return NULL;
  sst__count_object(1);
  pthread_mutex_init(&stream->lock, NULL);
  stream->role = role;
  stream->config = sst_config_ref(config);
  stream->max_fragment = settings == NULL ? SST__MAX_FRAGMENT : settings->max_fragment;
  sst__question_init(&stream->question);
  stream->fork_generation = sst__fork_birth();
  stream->facts.info.size = sizeof stream->facts.info;
  stream->setup = sst__alloc(sizeof *stream->setup);
  if (report != 0 || waits_for_config) stream->events = sst__events_new(waits_for_config ? 0 : report);
  const bool has_events = (report == 0 && !waits_for_config) || stream->events != NULL;
  stream->engine = sst__context_engine(context, &stream->due, stream->events, &stream->counters, &stream->question);
  if (stream->setup != NULL && stream->engine != NULL && has_events) return stream;
  sst_stream_free(stream);
  return NULL;
}

sst_status sst_stream_new(sst_config *config, int32_t role, sst_stream **stream) {
  if (stream == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  *stream = NULL;
  if (role != SST_ROLE_CLIENT && role != SST_ROLE_SERVER) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (config == NULL && role == SST_ROLE_CLIENT) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  const sst__context *context = NULL;
  const sst_status status = config == NULL ? SST_OK : sst__config_context(config, role, &context);
  if (status != SST_OK) return status;
  if (config == NULL || is_asked_for(sst__config_settings(config), role)) context = sst__context_of_none();
  *stream = context == NULL ? NULL : make(config, role, context);
  if (*stream != NULL) return SST_OK;
  if (config == NULL) return sst__refuse(SST_ERR_NO_MEMORY);
  sst_error record;
  (void)sst__fail(&record, SST_ERR_NO_MEMORY, "no memory for a stream");
  return sst__config_fail(config, &record);
}

void sst_stream_free(sst_stream *stream) {
  if (stream == NULL) return;
  if (stream->engine != NULL) stream->engine->ops->free(stream->engine);
  sst__events_free(stream->events);
  sst__queue_free(&stream->wire);
  sst__kept_free(&stream->kept);
  sst__setup_free(stream);
  sst__stream_free_failure(stream);
  sst__question_end(&stream->question);
  sst_credential_free(stream->credential);
  sst_config_free(stream->config);
  pthread_mutex_destroy(&stream->lock);
  sst__count_object(-1);
  sst__free(stream);
}

/* ---- before the first byte ---- */

static sst_status may_set(const sst_stream *stream) {
  if (stream == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (stream->fork_generation != sst__fork_generation()) return sst__refuse(SST_ERR_FORKED);
  return sst__state(stream) == 0 ? SST_OK : sst__refuse(SST_ERR_STATE);
}

static sst_status may_set_as_client(const sst_stream *stream) {
  const sst_status allowed = may_set(stream);
  if (allowed != SST_OK) return allowed;
  return stream->role == SST_ROLE_CLIENT ? SST_OK : sst__refuse(SST_ERR_STATE);
}

sst_status sst_stream_set_options(sst_stream *stream, uint32_t options) {
  const sst_status allowed = may_set(stream);
  if (allowed != SST_OK) return allowed;
  if ((options & ~(uint32_t)SST_OPTION_LEAVE_PARTIAL) != 0) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  stream->options = options;
  return SST_OK;
}

static sst_status set_host(sst__host *host, const char *name, size_t name_len) {
  if (!sst__buffer_ok(name, name_len)) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (name_len == 0) {
    *host = (sst__host){.is_ip = false};
    return SST_OK;
  }
  return sst__host_parse(host, name, name_len) ? SST_OK : sst__refuse(SST_ERR_BAD_HOST);
}

sst_status sst_stream_set_server_name(sst_stream *stream, const char *name, size_t name_len) {
  const sst_status allowed = may_set_as_client(stream);
  if (allowed != SST_OK) return allowed;
  return set_host(&stream->setup->server_name, name, name_len);
}

sst_status sst_stream_set_verify_name(sst_stream *stream, const char *name, size_t name_len) {
  const sst_status allowed = may_set(stream);
  if (allowed != SST_OK) return allowed;
  const sst_status status = set_host(&stream->setup->verify_name, name, name_len);
  if (status == SST_OK) stream->setup->has_verify_name = name_len > 0;
  return status;
}

sst_status sst_stream_set_verify_time(sst_stream *stream, int64_t unix_s) {
  const sst_status allowed = may_set(stream);
  if (allowed != SST_OK) return allowed;
  stream->setup->verify_time = unix_s;
  stream->setup->has_verify_time = true;
  return SST_OK;
}

sst_status sst_stream_set_max_fragment(sst_stream *stream, uint32_t n) {
  const sst_status allowed = may_set(stream);
  if (allowed != SST_OK) return allowed;
  if (n < SST__MIN_FRAGMENT || n > SST__MAX_FRAGMENT) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  stream->max_fragment = n;
  stream->setup->has_max_fragment = true;
  return SST_OK;
}

sst_status sst_stream_set_session(sst_stream *stream, sst_session *session) {
  const sst_status allowed = may_set_as_client(stream);
  if (allowed != SST_OK) return allowed;
  if (session != NULL && sst__session_state(session) == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  sst_session_ref(session);
  sst_session_free(stream->setup->session);
  stream->setup->session = session;
  return SST_OK;
}

/* ---- what later versions bring ---- */

sst_status sst_stream_set_ech_config(sst_stream *stream, const uint8_t *list, size_t list_len) {
  const sst_status allowed = may_set_as_client(stream);
  if (allowed != SST_OK) return allowed;
  return sst__refuse(sst__buffer_ok(list, list_len) ? SST_ERR_UNSUPPORTED : SST_ERR_INVALID_ARGUMENT);
}
