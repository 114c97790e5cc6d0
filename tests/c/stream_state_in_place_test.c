/*
 * The state table: decrypt_in_place stands in the row of decrypt, and besides refuses to mix with what decrypt has
 * taken in.
 */
#include "cell.h"

#include <stdlib.h>
#include <string.h>

/* What waits for the subject, opened in a buffer of just that size; plaintext goes to received. */
static sst_status in_place(Cell *cell, size_t num_ranges) {
  Side *subject = cell->subject;
  const size_t len = wire_waiting(subject->in);
  uint8_t *buf = test_allocate(len);
  sst_range *ranges = test_allocate(num_ranges * sizeof *ranges);
  size_t used = num_ranges + 1, produced = 0, end = 0;
  if (len > 0) memcpy(buf, wire_head(subject->in), len);
  const sst_status status =
      sst_stream_decrypt_in_place(subject->stream, buf, len, ranges, num_ranges, &used, &subject->progress);
  REQUIRE(used <= num_ranges);
  for (size_t i = 0; i < used; i++) {
    REQUIRE(ranges[i].offset >= end && ranges[i].length <= subject->progress.consumed);
    end = ranges[i].offset + ranges[i].length;
    produced += ranges[i].length;
    REQUIRE(end <= subject->progress.consumed);
    subject->received = test_reallocate(subject->received, subject->received_len + ranges[i].length);
    memcpy(subject->received + subject->received_len, buf + ranges[i].offset, ranges[i].length);
    subject->received_len += ranges[i].length;
  }
  EXPECT_EQ(subject->progress.produced, produced);
  EXPECT_EQ(subject->progress.reserved, 0);
  EXPECT_AT_MOST(subject->progress.consumed, len);
  subject->in->taken += subject->progress.consumed;
  free(buf);
  free(ranges);
  return status;
}

static void in_place_gives(Cell *cell, sst_status status) {
  wire_insert(cell->subject->in, "refused", 7);
  for (int round = 0; round < 2; round++) {
    EXPECT_STATUS(in_place(cell, 4), status);
    EXPECT_EQ(cell->subject->progress.consumed, 0);
    EXPECT_EQ(cell->subject->progress.produced, 0);
  }
  wire_cut(cell->subject->in, wire_waiting(cell->subject->in) - 7);
}

CELL(in_place, before, gives_err_state) {
  in_place_gives(cell, SST_ERR_STATE);
}

CELL(in_place, handshake, gives_err_state) {
  in_place_gives(cell, SST_ERR_STATE);
}

static void in_place_runs(Cell *cell) {
  side_send(cell->peer, "one", 3);
  side_send(cell->peer, "two", 3);
  EXPECT_STATUS(in_place(cell, 4), SST_NEED_INPUT);
  EXPECT_EQ(wire_waiting(cell->subject->in), 0);
  EXPECT_RECEIVED(cell->subject, "onetwo", 6);
  EXPECT_STATUS(in_place(cell, 4), SST_NEED_INPUT);
}

CELL(in_place, open, runs) {
  in_place_runs(cell);
}

CELL(in_place, we_closed, runs) {
  in_place_runs(cell);
}

CELL(in_place, peer_closed, gives_closed) {
  in_place_gives(cell, SST_CLOSED);
}

CELL(in_place, both_closed, gives_closed) {
  in_place_gives(cell, SST_CLOSED);
}

CELL(in_place, truncated, gives_err_truncated) {
  EXPECT_STATUS(in_place(cell, 4), SST_ERR_TRUNCATED);
  EXPECT_STATUS(in_place(cell, 0), SST_ERR_TRUNCATED);
}

CELL(in_place, ended_before, gives_err_closed) {
  in_place_gives(cell, SST_ERR_CLOSED);
}

CELL(in_place, ended_handshake, gives_err_closed) {
  in_place_gives(cell, SST_ERR_CLOSED);
}

CELL(in_place, failed_handshake, gives_code) {
  in_place_gives(cell, SST_ERR_DECODE);
}

