/*
 * The two directions of a stream end apart. A close is a half-close, data that is in flight is not lost to it, and the
 * end of the transport never overtakes what came before it.
 */
#include "pair.h"

#include <stdlib.h>
#include <string.h>

static Pair open_pair(uint16_t version, uint32_t options) {
  return pair_open(.client = {.max_version = version, .options = options}, .server = {.options = options});
}

/* C02, with each side as the one that closes first. */
static void half_closes(Side *a, Side *b) {
  enum { ANSWER = 3 * 16384 };
  static uint8_t answer[ANSWER];
  pattern_fill(answer, ANSWER, 3);
  EXPECT_STATUS(side_send(a, "req", 3), SST_OK);
  EXPECT_STATUS(side_close(a), SST_OK);
  EXPECT_STATUS(side_call(a, CALL_ENCRYPT, (const uint8_t *)"x", 1, 1000), SST_ERR_CLOSED);
  EXPECT_EQ(a->progress.consumed, 0);
  EXPECT_EQ(a->progress.produced, 0);

  EXPECT_STATUS(side_receive(b), SST_CLOSED);
  EXPECT_RECEIVED(b, "req", 3);
  EXPECT_EQ(sst_stream_output_size(b->stream), 0); /* no close_notify is answered by itself */
  EXPECT_STATUS(side_send(b, answer, ANSWER), SST_OK);
  EXPECT_STATUS(side_close(b), SST_OK);
  const size_t sent = b->out->len;
  EXPECT_STATUS(side_close(b), SST_OK);
  EXPECT_EQ(b->out->len, sent);

  EXPECT_STATUS(side_receive(a), SST_CLOSED);
  EXPECT_RECEIVED(a, answer, ANSWER);
  EXPECT_EQ(sst_stream_state(a->stream), SST_STATE_OPEN | SST_STATE_WE_CLOSED | SST_STATE_PEER_CLOSED);
}

TEST_VERSIONS(stream_close, half_close_of_client_lets_server_go_on) {
  Pair pair = open_pair(version, 0);
  half_closes(&pair.client, &pair.server);
  pair_free(&pair);
}

TEST_VERSIONS(stream_close, half_close_of_server_lets_client_go_on) {
  Pair pair = open_pair(version, 0);
  half_closes(&pair.server, &pair.client);
  pair_free(&pair);
}

/* V02 */
TEST_VERSIONS(stream_close, data_in_flight_is_delivered_after_our_close) {
  Pair pair = open_pair(version, 0);
  EXPECT_STATUS(side_close(&pair.client), SST_OK);
  EXPECT_STATUS(side_send(&pair.server, "late1", 5), SST_OK);
  EXPECT_STATUS(side_receive(&pair.client), SST_NEED_INPUT);
  EXPECT_RECEIVED(&pair.client, "late1", 5);
  EXPECT_STATUS(side_send(&pair.server, "late2", 5), SST_OK);
  EXPECT_STATUS(side_close(&pair.server), SST_OK);
  EXPECT_STATUS(side_receive(&pair.client), SST_CLOSED);
  EXPECT_RECEIVED(&pair.client, "late2", 5);
  EXPECT_STATUS(side_receive(&pair.server), SST_CLOSED);
  EXPECT_EQ(error_of(&pair.client).code, SST_OK);
  EXPECT_EQ(error_of(&pair.server).code, SST_OK);
  pair_free(&pair);
}

