/* White-box: handshake messages after the handshake: KeyUpdate that is not one, messages out of place, and floods. */
#include "forge.h"
#include "tls/internal.h"

#include <string.h>

enum { HANDSHAKE = RECORD_HANDSHAKE, DATA = RECORD_APPLICATION_DATA };

/* Sends data and messages to a victim of each role that is asked for, and expects the failure behind the data. */
typedef void (*Send)(Forge *forge);

static void fails(uint16_t version, int32_t roles, Send send, sst_status code, int32_t alert) {
  for (int32_t role = SST_ROLE_CLIENT; role <= SST_ROLE_SERVER; role++) {
    if ((roles & role) == 0) continue;
    test_note("at the %s", role == SST_ROLE_CLIENT ? "client" : "server");
    Forged *forged = forged_open(version, role, &(PairOptions){.first = 0});
    Side *victim = forged->forge.victim;
    forge_send(&forged->forge, DATA, "abc", 3);
    send(&forged->forge);
    EXPECT_STATUS(side_receive(victim), code);
    EXPECT_RECEIVED(victim, "abc", 3);
    EXPECT_EQ(error_of(victim).alert_sent, alert);
    EXPECT_STATUS(side_flush(victim), SST_OK);
    Side *peer = role == SST_ROLE_CLIENT ? &forged->pair.server : &forged->pair.client;
    EXPECT_STATUS(side_receive(peer), SST_ERR_ALERT_RECEIVED - alert);
    forged_free(forged);
  }
}

static void send_bad_value(Forge *forge) {
  forge_send(forge, HANDSHAKE, "\x18\0\0\1\2", 5);
}

/* RFC 8446, 4.6.3. A known difference: BoringSSL says decode_error. */
TEST(record_message, key_update_of_unknown_value_is_illegal_parameter_47_tls13) {
  const bool oracle = sst__keeps_ssl();
  fails(SST_TLS1_3, SST_ROLE_BOTH, send_bad_value, oracle ? SST_ERR_DECODE : SST_ERR_ILLEGAL_PARAMETER,
        oracle ? 50 : 47);
}

static void send_empty_update(Forge *forge) {
  forge_send(forge, HANDSHAKE, "\x18\0\0\0", 4);
}

TEST(record_message, key_update_without_body_is_decode_50_tls13) {
  fails(SST_TLS1_3, SST_ROLE_BOTH, send_empty_update, SST_ERR_DECODE, 50);
}

/* What stands behind it would be protected by the old keys (RFC 8446, 5.1). */
static void send_two_in_one(Forge *forge) {
  forge_send(forge, HANDSHAKE, "\x18\0\0\1\0\x18\0\0\1\0", 10);
}

TEST(record_message, bytes_behind_key_update_are_unexpected_message_10_tls13) {
  fails(SST_TLS1_3, SST_ROLE_BOTH, send_two_in_one, SST_ERR_UNEXPECTED_MESSAGE, 10);
}

/* A length is refused before its body is waited for: 100 KiB at a client, one byte at a server. */
static void send_long(Forge *forge) {
  forge_send(forge, HANDSHAKE, "\x18\x02\0\0", 4);
}

TEST(record_message, message_over_the_limit_is_message_too_large_47_tls13) {
  fails(SST_TLS1_3, SST_ROLE_BOTH, send_long, SST_ERR_MESSAGE_TOO_LARGE, 47);
}

static void send_two_announced(Forge *forge) {
  forge_send(forge, HANDSHAKE, "\x18\0\0\2", 4);
}

TEST(record_message, message_of_two_bytes_at_a_server_is_message_too_large_47_tls13) {
  fails(SST_TLS1_3, SST_ROLE_SERVER, send_two_announced, SST_ERR_MESSAGE_TOO_LARGE, 47);
}

static void send_ticket(Forge *forge) {
  forge_send(forge, HANDSHAKE, "\x04\0\0\1\0", 5);
}

TEST(record_message, ticket_at_a_server_is_unexpected_message_10_tls13) {
  fails(SST_TLS1_3, SST_ROLE_SERVER, send_ticket, SST_ERR_UNEXPECTED_MESSAGE, 10);
}

static void send_certificate_request(Forge *forge) {
  forge_send(forge, HANDSHAKE, "\x0d\0\0\3\0\0\0", 7);
}

TEST(record_message, certificate_request_at_a_client_is_unexpected_message_10_tls13) {
  fails(SST_TLS1_3, SST_ROLE_CLIENT, send_certificate_request, SST_ERR_UNEXPECTED_MESSAGE, 10);
}

