/*
 * Contract: which records decrypt opens for which room, what it keeps, and what it says that it needs.
 */
#include "pair.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE = 100, RECORDS = 10, ALL = SIZE * RECORDS, ENOUGH = ALL + SST_RECORD_MAX };

typedef struct Reader {
  Pair pair;
  uint8_t data[ALL];
  size_t record; /* length of one on the wire */
} Reader;

static Reader *reader_new(uint16_t version, uint32_t options) {
  Reader *reader = test_allocate(sizeof *reader);
  reader->pair = pair_open(.client = {.max_version = version}, .server = {.options = options});
  pattern_fill(reader->data, ALL, 13);
  return reader;
}

static void reader_free(Reader *reader) {
  pair_free(&reader->pair);
  free(reader);
}

/* RECORDS records of SIZE bytes each wait for the server. */
static void send_records(Reader *reader) {
  for (size_t at = 0; at < ALL; at += SIZE)
    EXPECT_STATUS(side_send(&reader->pair.client, reader->data + at, SIZE), SST_OK);
  reader->record = wire_waiting(reader->pair.server.in) / RECORDS;
}

/* One call of decrypt over the first len bytes that wait. */
static sst_status decrypt(Reader *reader, size_t len, size_t room) {
  Side *server = &reader->pair.server;
  const sst_status status = side_call(server, CALL_DECRYPT, wire_head(server->in), len, room);
  server->in->taken += server->progress.consumed;
  return status;
}

static sst_status decrypt_all(Reader *reader, size_t room) {
  return decrypt(reader, wire_waiting(reader->pair.server.in), room);
}

/* A record is opened if its longest possible plaintext fits, or if nothing was produced: only the first can leave a
   rest. */
TEST_VERSIONS(open, opens_what_fits_in_every_room) {
  Reader *reader = reader_new(version, 0);
  Side *server = &reader->pair.server;
  for (size_t room = 1; room <= ALL + SIZE; room++) {
    test_note("room %zu", room);
    send_records(reader);
    const size_t fit = room / SIZE > RECORDS ? RECORDS : room / SIZE;
    const size_t opened = fit > 0 ? fit : 1, produced = fit > 0 ? fit * SIZE : room;
    const sst_status status = decrypt_all(reader, room);
    EXPECT_STATUS(status, fit < RECORDS ? SST_NEED_OUTPUT : SST_NEED_INPUT);
    EXPECT_EQ(server->progress.produced, produced);
    EXPECT_EQ(server->progress.consumed, opened * reader->record);
    EXPECT_EQ(server->progress.waiting, opened * SIZE - produced);
    if (fit < RECORDS) EXPECT_EQ(server->progress.needed, fit > 0 ? SIZE : SIZE - room);
    EXPECT_STATUS(decrypt_all(reader, ENOUGH), SST_NEED_INPUT);
    EXPECT_RECEIVED(server, reader->data, ALL);
  }
  reader_free(reader);
}

/* needed is honest: just that room opens the next record and leaves no rest. */
TEST_VERSIONS(open, needed_room_opens_the_next_record_without_a_rest) {
  Reader *reader = reader_new(version, 0);
  Side *server = &reader->pair.server;
  for (size_t room = 0; room < 3 * SIZE; room++) {
    test_note("room %zu", room);
    send_records(reader);
    EXPECT_STATUS(decrypt_all(reader, room), SST_NEED_OUTPUT);
    for (size_t left = ALL - server->received_len; left > 0; left = ALL - server->received_len) {
      const size_t needed = server->progress.needed;
      EXPECT_AT_LEAST(needed, 1);
      const sst_status status = decrypt_all(reader, needed);
      EXPECT_EQ(server->progress.waiting, 0);
      EXPECT_EQ(server->progress.produced, needed);
      REQUIRE(status == (server->received_len == ALL ? SST_NEED_INPUT : SST_NEED_OUTPUT));
    }
    EXPECT_RECEIVED(server, reader->data, ALL);
  }
  reader_free(reader);
}

