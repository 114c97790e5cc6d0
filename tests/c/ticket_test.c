/*
 * Session tickets on the wire: how many, when they go out, and that nobody waits for them.
 */
#include <stdlib.h>

#include "resume.h"

static size_t sessions_of(uint16_t version, uint32_t tickets) {
  Resume resume = resume_new(version);
  SideOptions server = {.tickets = tickets};
  resume_set_config(&resume.options.server, pair_config(&server, SST_ROLE_SERVER));
  Pair pair = pair_opened(&resume.options);
  resume_deliver(&pair);
  size_t taken = 0;
  for (sst_session *session; (session = sst_stream_take_session(pair.client.stream)) != NULL; taken++)
    sst_session_free(session);
  pair_echo(&pair, 100);
  pair_free(&pair);
  resume_free(&resume);
  return taken;
}

TEST(ticket, as_many_come_as_were_set_tls13) {
  for (uint32_t n = 0; n <= 16; n++)
    EXPECT_EQ(sessions_of(SST_TLS1_3, n), n);
}

/* TLS 1.2 has one message for it (RFC 5077, 3.3). */
TEST(ticket, one_comes_at_most_tls12) {
  EXPECT_EQ(sessions_of(SST_TLS1_2, 0), 0);
  EXPECT_EQ(sessions_of(SST_TLS1_2, 1), 1);
  EXPECT_EQ(sessions_of(SST_TLS1_2, 16), 1);
}

TEST_VERSIONS(ticket, one_comes_by_default) {
  EXPECT_EQ(sessions_of(version, TICKETS_BY_DEFAULT), 1);
}

/* Count 0 sends none, and opens those that are out. */
TEST_VERSIONS(ticket, count_0_still_resumes) {
  Resume resume = resume_new(version);
  sst_session *session = resume_session(&resume);
  sst_config *none = sst_config_copy(resume.options.server.config);
  EXPECT_STATUS(sst_config_set_ticket_count(none, 0), SST_OK);
  resume_set_config(&resume.options.server, none);
  EXPECT(resume_with(&resume, session));
  sst_session_free(session);
  resume_free(&resume);
}

/* ---- TLS 1.3: they wait ---- */

TEST(ticket, handshake_is_over_while_tickets_wait) {
  Pair pair = pair_open(.server = {.tickets = 2});
  const size_t waiting = sst_stream_output_size(pair.server.stream);
  EXPECT_EQ(pair.server.status, SST_OK);
  EXPECT_EQ(sst_stream_state(pair.server.stream), SST_STATE_OPEN);
  EXPECT_AT_LEAST(waiting, 200);
  EXPECT(pair.server.progress.flags & SST_HAS_OUTPUT);
  EXPECT_EQ(pair.server.progress.waiting, waiting);
  EXPECT_EQ(pair.server.progress.produced, 0);
  EXPECT_EQ(wire_waiting(pair.client.in), 0);
  EXPECT_STATUS(side_call(&pair.server, CALL_HANDSHAKE, NULL, 0, 1000), SST_OK);
  EXPECT_EQ(pair.server.progress.produced, 0);
  EXPECT_EQ(sst_stream_output_size(pair.server.stream), waiting);
  pair_free(&pair);
}

TEST(ticket, reading_works_though_they_are_never_sent) {
  Pair pair = pair_open(.server = {.tickets = 2}, .client = {.report = SESSIONS});
  for (int i = 0; i < 10; i++) {
    EXPECT_STATUS(side_send(&pair.client, "request", 7), SST_OK);
    EXPECT_STATUS(side_receive(&pair.server), SST_NEED_INPUT);
    EXPECT_RECEIVED(&pair.server, "request", 7);
  }
  EXPECT_STATUS(side_close(&pair.client), SST_OK);
  EXPECT_STATUS(side_receive(&pair.server), SST_CLOSED);
  pair_free(&pair);
}

