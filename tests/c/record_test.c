/* White-box: records that only a forging peer sends: KeyUpdate requests (R03), empty records (R04), renegotiation
   (R09). */
#include "forge.h"

#include <string.h>

static const uint8_t update_requested[] = {24, 0, 0, 1, 1}, update_not_requested[] = {24, 0, 0, 1, 0};

/* The forger asks for new keys and sends "x" under the new ones. */
static void asks_and_sends(Forge *forge) {
  forge_send(forge, RECORD_HANDSHAKE, update_requested, sizeof update_requested);
  keys_update(&forge->send);
  forge_send(forge, RECORD_APPLICATION_DATA, "x", 1);
  EXPECT_STATUS(side_receive(forge->victim), SST_NEED_INPUT);
  EXPECT((forge->victim->progress.flags & SST_HAS_OUTPUT) != 0);
  EXPECT_RECEIVED(forge->victim, "x", 1);
}

static const int32_t roles[2] = {SST_ROLE_CLIENT, SST_ROLE_SERVER};

#define FOR_EACH_VICTIM(forged, version, ...)                                                            \
  for (int role_ = 0; role_ < 2; role_++)                                                                \
    for (Forged *forged = forged_open((version), roles[role_], &(PairOptions){.first = 0, __VA_ARGS__}); \
         forged != NULL; forged_free(forged), forged = NULL)

/* R03 (a): an answer that was made while reading must not stay behind because nobody writes. */
TEST(record, key_update_answer_comes_out_of_flush) {
  FOR_EACH_VICTIM(forged, SST_TLS1_3) {
    Forge *forge = &forged->forge;
    asks_and_sends(forge);
    EXPECT_STATUS(side_flush(forge->victim), SST_OK);
    EXPECT_STATUS(side_send(forge->victim, "y", 1), SST_OK);
    EXPECT_HEARD(forge, "handshake 24 0, data 1");
  }
}

/* R03 (b): without a flush the answer stands before the data, under the old keys. */
TEST(record, key_update_answer_stands_before_the_next_data) {
  FOR_EACH_VICTIM(forged, SST_TLS1_3) {
    Forge *forge = &forged->forge;
    asks_and_sends(forge);
    EXPECT_STATUS(side_send(forge->victim, "y", 1), SST_OK);
    EXPECT_HEARD(forge, "handshake 24 0, data 1");
    EXPECT_STATUS(side_flush(forge->victim), SST_OK);
    EXPECT_HEARD(forge, "");
  }
}

/* R03 (c): a room below the answer's size holds up the answer, not the data that was read. */
TEST(record, key_update_answer_waits_for_room_and_stays_announced) {
  FOR_EACH_VICTIM(forged, SST_TLS1_3) {
    Forge *forge = &forged->forge;
    Side *victim = forge->victim;
    asks_and_sends(forge);
    const size_t answer = sst_stream_output_size(victim->stream);
    EXPECT_EQ(answer, RECORD_HEADER + 5 + 1 + 16);
    for (size_t out = 5; out < answer; out += 5) {
      EXPECT_STATUS(side_call(victim, CALL_FLUSH, NULL, 0, 5), SST_NEED_OUTPUT);
      EXPECT_EQ(victim->progress.produced, 5);
      EXPECT_EQ(victim->progress.needed, answer - out);
      EXPECT((victim->progress.flags & SST_HAS_OUTPUT) != 0);
    }
    forge_send(forge, RECORD_APPLICATION_DATA, "z", 1);
    EXPECT_STATUS(side_receive(victim), SST_NEED_INPUT);
    EXPECT_RECEIVED(victim, "z", 1);
    EXPECT_STATUS(side_flush(victim), SST_OK);
    EXPECT_EQ(victim->progress.flags & SST_HAS_OUTPUT, 0);
    EXPECT_HEARD(forge, "handshake 24 0");
  }
}

/* Requests that come while an answer waits for a flush need no second one (RFC 8446, 4.6.3): a peer must not be able to
   fill the memory of a program that only reads. */
TEST(record, answers_that_wait_do_not_pile_up) {
  FOR_EACH_VICTIM(forged, SST_TLS1_3) {
    Forge *forge = &forged->forge;
    for (int i = 0; i < 1000; i++)
      asks_and_sends(forge);
    EXPECT_AT_MOST(sst_stream_output_size(forge->victim->stream), 2 * (RECORD_HEADER + 5 + 1 + 16));
    EXPECT_STATUS(side_send(forge->victim, "y", 1), SST_OK);
    char heard[40960];
    forge_hear(forge, heard, sizeof heard);
    EXPECT_STRING(heard + strlen(heard) - 6, "data 1");
  }
}

