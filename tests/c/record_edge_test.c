/* White-box: the edges of what a peer may send: sizes, floods by turns, numbers that end, messages in pieces, and what
   must not come between or behind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "allocations.h"
#include "forge.h"
#include "stream.h"
#include "tls/record.h"

enum { ALERT = RECORD_ALERT, HANDSHAKE = RECORD_HANDSHAKE, DATA = RECORD_APPLICATION_DATA };
enum { MOST = 16384, MOST_MESSAGE = 100 * 1024, TICKETS = 100000 };

typedef void (*Send)(Forge *forge);

/* What a victim of that role says of it, behind three bytes of data; and whether the alert reaches the peer. */
static void fails_at(uint16_t version, int32_t role, Send send, sst_status code, int32_t alert) {
  test_note("%s at the %s", version == SST_TLS1_3 ? "TLS 1.3" : "TLS 1.2",
            role == SST_ROLE_CLIENT ? "client" : "server");
  Forged *forged = forged_open(version, role, &(PairOptions){.first = 0});
  Side *victim = forged->forge.victim;
  forge_send(&forged->forge, DATA, "abc", 3);
  send(&forged->forge);
  EXPECT_STATUS(side_receive(victim), code);
  EXPECT_RECEIVED(victim, "abc", 3);
  EXPECT_EQ(error_of(victim).alert_sent, alert);
  EXPECT_EQ(sst_stream_state(victim->stream), SST_STATE_OPEN | SST_STATE_FAILED);
  EXPECT_STATUS(side_send(victim, "x", 1), code);
  EXPECT_STATUS(side_flush(victim), SST_OK);
  char heard[32] = "";
  if (alert >= 0) snprintf(heard, sizeof heard, "alert 2 %d", (int)alert);
  EXPECT_HEARD(&forged->forge, heard);
  forged_free(forged);
}

static void fails(uint16_t version, Send send, sst_status code, int32_t alert) {
  fails_at(version, SST_ROLE_CLIENT, send, code, alert);
  fails_at(version, SST_ROLE_SERVER, send, code, alert);
}

static void *filled(size_t len, uint8_t value) {
  return memset(test_allocate(len), value, len);
}

/* ---- sizes ---- */

static void send_header(Forge *forge, size_t body) {
  const uint8_t header[] = {DATA, 3, 3, (uint8_t)(body >> 8), (uint8_t)body};
  forge_send_raw(forge, header, sizeof header);
}

static void send_whole(Forge *forge, size_t body) {
  uint8_t *garbage = filled(body, 0x5a);
  send_header(forge, body);
  forge_send_raw(forge, garbage, body);
  free(garbage);
}

static void send_header_16641(Forge *forge) {
  send_header(forge, MOST + 257);
}

static void send_header_16705(Forge *forge) {
  send_header(forge, 16705);
}

static void send_garbage_of_the_limit(Forge *forge) {
  send_whole(forge, forge->send.version == SST_TLS1_3 ? MOST + 256 : 16704);
}

/* RFC 8446, 5.2: 2^14 + 256. A known difference: BoringSSL takes 16,704 bytes in both versions. */
TEST(record_edge, header_of_16641_is_record_overflow_22_at_once_tls13) {
  if (sst__keeps_ssl()) SKIP("BoringSSL takes more");
  fails(SST_TLS1_3, send_header_16641, SST_ERR_RECORD_OVERFLOW, 22);
}

TEST_VERSIONS(record_edge, header_of_16705_is_record_overflow_22_at_once) {
  fails(version, send_header_16705, SST_ERR_RECORD_OVERFLOW, 22);
}

TEST_VERSIONS(record_edge, longest_legal_record_is_read_to_its_end) {
  fails(version, send_garbage_of_the_limit, SST_ERR_BAD_RECORD_MAC, 20);
}

/* One byte of data; padding counts. */
static void send_padded(Forge *forge, size_t inner_len) {
  uint8_t *inner = filled(inner_len, 0);
  memcpy(inner, "A\x17", 2);
  forge_send_data(forge, keys_seal_inner(&forge->send, inner, inner_len));
  free(inner);
}

