/*
 * Counters and sizes, readable at any time.
 */
#include "pair.h"

#include <stdlib.h>
#include <string.h>

static uint64_t count(const Side *side, int32_t which) {
  return sst_stream_counter(side->stream, which);
}

TEST_VERSIONS(stream_counters, wire_bytes_are_counted_with_the_handshake) {
  Pair pair = pair_open(.client = {.max_version = version});
  pair_echo(&pair, 50000);
  side_close(&pair.client);
  side_receive(&pair.server);
  EXPECT_EQ(count(&pair.client, SST_COUNTER_WIRE_SENT), pair.client.out->len);
  EXPECT_EQ(count(&pair.server, SST_COUNTER_WIRE_SENT), pair.server.out->len);
  EXPECT_EQ(count(&pair.client, SST_COUNTER_WIRE_RECEIVED), pair.client.in->taken);
  EXPECT_EQ(count(&pair.server, SST_COUNTER_WIRE_RECEIVED), pair.server.in->taken);
  pair_free(&pair);
}

TEST_VERSIONS(stream_counters, records_and_bytes_of_data_are_counted) {
  Pair pair = pair_open(.client = {.max_version = version});
  EXPECT_EQ(count(&pair.client, SST_COUNTER_RECORDS_SENT), 0);
  EXPECT_EQ(count(&pair.client, SST_COUNTER_BYTES_ENCRYPTED), 0);
  uint8_t *data = test_allocate(40000);
  memset(data, 'x', 40000);
  side_send(&pair.client, data, 40000); /* 16384 + 16384 + 7232 */
  side_send(&pair.client, data, 1);
  EXPECT_EQ(count(&pair.client, SST_COUNTER_RECORDS_SENT), 4);
  EXPECT_EQ(count(&pair.client, SST_COUNTER_BYTES_ENCRYPTED), 40001);
  const uint64_t before = count(&pair.server, SST_COUNTER_RECORDS_RECEIVED);
  side_receive(&pair.server);
  EXPECT_EQ(count(&pair.server, SST_COUNTER_RECORDS_RECEIVED) - before, 4);
  EXPECT_EQ(count(&pair.server, SST_COUNTER_BYTES_DECRYPTED), 40001);
  EXPECT_EQ(count(&pair.server, SST_COUNTER_BYTES_ENCRYPTED), 0);
  free(data);
  pair_free(&pair);
}

/* Plaintext counts when it is given out or when it is opened: in the end both are the same. */
TEST_VERSIONS(stream_counters, kept_plaintext_is_counted_once) {
  Pair pair = pair_open(.client = {.max_version = version});
  pair.server.room = 7;
  side_send(&pair.client, "0123456789abcdef", 16);
  EXPECT_STATUS(side_receive(&pair.server), SST_NEED_INPUT);
  EXPECT_RECEIVED(&pair.server, "0123456789abcdef", 16);
  EXPECT_EQ(count(&pair.server, SST_COUNTER_BYTES_DECRYPTED), 16);
  pair_free(&pair);
}

TEST(stream_counters, key_updates_are_counted_in_each_direction) {
  Pair pair = pair_open();
  for (int i = 0; i < 3; i++) {
    EXPECT_STATUS(sst_stream_key_update(pair.client.stream, i == 2), SST_OK);
    side_flush(&pair.client);
    side_receive(&pair.server);
  }
  pair_echo(&pair, 10);
  EXPECT_EQ(count(&pair.client, SST_COUNTER_KEY_UPDATES_SENT), 3);
  EXPECT_EQ(count(&pair.server, SST_COUNTER_KEY_UPDATES_RECEIVED), 3);
  EXPECT_EQ(count(&pair.server, SST_COUNTER_KEY_UPDATES_SENT), 1);
  EXPECT_EQ(count(&pair.client, SST_COUNTER_KEY_UPDATES_RECEIVED), 1);
  pair_free(&pair);
}

