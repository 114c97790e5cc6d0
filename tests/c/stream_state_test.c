/*
 * The state table of section 2 of the header, a case for each cell: handshake and flush here, the sending calls, the
 * receiving calls and the ends of a stream in files of their own.
 */
#include "cell.h"

/* handshake */

CELL(handshake, before, runs) {
  EXPECT_STATUS(side_handshake(cell->subject), SST_NEED_INPUT);
  EXPECT_EQ(cell->subject->progress.produced > 0, cell->client);
  EXPECT_EQ(sst_stream_state(cell->subject->stream), SST_STATE_HANDSHAKE);
}

CELL(handshake, handshake, runs) {
  EXPECT_STATUS(pair_handshake(&cell->pair), SST_OK);
  EXPECT_EQ(sst_stream_state(cell->subject->stream), SST_STATE_OPEN);
}

CELL(handshake, open, gives_ok) {
  cell_does_nothing(cell, CALL_HANDSHAKE);
  cell_sends(cell);
}

CELL(handshake, we_closed, gives_ok) {
  cell_does_nothing(cell, CALL_HANDSHAKE);
}

CELL(handshake, peer_closed, gives_ok) {
  cell_does_nothing(cell, CALL_HANDSHAKE);
}

CELL(handshake, both_closed, gives_ok) {
  cell_does_nothing(cell, CALL_HANDSHAKE);
}

CELL(handshake, truncated, gives_ok) {
  cell_does_nothing(cell, CALL_HANDSHAKE);
}

CELL(handshake, ended_before, gives_err_closed) {
  cell_refuses(cell, CALL_HANDSHAKE, SST_ERR_CLOSED);
}

CELL(handshake, ended_handshake, gives_err_closed) {
  cell_refuses(cell, CALL_HANDSHAKE, SST_ERR_CLOSED);
}

/* Before the handshake is over the alert comes out of handshake itself, however small the room. */
static void writes_rest_of_alert(Cell *cell) {
  const sst_status code = cell_code(cell);
  const size_t rest = sst_stream_output_size(cell->subject->stream);
  EXPECT_AT_LEAST(rest, RECORD_HEADER + 2);
  for (size_t i = 0; i < rest; i++) {
    EXPECT_STATUS(side_call(cell->subject, CALL_HANDSHAKE, (const uint8_t *)"more", 4, 1), code);
    EXPECT_EQ(cell->subject->progress.consumed, 0);
    EXPECT_EQ(cell->subject->progress.produced, 1);
  }
  cell_refuses(cell, CALL_HANDSHAKE, code);
}

CELL(handshake, failed_handshake, writes_rest_of_alert_and_gives_code) {
  writes_rest_of_alert(cell);
  cell_sent_plain_alert(cell, 50);
}

CELL(handshake, failed_open, writes_rest_of_alert_and_gives_code) {
  writes_rest_of_alert(cell);
  cell_alerts(cell, 20);
}

/* flush */

CELL(flush, before, gives_ok) {
  cell_does_nothing(cell, CALL_FLUSH);
}

/* What a short room left of a flight may come out of flush as well. */
CELL(flush, handshake, drains) {
  Side *subject = cell->subject;
  cell_does_nothing(cell, CALL_FLUSH);
  if (cell->client) return; /* its next flight ends the handshake */
  Pair fresh = pair_new(.client = {.max_version = cell->version}, .server = {.max_version = cell->version});
  subject = &fresh.server;
  side_handshake(&fresh.client);
  const Wire *in = subject->in;
  EXPECT_STATUS(side_call(subject, CALL_HANDSHAKE, wire_head(in), wire_waiting(in), 10), SST_NEED_OUTPUT);
  fresh.server.in->taken += subject->progress.consumed;
  EXPECT_EQ(sst_stream_state(subject->stream), SST_STATE_HANDSHAKE);
  subject->room = 7;
  EXPECT_STATUS(side_flush(subject), SST_OK);
  EXPECT_STATUS(pair_handshake(&fresh), SST_OK);
  pair_free(&fresh);
}

