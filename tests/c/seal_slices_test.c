/*
 * Contract: input in slices is input: encrypt2 and encryptv take what encrypt takes, and cut the same records.
 */
#include "pair.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SLICES = 1100, MOST_RECORDS = 64 };

typedef struct Sliced {
  sst_slice list[MOST_SLICES];
  size_t count;
  uint8_t *memory[MOST_SLICES]; /* each slice is a block of its own, so that a byte too many is found */
} Sliced;

static void add(Sliced *sliced, const uint8_t *data, size_t len) {
  REQUIRE(sliced->count < MOST_SLICES);
  uint8_t *block = len == 0 ? NULL : test_allocate(len);
  if (len > 0) memcpy(block, data, len);
  sliced->memory[sliced->count] = block;
  sliced->list[sliced->count++] = (sst_slice){block, len};
}

static void free_slices(Sliced *sliced) {
  for (size_t i = 0; i < sliced->count; i++)
    free(sliced->memory[i]);
  sliced->count = 0;
}

/* What one call did, to be compared. */
typedef struct Outcome {
  sst_status status;
  sst_progress done;
  uint16_t lengths[MOST_RECORDS];
  size_t records;
} Outcome;

static Outcome outcome_of(Side *side, sst_status status, const sst_progress *done, const uint8_t *out) {
  Record records[MOST_RECORDS];
  Outcome outcome = {.status = status, .done = *done};
  outcome.records = records_parse(out, done->produced, records, MOST_RECORDS);
  for (size_t i = 0; i < outcome.records; i++)
    outcome.lengths[i] = records[i].length;
  wire_write(side->out, out, done->produced);
  return outcome;
}

static void expect_same(const Outcome *got, const Outcome *expected) {
  EXPECT_STATUS(got->status, expected->status);
  EXPECT_EQ(got->done.consumed, expected->done.consumed);
  EXPECT_EQ(got->done.produced, expected->done.produced);
  EXPECT_EQ(got->done.needed, expected->done.needed);
  EXPECT_BYTES(got->lengths, 2 * got->records, expected->lengths, 2 * expected->records);
}

static void server_reads(Pair *pair, const uint8_t *data, size_t len) {
  EXPECT_STATUS(side_receive(&pair->server), SST_NEED_INPUT);
  EXPECT_RECEIVED(&pair->server, data, len);
}

/* The same plaintext in slices and in one piece, one behind the other over the same stream. */
static void compare(Pair *pair, const Sliced *sliced, const uint8_t *data, size_t len, size_t room) {
  Side *client = &pair->client;
  uint8_t *out = test_allocate(room);
  sst_progress done;
  sst_status status = sst_stream_encrypt(client->stream, data, len, out, room, &done);
  const Outcome plain = outcome_of(client, status, &done, out);
  server_reads(pair, data, done.consumed);
  status = sst_stream_encryptv(client->stream, sliced->list, sliced->count, out, room, &done);
  const Outcome slices = outcome_of(client, status, &done, out);
  server_reads(pair, data, done.consumed);
  expect_same(&slices, &plain);
  free(out);
}

static void compare_in_rooms(Pair *pair, Sliced *sliced, const uint8_t *data, size_t len) {
  const size_t rooms[] = {0, 30, 100, 700, 1300, 5000, 100000};
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
    test_note("%zu bytes in %zu slices, room %zu", len, sliced->count, rooms[i]);
    compare(pair, sliced, data, len, rooms[i]);
  }
  free_slices(sliced);
}

static Pair open_pair(uint16_t version) {
  return pair_open(.client = {.max_version = version, .max_fragment = 600});
}

static uint8_t *pattern(size_t len) {
  uint8_t *data = test_allocate(len);
  pattern_fill(data, len, 21);
  return data;
}

