/*
 * 0-RTT: nothing is lost, nothing comes twice, and what is early is told from what is not.
 */
#include <string.h>

#include "resume.h"

enum { LIMIT = 14336 };

typedef struct Early {
  Resume resume;
  sst_session *session;
  Pair pair;
} Early;

/* A connection with a session that allows early data; its client has said hello. */
static Early early_new(const PairOptions *options) {
  PairOptions both = *options;
  both.client.early_data = both.server.early_data = 1;
  both.client.report |= 1 << SST_EVENT_EARLY_DATA;
  both.server.report |= 1 << SST_EVENT_EARLY_DATA;
  Early early = {.resume = resume_make(SST_TLS1_3, &both)};
  early.session = resume_session(&early.resume);
  REQUIRE(early.session != NULL);
  early.resume.options.client.session = early.session;
  return early;
}

static void early_start(Early *early) {
  early->pair = pair_make(&early->resume.options);
  EXPECT_STATUS(side_handshake(&early->pair.client), SST_NEED_INPUT);
  EXPECT_EQ(early->pair.client.progress.flags & SST_EARLY_DATA, SST_EARLY_DATA);
  EXPECT_EQ(sst_stream_early_data_left(early->pair.client.stream), LIMIT);
}

static void early_free(Early *early) {
  pair_free(&early->pair);
  sst_session_free(early->session);
  resume_free(&early->resume);
}

static uint64_t verdict_of(Side *side) {
  sst_event event = {.size = sizeof event};
  char text[64];
  return side_event(side, SST_EVENT_EARLY_DATA, &event, text, sizeof text) ? event.value : 99;
}

#define early_begin(...) early_make(&(PairOptions){.first = 0, __VA_ARGS__})
static Early early_make(const PairOptions *options) {
  Early early = early_new(options);
  early_start(&early);
  return early;
}

TEST(early_data, server_reads_it_before_the_handshake_is_confirmed) {
  Early early = early_begin(.client = {.server_name = NULL});
  Side *client = &early.pair.client, *server = &early.pair.server;
  EXPECT_STATUS(side_send(client, "early", 5), SST_OK);
  EXPECT_EQ(sst_stream_early_data_left(client->stream), LIMIT - 5);

  EXPECT_STATUS(side_handshake(server), SST_OK);
  EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, SST_EARLY_DATA);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, SST_EARLY_DATA);
  EXPECT_RECEIVED(server, "early", 5);

  EXPECT_STATUS(side_send(server, "answer", 6), SST_OK);
  EXPECT_STATUS(side_handshake(client), SST_OK);
  EXPECT_EQ(client->progress.flags & SST_EARLY_DATA, 0);
  EXPECT_STATUS(side_receive(client), SST_NEED_INPUT);
  EXPECT_RECEIVED(client, "answer", 6);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, 0);
  EXPECT_EQ(sst_stream_state(server->stream), SST_STATE_OPEN);
  EXPECT_EQ(info_of(server).flags & SST_INFO_EARLY_DATA_ACCEPTED, SST_INFO_EARLY_DATA_ACCEPTED);
  EXPECT_EQ(info_of(client).flags & SST_INFO_EARLY_DATA_ACCEPTED, SST_INFO_EARLY_DATA_ACCEPTED);
  EXPECT_EQ(verdict_of(client), 1);
  EXPECT_EQ(verdict_of(server), 1);
  pair_echo(&early.pair, 30000);
  early_free(&early);
}

/* One call with all that waits. */
static sst_status decrypt_all(Side *side) {
  const size_t len = wire_waiting(side->in);
  const sst_status status = side_call(side, CALL_DECRYPT, wire_head(side->in), len, len + SST_RECORD_MAX);
  side->in->taken += side->progress.consumed;
  return status;
}

/* All the client says at once: its early data, the end of that, and data behind it are told apart. */
TEST(early_data, one_call_gives_early_or_later_data) {
  Early early = early_begin(.client = {.server_name = NULL});
  Side *client = &early.pair.client, *server = &early.pair.server;
  EXPECT_STATUS(side_send(client, "early", 5), SST_OK);
  EXPECT_STATUS(side_handshake(server), SST_OK);
  EXPECT_STATUS(side_handshake(client), SST_OK);
  EXPECT_STATUS(side_send(client, "later", 5), SST_OK);

  EXPECT_STATUS(decrypt_all(server), SST_NEED_OUTPUT);
  EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, SST_EARLY_DATA);
  EXPECT_RECEIVED(server, "early", 5);
  EXPECT_STATUS(decrypt_all(server), SST_NEED_INPUT);
  EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, 0);
  EXPECT_RECEIVED(server, "later", 5);
  early_free(&early);
}

