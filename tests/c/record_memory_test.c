/* White-box: what the record layer allocates: nothing in steady state; and what it does without memory where it needs
   some: the call says so, nothing is lost, and the same call succeeds later. */
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "forge.h"
#include "stream.h"
#include "tls/record.h"

enum { RECORDS = 1000, MOST_SLICES = 5000, CHUNK = 5000, WIRE = 2 * SST_RECORD_MAX };

static void only_on_our_path(void) {
  if (sst__keeps_ssl()) SKIP("BoringSSL allocates for each record");
  if (!allocations_are_wrapped()) SKIP("malloc is not wrapped in this build");
}

typedef struct Suite {
  uint16_t version, number;
} Suite;

static const Suite suites[] = {{SST_TLS1_3, 0x1301}, {SST_TLS1_3, 0x1302}, {SST_TLS1_3, 0x1303},
                               {SST_TLS1_2, 0xc02b}, {SST_TLS1_2, 0xc02c}, {SST_TLS1_2, 0xcca9}};
enum { SUITES = sizeof suites / sizeof suites[0] };

typedef struct Bench {
  Pair pair;
  uint8_t data[CHUNK], wire[WIRE], out[WIRE];
  sst_slice slices[MOST_SLICES];
} Bench;

/* No setting chooses the AEAD of TLS 1.3: an open pair is led over to another. */
static void use_aead(Pair *pair, const EVP_AEAD *aead) {
  static const uint8_t key[32] = {1};
  sst_stream *streams[] = {pair->client.stream, pair->server.stream};
  for (int i = 0; i < 2; i++) {
    sst__record_engine *record = sst__record_of(streams[i]->engine);
    sst__keys *both[] = {&record->sender.keys, &record->receiver.keys};
    record->suite.aead = aead;
    for (int k = 0; k < 2; k++) {
      EVP_AEAD_CTX_cleanup(&both[k]->aead);
      REQUIRE(EVP_AEAD_CTX_init(&both[k]->aead, aead, key, EVP_AEAD_key_length(aead), SST__TAG_LEN, NULL) == 1);
    }
  }
}

static Bench *bench_new(const Suite *suite, uint32_t options) {
  Bench *bench = test_allocate(sizeof *bench);
  const SideOptions client = {.min_version = suite->version,
                              .max_version = suite->version,
                              .suites = {suite->version == SST_TLS1_2 ? suite->number : 0},
                              .options = options};
  bench->pair = pair_opened(&(PairOptions){.client = client, .server = {.options = options}});
  if (suite->number == 0x1302) use_aead(&bench->pair, EVP_aead_aes_256_gcm());
  if (suite->number == 0x1303) use_aead(&bench->pair, EVP_aead_chacha20_poly1305());
  pattern_fill(bench->data, CHUNK, 1);
  return bench;
}

static void bench_free(Bench *bench) {
  pair_free(&bench->pair);
  free(bench);
}

/* The data in so many slices, the same size each. */
static void cut(Bench *bench, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const size_t begin = i * CHUNK / count, end = (i + 1) * CHUNK / count;
    bench->slices[i] = (sst_slice){bench->data + begin, end - begin};
  }
}

/* One record of it, sealed in one of the ways there are. */
static sst_progress seal(Bench *bench, int way) {
  static const size_t counts[] = {1, 3, 33, MOST_SLICES};
  sst_stream *stream = bench->pair.client.stream;
  sst_progress done;
  sst_status status;
  if (way == 0) {
    status = sst_stream_encrypt(stream, bench->data, CHUNK, bench->wire, WIRE, &done);
  } else if (way == 1) {
    status = sst_stream_encrypt2(stream, bench->data, 9, bench->data + 9, CHUNK - 9, bench->wire, WIRE, &done);
  } else {
    cut(bench, counts[way - 2]);
    status = sst_stream_encryptv(stream, bench->slices, counts[way - 2], bench->wire, WIRE, &done);
  }
  EXPECT_STATUS(status, SST_OK);
  return done;
}

/* Copied out, or in place. */
static void open(Bench *bench, size_t len, bool in_place) {
  sst_stream *stream = bench->pair.server.stream;
  sst_progress done;
  sst_range range;
  size_t used = 0;
  if (in_place) {
    EXPECT_STATUS(sst_stream_decrypt_in_place(stream, bench->wire, len, &range, 1, &used, &done), SST_NEED_INPUT);
    REQUIRE_EQ(used, 1);
    EXPECT_BYTES(bench->wire + range.offset, range.length, bench->data, CHUNK);
    return;
  }
  EXPECT_STATUS(sst_stream_decrypt(stream, bench->wire, len, bench->out, CHUNK, &done), SST_NEED_INPUT);
  EXPECT_BYTES(bench->out, done.produced, bench->data, CHUNK);
}