CELL(in_place, failed_open, gives_code) {
  in_place_gives(cell, SST_ERR_BAD_RECORD_MAC);
}

/* A record that is not whole stays where it is, and what it lacks is told. */
CELL(in_place, open, leaves_a_partial_record) {
  side_send(cell->peer, "one", 3);
  const size_t whole = wire_waiting(cell->subject->in);
  side_send(cell->peer, "second", 6);
  const size_t second = wire_waiting(cell->subject->in) - whole;
  uint8_t rest[4];
  memcpy(rest, wire_head(cell->subject->in) + whole + second - 4, 4);
  wire_cut(cell->subject->in, whole + second - 4);
  EXPECT_STATUS(in_place(cell, 4), SST_NEED_INPUT);
  EXPECT_EQ(cell->subject->progress.consumed, whole);
  EXPECT_EQ(cell->subject->progress.needed, 4);
  wire_insert(cell->subject->in, rest, 4);
  EXPECT_STATUS(in_place(cell, 4), SST_NEED_INPUT);
  EXPECT_RECEIVED(cell->subject, "onesecond", 9);
}

/* With ranges full nothing behind is opened, since that would destroy it. */
CELL(in_place, open, stops_when_ranges_are_full) {
  side_send(cell->peer, "one", 3);
  side_send(cell->peer, "two", 3);
  side_send(cell->peer, "three", 5);
  EXPECT_STATUS(in_place(cell, 2), SST_NEED_OUTPUT);
  EXPECT_EQ(cell->subject->progress.needed, 0);
  EXPECT_RECEIVED(cell->subject, "onetwo", 6);
  EXPECT_STATUS(in_place(cell, 0), SST_NEED_OUTPUT);
  EXPECT_EQ(cell->subject->progress.consumed, 0);
  EXPECT_STATUS(in_place(cell, 1), SST_NEED_INPUT);
  EXPECT_RECEIVED(cell->subject, "three", 5);
}

CELL(in_place, open, gives_data_with_closed) {
  side_send(cell->peer, "last", 4);
  side_close(cell->peer);
  EXPECT_STATUS(in_place(cell, 4), SST_CLOSED);
  EXPECT_RECEIVED(cell->subject, "last", 4);
}

CELL(in_place, open, gives_data_with_failure) {
  side_send(cell->peer, "last", 4);
  const uint8_t bad[RECORD_HEADER + 40] = {RECORD_APPLICATION_DATA, 3, 3, 0, 40};
  wire_insert(cell->subject->in, bad, sizeof bad);
  EXPECT_STATUS(in_place(cell, 4), SST_ERR_BAD_RECORD_MAC);
  EXPECT_RECEIVED(cell->subject, "last", 4);
  cell_alerts(cell, 20);
}

/* A rest that decrypt has kept, or a cut record that it has taken in, must be finished there. */
CELL(in_place, open, refuses_while_decrypt_has_a_rest) {
  Side *subject = cell->subject;
  side_send(cell->peer, "0123456789", 10);
  side_call(subject, CALL_DECRYPT, wire_head(subject->in), wire_waiting(subject->in), 4);
  subject->in->taken += subject->progress.consumed;
  in_place_gives(cell, SST_ERR_STATE);
  EXPECT_STATUS(side_receive(subject), SST_NEED_INPUT);
  EXPECT_RECEIVED(subject, "0123456789", 10);
  in_place_runs(cell);
}

CELL(in_place, open, refuses_while_decrypt_has_a_cut_record) {
  Side *subject = cell->subject;
  side_send(cell->peer, "0123456789", 10);
  EXPECT_STATUS(side_call(subject, CALL_DECRYPT, wire_head(subject->in), 8, 100), SST_NEED_INPUT);
  subject->in->taken += 8;
  in_place_gives(cell, SST_ERR_STATE);
  EXPECT_STATUS(side_receive(subject), SST_NEED_INPUT);
  EXPECT_RECEIVED(subject, "0123456789", 10);
  in_place_runs(cell);
}
