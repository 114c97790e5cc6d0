/* White-box: records with every allocation failing in turn: each call that did nothing is repeated with the same bytes, and
   all data comes, KeyUpdates, answers and close_notify included. */
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "pair.h"
#include "tls/internal.h"

enum { SENT = 300, PIECE = 50 };

/* Allocations of the calls alone until one fails; 0: none does any more. */
static uint64_t left;

static void arm(void) {
  allocations_fail_at(left);
}

static void disarm(void) {
  const uint64_t count = allocations_count();
  left = allocations_hit() || left == 0 ? 0 : left - count;
}

static sst_status call_once(Side *side, Call call, const uint8_t *in, size_t len, size_t room) {
  static uint8_t out[2 * SENT];
  sst_progress *done = &side->progress;
  sst_status status;
  arm();
  if (call == CALL_ENCRYPT) {
    status = sst_stream_encrypt(side->stream, in, len, out, room, done);
  } else if (call == CALL_DECRYPT) {
    status = sst_stream_decrypt(side->stream, in, len, out, room, done);
  } else if (call == CALL_CLOSE) {
    status = sst_stream_close(side->stream, out, room, done);
  } else {
    status = sst_stream_flush(side->stream, out, room, done);
  }
  disarm();
  if (call != CALL_DECRYPT) {
    wire_write(side->out, out, done->produced);
  } else {
    side->received = test_reallocate(side->received, side->received_len + done->produced + 1);
    memcpy(side->received + side->received_len, out, done->produced);
    side->received_len += done->produced;
  }
  return status;
}

/* Repeats a call that had no memory, with the same bytes. */
static sst_status patiently(Side *side, Call call, const uint8_t *in, size_t len, size_t room) {
  const sst_status status = call_once(side, call, in, len, room);
  if (status != SST_ERR_NO_MEMORY) return status;
  EXPECT_EQ(side->progress.consumed + side->progress.produced, 0);
  EXPECT_STATUS(error_of(side).code, SST_OK);
  return call_once(side, call, in, len, room);
}

/* One record, in pieces and into rooms that do not take it: all of it comes. */
static void receive_in_pieces(Side *side) {
  while (wire_waiting(side->in) > 0 || sst_stream_plaintext_size(side->stream) > 0) {
    const size_t piece = wire_waiting(side->in) < PIECE ? wire_waiting(side->in) : PIECE;
    const sst_status status = patiently(side, CALL_DECRYPT, wire_head(side->in), piece, 7);
    REQUIRE(status == SST_NEED_INPUT || status == SST_NEED_OUTPUT);
    side->in->taken += side->progress.consumed;
  }
}

static void move(Side *from, Side *to, const uint8_t *data) {
  EXPECT_STATUS(patiently(from, CALL_ENCRYPT, data, SENT, SENT + 100), SST_OK);
  receive_in_pieces(to);
}

static void flush_in_bytes(Side *side, Call call) {
  sst_status status = SST_NEED_OUTPUT;
  for (int i = 0; i < 200 && status == SST_NEED_OUTPUT; i++) {
    /* Without memory for the queue it is room that helps. */
    const size_t needed = i == 0 ? 1 : side->progress.needed;
    status = patiently(side, call, NULL, 0, side->progress.produced == 0 ? needed : 1);
  }
  EXPECT_STATUS(status, SST_OK);
}

/* Returns whether allocation n was reached. */
static bool live(uint16_t version, uint64_t n) {
  test_note("allocation %u", (unsigned)n);
  uint8_t data[SENT];
  pattern_fill(data, SENT, (uint32_t)n);
  Pair pair = pair_open(.client = {.max_version = version});
  left = n;
  move(&pair.client, &pair.server, data);
  if (version == SST_TLS1_3) {
    arm();
    sst_status status = sst_stream_key_update(pair.client.stream, 1);
    disarm();
    if (status == SST_ERR_NO_MEMORY) status = sst_stream_key_update(pair.client.stream, 1);
    EXPECT_STATUS(status, SST_OK);
    flush_in_bytes(&pair.client, CALL_FLUSH);
    receive_in_pieces(&pair.server);
    flush_in_bytes(&pair.server, CALL_FLUSH);
    receive_in_pieces(&pair.client);
  }
  move(&pair.client, &pair.server, data);
  move(&pair.server, &pair.client, data);
  flush_in_bytes(&pair.client, CALL_CLOSE);
  const bool hit = left == 0;
  left = 0;
  EXPECT_STATUS(side_receive(&pair.server), SST_CLOSED);
  EXPECT_EQ(pair.server.received_len, 2 * SENT);
  EXPECT_BYTES(pair.server.received, SENT, data, SENT);
  EXPECT_BYTES(pair.server.received + SENT, SENT, data, SENT);
  EXPECT_RECEIVED(&pair.client, data, SENT);
  pair_free(&pair);
  return hit;
}

TEST_VERSIONS(record_failing, nothing_is_lost_whichever_allocation_fails) {
  if (sst__keeps_ssl()) SKIP("without memory BoringSSL's SSL is of no use any more");
  if (!allocations_are_wrapped()) SKIP("malloc is not wrapped in this build");
  uint64_t n = 1;
  while (live(version, n) && !test_failed())
    n++;
  EXPECT_AT_LEAST(n, 8);
}
