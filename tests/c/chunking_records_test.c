/*
 * Contract: how the records of an open stream are cut, and how much room there is for their plaintext, changes nothing
 * that can be seen; in the default mode, with LEAVE_PARTIAL and in place. SST_TEST_SEED repeats random cuts.
 */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

typedef enum End { GOES_ON, CLOSES, ABORTS, IS_CUT, ENDINGS } End;

typedef struct Stream {
  uint16_t version;
  bool large, to_client;
  End end;
} Stream;

#define EVENTS (1u << SST_EVENT_ALERT_RECEIVED | 1u << SST_EVENT_KEYS_UPDATED)

static sst_config *client_config, *server_config;

/* A key of Ed25519: the lengths of all records are the same in every run. */
static void make_configs(void) {
  client_config = pair_config(&(SideOptions){.groups = {29}, .report = EVENTS}, SST_ROLE_CLIENT);
  server_config =
      pair_config(&(SideOptions){.groups = {29}, .report = EVENTS, .credential = "server-ed25519"}, SST_ROLE_SERVER);
}

static void free_configs(void) {
  sst_config_free(client_config);
  sst_config_free(server_config);
}

static const size_t small_sizes[] = {1, 5, 100, 30}, large_sizes[] = {16384, 1, 16385, 0, 40000, 511, 16383};

#define LENGTH(list) (sizeof(list) / sizeof *(list))

/* Pieces of data, each a call of its own, with changes of keys between them. Returns how many bytes in all. */
static size_t send_pieces(Side *sender, const Stream *stream, uint8_t *data) {
  const size_t *sizes = stream->large ? large_sizes : small_sizes;
  const size_t count = stream->large ? LENGTH(large_sizes) : LENGTH(small_sizes);
  size_t total = 0;
  for (size_t i = 0; i < count; i++) {
    REQUIRE_STATUS(side_send(sender, data + total, sizes[i]), SST_OK);
    total += sizes[i];
    if (stream->version == SST_TLS1_3 && i % 2 == 1)
      REQUIRE_STATUS(sst_stream_key_update(sender->stream, i % 4 == 1), SST_OK);
  }
  side_flush(sender);
  return total;
}

static void end_stream(Side *sender, Side *receiver, End end) {
  switch (end) {
    case GOES_ON:
      return;
    case CLOSES:
      EXPECT_STATUS(side_close(sender), SST_OK);
      return;
    case ABORTS:
      EXPECT_STATUS(sst_stream_abort(sender->stream, 90), SST_OK);
      EXPECT_STATUS(side_flush(sender), SST_OK);
      return;
    case IS_CUT:
      EXPECT_STATUS(side_close(sender), SST_OK);
      wire_cut(receiver->in, wire_waiting(receiver->in) - 1);
      return;
    case ENDINGS:
      FAIL("no such end");
  }
}

static void trace_counters(Trace *trace, const Side *side) {
  trace_add(trace, "%s counted", side->label);
  for (int32_t i = SST_COUNTER_RECORDS_RECEIVED; i <= SST_COUNTER_KEY_UPDATES_RECEIVED; i++) {
    if (i != SST_COUNTER_WIRE_RECEIVED && i != SST_COUNTER_WIRE_SENT)
      trace_add(trace, " %llu", (unsigned long long)sst_stream_counter(side->stream, i));
  }
  trace_add(trace, "\n");
}

static Trace run(const Stream *stream, const Feed *feed) {
  enum { MOST = 100000 };
  static uint8_t data[MOST];
  Trace trace = {.text = NULL};
  const uint32_t options = feed->leave_partial ? SST_OPTION_LEAVE_PARTIAL : 0;
  Pair pair = pair_open(.client = {.config = client_config, .options = options, .max_version = stream->version},
                        .server = {.config = server_config, .options = options});
  Side *sender = stream->to_client ? &pair.server : &pair.client;
  Side *receiver = stream->to_client ? &pair.client : &pair.server;
  pattern_fill(data, MOST, 11);
  const size_t total = send_pieces(sender, stream, data);
  end_stream(sender, receiver, stream->end);

  sst_status status = feed_receive(receiver, feed);
  if (stream->end == IS_CUT) {
    EXPECT_STATUS(status, SST_NEED_INPUT);
    EXPECT_STATUS(sst_stream_input_eof(receiver->stream), SST_OK);
    status = feed_receive(receiver, &(Feed){.in_place = false});
  }
  trace_add(&trace, "decrypt %s\n", sst_status_name(status));
  EXPECT_BYTES(receiver->received, receiver->received_len, data, total);
  trace_received(&trace, receiver);
  trace_events(&trace, receiver);
  trace_facts(&trace, receiver);
  trace_counters(&trace, receiver);
  EXPECT_STATUS(side_flush(receiver), SST_OK);
  trace_records(&trace, receiver->label, receiver->out);
  pair_free(&pair);
  return trace;
}

static void expect_end(const Stream *stream, const Trace *plain) {
  static const char *const marks[ENDINGS] = {"decrypt NEED_INPUT", "decrypt CLOSED", "decrypt ERR_ALERT_RECEIVED",
                                             "decrypt ERR_TRUNCATED"};
  EXPECT_CONTAINS(plain->text, marks[stream->end]);
}

static void compare(const Trace *plain, const Stream *stream, const Feed *feed) {
  Trace other = run(stream, feed);
  trace_compare(&other, plain);
  trace_free(&other);
}