/* They own the first sequence numbers: whatever is sent goes behind them. */
TEST(ticket, tickets_go_out_first_with_data) {
  Pair pair = pair_open(.server = {.tickets = 2}, .client = {.report = SESSIONS});
  const size_t waiting = sst_stream_output_size(pair.server.stream);
  const size_t enough = sst_stream_encrypted_size(pair.server.stream, 8);
  EXPECT_AT_LEAST(enough, waiting + 8);
  EXPECT_STATUS(side_call(&pair.server, CALL_ENCRYPT, (const uint8_t *)"response", 8, enough), SST_OK);
  EXPECT_EQ(pair.server.progress.produced, waiting + 8 + 22);
  EXPECT_EQ(sst_stream_counter(pair.server.stream, SST_COUNTER_RECORDS_SENT), 1);
  EXPECT_STATUS(side_receive(&pair.client), SST_NEED_INPUT);
  EXPECT_RECEIVED(&pair.client, "response", 8);
  pair_free(&pair);
}

TEST(ticket, tickets_go_out_first_with_close_alert_and_key_update) {
  for (int which = 0; which < 3; which++) {
    Pair pair = pair_open(.server = {.tickets = 1}, .client = {.report = SESSIONS});
    if (which == 0) EXPECT_STATUS(side_close(&pair.server), SST_OK);
    if (which == 1) EXPECT_STATUS(sst_stream_abort(pair.server.stream, 80), SST_OK);
    if (which == 2) EXPECT_STATUS(sst_stream_key_update(pair.server.stream, 0), SST_OK);
    EXPECT_STATUS(side_flush(&pair.server), SST_OK);
    const sst_status expected[] = {SST_CLOSED, SST_ERR_ALERT_RECEIVED - 80, SST_NEED_INPUT};
    EXPECT_STATUS(side_receive(&pair.client), expected[which]);
    sst_session *session = sst_stream_take_session(pair.client.stream);
    EXPECT(session != NULL);
    sst_session_free(session);
    pair_free(&pair);
  }
}

TEST(ticket, one_byte_of_room_brings_them_out) {
  Pair pair = pair_open(.server = {.tickets = 3}, .client = {.report = SESSIONS});
  pair.server.room = 1;
  size_t waiting = sst_stream_output_size(pair.server.stream);
  EXPECT_STATUS(side_call(&pair.server, CALL_ENCRYPT, (const uint8_t *)"x", 1, 0), SST_NEED_OUTPUT);
  EXPECT_EQ(pair.server.progress.needed, waiting + 1 + 22);
  for (; waiting > 0; waiting--) {
    EXPECT_EQ(sst_stream_output_size(pair.server.stream), waiting);
    side_call(&pair.server, CALL_FLUSH, NULL, 0, 1);
  }
  EXPECT_STATUS(pair.server.status, SST_OK);
  pair.client.chunk = 1;
  pair.server.room = 0;
  pair_echo(&pair, 300);
  sst_session *session = sst_stream_take_session(pair.client.stream);
  EXPECT(session != NULL);
  sst_session_free(session);
  pair_free(&pair);
}

/* The last flight of a TLS 1.2 server waits for room as ever, and its ticket is a part of it. */
TEST(ticket, handshake_waits_for_the_last_flight_tls12) {
  Resume resume = resume_new(SST_TLS1_2);
  Pair pair = pair_make(&resume.options);
  pair.server.room = 1;
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  EXPECT_EQ(sst_stream_output_size(pair.server.stream), 0);
  sst_session *session = sst_stream_take_session(pair.client.stream);
  EXPECT(session != NULL);
  sst_session_free(session);
  pair_free(&pair);
  resume_free(&resume);
}

/* A chain of the client is in the ticket: where it would be longer than a ClientHello has room for, none is made. */
TEST_VERSIONS(ticket, certificate_of_the_client_is_in_the_ticket) {
  Resume resume = resume_new(version, .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE},
                             .client = {.credential = "client-rsa4096"});
  sst_session *session = resume_session(&resume);
  REQUIRE(session != NULL);
  EXPECT(resume_with(&resume, session));
  sst_session_free(session);
  resume_free(&resume);
}
