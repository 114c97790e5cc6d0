/* White-box: alerts that come inside the handshake, at every place of every flight, under the keys of that place. */
#include "flight.h"
#include "forge.h"

#include <string.h>

/* Flights of a full handshake with a client certificate: hello, server's answer, client's second, in 1.2 server's
   second. */
enum { FLIGHTS_13 = 3, FLIGHTS_12 = 4 };

static Pair new_pair(uint16_t version) {
  return pair_new(.client = {.max_version = version, .credential = "client-p256", .report = FORGE_EVENTS},
                  .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE, .report = FORGE_EVENTS});
}

/* Runs the handshake until flight number waits to be taken by its receiver, which is returned. */
static Side *run_to(Pair *pair, int number) {
  for (int i = 0; i <= number; i++)
    side_handshake(i % 2 == 0 ? &pair->client : &pair->server);
  return number % 2 == 0 ? &pair->server : &pair->client;
}

static int32_t sender_of(int number) {
  return number % 2 == 0 ? SST_ROLE_CLIENT : SST_ROLE_SERVER;
}

typedef void (*Body)(Pair *pair, Side *victim, Flight *flight);

/* Calls body for every place in every flight, the first units of which have been put. */
static void at_every_place(uint16_t version, Body body) {
  const int flights = version == SST_TLS1_3 ? FLIGHTS_13 : FLIGHTS_12;
  size_t places = 0;
  for (int number = 0; number < flights; number++) {
    size_t count = 1;
    for (size_t place = 0; place < count; place++, places++) {
      Pair pair = new_pair(version);
      Side *victim = run_to(&pair, number);
      Flight flight = flight_take(&pair, sender_of(number));
      count = flight.count;
      test_note("flight %d, before message %zu of %zu", number, place, count);
      flight_put(&flight, 0, place);
      body(&pair, victim, &flight);
      flight_free(&flight);
      pair_free(&pair);
    }
  }
  test_note(NULL);
  EXPECT_AT_LEAST(places, version == SST_TLS1_3 ? 1 + 7 + 4 : 1 + 5 + 5 + 2);
}

static void expect_end(Side *victim, sst_status code, int32_t received, int32_t sent) {
  for (int i = 0; i < 2; i++)
    EXPECT_STATUS(side_handshake(victim), code);
  const sst_error error = error_of(victim);
  EXPECT_STATUS(error.code, code);
  EXPECT_EQ(error.alert_received, received);
  EXPECT_EQ(error.alert_sent, sent);
  EXPECT_EQ(sst_stream_state(victim->stream), SST_STATE_HANDSHAKE | SST_STATE_FAILED);
  EXPECT_EQ(sst_stream_num_peer_certificates(victim->stream), 0);
}

static void gets_fatal_alert(Pair *pair, Side *victim, Flight *flight) {
  (void)pair;
  flight_insert(flight, RECORD_ALERT, "\2\x50", 2);
  const size_t sent = victim->out->len;
  expect_end(victim, SST_ERR_ALERT_RECEIVED - 80, 80, -1);
  EXPECT_STATUS(side_flush(victim), SST_OK);
  /* What it had to send before it read the alert may be out, but no alert of its own answers one. */
  EXPECT_EQ(records_count(victim->out, sent, RECORD_ALERT), 0);
}

TEST_VERSIONS(handshake_alert, fatal_alert_at_every_place_is_told_and_not_answered) {
  at_every_place(version, gets_fatal_alert);
}

static void gets_close_notify(Pair *pair, Side *victim, Flight *flight) {
  (void)pair;
  flight_insert(flight, RECORD_ALERT, "\1\0", 2);
  const size_t sent = victim->out->len;
  expect_end(victim, SST_ERR_HANDSHAKE_EOF, 0, -1);
  EXPECT_STATUS(side_flush(victim), SST_OK);
  EXPECT_EQ(records_count(victim->out, sent, RECORD_ALERT), 0);
}

/* A peer that says goodbye inside the handshake is not a clean end. */
TEST_VERSIONS(handshake_alert, close_notify_at_every_place_is_handshake_eof) {
  at_every_place(version, gets_close_notify);
}

/* user_canceled alone ends nothing (RFC 8446, 6.1): what it announces comes behind it. */
static void gets_user_canceled_and_close_notify(Pair *pair, Side *victim, Flight *flight) {
  (void)pair;
  flight_insert(flight, RECORD_ALERT, "\1\x5a", 2);
  EXPECT_STATUS(side_handshake(victim), SST_NEED_INPUT);
  flight_insert(flight, RECORD_ALERT, "\1\0", 2);
  expect_end(victim, SST_ERR_HANDSHAKE_EOF, 0, -1);
}

TEST_VERSIONS(handshake_alert, user_canceled_at_every_place_waits_for_close_notify) {
  at_every_place(version, gets_user_canceled_and_close_notify);
}

/* The rest of the flight stands behind the place where the test has stopped. */
static void goes_on_behind_a_warning(Pair *pair, Side *victim, Flight *flight) {
  (void)victim;
  const size_t put = records_count(flight->wire, flight->wire->taken, 0);
  flight_insert(flight, RECORD_ALERT, "\1\x5a", 2);
  flight_put(flight, put, flight->count);
  EXPECT_STATUS(pair_handshake(pair), SST_OK);
}

TEST_VERSIONS(handshake_alert, warning_at_every_place_changes_nothing) {
  at_every_place(version, goes_on_behind_a_warning);
}