TEST_VERSIONS(seal_slices, a_thousand_slices_of_one_byte_are_cut_like_one_piece) {
  enum { LEN = 1000 };
  Pair pair = open_pair(version);
  uint8_t *data = pattern(LEN);
  Sliced sliced = {.count = 0};
  for (size_t i = 0; i < LEN; i++)
    add(&sliced, data + i, 1);
  compare_in_rooms(&pair, &sliced, data, LEN);
  free(data);
  pair_free(&pair);
}

/* Empty slices at the begin, in the middle, at the end, and alone. */
TEST_VERSIONS(seal_slices, empty_slices_count_for_nothing) {
  enum { LEN = 2000 };
  Pair pair = open_pair(version);
  uint8_t *data = pattern(LEN);
  Sliced sliced = {.count = 0};
  for (size_t at = 0; at < LEN; at += 100) {
    for (size_t i = 0; i < 20; i++)
      add(&sliced, NULL, 0);
    add(&sliced, data + at, 100);
  }
  add(&sliced, NULL, 0);
  compare_in_rooms(&pair, &sliced, data, LEN);
  add(&sliced, NULL, 0);
  compare_in_rooms(&pair, &sliced, data, 0);
  compare_in_rooms(&pair, &sliced, data, 0);
  free(data);
  pair_free(&pair);
}

TEST_VERSIONS(seal_slices, random_slices_are_cut_like_one_piece) {
  enum { MOST = 6000 };
  Pair pair = open_pair(version);
  uint8_t *data = pattern(MOST);
  for (int round = 0; round < 50; round++) {
    Sliced sliced = {.count = 0};
    const size_t len = test_random_below(MOST);
    const uint32_t longest = 1 + test_random_below(round % 2 == 0 ? 20 : 2000);
    for (size_t at = 0; at < len;) {
      size_t part = test_random_below(longest + 1);
      if (part > len - at || sliced.count + 1 == MOST_SLICES) part = len - at;
      add(&sliced, data + at, part);
      at += part;
    }
    compare_in_rooms(&pair, &sliced, data, len);
  }
  free(data);
  pair_free(&pair);
}

/* Head and body share records; consumed counts over both. */
TEST_VERSIONS(seal_slices, head_and_body_share_records) {
  Pair pair = open_pair(version);
  uint8_t *data = pattern(1500), out[4096];
  const size_t heads[] = {0, 1, 9, 600, 601, 1500};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
    for (size_t room = 50; room <= sizeof out; room *= 3) {
      test_note("head of %zu bytes, room %zu", heads[i], room);
      sst_progress done;
      sst_status status = sst_stream_encrypt(pair.client.stream, data, 1500, out, room, &done);
      const Outcome plain = outcome_of(&pair.client, status, &done, out);
      server_reads(&pair, data, done.consumed);
      status =
          sst_stream_encrypt2(pair.client.stream, data, heads[i], data + heads[i], 1500 - heads[i], out, room, &done);
      const Outcome two = outcome_of(&pair.client, status, &done, out);
      server_reads(&pair, data, done.consumed);
      expect_same(&two, &plain);
    }
  }
  free(data);
  pair_free(&pair);
}

/* A call that took a part is repeated with the slices behind it. */
TEST_VERSIONS(seal_slices, rest_is_taken_by_the_next_call) {
  enum { LEN = 1000 };
  Pair pair = open_pair(version);
  uint8_t *data = pattern(LEN), out[200];
  size_t done_len = 0;
  for (int calls = 0; done_len < LEN; calls++) {
    REQUIRE(calls < 100);
    sst_slice slices[LEN];
    const size_t left = LEN - done_len;
    for (size_t i = 0; i < left; i++)
      slices[i] = (sst_slice){data + done_len + i, 1};
    sst_progress done;
    const sst_status status = sst_stream_encryptv(pair.client.stream, slices, left, out, sizeof out, &done);
    EXPECT_STATUS(status, done.consumed == left ? SST_OK : SST_NEED_OUTPUT);
    wire_write(pair.client.out, out, done.produced);
    done_len += done.consumed;
  }
  server_reads(&pair, data, LEN);
  free(data);
  pair_free(&pair);
}
