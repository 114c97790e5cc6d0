/*
 * Bytes that are changed, dropped, doubled or swapped on their way must end the stream, and nothing of them is data.
 */
#include "pair.h"

#include <stdlib.h>
#include <string.h>

typedef struct Flip {
  size_t at; /* in the whole direction */
  uint8_t bits;
  bool done;
} Flip;

static void flip(uint8_t *bytes, size_t len, size_t offset, void *context) {
  Flip *it = context;
  if (it->at < offset || it->at >= offset + len) return;
  bytes[it->at - offset] ^= it->bits;
  it->done = true;
}

/* Places of payload bytes that a handshake protects: all but record headers and ChangeCipherSpec, every step-th. */
static size_t protected_places(const Wire *wire, size_t step, size_t *places, size_t cap) {
  Record records[64];
  const size_t num_records = records_parse(wire->bytes, wire->len, records, 64);
  size_t count = 0, seen = 0;
  for (size_t i = 0; i < num_records && i < 64; i++) {
    if (records[i].type == RECORD_CHANGE_CIPHER_SPEC) continue;
    for (size_t at = 0; at < records[i].length; at++)
      if (seen++ % step == 0 && count < cap) places[count++] = records[i].offset + RECORD_HEADER + at;
  }
  return count;
}

/* Runs both sides to where they fail or wait; a changed length may leave them waiting. */
static bool both_finish(Pair *pair) {
  for (int round = 0; round < 6; round++) {
    side_handshake(&pair->client);
    side_handshake(&pair->server);
  }
  return pair->client.status == SST_OK && pair->server.status == SST_OK;
}

static void changed_handshake_fails(uint16_t version, bool of_client) {
  const SideOptions client = {.max_version = version, .groups = {29, 23}};
  sst_config *configs[2] = {pair_config(&client, SST_ROLE_CLIENT), pair_config(&(SideOptions){0}, SST_ROLE_SERVER)};
  size_t places[512], count = 0, changed = 0;
  for (size_t i = 0; i == 0 || i < count; i++) {
    Pair pair = pair_new(.client = {.config = configs[0]}, .server = {.config = configs[1]});
    Wire *wire = of_client ? pair.client.out : pair.server.out;
    if (count == 0) {
      REQUIRE(both_finish(&pair));
      count = protected_places(wire, 5, places, sizeof places / sizeof *places);
      REQUIRE(count > 20);
      pair_free(&pair);
      pair = pair_new(.client = {.config = configs[0]}, .server = {.config = configs[1]});
      wire = of_client ? pair.client.out : pair.server.out;
    }
    Flip change = {.at = places[i], .bits = (uint8_t)(1u << (i % 8))};
    wire->in_flight = flip;
    wire->context = &change;
    test_note("byte %zu", places[i]);
    const bool finished = both_finish(&pair);
    EXPECT(!finished || !change.done);
    changed += change.done;
    pair_free(&pair);
  }
  EXPECT_AT_LEAST(changed, count - 2); /* signatures differ in length: the last place may not be there */
  sst_config_free(configs[0]);
  sst_config_free(configs[1]);
}

TEST_VERSIONS(stream_tamper, change_in_clients_flights_fails_the_handshake) {
  changed_handshake_fails(version, true);
}

TEST_VERSIONS(stream_tamper, change_in_servers_flights_fails_the_handshake) {
  changed_handshake_fails(version, false);
}

