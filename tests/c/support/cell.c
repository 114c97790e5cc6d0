#include "cell.h"

#include <string.h>

void cell_run(uint16_t version, CellStep bring, CellStep body) {
  for (int client = 1; client >= 0; client--) {
    test_note("%s", client ? "client" : "server");
    Cell cell = {.version = version, .client = client != 0};
    cell.pair = pair_new(.client = {.max_version = version}, .server = {.max_version = version});
    cell.subject = client ? &cell.pair.client : &cell.pair.server;
    cell.peer = client ? &cell.pair.server : &cell.pair.client;
    bring(&cell);
    body(&cell);
    pair_free(&cell.pair);
  }
}

static void expect_state(const Cell *cell, uint32_t state) {
  EXPECT_EQ(sst_stream_state(cell->subject->stream), state);
}

void cell_to_before(Cell *cell) {
  expect_state(cell, 0);
}

void cell_to_handshake(Cell *cell) {
  REQUIRE_STATUS(side_handshake(&cell->pair.client), SST_NEED_INPUT);
  if (!cell->client) REQUIRE_STATUS(side_handshake(&cell->pair.server), SST_NEED_INPUT);
  expect_state(cell, SST_STATE_HANDSHAKE);
}

void cell_to_open(Cell *cell) {
  REQUIRE_STATUS(pair_handshake(&cell->pair), SST_OK);
  REQUIRE_EQ(info_of(cell->subject).version, cell->version);
  expect_state(cell, SST_STATE_OPEN);
}

void cell_to_we_closed(Cell *cell) {
  cell_to_open(cell);
  REQUIRE_STATUS(side_close(cell->subject), SST_OK);
  expect_state(cell, SST_STATE_OPEN | SST_STATE_WE_CLOSED);
}

void cell_to_peer_closed(Cell *cell) {
  cell_to_open(cell);
  REQUIRE_STATUS(side_close(cell->peer), SST_OK);
  REQUIRE_STATUS(side_receive(cell->subject), SST_CLOSED);
  expect_state(cell, SST_STATE_OPEN | SST_STATE_PEER_CLOSED);
}

void cell_to_both_closed(Cell *cell) {
  cell_to_peer_closed(cell);
  REQUIRE_STATUS(side_close(cell->subject), SST_OK);
  expect_state(cell, SST_STATE_OPEN | SST_STATE_WE_CLOSED | SST_STATE_PEER_CLOSED);
}

void cell_to_truncated(Cell *cell) {
  cell_to_open(cell);
  REQUIRE_STATUS(sst_stream_input_eof(cell->subject->stream), SST_OK);
  REQUIRE_STATUS(side_receive(cell->subject), SST_ERR_TRUNCATED);
  expect_state(cell, SST_STATE_OPEN | SST_STATE_TRUNCATED);
}

static void expect_ended(const Cell *cell) {
  const uint32_t state = sst_stream_state(cell->subject->stream);
  EXPECT_EQ(state & ~(uint32_t)SST_STATE_HANDSHAKE, SST_STATE_ENDED_EARLY);
}

void cell_to_ended_before(Cell *cell) {
  REQUIRE_STATUS(side_close(cell->subject), SST_OK);
  expect_ended(cell);
}

void cell_to_ended_handshake(Cell *cell) {
  cell_to_handshake(cell);
  REQUIRE_STATUS(side_close(cell->subject), SST_OK);
  expect_ended(cell);
}

void cell_to_failed_handshake(Cell *cell) {
  /* A hello without a body. The subject is a server that waits for ClientHello, or a client for ServerHello. */
  const uint8_t record[] = {RECORD_HANDSHAKE, 3, 3, 0, 4, cell->client ? 2 : 1, 0, 0, 0};
  if (cell->client) REQUIRE_STATUS(side_handshake(cell->subject), SST_NEED_INPUT);
  REQUIRE_STATUS(side_call(cell->subject, CALL_HANDSHAKE, record, sizeof record, 0), SST_ERR_DECODE);
  EXPECT((cell->subject->progress.flags & SST_HAS_OUTPUT) != 0);
  EXPECT_EQ(cell_code(cell), SST_ERR_DECODE);
  expect_state(cell, SST_STATE_HANDSHAKE | SST_STATE_FAILED);
}