static void send_padded_over(Forge *forge) {
  send_padded(forge, MOST + 2);
}

TEST(record_edge, padding_over_the_limit_is_record_overflow_22_tls13) {
  fails(SST_TLS1_3, send_padded_over, SST_ERR_RECORD_OVERFLOW, 22);
  Forged *forged = forged_open(SST_TLS1_3, SST_ROLE_SERVER, &(PairOptions){.first = 0});
  send_padded(&forged->forge, MOST + 1);
  EXPECT_STATUS(side_receive(forged->forge.victim), SST_NEED_INPUT);
  EXPECT_RECEIVED(forged->forge.victim, "A", 1);
  forged_free(forged);
}

/* ---- floods ---- */

static void send_empty(Forge *forge, uint8_t type, int count) {
  for (int i = 0; i < count; i++)
    forge_send(forge, type, NULL, 0);
}

static void send_empty_alert(Forge *forge) {
  send_empty(forge, ALERT, 1);
}

static void send_empty_unknown(Forge *forge) {
  send_empty(forge, 99, 1);
}

static void send_empty_change_cipher_spec(Forge *forge) {
  send_empty(forge, RECORD_CHANGE_CIPHER_SPEC, 1);
}

TEST_VERSIONS(record_edge, empty_records_that_are_no_data_fail_at_once) {
  fails(version, send_empty_alert, SST_ERR_DECODE, 50);
  fails(version, send_empty_unknown, SST_ERR_UNEXPECTED_MESSAGE, 10);
  fails(version, send_empty_change_cipher_spec, SST_ERR_UNEXPECTED_MESSAGE, 10);
}

static void send_warnings_and_empty_in_turn(Forge *forge) {
  for (int i = 0; i < 5; i++) {
    forge_send(forge, ALERT, "\1\132", 2); /* user_canceled */
    send_empty(forge, DATA, 1);
  }
}

/* Neither starts the count of the other anew. A known difference: with BoringSSL it goes on for ever. */
TEST_VERSIONS(record_edge, warnings_and_empty_records_in_turn_are_flood_10) {
  if (sst__keeps_ssl()) SKIP("BoringSSL counts them apart");
  fails(version, send_warnings_and_empty_in_turn, SST_ERR_FLOOD, 10);
}

/* ---- types and order ---- */

static void send_plain_change_cipher_spec(Forge *forge) {
  forge_send_raw(forge, "\x14\x03\x03\0\x01\x01", 6);
}

/* RFC 8446, 5: behind the peer's Finished it is a record of an unexpected type. A known difference: BoringSSL takes any
   record that is not encrypted for one that does not open. TLS 1.2 encrypts it. */
TEST_VERSIONS(record_edge, plain_change_cipher_spec_ends_the_stream) {
  const bool known = version == SST_TLS1_3 && !sst__keeps_ssl();
  fails(version, send_plain_change_cipher_spec, known ? SST_ERR_UNEXPECTED_MESSAGE : SST_ERR_BAD_RECORD_MAC,
        known ? 10 : 20);
}

static void send_warning_inside(Forge *forge) {
  forge_send(forge, HANDSHAKE, "\x18\0\0", 3);
  forge_send(forge, ALERT, "\1\132", 2);
}

static void send_empty_inside(Forge *forge) {
  forge_send(forge, HANDSHAKE, "\x18\0\0", 3);
  send_empty(forge, DATA, 1);
}

static void send_fatal_inside(Forge *forge) {
  forge_send(forge, HANDSHAKE, "\x18\0\0", 3);
  forge_send(forge, ALERT, "\2\120", 2);
}

static void send_update_cut_by_keys(Forge *forge) {
  forge_send(forge, HANDSHAKE, "\x18\0\0\1\0\x18\0\0", 8);
}

