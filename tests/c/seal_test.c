/*
 * Contract: how encrypt cuts plaintext into records, for every room that it may be given.
 */
#include "pair.h"

#include <stdlib.h>
#include <string.h>

enum { FRAGMENT = 600, BODY = 2500 };

typedef struct Sender {
  Pair pair;
  size_t overhead; /* header and protection of a record (RFC 8446, 5.2; RFC 5288, 3; RFC 7905, 2) */
  uint8_t data[BODY];
} Sender;

static const uint16_t suites_12[] = {0xc02b, 0xc02c, 0xcca9};

static Sender *sender_new(uint16_t version, uint16_t suite) {
  Sender *sender = test_allocate(sizeof *sender);
  sender->pair = pair_open(.client = {.max_version = version, .max_fragment = FRAGMENT, .suites = {suite}});
  sender->overhead = 5u + (version == SST_TLS1_3 ? 1 + 16 : suite == 0xcca9 ? 16 : 8 + 16);
  pattern_fill(sender->data, BODY, 9);
  return sender;
}

static void sender_free(Sender *sender) {
  pair_free(&sender->pair);
  free(sender);
}

#define FOR_EACH_SUITE(sender, version)                                         \
  for (size_t suite_ = 0; suite_ < ((version) == SST_TLS1_3 ? 1 : 3); suite_++) \
    for (Sender *sender = sender_new((version), suites_12[suite_]); sender != NULL; sender_free(sender), sender = NULL)

/* Plaintext lengths of the records that the last call made. */
typedef struct Cuts {
  size_t lengths[64];
  size_t count, total, wire;
} Cuts;

static Cuts cuts_of_last_call(const Sender *sender) {
  const Side *client = &sender->pair.client;
  const size_t produced = client->progress.produced;
  Record records[64];
  Cuts cuts = {.wire = produced};
  cuts.count = records_parse(client->out->bytes + client->out->len - produced, produced, records, 64);
  for (size_t i = 0; i < cuts.count; i++) {
    cuts.lengths[i] = RECORD_HEADER + (size_t)records[i].length - sender->overhead;
    cuts.total += cuts.lengths[i];
  }
  return cuts;
}

/* The records of one call with nothing waiting before it, held against the words of the header. */
static void check_cuts(const Sender *sender, size_t room, sst_status status, const Cuts *cuts) {
  const sst_progress *done = &sender->pair.client.progress;
  const size_t rest = BODY - done->consumed, next = rest < FRAGMENT ? rest : FRAGMENT;
  EXPECT_EQ(cuts->total, done->consumed);
  EXPECT_EQ(cuts->wire, cuts->total + cuts->count * sender->overhead);
  for (size_t i = 0; i < cuts->count; i++)
    EXPECT(cuts->lengths[i] > 0 && cuts->lengths[i] <= FRAGMENT);
  /* A short record behind a full one is the last of the input only. */
  for (size_t i = 1; i < cuts->count; i++) {
    EXPECT_EQ(cuts->lengths[i - 1], FRAGMENT);
    if (cuts->lengths[i] < FRAGMENT) EXPECT(i + 1 == cuts->count && rest == 0);
  }
  if (status == SST_OK) {
    EXPECT_EQ(rest, 0);
    return;
  }
  EXPECT_STATUS(status, SST_NEED_OUTPUT);
  EXPECT_EQ(done->needed, sender->overhead + next);
  /* No room is left unused that the next record would fit into, and the first record is shortened rather than left. */
  EXPECT_AT_LEAST(sender->overhead + next, room - done->produced + 1);
  if (done->consumed == 0) EXPECT_AT_MOST(room, sender->overhead);
}

static void server_reads(Sender *sender, size_t len) {
  EXPECT_STATUS(side_receive(&sender->pair.server), SST_NEED_INPUT);
  EXPECT_RECEIVED(&sender->pair.server, sender->data, len);
}

TEST_VERSIONS(seal, only_the_first_record_is_shortened_in_every_room) {
  FOR_EACH_SUITE(sender, version) {
    Side *client = &sender->pair.client;
    for (size_t room = 0; room < BODY + 5 * sender->overhead + 20; room++) {
      test_note("suite %zu, room %zu", suite_, room);
      const sst_status status = side_call(client, CALL_ENCRYPT, sender->data, BODY, room);
      const Cuts cuts = cuts_of_last_call(sender);
      check_cuts(sender, room, status, &cuts);
      server_reads(sender, client->progress.consumed);
    }
    EXPECT_STATUS(client->status, SST_OK);
  }
}

/* needed is honest: with just that room the next record, and no less, goes out; with one byte less it is shortened. */
TEST_VERSIONS(seal, needed_takes_one_whole_record) {
  FOR_EACH_SUITE(sender, version) {
    Side *client = &sender->pair.client;
    for (size_t len = 1; len <= BODY; len += 199) {
      test_note("%zu bytes", len);
      const size_t next = len < FRAGMENT ? len : FRAGMENT;
      EXPECT_STATUS(side_call(client, CALL_ENCRYPT, sender->data, len, 0), SST_NEED_OUTPUT);
      EXPECT_EQ(client->progress.consumed + client->progress.produced, 0);
      const size_t needed = client->progress.needed;
      side_call(client, CALL_ENCRYPT, sender->data, len, needed);
      EXPECT_EQ(client->progress.consumed, next);
      server_reads(sender, next);
      side_call(client, CALL_ENCRYPT, sender->data, len, needed - 1);
      EXPECT_EQ(client->progress.consumed, next - 1);
      server_reads(sender, next - 1);
    }
  }
}

