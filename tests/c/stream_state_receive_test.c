/*
 * The state table: decrypt and input_eof, and what comes first where several things are true: plaintext that was
 * received before an end or a failure is never lost behind it.
 */
#include "cell.h"

#include <string.h>

CELL(decrypt, before, gives_err_state) {
  cell_refuses(cell, CALL_DECRYPT, SST_ERR_STATE);
}

CELL(decrypt, handshake, gives_err_state) {
  cell_refuses(cell, CALL_DECRYPT, SST_ERR_STATE);
  EXPECT_STATUS(pair_handshake(&cell->pair), SST_OK);
}

CELL(decrypt, open, runs) {
  cell_receives(cell);
}

CELL(decrypt, we_closed, runs) {
  cell_receives(cell);
  EXPECT_EQ(sst_stream_state(cell->subject->stream), SST_STATE_OPEN | SST_STATE_WE_CLOSED);
}

CELL(decrypt, peer_closed, gives_closed) {
  cell_refuses(cell, CALL_DECRYPT, SST_CLOSED);
}

CELL(decrypt, both_closed, gives_closed) {
  cell_refuses(cell, CALL_DECRYPT, SST_CLOSED);
}

CELL(decrypt, truncated, gives_err_truncated) {
  EXPECT_STATUS(side_receive(cell->subject), SST_ERR_TRUNCATED);
  EXPECT_STATUS(side_receive(cell->subject), SST_ERR_TRUNCATED);
  EXPECT_EQ(cell->subject->received_len, 0);
  EXPECT_EQ(cell_code(cell), SST_ERR_TRUNCATED);
}

CELL(decrypt, ended_before, gives_err_closed) {
  cell_refuses(cell, CALL_DECRYPT, SST_ERR_CLOSED);
}

CELL(decrypt, ended_handshake, gives_err_closed) {
  cell_refuses(cell, CALL_DECRYPT, SST_ERR_CLOSED);
}

CELL(decrypt, failed_handshake, gives_code) {
  cell_refuses(cell, CALL_DECRYPT, SST_ERR_DECODE);
}

CELL(decrypt, failed_open, gives_code) {
  cell_refuses(cell, CALL_DECRYPT, SST_ERR_BAD_RECORD_MAC);
  EXPECT_EQ(cell->subject->progress.flags, SST_HAS_OUTPUT);
  cell_alerts(cell, 20);
}

/* input_eof */

static void eof_is_ok(const Cell *cell) {
  for (int round = 0; round < 2; round++)
    EXPECT_STATUS(sst_stream_input_eof(cell->subject->stream), SST_OK);
}

CELL(input_eof, before, then_handshake_gives_handshake_eof) {
  eof_is_ok(cell);
  for (int round = 0; round < 2; round++)
    EXPECT_STATUS(side_handshake(cell->subject), SST_ERR_HANDSHAKE_EOF);
  EXPECT_EQ(cell_code(cell), SST_ERR_HANDSHAKE_EOF);
}

CELL(input_eof, handshake, then_handshake_gives_handshake_eof) {
  wire_drop(cell->subject->in);
  eof_is_ok(cell);
  for (int round = 0; round < 2; round++)
    EXPECT_STATUS(side_handshake(cell->subject), SST_ERR_HANDSHAKE_EOF);
  EXPECT_EQ(cell_code(cell), SST_ERR_HANDSHAKE_EOF);
  EXPECT_EQ(error_of(cell->subject).alert_sent, -1);
}

/* Bytes that were received before the end may still finish the handshake. */
CELL(input_eof, handshake, lets_received_flight_finish) {
  side_handshake(cell->peer);
  if (cell->version == SST_TLS1_2 && cell->client) {
    side_handshake(cell->subject);
    side_handshake(cell->peer);
  }
  eof_is_ok(cell);
  EXPECT_STATUS(side_handshake(cell->subject), SST_OK);
  EXPECT_STATUS(side_receive(cell->subject), SST_ERR_TRUNCATED);
}