TEST(record_memory, a_thousand_records_of_every_kind_allocate_nothing) {
  only_on_our_path();
  for (size_t i = 0; i < SUITES; i++) {
    for (uint32_t options = 0; options <= SST_OPTION_LEAVE_PARTIAL; options += SST_OPTION_LEAVE_PARTIAL) {
      test_note("suite %04x, options %u", suites[i].number, options);
      Bench *bench = bench_new(&suites[i], options);
      allocations_fail_from(1);
      for (int k = 0; k < RECORDS && !test_failed(); k++)
        open(bench, seal(bench, k % 6).produced, k % 4 == 3);
      EXPECT(!allocations_hit());
      EXPECT_EQ(allocations_count(), 0);
      bench_free(bench);
    }
  }
}

/* Keys that carry two records, and a peer that asks for an answer behind each: both sides change theirs again and again.
   A message that the caller asks for itself waits in a queue, which is one block of memory. */
TEST(record_memory, key_updates_allocate_nothing_tls13) {
  only_on_our_path();
  sst_config *config = pair_config(&(SideOptions){.report = FORGE_EVENTS}, SST_ROLE_CLIENT);
  EXPECT_STATUS(sst_config_set_key_update_limit(config, 2), SST_OK);
  Pair pair = pair_open(.client = {.config = config}, .server = {.report = FORGE_EVENTS});
  Forge forge = forge_new(&pair, &pair.client);
  sst_stream *stream = pair.client.stream;
  uint8_t out[200];
  uint64_t allocated = 0;
  sst_progress done;
  for (int k = 0; k < RECORDS; k++) {
    const Data request = keys_seal(&forge.send, RECORD_HANDSHAKE, "\x18\0\0\1\1", 5);
    keys_update(&forge.send);
    const Data data = keys_seal(&forge.send, RECORD_APPLICATION_DATA, "x", 1);
    allocations_fail_at(0);
    EXPECT_STATUS(sst_stream_decrypt(stream, request.bytes, request.len, out, sizeof out, &done), SST_NEED_INPUT);
    EXPECT_STATUS(sst_stream_decrypt(stream, data.bytes, data.len, out, sizeof out, &done), SST_NEED_INPUT);
    EXPECT_STATUS(sst_stream_encrypt(stream, (const uint8_t *)"y", 1, out, sizeof out, &done), SST_OK);
    allocated += allocations_count();
    free(request.bytes);
    free(data.bytes);
  }
  EXPECT_EQ(allocated, 0);
  EXPECT_EQ(sst_stream_counter(stream, SST_COUNTER_KEY_UPDATES_SENT), RECORDS);
  EXPECT_EQ(sst_stream_counter(stream, SST_COUNTER_KEY_UPDATES_RECEIVED), RECORDS);
  allocations_fail_at(0);
  EXPECT_STATUS(sst_stream_key_update(stream, 0), SST_OK);
  EXPECT_EQ(allocations_count(), 1);
  pair_free(&pair);
  sst_config_free(config);
}

/* ---- without memory ---- */

/* The victim's call without any memory says so, takes nothing, and is as good as new with memory. */
static void expect_repeatable(Side *side, Call call, const uint8_t *in, size_t len, size_t room, sst_status expected) {
  const uint64_t records = sst_stream_counter(side->stream, SST_COUNTER_RECORDS_RECEIVED);
  const size_t received = side->received_len;
  for (int i = 0; i < 3; i++) {
    sst_progress done = {0};
    uint8_t *out = test_allocate(room + 1);
    allocations_fail_from(1);
    sst_status status = SST_OK;
    if (call == CALL_DECRYPT) status = sst_stream_decrypt(side->stream, in, len, out, room, &done);
    if (call == CALL_CLOSE) status = sst_stream_close(side->stream, out, room, &done);
    EXPECT(allocations_hit());
    EXPECT_STATUS(status, SST_ERR_NO_MEMORY);
    EXPECT_EQ(done.consumed + done.produced, 0);
    EXPECT_STATUS(error_of(side).code, SST_OK);
    EXPECT_EQ(sst_stream_state(side->stream), SST_STATE_OPEN);
    free(out);
  }
  EXPECT_EQ(sst_stream_counter(side->stream, SST_COUNTER_RECORDS_RECEIVED), records);
  EXPECT_EQ(side->received_len, received);
  EXPECT_STATUS(side_call(side, call, in, len, room), expected);
}

