/*
 * The state table: encrypt and key_update. Sending ends with close_notify and with failures, and with nothing else: a
 * peer that has closed, or a transport that has ended, may still be written to.
 */
#include "cell.h"

CELL(encrypt, before, gives_err_state) {
  cell_refuses(cell, CALL_ENCRYPT, SST_ERR_STATE);
}

CELL(encrypt, handshake, gives_err_state) {
  cell_refuses(cell, CALL_ENCRYPT, SST_ERR_STATE);
  EXPECT_STATUS(pair_handshake(&cell->pair), SST_OK);
}

/* The flags of a refused call are as right as those of any other: here a flight waits. */
CELL(encrypt, before, shows_waiting_output_beside_err_state) {
  if (!cell->client) return;
  side_call(cell->subject, CALL_HANDSHAKE, NULL, 0, 0);
  const size_t waiting = sst_stream_output_size(cell->subject->stream);
  cell_refuses(cell, CALL_ENCRYPT, SST_ERR_STATE);
  EXPECT_EQ(cell->subject->progress.flags, SST_HAS_OUTPUT);
  EXPECT_EQ(cell->subject->progress.waiting, waiting);
}

CELL(encrypt, open, runs) {
  cell_sends(cell);
}

CELL(encrypt, we_closed, gives_err_closed) {
  cell_refuses(cell, CALL_ENCRYPT, SST_ERR_CLOSED);
}

/* The same while close_notify still waits for room; and the flags say so. */
CELL(encrypt, open, shows_waiting_close_notify_beside_err_closed) {
  EXPECT_STATUS(side_call(cell->subject, CALL_CLOSE, NULL, 0, 0), SST_NEED_OUTPUT);
  cell_refuses(cell, CALL_ENCRYPT, SST_ERR_CLOSED);
  EXPECT_EQ(cell->subject->progress.flags, SST_HAS_OUTPUT);
  EXPECT_EQ(cell->subject->progress.waiting, sst_stream_output_size(cell->subject->stream));
}

CELL(encrypt, peer_closed, runs) {
  cell_sends(cell);
  EXPECT_EQ(sst_stream_state(cell->subject->stream), SST_STATE_OPEN | SST_STATE_PEER_CLOSED);
}

CELL(encrypt, both_closed, gives_err_closed) {
  cell_refuses(cell, CALL_ENCRYPT, SST_ERR_CLOSED);
}

CELL(encrypt, truncated, runs) {
  cell_sends(cell);
  EXPECT_EQ(cell_code(cell), SST_ERR_TRUNCATED);
  EXPECT_EQ(sst_stream_state(cell->subject->stream), SST_STATE_OPEN | SST_STATE_TRUNCATED);
}

CELL(encrypt, ended_before, gives_err_closed) {
  cell_refuses(cell, CALL_ENCRYPT, SST_ERR_CLOSED);
}

CELL(encrypt, ended_handshake, gives_err_closed) {
  cell_refuses(cell, CALL_ENCRYPT, SST_ERR_CLOSED);
}

/* encrypt says the code at once, takes nothing, and does not lose the alert. */
static void gives_code(Cell *cell, sst_status code) {
  for (int round = 0; round < 2; round++) {
    EXPECT_STATUS(side_call(cell->subject, CALL_ENCRYPT, (const uint8_t *)"late", 4, 1000), code);
    EXPECT_EQ(cell->subject->progress.consumed, 0);
    EXPECT_EQ(cell_code(cell), code);
  }
}

CELL(encrypt, failed_handshake, gives_code) {
  gives_code(cell, SST_ERR_DECODE);
  EXPECT_STATUS(side_flush(cell->subject), SST_OK);
  cell_sent_plain_alert(cell, 50);
}

CELL(encrypt, failed_open, gives_code) {
  gives_code(cell, SST_ERR_BAD_RECORD_MAC);
  cell_alerts(cell, 20);
}

/* encrypt2 and encryptv have their place in the table beside encrypt. */
static void others_give(Cell *cell, sst_status status) {
  const sst_slice slice = {(const uint8_t *)"v", 1};
  uint8_t out[64];
  sst_progress done;
  sst_stream *stream = cell->subject->stream;
  EXPECT_STATUS(sst_stream_encrypt2(stream, slice.data, 1, slice.data, 1, out, sizeof out, &done), status);
  EXPECT_EQ(done.consumed, 0);
  EXPECT_STATUS(sst_stream_encryptv(stream, &slice, 1, out, sizeof out, &done), status);
  EXPECT_EQ(done.consumed, 0);
}

CELL(encrypt2, before, gives_err_state) {
  others_give(cell, SST_ERR_STATE);
}

CELL(encrypt2, we_closed, gives_err_closed) {
  others_give(cell, SST_ERR_CLOSED);
}

CELL(encrypt2, ended_handshake, gives_err_closed) {
  others_give(cell, SST_ERR_CLOSED);
}

CELL(encrypt2, failed_open, gives_code) {
  others_give(cell, SST_ERR_BAD_RECORD_MAC);
}

/* key_update */

static void key_update_gives(Cell *cell, sst_status status) {
  const size_t output = sst_stream_output_size(cell->subject->stream);
  const uint32_t state = sst_stream_state(cell->subject->stream);
  for (int32_t request = 0; request < 2; request++)
    EXPECT_STATUS(sst_stream_key_update(cell->subject->stream, request), status);
  EXPECT_EQ(sst_stream_output_size(cell->subject->stream), output);
  EXPECT_EQ(sst_stream_state(cell->subject->stream), state);
}

