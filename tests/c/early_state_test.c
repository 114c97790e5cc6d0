/*
 * What is known and allowed during 0-RTT: facts, counters, rooms, and every way to end it at every step.
 */
#include <stdlib.h>
#include <string.h>

#include "early.h"

static uint64_t counter(const Side *side, int32_t which) {
  return sst_stream_counter(side->stream, which);
}

static Early early_read(const PairOptions *options) {
  Early early = early_opened(EARLY_TAKEN, options);
  EXPECT_STATUS(side_send(&early.pair.client, "early", 5), SST_OK);
  EXPECT_STATUS(side_handshake(&early.pair.server), SST_OK);
  return early;
}
#define early_at_server(...) early_read(&(PairOptions){.first = 0, __VA_ARGS__})

/* ---- facts ---- */

static void expect_session_facts(Side *side) {
  EXPECT_EQ(info_of(side).version, SST_TLS1_3);
  EXPECT_EQ(info_of(side).suite >> 8, 0x13);
  EXPECT_STRING(side_text(side, sst_stream_alpn), "one");
  EXPECT_STRING(side_text(side, sst_stream_server_name), "server.test");
}

static size_t peer_certificate_len(const Side *side) {
  size_t len = 0;
  (void)sst_stream_peer_certificate(side->stream, 0, NULL, 0, &len);
  return len;
}

TEST(early_state, facts_are_those_of_the_session_and_then_of_the_connection) {
  Early early = early_open(EARLY_TAKEN, .client = {.alpn = {"other", "one"}}, .server = {.alpn = {"one"}});
  Side *client = &early.pair.client, *server = &early.pair.server;
  expect_session_facts(client);
  EXPECT_EQ(info_of(client).flags, 0);
  EXPECT_EQ(info_of(client).group, 0);
  EXPECT_AT_LEAST(peer_certificate_len(client), 300);
  const uint16_t suite = info_of(client).suite;

  EXPECT_STATUS(side_send(client, "early", 5), SST_OK);
  EXPECT_STATUS(side_handshake(server), SST_OK);
  expect_session_facts(server);
  EXPECT_EQ(info_of(server).group, 29);
  EXPECT_EQ(info_of(server).flags, SST_INFO_RESUMED | SST_INFO_EARLY_DATA_ACCEPTED | SST_INFO_EXTENDED_MASTER_SECRET);
  EXPECT_EQ(info_of(server).suite, suite);

  EXPECT_STATUS(pair_handshake(&early.pair), SST_OK);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  expect_session_facts(client);
  expect_session_facts(server);
  EXPECT_EQ(info_of(client).group, 29);
  EXPECT_EQ(info_of(client).flags,
            SST_INFO_RESUMED | SST_INFO_EARLY_DATA_ACCEPTED | SST_INFO_VERIFIED | SST_INFO_EXTENDED_MASTER_SECRET);
  early_free(&early);
}

TEST(early_state, facts_of_the_session_go_when_it_is_refused) {
  for (int how = 0; how < 4; how++) {
    test_note("way %d", how);
    const EarlyKind kind = how == 0 ? EARLY_OTHER_ALPN : how == 1 ? EARLY_HELLO_RETRY : EARLY_TAKEN;
    Early early = early_open(kind, .client = {.alpn = {"one", "other"}}, .server = {.alpn = {"one"}});
    Side *client = &early.pair.client;
    EXPECT_STRING(side_text(client, sst_stream_alpn), "one");
    if (how == 0) EXPECT_STATUS(side_send(client, "early", 5), SST_OK);
    if (how < 2) (void)side_handshake(&early.pair.server);
    if (how < 2) (void)side_handshake(client);
    if (how == 2) EXPECT_STATUS(sst_stream_abort(client->stream, 90), SST_OK);
    if (how == 3) EXPECT_STATUS(side_close(client), SST_OK);
    EXPECT_STRING(side_text(client, sst_stream_alpn), how == 0 && client->status == SST_OK ? "other" : "");
    EXPECT_EQ(info_of(client).version, 0);
    EXPECT_EQ(sst_stream_early_data_left(client->stream), 0);
    early_free(&early);
  }
}

