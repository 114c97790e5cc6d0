/* White-box: how much goes under one key, and what a stream does when it is enough. */
#include <string.h>

#include "forge.h"
#include "pair.h"
#include "stream.h"
#include "tls/record.h"

enum { LIMIT = 5, RECORDS = 100 };

static void only_on_our_path(void) {
  if (sst__keeps_ssl()) SKIP("BoringSSL has no such limit");
}

static sst_config *config_with_limit(uint64_t records, int32_t role) {
  sst_config *config = pair_config(&(SideOptions){.min_version = SST_TLS1_2}, role);
  EXPECT_STATUS(sst_config_set_key_update_limit(config, records), SST_OK);
  return config;
}

/* A client whose keys carry LIMIT records, and any server. */
static Pair limited(sst_config **config, uint16_t version) {
  *config = config_with_limit(LIMIT, SST_ROLE_CLIENT);
  EXPECT_STATUS(sst_config_set_versions(*config, version, version), SST_OK);
  return pair_open(.client = {.config = *config});
}

static void end(Pair *pair, sst_config *config) {
  pair_free(pair);
  sst_config_free(config);
}

TEST(record_limit, numbers_that_are_no_limit_are_invalid_argument) {
  const uint64_t bad[] = {0, 1, 23726567, UINT64_MAX}, good[] = {2, 23726566};
  sst_config *config = sst_config_new();
  for (size_t i = 0; i < 4; i++)
    EXPECT_STATUS(sst_config_set_key_update_limit(config, bad[i]), SST_ERR_INVALID_ARGUMENT);
  for (size_t i = 0; i < 2; i++)
    EXPECT_STATUS(sst_config_set_key_update_limit(config, good[i]), SST_OK);
  EXPECT_STATUS(sst_config_set_key_update_limit(NULL, 5), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_config_set_verify(config, SST_VERIFY_NONE), SST_OK);
  EXPECT_STATUS(sst_config_freeze(config, SST_ROLE_CLIENT), SST_OK);
  EXPECT_STATUS(sst_config_set_key_update_limit(config, 5), SST_ERR_FROZEN);
  sst_config_free(config);
}

/* LIMIT - 1 records of data, then the KeyUpdate, which is the last under the key. */
TEST(record_limit, key_is_changed_before_the_limit_tls13) {
  only_on_our_path();
  sst_config *config = NULL;
  Pair pair = limited(&config, SST_TLS1_3);
  for (int i = 0; i < RECORDS; i++) {
    const uint8_t byte = (uint8_t)i;
    side_send(&pair.client, &byte, 1);
    EXPECT_STATUS(side_receive(&pair.server), SST_NEED_INPUT);
    EXPECT_RECEIVED(&pair.server, &byte, 1);
    EXPECT_AT_MOST(sst__record_of(pair.client.stream->engine)->sender.keys.sequence, LIMIT - 1);
  }
  const int64_t updates = (int64_t)sst_stream_counter(pair.client.stream, SST_COUNTER_KEY_UPDATES_SENT);
  EXPECT_AT_LEAST(updates, RECORDS / (LIMIT - 1) - 1);
  EXPECT_AT_MOST(updates, RECORDS / (LIMIT - 1));
  EXPECT_EQ(sst_stream_counter(pair.server.stream, SST_COUNTER_KEY_UPDATES_RECEIVED), updates);
  EXPECT_EQ(sst_stream_counter(pair.server.stream, SST_COUNTER_KEY_UPDATES_SENT), 0); /* none was asked for */
  pair_echo(&pair, 1000);
  end(&pair, config);
}

/* In one call as well, over as many keys as it takes. */
TEST(record_limit, one_call_goes_over_many_keys_tls13) {
  only_on_our_path();
  static uint8_t data[RECORDS * 600], wire[2 * sizeof data], out[2 * sizeof data];
  sst_config *config = config_with_limit(LIMIT, SST_ROLE_CLIENT);
  EXPECT_STATUS(sst_config_set_max_fragment(config, 600), SST_OK);
  Pair pair = pair_open(.client = {.config = config});
  sst_progress done;
  pattern_fill(data, sizeof data, 3);
  EXPECT_STATUS(sst_stream_encrypt(pair.client.stream, data, sizeof data, wire, sizeof wire, &done), SST_OK);
  EXPECT_EQ(done.consumed, sizeof data);
  EXPECT_AT_LEAST(sst_stream_counter(pair.client.stream, SST_COUNTER_KEY_UPDATES_SENT), RECORDS / LIMIT);
  EXPECT_STATUS(sst_stream_decrypt(pair.server.stream, wire, done.produced, out, sizeof out, &done), SST_NEED_INPUT);
  EXPECT_BYTES(out, done.produced, data, sizeof data);
  end(&pair, config);
}

