/*
 * The state table: close and abort. A close says goodbye once, an abort says why; neither may follow the other's end.
 */
#include "cell.h"

/* close */

CELL(close, before, sends_nothing_and_ends_early) {
  EXPECT_STATUS(side_close(cell->subject), SST_OK);
  EXPECT_EQ(cell->subject->out->len, 0);
  EXPECT((sst_stream_state(cell->subject->stream) & SST_STATE_ENDED_EARLY) != 0);
  EXPECT_EQ(cell_code(cell), SST_OK);
}

CELL(close, handshake, sends_nothing_and_ends_early) {
  const size_t sent = cell->subject->out->len;
  EXPECT_STATUS(side_close(cell->subject), SST_OK);
  EXPECT_EQ(cell->subject->out->len, sent);
  EXPECT((sst_stream_state(cell->subject->stream) & SST_STATE_ENDED_EARLY) != 0);
  EXPECT_EQ(cell_code(cell), SST_OK);
}

CELL(close, open, sends_close_notify) {
  EXPECT_STATUS(side_close(cell->subject), SST_OK);
  EXPECT_EQ(sst_stream_state(cell->subject->stream), SST_STATE_OPEN | SST_STATE_WE_CLOSED);
  cell_closes(cell);
  cell_receives(cell);
}

CELL(close, we_closed, gives_ok) {
  cell_does_nothing(cell, CALL_CLOSE);
}

CELL(close, peer_closed, sends_close_notify) {
  EXPECT_STATUS(side_close(cell->subject), SST_OK);
  EXPECT_EQ(sst_stream_state(cell->subject->stream), SST_STATE_OPEN | SST_STATE_WE_CLOSED | SST_STATE_PEER_CLOSED);
  cell_closes(cell);
}

CELL(close, both_closed, gives_ok) {
  cell_does_nothing(cell, CALL_CLOSE);
}

CELL(close, truncated, sends_close_notify) {
  EXPECT_STATUS(side_close(cell->subject), SST_OK);
  EXPECT_EQ(sst_stream_state(cell->subject->stream), SST_STATE_OPEN | SST_STATE_WE_CLOSED | SST_STATE_TRUNCATED);
  cell_closes(cell);
}

CELL(close, ended_before, gives_ok) {
  cell_does_nothing(cell, CALL_CLOSE);
}

CELL(close, ended_handshake, gives_ok) {
  cell_does_nothing(cell, CALL_CLOSE);
}

/* A failed stream has no goodbye: close writes the alert, as flush does. */
CELL(close, failed_handshake, writes_alert_as_flush) {
  EXPECT_STATUS(side_call(cell->subject, CALL_CLOSE, NULL, 0, 1), SST_NEED_OUTPUT);
  EXPECT_STATUS(side_close(cell->subject), SST_OK);
  cell_sent_plain_alert(cell, 50);
  cell_does_nothing(cell, CALL_CLOSE);
  EXPECT_EQ(sst_stream_state(cell->subject->stream), SST_STATE_HANDSHAKE | SST_STATE_FAILED);
}

CELL(close, failed_open, writes_alert_as_flush) {
  EXPECT_STATUS(side_call(cell->subject, CALL_CLOSE, NULL, 0, 1), SST_NEED_OUTPUT);
  EXPECT_STATUS(side_close(cell->subject), SST_OK);
  cell_alerts(cell, 20);
  cell_does_nothing(cell, CALL_CLOSE);
  EXPECT_EQ(sst_stream_state(cell->subject->stream), SST_STATE_OPEN | SST_STATE_FAILED);
}

/* abort */

static void aborts(Cell *cell) {
  EXPECT_STATUS(sst_stream_abort(cell->subject->stream, 90), SST_OK);
  EXPECT((sst_stream_state(cell->subject->stream) & SST_STATE_FAILED) != 0);
  EXPECT_AT_LEAST(sst_stream_output_size(cell->subject->stream), RECORD_HEADER + 2);
  EXPECT_EQ(cell_code(cell), SST_ERR_ABORTED);
  EXPECT_EQ(error_of(cell->subject).alert_sent, 90);
  EXPECT_EQ(error_of(cell->subject).alert_received, -1);
  EXPECT_STATUS(sst_stream_abort(cell->subject->stream, 40), SST_ERR_ABORTED);
  EXPECT_EQ(error_of(cell->subject).alert_sent, 90);
}