/* A call that gives later data alone, though it begins before the confirmation. */
TEST(early_data, call_that_ends_it_gives_later_data) {
  Early early = early_begin(.client = {.server_name = NULL});
  Side *client = &early.pair.client, *server = &early.pair.server;
  EXPECT_STATUS(side_send(client, "early", 5), SST_OK);
  EXPECT_STATUS(side_handshake(server), SST_OK);
  EXPECT_STATUS(decrypt_all(server), SST_NEED_INPUT);
  EXPECT_RECEIVED(server, "early", 5);
  EXPECT_STATUS(side_handshake(client), SST_OK);
  EXPECT_STATUS(side_send(client, "later", 5), SST_OK);
  EXPECT_STATUS(decrypt_all(server), SST_NEED_INPUT);
  EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, 0);
  EXPECT_RECEIVED(server, "later", 5);
  early_free(&early);
}

static void replace_server(Early *early, uint16_t group) {
  SideOptions options = early->resume.options.server;
  options.config = NULL;
  if (group == 0) options.early_data = 0;
  if (group != 0) memcpy(options.groups, (uint16_t[8]){group}, sizeof options.groups);
  resume_set_config(&early->resume.options.server, pair_config(&options, SST_ROLE_SERVER));
}

static void refused(uint16_t group, const char *data) {
  Early early = early_new(&(PairOptions){.first = 0, .client = {.groups = {29, 23}}, .server = {.groups = {29, 23}}});
  sst_ticket_keys *keys = sst_ticket_keys_new();
  replace_server(&early, group);
  early_start(&early);
  Side *client = &early.pair.client, *server = &early.pair.server;
  const size_t len = data == NULL ? 0 : 5;
  if (len > 0) EXPECT_STATUS(side_send(client, data, len), SST_OK);
  if (len > 0) {
    EXPECT_STATUS(pair_handshake(&early.pair), SST_WANT_EARLY_DATA_RETRY);
    EXPECT_EQ(client->progress.flags & SST_EARLY_DATA, 0);
    EXPECT_EQ(sst_stream_early_data_left(client->stream), 0);
    EXPECT_STATUS(sst_stream_continue_without_early_data(client->stream), SST_OK);
  }
  EXPECT_STATUS(pair_handshake(&early.pair), SST_OK);
  EXPECT_EQ(verdict_of(client), 0);
  EXPECT_EQ(info_of(client).flags & SST_INFO_EARLY_DATA_ACCEPTED, 0);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  EXPECT_EQ(server->received_len, 0);
  pair_echo(&early.pair, 1000);
  early_free(&early);
  sst_ticket_keys_free(keys);
}

TEST(early_data, refused_data_is_reported_and_lost_nowhere) {
  refused(0, "early");  /* early data is off */
  refused(23, "early"); /* HelloRetryRequest */
}

TEST(early_data, nobody_is_asked_about_early_data_that_was_not_sent) {
  refused(0, NULL);
  refused(23, NULL);
}

TEST(early_data, more_than_the_limit_is_err_state_and_takes_nothing) {
  Early early = early_begin(.client = {.server_name = NULL});
  Side *client = &early.pair.client, *server = &early.pair.server;
  uint8_t data[LIMIT + 1], out[2 * LIMIT];
  sst_progress progress;
  pattern_fill(data, sizeof data, 7);
  EXPECT_STATUS(sst_stream_encrypt(client->stream, data, LIMIT + 1, out, sizeof out, &progress), SST_ERR_STATE);
  EXPECT_EQ(progress.consumed, 0);
  EXPECT_STATUS(side_send(client, data, LIMIT), SST_OK);
  EXPECT_EQ(sst_stream_early_data_left(client->stream), 0);
  EXPECT_STATUS(sst_stream_encrypt(client->stream, data, 1, out, sizeof out, &progress), SST_ERR_STATE);
  EXPECT_STATUS(side_handshake(server), SST_OK);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  EXPECT_RECEIVED(server, data, LIMIT);
  EXPECT_STATUS(pair_handshake(&early.pair), SST_OK);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  pair_echo(&early.pair, 1000);
  early_free(&early);
}

TEST(early_data, one_byte_at_a_time_into_one_byte_of_room) {
  Early early = early_begin(.client = {.server_name = NULL});
  Side *client = &early.pair.client, *server = &early.pair.server;
  uint8_t data[300];
  pattern_fill(data, sizeof data, 9);
  client->chunk = server->chunk = client->room = server->room = 1;
  EXPECT_STATUS(side_send(client, data, sizeof data), SST_OK);
  EXPECT_STATUS(side_handshake(server), SST_OK);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  EXPECT_RECEIVED(server, data, sizeof data);
  EXPECT_STATUS(side_handshake(client), SST_OK);
  EXPECT_STATUS(side_send(client, data, sizeof data), SST_OK);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  EXPECT_RECEIVED(server, data, sizeof data);
  EXPECT_EQ(sst_stream_state(server->stream), SST_STATE_OPEN);
  early_free(&early);
}

