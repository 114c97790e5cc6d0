/* The calls that move bytes: arguments are checked here, the state is stream.c's matter. */
#include "error.h"
#include "stream.h"

enum { HIGHEST_ALERT = 255 };

/* As whole regions, whatever of them a call would touch. Compared as numbers: they need not be parts of one object. */
static bool overlap(const void *a, size_t a_len, const void *b, size_t b_len) {
  const uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
  if (a_len == 0 || b_len == 0) return false;
  return first < second ? second - first < a_len : first - second < b_len;
}

static bool buffers_ok(const void *in, size_t in_len, const void *out, size_t out_cap) {
  return sst__buffer_ok(in, in_len) && sst__buffer_ok(out, out_cap) && !overlap(in, in_len, out, out_cap);
}

static sst_status bad_argument(sst_progress *progress) {
  if (progress != NULL) *progress = (sst_progress){0};
  return sst__refuse(SST_ERR_INVALID_ARGUMENT);
}

sst_status sst_stream_handshake(sst_stream *stream, const uint8_t *in, size_t in_len, uint8_t *out, size_t out_cap,
                                sst_progress *progress) {
  if (stream == NULL || progress == NULL || !buffers_ok(in, in_len, out, out_cap)) return bad_argument(progress);
  return sst__stream_handshake(stream, in, in_len, (sst__room){out, out_cap}, progress);
}

SST__INLINE sst_status encrypt(sst_stream *stream, const sst_slice *slices, size_t num_slices, uint8_t *out,
                               size_t out_cap, sst_progress *progress) {
  size_t total = 0;
  if (stream == NULL || progress == NULL || !sst__buffer_ok(out, out_cap)) return bad_argument(progress);
  if (num_slices > (size_t)PTRDIFF_MAX / sizeof *slices || (slices == NULL && num_slices > 0)) {
    return bad_argument(progress);
  }
  for (size_t i = 0; i < num_slices; i++) {
    if (!buffers_ok(slices[i].data, slices[i].length, out, out_cap)) return bad_argument(progress);
    if (slices[i].length > (size_t)PTRDIFF_MAX - total) return bad_argument(progress);
    total += slices[i].length;
  }
  return sst__stream_encrypt(stream, slices, num_slices, (sst__room){out, out_cap}, progress);
}

sst_status sst_stream_encryptv(sst_stream *stream, const sst_slice *slices, size_t num_slices, uint8_t *out,
                               size_t out_cap, sst_progress *progress) {
  return encrypt(stream, slices, num_slices, out, out_cap, progress);
}

sst_status sst_stream_encrypt2(sst_stream *stream, const uint8_t *head, size_t head_len, const uint8_t *body,
                               size_t body_len, uint8_t *out, size_t out_cap, sst_progress *progress) {
  const sst_slice slices[2] = {{head, head_len}, {body, body_len}};
  return encrypt(stream, slices, 2, out, out_cap, progress);
}

sst_status sst_stream_encrypt(sst_stream *stream, const uint8_t *in, size_t in_len, uint8_t *out, size_t out_cap,
                              sst_progress *progress) {
  const sst_slice slice = {in, in_len};
  return encrypt(stream, &slice, 1, out, out_cap, progress);
}

sst_status sst_stream_decrypt(sst_stream *stream, const uint8_t *in, size_t in_len, uint8_t *out, size_t out_cap,
                              sst_progress *progress) {
  if (stream == NULL || progress == NULL || !buffers_ok(in, in_len, out, out_cap)) return bad_argument(progress);
  return sst__stream_decrypt(stream, in, in_len, (sst__room){out, out_cap}, progress);
}

sst_status sst_stream_decrypt_in_place(sst_stream *stream, uint8_t *buf, size_t buf_len, sst_range *ranges,
                                       size_t num_ranges, size_t *ranges_used, sst_progress *progress) {
  if (ranges_used != NULL) *ranges_used = 0;
  if (stream == NULL || progress == NULL || ranges_used == NULL || !sst__buffer_ok(buf, buf_len)) {
    return bad_argument(progress);
  }
  if (num_ranges > (size_t)PTRDIFF_MAX / sizeof *ranges || (ranges == NULL && num_ranges > 0)) {
    return bad_argument(progress);
  }
  const sst__in_place place = {buf, buf_len, ranges, num_ranges, ranges_used};
  return sst__stream_decrypt_in_place(stream, &place, progress);
}

sst_status sst_stream_flush(sst_stream *stream, uint8_t *out, size_t out_cap, sst_progress *progress) {
  if (stream == NULL || progress == NULL || !sst__buffer_ok(out, out_cap)) return bad_argument(progress);
  return sst__stream_flush(stream, (sst__room){out, out_cap}, progress);
}

sst_status sst_stream_close(sst_stream *stream, uint8_t *out, size_t out_cap, sst_progress *progress) {
  if (stream == NULL || progress == NULL || !sst__buffer_ok(out, out_cap)) return bad_argument(progress);
  return sst__stream_close(stream, (sst__room){out, out_cap}, progress);
}

sst_status sst_stream_abort(sst_stream *stream, int32_t alert) {
  if (stream == NULL || alert < 1 || alert > HIGHEST_ALERT) return bad_argument(NULL);
  return sst__stream_abort(stream, alert);
}

sst_status sst_stream_input_eof(sst_stream *stream) {
  return stream == NULL ? bad_argument(NULL) : sst__stream_input_eof(stream);
}

sst_status sst_stream_key_update(sst_stream *stream, int32_t request_peer) {
  if (stream == NULL || request_peer < 0 || request_peer > 1) return bad_argument(NULL);
  return sst__stream_key_update(stream, request_peer == 1);
}

static size_t add(size_t a, size_t b) {
  return b > SIZE_MAX - a ? SIZE_MAX : a + b;
}

size_t sst_stream_encrypted_size(const sst_stream *stream, size_t n) {
  enum { KEY_UPDATES = 2 }; /* an answer, and one of our own */
  if (stream == NULL) return 0;
  const sst__engine *engine = stream->engine;
  const size_t records = n / stream->max_fragment + (n % stream->max_fragment != 0 ? 1 : 0);
  const size_t extra = records > SIZE_MAX / engine->overhead ? SIZE_MAX : records * engine->overhead;
  size_t updates = KEY_UPDATES;
  if (engine->records_per_key > 0 && records >= engine->records_per_key) updates += records / engine->records_per_key;
  const size_t waiting =
      sst__queue_size(&stream->wire) + sst__due_size(&stream->due) + updates * engine->key_update_size;
  return add(add(n, extra), waiting);
}