/* V04. The body is whole, the closing alert is cut. */
static void gives_body_before_truncation(uint16_t version, uint32_t options) {
  enum { PART = 1000 };
  Pair pair = open_pair(version, options);
  Side *a = &pair.client;
  uint8_t body[3 * PART];
  pattern_fill(body, sizeof body, 4);
  for (size_t i = 0; i < 3; i++)
    side_send(&pair.server, body + i * PART, PART);
  const size_t whole = wire_waiting(a->in);
  side_close(&pair.server);
  wire_cut(a->in, whole + 3);

  for (size_t i = 0; i < 3; i++) {
    const sst_status status = side_call(a, CALL_DECRYPT, wire_head(a->in), wire_waiting(a->in), PART);
    EXPECT_STATUS(status, i < 2 ? SST_NEED_OUTPUT : SST_NEED_INPUT);
    EXPECT_EQ(a->progress.produced, PART);
    a->in->taken += a->progress.consumed;
  }
  EXPECT_RECEIVED(a, body, sizeof body);
  EXPECT_EQ(wire_waiting(a->in), options == 0 ? 0 : 3);
  EXPECT_STATUS(sst_stream_input_eof(a->stream), SST_OK);
  for (int i = 0; i < 2; i++) {
    EXPECT_STATUS(side_call(a, CALL_DECRYPT, wire_head(a->in), wire_waiting(a->in), PART), SST_ERR_TRUNCATED);
    EXPECT_EQ(a->progress.produced, 0);
  }
  pair_free(&pair);
}

TEST_VERSIONS(stream_close, body_before_cut_close_notify_is_delivered) {
  gives_body_before_truncation(version, 0);
}

TEST_VERSIONS(stream_close, body_before_cut_close_notify_is_delivered_with_leave_partial) {
  gives_body_before_truncation(version, SST_OPTION_LEAVE_PARTIAL);
}

/* A cut inside a data record is a truncation too, and its bytes are not plaintext. */
TEST_VERSIONS(stream_close, cut_record_is_truncation) {
  Pair pair = open_pair(version, 0);
  side_send(&pair.server, "whole", 5);
  const size_t whole = wire_waiting(pair.client.in);
  side_send(&pair.server, "cut", 3);
  wire_cut(pair.client.in, whole + RECORD_HEADER + 10);
  EXPECT_STATUS(side_receive(&pair.client), SST_NEED_INPUT);
  EXPECT_STATUS(sst_stream_input_eof(pair.client.stream), SST_OK);
  EXPECT_STATUS(side_receive(&pair.client), SST_ERR_TRUNCATED);
  EXPECT_RECEIVED(&pair.client, "whole", 5);
  pair_free(&pair);
}

/* V15 (b). What follows close_notify belongs to the next protocol. */
static void leaves_what_follows(uint16_t version, uint32_t options, size_t chunk) {
  Pair pair = open_pair(version, options);
  Side *a = &pair.client;
  a->chunk = chunk;
  EXPECT_STATUS(side_send(&pair.server, "bye", 3), SST_OK);
  EXPECT_STATUS(side_close(&pair.server), SST_OK);
  wire_insert(a->in, "PLAIN", 5);
  EXPECT_STATUS(side_receive(a), SST_CLOSED);
  EXPECT_RECEIVED(a, "bye", 3);
  EXPECT_TEXT(wire_head(a->in), wire_waiting(a->in), "PLAIN");
  EXPECT_STATUS(side_receive(a), SST_CLOSED);
  EXPECT_TEXT(wire_head(a->in), wire_waiting(a->in), "PLAIN");
  pair_free(&pair);
}

TEST_VERSIONS(stream_close, bytes_behind_close_notify_stay) {
  leaves_what_follows(version, 0, 0);
}

TEST_VERSIONS(stream_close, bytes_behind_close_notify_stay_with_leave_partial) {
  leaves_what_follows(version, SST_OPTION_LEAVE_PARTIAL, 0);
}

TEST_VERSIONS(stream_close, bytes_behind_close_notify_stay_byte_by_byte) {
  leaves_what_follows(version, 0, 1);
  leaves_what_follows(version, SST_OPTION_LEAVE_PARTIAL, 1);
}

TEST_VERSIONS(stream_close, bytes_behind_close_notify_stay_in_place) {
  Pair pair = open_pair(version, 0);
  side_send(&pair.server, "bye", 3);
  side_close(&pair.server);
  const size_t records = wire_waiting(pair.client.in);
  wire_insert(pair.client.in, "PLAIN", 5);
  uint8_t buf[512];
  memcpy(buf, wire_head(pair.client.in), records + 5);
  sst_range ranges[4];
  size_t used = 0;
  sst_progress done;
  EXPECT_STATUS(sst_stream_decrypt_in_place(pair.client.stream, buf, records + 5, ranges, 4, &used, &done), SST_CLOSED);
  EXPECT_EQ(done.consumed, records);
  EXPECT_TEXT(buf + done.consumed, 5, "PLAIN");
  REQUIRE_EQ(used, 1);
  EXPECT_TEXT(buf + ranges[0].offset, ranges[0].length, "bye");
  pair_free(&pair);
}