TEST(early_data, end_of_transport_before_the_confirmation_is_handshake_eof) {
  Early early = early_begin(.client = {.server_name = NULL});
  Side *client = &early.pair.client, *server = &early.pair.server;
  EXPECT_STATUS(side_send(client, "early", 5), SST_OK);
  EXPECT_STATUS(side_handshake(server), SST_OK);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  EXPECT_RECEIVED(server, "early", 5);
  EXPECT_STATUS(sst_stream_input_eof(server->stream), SST_OK);
  EXPECT_STATUS(side_receive(server), SST_ERR_HANDSHAKE_EOF);
  early_free(&early);
}

static void read_to_the_end(Early *early) {
  Side *client = &early->pair.client, *server = &early->pair.server;
  EXPECT_STATUS(side_handshake(client), SST_OK);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  EXPECT_EQ(server->progress.flags & SST_HAS_OUTPUT, SST_HAS_OUTPUT);
  EXPECT_STATUS(side_flush(server), SST_OK);
  EXPECT_STATUS(side_receive(client), SST_CLOSED);
  EXPECT_RECEIVED(client, "answer", 6);
  EXPECT_STATUS(side_send(client, "bye", 3), SST_OK);
  EXPECT_STATUS(side_close(client), SST_OK);
  EXPECT_STATUS(side_receive(server), SST_CLOSED);
  EXPECT_RECEIVED(server, "bye", 3);
}

TEST(early_data, server_may_answer_and_close_before_the_confirmation) {
  Early early = early_begin(.client = {.server_name = NULL});
  Side *client = &early.pair.client, *server = &early.pair.server;
  EXPECT_STATUS(side_send(client, "early", 5), SST_OK);
  EXPECT_STATUS(side_handshake(server), SST_OK);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  EXPECT_RECEIVED(server, "early", 5);
  EXPECT_STATUS(side_send(server, "answer", 6), SST_OK);
  EXPECT_STATUS(sst_stream_key_update(server->stream, 0), SST_ERR_STATE);
  EXPECT_STATUS(side_close(server), SST_OK);
  read_to_the_end(&early);
  early_free(&early);
}

TEST(early_data, client_that_closes_early_ends_early) {
  Early early = early_begin(.client = {.server_name = NULL});
  Side *client = &early.pair.client;
  EXPECT_STATUS(side_send(client, "early", 5), SST_OK);
  EXPECT_STATUS(side_close(client), SST_OK);
  EXPECT_EQ(sst_stream_state(client->stream), SST_STATE_HANDSHAKE | SST_STATE_ENDED_EARLY);
  EXPECT_STATUS(side_handshake(client), SST_ERR_CLOSED);
  early_free(&early);
}

TEST(early_data, either_side_aborts_with_its_alert) {
  for (int who = 0; who < 2; who++) {
    Early early = early_begin(.client = {.server_name = NULL});
    Side *sides[2] = {&early.pair.client, &early.pair.server};
    EXPECT_STATUS(side_send(sides[0], "early", 5), SST_OK);
    EXPECT_STATUS(side_handshake(sides[1]), SST_OK);
    EXPECT_STATUS(sst_stream_abort(sides[who]->stream, 80), SST_OK);
    EXPECT_STATUS(side_flush(sides[who]), SST_OK);
    EXPECT_EQ(error_of(sides[who]).alert_sent, 80);
    if (who == 1) EXPECT_STATUS(side_handshake(sides[0]), SST_OK); /* all of the server's flight is there */
    EXPECT_STATUS(side_receive(sides[1 - who]), SST_ERR_ALERT_RECEIVED - 80);
    if (who == 0) EXPECT_RECEIVED(sides[1], "early", 5);
    early_free(&early);
  }
}

TEST(early_data, in_place_it_is_told_apart_as_well) {
  Early early = early_begin(.client = {.server_name = NULL}, .server = {.options = SST_OPTION_LEAVE_PARTIAL});
  Side *client = &early.pair.client, *server = &early.pair.server;
  sst_range ranges[8];
  size_t used = 0;
  EXPECT_STATUS(side_send(client, "early", 5), SST_OK);
  EXPECT_STATUS(side_handshake(server), SST_OK);
  EXPECT_STATUS(side_handshake(client), SST_OK);
  EXPECT_STATUS(side_send(client, "later", 5), SST_OK);
  uint8_t buffer[4096];
  size_t len = wire_waiting(server->in);
  memcpy(buffer, wire_head(server->in), len);
  EXPECT_STATUS(sst_stream_decrypt_in_place(server->stream, buffer, len, ranges, 8, &used, &server->progress),
                SST_NEED_OUTPUT);
  REQUIRE_EQ(used, 1);
  EXPECT_BYTES(buffer + ranges[0].offset, ranges[0].length, "early", 5);
  EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, SST_EARLY_DATA);
  uint8_t *rest = buffer + server->progress.consumed;
  len -= server->progress.consumed;
  EXPECT_STATUS(sst_stream_decrypt_in_place(server->stream, rest, len, ranges, 8, &used, &server->progress),
                SST_NEED_INPUT);
  REQUIRE_EQ(used, 1);
  EXPECT_BYTES(rest + ranges[0].offset, ranges[0].length, "later", 5);
  EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, 0);
  early_free(&early);
}