/* The message goes out in front of the next data, and the peer follows. TLS 1.2 has no such message. */
static void key_update_is_queued(Cell *cell) {
  if (cell->version == SST_TLS1_2) {
    key_update_gives(cell, SST_ERR_UNSUPPORTED);
    return;
  }
  EXPECT_STATUS(sst_stream_key_update(cell->subject->stream, 0), SST_OK);
  EXPECT_AT_LEAST(sst_stream_output_size(cell->subject->stream), RECORD_HEADER + 1);
  cell_sends(cell);
  EXPECT_EQ(sst_stream_counter(cell->subject->stream, SST_COUNTER_KEY_UPDATES_SENT), 1);
  EXPECT_EQ(sst_stream_counter(cell->peer->stream, SST_COUNTER_KEY_UPDATES_RECEIVED), 1);
}

CELL(key_update, before, gives_err_state) {
  key_update_gives(cell, SST_ERR_STATE);
}

CELL(key_update, handshake, gives_err_state) {
  key_update_gives(cell, SST_ERR_STATE);
}

CELL(key_update, open, is_queued) {
  key_update_is_queued(cell);
  cell_receives(cell);
}

/* A request is answered, once, by what the peer sends next. */
CELL(key_update, open, with_request_changes_both_directions) {
  if (cell->version == SST_TLS1_2) return;
  EXPECT_STATUS(sst_stream_key_update(cell->subject->stream, 1), SST_OK);
  cell_sends(cell);
  EXPECT((cell->peer->progress.flags & SST_HAS_OUTPUT) != 0);
  cell_receives(cell);
  EXPECT_EQ(sst_stream_counter(cell->peer->stream, SST_COUNTER_KEY_UPDATES_SENT), 1);
  EXPECT_EQ(sst_stream_counter(cell->subject->stream, SST_COUNTER_KEY_UPDATES_RECEIVED), 1);
  EXPECT_EQ(sst_stream_output_size(cell->subject->stream), 0);
}

/* The peer answers each of our requests. In this version BoringSSL counts answers as well as requests: 32 without data
   between pass, and data begins the count anew. */
CELL(key_update, open, with_many_requests_is_no_flood_of_answers) {
  if (cell->version == SST_TLS1_2) return;
  for (int i = 0; i < 100; i++) {
    test_note("%s, round %d", cell->client ? "client" : "server", i);
    REQUIRE_STATUS(sst_stream_key_update(cell->subject->stream, 1), SST_OK);
    if (i % 32 == 31) cell_sends(cell);
    REQUIRE_STATUS(side_flush(cell->subject), SST_OK);
    REQUIRE_STATUS(side_receive(cell->peer), SST_NEED_INPUT);
    if (i % 32 == 31) cell_receives(cell);
    REQUIRE_STATUS(side_flush(cell->peer), SST_OK);
    REQUIRE_STATUS(side_receive(cell->subject), SST_NEED_INPUT);
  }
  EXPECT_EQ(sst_stream_counter(cell->subject->stream, SST_COUNTER_KEY_UPDATES_RECEIVED), 100);
  cell_receives(cell);
}

/* After our close_notify nothing may follow, an answer neither. */
CELL(key_update, we_closed, of_peer_is_owed_no_answer) {
  if (cell->version == SST_TLS1_2) return;
  EXPECT_STATUS(sst_stream_key_update(cell->peer->stream, 1), SST_OK);
  cell_receives(cell);
  EXPECT_EQ(cell->subject->progress.flags & SST_HAS_OUTPUT, 0);
  EXPECT_STATUS(side_flush(cell->subject), SST_OK);
  cell_closes(cell);
  EXPECT_EQ(wire_waiting(cell->peer->in), 0);
}

CELL(key_update, open, refuses_other_arguments) {
  const int32_t wrong[] = {-1, 2, 256};
  for (size_t i = 0; i < 3; i++)
    EXPECT_STATUS(sst_stream_key_update(cell->subject->stream, wrong[i]), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_key_update(NULL, 0), SST_ERR_INVALID_ARGUMENT);
}

CELL(key_update, we_closed, gives_err_closed) {
  key_update_gives(cell, SST_ERR_CLOSED);
}

CELL(key_update, peer_closed, is_queued) {
  key_update_is_queued(cell);
}

/* A request to a peer that will send nothing more is sent all the same, and owed no answer. */
CELL(key_update, peer_closed, with_request_is_queued) {
  if (cell->version == SST_TLS1_2) return;
  EXPECT_STATUS(sst_stream_key_update(cell->subject->stream, 1), SST_OK);
  cell_sends(cell);
  EXPECT_EQ(cell->peer->progress.flags & SST_HAS_OUTPUT, 0);
  EXPECT_EQ(sst_stream_counter(cell->peer->stream, SST_COUNTER_KEY_UPDATES_SENT), 0);
}

CELL(key_update, both_closed, gives_err_closed) {
  key_update_gives(cell, SST_ERR_CLOSED);
}

CELL(key_update, truncated, is_queued) {
  key_update_is_queued(cell);
}

CELL(key_update, ended_before, gives_err_closed) {
  key_update_gives(cell, SST_ERR_CLOSED);
}

CELL(key_update, ended_handshake, gives_err_closed) {
  key_update_gives(cell, SST_ERR_CLOSED);
}

CELL(key_update, failed_handshake, gives_code) {
  key_update_gives(cell, SST_ERR_DECODE);
}

CELL(key_update, failed_open, gives_code) {
  key_update_gives(cell, SST_ERR_BAD_RECORD_MAC);
}