/* close_notify in pieces, with every room, behind what waits. */
TEST_VERSIONS(stream_close, close_notify_is_whole_in_any_room) {
  const size_t rooms[] = {SIDE_LEARN, 1, 5, 100};
  for (size_t i = 0; i < 4; i++) {
    test_note("room %zu", rooms[i]);
    Pair pair = open_pair(version, 0);
    pair.client.room = rooms[i];
    if (version == SST_TLS1_3) EXPECT_STATUS(sst_stream_key_update(pair.client.stream, 0), SST_OK);
    EXPECT_STATUS(side_close(&pair.client), SST_OK);
    EXPECT_STATUS(side_receive(&pair.server), SST_CLOSED);
    EXPECT_STATUS(side_send(&pair.server, "on", 2), SST_OK);
    pair.client.room = 0;
    EXPECT_STATUS(side_receive(&pair.client), SST_NEED_INPUT);
    EXPECT_RECEIVED(&pair.client, "on", 2);
    pair_free(&pair);
  }
}

/* Plaintext that is kept survives our own close. */
TEST_VERSIONS(stream_close, kept_plaintext_is_read_after_our_close) {
  Pair pair = open_pair(version, 0);
  Side *a = &pair.client;
  side_send(&pair.server, "0123456789", 10);
  EXPECT_STATUS(side_call(a, CALL_DECRYPT, wire_head(a->in), wire_waiting(a->in), 4), SST_NEED_OUTPUT);
  a->in->taken += a->progress.consumed;
  EXPECT_STATUS(side_close(a), SST_OK);
  EXPECT_STATUS(side_receive(a), SST_NEED_INPUT);
  EXPECT_RECEIVED(a, "0123456789", 10);
  pair_free(&pair);
}

/* "It fills out exactly": the type of the next record is not known before it is opened. */
TEST_VERSIONS(stream_close, close_notify_behind_data_that_fills_the_room_needs_a_call) {
  Pair pair = open_pair(version, 0);
  Side *a = &pair.client;
  side_send(&pair.server, "0123456789", 10);
  side_close(&pair.server);
  EXPECT_STATUS(side_call(a, CALL_DECRYPT, wire_head(a->in), wire_waiting(a->in), 10), SST_NEED_OUTPUT);
  EXPECT_EQ(a->progress.produced, 10);
  EXPECT_EQ(a->progress.flags & SST_HAS_PLAINTEXT, 0);
  a->in->taken += a->progress.consumed;
  EXPECT_STATUS(side_call(a, CALL_DECRYPT, wire_head(a->in), wire_waiting(a->in), 0), SST_CLOSED);
  a->in->taken += a->progress.consumed;
  EXPECT_EQ(wire_waiting(a->in), 0);
  pair_free(&pair);
}

/* A client that closes in the handshake leaves its peer to the transport's end. */
TEST_VERSIONS(stream_close, close_in_handshake_leaves_peer_with_handshake_eof) {
  Pair pair = pair_new(.client = {.max_version = version});
  side_handshake(&pair.client);
  EXPECT_STATUS(side_close(&pair.client), SST_OK);
  EXPECT_STATUS(side_handshake(&pair.server), SST_NEED_INPUT);
  EXPECT_STATUS(sst_stream_input_eof(pair.server.stream), SST_OK);
  EXPECT_STATUS(side_handshake(&pair.server), SST_ERR_HANDSHAKE_EOF);
  pair_free(&pair);
}