TEST(stream_counters, unknown_ones_are_zero) {
  Pair pair = pair_open();
  const int32_t unknown[] = {-1, 9, 1000, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    EXPECT_EQ(count(&pair.client, unknown[i]), 0);
  EXPECT_EQ(sst_stream_counter(NULL, SST_COUNTER_WIRE_SENT), 0);
  EXPECT_EQ(sst_stream_state(NULL), 0);
  EXPECT_EQ(sst_stream_output_size(NULL), 0);
  EXPECT_EQ(sst_stream_plaintext_size(NULL), 0);
  EXPECT_EQ(sst_stream_encrypted_size(NULL, 10), 0);
  EXPECT_EQ(sst_stream_num_peer_certificates(NULL), 0);
  EXPECT_EQ(sst_stream_early_data_left(NULL), 0);
  EXPECT_EQ(sst_stream_early_data_left(pair.client.stream), 0);
  pair_free(&pair);
}

TEST_VERSIONS(stream_counters, sizes_show_what_waits_and_what_is_kept) {
  Pair pair = pair_open(.client = {.max_version = version});
  EXPECT_STATUS(side_call(&pair.client, CALL_CLOSE, NULL, 0, 0), SST_NEED_OUTPUT);
  const size_t waiting = sst_stream_output_size(pair.client.stream);
  EXPECT_AT_LEAST(waiting, RECORD_HEADER + 2);
  side_call(&pair.client, CALL_FLUSH, NULL, 0, 3);
  EXPECT_EQ(sst_stream_output_size(pair.client.stream), waiting - 3);

  side_send(&pair.server, "0123456789", 10);
  side_call(&pair.client, CALL_DECRYPT, wire_head(pair.client.in), wire_waiting(pair.client.in), 4);
  EXPECT_EQ(sst_stream_plaintext_size(pair.client.stream), 6);
  side_call(&pair.client, CALL_DECRYPT, NULL, 0, 6);
  EXPECT_EQ(sst_stream_plaintext_size(pair.client.stream), 0);
  pair_free(&pair);
}

/* encrypted_size is enough for any size, also where keys must change, and saturates. */
TEST_VERSIONS(stream_counters, encrypted_size_is_always_enough) {
  const size_t sizes[] = {0, 1, 100, 16383, 16384, 16385, 32768, 100000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    test_note("%zu bytes", sizes[i]);
    Pair pair = pair_open(.client = {.max_version = version, .max_fragment = i % 2 == 0 ? 0 : 512});
    if (version == SST_TLS1_3) {
      EXPECT_STATUS(sst_stream_key_update(pair.server.stream, 1), SST_OK);
      side_flush(&pair.server);
      side_receive(&pair.client);
      EXPECT_STATUS(sst_stream_key_update(pair.client.stream, 0), SST_OK);
    }
    pair_echo(&pair, sizes[i]);
    EXPECT_EQ(sst_stream_encrypted_size(pair.client.stream, SIZE_MAX), SIZE_MAX);
    EXPECT_AT_LEAST(sst_stream_encrypted_size(pair.client.stream, sizes[i]),
                    sizes[i] == 0 ? 0 : sizes[i] + RECORD_HEADER + 17);
    pair_free(&pair);
  }
}

/* A caller asks for the size, then another thread takes in a KeyUpdate request and a third changes our keys. */
TEST(stream_counters, encrypted_size_covers_key_updates_that_come_later) {
  Pair pair = pair_open();
  uint8_t data[1000] = {0};
  const size_t room = sst_stream_encrypted_size(pair.client.stream, sizeof data);
  EXPECT_STATUS(sst_stream_key_update(pair.server.stream, 1), SST_OK);
  side_flush(&pair.server);
  side_receive(&pair.client);
  EXPECT_STATUS(sst_stream_key_update(pair.client.stream, 0), SST_OK);
  EXPECT_STATUS(side_call(&pair.client, CALL_ENCRYPT, data, sizeof data, room), SST_OK);
  EXPECT_STATUS(side_receive(&pair.server), SST_NEED_INPUT);
  EXPECT_RECEIVED(&pair.server, data, sizeof data);
  pair_free(&pair);
}

/* It may be asked for before the handshake, when nothing is known of the records yet, and is right for any of them. */
TEST_VERSIONS(stream_counters, encrypted_size_before_the_handshake_is_no_less) {
  Pair pair = pair_new(.client = {.max_version = version});
  const size_t sizes[] = {0, 1, 16384, 100000};
  size_t before[4];
  for (size_t i = 0; i < 4; i++)
    before[i] = sst_stream_encrypted_size(pair.client.stream, sizes[i]);
  REQUIRE_STATUS(pair_handshake(&pair), SST_OK);
  for (size_t i = 0; i < 4; i++) {
    if (sizes[i] > 0) EXPECT_AT_LEAST(before[i], sizes[i] + RECORD_HEADER + 16);
    EXPECT_AT_LEAST(sst_stream_encrypted_size(pair.client.stream, sizes[i]), sizes[i]);
  }
  pair_free(&pair);
}
