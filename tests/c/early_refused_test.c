/*
 * Early data that a server does not take: the client is asked, nothing of it reaches anybody, and the stream goes on; or
 * ends as the caller wants it to.
 */
#include <pthread.h>
#include <string.h>

#include "early.h"

static const EarlyKind refused[] = {EARLY_OFF, EARLY_HELLO_RETRY, EARLY_OTHER_KEY, EARLY_OTHER_ALPN};
enum { REFUSED = sizeof refused / sizeof refused[0] };

/* The client has sent early data, and is asked. */
static Early asked(EarlyKind kind) {
  test_note("%s", early_name(kind));
  Early early = early_open(kind, .client = {.server_name = NULL});
  EXPECT_STATUS(side_send(&early.pair.client, "early", 5), SST_OK);
  REQUIRE_STATUS(pair_handshake(&early.pair), SST_WANT_EARLY_DATA_RETRY);
  return early;
}

static void goes_on(Early *early) {
  REQUIRE_STATUS(pair_handshake(&early->pair), SST_OK);
  EXPECT_STATUS(side_receive(&early->pair.server), SST_NEED_INPUT);
  EXPECT_EQ(early->pair.server.received_len, 0);
  pair_echo(&early->pair, 1000);
}

static void expect_no_early_data(Side *client) {
  uint8_t out[100];
  sst_progress progress;
  EXPECT_EQ(client->progress.flags & SST_EARLY_DATA, 0);
  EXPECT_EQ(sst_stream_early_data_left(client->stream), 0);
  EXPECT_STATUS(sst_stream_encrypt(client->stream, (const uint8_t *)"x", 1, out, sizeof out, &progress), SST_ERR_STATE);
  EXPECT_EQ(progress.consumed, 0);
  EXPECT_EQ(progress.flags & SST_EARLY_DATA, 0);
}

/* Nobody is asked about early data that was not sent; what the client could have sent, it cannot send any more. */
TEST(early_refused, nothing_can_be_sent_once_it_was_refused_without_a_question) {
  Early early = early_open(EARLY_HELLO_RETRY, .client = {.server_name = NULL});
  Side *client = &early.pair.client, *server = &early.pair.server;
  EXPECT_STATUS(side_handshake(server), SST_NEED_INPUT);
  EXPECT_STATUS(side_handshake(client), SST_NEED_INPUT); /* its second hello is out */
  EXPECT_EQ(early_verdict(client), 0);
  expect_no_early_data(client);
  EXPECT_EQ(sst_stream_state(client->stream), SST_STATE_HANDSHAKE);
  goes_on(&early);
  early_free(&early);
}

TEST(early_refused, question_is_repeated_until_it_is_answered_once) {
  for (int i = 0; i < REFUSED; i++) {
    Early early = asked(refused[i]);
    Side *client = &early.pair.client;
    const size_t taken = client->in->taken;
    for (int k = 0; k < 3; k++) {
      EXPECT_STATUS(side_handshake(client), SST_WANT_EARLY_DATA_RETRY);
      EXPECT_EQ(client->progress.consumed, 0);
    }
    EXPECT_EQ(client->in->taken, taken);
    EXPECT_EQ(sst_stream_state(client->stream), SST_STATE_HANDSHAKE | SST_STATE_SUSPENDED);
    expect_no_early_data(client);
    EXPECT_STATUS(side_call(client, CALL_DECRYPT, NULL, 0, 100), SST_ERR_STATE);
    EXPECT_STATUS(sst_stream_accept(client->stream), SST_ERR_STATE);
    EXPECT_STATUS(sst_stream_set_credential(client->stream, NULL), SST_ERR_STATE);
    EXPECT_STATUS(sst_stream_ignore_ticket(client->stream), SST_ERR_STATE);

    EXPECT_STATUS(sst_stream_continue_without_early_data(client->stream), SST_OK);
    EXPECT_STATUS(sst_stream_continue_without_early_data(client->stream), SST_ERR_STATE);
    EXPECT_STATUS(sst_stream_reject(client->stream, -1), SST_ERR_STATE);
    EXPECT_EQ(sst_stream_state(client->stream), SST_STATE_HANDSHAKE);
    expect_no_early_data(client);
    goes_on(&early);
    EXPECT_STATUS(sst_stream_continue_without_early_data(client->stream), SST_ERR_STATE);
    early_free(&early);
  }
}