/* Every byte of a record of data is covered, its header too. */
TEST_VERSIONS(stream_tamper, change_in_any_byte_of_a_record_is_never_data) {
  Pair pair = pair_open(.client = {.max_version = version});
  side_send(&pair.server, "attack at dawn", 14);
  const size_t len = wire_waiting(pair.client.in);
  pair_free(&pair);
  for (size_t at = 0; at < len; at++) {
    test_note("byte %zu of %zu", at, len);
    pair = pair_open(.client = {.max_version = version});
    Flip change = {.at = pair.server.out->len + at, .bits = 0x10};
    pair.server.out->in_flight = flip;
    pair.server.out->context = &change;
    side_send(&pair.server, "attack at dawn", 14);
    EXPECT(change.done);
    const sst_status status = side_receive(&pair.client);
    EXPECT_EQ(pair.client.received_len, 0);
    /* A longer length waits for the rest, or is over the limit; all else shows at once. */
    if (at >= RECORD_HEADER) EXPECT_STATUS(status, SST_ERR_BAD_RECORD_MAC);
    if (at != 3 && at != 4) EXPECT(status < 0);
    EXPECT_STATUS(sst_stream_input_eof(pair.client.stream), SST_OK);
    EXPECT(side_receive(&pair.client) < 0);
    pair_free(&pair);
  }
}

/* Three records on the wire, put together anew from their numbers. */
static void records_in_order(uint16_t version, const size_t *order, size_t count, const char *data, sst_status last) {
  Pair pair = pair_open(.client = {.max_version = version});
  uint8_t records[3][64];
  size_t lens[3];
  for (size_t i = 0; i < 3; i++) {
    side_send(&pair.server, &"abc"[i], 1);
    lens[i] = wire_waiting(pair.client.in);
    REQUIRE(lens[i] <= sizeof records[0]);
    memcpy(records[i], wire_head(pair.client.in), lens[i]);
    wire_drop(pair.client.in);
  }
  for (size_t i = 0; i < count; i++)
    wire_insert(pair.client.in, records[order[i]], lens[order[i]]);
  EXPECT_STATUS(side_receive(&pair.client), last);
  EXPECT_RECEIVED(&pair.client, data, strlen(data));
  if (last < 0) {
    EXPECT_EQ(error_of(&pair.client).alert_sent, 20);
    EXPECT_STATUS(side_flush(&pair.client), SST_OK);
    EXPECT_STATUS(side_receive(&pair.server), SST_ERR_ALERT_RECEIVED - 20);
  }
  pair_free(&pair);
}

TEST_VERSIONS(stream_tamper, records_in_order_are_read) {
  records_in_order(version, (const size_t[]){0, 1, 2}, 3, "abc", SST_NEED_INPUT);
}

TEST_VERSIONS(stream_tamper, swapped_records_are_a_bad_mac) {
  records_in_order(version, (const size_t[]){0, 2, 1}, 3, "a", SST_ERR_BAD_RECORD_MAC);
}

TEST_VERSIONS(stream_tamper, doubled_record_is_a_bad_mac) {
  records_in_order(version, (const size_t[]){0, 1, 1, 2}, 4, "ab", SST_ERR_BAD_RECORD_MAC);
}

TEST_VERSIONS(stream_tamper, dropped_record_is_a_bad_mac) {
  records_in_order(version, (const size_t[]){0, 2}, 2, "a", SST_ERR_BAD_RECORD_MAC);
}

/* A record of ours that comes back is no record of the peer. */
TEST_VERSIONS(stream_tamper, reflected_record_is_a_bad_mac) {
  Pair pair = pair_open(.client = {.max_version = version});
  side_send(&pair.client, "mirror", 6);
  wire_insert(pair.client.in, wire_head(pair.server.in), wire_waiting(pair.server.in));
  EXPECT_STATUS(side_receive(&pair.client), SST_ERR_BAD_RECORD_MAC);
  EXPECT_EQ(pair.client.received_len, 0);
  pair_free(&pair);
}

/* A length over the limit shows in the header: nobody waits for 64 KiB of it. */
TEST_VERSIONS(stream_tamper, record_over_the_limit_is_an_overflow) {
  Pair pair = pair_open(.client = {.max_version = version});
  const uint8_t header[] = {RECORD_APPLICATION_DATA, 3, 3, 0xff, 0xff};
  wire_insert(pair.client.in, header, sizeof header);
  EXPECT_STATUS(side_receive(&pair.client), SST_ERR_RECORD_OVERFLOW);
  EXPECT_EQ(error_of(&pair.client).alert_sent, 22);
  pair_free(&pair);
}