TEST(early_state, client_certificate_in_the_session_is_verified_during_it_and_later) {
  Early early = early_at_server(.client = {.credential = "client-p256"},
                                .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE});
  Side *server = &early.pair.server;
  for (int confirmed = 0; confirmed < 2; confirmed++) {
    test_note(confirmed ? "confirmed" : "early");
    EXPECT_EQ(info_of(server).flags & SST_INFO_VERIFIED, SST_INFO_VERIFIED);
    EXPECT_AT_LEAST(peer_certificate_len(server), 300);
    size_t len = 0;
    (void)sst_stream_verified_certificate(server->stream, 0, NULL, 0, &len);
    EXPECT_EQ(len, peer_certificate_len(server));
    EXPECT_STATUS(pair_handshake(&early.pair), SST_OK);
    EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  }
  early_free(&early);
}

TEST(early_state, counters_count_what_is_early) {
  Early early = early_at_server(.client = {.server_name = NULL});
  Side *client = &early.pair.client, *server = &early.pair.server;
  EXPECT_EQ(counter(client, SST_COUNTER_BYTES_ENCRYPTED), 5);
  EXPECT_EQ(counter(client, SST_COUNTER_RECORDS_SENT), 1);
  EXPECT_EQ(counter(client, SST_COUNTER_WIRE_SENT), client->out->len);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  EXPECT_EQ(counter(server, SST_COUNTER_BYTES_DECRYPTED), 5);
  EXPECT_EQ(counter(server, SST_COUNTER_WIRE_RECEIVED), server->in->taken);
  EXPECT_STATUS(side_send(server, "answer", 6), SST_OK);
  EXPECT_EQ(counter(server, SST_COUNTER_BYTES_ENCRYPTED), 6);
  EXPECT_EQ(counter(server, SST_COUNTER_WIRE_SENT), server->out->len);
  EXPECT_STATUS(side_handshake(client), SST_OK);
  EXPECT_STATUS(side_receive(client), SST_NEED_INPUT);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  EXPECT_EQ(counter(server, SST_COUNTER_WIRE_RECEIVED), server->in->taken);
  EXPECT_EQ(counter(client, SST_COUNTER_WIRE_RECEIVED), client->in->taken);
  EXPECT_EQ(counter(client, SST_COUNTER_BYTES_DECRYPTED), 6);
  early_free(&early);
}

/* ---- rooms ---- */

TEST(early_state, server_is_open_only_when_its_flight_is_out) {
  Early early = early_open(EARLY_TAKEN, .client = {.server_name = NULL});
  Side *client = &early.pair.client, *server = &early.pair.server;
  uint8_t out[16];
  sst_progress progress;
  EXPECT_STATUS(side_send(client, "early", 5), SST_OK);
  EXPECT_STATUS(side_call(server, CALL_HANDSHAKE, wire_head(server->in), wire_waiting(server->in), 0), SST_NEED_OUTPUT);
  server->in->taken += server->progress.consumed;
  const size_t flight = server->progress.needed;
  for (size_t left = flight; left > 0; left--) {
    EXPECT_EQ(server->progress.flags, SST_HAS_OUTPUT | SST_HAS_EVENT);
    EXPECT_EQ(sst_stream_state(server->stream), SST_STATE_HANDSHAKE);
    EXPECT_STATUS(sst_stream_decrypt(server->stream, NULL, 0, out, sizeof out, &progress), SST_ERR_STATE);
    EXPECT_STATUS(sst_stream_encrypt(server->stream, out, 1, NULL, 0, &progress), SST_ERR_STATE);
    EXPECT_STATUS(side_call(server, CALL_HANDSHAKE, NULL, 0, 1), left > 1 ? SST_NEED_OUTPUT : SST_OK);
    EXPECT_EQ(server->progress.produced, 1);
  }
  EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, SST_EARLY_DATA);
  EXPECT_EQ(sst_stream_state(server->stream), SST_STATE_HANDSHAKE | SST_STATE_OPEN);
  EXPECT_EQ(server->out->len, flight);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  EXPECT_RECEIVED(server, "early", 5);
  early_free(&early);
}

static sst_status decrypt_into(Side *side, size_t room) {
  const size_t len = wire_waiting(side->in);
  const sst_status status = side_call(side, CALL_DECRYPT, wire_head(side->in), len, room);
  side->in->taken += side->progress.consumed;
  return status;
}

