/*
 * How data becomes records: cut at the maximal fragment and at the end of the input, never into slivers, and never more
 * than the room takes.
 */
#include "pair.h"

#include <stdlib.h>
#include <string.h>

enum { FULL = 16384, LENGTH = 3 * FULL };

static size_t overhead(Side *side) {
  return sst_stream_encrypted_size(side->stream, 2) - sst_stream_encrypted_size(side->stream, 0) - 2;
}

static void delivers(Pair *pair, const uint8_t *data, size_t len) {
  EXPECT_STATUS(side_receive(&pair->server), SST_NEED_INPUT);
  EXPECT_RECEIVED(&pair->server, data, len);
}

/* A sliver at the end of a call costs a header, a tag and a system call at the peer. */
TEST_VERSIONS(stream_encrypt, no_short_record_stands_behind_a_full_one) {
  static uint8_t data[LENGTH];
  pattern_fill(data, LENGTH, 5);
  Pair pair = pair_open(.client = {.max_version = version});
  Side *client = &pair.client;
  const size_t room = FULL + overhead(client) + 5000;
  EXPECT_STATUS(side_call(client, CALL_ENCRYPT, data, LENGTH, room), SST_NEED_OUTPUT);
  EXPECT_EQ(client->progress.consumed, FULL);
  EXPECT_EQ(client->progress.produced, FULL + overhead(client));
  EXPECT_EQ(client->progress.needed, FULL + overhead(client));
  delivers(&pair, data, FULL);
  pair_free(&pair);
}

/* The last record of the input may be short, if there is room for all of it. */
TEST_VERSIONS(stream_encrypt, end_of_the_input_may_be_short) {
  static uint8_t data[LENGTH];
  pattern_fill(data, LENGTH, 6);
  Pair pair = pair_open(.client = {.max_version = version});
  Side *client = &pair.client;
  const size_t room = FULL + 100 + 2 * overhead(client);
  EXPECT_STATUS(side_call(client, CALL_ENCRYPT, data, FULL + 100, room), SST_OK);
  EXPECT_EQ(client->progress.produced, room);
  delivers(&pair, data, FULL + 100);
  EXPECT_STATUS(side_call(client, CALL_ENCRYPT, data, FULL + 100, room - 1), SST_NEED_OUTPUT);
  EXPECT_EQ(client->progress.consumed, FULL);
  delivers(&pair, data, FULL);
  pair_free(&pair);
}

TEST_VERSIONS(stream_encrypt, first_record_is_shortened_to_fit) {
  static uint8_t data[LENGTH];
  pattern_fill(data, LENGTH, 7);
  Pair pair = pair_open(.client = {.max_version = version});
  Side *client = &pair.client;
  const size_t over = overhead(client), rooms[] = {over + 1, over + 2, 1000, FULL + over - 1};
  for (size_t i = 0; i < 4; i++) {
    test_note("room %zu", rooms[i]);
    EXPECT_STATUS(side_call(client, CALL_ENCRYPT, data, LENGTH, rooms[i]), SST_NEED_OUTPUT);
    EXPECT_EQ(client->progress.produced, rooms[i]);
    EXPECT_EQ(client->progress.consumed, rooms[i] - over);
    delivers(&pair, data, rooms[i] - over);
  }
  pair_free(&pair);
}

/* With consumed 0 nothing was taken, and the next call may bring other data. */
TEST_VERSIONS(stream_encrypt, room_for_no_byte_takes_nothing) {
  Pair pair = pair_open(.client = {.max_version = version});
  Side *client = &pair.client;
  const size_t over = overhead(client);
  for (size_t room = 0; room <= over; room++) {
    EXPECT_STATUS(side_call(client, CALL_ENCRYPT, (const uint8_t *)"first", 5, room), SST_NEED_OUTPUT);
    EXPECT_EQ(client->progress.consumed, 0);
    EXPECT_EQ(client->progress.produced, 0);
    EXPECT_EQ(client->progress.needed, over + 5);
  }
  EXPECT_STATUS(side_call(client, CALL_ENCRYPT, (const uint8_t *)"other", 5, over + 5), SST_OK);
  delivers(&pair, (const uint8_t *)"other", 5);
  pair_free(&pair);
}

