/*
 * What comes in during a handshake, and what goes out: its end (H04), another protocol, bytes that belong to the data
 * behind it, small pieces and small rooms, and flights that stay in one piece.
 */
#include "hello.h"
#include "pair.h"

#include <stdlib.h>
#include <string.h>

/* H04 */

static void fails_by_eof(Side *side) {
  EXPECT_STATUS(sst_stream_input_eof(side->stream), SST_OK);
  for (int round = 0; round < 2; round++)
    EXPECT_STATUS(side_handshake(side), SST_ERR_HANDSHAKE_EOF);
  EXPECT_STATUS(error_of(side).code, SST_ERR_HANDSHAKE_EOF);
  EXPECT_EQ(error_of(side).alert_sent, -1);
  EXPECT_EQ(error_of(side).alert_received, -1);
  EXPECT_EQ(sst_stream_num_peer_certificates(side->stream), 0);
  size_t len = 1;
  EXPECT_STATUS(sst_stream_peer_certificate(side->stream, 0, NULL, 0, &len), SST_OK);
  EXPECT_EQ(len, 0);
  EXPECT_STATUS(side_receive(side), SST_ERR_HANDSHAKE_EOF);
}

TEST_VERSIONS(stream_handshake_input, eof_before_any_byte_is_handshake_eof) {
  Pair pair = pair_new(.client = {.max_version = version});
  fails_by_eof(&pair.client);
  fails_by_eof(&pair.server);
  pair_free(&pair);
}

TEST_VERSIONS(stream_handshake_input, eof_after_half_of_server_hello_is_handshake_eof) {
  Pair pair = pair_new(.client = {.max_version = version});
  side_handshake(&pair.client);
  side_handshake(&pair.server);
  wire_cut(pair.client.in, RECORD_HEADER + 40);
  fails_by_eof(&pair.client);
  pair_free(&pair);
}

TEST_VERSIONS(stream_handshake_input, eof_before_clients_finished_is_handshake_eof) {
  Pair pair = pair_new(.client = {.max_version = version});
  side_handshake(&pair.client);
  side_handshake(&pair.server);
  fails_by_eof(&pair.server);
  pair_free(&pair);
}

/* A client in TLS 1.3 that has all but the server's last byte has judged its certificate, and still shows none. */
TEST_VERSIONS(stream_handshake_input, eof_one_byte_early_is_handshake_eof) {
  Pair pair = pair_new(.client = {.max_version = version});
  side_handshake(&pair.client);
  side_handshake(&pair.server);
  wire_cut(pair.client.in, wire_waiting(pair.client.in) - 1);
  fails_by_eof(&pair.client);
  pair_free(&pair);
}

/* A peer that says goodbye in the handshake has ended it as well, and is named. */
TEST_VERSIONS(stream_handshake_input, close_notify_is_handshake_eof) {
  Pair pair = pair_new(.client = {.max_version = version});
  side_handshake(&pair.client);
  const uint8_t alert[] = {RECORD_ALERT, 3, 3, 0, 2, 1, 0};
  wire_insert(pair.client.in, alert, sizeof alert);
  for (int round = 0; round < 2; round++)
    EXPECT_STATUS(side_handshake(&pair.client), SST_ERR_HANDSHAKE_EOF);
  EXPECT_EQ(error_of(&pair.client).alert_received, 0);
  EXPECT_CONTAINS(error_of(&pair.client).message, "close_notify");
  pair_free(&pair);
}

/* Another protocol */

static void is_not_tls(bool server, const char *what, const char *bytes, size_t len, size_t chunk) {
  test_note("%s to the %s", what, server ? "server" : "client");
  Pair pair = pair_new();
  side_handshake(&pair.client);
  Side *side = server ? &pair.server : &pair.client;
  wire_drop(side->in);
  const size_t sent = side->out->len;
  side->chunk = chunk;
  wire_insert(side->in, bytes, len);
  EXPECT_STATUS(side_handshake(side), SST_ERR_NOT_TLS);
  EXPECT_STATUS(side_handshake(side), SST_ERR_NOT_TLS);
  const sst_error error = error_of(side);
  EXPECT_STATUS(error.code, SST_ERR_NOT_TLS);
  /* A failure without an alert of its own gets one: the peer may speak TLS after all. */
  EXPECT_AT_LEAST(error.alert_sent, 1);
  EXPECT_EQ(side->out->bytes[side->out->len - 1], error.alert_sent);
  EXPECT_EQ(records_count(side->out, sent, RECORD_ALERT), 1);
  pair_free(&pair);
}

