/* Keying material of a stream. Every thread may ask once the handshake has ended. */
#include "error.h"
#include "fork.h"
#include "stream.h"

#include <string.h>

enum { MOST_LABEL = 249, MOST_CONTEXT = 65535, MOST_KEY = 255 * 32, TLS_EXPORTER_LEN = 32 };

/* Where records go through one SSL, it is asked when nobody moves bytes through it. */
static void lock(const sst_stream *stream) {
  if (stream->engine->one_at_a_time) pthread_mutex_lock((pthread_mutex_t *)&stream->lock);
}
static void unlock(const sst_stream *stream) {
  if (stream->engine->one_at_a_time) pthread_mutex_unlock((pthread_mutex_t *)&stream->lock);
}

static bool has_finished(const sst_stream *stream) {
  return stream->facts.info.version != 0;
}

/* Without it two connections can have the same master secret (RFC 7627, 5.4). */
static bool is_unique(const sst_stream *stream) {
  return (stream->facts.info.flags & SST_INFO_EXTENDED_MASTER_SECRET) != 0;
}

static sst_status export_key(const sst_stream *stream, const sst__export *what, uint8_t *out, size_t out_len) {
  if (stream->engine->ops->export_key == NULL || !is_unique(stream)) return sst__refuse(SST_ERR_UNSUPPORTED);
  lock(stream);
  const sst_status status = stream->engine->ops->export_key(stream->engine, what, out, out_len);
  unlock(stream);
  return status;
}

/* Labels of TLS 1.2 itself (RFC 5705, 4; RFC 7627, 4). */
static bool is_reserved(const char *label, size_t label_len) {
  static const char *const reserved[] = {"client finished", "server finished", "master secret",
                                         "extended master secret", "key expansion"};
  for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
    if (strlen(reserved[i]) == label_len && memcmp(reserved[i], label, label_len) == 0) return true;
  }
  return false;
}

sst_status sst_stream_export_key(const sst_stream *stream, const char *label, size_t label_len, const uint8_t *context,
                                 size_t context_len, uint8_t *out, size_t out_cap) {
  if (stream == NULL || label == NULL || label_len == 0 || label_len > MOST_LABEL || is_reserved(label, label_len) ||
      !sst__buffer_ok(context, context_len) || context_len > MOST_CONTEXT || !sst__buffer_ok(out, out_cap) ||
      out_cap > MOST_KEY) {
    return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  }
  if (!has_finished(stream)) return sst__refuse(SST_ERR_STATE);
  const sst__export what = {.label = label, .label_len = label_len, .context = context, .context_len = context_len};
  return export_key(stream, &what, out, out_cap);
}

/* RFC 9266, 2. */
static sst_status tls_exporter(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len) {
  static const char label[] = "EXPORTER-Channel-Binding";
  const sst__export what = {.label = label, .label_len = sizeof label - 1, .context = (const uint8_t *)""};
  uint8_t binding[TLS_EXPORTER_LEN];
  const sst_status status = export_key(stream, &what, binding, sizeof binding);
  return status == SST_OK ? sst__give(binding, sizeof binding, out, out_cap, out_len) : status;
}

static bool getter_ok(const uint8_t *out, size_t out_cap, size_t *out_len) {
  if (out_len != NULL) *out_len = 0;
  return out_len != NULL && sst__buffer_ok(out, out_cap);
}

sst_status sst_stream_channel_binding(const sst_stream *stream, int32_t kind, uint8_t *out, size_t out_cap,
                                      size_t *out_len) {
  const bool known = kind >= SST_BINDING_TLS_UNIQUE && kind <= SST_BINDING_TLS_EXPORTER;
  if (!getter_ok(out, out_cap, out_len) || stream == NULL || !known) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (!has_finished(stream)) return sst__refuse(SST_ERR_STATE);
  if (kind == SST_BINDING_TLS_EXPORTER) return tls_exporter(stream, out, out_cap, out_len);
  const bool needs_unique = kind == SST_BINDING_TLS_UNIQUE;
  if (stream->engine->ops->channel_binding == NULL || (needs_unique && !is_unique(stream))) {
    return sst__refuse(SST_ERR_UNSUPPORTED);
  }
  lock(stream);
  const sst_status status = stream->engine->ops->channel_binding(stream->engine, kind, out, out_cap, out_len);
  unlock(stream);
  return status;
}

sst_status sst_stream_traffic_secret(const sst_stream *stream, int32_t direction, uint8_t *out, size_t out_cap,
                                     size_t *out_len) {
  const bool known = direction == SST_DIRECTION_SEND || direction == SST_DIRECTION_RECEIVE;
  if (!getter_ok(out, out_cap, out_len) || stream == NULL || !known) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (!has_finished(stream)) return sst__refuse(SST_ERR_STATE);
  /* A lock that another thread held at the fork is held for ever. */
  if (stream->fork_generation != sst__fork_generation()) return sst__refuse(SST_ERR_FORKED);
  if (stream->engine->ops->traffic_secret == NULL) return sst__refuse(SST_ERR_UNSUPPORTED);
  lock(stream);
  const sst_status status = stream->engine->ops->traffic_secret(stream->engine, direction, out, out_cap, out_len);
  unlock(stream);
  return status;
}