TEST(record_edge, records_inside_a_handshake_message_are_unexpected_message_10_tls13) {
  if (!sst__keeps_ssl()) fails(SST_TLS1_3, send_warning_inside, SST_ERR_UNEXPECTED_MESSAGE, 10);
  fails(SST_TLS1_3, send_empty_inside, SST_ERR_UNEXPECTED_MESSAGE, 10);
  fails(SST_TLS1_3, send_fatal_inside, SST_ERR_ALERT_RECEIVED - 80, -1);
  fails(SST_TLS1_3, send_update_cut_by_keys, SST_ERR_UNEXPECTED_MESSAGE, 10);
}

static void send_part_of_hello_request(Forge *forge) {
  forge_send(forge, HANDSHAKE, "\0\0", 2);
  forge_send(forge, DATA, "x", 1);
}

TEST(record_edge, data_inside_a_hello_request_is_unexpected_message_10_tls12) {
  fails_at(SST_TLS1_2, SST_ROLE_CLIENT, send_part_of_hello_request, SST_ERR_UNEXPECTED_MESSAGE, 10);
}

/* Nothing behind close_notify is looked at, be it whole, cut or garbage, in one call with it or later. */
TEST_VERSIONS(record_edge, what_stands_behind_close_notify_is_not_consumed) {
  for (int32_t role = SST_ROLE_CLIENT; role <= SST_ROLE_SERVER; role++) {
    Forged *forged = forged_open(version, role, &(PairOptions){.first = 0});
    Side *victim = forged->forge.victim;
    forge_send(&forged->forge, DATA, "abc", 3);
    forge_send(&forged->forge, ALERT, "\1\0", 2);
    const size_t end = wire_waiting(victim->in);
    forge_send(&forged->forge, DATA, "more", 4);
    forge_send_raw(&forged->forge, "garbage", 7);
    EXPECT_STATUS(side_call(victim, CALL_DECRYPT, wire_head(victim->in), wire_waiting(victim->in), 1000), SST_CLOSED);
    EXPECT_EQ(victim->progress.consumed, end);
    EXPECT_RECEIVED(victim, "abc", 3);
    EXPECT_STATUS(side_call(victim, CALL_DECRYPT, (const uint8_t *)"garbage", 7, 1000), SST_CLOSED);
    EXPECT_EQ(victim->progress.consumed, 0);
    EXPECT_STATUS(side_send(victim, "still", 5), SST_OK);
    EXPECT_HEARD(&forged->forge, "data 5");
    forged_free(forged);
  }
}

/* Our last flight waits for room still, and the keys of data are there already: the alert goes behind it. */
TEST(record_edge, abort_behind_the_last_flight_reaches_the_peer_tls13) {
  Pair pair = pair_new();
  side_handshake(&pair.client);
  side_handshake(&pair.server);
  const size_t len = wire_waiting(pair.client.in);
  EXPECT_STATUS(side_call(&pair.client, CALL_HANDSHAKE, wire_head(pair.client.in), len, 1), SST_NEED_OUTPUT);
  wire_drop(pair.client.in);
  EXPECT_EQ(sst_stream_state(pair.client.stream), SST_STATE_HANDSHAKE);
  EXPECT_STATUS(sst_stream_abort(pair.client.stream, 80), SST_OK);
  EXPECT_STATUS(side_flush(&pair.client), SST_OK);
  EXPECT_EQ(error_of(&pair.client).alert_sent, 80);
  EXPECT_STATUS(side_handshake(&pair.server), SST_OK);
  EXPECT_STATUS(side_receive(&pair.server), SST_ERR_ALERT_RECEIVED - 80);
  pair_free(&pair);
}