TEST(stream_handshake_input, other_protocols_are_not_tls) {
  static const char http[] = "GET / HTTP/1.1\r\nHost: server.test\r\n\r\n",
                    answer[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
  static const char ssh[] = "SSH-2.0-OpenSSH_9.2\r\n", smtp[] = "220 mail.test ESMTP\r\n";
  /* A ClientHello in the format of SSL 2, with TLS 1.2 as its version. */
  static const char sslv2[] =
      "\x80\x2e\x01\x03\x03\x00\x15\x00\x00\x00\x10\x00\x00\x2f\x00\x00\x35\x01\x00\x80\x03\x00"
      "\x80\x07\x00\xc0\x00\xff"
      "0123456789abcdef";
  const size_t chunks[] = {0, 1};
  for (size_t i = 0; i < 2; i++) {
    is_not_tls(true, "HTTP", http, sizeof http - 1, chunks[i]);
    is_not_tls(true, "SSH", ssh, sizeof ssh - 1, chunks[i]);
    is_not_tls(true, "SSL 2", sslv2, sizeof sslv2 - 1, chunks[i]);
    is_not_tls(false, "HTTP", answer, sizeof answer - 1, chunks[i]);
    is_not_tls(false, "SSH", ssh, sizeof ssh - 1, chunks[i]);
    is_not_tls(false, "SMTP", smtp, sizeof smtp - 1, chunks[i]);
  }
}

/* Data behind the last flight */

static void leaves_data(Side *from, Side *to) {
  EXPECT_STATUS(side_send(from, "first", 5), SST_OK);
  const size_t data = from->progress.produced, waiting = wire_waiting(to->in);
  EXPECT_STATUS(side_call(to, CALL_HANDSHAKE, wire_head(to->in), waiting, 65536), SST_OK);
  EXPECT_EQ(to->progress.consumed, waiting - data);
  to->in->taken += to->progress.consumed;
  EXPECT_STATUS(side_receive(to), SST_NEED_INPUT);
  EXPECT_RECEIVED(to, "first", 5);
}

TEST(stream_handshake_input, data_behind_clients_finished_stays_tls13) {
  Pair pair = pair_new();
  side_handshake(&pair.client);
  side_handshake(&pair.server);
  EXPECT_STATUS(side_handshake(&pair.client), SST_OK);
  leaves_data(&pair.client, &pair.server);
  pair_echo(&pair, 100);
  pair_free(&pair);
}

TEST(stream_handshake_input, data_behind_servers_finished_stays_tls12) {
  Pair pair = pair_new(.client = {.max_version = SST_TLS1_2});
  side_handshake(&pair.client);
  side_handshake(&pair.server);
  side_handshake(&pair.client);
  EXPECT_STATUS(side_handshake(&pair.server), SST_OK);
  leaves_data(&pair.server, &pair.client);
  pair_echo(&pair, 100);
  pair_free(&pair);
}

/* Flights: one piece each, for one write each. */

static void expect_flights(Pair *pair, size_t client, size_t server) {
  EXPECT_EQ(pair->client.out->num_pieces, client);
  EXPECT_EQ(pair->server.out->num_pieces, server);
  pair_free(pair);
}

TEST(stream_handshake_input, each_flight_is_one_piece_tls13) {
  Pair plain = pair_open();
  expect_flights(&plain, 2, 1);
  Pair mutual =
      pair_open(.client = {.credential = "client-rsa2048"},
                .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE, .credential = "server-chain"});
  expect_flights(&mutual, 2, 1);
  Pair retry = pair_open(.client = {.groups = {29, 23}}, .server = {.groups = {23}});
  expect_flights(&retry, 3, 2);
  Pair small = pair_open(.server = {.max_fragment = 512, .credential = "server-rsa4096"});
  expect_flights(&small, 2, 1);
}

TEST(stream_handshake_input, each_flight_is_one_piece_tls12) {
  Pair plain = pair_open(.client = {.max_version = SST_TLS1_2});
  expect_flights(&plain, 2, 2);
  Pair mutual =
      pair_open(.client = {.max_version = SST_TLS1_2, .credential = "client-rsa2048"},
                .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE, .credential = "server-chain"});
  expect_flights(&mutual, 2, 2);
}

