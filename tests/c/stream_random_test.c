/*
 * Random walks: any call in any order, with any pieces and rooms, on both sides, against a small model of the state
 * table. What one side has sent is what the other reads, and no call answers what the table does not say.
 */
#include "pair.h"

#include <stdlib.h>
#include <string.h>

typedef struct Model {
  Side *side;
  bool we_closed, peer_closed, eof, truncated;
  sst_status failed; /* SST_OK: no */
  uint8_t *expected; /* what the peer has encrypted and this side has not received yet */
  size_t expected_len;
  bool close_sent, abort_sent; /* by the peer, in its own order behind all that it has encrypted */
} Model;

static void expect_data(Model *to, const uint8_t *data, size_t len) {
  to->expected = test_reallocate(to->expected, to->expected_len + len);
  if (len > 0) memcpy(to->expected + to->expected_len, data, len);
  to->expected_len += len;
}

static void encrypts(Model *from, Model *to) {
  uint8_t data[20000];
  const uint32_t limits[] = {3, 100, 20000};
  const size_t len = test_random_below(limits[test_random_below(3)]), room = test_random_below(40000);
  pattern_fill(data, len, test_random());
  const sst_status status = side_call(from->side, CALL_ENCRYPT, data, len, room);
  expect_data(to, data, from->side->progress.consumed);
  if (from->failed != SST_OK) {
    EXPECT_STATUS(status, from->failed);
  } else if (from->we_closed) {
    EXPECT_STATUS(status, SST_ERR_CLOSED);
  } else {
    EXPECT(status == SST_OK || status == SST_NEED_OUTPUT);
    return;
  }
  EXPECT_EQ(from->side->progress.consumed, 0);
}

static void takes_plaintext(Model *model) {
  Side *side = model->side;
  if (side->received_len == 0) return;
  REQUIRE(side->received_len <= model->expected_len);
  REQUIRE(EXPECT_BYTES(side->received, side->received_len, model->expected, side->received_len));
  memmove(model->expected, model->expected + side->received_len, model->expected_len - side->received_len);
  model->expected_len -= side->received_len;
  side->received_len = 0;
}

static void decrypts(Model *model) {
  Side *side = model->side;
  const size_t waiting = wire_waiting(side->in);
  const size_t len = test_random_below(2) == 0 ? waiting : test_random_below((uint32_t)waiting + 1);
  const uint32_t rooms[] = {1, 30, 40000};
  const size_t room = test_random_below(rooms[test_random_below(3)]);
  const bool ended = model->eof && len == waiting;
  if (model->eof && !ended) return; /* a caller that has seen the end gives all that it holds */
  const sst_status status = side_call(side, CALL_DECRYPT, wire_head(side->in), len, room);
  side->in->taken += side->progress.consumed;
  takes_plaintext(model);
  if (status == SST_NEED_OUTPUT) return;
  if (model->failed != SST_OK) {
    EXPECT_STATUS(status, model->failed);
  } else if (model->peer_closed) {
    EXPECT_STATUS(status, SST_CLOSED);
  } else if (model->truncated) {
    EXPECT_STATUS(status, SST_ERR_TRUNCATED);
  } else if (status == SST_CLOSED) {
    EXPECT(model->close_sent);
    EXPECT_EQ(model->expected_len, 0);
    model->peer_closed = true;
  } else if (status == SST_ERR_ALERT_RECEIVED - 90) {
    EXPECT(model->abort_sent);
    model->failed = status;
  } else if (status == SST_ERR_TRUNCATED) {
    EXPECT(ended);
    model->truncated = true;
  } else {
    EXPECT_STATUS(status, SST_NEED_INPUT);
    EXPECT(!ended);
  }
}

static void flushes(Model *model) {
  const sst_status status = side_call(model->side, CALL_FLUSH, NULL, 0, test_random_below(50));
  EXPECT(status == SST_OK || status == SST_NEED_OUTPUT);
}

static void closes(Model *from, Model *to) {
  const sst_status status = side_call(from->side, CALL_CLOSE, NULL, 0, test_random_below(50));
  EXPECT(status == SST_OK || status == SST_NEED_OUTPUT);
  if (from->failed != SST_OK) return;
  from->we_closed = to->close_sent = true;
}