/* All that the client says is there; the room takes some bytes of the early data at a time. */
TEST(early_state, rest_that_is_kept_stays_early_and_comes_before_the_confirmation) {
  for (size_t room = 0; room < 3; room++) {
    test_note("room %zu", room);
    Early early = early_at_server(.client = {.server_name = NULL});
    Side *client = &early.pair.client, *server = &early.pair.server;
    EXPECT_STATUS(side_handshake(client), SST_OK);
    EXPECT_STATUS(side_send(client, "later", 5), SST_OK);
    for (size_t got = 0; got < 5; got += room > 0 ? room : 5) {
      EXPECT_STATUS(decrypt_into(server, room), SST_NEED_OUTPUT);
      EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, SST_EARLY_DATA);
      EXPECT_EQ(sst_stream_state(server->stream) & SST_STATE_HANDSHAKE, SST_STATE_HANDSHAKE);
    }
    if (room == 0) {
      EXPECT_EQ(server->progress.flags & SST_HAS_PLAINTEXT, SST_HAS_PLAINTEXT);
      EXPECT_STATUS(decrypt_into(server, 5), SST_NEED_OUTPUT);
      EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, SST_EARLY_DATA);
    }
    EXPECT_RECEIVED(server, "early", 5);
    EXPECT_STATUS(decrypt_into(server, 0), SST_NEED_OUTPUT); /* the confirmation, and the type of the next record */
    EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, 0);
    EXPECT_STATUS(decrypt_into(server, 50), SST_NEED_INPUT);
    EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, 0);
    EXPECT_RECEIVED(server, "later", 5);
    early_free(&early);
  }
}

/* Data in the call that meets the confirmation is not early, if no early data comes with it. */
TEST(early_state, data_behind_the_confirmation_in_one_call_is_not_early) {
  for (int in_place = 0; in_place < 2; in_place++) {
    Early early = early_at_server(.client = {.server_name = NULL});
    Side *client = &early.pair.client, *server = &early.pair.server;
    EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
    EXPECT_RECEIVED(server, "early", 5);
    EXPECT_STATUS(side_handshake(client), SST_OK);
    EXPECT_STATUS(side_send(client, "later", 5), SST_OK);
    if (in_place) {
      uint8_t buffer[1000];
      const size_t len = wire_waiting(server->in);
      sst_range range;
      size_t used = 0;
      memcpy(buffer, wire_head(server->in), len);
      EXPECT_STATUS(sst_stream_decrypt_in_place(server->stream, buffer, len, &range, 1, &used, &server->progress),
                    SST_NEED_INPUT);
      REQUIRE_EQ(used, 1);
      EXPECT_BYTES(buffer + range.offset, range.length, "later", 5);
    } else {
      EXPECT_STATUS(decrypt_into(server, 1000), SST_NEED_INPUT);
      EXPECT_RECEIVED(server, "later", 5);
    }
    EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, 0);
    EXPECT_EQ(sst_stream_state(server->stream), SST_STATE_OPEN);
    early_free(&early);
  }
}

TEST(early_state, full_ranges_leave_the_next_record_closed) {
  Early early = early_at_server(.client = {.server_name = NULL});
  Side *server = &early.pair.server;
  EXPECT_STATUS(side_send(&early.pair.client, "again", 5), SST_OK);
  uint8_t buffer[1000];
  size_t len = wire_waiting(server->in), used = 9;
  memcpy(buffer, wire_head(server->in), len);
  sst_range ranges[2];
  EXPECT_STATUS(sst_stream_decrypt_in_place(server->stream, buffer, len, NULL, 0, &used, &server->progress),
                SST_NEED_OUTPUT);
  EXPECT_EQ(used, 0);
  EXPECT_EQ(server->progress.consumed, 0);
  EXPECT_EQ(server->progress.needed, 0);
  EXPECT_STATUS(sst_stream_decrypt_in_place(server->stream, buffer, len, ranges, 1, &used, &server->progress),
                SST_NEED_OUTPUT);
  EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, SST_EARLY_DATA);
  EXPECT_BYTES(buffer + ranges[0].offset, ranges[0].length, "early", 5);
  uint8_t *rest = buffer + server->progress.consumed;
  len -= server->progress.consumed;
  EXPECT_STATUS(sst_stream_decrypt_in_place(server->stream, rest, len, ranges, 2, &used, &server->progress),
                SST_NEED_INPUT);
  REQUIRE_EQ(used, 1);
  EXPECT_BYTES(rest + ranges[0].offset, ranges[0].length, "again", 5);
  early_free(&early);
}

