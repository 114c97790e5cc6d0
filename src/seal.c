#include "records.h"

/* The unsealed rest of a call's input: slices, the first of them perhaps begun. */
typedef struct rest {
  sst_slice first;
  const sst_slice *others;
  size_t num_others, left;
} rest;

/* Moves on by size bytes, and over slices that are used up or empty. */
static void skip(rest *in, size_t size) {
  in->left -= size;
  while (size >= in->first.length && in->num_others > 0) {
    size -= in->first.length;
    in->first = *in->others++;
    in->num_others--;
  }
  if (size > 0) in->first = (sst_slice){in->first.data + size, in->first.length - size};
}

static rest rest_of(const sst_slice *slices, size_t num_slices) {
  rest in = {.others = slices, .num_others = num_slices};
  for (size_t i = 0; i < num_slices; i++)
    in.left += slices[i].length;
  skip(&in, 0);
  return in;
}

/* Seals about size bytes as one record and returns how many it took. A record lies in one slice or spans a few; over very
   many tiny slices it is shorter. */
static sst__step seal(sst_stream *stream, rest *in, size_t size, size_t *taken, sst__output *out, sst_error *error) {
  enum { MOST = 16 };
  sst_slice span[MOST] = {in->first};
  size_t covered = in->first.length;
  for (size_t i = 0; covered < size && i < in->num_others && i + 1 < MOST; i++) {
    span[i + 1] = in->others[i];
    covered += in->others[i].length;
  }
  *taken = size < covered ? size : covered;
  const sst__step step = stream->engine->ops->seal(stream->engine, span, *taken, out, error);
  if (step == SST__STEP_DONE) skip(in, *taken);
  return step;
}

/* Only the first record of a call is shortened to fit: a full-size stream would otherwise end each call in a sliver, which
   costs a header, a tag and a system call at the peer. */
sst__step sst__seal_records(sst_stream *stream, const sst_slice *slices, size_t num_slices, sst__output *out,
                            sst_progress *progress, sst_error *error) {
  const size_t overhead = stream->engine->overhead;
  rest in = rest_of(slices, num_slices);
  while (in.left > 0) {
    const size_t whole = in.left < stream->max_fragment ? in.left : stream->max_fragment;
    const size_t room = sst__output_room(out);
    const size_t fits = room > overhead ? room - overhead : 0;
    if (fits == 0 || (fits < whole && progress->consumed > 0)) {
      progress->needed = sst__queue_size(&stream->wire) + overhead + whole;
      return SST__STEP_ROOM;
    }
    size_t taken;
    const sst__step step = seal(stream, &in, fits < whole ? fits : whole, &taken, out, error);
    if (step != SST__STEP_DONE) return step;
    progress->consumed += taken;
    sst__count(&stream->counters, SST_COUNTER_RECORDS_SENT, 1);
    sst__count(&stream->counters, SST_COUNTER_BYTES_ENCRYPTED, taken);
  }
  return SST__STEP_DONE;
}