/* Without room the next record is opened to learn what it is; one with data is kept, and no other is opened then. */
TEST_VERSIONS(open, no_room_keeps_one_record) {
  Reader *reader = reader_new(version, 0);
  Side *server = &reader->pair.server;
  send_records(reader);
  EXPECT_STATUS(decrypt_all(reader, 0), SST_NEED_OUTPUT);
  EXPECT_EQ(server->progress.consumed, reader->record);
  EXPECT_EQ(server->progress.flags, SST_HAS_PLAINTEXT);
  EXPECT_EQ(server->progress.needed, SIZE);
  for (int i = 0; i < 3; i++) {
    EXPECT_STATUS(decrypt_all(reader, 0), SST_NEED_OUTPUT);
    EXPECT_EQ(server->progress.consumed, 0);
    EXPECT_EQ(server->progress.needed, SIZE);
  }
  EXPECT_STATUS(decrypt_all(reader, ENOUGH), SST_NEED_INPUT);
  EXPECT_RECEIVED(server, reader->data, ALL);
  reader_free(reader);
}

/* What carries no data is handled without room, up to the record that does. */
TEST(open, no_room_handles_key_updates_and_close_notify_tls13) {
  Reader *reader = reader_new(SST_TLS1_3, 0);
  Side *server = &reader->pair.server, *client = &reader->pair.client;
  for (int i = 0; i < 3; i++)
    REQUIRE_STATUS(sst_stream_key_update(client->stream, 0), SST_OK);
  EXPECT_STATUS(side_send(client, reader->data, SIZE), SST_OK);
  EXPECT_STATUS(side_close(client), SST_OK);
  EXPECT_STATUS(decrypt_all(reader, 0), SST_NEED_OUTPUT);
  EXPECT_EQ(sst_stream_counter(server->stream, SST_COUNTER_KEY_UPDATES_RECEIVED), 3);
  EXPECT_EQ(server->progress.waiting, SIZE);
  EXPECT_STATUS(decrypt_all(reader, ENOUGH), SST_CLOSED);
  EXPECT_RECEIVED(server, reader->data, SIZE);
  reader_free(reader);
}

/* Any cut of any stream: with this room no rest is ever kept, so that a host can allocate its result once. */
static void never_leaves_a_rest(uint16_t version, uint32_t options) {
  enum { STREAM = 60000 };
  Reader *reader = reader_new(version, options);
  Side *server = &reader->pair.server, *client = &reader->pair.client;
  uint8_t *data = test_allocate(STREAM);
  pattern_fill(data, STREAM, 17);
  for (size_t at = 0; at < STREAM;) {
    const size_t part = 1 + test_random_below(20000);
    const size_t len = part > STREAM - at ? STREAM - at : part;
    EXPECT_STATUS(side_send(client, data + at, len), SST_OK);
    at += len;
  }
  size_t given = 0;
  while (wire_waiting(server->in) > 0) {
    given = server->progress.consumed > 0 ? 0 : given;
    const size_t waiting = wire_waiting(server->in), piece = given + 1 + test_random_below(9000);
    given = piece > waiting ? waiting : piece;
    if (test_random_below(4) == 0) decrypt(reader, given, test_random_below(50)); /* it may keep a rest */
    if (given > wire_waiting(server->in)) given = wire_waiting(server->in);
    const size_t kept = sst_stream_plaintext_size(server->stream);
    const size_t room = given + (options == SST_OPTION_LEAVE_PARTIAL ? kept : SST_RECORD_MAX);
    EXPECT_STATUS(decrypt(reader, given, room), SST_NEED_INPUT);
    EXPECT_EQ(server->progress.flags & SST_HAS_PLAINTEXT, 0);
  }
  EXPECT_RECEIVED(server, data, STREAM);
  free(data);
  reader_free(reader);
}