CELL(input_eof, open, then_decrypt_gives_truncated) {
  eof_is_ok(cell);
  EXPECT_EQ(cell_code(cell), SST_OK);
  EXPECT_STATUS(side_receive(cell->subject), SST_ERR_TRUNCATED);
  EXPECT_EQ(sst_stream_state(cell->subject->stream), SST_STATE_OPEN | SST_STATE_TRUNCATED);
}

/* Whole records that are given after the end are still opened, and a close_notify among them is a clean end. */
CELL(input_eof, open, lets_received_records_be_opened) {
  side_send(cell->peer, "one", 3);
  side_send(cell->peer, "two", 3);
  eof_is_ok(cell);
  EXPECT_STATUS(side_receive(cell->subject), SST_ERR_TRUNCATED);
  EXPECT_RECEIVED(cell->subject, "onetwo", 6);
}

CELL(input_eof, open, lets_received_close_notify_be_seen) {
  side_send(cell->peer, "one", 3);
  side_close(cell->peer);
  eof_is_ok(cell);
  EXPECT_STATUS(side_receive(cell->subject), SST_CLOSED);
  EXPECT_RECEIVED(cell->subject, "one", 3);
  EXPECT_EQ(cell_code(cell), SST_OK);
}

CELL(input_eof, we_closed, then_decrypt_gives_truncated) {
  eof_is_ok(cell);
  EXPECT_STATUS(side_receive(cell->subject), SST_ERR_TRUNCATED);
}

CELL(input_eof, peer_closed, changes_nothing) {
  eof_is_ok(cell);
  cell_refuses(cell, CALL_DECRYPT, SST_CLOSED);
}

CELL(input_eof, both_closed, changes_nothing) {
  eof_is_ok(cell);
  cell_refuses(cell, CALL_DECRYPT, SST_CLOSED);
}

CELL(input_eof, truncated, changes_nothing) {
  eof_is_ok(cell);
  EXPECT_STATUS(side_receive(cell->subject), SST_ERR_TRUNCATED);
}

CELL(input_eof, ended_before, changes_nothing) {
  eof_is_ok(cell);
  cell_refuses(cell, CALL_HANDSHAKE, SST_ERR_CLOSED);
}

CELL(input_eof, ended_handshake, changes_nothing) {
  eof_is_ok(cell);
  cell_refuses(cell, CALL_HANDSHAKE, SST_ERR_CLOSED);
}

CELL(input_eof, failed_handshake, changes_nothing) {
  eof_is_ok(cell);
  EXPECT_STATUS(side_handshake(cell->subject), SST_ERR_DECODE);
}

CELL(input_eof, failed_open, changes_nothing) {
  eof_is_ok(cell);
  cell_refuses(cell, CALL_DECRYPT, SST_ERR_BAD_RECORD_MAC);
}

/* Kept plaintext: 100 bytes in a record, read by 30, with an end behind it that comes with the last 10. */
enum { BODY = 100, ROOM = 30 };

static void reads_body_then(Cell *cell, sst_status last) {
  uint8_t body[BODY];
  pattern_fill(body, BODY, 7);
  Side *subject = cell->subject;
  for (size_t given = ROOM; given < BODY; given += ROOM) {
    const size_t waiting = wire_waiting(subject->in);
    EXPECT_STATUS(side_call(subject, CALL_DECRYPT, wire_head(subject->in), waiting, ROOM), SST_NEED_OUTPUT);
    subject->in->taken += subject->progress.consumed;
    EXPECT_EQ(subject->progress.produced, ROOM);
    EXPECT((subject->progress.flags & SST_HAS_PLAINTEXT) != 0);
    EXPECT_EQ(subject->progress.waiting, BODY - given);
    EXPECT_AT_LEAST(subject->progress.needed, BODY - given);
  }
  EXPECT_STATUS(side_call(subject, CALL_DECRYPT, wire_head(subject->in), wire_waiting(subject->in), ROOM), last);
  EXPECT_EQ(subject->progress.produced, BODY % ROOM);
  EXPECT_EQ(subject->progress.flags & SST_HAS_PLAINTEXT, 0);
  EXPECT_RECEIVED(subject, body, BODY);
  EXPECT_STATUS(side_call(subject, CALL_DECRYPT, NULL, 0, ROOM), last);
  EXPECT_EQ(subject->progress.produced, 0);
}