/* R04 (c) */
TEST_VERSIONS(stream_encrypt, nothing_sends_nothing) {
  Pair pair = pair_open(.client = {.max_version = version});
  EXPECT_STATUS(side_call(&pair.client, CALL_ENCRYPT, NULL, 0, 100), SST_OK);
  EXPECT_EQ(pair.client.progress.consumed, 0);
  EXPECT_EQ(pair.client.progress.produced, 0);
  EXPECT_EQ(sst_stream_state(pair.client.stream), SST_STATE_OPEN);
  pair_free(&pair);
}

/* What waits goes out first, also where it takes all the room. */
TEST(stream_encrypt, waiting_output_goes_first) {
  Pair pair = pair_open();
  Side *client = &pair.client;
  EXPECT_STATUS(sst_stream_key_update(client->stream, 0), SST_OK);
  const size_t waiting = sst_stream_output_size(client->stream);
  EXPECT_STATUS(side_call(client, CALL_ENCRYPT, (const uint8_t *)"data", 4, 3), SST_NEED_OUTPUT);
  EXPECT_EQ(client->progress.produced, 3);
  EXPECT_EQ(client->progress.consumed, 0);
  EXPECT_EQ(client->progress.needed, waiting - 3 + overhead(client) + 4);
  EXPECT_STATUS(side_call(client, CALL_ENCRYPT, NULL, 0, 1), SST_OK); /* all of no input; the rest still waits */
  EXPECT_EQ(client->progress.flags, SST_HAS_OUTPUT);
  EXPECT_STATUS(side_call(client, CALL_ENCRYPT, (const uint8_t *)"data", 4, client->progress.waiting), SST_NEED_OUTPUT);
  EXPECT_EQ(client->progress.consumed, 0);
  EXPECT_EQ(sst_stream_output_size(client->stream), 0);
  EXPECT_STATUS(side_send(client, "data", 4), SST_OK);
  delivers(&pair, (const uint8_t *)"data", 4);
  pair_free(&pair);
}

/* Pieces share records, as if they stood one behind the other. */
TEST_VERSIONS(stream_encrypt, pieces_share_records) {
  static uint8_t data[FULL + 10];
  pattern_fill(data, sizeof data, 8);
  Pair pair = pair_open(.client = {.max_version = version});
  sst_stream *stream = pair.client.stream;
  uint8_t *out = test_allocate(2 * FULL);
  sst_progress done;
  EXPECT_STATUS(sst_stream_encrypt2(stream, data, 10, data + 10, FULL, out, 2 * FULL, &done), SST_OK);
  EXPECT_EQ(done.consumed, FULL + 10);
  EXPECT_EQ(sst_stream_counter(stream, SST_COUNTER_RECORDS_SENT), 2);
  wire_write(pair.client.out, out, done.produced);
  delivers(&pair, data, FULL + 10);

  const sst_slice slices[] = {{NULL, 0}, {data, 1}, {data + 1, 0}, {data + 1, 99}, {data + 100, 900}, {NULL, 0}};
  EXPECT_STATUS(sst_stream_encryptv(stream, slices, 6, out, 2 * FULL, &done), SST_OK);
  EXPECT_EQ(done.consumed, 1000);
  EXPECT_EQ(sst_stream_counter(stream, SST_COUNTER_RECORDS_SENT), 3);
  wire_write(pair.client.out, out, done.produced);
  delivers(&pair, data, 1000);
  free(out);
  pair_free(&pair);
}

/* consumed counts over all pieces: a caller can go on inside any of them. */
TEST_VERSIONS(stream_encrypt, pieces_are_taken_in_part) {
  enum { PIECES = 40, PIECE = 25 };
  uint8_t data[PIECES * PIECE], out[400];
  pattern_fill(data, sizeof data, 9);
  Pair pair = pair_open(.client = {.max_version = version});
  for (size_t taken = 0; taken < sizeof data;) {
    sst_slice slices[PIECES];
    size_t count = 0;
    for (size_t at = taken; at < sizeof data; count++) {
      const size_t len = PIECE - at % PIECE;
      slices[count] = (sst_slice){data + at, len};
      at += len;
    }
    sst_progress done;
    const sst_status status = sst_stream_encryptv(pair.client.stream, slices, count, out, sizeof out, &done);
    EXPECT_STATUS(status, taken + done.consumed == sizeof data ? SST_OK : SST_NEED_OUTPUT);
    REQUIRE(done.consumed > 0);
    wire_write(pair.client.out, out, done.produced);
    taken += done.consumed;
  }
  delivers(&pair, data, sizeof data);
  pair_free(&pair);
}
