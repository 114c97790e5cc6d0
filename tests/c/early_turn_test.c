/* White-box: 0-RTT is for one thread: a call of either side is refused while one of the other runs, and is not any more
   when the handshake is confirmed. That a call runs is said by the flags that it would set. */
#include "early.h"
#include "stream.h"

static sst_status decrypt(Side *side) {
  uint8_t out[100];
  return sst_stream_decrypt(side->stream, NULL, 0, out, sizeof out, &side->progress);
}

static sst_status encrypt(Side *side) {
  uint8_t out[100];
  const sst_status status = sst_stream_encrypt(side->stream, (const uint8_t *)"x", 1, out, sizeof out, &side->progress);
  wire_write(side->out, out, side->progress.produced);
  return status;
}

static void expect_turns(Side *side, sst_status receiving_beside, sst_status sending_beside) {
  atomic_store(&side->stream->sending, true);
  EXPECT_STATUS(encrypt(side), SST_ERR_BUSY);
  EXPECT_STATUS(decrypt(side), receiving_beside);
  atomic_store(&side->stream->sending, false);
  atomic_store(&side->stream->receiving, true);
  EXPECT_STATUS(decrypt(side), SST_ERR_BUSY);
  EXPECT_STATUS(encrypt(side), sending_beside);
  EXPECT(atomic_load(&side->stream->receiving)); /* still the other's */
  EXPECT(!atomic_load(&side->stream->sending));
  atomic_store(&side->stream->receiving, false);
}

TEST(early_turn, each_side_is_refused_while_the_other_runs_until_the_confirmation) {
  Early early = early_open(EARLY_TAKEN, .client = {.server_name = NULL});
  Side *client = &early.pair.client, *server = &early.pair.server;
  expect_turns(client, SST_ERR_BUSY, SST_ERR_BUSY);
  EXPECT_STATUS(side_send(client, "early", 5), SST_OK);
  EXPECT_STATUS(side_handshake(server), SST_OK);
  expect_turns(server, SST_ERR_BUSY, SST_ERR_BUSY);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  expect_turns(server, SST_ERR_BUSY, SST_ERR_BUSY);
  EXPECT_STATUS(side_handshake(client), SST_OK);
  expect_turns(client, SST_NEED_INPUT, SST_OK);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  expect_turns(server, SST_NEED_INPUT, SST_OK);
  early_free(&early);
}