/* A record that is cut at every place, and given in rooms from none to all: what is whole waits where it is. */
TEST_VERSIONS(record_memory, decrypt_without_memory_is_repeated_with_the_same_bytes) {
  only_on_our_path();
  enum { LEN = 40 };
  uint8_t data[LEN];
  pattern_fill(data, LEN, 3);
  Pair pair = pair_open(.client = {.max_version = version});
  Side *server = &pair.server;
  for (size_t room = 0; room < LEN; room++) {
    test_note("room %zu", room);
    side_send(&pair.client, data, LEN);
    const size_t len = wire_waiting(server->in);
    expect_repeatable(server, CALL_DECRYPT, wire_head(server->in), len, room, SST_NEED_OUTPUT);
    wire_drop(server->in);
    EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
    EXPECT_RECEIVED(server, data, LEN);
  }
  for (size_t at = 6; at < 60; at += 9) {
    test_note("cut at %zu", at);
    side_send(&pair.client, data, LEN);
    const size_t len = wire_waiting(server->in);
    const uint8_t *wire = wire_head(server->in);
    expect_repeatable(server, CALL_DECRYPT, wire, at, LEN, SST_NEED_INPUT);
    EXPECT_STATUS(side_call(server, CALL_DECRYPT, wire + at, len - at, LEN), SST_NEED_INPUT);
    /* A header alone needs no memory; its record does. */
    EXPECT_RECEIVED(server, data, LEN);
    wire_drop(server->in);
    side_send(&pair.client, data, LEN);
    wire = wire_head(server->in);
    EXPECT_STATUS(side_call(server, CALL_DECRYPT, wire, at % 5 + 1, LEN), SST_NEED_INPUT);
    expect_repeatable(server, CALL_DECRYPT, wire + at % 5 + 1, len - at % 5 - 1, LEN, SST_NEED_INPUT);
    EXPECT_RECEIVED(server, data, LEN);
    wire_drop(server->in);
  }
  pair_free(&pair);
}

TEST(record_memory, key_update_without_memory_is_repeated_tls13) {
  only_on_our_path();
  Pair pair = pair_open();
  allocations_fail_from(1);
  EXPECT_STATUS(sst_stream_key_update(pair.client.stream, 1), SST_ERR_NO_MEMORY);
  EXPECT(allocations_hit());
  EXPECT_STATUS(error_of(&pair.client).code, SST_OK);
  EXPECT_EQ(sst_stream_output_size(pair.client.stream), 0);
  pair_echo(&pair, 100);
  EXPECT_STATUS(sst_stream_key_update(pair.client.stream, 1), SST_OK);
  pair_echo(&pair, 100);
  pair_echo(&pair, 100);
  EXPECT_EQ(sst_stream_counter(pair.client.stream, SST_COUNTER_KEY_UPDATES_SENT), 1);
  EXPECT_EQ(sst_stream_counter(pair.client.stream, SST_COUNTER_KEY_UPDATES_RECEIVED), 1);
  pair_free(&pair);
}

/* Room serves as well as memory: an answer, or a KeyUpdate before the limit, waits for either. */
TEST(record_memory, answer_without_memory_waits_for_room_tls13) {
  only_on_our_path();
  Pair pair = pair_open();
  Side *server = &pair.server;
  EXPECT_STATUS(sst_stream_key_update(pair.client.stream, 1), SST_OK);
  EXPECT_STATUS(side_flush(&pair.client), SST_OK);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  uint8_t out[200];
  sst_progress done;
  for (size_t room = 0; room < 27; room += 13) {
    allocations_fail_from(1);
    EXPECT_STATUS(sst_stream_flush(server->stream, out, room, &done), SST_NEED_OUTPUT);
    EXPECT_EQ(done.needed, 27);
    EXPECT_EQ(done.produced, 0);
    EXPECT_EQ(done.flags, SST_HAS_OUTPUT);
    EXPECT_STATUS(sst_stream_encrypt(server->stream, (const uint8_t *)"x", 1, out, room, &done), SST_NEED_OUTPUT);
    EXPECT_EQ(done.needed, 27 + 23);
    EXPECT_EQ(done.consumed + done.produced, 0);
    EXPECT(allocations_hit());
  }
  allocations_fail_from(1);
  EXPECT_STATUS(sst_stream_encrypt(server->stream, (const uint8_t *)"x", 1, out, 27 + 23, &done), SST_OK);
  EXPECT(!allocations_hit());
  wire_write(server->out, out, done.produced);
  EXPECT_STATUS(side_receive(&pair.client), SST_NEED_INPUT);
  EXPECT_RECEIVED(&pair.client, "x", 1);
  pair_echo(&pair, 100);
  pair_free(&pair);
}

TEST_VERSIONS(record_memory, close_without_memory_is_repeated) {
  only_on_our_path();
  Pair pair = pair_open(.client = {.max_version = version});
  expect_repeatable(&pair.client, CALL_CLOSE, NULL, 0, 3, SST_NEED_OUTPUT);
  EXPECT_STATUS(side_flush(&pair.client), SST_OK);
  EXPECT_STATUS(side_receive(&pair.server), SST_CLOSED);
  pair_free(&pair);
}