TEST(record_limit, encrypted_size_has_room_for_the_change_tls13) {
  only_on_our_path();
  sst_config *config = NULL;
  Pair pair = limited(&config, SST_TLS1_3);
  for (int i = 0; i < RECORDS; i++) {
    const size_t room = sst_stream_encrypted_size(pair.client.stream, 1);
    EXPECT_STATUS(side_call(&pair.client, CALL_ENCRYPT, (const uint8_t *)"x", 1, room), SST_OK);
    EXPECT_EQ(pair.client.progress.consumed, 1);
  }
  EXPECT_STATUS(side_receive(&pair.server), SST_NEED_INPUT);
  EXPECT_EQ(pair.server.received_len, RECORDS);
  end(&pair, config);
}

/* However many keys one call goes over. */
TEST(record_limit, encrypted_size_has_room_for_all_changes_of_a_call_tls13) {
  only_on_our_path();
  static uint8_t data[20000];
  pattern_fill(data, sizeof data, 9);
  for (uint64_t records = 2; records < 6; records++) {
    sst_config *config = config_with_limit(records, SST_ROLE_CLIENT);
    EXPECT_STATUS(sst_config_set_max_fragment(config, 512), SST_OK);
    Pair pair = pair_open(.client = {.config = config});
    for (size_t len = 1; len <= sizeof data; len = 2 * len + 311) {
      test_note("%zu bytes, %u records under a key", len, (unsigned)records);
      EXPECT_STATUS(sst_stream_key_update(pair.server.stream, 1), SST_OK); /* an answer as well */
      EXPECT_STATUS(side_flush(&pair.server), SST_OK);
      EXPECT_STATUS(side_receive(&pair.client), SST_NEED_INPUT);
      const size_t room = sst_stream_encrypted_size(pair.client.stream, len);
      EXPECT_STATUS(side_call(&pair.client, CALL_ENCRYPT, data, len, room), SST_OK);
      EXPECT_STATUS(side_receive(&pair.server), SST_NEED_INPUT);
      EXPECT_RECEIVED(&pair.server, data, len);
    }
    end(&pair, config);
  }
}

/* With room for the data alone the KeyUpdate waits, and goes first. */
TEST(record_limit, change_without_room_waits_and_goes_first_tls13) {
  only_on_our_path();
  sst_config *config = NULL;
  Pair pair = limited(&config, SST_TLS1_3);
  enum { ROOM = 5 + 1 + 17 };
  int waited = 0;
  for (size_t sent = 0; sent < RECORDS;) {
    const sst_status status = side_call(&pair.client, CALL_ENCRYPT, (const uint8_t *)"x", 1, ROOM);
    sent += pair.client.progress.consumed;
    if (status == SST_OK) continue;
    EXPECT_STATUS(status, SST_NEED_OUTPUT);
    EXPECT_EQ(pair.client.progress.consumed, 0);
    waited++;
    EXPECT_STATUS(side_flush(&pair.client), SST_OK);
  }
  EXPECT_AT_LEAST(waited, RECORDS / LIMIT);
  EXPECT_STATUS(side_receive(&pair.server), SST_NEED_INPUT);
  EXPECT_EQ(pair.server.received_len, RECORDS);
  end(&pair, config);
}

/* The number of the next record; the peer is not told. */
static void skip_to(Side *side, uint64_t sequence) {
  sst__record_of(side->stream->engine)->sender.keys.sequence = sequence;
}

TEST(record_limit, tls12_ends_before_the_limit_of_its_key) {
  only_on_our_path();
  sst_config *config = NULL;
  Pair pair = limited(&config, SST_TLS1_2); /* what is set is for TLS 1.3 */
  for (int i = 0; i < 2 * LIMIT; i++)
    side_send(&pair.client, "x", 1);
  skip_to(&pair.client, SST__MOST_RECORDS - 1);
  EXPECT_STATUS(side_call(&pair.client, CALL_ENCRYPT, (const uint8_t *)"y", 1, 100), SST_OK);
  EXPECT_STATUS(side_call(&pair.client, CALL_ENCRYPT, (const uint8_t *)"z", 1, 100), SST_ERR_KEY_EXHAUSTED);
  EXPECT_EQ(pair.client.progress.consumed, 0);
  EXPECT_STATUS(error_of(&pair.client).code, SST_ERR_KEY_EXHAUSTED);
  EXPECT_EQ(error_of(&pair.client).alert_sent, 80);
  EXPECT_CONTAINS(error_of(&pair.client).message, "23726566 records under one key");
  EXPECT_STATUS(side_call(&pair.client, CALL_ENCRYPT, (const uint8_t *)"z", 1, 100), SST_ERR_KEY_EXHAUSTED);
  EXPECT_STATUS(side_flush(&pair.client), SST_OK); /* the alert */
  end(&pair, config);
}