/* An answer that could not go out before close_notify, since other output waited, is not sent behind it. */
TEST(record_edge, answer_is_not_sent_behind_close_notify_tls13) {
  Forged *forged = forged_open(SST_TLS1_3, SST_ROLE_CLIENT, &(PairOptions){.first = 0});
  Side *victim = forged->forge.victim;
  EXPECT_STATUS(sst_stream_key_update(victim->stream, 0), SST_OK);
  forge_send(&forged->forge, HANDSHAKE, "\x18\0\0\1\1", 5);
  EXPECT_STATUS(side_receive(victim), SST_NEED_INPUT);
  EXPECT_STATUS(side_call(victim, CALL_CLOSE, NULL, 0, 0), SST_NEED_OUTPUT);
  EXPECT_STATUS(side_flush(victim), SST_OK);
  /* BoringSSL brings it out before. */
  EXPECT_HEARD(&forged->forge,
               sst__keeps_ssl() ? "handshake 24 0, handshake 24 0, alert 1 0" : "handshake 24 0, alert 1 0");
  forged_free(forged);
}

/* ---- numbers ---- */

/* The last sequence number is not used: behind it they would begin anew (RFC 8446, 5.3; RFC 5246, 6.1). */
TEST_VERSIONS(record_edge, sequence_numbers_of_the_peer_do_not_wrap) {
  if (sst__keeps_ssl()) SKIP("BoringSSL's numbers cannot be set");
  for (int32_t role = SST_ROLE_CLIENT; role <= SST_ROLE_SERVER; role++) {
    Forged *forged = forged_open(version, role, &(PairOptions){.first = 0});
    Side *victim = forged->forge.victim;
    sst__record_of(victim->stream->engine)->receiver.keys.sequence = UINT64_MAX - 1;
    forged->forge.send.sequence = UINT64_MAX - 1;
    forge_send(&forged->forge, DATA, "abc", 3);
    forge_send(&forged->forge, DATA, "def", 3);
    EXPECT_STATUS(side_receive(victim), SST_ERR_KEY_EXHAUSTED);
    EXPECT_RECEIVED(victim, "abc", 3);
    EXPECT_EQ(error_of(victim).alert_sent, 80);
    EXPECT_STATUS(side_flush(victim), SST_OK);
    EXPECT_HEARD(&forged->forge, "alert 2 80");
    forged_free(forged);
  }
}

/* ---- tickets ---- */

/* A ticket message of so many bytes, header included; the caller frees it. */
static uint8_t *ticket_message(size_t len) {
  uint8_t *message = filled(len, 0x5a);
  const size_t body = len - 4, ticket = body - 4 - 4 - 1 - 2 - 2;
  const uint8_t head[] = {4, (uint8_t)(body >> 16),  (uint8_t)(body >> 8), (uint8_t)body, 0, 0, 14, 16, 1, 2, 3, 4,
                          0, (uint8_t)(ticket >> 8), (uint8_t)ticket};
  memcpy(message, head, sizeof head);
  memset(message + len - 2, 0, 2);
  return message;
}

static void expect_alive(Forge *forge) {
  forge_send(forge, DATA, "data", 4);
  EXPECT_STATUS(side_receive(forge->victim), SST_NEED_INPUT);
  EXPECT_RECEIVED(forge->victim, "data", 4);
}

