#include "trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void trace_add(Trace *trace, const char *format, ...) {
  enum { LINE = 256 };
  va_list arguments;
  if (trace->cap - trace->len < LINE) {
    trace->cap = 2 * trace->cap + LINE;
    trace->text = test_reallocate(trace->text, trace->cap);
  }
  va_start(arguments, format);
  const int wrote = vsnprintf(trace->text + trace->len, LINE, format, arguments);
  va_end(arguments);
  REQUIRE(wrote >= 0 && wrote < LINE);
  trace->len += (size_t)wrote;
}

void trace_free(Trace *trace) {
  free(trace->text);
  *trace = (Trace){.text = NULL};
}

static int line_length(const char *line) {
  return (int)strcspn(line, "\n");
}

void trace_compare(const Trace *got, const Trace *expected) {
  const char *a = got->text, *b = expected->text;
  if (!EXPECT(strcmp(a, b) == 0)) {
    while (line_length(a) == line_length(b) && strncmp(a, b, (size_t)line_length(a) + 1) == 0) {
      a += line_length(a) + 1;
      b += line_length(b) + 1;
    }
    FAIL("expected '%.*s', got '%.*s'", line_length(b), b, line_length(a), a);
  }
}

void trace_events(Trace *trace, Side *side) {
  for (;;) {
    char text[512] = "";
    sst_event event = {.size = sizeof event};
    const sst_status status = sst_stream_next_event(side->stream, &event, (uint8_t *)text, sizeof text - 1);
    if (status == SST_NONE) return;
    REQUIRE_STATUS(status, SST_OK);
    if (event.kind == SST_EVENT_KEY_LOG) *strchr(text, ' ') = '\0';
    trace_add(trace, "%s event %u %" PRIu64 " %s\n", side->label, event.kind, event.value,
              event.kind == SST_EVENT_KEY_LOG ? text : "");
  }
}

void trace_facts(Trace *trace, const Side *side) {
  const sst_stream_info info = info_of(side);
  trace_add(trace, "%s is %x, version %x, suite %x, group %u, schemes %x %x, flags %x, alpn '%s', code %d\n",
            side->label, sst_stream_state(side->stream), info.version, info.suite, info.group, info.peer_scheme,
            info.local_scheme, info.flags, side_text(side, sst_stream_alpn), error_of(side).code);
}

void trace_received(Trace *trace, Side *side) {
  uint32_t sum = 2166136261u;
  for (size_t i = 0; i < side->received_len; i++)
    sum = (sum ^ side->received[i]) * 16777619u;
  trace_add(trace, "%s has %zu bytes of sum %08x\n", side->label, side->received_len, sum);
  side->received_len = 0;
}

void trace_records(Trace *trace, const char *label, const Wire *wire) {
  enum { MOST = 256 };
  static Record records[MOST];
  const size_t count = records_parse(wire->bytes, wire->len, records, MOST);
  REQUIRE(count <= MOST);
  trace_add(trace, "%s sent", label);
  for (size_t i = 0; i < count; i++)
    trace_add(trace, " %u:%u", records[i].type, records[i].length);
  trace_add(trace, "\n");
}

/* ---- feeding ---- */

typedef sst_status (*Step)(Side *side);

/* Lets step see only the first len bytes that wait. */
static sst_status with_part(Side *side, size_t len, Step step) {
  const size_t all = side->in->len;
  side->in->len = side->in->taken + len;
  const sst_status status = step(side);
  side->in->len = all;
  return status;
}

/* Pieces of just what the last status asked for. What is asked for must be there, or the record would be longer than it
   says: the wire holds whole records. */
static sst_status feed_exactly(Side *side, Step step) {
  size_t given = 0; /* of what waits; LEAVE_PARTIAL leaves it there */
  sst_status status = with_part(side, 0, step);
  while (status == SST_NEED_INPUT && given < wire_waiting(side->in)) {
    const size_t taken = side->in->taken, needed = side->progress.needed;
    if (given + needed > wire_waiting(side->in))
      FAIL("needed is %zu, and %zu bytes wait", needed, wire_waiting(side->in));
    status = with_part(side, given + needed, step);
    given = side->in->taken > taken ? 0 : given + needed;
  }
  return status;
}

static sst_status feed_step(Side *side, const Feed *feed, Step step) {
  if (feed->exact) return feed_exactly(side, step);
  if (feed->cut > 0 && feed->cut < wire_waiting(side->in)) {
    const sst_status status = with_part(side, feed->cut, step);
    if (status != SST_NEED_INPUT) return status;
  }
  side->chunk = feed->chunk;
  const sst_status status = step(side);
  side->chunk = 0;
  return status;
}

sst_status feed_handshake(Side *side, const Feed *feed) {
  side->room = feed->room;
  return feed_step(side, feed, side_handshake);
}

/* ---- in place ---- */

typedef struct InPlace {
  uint8_t *buf;
  sst_range ranges[16];
  size_t used;
} InPlace;

/* Ranges lie in what was consumed, in order, and hold what was produced. */
static void keep_ranges(Side *side, const InPlace *call) {
  size_t end = 0, total = 0;
  for (size_t i = 0; i < call->used; i++) {
    const sst_range *range = &call->ranges[i];
    EXPECT(range->offset >= end && range->length > 0);
    end = range->offset + range->length;
    total += range->length;
    REQUIRE(end <= side->progress.consumed);
    side->received = test_reallocate(side->received, side->received_len + range->length);
    memcpy(side->received + side->received_len, call->buf + range->offset, range->length);
    side->received_len += range->length;
  }
  EXPECT_EQ(total, side->progress.produced);
}

/* One call over the first len bytes that wait, in a buffer of their own. */
static sst_status call_in_place(Side *side, size_t len, size_t num_ranges) {
  InPlace call = {.buf = len == 0 ? NULL : test_allocate(len)};
  if (len > 0) memcpy(call.buf, wire_head(side->in), len);
  side->status =
      sst_stream_decrypt_in_place(side->stream, call.buf, len, call.ranges, num_ranges, &call.used, &side->progress);
  REQUIRE(call.used <= num_ranges && side->progress.consumed <= len);
  keep_ranges(side, &call);
  free(call.buf);
  side->in->taken += side->progress.consumed;
  return side->status;
}

static size_t num_ranges_of_step; /* a Step has no context */

static sst_status receive_in_place(Side *side) {
  size_t given = 0;
  for (;;) {
    const size_t waiting = wire_waiting(side->in);
    const size_t piece = side->chunk == SIDE_RANDOM ? 1 + test_random_below(2000) : side->chunk;
    const size_t len = side->chunk == 0 || piece > waiting - given ? waiting : given + piece;
    const sst_status status = call_in_place(side, len, num_ranges_of_step);
    const size_t consumed = side->progress.consumed;
    if (status == SST_NEED_OUTPUT) {
      EXPECT_EQ(side->progress.needed, 0);
      if (consumed == 0) FAIL("stall: no range is used and none is free");
    } else if (status != SST_NEED_INPUT || wire_waiting(side->in) == len - consumed) {
      return status;
    }
    given = len - consumed;
  }
}

sst_status feed_receive(Side *side, const Feed *feed) {
  side->room = feed->decrypt_room != 0 ? feed->decrypt_room : feed->room;
  if (!feed->in_place) return feed_step(side, feed, side_receive);
  num_ranges_of_step = feed->num_ranges != 0 ? feed->num_ranges : 16;
  return feed_step(side, feed, receive_in_place);
}
