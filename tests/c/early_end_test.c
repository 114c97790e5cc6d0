/*
 * Every way to end a stream at every step of a 0-RTT connection, on either side: what the call says, what state follows,
 * and what the other side sees.
 */
#include <string.h>

#include "early.h"

typedef enum Step {
  HELLO,     /* the client's hello is on the wire */
  SENT,      /* and early data */
  ACCEPTED,  /* the server is open, and has read nothing */
  READ,      /* it has read the early data, */
  ANSWERED,  /* and answered */
  FINISHED,  /* the client's handshake is over, the server's is not confirmed */
  CONFIRMED, /* it is */
  STEPS
} Step;

static Early until(Step step) {
  test_note("step %d", (int)step);
  Early early = early_open(EARLY_TAKEN, .client = {.server_name = NULL});
  Side *client = &early.pair.client, *server = &early.pair.server;
  if (step >= SENT) REQUIRE_STATUS(side_send(client, "early", 5), SST_OK);
  if (step >= ACCEPTED) REQUIRE_STATUS(side_handshake(server), SST_OK);
  if (step >= READ) REQUIRE_STATUS(side_receive(server), SST_NEED_INPUT);
  if (step >= ANSWERED) REQUIRE_STATUS(side_send(server, "answer", 6), SST_OK);
  if (step >= FINISHED) REQUIRE_STATUS(side_handshake(client), SST_OK);
  if (step >= CONFIRMED) REQUIRE_STATUS(side_receive(server), SST_NEED_INPUT);
  return early;
}

static uint32_t state_of(const Side *side) {
  return sst_stream_state(side->stream);
}

static void expect_ended(Side *side, sst_status status) {
  uint8_t out[100];
  sst_progress progress;
  EXPECT_STATUS(sst_stream_encrypt(side->stream, (const uint8_t *)"x", 1, out, sizeof out, &progress), status);
  EXPECT_EQ(progress.consumed, 0);
  EXPECT_EQ(progress.produced, 0);
  EXPECT_EQ(sst_stream_early_data_left(side->stream), 0);
}

TEST(early_end, client_closes_at_every_step) {
  for (Step step = HELLO; step < STEPS; step++) {
    Early early = until(step);
    Side *client = &early.pair.client, *server = &early.pair.server;
    const size_t sent = client->out->len;
    EXPECT_STATUS(side_close(client), SST_OK);
    EXPECT_EQ(client->progress.flags & SST_EARLY_DATA, 0);
    expect_ended(client, SST_ERR_CLOSED);
    if (step < FINISHED) {
      EXPECT_EQ(client->out->len, sent);
      EXPECT_EQ(state_of(client), SST_STATE_HANDSHAKE | SST_STATE_ENDED_EARLY);
      EXPECT_STATUS(side_handshake(client), SST_ERR_CLOSED);
    } else {
      EXPECT_EQ(state_of(client), SST_STATE_OPEN | SST_STATE_WE_CLOSED);
      EXPECT_STATUS(side_receive(server), SST_CLOSED);
    }
    if (step < ACCEPTED) EXPECT_STATUS(side_handshake(server), SST_OK);
    EXPECT_STATUS(sst_stream_input_eof(server->stream), SST_OK);
    EXPECT_STATUS(side_receive(server), step < FINISHED ? SST_ERR_HANDSHAKE_EOF : SST_CLOSED);
    if (step >= SENT) EXPECT_RECEIVED(server, "early", 5);
    EXPECT_EQ(server->received_len, 0);
    early_free(&early);
  }
}

TEST(early_end, server_closes_at_every_step) {
  for (Step step = HELLO; step < STEPS; step++) {
    Early early = until(step);
    Side *client = &early.pair.client, *server = &early.pair.server;
    const size_t sent = server->out->len;
    EXPECT_STATUS(side_close(server), SST_OK);
    expect_ended(server, SST_ERR_CLOSED);
    EXPECT_STATUS(side_close(server), SST_OK);
    if (step < ACCEPTED) {
      EXPECT_EQ(server->out->len, sent);
      EXPECT_EQ(state_of(server), step == HELLO || step == SENT ? SST_STATE_ENDED_EARLY : 0);
      EXPECT_STATUS(side_handshake(server), SST_ERR_CLOSED);
      early_free(&early);
      continue;
    }
    EXPECT_STATUS(sst_stream_abort(server->stream, 90), SST_ERR_CLOSED);
    EXPECT_STATUS(sst_stream_key_update(server->stream, 0), SST_ERR_CLOSED);
    EXPECT_EQ(server->out->len == sent, step < CONFIRMED);
    if (step < FINISHED) EXPECT_STATUS(side_handshake(client), SST_OK);
    EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
    EXPECT_RECEIVED(server, "early", 5);
    EXPECT_STATUS(side_flush(server), SST_OK);
    EXPECT_STATUS(side_receive(client), SST_CLOSED);
    EXPECT_RECEIVED(client, "answer", step >= ANSWERED ? 6 : 0);
    EXPECT_EQ(state_of(server), SST_STATE_OPEN | SST_STATE_WE_CLOSED);
    EXPECT_STATUS(side_send(client, "more", 4), SST_OK);
    EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
    EXPECT_RECEIVED(server, "more", 4);
    early_free(&early);
  }
}