/* A KeyUpdate that asks for nothing changes the peer's keys alone. */
TEST(record, key_update_without_request_is_not_answered) {
  FOR_EACH_VICTIM(forged, SST_TLS1_3) {
    Forge *forge = &forged->forge;
    forge_send(forge, RECORD_HANDSHAKE, update_not_requested, sizeof update_not_requested);
    keys_update(&forge->send);
    forge_send(forge, RECORD_APPLICATION_DATA, "x", 1);
    EXPECT_STATUS(side_receive(forge->victim), SST_NEED_INPUT);
    EXPECT_EQ(forge->victim->progress.flags & SST_HAS_OUTPUT, 0);
    EXPECT_RECEIVED(forge->victim, "x", 1);
    EXPECT_EQ(sst_stream_counter(forge->victim->stream, SST_COUNTER_KEY_UPDATES_RECEIVED), 1);
  }
}

/* After our close_notify nothing may be sent any more: a request owes no answer, and reading goes on. */
TEST(record, request_after_our_close_notify_owes_no_answer) {
  FOR_EACH_VICTIM(forged, SST_TLS1_3) {
    Forge *forge = &forged->forge;
    Side *victim = forge->victim;
    EXPECT_STATUS(side_close(victim), SST_OK);
    for (int i = 0; i < 40; i++) {
      forge_send(forge, RECORD_HANDSHAKE, update_requested, sizeof update_requested);
      keys_update(&forge->send);
      forge_send(forge, RECORD_APPLICATION_DATA, "x", 1);
    }
    EXPECT_STATUS(side_receive(victim), SST_NEED_INPUT);
    EXPECT_EQ(victim->received_len, 40);
    EXPECT_EQ(victim->progress.flags & SST_HAS_OUTPUT, 0);
    EXPECT_STATUS(side_flush(victim), SST_OK);
    EXPECT_HEARD(forge, "alert 1 0");
  }
}

/* One message over many records, and in the room of one byte: the cut must not cost the answer. */
TEST(record, key_update_in_records_of_one_byte_is_answered) {
  FOR_EACH_VICTIM(forged, SST_TLS1_3) {
    Forge *forge = &forged->forge;
    for (size_t i = 0; i < sizeof update_requested; i++)
      forge_send(forge, RECORD_HANDSHAKE, &update_requested[i], 1);
    keys_update(&forge->send);
    forge_send(forge, RECORD_APPLICATION_DATA, "x", 1);
    forge->victim->chunk = 1;
    EXPECT_STATUS(side_receive(forge->victim), SST_NEED_INPUT);
    EXPECT_RECEIVED(forge->victim, "x", 1);
    EXPECT_STATUS(side_flush(forge->victim), SST_OK);
    EXPECT_HEARD(forge, "handshake 24 0");
  }
}

/* Both of our streams change keys in turn, with and without a request, and data runs between. */
TEST(record, key_updates_of_both_sides_with_data_for_50_rounds) {
  Pair pair = pair_open(.client = {.max_version = SST_TLS1_3});
  for (int round = 0; round < 50; round++) {
    test_note("round %d", round);
    Side *asking = round % 2 == 0 ? &pair.client : &pair.server;
    REQUIRE_STATUS(sst_stream_key_update(asking->stream, round % 3 == 0), SST_OK);
    if (round % 5 == 0) EXPECT_STATUS(sst_stream_key_update(asking->stream, 1), SST_OK);
    pair_echo(&pair, (size_t)(1 + 700 * round));
  }
  EXPECT_AT_LEAST(sst_stream_counter(pair.client.stream, SST_COUNTER_KEY_UPDATES_RECEIVED), 25);
  EXPECT_AT_LEAST(sst_stream_counter(pair.server.stream, SST_COUNTER_KEY_UPDATES_RECEIVED), 25);
  pair_free(&pair);
}

/* Answers to our own requests are no flood. (BoringSSL counts them like others, so that this version ends at 32.) */
TEST(record, answers_to_our_own_requests_are_no_flood) {
  FOR_EACH_VICTIM(forged, SST_TLS1_3) {
    Forge *forge = &forged->forge;
    for (int i = 0; i < 32; i++) {
      test_note("round %d", i);
      REQUIRE_STATUS(sst_stream_key_update(forge->victim->stream, 1), SST_OK);
      EXPECT_STATUS(side_flush(forge->victim), SST_OK);
      EXPECT_HEARD(forge, "handshake 24 1");
      forge_send(forge, RECORD_HANDSHAKE, update_not_requested, sizeof update_not_requested);
      keys_update(&forge->send);
      REQUIRE_STATUS(side_receive(forge->victim), SST_NEED_INPUT);
    }
  }
}

