#include "records.h"

/* The unsealed rest of a call's input: slices, and how much of the first is used. */
typedef struct rest {
  const sst_slice *slices;
  size_t skip, left;
} rest;

/* Moves on by size bytes, and over slices that are used up. */
static void move_on(rest *in, size_t size) {
  in->left -= size;
  in->skip += size;
  while (in->left > 0 && in->skip >= in->slices->length) {
    in->skip -= in->slices->length;
    in->slices++;
  }
}

static rest rest_of(const sst_slice *slices, size_t num_slices) {
  rest in = {.slices = slices};
  for (size_t i = 0; i < num_slices; i++)
    in.left += slices[i].length;
  move_on(&in, 0);
  return in;
}

/* What waits, what is due, and one more fragment. */
static sst__step needs_room(const sst_stream *stream, sst_progress *progress, size_t fragment) {
  const sst__engine *engine = stream->engine;
  progress->needed = sst__queue_size(&stream->wire) + sst__due_size(&stream->due) +
                     (engine->update_due && !sst__due_any(&stream->due) ? engine->key_update_size : 0) +
                     engine->overhead + fragment;
  return SST__STEP_ROOM;
}

/* Only the first record of a call is shortened to fit: a full-size stream would otherwise end each call in a sliver,
   which costs a header, a tag and a system call at the peer. */
sst__step sst__seal_records(sst_stream *stream, const sst_slice *slices, size_t num_slices, sst__output *out,
                            sst_progress *progress, sst_error *error) {
  const size_t overhead = stream->engine->overhead;
  rest in = rest_of(slices, num_slices);
  while (in.left > 0) {
    const size_t whole = in.left < stream->max_fragment ? in.left : stream->max_fragment;
    if (stream->engine->update_due || sst__due_any(&stream->due)) {
      const sst__step step = stream->engine->ops->bring_out(stream->engine, true, out, error);
      if (step == SST__STEP_ROOM) return needs_room(stream, progress, whole);
      if (step != SST__STEP_DONE) return step;
      if ((sst__state(stream) & SST_STATE_FAILED) != 0)
        return SST__STEP_CLOSED; /* by the other side; its alert is out */
    }
    const size_t room = sst__output_room(out);
    const size_t fits = room > overhead ? room - overhead : 0;
    if (fits == 0 || (fits < whole && progress->consumed > 0)) {
      return needs_room(stream, progress, whole);
    }
    const size_t size = fits < whole ? fits : whole;
    const sst__step step = stream->engine->ops->seal(stream->engine, in.slices, in.skip, size, out, error);
    if (step != SST__STEP_DONE) return step;
    move_on(&in, size);
    progress->consumed += size;
    sst__count(&stream->counters, SST_COUNTER_RECORDS_SENT, 1);
    sst__count(&stream->counters, SST_COUNTER_BYTES_ENCRYPTED, size);
  }
  return SST__STEP_DONE;
}