/* Between the handshakes of the two sides in TLS 1.3: the client is open and may close, the server is not yet. */
TEST(stream_close, close_right_behind_clients_finished_is_read_by_server_tls13) {
  Pair pair = pair_new();
  side_handshake(&pair.client);
  side_handshake(&pair.server);
  EXPECT_STATUS(side_handshake(&pair.client), SST_OK);
  EXPECT_STATUS(side_close(&pair.client), SST_OK);
  EXPECT_STATUS(side_handshake(&pair.server), SST_OK);
  EXPECT_STATUS(side_receive(&pair.server), SST_CLOSED);
  EXPECT_STATUS(side_send(&pair.server, "answer", 6), SST_OK);
  EXPECT_STATUS(side_receive(&pair.client), SST_NEED_INPUT);
  EXPECT_RECEIVED(&pair.client, "answer", 6);
  pair_free(&pair);
}

/* A fatal alert ends both directions at the peer, and every call says the same. */
TEST_VERSIONS(stream_close, abort_ends_the_peer_for_ever) {
  Pair pair = open_pair(version, 0);
  EXPECT_STATUS(side_send(&pair.client, "last", 4), SST_OK);
  EXPECT_STATUS(sst_stream_abort(pair.client.stream, 80), SST_OK);
  EXPECT_STATUS(side_flush(&pair.client), SST_OK);
  EXPECT_STATUS(side_receive(&pair.server), SST_ERR_ALERT_RECEIVED - 80);
  EXPECT_RECEIVED(&pair.server, "last", 4);
  const sst_error first = error_of(&pair.server);
  EXPECT_CONTAINS(first.message, "internal_error");
  EXPECT_STATUS(side_send(&pair.server, "x", 1), SST_ERR_ALERT_RECEIVED - 80);
  EXPECT_STATUS(side_receive(&pair.server), SST_ERR_ALERT_RECEIVED - 80);
  EXPECT_STATUS(side_handshake(&pair.server), SST_ERR_ALERT_RECEIVED - 80);
  EXPECT_STATUS(sst_stream_abort(pair.server.stream, 80), SST_ERR_ALERT_RECEIVED - 80);
  EXPECT_STATUS(side_close(&pair.server), SST_OK);
  EXPECT_EQ(wire_waiting(pair.client.in), 0); /* no alert answers an alert */
  const sst_error last = error_of(&pair.server);
  EXPECT_BYTES(&last, sizeof last, &first, sizeof first);
  pair_free(&pair);
}

/* Bytes behind a fatal alert are nobody's. */
TEST_VERSIONS(stream_close, data_behind_a_failure_is_not_delivered) {
  Pair pair = open_pair(version, 0);
  uint8_t bad[RECORD_HEADER + 40] = {RECORD_APPLICATION_DATA, 3, 3, 0, 40};
  wire_insert(pair.client.in, bad, sizeof bad);
  EXPECT_STATUS(side_send(&pair.server, "late", 4), SST_OK);
  EXPECT_STATUS(side_receive(&pair.client), SST_ERR_BAD_RECORD_MAC);
  EXPECT_EQ(pair.client.received_len, 0);
  pair_free(&pair);
}

/* The room that the header promises for close, with as much before it as can wait: an answer to KeyUpdate in the queue, one
   held back behind it, and a KeyUpdate of our own. */
TEST_VERSIONS(stream_close, room_of_what_waits_and_64_bytes_is_enough) {
  Pair pair = pair_open(.client = {.max_version = version});
  sst_stream *client = pair.client.stream, *server = pair.server.stream;
  for (int i = 0; version == SST_TLS1_3 && i < 3; i++) {
    EXPECT_STATUS(sst_stream_key_update(server, 1), SST_OK);
    EXPECT_STATUS(side_flush(&pair.server), SST_OK);
    EXPECT_STATUS(side_receive(&pair.client), SST_NEED_INPUT);
  }
  if (version == SST_TLS1_3) EXPECT_STATUS(sst_stream_key_update(client, 1), SST_OK);
  uint8_t out[512];
  sst_progress done;
  const size_t room = sst_stream_output_size(client) + 64;
  REQUIRE(room <= sizeof out);
  EXPECT_STATUS(sst_stream_close(client, out, room, &done), SST_OK);
  EXPECT_EQ(sst_stream_output_size(client), 0);
  EXPECT_AT_LEAST(done.produced, version == SST_TLS1_3 ? 24 : 31);
  pair_free(&pair);
}