TEST(early_refused, answer_is_an_error_where_nobody_asked) {
  Early early = early_open(EARLY_TAKEN, .client = {.server_name = NULL});
  EXPECT_STATUS(sst_stream_continue_without_early_data(early.pair.client.stream), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_continue_without_early_data(early.pair.server.stream), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_continue_without_early_data(NULL), SST_ERR_INVALID_ARGUMENT);
  early_free(&early);
}

/* The alert goes out under keys that the server reads with: not those of early data, which it skips. */
TEST(early_refused, no_for_an_answer_ends_the_stream_and_its_alert_arrives) {
  for (int i = 0; i < REFUSED; i++) {
    for (int by_choice = 0; by_choice < 2; by_choice++) {
      Early early = asked(refused[i]);
      Side *client = &early.pair.client;
      EXPECT_STATUS(sst_stream_reject(client->stream, by_choice ? 90 : -1), SST_OK);
      EXPECT_STATUS(side_handshake(client), SST_ERR_REJECTED);
      const sst_error error = error_of(client);
      EXPECT_EQ(error.alert_sent, by_choice ? 90 : 80);
      EXPECT_CONTAINS(error.message, "WANT_EARLY_DATA_RETRY");
      EXPECT_EQ(sst_stream_early_data_left(client->stream), 0);
      EXPECT_STATUS(side_handshake(&early.pair.server), SST_ERR_ALERT_RECEIVED - (by_choice ? 90 : 80));
      early_free(&early);
    }
  }
}

TEST(early_refused, stream_can_be_aborted_closed_or_freed_at_the_question) {
  for (int i = 0; i < REFUSED; i++) {
    Early early = asked(refused[i]);
    EXPECT_STATUS(sst_stream_abort(early.pair.client.stream, 90), SST_OK);
    EXPECT_STATUS(side_flush(&early.pair.client), SST_OK);
    EXPECT_STATUS(sst_stream_continue_without_early_data(early.pair.client.stream), SST_ERR_STATE);
    EXPECT_STATUS(side_handshake(&early.pair.server), SST_ERR_ALERT_RECEIVED - 90);
    early_free(&early);

    early = asked(refused[i]);
    EXPECT_STATUS(side_close(&early.pair.client), SST_OK);
    EXPECT_EQ(sst_stream_state(early.pair.client.stream), SST_STATE_HANDSHAKE | SST_STATE_ENDED_EARLY);
    EXPECT_STATUS(sst_stream_continue_without_early_data(early.pair.client.stream), SST_ERR_STATE);
    EXPECT_STATUS(side_handshake(&early.pair.client), SST_ERR_CLOSED);
    early_free(&early);

    early = asked(refused[i]);
    EXPECT_STATUS(sst_stream_continue_without_early_data(early.pair.client.stream), SST_OK);
    early_free(&early); /* answered, and the answer not taken */

    early = asked(refused[i]);
    early_free(&early);
  }
}

static void *answer(void *stream) {
  EXPECT_STATUS(sst_stream_continue_without_early_data(stream), SST_OK);
  return NULL;
}

TEST(early_refused, another_thread_may_answer) {
  for (int i = 0; i < REFUSED; i++) {
    Early early = asked(refused[i]);
    pthread_t thread;
    REQUIRE_EQ(pthread_create(&thread, NULL, answer, early.pair.client.stream), 0);
    sst_status status;
    do {
      status = side_handshake(&early.pair.client);
    } while (status == SST_WANT_EARLY_DATA_RETRY);
    pthread_join(thread, NULL);
    goes_on(&early);
    early_free(&early);
  }
}