CELL(abort, before, sends_alert) {
  aborts(cell);
  cell_refuses(cell, CALL_DECRYPT, SST_ERR_ABORTED);
  EXPECT_STATUS(side_flush(cell->subject), SST_OK);
  cell_sent_plain_alert(cell, 90);
  cell_refuses(cell, CALL_HANDSHAKE, SST_ERR_ABORTED);
}

CELL(abort, handshake, sends_alert) {
  aborts(cell);
  if (cell->client) {
    EXPECT_STATUS(side_flush(cell->subject), SST_OK);
    cell_sent_plain_alert(cell, 90);
  } else {
    cell_alerts(cell, 90);
  }
  cell_refuses(cell, CALL_HANDSHAKE, SST_ERR_ABORTED);
}

/* Here handshake writes the alert, by pieces of one byte. */
CELL(abort, handshake, gives_alert_to_handshake_in_pieces) {
  aborts(cell);
  cell->subject->room = 1;
  EXPECT_STATUS(side_handshake(cell->subject), SST_ERR_ABORTED);
  EXPECT_EQ(sst_stream_output_size(cell->subject->stream), 0);
  if (!cell->client) cell_alerts(cell, 90);
}

CELL(abort, open, sends_alert) {
  aborts(cell);
  cell_alerts(cell, 90);
  cell_refuses(cell, CALL_ENCRYPT, SST_ERR_ABORTED);
  cell_refuses(cell, CALL_DECRYPT, SST_ERR_ABORTED);
}

CELL(abort, open, refuses_other_alerts) {
  const int32_t wrong[] = {0, -1, 256, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    EXPECT_STATUS(sst_stream_abort(cell->subject->stream, wrong[i]), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_abort(NULL, 90), SST_ERR_INVALID_ARGUMENT);
  cell_sends(cell);
  EXPECT_STATUS(sst_stream_abort(cell->subject->stream, 255), SST_OK);
  cell_alerts(cell, 255);
}

static void abort_gives_err_closed(Cell *cell) {
  const uint32_t state = sst_stream_state(cell->subject->stream);
  EXPECT_STATUS(sst_stream_abort(cell->subject->stream, 90), SST_ERR_CLOSED);
  EXPECT_EQ(sst_stream_state(cell->subject->stream), state);
  EXPECT_EQ(sst_stream_output_size(cell->subject->stream), 0);
  EXPECT_EQ(cell_code(cell), SST_OK);
}

CELL(abort, we_closed, gives_err_closed) {
  abort_gives_err_closed(cell);
}

CELL(abort, peer_closed, sends_alert) {
  aborts(cell);
  cell_alerts(cell, 90);
}

CELL(abort, both_closed, gives_err_closed) {
  abort_gives_err_closed(cell);
}

/* Truncation ended receiving only; its record gives way to this one. */
CELL(abort, truncated, sends_alert_and_replaces_record) {
  EXPECT_EQ(cell_code(cell), SST_ERR_TRUNCATED);
  aborts(cell);
  cell_alerts(cell, 90);
  cell_refuses(cell, CALL_DECRYPT, SST_ERR_ABORTED);
}

CELL(abort, ended_before, gives_err_closed) {
  abort_gives_err_closed(cell);
}

CELL(abort, ended_handshake, gives_err_closed) {
  abort_gives_err_closed(cell);
}

static void abort_gives_code(Cell *cell, sst_status code) {
  const size_t output = sst_stream_output_size(cell->subject->stream);
  EXPECT_STATUS(sst_stream_abort(cell->subject->stream, 90), code);
  EXPECT_EQ(sst_stream_output_size(cell->subject->stream), output);
  EXPECT_EQ(cell_code(cell), code);
}

CELL(abort, failed_handshake, gives_code) {
  abort_gives_code(cell, SST_ERR_DECODE);
}

CELL(abort, failed_open, gives_code) {
  abort_gives_code(cell, SST_ERR_BAD_RECORD_MAC);
  cell_alerts(cell, 20);
}