static void peer_sends_body(Cell *cell) {
  uint8_t body[BODY];
  pattern_fill(body, BODY, 7);
  EXPECT_STATUS(side_send(cell->peer, body, BODY), SST_OK);
}

CELL(decrypt, open, gives_kept_plaintext_before_closed) {
  peer_sends_body(cell);
  side_close(cell->peer);
  reads_body_then(cell, SST_CLOSED);
}

CELL(decrypt, open, gives_kept_plaintext_before_truncated) {
  peer_sends_body(cell);
  EXPECT_STATUS(sst_stream_input_eof(cell->subject->stream), SST_OK);
  reads_body_then(cell, SST_ERR_TRUNCATED);
}

/* A bad record of the size of an alert: its type shows only when it is opened, and by then the body is out. */
CELL(decrypt, open, gives_kept_plaintext_before_failure) {
  peer_sends_body(cell);
  uint8_t record[RECORD_HEADER + 26] = {RECORD_APPLICATION_DATA, 3, 3, 0, 26};
  wire_insert(cell->subject->in, record, sizeof record);
  reads_body_then(cell, SST_ERR_BAD_RECORD_MAC);
  EXPECT_EQ(cell_code(cell), SST_ERR_BAD_RECORD_MAC);
}

CELL(decrypt, open, gives_kept_plaintext_before_alert_of_peer) {
  peer_sends_body(cell);
  EXPECT_STATUS(sst_stream_abort(cell->peer->stream, 90), SST_OK);
  side_flush(cell->peer);
  reads_body_then(cell, SST_ERR_ALERT_RECEIVED - 90);
}

CELL(decrypt, open, gives_kept_plaintext_after_abort) {
  peer_sends_body(cell);
  Side *subject = cell->subject;
  side_call(subject, CALL_DECRYPT, wire_head(subject->in), wire_waiting(subject->in), 0);
  subject->in->taken += subject->progress.consumed;
  EXPECT_EQ(sst_stream_plaintext_size(subject->stream), BODY);
  EXPECT_STATUS(sst_stream_abort(subject->stream, 90), SST_OK);
  reads_body_then(cell, SST_ERR_ABORTED);
}

/* `needed` lets a caller read just what a record lacks: first its header, then exactly the rest. */
static void tells_what_is_missing(Cell *cell, bool whole_prefix) {
  Side *subject = cell->subject;
  side_send(cell->peer, "0123456789", 10);
  const size_t len = wire_waiting(subject->in);
  for (size_t have = 0; have < len; have++) {
    const uint8_t *from = wire_head(subject->in) + (whole_prefix || have == 0 ? 0 : have - 1);
    const size_t given = whole_prefix ? have : have == 0 ? 0 : 1;
    EXPECT_STATUS(side_call(subject, CALL_DECRYPT, from, given, 100), SST_NEED_INPUT);
    EXPECT_EQ(subject->progress.needed, have < RECORD_HEADER ? RECORD_HEADER - have : len - have);
    EXPECT_EQ(subject->progress.consumed, whole_prefix ? 0 : given);
  }
}

CELL(decrypt, open, tells_what_a_cut_record_lacks) {
  tells_what_is_missing(cell, false);
}

TEST_VERSIONS(stream_state, decrypt_with_leave_partial_tells_what_a_cut_record_lacks) {
  Pair pair = pair_open(.client = {.max_version = version, .options = SST_OPTION_LEAVE_PARTIAL});
  Cell cell = {.subject = &pair.client, .peer = &pair.server};
  tells_what_is_missing(&cell, true);
  pair_free(&pair);
}