/* Every type that has no place here, with a body that a server would take. */
TEST(record_message, other_messages_are_unexpected_message_10_tls13) {
  const uint8_t types[] = {1, 2, 5, 8, 11, 15, 20, 99};
  for (size_t i = 0; i < sizeof types; i++) {
    for (int32_t role = SST_ROLE_CLIENT; role <= SST_ROLE_SERVER; role++) {
      test_note("type %u, role %d", types[i], role);
      Forged *forged = forged_open(SST_TLS1_3, role, &(PairOptions){.first = 0});
      const uint8_t message[5] = {types[i], 0, 0, 1, 0};
      forge_send(&forged->forge, HANDSHAKE, message, sizeof message);
      EXPECT_STATUS(side_receive(forged->forge.victim), SST_ERR_UNEXPECTED_MESSAGE);
      EXPECT_EQ(error_of(forged->forge.victim).alert_sent, 10);
      forged_free(forged);
    }
  }
}

/* Updates without data between them, with requests in the second round: no answer may multiply. */
static void send_updates(Forge *forge, int count, uint8_t request) {
  const uint8_t message[5] = {24, 0, 0, 1, request};
  for (int i = 0; i < count; i++) {
    forge_send(forge, HANDSHAKE, message, sizeof message);
    keys_update(&forge->send);
  }
}

static void send_33_updates(Forge *forge) {
  send_updates(forge, 33, 0);
}

TEST(record_message, key_update_33_without_data_is_flood_10_tls13) {
  fails(SST_TLS1_3, SST_ROLE_BOTH, send_33_updates, SST_ERR_FLOOD, 10);
}

TEST(record_message, key_updates_pass_up_to_32_and_data_starts_anew_tls13) {
  for (int32_t role = SST_ROLE_CLIENT; role <= SST_ROLE_SERVER; role++) {
    Forged *forged = forged_open(SST_TLS1_3, role, &(PairOptions){.first = 0});
    for (uint8_t request = 0; request < 2; request++) {
      send_updates(&forged->forge, 32, request);
      forge_send(&forged->forge, DATA, "A", 1);
    }
    EXPECT_STATUS(side_receive(forged->forge.victim), SST_NEED_INPUT);
    EXPECT_RECEIVED(forged->forge.victim, "AA", 2);
    EXPECT_EQ(sst_stream_counter(forged->forge.victim->stream, SST_COUNTER_KEY_UPDATES_RECEIVED), 64);
    forged_free(forged);
  }
}

/* Empty handshake records carry nothing either, whatever they stand between. */
static void send_33_empty(Forge *forge) {
  for (int i = 0; i < 33; i++)
    forge_send(forge, HANDSHAKE, NULL, 0);
}

/* RFC 8446, 5.4: the first one already. A known difference: BoringSSL counts it as any empty record. */
TEST(record_message, empty_handshake_record_is_unexpected_message_10_tls13) {
  fails(SST_TLS1_3, SST_ROLE_BOTH, send_33_empty, sst__keeps_ssl() ? SST_ERR_FLOOD : SST_ERR_UNEXPECTED_MESSAGE, 10);
}

/* A TLS 1.2 server takes no handshake record at all. */
TEST(record_message, empty_handshake_record_33_is_flood_10_tls12) {
  fails(SST_TLS1_2, SST_ROLE_CLIENT, send_33_empty, SST_ERR_FLOOD, 10);
  fails(SST_TLS1_2, SST_ROLE_SERVER, send_33_empty, SST_ERR_RENEGOTIATION, 100);
}

/* TLS 1.2: the messages that ask for a new handshake, in the wrong role or of another kind. */
static void send_hello_request(Forge *forge) {
  forge_send(forge, HANDSHAKE, "\0\0\0\0", 4);
}

TEST(record_message, hello_request_at_a_server_ends_the_stream_tls12) {
  Forged *forged = forged_open(SST_TLS1_2, SST_ROLE_SERVER, &(PairOptions){.first = 0});
  send_hello_request(&forged->forge);
  EXPECT_STATUS(side_receive(forged->forge.victim), SST_ERR_RENEGOTIATION);
  const int32_t alert = error_of(forged->forge.victim).alert_sent;
  EXPECT(alert == 100 || alert == 10);
  forged_free(forged);
}

TEST(record_message, client_hello_at_a_client_is_unexpected_message_tls12) {
  Forged *forged = forged_open(SST_TLS1_2, SST_ROLE_CLIENT, &(PairOptions){.first = 0});
  const uint8_t *hello = forged->pair.client.out->bytes;
  forge_send(&forged->forge, HANDSHAKE, hello + RECORD_HEADER, (size_t)hello[3] << 8 | hello[4]);
  EXPECT_STATUS(side_receive(forged->forge.victim), SST_ERR_UNEXPECTED_MESSAGE);
  EXPECT_AT_LEAST(error_of(forged->forge.victim).alert_sent, 1);
  forged_free(forged);
}