static void aborts(Model *from, Model *to) {
  const sst_status status = sst_stream_abort(from->side->stream, 90);
  EXPECT_STATUS(status, from->failed != SST_OK ? from->failed : from->we_closed ? SST_ERR_CLOSED : SST_OK);
  if (status != SST_OK) return;
  from->failed = SST_ERR_ABORTED;
  to->abort_sent = true;
}

static void updates_keys(Model *from, uint16_t version) {
  const sst_status status = sst_stream_key_update(from->side->stream, (int32_t)test_random_below(2));
  const sst_status open = version == SST_TLS1_3 ? SST_OK : SST_ERR_UNSUPPORTED;
  EXPECT_STATUS(status, from->failed != SST_OK ? from->failed : from->we_closed ? SST_ERR_CLOSED : open);
}

static void shakes_hands(Model *model) {
  const sst_status status = side_call(model->side, CALL_HANDSHAKE, (const uint8_t *)"x", 1, test_random_below(50));
  EXPECT_EQ(model->side->progress.consumed, 0);
  if (model->failed != SST_OK) {
    EXPECT_STATUS(status, model->failed);
  } else {
    EXPECT_STATUS(status, SST_OK);
  }
}

static void one_step(Model *from, Model *to, uint16_t version) {
  const uint32_t step = test_random_below(200);
  if (step < 70) {
    encrypts(from, to);
  } else if (step < 160) {
    decrypts(from);
  } else if (step < 180) {
    flushes(from);
  } else if (step < 190) {
    updates_keys(from, version);
  } else if (step < 197) {
    if (sst_stream_output_size(from->side->stream) == 0) shakes_hands(from);
  } else if (step == 197) {
    closes(from, to);
  } else if (step == 198) {
    aborts(from, to);
  } else if (to->we_closed || to->failed != SST_OK) {
    EXPECT_STATUS(sst_stream_input_eof(from->side->stream), SST_OK);
    from->eof = true;
  }
}

static void expect_state(const Model *model) {
  uint32_t state = SST_STATE_OPEN;
  if (model->we_closed) state |= SST_STATE_WE_CLOSED;
  if (model->peer_closed) state |= SST_STATE_PEER_CLOSED;
  if (model->truncated) state |= SST_STATE_TRUNCATED;
  if (model->failed != SST_OK) state |= SST_STATE_FAILED;
  EXPECT_EQ(sst_stream_state(model->side->stream), state);
  const sst_status code = model->failed != SST_OK ? model->failed : model->truncated ? SST_ERR_TRUNCATED : SST_OK;
  EXPECT_STATUS(error_of(model->side).code, code);
}

/* In the end nothing of what the peer has sent may be missing, unless this side itself has failed. */
static void ends_complete(Model *model) {
  if (model->failed == SST_ERR_ABORTED) return;
  side_receive(model->side);
  takes_plaintext(model);
  EXPECT_EQ(model->expected_len, 0);
}

static void walk(uint16_t version, const uint32_t *options) {
  Pair pair = pair_open(.client = {.max_version = version, .options = options[0]}, .server = {.options = options[1]});
  Model models[2] = {{.side = &pair.client}, {.side = &pair.server}};
  for (int step = 0; step < 400; step++) {
    const uint32_t i = test_random_below(2);
    one_step(&models[i], &models[1 - i], version);
    expect_state(&models[i]);
  }
  ends_complete(&models[0]);
  ends_complete(&models[1]);
  free(models[0].expected);
  free(models[1].expected);
  pair_free(&pair);
}

static void walks(uint16_t version) {
  const uint32_t none[2] = {0, 0}, both[2] = {SST_OPTION_LEAVE_PARTIAL, SST_OPTION_LEAVE_PARTIAL};
  for (int round = 0; round < 100; round++) {
    test_note("walk %d", round);
    walk(version, round % 2 == 0 ? none : both);
  }
}

TEST_VERSIONS(stream_random, walks_obey_the_state_table) {
  walks(version);
}