/* The server has refused already when the client, which does not know, sends on. */
TEST(early_refused, early_data_behind_the_refusal_is_skipped_too) {
  for (int i = 0; i < REFUSED; i++) {
    test_note("%s", early_name(refused[i]));
    Early early = early_open(refused[i], .client = {.server_name = NULL});
    Side *client = &early.pair.client, *server = &early.pair.server;
    EXPECT_STATUS(side_send(client, "first", 5), SST_OK);
    EXPECT_STATUS(side_handshake(server), SST_NEED_INPUT);
    EXPECT_STATUS(side_send(client, "second", 6), SST_OK);
    EXPECT_STATUS(side_handshake(server), SST_NEED_INPUT);
    EXPECT_STATUS(side_send(client, "third", 5), SST_OK);
    EXPECT_EQ(sst_stream_early_data_left(client->stream), EARLY_LIMIT - 16);
    EXPECT_STATUS(side_handshake(client), SST_WANT_EARLY_DATA_RETRY);
    EXPECT_EQ(early_verdict(client), 0);
    EXPECT_STATUS(sst_stream_continue_without_early_data(client->stream), SST_OK);
    goes_on(&early);
    EXPECT_EQ(early_verdict(client), 99); /* told once */
    EXPECT_EQ(early_verdict(server), 99);
    early_free(&early);
  }
}

static sst_status send_in_pieces(Side *client, size_t len, size_t piece) {
  uint8_t data[EARLY_LIMIT];
  pattern_fill(data, sizeof data, 3);
  for (size_t at = 0; at < len; at += piece) {
    const sst_status status = side_send(client, data + at, len - at < piece ? len - at : piece);
    if (status != SST_OK) return status;
  }
  return SST_OK;
}

/* What is skipped is counted as it is on the wire, headers and tags included: see sst_config_set_early_data. */
TEST(early_refused, more_small_records_than_the_server_skips_fail_its_handshake) {
  for (int i = 0; i < REFUSED; i++) {
    for (int over = 0; over < 2; over++) {
      test_note("%s, %s", early_name(refused[i]), over ? "too many" : "just few enough");
      Early early = early_open(refused[i], .client = {.server_name = NULL});
      /* 16,384 bytes are skipped: 134 records of 100 + 22 are 16,348, one more is too much. */
      EXPECT_STATUS(send_in_pieces(&early.pair.client, over ? 13500 : 13400, 100), SST_OK);
      if (over) {
        EXPECT_STATUS(side_handshake(&early.pair.server), SST_ERR_FLOOD);
        EXPECT_EQ(error_of(&early.pair.server).alert_sent, 10);
      } else {
        EXPECT_STATUS(pair_handshake(&early.pair), SST_WANT_EARLY_DATA_RETRY);
        EXPECT_STATUS(sst_stream_continue_without_early_data(early.pair.client.stream), SST_OK);
        goes_on(&early);
      }
      early_free(&early);
    }
  }
}

/* RFC 8446, D.3: such a server cannot skip early data. The client must connect again without it. */
TEST(early_refused, server_that_has_gone_back_to_tls12_fails_the_client) {
  Early early = early_prepare(EARLY_TAKEN, &(PairOptions){.first = 0});
  SideOptions old = early.resume.options.server;
  old.config = NULL;
  old.max_version = SST_TLS1_2;
  resume_set_config(&early.resume.options.server, pair_config(&old, SST_ROLE_SERVER));
  for (int sends = 0; sends < 2; sends++) {
    early_start(&early);
    Side *client = &early.pair.client;
    if (sends) EXPECT_STATUS(side_send(client, "early", 5), SST_OK);
    (void)side_handshake(&early.pair.server);
    EXPECT_STATUS(side_handshake(client), SST_ERR_NO_SHARED_VERSION);
    EXPECT_EQ(error_of(client).alert_sent, 70);
    EXPECT_EQ(sst_stream_early_data_left(client->stream), 0);
    EXPECT_EQ(client->progress.flags & SST_EARLY_DATA, 0);
    early_stop(&early);
  }
  early_free(&early);
}