/* Once a side seals, what is not sealed does not open. But OpenSSL's client tells a server in clear text why it refuses
   the certificate: the handshake fails all the same, and the server is told the reason. */
TEST(handshake_alert, plain_alert_in_a_sealed_flight_is_told_to_a_server_alone_tls13) {
  for (int number = 1; number < FLIGHTS_13; number++) {
    Pair pair = new_pair(SST_TLS1_3);
    Side *victim = run_to(&pair, number);
    Flight flight = flight_take(&pair, sender_of(number));
    flight_put(&flight, 0, 2);
    wire_insert(flight.wire, "\x15\3\3\0\2\2\x50", 7);
    if (victim == &pair.server) {
      expect_end(victim, SST_ERR_ALERT_RECEIVED - 80, 80, 20);
    } else {
      expect_end(victim, SST_ERR_BAD_RECORD_MAC, -1, 20);
    }
    flight_free(&flight);
    pair_free(&pair);
  }
}

/* A server whose refusal comes as an alert of the last kind: behind the client's success, in the first read. */
TEST(handshake_alert, alert_behind_the_clients_success_comes_from_decrypt_tls13) {
  Pair pair = pair_open(.client = {.max_version = SST_TLS1_3, .report = FORGE_EVENTS});
  Forge forge = forge_new(&pair, &pair.client);
  forge_send(&forge, RECORD_ALERT, "\2\x74", 2);
  EXPECT_STATUS(side_receive(&pair.client), SST_ERR_ALERT_RECEIVED - 116);
  EXPECT_STATUS(side_send(&pair.client, "x", 1), SST_ERR_ALERT_RECEIVED - 116);
  pair_free(&pair);
}

/* ---- A02: a server that picks a protocol that was not offered ---- */

/* Replaces the server's answer "h2" in a message by "zz". */
static void change_answer(uint8_t *bytes, size_t len) {
  static const uint8_t answer[] = {0, 16, 0, 5, 0, 3, 2, 'h', '2'};
  for (size_t i = 0; i + sizeof answer <= len; i++) {
    if (memcmp(bytes + i, answer, sizeof answer) != 0) continue;
    memcpy(bytes + i + 7, "zz", 2);
    return;
  }
  FAIL("no ALPN answer in the message");
}

TEST_VERSIONS(handshake_alert, forged_alpn_answer_is_illegal_parameter_47) {
  Pair pair = pair_new(.client = {.max_version = version, .alpn = {"h2", "http/1.1"}, .report = FORGE_EVENTS},
                       .server = {.alpn = {"h2"}, .report = FORGE_EVENTS});
  run_to(&pair, 1);
  Flight flight = flight_take(&pair, SST_ROLE_SERVER);
  /* ServerHello, or EncryptedExtensions behind ChangeCipherSpec */
  Unit *unit = &flight.units[version == SST_TLS1_3 ? 2 : 0];
  change_answer(unit->bytes.bytes, unit->bytes.len);
  flight_put(&flight, 0, flight.count);
  EXPECT_STATUS(side_handshake(&pair.client), SST_ERR_ILLEGAL_PARAMETER);
  EXPECT_EQ(error_of(&pair.client).alert_sent, 47);
  EXPECT_STRING(side_text(&pair.client, sst_stream_alpn), "");
  if (version == SST_TLS1_2) {
    EXPECT_STATUS(side_handshake(&pair.server), SST_ERR_ALERT_RECEIVED - 47);
    EXPECT_EQ(error_of(&pair.server).alert_received, 47);
  }
  flight_free(&flight);
  pair_free(&pair);
}

static void gets_encrypted_extensions(const char *offered, const void *message, size_t len, sst_status code,
                                      int32_t alert) {
  Pair pair = pair_new(.client = {.max_version = SST_TLS1_3, .alpn = {offered}, .report = FORGE_EVENTS},
                       .server = {.report = FORGE_EVENTS});
  run_to(&pair, 1);
  Flight flight = flight_take(&pair, SST_ROLE_SERVER);
  flight_put(&flight, 0, 2);
  flight_insert(&flight, RECORD_HANDSHAKE, message, len);
  EXPECT_STATUS(side_handshake(&pair.client), code);
  EXPECT_EQ(error_of(&pair.client).alert_sent, alert);
  flight_free(&flight);
  pair_free(&pair);
}

/* The other ways to answer wrongly: an empty name, two names, and an answer to what was not asked (RFC 7301, 3.1). */
TEST(handshake_alert, malformed_alpn_answer_is_refused_tls13) {
  static const uint8_t empty[] = {8, 0, 0, 9, 0, 7, 0, 16, 0, 3, 0, 1, 0};
  static const uint8_t two[] = {8, 0, 0, 14, 0, 12, 0, 16, 0, 8, 0, 6, 2, 'h', '2', 2, 'h', '2'};
  static const uint8_t one[] = {8, 0, 0, 11, 0, 9, 0, 16, 0, 5, 0, 3, 2, 'h', '2'};
  gets_encrypted_extensions("h2", empty, sizeof empty, SST_ERR_DECODE, 50);
  gets_encrypted_extensions("h2", two, sizeof two, SST_ERR_DECODE, 50);
  gets_encrypted_extensions(NULL, one, sizeof one, SST_ERR_ILLEGAL_PARAMETER, 110);
}