static double seconds_of_thread(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Opens sealed records; their time alone is measured. */
static double open_all(Side *victim, const uint8_t *wire, size_t len) {
  uint8_t out[64];
  sst_progress done;
  const double begin = seconds_of_thread();
  EXPECT_STATUS(sst_stream_decrypt(victim->stream, wire, len, out, sizeof out, &done), SST_NEED_INPUT);
  EXPECT_EQ(done.consumed, len);
  EXPECT_EQ(done.produced, 0);
  return seconds_of_thread() - begin;
}

/* A message in pieces of one byte, records in one buffer. */
static double open_in_bytes(Forge *forge, const uint8_t *message, size_t len) {
  const size_t record = RECORD_HEADER + 2 + 16;
  uint8_t *wire = test_allocate(len * record);
  for (size_t i = 0; i < len; i++) {
    const Data one = keys_seal(&forge->send, HANDSHAKE, message + i, 1);
    REQUIRE_EQ(one.len, record);
    memcpy(wire + i * record, one.bytes, record);
    free(one.bytes);
  }
  const double time = open_all(forge->victim, wire, len * record);
  free(wire);
  return time;
}

/* Its length field of 16 bits keeps a ticket itself below 64 KiB. Eight times the bytes cost about eight times the time,
   where a quadratic reader would need 64. */
TEST(record_edge, ticket_in_pieces_of_one_byte_costs_time_in_proportion_tls13) {
  if (sst__keeps_ssl()) SKIP("BoringSSL's own");
  Forged *forged = forged_open(SST_TLS1_3, SST_ROLE_CLIENT, &(PairOptions){.first = 0});
  const uint64_t open = sst_allocated_bytes();
  uint8_t *small = ticket_message(8000), *large = ticket_message(64000);
  (void)open_in_bytes(&forged->forge, small, 8000);
  const double short_time = open_in_bytes(&forged->forge, small, 8000);
  EXPECT_EQ(sst_allocated_bytes(), open);
  const double long_time = open_in_bytes(&forged->forge, large, 64000);
  EXPECT_EQ(sst_allocated_bytes(), open); /* nothing of a whole one is kept */
  test_note("%.4f s for 8,000 bytes, %.4f s for 64,000", short_time, long_time);
  EXPECT_AT_MOST(1000 * long_time, 1000 * 24 * short_time + 20);
  test_note(NULL);
  expect_alive(&forged->forge);
  free(small);
  free(large);
  forged_free(forged);
}

/* The longest message that is waited for, less its last byte: what a peer can make a stream hold. */
TEST(record_edge, unfinished_message_holds_no_more_than_128_kib_tls13) {
  if (sst__keeps_ssl()) SKIP("BoringSSL's own");
  Forged *forged = forged_open(SST_TLS1_3, SST_ROLE_CLIENT, &(PairOptions){.first = 0});
  const uint64_t open = sst_allocated_bytes();
  uint8_t *message = filled(MOST_MESSAGE + 4, 0);
  message[0] = 4;
  message[1] = MOST_MESSAGE >> 16;
  message[2] = (MOST_MESSAGE >> 8) & 0xff;
  for (size_t at = 0; at < MOST_MESSAGE + 3;) {
    const size_t len = MOST_MESSAGE + 3 - at < MOST ? MOST_MESSAGE + 3 - at : MOST;
    forge_send(&forged->forge, HANDSHAKE, message + at, len);
    at += len;
  }
  EXPECT_STATUS(side_receive(forged->forge.victim), SST_NEED_INPUT);
  EXPECT_AT_LEAST(sst_allocated_bytes() - open, MOST_MESSAGE);
  EXPECT_AT_MOST(sst_allocated_bytes() - open, 128 * 1024 + 64);
  free(message);
  forged_free(forged);
}

/* Tickets are no flood; they cost nothing that stays, and nothing that grows. */
TEST(record_edge, a_hundred_thousand_tickets_leave_nothing_tls13) {
  if (sst__keeps_ssl()) SKIP("BoringSSL's own");
  Forged *forged = forged_open(SST_TLS1_3, SST_ROLE_CLIENT, &(PairOptions){.first = 0});
  const uint64_t open = sst_allocated_bytes();
  enum { LEN = 32, IN_ONE = 500 };
  uint8_t *ticket = ticket_message(LEN), *many = test_allocate(LEN * IN_ONE);
  for (int i = 0; i < IN_ONE; i++)
    memcpy(many + i * LEN, ticket, LEN);
  for (int sent = 0; sent < TICKETS; sent += IN_ONE) {
    const Data record = keys_seal(&forged->forge.send, HANDSHAKE, many, (size_t)LEN * IN_ONE);
    (void)open_all(forged->forge.victim, record.bytes, record.len);
    free(record.bytes);
    REQUIRE_EQ(sst_allocated_bytes(), open);
  }
  expect_alive(&forged->forge);
  free(ticket);
  free(many);
  forged_free(forged);
}