TEST_VERSIONS(open, room_of_input_and_a_record_never_leaves_a_rest) {
  for (int round = 0; round < 10; round++)
    never_leaves_a_rest(version, 0);
}

TEST_VERSIONS(open, room_of_input_and_kept_never_leaves_a_rest_with_leave_partial) {
  for (int round = 0; round < 10; round++)
    never_leaves_a_rest(version, SST_OPTION_LEAVE_PARTIAL);
}

/* needed counts down to the end of the record, in its header too, however little comes at a time. */
TEST_VERSIONS(open, needed_input_is_what_the_record_lacks) {
  for (uint32_t options = 0; options <= SST_OPTION_LEAVE_PARTIAL; options++) {
    Reader *reader = reader_new(version, options);
    Side *server = &reader->pair.server;
    EXPECT_STATUS(decrypt(reader, 0, ENOUGH), SST_NEED_INPUT);
    EXPECT_EQ(server->progress.needed, RECORD_HEADER);
    send_records(reader);
    for (size_t given = 1; given < reader->record; given++) {
      test_note("%zu bytes", given);
      EXPECT_STATUS(decrypt(reader, options == 0 ? 1 : given, ENOUGH), SST_NEED_INPUT);
      EXPECT_EQ(server->progress.consumed, options == 0 ? 1 : 0);
      EXPECT_EQ(server->progress.needed, (given < RECORD_HEADER ? RECORD_HEADER : reader->record) - given);
    }
    test_note(NULL);
    EXPECT_STATUS(decrypt(reader, options == 0 ? 1 : reader->record, ENOUGH), SST_NEED_INPUT);
    EXPECT_EQ(server->progress.produced, SIZE);
    EXPECT_EQ(server->progress.needed, RECORD_HEADER);
    EXPECT_STATUS(decrypt_all(reader, ENOUGH), SST_NEED_INPUT);
    EXPECT_RECEIVED(server, reader->data, ALL);
    reader_free(reader);
  }
}

/* Ranges are for data alone: what carries none takes none and does not stop the call. */
TEST(open, ranges_in_place_are_for_data_alone_tls13) {
  Reader *reader = reader_new(SST_TLS1_3, 0);
  Side *server = &reader->pair.server, *client = &reader->pair.client;
  for (int i = 0; i < 4; i++) {
    REQUIRE_STATUS(sst_stream_key_update(client->stream, 0), SST_OK);
    EXPECT_STATUS(side_send(client, reader->data, SIZE), SST_OK);
  }
  side_close(client);
  const size_t len = wire_waiting(server->in);
  uint8_t *buf = test_allocate(len);
  memcpy(buf, wire_head(server->in), len);
  sst_range ranges[4];
  size_t used = 9;
  sst_progress done;
  EXPECT_STATUS(sst_stream_decrypt_in_place(server->stream, buf, len, ranges, 0, &used, &done), SST_NEED_OUTPUT);
  EXPECT_EQ(used + done.consumed + done.produced + done.needed, 0);
  EXPECT_STATUS(sst_stream_decrypt_in_place(server->stream, buf, len, ranges, 3, &used, &done), SST_NEED_OUTPUT);
  EXPECT_EQ(used, 3);
  EXPECT_EQ(done.produced, 3 * SIZE);
  EXPECT_EQ(done.needed, 0);
  for (size_t i = 0; i < used; i++)
    EXPECT_BYTES(buf + ranges[i].offset, ranges[i].length, reader->data, SIZE);
  const size_t rest = done.consumed;
  EXPECT_STATUS(sst_stream_decrypt_in_place(server->stream, buf + rest, len - rest, ranges, 4, &used, &done),
                SST_CLOSED);
  EXPECT_EQ(used, 1);
  EXPECT_BYTES(buf + rest + ranges[0].offset, ranges[0].length, reader->data, SIZE);
  free(buf);
  reader_free(reader);
}
