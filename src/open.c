#include "records.h"

#include <string.h>

#include "error.h"
#include "memory.h"

void sst__kept_free(sst__kept *kept) {
  sst__free(kept->data);
  kept->data = NULL;
  kept->begin = kept->end = 0;
  atomic_store_explicit(&kept->size, 0, memory_order_relaxed);
}

bool sst__give_kept(sst__kept *kept, sst__room out, sst_progress *progress) {
  const size_t waiting = sst__kept_size(kept);
  if (waiting == 0) return true;
  const size_t room = out.cap - progress->produced;
  const size_t size = waiting < room ? waiting : room;
  if (size > 0) memcpy(out.data + progress->produced, kept->data + kept->begin, size);
  progress->produced += size;
  kept->begin += size;
  if (kept->begin == kept->end) {
    sst__kept_free(kept);
    return true;
  }
  atomic_store_explicit(&kept->size, kept->end - kept->begin, memory_order_relaxed);
  progress->needed = kept->end - kept->begin;
  return false;
}

static void count_received(sst_stream *stream, size_t len) {
  sst__count(&stream->counters, SST_COUNTER_RECORDS_RECEIVED, 1);
  sst__count(&stream->counters, SST_COUNTER_BYTES_DECRYPTED, len);
}

/* Opens one frame: frame.length bytes of in. */
static sst__step open_one(sst_stream *stream, sst__input *in, const sst__frame *frame, sst__room out, size_t *produced,
                          sst_error *error) {
  sst__input one = {.data = in->data == NULL ? NULL : in->data + in->used, .len = frame->length};
  sst__output answers = {.queue = &stream->wire}; /* no wire bytes into the caller's plaintext */
  const sst__step step =
      stream->engine->ops->open(stream->engine, &one, out.data, out.cap, produced, &stream->kept, &answers, error);
  in->used += one.used;
  /* Every call must get on: else a frame that the engine and next_frame see differently would be tried for ever. */
  if (frame->whole && one.used == 0 && step == SST__STEP_MORE) {
    (void)sst__fail(error, SST_ERR_INTERNAL, "a record of %zu bytes was not taken", frame->length);
    return SST__STEP_FAILED;
  }
  if (frame->whole && step != SST__STEP_NO_MEMORY) count_received(stream, *produced + sst__kept_size(&stream->kept));
  return step;
}

/* Nothing is left of the input, and nothing is begun. */
static bool is_used_up(const sst_stream *stream, size_t used, size_t len, sst_progress *progress) {
  if (used < len || stream->engine->frame_header == 0) return false;
  progress->needed = stream->engine->frame_header;
  return true;
}

static void next_frame(const sst_stream *stream, const sst__input *in, sst__frame *frame) {
  const uint8_t *data = in->data == NULL ? NULL : in->data + in->used;
  stream->engine->ops->next_frame(stream->engine, data, in->len - in->used, frame);
}

/* Behind a frame without data: 0-RTT may be over. FAILED; ROOM: it is, and what comes now must not be mixed with the
   early data that this call has given; MORE: go on. */
static sst__step confirm(sst_stream *stream, const sst_progress *progress, bool more_waits, sst_error *error) {
  if (!sst__is_early(stream)) return SST__STEP_MORE;
  stream->early_given = progress->produced > 0; /* for the flag, if 0-RTT ends now */
  if (!sst__early_confirm(stream, error)) {
    if (!sst__is_early(stream)) return SST__STEP_FAILED;
    sst__output queue_only = {.queue = &stream->wire};
    stream->engine->ops->alert(stream->engine, error->alert_sent, &queue_only);
    return SST__STEP_FAILED;
  }
  return !sst__is_early(stream) && progress->produced > 0 && more_waits ? SST__STEP_ROOM : SST__STEP_MORE;
}

sst__step sst__open_records(sst_stream *stream, sst__input *in, sst__room out, bool leave_partial,
                            sst_progress *progress, sst_error *error) {
  for (;;) {
    if (sst__kept_size(&stream->kept) > 0) {
      progress->needed = sst__kept_size(&stream->kept);
      return SST__STEP_ROOM;
    }
    sst__frame frame;
    next_frame(stream, in, &frame);
    progress->needed = frame.missing;
    if (!frame.whole && (leave_partial || frame.length == 0)) return SST__STEP_MORE;

    const size_t room = out.cap - progress->produced;
    if (frame.whole && frame.plaintext_max > room && progress->produced > 0) {
      progress->needed = frame.plaintext_max;
      return SST__STEP_ROOM;
    }
    const sst__room left = {.data = room > 0 ? out.data + progress->produced : NULL, .cap = room};
    size_t produced = 0;
    const sst__step step = open_one(stream, in, &frame, left, &produced, error);
    progress->produced += produced;
    if (step != SST__STEP_DONE && step != SST__STEP_MORE) return step;
    if (!frame.whole) return SST__STEP_MORE;
    const sst__step next = step == SST__STEP_MORE ? confirm(stream, progress, in->used < in->len, error) : step;
    if (next == SST__STEP_ROOM) progress->needed = SST__MAX_FRAGMENT;
    if (next == SST__STEP_ROOM || next == SST__STEP_FAILED) return next;
    if (sst__kept_size(&stream->kept) == 0 && is_used_up(stream, in->used, in->len, progress)) return SST__STEP_MORE;
  }
}

sst__step sst__open_in_place(sst_stream *stream, const sst__in_place *place, sst_progress *progress, bool *begun,
                             sst_error *error) {
  const sst__input all = {.data = place->data, .len = place->len};
  sst__output answers = {.queue = &stream->wire};
  for (size_t used = 0;;) {
    sst__frame frame;
    const sst__input in = {.data = all.data, .len = all.len, .used = used};
    next_frame(stream, &in, &frame);
    *begun = frame.begun;
    if (frame.begun) return SST__STEP_MORE;
    progress->needed = frame.missing;
    if (!frame.whole) return SST__STEP_MORE;
    if (*place->ranges_used == place->num_ranges) return SST__STEP_ROOM;

    size_t offset = 0, produced = 0;
    const sst__step step = stream->engine->ops->open_in_place(stream->engine, place->data + used, frame.length, &offset,
                                                              &produced, &answers, error);
    count_received(stream, produced);
    progress->consumed = used + frame.length;
    progress->produced += produced;
    if (produced > 0) place->ranges[(*place->ranges_used)++] = (sst_range){.offset = used + offset, .length = produced};
    if (step != SST__STEP_DONE && step != SST__STEP_MORE) return step;
    used += frame.length;
    const sst__step next = step == SST__STEP_MORE ? confirm(stream, progress, used < place->len, error) : step;
    if (next == SST__STEP_ROOM || next == SST__STEP_FAILED) return next;
    if (is_used_up(stream, used, place->len, progress)) return SST__STEP_MORE;
  }
}