/* What waited is out, and for close_notify there is neither room nor memory: the call cannot be repeated, and the stream
   has failed. It has not closed: no close_notify is out, and none will be. */
TEST(record_memory, close_without_memory_behind_what_waited_fails_and_has_not_closed_tls13) {
  only_on_our_path();
  enum { UPDATE = 27, LEFT = 3 };
  for (int record = 0; record < 2; record++) { /* the failure's own, which needs memory as well */
    Forged *forged = forged_open(SST_TLS1_3, SST_ROLE_CLIENT, &(PairOptions){.first = 0});
    Side *victim = forged->forge.victim;
    uint8_t out[UPDATE + LEFT];
    sst_progress done;
    EXPECT_STATUS(sst_stream_key_update(victim->stream, 0), SST_OK);
    if (record == 0) allocations_fail_from(1);
    if (record == 1) allocations_fail_at(1);
    EXPECT_STATUS(sst_stream_close(victim->stream, out, sizeof out, &done), SST_ERR_NO_MEMORY);
    EXPECT(allocations_hit());
    EXPECT_EQ(done.produced, UPDATE);
    wire_write(victim->out, out, done.produced);
    EXPECT_EQ(sst_stream_state(victim->stream), SST_STATE_OPEN | SST_STATE_FAILED);
    EXPECT_STATUS(error_of(victim).code, SST_ERR_NO_MEMORY);
    EXPECT_EQ(error_of(victim).alert_sent, record == 0 ? -1 : 80);
    EXPECT_STATUS(side_close(victim), SST_OK);
    EXPECT_EQ(sst_stream_state(victim->stream), SST_STATE_OPEN | SST_STATE_FAILED);
    EXPECT_HEARD(&forged->forge, record == 0 ? "handshake 24 0" : "handshake 24 0, alert 2 80");
    forged_free(forged);
  }
}

/* A failure without memory for its record tells of no alert, and sends none; with memory the alert waits for room. */
TEST_VERSIONS(record_memory, alert_is_sent_if_and_only_if_the_record_says_so) {
  only_on_our_path();
  for (int without = 0; without < 2; without++) {
    Forged *forged = forged_open(version, SST_ROLE_SERVER, &(PairOptions){.first = 0});
    Side *victim = forged->forge.victim;
    const Data record = keys_seal(&forged->forge.send, 99, "x", 1);
    uint8_t out[100];
    sst_progress done;
    allocations_fail_from(without == 1 ? 1 : 0);
    const sst_status status = sst_stream_decrypt(victim->stream, record.bytes, record.len, out, sizeof out, &done);
    EXPECT_EQ(allocations_hit(), without == 1);
    EXPECT_STATUS(status, without == 1 ? SST_ERR_NO_MEMORY : SST_ERR_UNEXPECTED_MESSAGE);
    EXPECT_EQ(error_of(victim).alert_sent, without == 1 ? -1 : 10);
    EXPECT_EQ((done.flags & SST_HAS_OUTPUT) != 0, without == 0);
    if (without == 0) {
      allocations_fail_from(1);
      EXPECT_STATUS(sst_stream_flush(victim->stream, out, 5, &done), SST_NEED_OUTPUT);
      EXPECT(allocations_hit());
      EXPECT_EQ(done.needed, sst_stream_output_size(victim->stream));
    }
    EXPECT_STATUS(side_flush(victim), SST_OK);
    EXPECT_HEARD(&forged->forge, without == 1 ? "" : "alert 2 10");
    free(record.bytes);
    forged_free(forged);
  }
}

/* A ticket in two records needs memory that a record, once opened, cannot wait for: the stream ends, and says so. */
TEST(record_memory, ticket_without_memory_ends_the_stream_tls13) {
  only_on_our_path();
  Forged *forged = forged_open(SST_TLS1_3, SST_ROLE_CLIENT, &(PairOptions){.first = 0});
  Side *victim = forged->forge.victim;
  const Data record = keys_seal(&forged->forge.send, RECORD_HANDSHAKE, "\4\0\0", 3);
  uint8_t out[100];
  sst_progress done;
  allocations_fail_at(1);
  EXPECT_STATUS(sst_stream_decrypt(victim->stream, record.bytes, record.len, out, sizeof out, &done),
                SST_ERR_NO_MEMORY);
  EXPECT(allocations_hit());
  EXPECT_EQ(done.consumed, record.len);
  EXPECT_EQ(error_of(victim).alert_sent, 80);
  EXPECT_STATUS(side_send(victim, "x", 1), SST_ERR_NO_MEMORY);
  EXPECT_STATUS(side_flush(victim), SST_OK);
  EXPECT_HEARD(&forged->forge, "alert 2 80");
  free(record.bytes);
  forged_free(forged);
}