void cell_to_failed_open(Cell *cell) {
  cell_to_open(cell);
  uint8_t record[RECORD_HEADER + 64] = {RECORD_APPLICATION_DATA, 3, 3, 0, 64};
  memset(record + RECORD_HEADER, 0x5a, sizeof record - RECORD_HEADER);
  wire_insert(cell->subject->in, record, sizeof record);
  REQUIRE_STATUS(side_receive(cell->subject), SST_ERR_BAD_RECORD_MAC);
  EXPECT((cell->subject->progress.flags & SST_HAS_OUTPUT) != 0);
  EXPECT_EQ(cell_code(cell), SST_ERR_BAD_RECORD_MAC);
  expect_state(cell, SST_STATE_OPEN | SST_STATE_FAILED);
}

void cell_refuses(Cell *cell, Call call, sst_status status) {
  const uint8_t in[] = "refused";
  const uint32_t state = sst_stream_state(cell->subject->stream);
  const size_t output = sst_stream_output_size(cell->subject->stream);
  const bool input = call == CALL_HANDSHAKE || call == CALL_ENCRYPT || call == CALL_DECRYPT;
  for (int round = 0; round < 2; round++) {
    EXPECT_STATUS(side_call(cell->subject, call, in, input ? sizeof in : 0, 32768), status);
    EXPECT_EQ(cell->subject->progress.consumed, 0);
    EXPECT_EQ(cell->subject->progress.produced, 0);
    EXPECT_EQ(sst_stream_state(cell->subject->stream), state);
    EXPECT_EQ(sst_stream_output_size(cell->subject->stream), output);
  }
}

void cell_does_nothing(Cell *cell, Call call) {
  cell_refuses(cell, call, SST_OK);
}

void cell_sends(Cell *cell) {
  EXPECT_STATUS(side_send(cell->subject, "ping", 4), SST_OK);
  side_receive(cell->peer);
  EXPECT_RECEIVED(cell->peer, "ping", 4);
}

void cell_receives(Cell *cell) {
  EXPECT_STATUS(side_send(cell->peer, "pong", 4), SST_OK);
  EXPECT_STATUS(side_receive(cell->subject), SST_NEED_INPUT);
  EXPECT_RECEIVED(cell->subject, "pong", 4);
}

void cell_alerts(Cell *cell, int32_t alert) {
  EXPECT_STATUS(side_flush(cell->subject), SST_OK);
  sst_status status = side_handshake(cell->peer);
  if (status == SST_OK) status = side_receive(cell->peer);
  EXPECT_STATUS(status, SST_ERR_ALERT_RECEIVED - alert);
  EXPECT_EQ(error_of(cell->peer).alert_received, alert);
  EXPECT_EQ(error_of(cell->peer).alert_sent, -1);
}

void cell_sent_plain_alert(const Cell *cell, int32_t alert) {
  enum { SIZE = RECORD_HEADER + 2 };
  const Wire *out = cell->subject->out;
  REQUIRE(out->len >= SIZE);
  const uint8_t *record = out->bytes + out->len - SIZE;
  EXPECT_EQ(record[0], RECORD_ALERT);
  EXPECT_EQ(record[1], 3);
  EXPECT_EQ(record[3] << 8 | record[4], 2);
  EXPECT_EQ(record[5], 2);
  EXPECT_EQ(record[6], alert);
}

void cell_closes(Cell *cell) {
  EXPECT_STATUS(side_receive(cell->peer), SST_CLOSED);
  EXPECT_EQ(cell->peer->received_len, 0);
}

int32_t cell_code(const Cell *cell) {
  return error_of(cell->subject).code;
}