TEST(record_limit, tls12_chacha20_has_none) {
  only_on_our_path();
  Pair pair = pair_open(.client = {.max_version = SST_TLS1_2, .suites = {0xcca9}});
  skip_to(&pair.client, SST__MOST_RECORDS + 5);
  EXPECT_STATUS(side_call(&pair.client, CALL_ENCRYPT, (const uint8_t *)"y", 1, 100), SST_OK);
  pair_free(&pair);
}

/* A program that changes keys often and only listens has asked for these answers itself. */
TEST(record_limit, answers_to_own_requests_are_no_flood_tls13) {
  only_on_our_path();
  Pair pair = pair_open();
  for (int i = 0; i < RECORDS; i++) {
    EXPECT_STATUS(sst_stream_key_update(pair.client.stream, 1), SST_OK);
    EXPECT_STATUS(side_flush(&pair.client), SST_OK);
    side_send(&pair.client, "x", 1); /* the server is not flooded either */
    EXPECT_STATUS(side_receive(&pair.server), SST_NEED_INPUT);
    EXPECT_STATUS(side_flush(&pair.server), SST_OK);
    EXPECT_STATUS(side_receive(&pair.client), SST_NEED_INPUT);
  }
  EXPECT_EQ(sst_stream_counter(pair.client.stream, SST_COUNTER_KEY_UPDATES_RECEIVED), RECORDS);
  pair.server.received_len = 0;
  pair_echo(&pair, 100);
  pair_free(&pair);
}

TEST(record_limit, requests_in_a_row_are_answered_by_one_message_tls13) {
  only_on_our_path();
  Pair pair = pair_open();
  for (int i = 0; i < 10; i++)
    EXPECT_STATUS(sst_stream_key_update(pair.client.stream, 1), SST_OK);
  EXPECT_STATUS(side_flush(&pair.client), SST_OK);
  EXPECT_STATUS(side_receive(&pair.server), SST_NEED_INPUT);
  EXPECT_STATUS(side_flush(&pair.server), SST_OK);
  EXPECT_EQ(sst_stream_counter(pair.server.stream, SST_COUNTER_KEY_UPDATES_RECEIVED), 10);
  EXPECT_EQ(sst_stream_counter(pair.server.stream, SST_COUNTER_KEY_UPDATES_SENT), 1);
  pair_echo(&pair, 100);
  pair_free(&pair);
}

/* ---- tickets: a stream that wants no sessions reads and forgets them ---- */

static void send_ticket(Forge *forge, size_t ticket_len, const size_t *cuts) {
  static uint8_t message[40000];
  size_t used = 0;
  const size_t body_len = 4 + 4 + 1 + 8 + 2 + ticket_len + 2;
  const uint8_t head[] = {
      4, (uint8_t)(body_len >> 16), (uint8_t)(body_len >> 8), (uint8_t)body_len, 0, 0, 14, 16, 1, 2, 3, 4, 8};
  memset(message, 0x5a, sizeof message);
  memcpy(message, head, sizeof head);
  used = sizeof head + 8;
  message[used++] = (uint8_t)(ticket_len >> 8);
  message[used++] = (uint8_t)ticket_len;
  used += ticket_len;
  message[used++] = 0;
  message[used++] = 0;
  size_t at = 0;
  for (; *cuts != 0 && at < used; cuts++) {
    const size_t len = *cuts < used - at ? *cuts : used - at;
    forge_send(forge, RECORD_HANDSHAKE, message + at, len);
    at += len;
  }
  while (at < used) {
    const size_t len = used - at < 16384 ? used - at : 16384;
    forge_send(forge, RECORD_HANDSHAKE, message + at, len);
    at += len;
  }
}

TEST(record_limit, tickets_are_read_in_any_pieces_tls13) {
  const size_t cuts[][4] = {{0}, {1, 0}, {3, 1, 0}, {4, 0}, {5, 1, 1, 0}, {16384, 0}};
  Forged *forged = forged_open(SST_TLS1_3, SST_ROLE_CLIENT, &(PairOptions){.first = 0});
  Side *victim = forged->forge.victim;
  for (size_t i = 0; i < 6; i++) {
    test_note("cuts %zu", i);
    send_ticket(&forged->forge, 100, cuts[i]);
    send_ticket(&forged->forge, 30000, cuts[i]);
    forge_send(&forged->forge, RECORD_APPLICATION_DATA, "data", 4);
    EXPECT_STATUS(side_receive(victim), SST_NEED_INPUT);
    EXPECT_RECEIVED(victim, "data", 4);
  }
  forged_free(forged);
}
