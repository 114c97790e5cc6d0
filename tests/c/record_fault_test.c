/* White-box: what an open stream does with each fault of its peer: code and alert, behind the data before it. */
#include "forge.h"
#include "tls/internal.h"

#include <stdlib.h>
#include <string.h>

enum { ALERT = RECORD_ALERT, HANDSHAKE = RECORD_HANDSHAKE, DATA = RECORD_APPLICATION_DATA };
enum { BOTH, AT_CLIENT, AT_SERVER };
enum { LEAST_SEALED = 40 };

typedef void (*Send)(Forge *forge);

static void *zeros(size_t len) {
  return memset(test_allocate(len), 0, len);
}

/* The failure is sticky on both sides of the stream, and its alert waits for flush and reaches the peer. */
static void expect_failed(Forged *forged, sst_status code, int32_t alert) {
  Side *victim = forged->forge.victim;
  Side *peer = victim == &forged->pair.client ? &forged->pair.server : &forged->pair.client;
  EXPECT_STATUS(error_of(victim).code, code);
  EXPECT_EQ(error_of(victim).alert_sent, alert);
  EXPECT_EQ(error_of(victim).alert_received, -1);
  EXPECT_EQ(sst_stream_state(victim->stream), SST_STATE_OPEN | SST_STATE_FAILED);
  EXPECT((victim->progress.flags & SST_HAS_OUTPUT) != 0);
  EXPECT_STATUS(side_call(victim, CALL_DECRYPT, NULL, 0, 10), code);
  EXPECT_STATUS(side_call(victim, CALL_ENCRYPT, (const uint8_t *)"x", 1, 100), code);
  EXPECT_EQ(victim->progress.produced, 0);
  EXPECT_STATUS(side_flush(victim), SST_OK);
  EXPECT_STATUS(side_receive(peer), SST_ERR_ALERT_RECEIVED - alert);
  EXPECT_EQ(error_of(peer).alert_received, alert);
}

static void run(uint16_t version, int32_t victim, Send send, sst_status code, int32_t alert) {
  test_note("at the %s", victim == SST_ROLE_CLIENT ? "client" : "server");
  Forged *forged = forged_open(version, victim, &(PairOptions){.first = 0});
  forge_send(&forged->forge, DATA, "abc", 3);
  send(&forged->forge);
  EXPECT_STATUS(side_receive(forged->forge.victim), code);
  EXPECT_RECEIVED(forged->forge.victim, "abc", 3);
  expect_failed(forged, code, alert);
  forged_free(forged);
}

static void run_at(uint16_t version, int where, Send send, sst_status code, int32_t alert) {
  if (where != AT_SERVER) run(version, SST_ROLE_CLIENT, send, code, alert);
  if (where != AT_CLIENT) run(version, SST_ROLE_SERVER, send, code, alert);
}