/* R04 (a): empty records are no end and give no empty reads that look like one. */
TEST_VERSIONS(record, empty_records_are_not_the_end) {
  const int counts[] = {1, 2, 31};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    FOR_EACH_VICTIM(forged, version) {
      Forge *forge = &forged->forge;
      Side *victim = forge->victim;
      for (int i = 0; i < counts[k]; i++)
        forge_send(forge, RECORD_APPLICATION_DATA, NULL, 0);
      const size_t waiting = wire_waiting(victim->in);
      EXPECT_STATUS(side_call(victim, CALL_DECRYPT, wire_head(victim->in), waiting, 100), SST_NEED_INPUT);
      EXPECT_EQ(victim->progress.consumed, waiting);
      EXPECT_EQ(victim->progress.produced, 0);
      wire_drop(victim->in);
      forge_send(forge, RECORD_APPLICATION_DATA, "A", 1);
      EXPECT_STATUS(side_receive(victim), SST_NEED_INPUT);
      EXPECT_RECEIVED(victim, "A", 1);
      EXPECT_EQ(sst_stream_state(victim->stream), SST_STATE_OPEN);
    }
  }
}

/* The same with no room: an empty record is not kept, so there is nothing to need room for. */
TEST_VERSIONS(record, empty_records_need_no_room) {
  FOR_EACH_VICTIM(forged, version) {
    Side *victim = forged->forge.victim;
    for (int i = 0; i < 3; i++)
      forge_send(&forged->forge, RECORD_APPLICATION_DATA, NULL, 0);
    const size_t waiting = wire_waiting(victim->in);
    EXPECT_STATUS(side_call(victim, CALL_DECRYPT, wire_head(victim->in), waiting, 0), SST_NEED_INPUT);
    EXPECT_EQ(victim->progress.consumed, waiting);
  }
}

/* R04 (b), (c): nothing in, nothing out, and nothing on the wire. */
TEST_VERSIONS(record, nothing_in_gives_nothing_out) {
  Pair pair = pair_open(.client = {.max_version = version});
  const size_t sent = pair.client.out->len;
  for (size_t room = 0; room <= 100; room += 50) {
    EXPECT_STATUS(side_call(&pair.client, CALL_DECRYPT, NULL, 0, room), SST_NEED_INPUT);
    EXPECT_EQ(pair.client.progress.consumed + pair.client.progress.produced, 0);
    EXPECT_STATUS(side_call(&pair.client, CALL_ENCRYPT, NULL, 0, room), SST_OK);
    EXPECT_EQ(pair.client.progress.consumed + pair.client.progress.produced, 0);
  }
  EXPECT_EQ(pair.client.out->len, sent);
  EXPECT_EQ(sst_stream_state(pair.client.stream), SST_STATE_OPEN);
  pair_echo(&pair, 10);
  pair_free(&pair);
}

/* ---- R09, TLS 1.2 ---- */

static void expect_renegotiation_refused(Forged *forged, int32_t alert) {
  Forge *forge = &forged->forge;
  Side *victim = forge->victim;
  EXPECT_STATUS(side_receive(victim), SST_ERR_RENEGOTIATION);
  EXPECT_RECEIVED(victim, "abc", 3);
  EXPECT_EQ(error_of(victim).alert_sent, alert);
  for (int i = 0; i < 2; i++) {
    EXPECT_STATUS(side_call(victim, CALL_DECRYPT, NULL, 0, 100), SST_ERR_RENEGOTIATION);
    EXPECT_STATUS(side_call(victim, CALL_ENCRYPT, (const uint8_t *)"x", 1, 100), SST_ERR_RENEGOTIATION);
  }
  EXPECT_STATUS(side_flush(victim), SST_OK);
  EXPECT_HEARD(forge, alert == 100 ? "alert 2 100" : "alert 2 10");
}

/* Users saw the true reason once, and then only that the protocol is shut down. */
TEST(record, hello_request_is_refused_after_the_data_before_it_tls12) {
  Forged *forged = forged_open(SST_TLS1_2, SST_ROLE_CLIENT, &(PairOptions){.first = 0});
  forge_send(&forged->forge, RECORD_APPLICATION_DATA, "abc", 3);
  forge_send(&forged->forge, RECORD_HANDSHAKE, "\0\0\0\0", 4);
  expect_renegotiation_refused(forged, 100);
  forged_free(forged);
}

/* The hello is the client's own first one, which is well formed. */
TEST(record, second_client_hello_is_refused_tls12) {
  Forged *forged = forged_open(SST_TLS1_2, SST_ROLE_SERVER, &(PairOptions){.first = 0});
  const uint8_t *hello = forged->pair.client.out->bytes;
  const size_t len = (size_t)hello[3] << 8 | hello[4];
  forge_send(&forged->forge, RECORD_APPLICATION_DATA, "abc", 3);
  forge_send(&forged->forge, RECORD_HANDSHAKE, hello + RECORD_HEADER, len);
  const int32_t alert = side_receive(forged->forge.victim) < 0 ? error_of(forged->forge.victim).alert_sent : -1;
  EXPECT(alert == 100 || alert == 10);
  expect_renegotiation_refused(forged, alert);
  forged_free(forged);
}