/* A full record of the largest kind whose room falls short by one byte is one shortened record, and no sliver behind
   it. */
TEST_VERSIONS(seal, full_size_stream_makes_no_slivers) {
  enum { FULL = 16384, LEN = 100000 };
  Pair pair = pair_open(.client = {.max_version = version});
  const size_t overhead = sst_stream_encrypted_size(pair.client.stream, 2 * FULL) -
                          sst_stream_encrypted_size(pair.client.stream, FULL) - FULL;
  uint8_t *data = test_allocate(LEN);
  pattern_fill(data, LEN, 9);
  const size_t rooms[] = {FULL,  FULL + overhead, FULL + overhead + 1,
                          32768, 65536,           3 * (FULL + overhead) + overhead + 1};
  const size_t expected[] = {FULL - overhead, FULL, FULL, FULL, 3 * FULL, 3 * FULL};
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
    test_note("room %zu", rooms[i]);
    EXPECT_STATUS(side_call(&pair.client, CALL_ENCRYPT, data, LEN, rooms[i]), SST_NEED_OUTPUT);
    EXPECT_EQ(pair.client.progress.consumed, expected[i]);
    side_receive(&pair.server);
    EXPECT_RECEIVED(&pair.server, data, expected[i]);
  }
  free(data);
  pair_free(&pair);
}

/* ---- output that waits ---- */

static size_t queue_key_updates(Sender *sender, int count) {
  for (int i = 0; i < count; i++)
    REQUIRE_STATUS(sst_stream_key_update(sender->pair.client.stream, 0), SST_OK);
  return sst_stream_output_size(sender->pair.client.stream);
}

/* What waits goes out first, and what is left of the room is for plaintext. */
TEST(seal, waiting_output_goes_first_in_every_room) {
  Sender *sender = sender_new(SST_TLS1_3, 0xc02b);
  Side *client = &sender->pair.client;
  for (size_t room = 0; room < 150; room++) {
    test_note("room %zu", room);
    const size_t waiting = queue_key_updates(sender, 2);
    const sst_status status = side_call(client, CALL_ENCRYPT, sender->data, 50, room);
    const size_t left = room > waiting ? room - waiting : 0;
    const size_t taken = left <= sender->overhead ? 0 : left - sender->overhead < 50 ? left - sender->overhead : 50;
    EXPECT_EQ(client->progress.consumed, taken);
    EXPECT_EQ(client->progress.produced, taken > 0        ? waiting + sender->overhead + taken
                                         : room < waiting ? room
                                                          : waiting);
    EXPECT_STATUS(status, taken == 50 ? SST_OK : SST_NEED_OUTPUT);
    if (status == SST_NEED_OUTPUT)
      EXPECT_EQ(client->progress.needed, client->progress.waiting + sender->overhead + 50 - taken);
    EXPECT_STATUS(side_flush(client), SST_OK);
    EXPECT_STATUS(side_send(client, sender->data + taken, 60),
                  SST_OK); /* too many KeyUpdates in a row would be a flood */
    server_reads(sender, taken + 60);
  }
  sender_free(sender);
}

/* encrypted_size is enough with all that may come between asking and encrypting: an answer, and our own KeyUpdate. */
TEST_VERSIONS(seal, encrypted_size_is_enough_with_key_updates_in_between) {
  FOR_EACH_SUITE(sender, version) {
    Side *client = &sender->pair.client;
    for (size_t len = 0; len <= BODY; len += 100) {
      test_note("%zu bytes", len);
      size_t waiting = 0;
      if (version == SST_TLS1_3) waiting = queue_key_updates(sender, 1);
      const size_t size = sst_stream_encrypted_size(client->stream, len);
      const size_t records = (len + FRAGMENT - 1) / FRAGMENT;
      EXPECT_EQ(size, waiting + len + records * sender->overhead + (version == SST_TLS1_3 ? 2 * 27 : 0));
      if (version == SST_TLS1_3) {
        REQUIRE_STATUS(sst_stream_key_update(sender->pair.server.stream, 1), SST_OK);
        EXPECT_STATUS(side_flush(&sender->pair.server), SST_OK);
        EXPECT_STATUS(side_receive(client), SST_NEED_INPUT);
        queue_key_updates(sender, 1);
      }
      EXPECT_STATUS(side_call(client, CALL_ENCRYPT, sender->data, len, size), SST_OK);
      EXPECT_STATUS(side_flush(client), SST_OK);
      server_reads(sender, len);
    }
  }
}

/* The stream's own limit stands over the config's. */
TEST_VERSIONS(seal, fragment_of_the_stream_stands_over_the_configs) {
  Pair pair = pair_new(.client = {.max_version = version, .max_fragment = 600});
  EXPECT_STATUS(sst_stream_set_max_fragment(pair.client.stream, 511), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_max_fragment(pair.client.stream, 512), SST_OK);
  REQUIRE_STATUS(pair_handshake(&pair), SST_OK);
  uint8_t data[1025];
  pattern_fill(data, sizeof data, 1);
  const size_t from = pair.client.out->len;
  EXPECT_STATUS(side_send(&pair.client, data, sizeof data), SST_OK);
  EXPECT_EQ(records_count(pair.client.out, from, 0), 3);
  side_receive(&pair.server);
  EXPECT_RECEIVED(&pair.server, data, sizeof data);
  pair_free(&pair);
}