TEST(early_state, cut_early_record_stays_in_the_callers_buffer) {
  Early early = early_open(EARLY_TAKEN, .server = {.options = SST_OPTION_LEAVE_PARTIAL});
  Side *server = &early.pair.server;
  EXPECT_STATUS(side_send(&early.pair.client, "early", 5), SST_OK);
  EXPECT_STATUS(side_handshake(server), SST_OK);
  const size_t before = 6, record = wire_waiting(server->in) - before; /* change_cipher_spec */
  for (size_t cut = 0; cut < record; cut++) {
    const size_t taken = cut == 0 ? before : 0;
    EXPECT_STATUS(side_call(server, CALL_DECRYPT, wire_head(server->in), taken + cut, 100), SST_NEED_INPUT);
    EXPECT_EQ(server->progress.consumed, taken);
    EXPECT_EQ(server->progress.needed, cut < 5 ? 5 - cut : record - cut);
    server->in->taken += server->progress.consumed;
  }
  EXPECT_STATUS(decrypt_into(server, 100), SST_NEED_INPUT);
  EXPECT_RECEIVED(server, "early", 5);
  early_free(&early);
}

TEST(early_state, slices_are_early_data_too_and_count_together) {
  Early early = early_open(EARLY_TAKEN, .client = {.server_name = NULL});
  Side *client = &early.pair.client, *server = &early.pair.server;
  static uint8_t data[EARLY_LIMIT], out[2 * EARLY_LIMIT];
  sst_progress done;
  pattern_fill(data, sizeof data, 1);
  const sst_slice over[3] = {{data, 9000}, {NULL, 0}, {data + 9000, EARLY_LIMIT - 9000}};
  EXPECT_STATUS(sst_stream_encrypt2(client->stream, data, EARLY_LIMIT, data, 1, out, sizeof out, &done), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_encrypt2(client->stream, data, 1, data, EARLY_LIMIT, out, sizeof out, &done), SST_ERR_STATE);
  EXPECT_EQ(done.consumed, 0);
  EXPECT_EQ(sst_stream_early_data_left(client->stream), EARLY_LIMIT);
  EXPECT_STATUS(sst_stream_encryptv(client->stream, over, 3, out, sizeof out, &done), SST_OK);
  EXPECT_EQ(done.consumed, EARLY_LIMIT);
  EXPECT_EQ(sst_stream_early_data_left(client->stream), 0);
  wire_write(client->out, out, done.produced);
  EXPECT_STATUS(side_handshake(server), SST_OK);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  EXPECT_RECEIVED(server, data, EARLY_LIMIT);
  early_free(&early);
}

/* ---- replay ---- */

/* Nothing in the library knows that a ClientHello came before (RFC 8446, 8): its early data is taken again, by any
   server with the ticket keys; but whoever sends it again cannot confirm it. */
TEST(early_state, replayed_hello_gives_its_data_again_and_is_never_confirmed) {
  Early early = early_at_server(.client = {.server_name = NULL});
  EXPECT_STATUS(side_handshake(&early.pair.client), SST_OK);
  for (int i = 0; i < 2; i++) {
    Wire *to_server = wire_new(), *to_client = wire_new();
    Side again = side_new(&early.resume.options.server, SST_ROLE_SERVER, to_server, to_client);
    wire_insert(to_server, early.pair.client.out->bytes, early.pair.client.out->len);
    EXPECT_STATUS(side_handshake(&again), SST_OK);
    EXPECT_STATUS(decrypt_into(&again, 5), SST_NEED_OUTPUT);
    EXPECT_EQ(again.progress.flags & SST_EARLY_DATA, SST_EARLY_DATA);
    EXPECT_RECEIVED(&again, "early", 5);
    EXPECT_STATUS(side_receive(&again), SST_ERR_BAD_RECORD_MAC);
    EXPECT_EQ(again.received_len, 0);
    free(again.received);
    sst_stream_free(again.stream);
    sst_config_free(again.config);
    wire_free(to_server);
    wire_free(to_client);
  }
  early_free(&early);
}