/* In this version no session is resumed: no ticket may be made or asked for behind the handshake. */
TEST_VERSIONS(stream_handshake_input, nothing_waits_behind_the_handshake) {
  Pair pair = pair_open(.client = {.max_version = version});
  EXPECT_EQ(sst_stream_output_size(pair.server.stream), 0);
  EXPECT_EQ(sst_stream_output_size(pair.client.stream), 0);
  EXPECT_EQ(wire_waiting(pair.client.in), 0);
  EXPECT_EQ(wire_waiting(pair.server.in), 0);
  pair_free(&pair);
}

/* Small rooms and small pieces: the same records go over the wire as with plenty. */

static void copy_types(const Wire *wire, uint8_t *types, size_t cap, size_t *count) {
  Record records[64];
  *count = records_parse(wire->bytes, wire->len, records, 64);
  REQUIRE(*count <= cap && *count <= 64);
  for (size_t i = 0; i < *count; i++)
    types[i] = records[i].type;
}

static Pair pair_with_retry_and_client_certificate(uint16_t version) {
  return pair_new(.client = {.max_version = version, .credential = "client-p256", .groups = {29, 23}},
                  .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE, .groups = {23}});
}

static void runs_like_plain(uint16_t version, size_t chunk, size_t room) {
  Pair plain = pair_with_retry_and_client_certificate(version), small = pair_with_retry_and_client_certificate(version);
  small.client.chunk = small.server.chunk = chunk;
  small.client.room = small.server.room = room;
  REQUIRE_STATUS(pair_handshake(&plain), SST_OK);
  REQUIRE_STATUS(pair_handshake(&small), SST_OK);
  const Wire *wires[2][2] = {{plain.client.out, small.client.out}, {plain.server.out, small.server.out}};
  for (size_t i = 0; i < 2; i++) {
    uint8_t expected[64], got[64];
    size_t num_expected, num_got;
    copy_types(wires[i][0], expected, sizeof expected, &num_expected);
    copy_types(wires[i][1], got, sizeof got, &num_got);
    EXPECT_BYTES(got, num_got, expected, num_expected);
  }
  EXPECT_EQ(info_of(&small.server).suite, info_of(&plain.server).suite);
  pair_echo(&small, 3000);
  pair_free(&plain);
  pair_free(&small);
}

TEST_VERSIONS(stream_handshake_input, room_of_0_then_needed_is_enough) {
  runs_like_plain(version, 0, SIDE_LEARN);
}

TEST_VERSIONS(stream_handshake_input, room_of_1_byte_is_enough) {
  runs_like_plain(version, 0, 1);
}

TEST_VERSIONS(stream_handshake_input, room_of_5_bytes_is_enough) {
  runs_like_plain(version, 0, 5);
}

TEST_VERSIONS(stream_handshake_input, room_of_100_bytes_is_enough) {
  runs_like_plain(version, 0, 100);
}

TEST_VERSIONS(stream_handshake_input, one_byte_at_a_time_is_enough) {
  runs_like_plain(version, 1, 0);
}

TEST_VERSIONS(stream_handshake_input, one_byte_in_and_one_byte_out_is_enough) {
  runs_like_plain(version, 1, 1);
}

TEST_VERSIONS(stream_handshake_input, random_pieces_and_rooms_are_enough) {
  for (int round = 0; round < 50; round++)
    runs_like_plain(version, SIDE_RANDOM, SIDE_RANDOM);
}

/* With no room the whole flight waits, `needed` says how much, and a room of just that takes it in one piece. */
TEST_VERSIONS(stream_handshake_input, needed_is_all_that_waits) {
  Pair pair = pair_new(.client = {.max_version = version});
  for (int i = 0; i < 2; i++) {
    Side *side = i == 0 ? &pair.client : &pair.server;
    EXPECT_STATUS(side_call(side, CALL_HANDSHAKE, wire_head(side->in), wire_waiting(side->in), 0), SST_NEED_OUTPUT);
    side->in->taken += side->progress.consumed;
    const size_t needed = side->progress.needed;
    EXPECT_STATUS(side_call(side, CALL_HANDSHAKE, NULL, 0, needed), SST_NEED_INPUT);
    EXPECT_EQ(side->progress.produced, needed);
  }
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  pair_free(&pair);
}