/* FAULT_x(name, where, code, alert) { sends the fault } */
#define FAULT_13(name, where, code, alert)                     \
  static void send_##name(Forge *forge);                       \
  TEST(record_fault, name##_tls13) {                           \
    run_at(SST_TLS1_3, (where), send_##name, (code), (alert)); \
  }                                                            \
  static void send_##name(Forge *forge)
#define FAULT_12(name, where, code, alert)                     \
  static void send_##name(Forge *forge);                       \
  TEST(record_fault, name##_tls12) {                           \
    run_at(SST_TLS1_2, (where), send_##name, (code), (alert)); \
  }                                                            \
  static void send_##name(Forge *forge)
#define FAULT(name, where, code, alert)                     \
  static void send_##name(Forge *forge);                    \
  TEST_VERSIONS(record_fault, name) {                       \
    run_at(version, (where), send_##name, (code), (alert)); \
  }                                                         \
  static void send_##name(Forge *forge)

static void send_zeros(Forge *forge, uint8_t type, size_t len) {
  void *data = zeros(len);
  forge_send(forge, type, data, len);
  free(data);
}

static void send_empty(Forge *forge, uint8_t type, int count) {
  for (int i = 0; i < count; i++)
    forge_send(forge, type, NULL, 0);
}

static void send_plain(Forge *forge, uint8_t type, uint8_t version_low, size_t len) {
  uint8_t record[RECORD_HEADER + 64] = {type, 3, version_low, (uint8_t)(len >> 8), (uint8_t)len};
  forge_send_raw(forge, record, RECORD_HEADER + (len < 64 ? len : 64));
}

/* ---- protection ---- */

FAULT(damaged_tag_is_bad_record_mac_20, BOTH, SST_ERR_BAD_RECORD_MAC, 20) {
  const Data record = keys_seal(&forge->send, DATA, "x", 1);
  record.bytes[record.len - 1] ^= 1;
  forge_send_data(forge, record);
}

FAULT(repeated_record_is_bad_record_mac_20, BOTH, SST_ERR_BAD_RECORD_MAC, 20) {
  forge->send.sequence--;
  forge_send(forge, DATA, "abc", 3);
}

FAULT(left_out_record_is_bad_record_mac_20, BOTH, SST_ERR_BAD_RECORD_MAC, 20) {
  forge->send.sequence++;
  forge_send(forge, DATA, "abc", 3);
}

FAULT(changed_type_in_the_header_is_bad_record_mac_20, BOTH, SST_ERR_BAD_RECORD_MAC, 20) {
  const Data record = keys_seal(&forge->send, DATA, "x", 1);
  record.bytes[0] = ALERT;
  forge_send_data(forge, record);
}

FAULT(plain_data_is_bad_record_mac_20, BOTH, SST_ERR_BAD_RECORD_MAC, 20) {
  send_plain(forge, DATA, 3, LEAST_SEALED);
}

FAULT(plain_alert_is_bad_record_mac_20, BOTH, SST_ERR_BAD_RECORD_MAC, 20) {
  forge_send_raw(forge, "\x15\x03\x03\0\x02\x02\x28", 7);
}

FAULT(plain_close_notify_is_bad_record_mac_20, BOTH, SST_ERR_BAD_RECORD_MAC, 20) {
  forge_send_raw(forge, "\x15\x03\x03\0\x02\x01\0", 7);
}

FAULT(plain_handshake_message_is_bad_record_mac_20, BOTH, SST_ERR_BAD_RECORD_MAC, 20) {
  send_plain(forge, HANDSHAKE, 3, LEAST_SEALED);
}

FAULT(record_without_payload_is_bad_record_mac_20, BOTH, SST_ERR_BAD_RECORD_MAC, 20) {
  send_plain(forge, DATA, 3, 0);
}

/* ---- sizes ---- */

/* The header alone says enough: nothing behind it need come. */
FAULT(length_over_the_limit_is_record_overflow_22, BOTH, SST_ERR_RECORD_OVERFLOW, 22) {
  forge_send_raw(forge, "\x17\x03\x03\x41\x41", 5);
}

FAULT(plaintext_over_the_limit_is_record_overflow_22, BOTH, SST_ERR_RECORD_OVERFLOW, 22) {
  send_zeros(forge, DATA, 16385);
}

/* The edge itself is legal. */
TEST_VERSIONS(record_fault, plaintext_of_the_limit_passes) {
  for (int role = SST_ROLE_CLIENT; role <= SST_ROLE_SERVER; role++) {
    Forged *forged = forged_open(version, role, &(PairOptions){.first = 0});
    send_zeros(&forged->forge, DATA, 16384);
    EXPECT_STATUS(side_receive(forged->forge.victim), SST_NEED_INPUT);
    EXPECT_EQ(forged->forge.victim->received_len, 16384);
    forged_free(forged);
  }
}

/* Version and length are believed before the body comes. */
FAULT(record_version_of_another_protocol_is_decode_70, BOTH, SST_ERR_DECODE, 70) {
  send_plain(forge, DATA, 4, LEAST_SEALED);
}

/* ---- records that carry nothing ---- */

FAULT(empty_record_33_is_flood_10, BOTH, SST_ERR_FLOOD, 10) {
  send_empty(forge, DATA, 33);
}

/* 32 in a row pass, and data starts a new row. */
TEST_VERSIONS(record_fault, empty_records_pass_up_to_32_in_a_row) {
  for (int role = SST_ROLE_CLIENT; role <= SST_ROLE_SERVER; role++) {
    Forged *forged = forged_open(version, role, &(PairOptions){.first = 0});
    for (int round = 0; round < 3; round++) {
      send_empty(&forged->forge, DATA, 32);
      forge_send(&forged->forge, DATA, "A", 1);
    }
    EXPECT_STATUS(side_receive(forged->forge.victim), SST_NEED_INPUT);
    EXPECT_RECEIVED(forged->forge.victim, "AAA", 3);
    forged_free(forged);
  }
}

/* ---- types ---- */

FAULT(unknown_type_is_unexpected_message_10, BOTH, SST_ERR_UNEXPECTED_MESSAGE, 10) {
  forge_send(forge, 99, "x", 1);
}

FAULT(change_cipher_spec_is_unexpected_message_10, BOTH, SST_ERR_UNEXPECTED_MESSAGE, 10) {
  forge_send(forge, RECORD_CHANGE_CIPHER_SPEC, "\1", 1);
}

FAULT_13(data_inside_a_handshake_message_is_unexpected_message_10, BOTH, SST_ERR_UNEXPECTED_MESSAGE, 10) {
  forge_send(forge, HANDSHAKE, "\x18\0\0", 3);
  forge_send(forge, DATA, "x", 1);
}

/* A record of nothing but padding has no type (RFC 8446, 5.4). A known difference: BoringSSL takes it for one that does
   not open and says decrypt_error, where the RFC says unexpected_message. */
FAULT_13(record_of_padding_alone_is_unexpected_message_10, BOTH,
         sst__keeps_ssl() ? SST_ERR_BAD_RECORD_MAC : SST_ERR_UNEXPECTED_MESSAGE, sst__keeps_ssl() ? 51 : 10) {
  uint8_t inner[20] = {0};
  forge_send_data(forge, keys_seal_inner(&forge->send, inner, sizeof inner));
}

/* Padding itself is legal, up to the limit. */
TEST(record_fault, padding_is_taken_off_tls13) {
  const size_t paddings[] = {1, 255, 16380};
  Forged *forged = forged_open(SST_TLS1_3, SST_ROLE_CLIENT, &(PairOptions){.first = 0});
  for (size_t i = 0; i < sizeof paddings / sizeof *paddings; i++) {
    uint8_t *inner = zeros(4 + paddings[i]);
    memcpy(inner, "abc\x17", 4);
    forge_send_data(&forged->forge, keys_seal_inner(&forged->forge.send, inner, 4 + paddings[i]));
    free(inner);
    EXPECT_STATUS(side_receive(forged->forge.victim), SST_NEED_INPUT);
    EXPECT_RECEIVED(forged->forge.victim, "abc", 3);
  }
  forged_free(forged);
}

/* ---- alerts ---- */

FAULT(alert_of_one_byte_is_decode_50, BOTH, SST_ERR_DECODE, 50) {
  forge_send(forge, ALERT, "\2", 1);
}

FAULT(alert_of_three_bytes_is_decode_50, BOTH, SST_ERR_DECODE, 50) {
  forge_send(forge, ALERT, "\2\50\0", 3);
}

FAULT(two_alerts_in_a_record_are_decode_50, BOTH, SST_ERR_DECODE, 50) {
  forge_send(forge, ALERT, "\1\0\1\0", 4);
}

/* RFC 5246, 7.2. */
FAULT_12(alert_of_level_0_is_illegal_parameter_47, BOTH, SST_ERR_ILLEGAL_PARAMETER, 47) {
  forge_send(forge, ALERT, "\0\50", 2);
}

FAULT_12(alert_of_level_3_is_illegal_parameter_47, BOTH, SST_ERR_ILLEGAL_PARAMETER, 47) {
  forge_send(forge, ALERT, "\3\50", 2);
}

FAULT_12(close_notify_of_level_255_is_illegal_parameter_47, BOTH, SST_ERR_ILLEGAL_PARAMETER, 47) {
  forge_send(forge, ALERT, "\377\0", 2);
}

FAULT(fifth_warning_without_data_is_flood_10, BOTH, SST_ERR_FLOOD, 10) {
  for (int i = 0; i < 5; i++)
    forge_send(forge, ALERT, "\1\132", 2); /* user_canceled */
}

/* Four pass, and data starts anew. A warning is an event and no failure. */
TEST_VERSIONS(record_fault, warnings_pass_up_to_4_in_a_row) {
  Forged *forged =
      forged_open(version, SST_ROLE_CLIENT, &(PairOptions){.client = {.report = 1u << SST_EVENT_ALERT_RECEIVED}});
  const char *warnings[] = {"\1\132", "\1\160",
                            "\1\144"}; /* user_canceled; TLS 1.2: unrecognized_name, no_renegotiation */
  const int kinds = version == SST_TLS1_2 ? 3 : 1;
  for (int i = 0; i < 12; i++) {
    forge_send(&forged->forge, ALERT, warnings[i % kinds], 2);
    if (i % 4 == 3) forge_send(&forged->forge, DATA, "A", 1);
  }
  EXPECT_STATUS(side_receive(forged->forge.victim), SST_NEED_INPUT);
  EXPECT_RECEIVED(forged->forge.victim, "AAA", 3);
  sst_event event;
  char text[512];
  for (int i = 0; i < 12; i++) {
    REQUIRE(side_event(forged->forge.victim, SST_EVENT_ALERT_RECEIVED, &event, text, sizeof text));
    EXPECT_EQ(event.value, warnings[i % kinds][1]);
  }
  EXPECT_EQ(sst_stream_state(forged->forge.victim->stream), SST_STATE_OPEN);
  forged_free(forged);
}

/* A fatal alert ends both directions, and is not answered. */
TEST_VERSIONS(record_fault, fatal_alert_ends_the_stream_without_an_answer) {
  for (int role = SST_ROLE_CLIENT; role <= SST_ROLE_SERVER; role++) {
    for (int alert = 1; alert < 256; alert += 50) {
      test_note("alert %d", alert);
      Forged *forged = forged_open(version, role, &(PairOptions){.first = 0});
      Side *victim = forged->forge.victim;
      const uint8_t fatal[2] = {2, (uint8_t)alert};
      forge_send(&forged->forge, DATA, "abc", 3);
      forge_send(&forged->forge, ALERT, fatal, 2);
      EXPECT_STATUS(side_receive(victim), SST_ERR_ALERT_RECEIVED - alert);
      EXPECT_RECEIVED(victim, "abc", 3);
      EXPECT_EQ(error_of(victim).alert_received, alert);
      EXPECT_EQ(error_of(victim).alert_sent, -1);
      EXPECT_STATUS(side_send(victim, "x", 1), SST_ERR_ALERT_RECEIVED - alert);
      EXPECT_STATUS(side_flush(victim), SST_OK);
      EXPECT_HEARD(&forged->forge, "");
      forged_free(forged);
    }
  }
}