/* An open stream has output to flush after key_update; TLS 1.2 has nothing of the kind. */
static void drains_key_update(Cell *cell) {
  if (cell->version == SST_TLS1_2) {
    cell_does_nothing(cell, CALL_FLUSH);
    return;
  }
  EXPECT_STATUS(sst_stream_key_update(cell->subject->stream, 0), SST_OK);
  EXPECT_AT_LEAST(sst_stream_output_size(cell->subject->stream), RECORD_HEADER + 1);
  cell->subject->room = 3;
  EXPECT_STATUS(side_flush(cell->subject), SST_OK);
  EXPECT_EQ(sst_stream_output_size(cell->subject->stream), 0);
  cell->subject->room = 0;
  cell_sends(cell);
  EXPECT_EQ(sst_stream_counter(cell->peer->stream, SST_COUNTER_KEY_UPDATES_RECEIVED), 1);
}

CELL(flush, open, drains) {
  drains_key_update(cell);
}

CELL(flush, peer_closed, drains) {
  drains_key_update(cell);
}

CELL(flush, truncated, drains) {
  drains_key_update(cell);
}

CELL(flush, we_closed, gives_ok) {
  cell_does_nothing(cell, CALL_FLUSH);
}

CELL(flush, both_closed, gives_ok) {
  cell_does_nothing(cell, CALL_FLUSH);
}

/* close with no room leaves its close_notify to flush. */
static void drains_close_notify(Cell *cell) {
  EXPECT_STATUS(side_call(cell->subject, CALL_CLOSE, NULL, 0, 0), SST_NEED_OUTPUT);
  EXPECT_STATUS(side_call(cell->subject, CALL_FLUSH, NULL, 0, 1), SST_NEED_OUTPUT);
  EXPECT_EQ(cell->subject->progress.produced, 1);
  EXPECT_STATUS(side_flush(cell->subject), SST_OK);
  cell_does_nothing(cell, CALL_FLUSH);
}

CELL(flush, open, drains_close_notify_of_we_closed) {
  drains_close_notify(cell);
  EXPECT_EQ(sst_stream_state(cell->subject->stream), SST_STATE_OPEN | SST_STATE_WE_CLOSED);
  cell_closes(cell);
}

CELL(flush, peer_closed, drains_close_notify_of_both_closed) {
  drains_close_notify(cell);
  EXPECT_EQ(sst_stream_state(cell->subject->stream), SST_STATE_OPEN | SST_STATE_WE_CLOSED | SST_STATE_PEER_CLOSED);
  cell_closes(cell);
}

CELL(flush, ended_before, gives_ok) {
  cell_does_nothing(cell, CALL_FLUSH);
}

CELL(flush, ended_handshake, gives_ok) {
  cell_does_nothing(cell, CALL_FLUSH);
}

/* close in the handshake leaves the rest of a flight to be drained: here a hello of which five bytes are out. */
CELL(flush, before, drains_rest_of_flight_after_close) {
  if (!cell->client) return;
  EXPECT_STATUS(side_call(cell->subject, CALL_HANDSHAKE, NULL, 0, 5), SST_NEED_OUTPUT);
  side_call(cell->subject, CALL_CLOSE, NULL, 0, 1);
  EXPECT_STATUS(side_flush(cell->subject), SST_OK);
  EXPECT_EQ(records_count(cell->subject->out, 0, RECORD_HANDSHAKE), 1);
  EXPECT_EQ(records_count(cell->subject->out, 0, 0), 1);
  EXPECT_STATUS(side_handshake(cell->peer), SST_NEED_INPUT);
  cell_refuses(cell, CALL_HANDSHAKE, SST_ERR_CLOSED);
}

CELL(flush, failed_handshake, drains_then_gives_ok) {
  EXPECT_STATUS(side_call(cell->subject, CALL_FLUSH, NULL, 0, 1), SST_NEED_OUTPUT);
  EXPECT_EQ(cell->subject->progress.produced, 1);
  EXPECT_STATUS(side_flush(cell->subject), SST_OK);
  cell_sent_plain_alert(cell, 50);
  cell_does_nothing(cell, CALL_FLUSH);
}

CELL(flush, failed_open, drains_then_gives_ok) {
  EXPECT_STATUS(side_call(cell->subject, CALL_FLUSH, NULL, 0, 1), SST_NEED_OUTPUT);
  EXPECT_EQ(cell->subject->progress.produced, 1);
  cell_alerts(cell, 20);
  cell_does_nothing(cell, CALL_FLUSH);
}