TEST(early_end, either_side_aborts_at_every_step) {
  for (Step step = HELLO; step < STEPS; step++) {
    for (int by_server = 0; by_server < 2; by_server++) {
      Early early = until(step);
      Side *client = &early.pair.client, *server = &early.pair.server;
      Side *side = by_server ? server : client, *peer = by_server ? client : server;
      EXPECT_STATUS(sst_stream_abort(side->stream, 90), SST_OK);
      EXPECT_STATUS(side_flush(side), SST_OK);
      expect_ended(side, SST_ERR_ABORTED);
      EXPECT_EQ(state_of(side) & SST_STATE_FAILED, SST_STATE_FAILED);
      EXPECT_STATUS(side_handshake(side), SST_ERR_ABORTED);
      const uint32_t early_state = SST_STATE_HANDSHAKE | SST_STATE_OPEN;
      if ((state_of(peer) & early_state) == early_state || (state_of(peer) & SST_STATE_OPEN) != 0) {
        EXPECT_STATUS(side_receive(peer), SST_ERR_ALERT_RECEIVED - 90);
      } else if (by_server && step < ACCEPTED) {
        EXPECT_STATUS(side_handshake(peer), SST_ERR_ALERT_RECEIVED - 90);
      } else {
        EXPECT_STATUS(side_handshake(peer), SST_OK); /* the whole flight is there */
        EXPECT_STATUS(side_receive(peer), SST_ERR_ALERT_RECEIVED - 90);
      }
      EXPECT_EQ(sst_stream_early_data_left(peer->stream), 0);
      if (!by_server && step >= SENT) EXPECT_RECEIVED(server, "early", 5);
      early_free(&early);
    }
  }
}

TEST(early_end, transport_of_the_server_ends_at_every_step) {
  for (Step step = HELLO; step < STEPS; step++) {
    for (int in_place = 0; in_place < 2; in_place++) {
      Early early = until(step);
      Side *client = &early.pair.client, *server = &early.pair.server;
      uint8_t buffer[1000];
      sst_range ranges[4];
      size_t used = 0;
      if (step < ACCEPTED) EXPECT_STATUS(side_handshake(server), SST_OK);
      EXPECT_STATUS(sst_stream_input_eof(server->stream), SST_OK);
      const sst_status expected = step < FINISHED ? SST_ERR_HANDSHAKE_EOF : SST_ERR_TRUNCATED;
      if (in_place) {
        const size_t len = wire_waiting(server->in);
        if (len > 0) memcpy(buffer, wire_head(server->in), len);
        EXPECT_STATUS(sst_stream_decrypt_in_place(server->stream, buffer, len, ranges, 4, &used, &server->progress),
                      expected);
        EXPECT_EQ(used, step == SENT || step == ACCEPTED ? 1 : 0);
      } else {
        EXPECT_STATUS(side_receive(server), expected);
        EXPECT_RECEIVED(server, "early", step >= SENT ? 5 : 0);
      }
      EXPECT_EQ(server->progress.needed, 0);
      EXPECT_EQ(sst_stream_output_size(server->stream), 0); /* nobody is there to read an alert */
      EXPECT_EQ(error_of(server).alert_sent, -1);
      if (step >= FINISHED) EXPECT_STATUS(side_send(server, "x", 1), SST_OK);
      if (step < FINISHED) expect_ended(server, SST_ERR_HANDSHAKE_EOF);
      (void)client;
      early_free(&early);
    }
  }
}

TEST(early_end, transport_of_the_client_ends_at_every_step) {
  for (Step step = HELLO; step < FINISHED; step++) {
    Early early = until(step);
    Side *client = &early.pair.client;
    EXPECT_STATUS(sst_stream_input_eof(client->stream), SST_OK);
    const bool has_flight = step >= ACCEPTED;
    EXPECT_STATUS(side_handshake(client), has_flight ? SST_OK : SST_ERR_HANDSHAKE_EOF);
    EXPECT_EQ(client->progress.flags & SST_EARLY_DATA, 0);
    if (!has_flight) expect_ended(client, SST_ERR_HANDSHAKE_EOF);
    if (has_flight) EXPECT_STATUS(side_receive(client), SST_ERR_TRUNCATED);
    early_free(&early);
  }
}

TEST(early_end, both_are_freed_at_every_step) {
  for (Step step = HELLO; step < STEPS; step++) {
    Early early = until(step);
    early_free(&early);
  }
}

/* Early data that was received, and for which there was no room, is there to be read when the stream has failed. */
TEST(early_end, early_data_that_is_kept_comes_before_the_failure) {
  Early early = until(ACCEPTED);
  Side *server = &early.pair.server;
  const size_t len = wire_waiting(server->in);
  EXPECT_STATUS(side_call(server, CALL_DECRYPT, wire_head(server->in), len, 2), SST_NEED_OUTPUT);
  server->in->taken += server->progress.consumed;
  EXPECT_STATUS(sst_stream_abort(server->stream, 90), SST_OK);
  EXPECT_STATUS(side_call(server, CALL_DECRYPT, NULL, 0, 2), SST_NEED_OUTPUT);
  EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, SST_EARLY_DATA);
  EXPECT_STATUS(side_call(server, CALL_DECRYPT, NULL, 0, 2), SST_ERR_ABORTED);
  EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, SST_EARLY_DATA);
  EXPECT_RECEIVED(server, "early", 5);
  early_free(&early);
}