typedef void (*Feeds)(const Trace *plain, const Stream *stream);

static void over_all(uint16_t version, bool large, Feeds feeds) {
  make_configs();
  for (int end = 0; end < ENDINGS; end++) {
    for (int to_client = 0; to_client < 2; to_client++) {
      const Stream stream = {version, large, to_client == 1, (End)end};
      Trace plain = run(&stream, &(Feed){.cut = 0});
      expect_end(&stream, &plain);
      feeds(&plain, &stream);
      trace_free(&plain);
    }
  }
  free_configs();
}

/* ---- the ways to feed ---- */

static void note(const Stream *stream, const char *what, size_t number) {
  test_note("end %d, to the %s, %s %zu", stream->end, stream->to_client ? "client" : "server", what, number);
}

static void feed_in_pieces(const Trace *plain, const Stream *stream) {
  const size_t chunks[] = {1, 4, 5, 6, 23, 1000};
  for (size_t i = 0; i < LENGTH(chunks); i++) {
    if (stream->large && chunks[i] < 23) continue;
    note(stream, "piece", chunks[i]);
    compare(plain, stream, &(Feed){.chunk = chunks[i]});
    compare(plain, stream, &(Feed){.chunk = chunks[i], .leave_partial = true});
    compare(plain, stream, &(Feed){.chunk = chunks[i], .in_place = true});
  }
  if (stream->end == IS_CUT) return; /* what is needed never comes */
  compare(plain, stream, &(Feed){.exact = true});
  compare(plain, stream, &(Feed){.exact = true, .leave_partial = true});
  compare(plain, stream, &(Feed){.exact = true, .in_place = true});
}

static void feed_with_rooms(const Trace *plain, const Stream *stream) {
  const size_t rooms[] = {1, 5, 100, SIDE_LEARN, 16384};
  for (size_t i = 0; i < LENGTH(rooms); i++) {
    if (stream->large && rooms[i] < 100) continue;
    note(stream, "room", rooms[i]);
    compare(plain, stream, &(Feed){.decrypt_room = rooms[i]});
    compare(plain, stream, &(Feed){.decrypt_room = rooms[i], .chunk = 19});
    compare(plain, stream, &(Feed){.decrypt_room = rooms[i], .chunk = 19, .leave_partial = true});
  }
  for (size_t ranges = 1; ranges < 4; ranges++) {
    note(stream, "ranges", ranges);
    compare(plain, stream, &(Feed){.in_place = true, .num_ranges = ranges});
    compare(plain, stream, &(Feed){.in_place = true, .num_ranges = ranges, .chunk = 33});
  }
}

/* The small stream is about 400 bytes long. */
static void feed_cut_everywhere(const Trace *plain, const Stream *stream) {
  for (size_t cut = 1; cut < 450; cut++) {
    note(stream, "cut at", cut);
    compare(plain, stream, &(Feed){.cut = cut, .leave_partial = cut % 3 == 1, .in_place = cut % 3 == 2});
  }
}

static void feed_at_random(const Trace *plain, const Stream *stream) {
  for (size_t round = 0; round < 30; round++) {
    note(stream, "round", round);
    compare(plain, stream,
            &(Feed){.chunk = SIDE_RANDOM,
                    .decrypt_room = round % 2 == 0 ? SIDE_RANDOM : 0,
                    .leave_partial = round % 3 == 1,
                    .in_place = round % 3 == 2});
  }
}

TEST_VERSIONS(chunking, records_in_pieces_are_the_same) {
  over_all(version, false, feed_in_pieces);
}

TEST_VERSIONS(chunking, records_with_little_room_are_the_same) {
  over_all(version, false, feed_with_rooms);
}

TEST_VERSIONS(chunking, records_cut_at_every_byte_are_the_same) {
  over_all(version, false, feed_cut_everywhere);
}

TEST_VERSIONS(chunking, records_in_random_pieces_are_the_same) {
  over_all(version, false, feed_at_random);
}

TEST_VERSIONS(chunking, large_records_in_pieces_are_the_same) {
  over_all(version, true, feed_in_pieces);
}

TEST_VERSIONS(chunking, large_records_with_little_room_are_the_same) {
  over_all(version, true, feed_with_rooms);
}

TEST_VERSIONS(chunking, large_records_in_random_pieces_are_the_same) {
  over_all(version, true, feed_at_random);
}

/* One full record after the other over one stream, each cut at another byte. */
TEST_VERSIONS(chunking, full_record_cut_at_every_byte_is_read) {
  enum { FULL = 16384 };
  static uint8_t data[FULL];
  Pair pair = pair_open(.client = {.max_version = version});
  pattern_fill(data, FULL, 5);
  size_t len = 2;
  for (size_t cut = 1; cut < len; cut++) {
    test_note("cut at %zu of %zu", cut, len);
    side_send(&pair.client, data, FULL);
    len = wire_waiting(pair.server.in);
    EXPECT_STATUS(feed_receive(&pair.server, &(Feed){.cut = cut, .in_place = false}), SST_NEED_INPUT);
    EXPECT_RECEIVED(&pair.server, data, FULL);
    pair.client.out->len = pair.client.out->taken = pair.client.out->num_pieces = 0;
  }
  EXPECT_AT_LEAST(len, FULL);
  pair_free(&pair);
}
