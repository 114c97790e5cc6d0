/*
 * Contract: what holds of every question, in both roles and versions. What is asked is not part of it.
 */
#include "stop.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The question stands, and nothing was taken or written. */
static void stands(Stop *stop) {
  EXPECT_EQ(sst_stream_state(stop->subject->stream), SST_STATE_HANDSHAKE | SST_STATE_SUSPENDED);
  EXPECT_STATUS(side_call(stop->subject, CALL_HANDSHAKE, NULL, 0, 0), stop->question->want);
  EXPECT_EQ(stop->subject->progress.consumed + stop->subject->progress.produced + stop->subject->progress.needed, 0);
  EXPECT_EQ(error_of(stop->subject).code, SST_OK);
}

/* ---- while it is open ---- */

static void repeats(Stop *stop) {
  static const size_t sizes[] = {0, 1, 5, 100, 20000}, rooms[] = {0, 1, 100, 65536};
  uint8_t *bytes = calloc(1, 20000);
  for (int i = 0; i < 20; i++) {
    EXPECT_STATUS(side_call(stop->subject, CALL_HANDSHAKE, bytes, sizes[i % 5], rooms[i % 4]), stop->question->want);
    EXPECT_EQ(stop->subject->progress.consumed + stop->subject->progress.produced, 0);
  }
  free(bytes);
  stop_finish(stop);
}

TEST_VERSIONS(question_contract, handshake_says_the_same_and_takes_nothing) {
  stop_each(version, repeats);
}

static void refuses_data(Stop *stop) {
  sst_stream *stream = stop->subject->stream;
  sst_progress done;
  sst_range range;
  size_t used = 9;
  uint8_t bytes[100] = {23, 3, 3, 0, 50};
  for (int i = 0; i < 2; i++) {
    EXPECT_STATUS(side_call(stop->subject, CALL_ENCRYPT, bytes, 10, 100), SST_ERR_STATE);
    EXPECT_STATUS(side_call(stop->subject, CALL_ENCRYPT, NULL, 0, 0), SST_ERR_STATE);
    EXPECT_STATUS(side_call(stop->subject, CALL_DECRYPT, bytes, 100, 100), SST_ERR_STATE);
    EXPECT_EQ(stop->subject->progress.consumed, 0);
    EXPECT_STATUS(sst_stream_decrypt_in_place(stream, bytes, 100, &range, 1, &used, &done), SST_ERR_STATE);
    EXPECT_EQ(used + done.consumed, 0);
    EXPECT_STATUS(sst_stream_key_update(stream, 0), SST_ERR_STATE);
    EXPECT_STATUS(sst_stream_set_options(stream, 0), SST_ERR_STATE);
    EXPECT_STATUS(sst_stream_set_verify_time(stream, 0), SST_ERR_STATE);
    EXPECT_STATUS(side_call(stop->subject, CALL_FLUSH, NULL, 0, 0), SST_OK);
    EXPECT_EQ(stop->subject->progress.produced, 0);
    if (i == 1) break;
    stands(stop);
    stop_answer(stop); /* and so it is with the answer posted and not taken */
  }
  EXPECT_STATUS(answer_handshake(&stop->pair, &stop->answers), SST_OK);
  pair_echo(&stop->pair, 100);
}

TEST_VERSIONS(question_contract, data_is_refused_and_flush_has_nothing) {
  stop_each(version, refuses_data);
}

static void shows_no_facts(Stop *stop) {
  const sst_stream_info info = info_of(stop->subject);
  EXPECT_EQ((int64_t)info.version + info.suite + info.group + info.peer_scheme + info.local_scheme + info.flags, 0);
  EXPECT_STRING(side_text(stop->subject, sst_stream_alpn), "");
  EXPECT_CONTAINS(side_text(stop->subject, sst_stream_describe), "no handshake yet");
  uint8_t out[4096];
  size_t len = 1;
  EXPECT_STATUS(sst_stream_local_certificate(stop->subject->stream, 0, out, sizeof out, &len), SST_OK);
  EXPECT_EQ(len > 0, stop->question->want == SST_WANT_PRIVATE_KEY_OPERATION); /* whose key is wanted */
  EXPECT_STATUS(sst_stream_ticket(stop->subject->stream, out, sizeof out, &len), SST_OK);
  EXPECT_EQ(len, 0);
  EXPECT_STATUS(sst_stream_session_id(stop->subject->stream, out, sizeof out, &len), SST_OK);
  EXPECT_EQ(len, 0);
  stop_finish(stop);
}

TEST_VERSIONS(question_contract, facts_of_the_handshake_are_not_there_yet) {
  stop_each(version, shows_no_facts);
}

/* ---- answers ---- */

/* Every setter but the right one (SST_OK: every setter). */
static void wrong_answers(const Stop *stop, sst_status right) {
  sst_stream *stream = stop->subject->stream;
  sst_session *session = sst_session_new();
  if (right != SST_WANT_CLIENT_HELLO)
    EXPECT_STATUS(sst_stream_set_config(stream, stop->pair.server.config), SST_ERR_STATE);
  if (right != SST_WANT_CERTIFICATE) {
    EXPECT_STATUS(sst_stream_set_credential(stream, NULL), SST_ERR_STATE);
    EXPECT_STATUS(sst_stream_set_credential(stream, stop->subject_answers->credential), SST_ERR_STATE);
  }
  if (right != SST_WANT_CERTIFICATE_VERIFY) {
    EXPECT_STATUS(sst_stream_accept(stream), SST_ERR_STATE);
    EXPECT_STATUS(sst_stream_accept_default(stream), SST_ERR_STATE);
  }
  if (right != SST_WANT_PRIVATE_KEY_OPERATION) {
    EXPECT_STATUS(sst_stream_set_signature(stream, (const uint8_t *)"x", 1), SST_ERR_STATE);
    EXPECT_STATUS(sst_stream_set_signature(stream, NULL, 0), SST_ERR_STATE);
  }
  EXPECT_STATUS(sst_stream_set_ticket_plaintext(stream, (const uint8_t *)"x", 1), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_ignore_ticket(stream), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_answer_session(stream, NULL), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_answer_session(stream, session), SST_ERR_INVALID_ARGUMENT); /* empty */
  EXPECT_STATUS(sst_stream_continue_without_early_data(stream), SST_ERR_STATE);
  if (right == SST_OK) EXPECT_STATUS(sst_stream_reject(stream, -1), SST_ERR_STATE);
  sst_session_free(session);
}

static void answers_count_once(Stop *stop) {
  wrong_answers(stop, stop->question->want);
  stands(stop);
  stop_answer(stop);
  wrong_answers(stop, SST_OK);
  EXPECT_STATUS(answer_handshake(&stop->pair, &stop->answers), SST_OK);
  wrong_answers(stop, SST_OK);
  EXPECT_EQ(sst_stream_state(stop->subject->stream), SST_STATE_OPEN);
  pair_echo(&stop->pair, 100);
}

TEST_VERSIONS(question_contract, only_its_own_answer_counts_and_once) {
  stop_each(version, answers_count_once);
}

static void before_the_first_byte(uint16_t version) {
  Stop stop = {.pair = pair_new(.client = {.max_version = version, .suspend = ASK_ALL})};
  stop.subject = &stop.pair.client;
  stop.subject_answers = &stop.answers.client;
  wrong_answers(&stop, SST_OK);
  EXPECT_EQ(sst_stream_state(stop.subject->stream), 0);
  pair_free(&stop.pair);
}

TEST_VERSIONS(question_contract, answer_before_the_first_byte_is_too_early) {
  before_the_first_byte(version);
}

static void rejects(Stop *stop) {
  static const int32_t bad[] = {0, 256, -2, INT32_MAX, INT32_MIN, -1000};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    EXPECT_STATUS(sst_stream_reject(stop->subject->stream, bad[i]), SST_ERR_INVALID_ARGUMENT);
  stands(stop);
  EXPECT_STATUS(sst_stream_reject(stop->subject->stream, -1), SST_OK);
  EXPECT_EQ(sst_stream_state(stop->subject->stream), SST_STATE_HANDSHAKE);
  wrong_answers(stop, SST_OK);
  EXPECT_STATUS(side_call(stop->subject, CALL_HANDSHAKE, (const uint8_t *)"x", 1, 1), SST_ERR_REJECTED);
  EXPECT_EQ(stop->subject->progress.consumed, 0);
  EXPECT_EQ(sst_stream_state(stop->subject->stream), SST_STATE_HANDSHAKE | SST_STATE_FAILED);
  const sst_error error = error_of(stop->subject);
  EXPECT_STATUS(error.code, SST_ERR_REJECTED);
  EXPECT_EQ(error.alert_sent, stop->question->usual_alert);
  EXPECT_EQ(error.alert_received, -1);
  EXPECT_CONTAINS(error.message, sst_status_name(stop->question->want));
  EXPECT_STATUS(side_handshake(stop->subject), SST_ERR_REJECTED);
  wrong_answers(stop, SST_OK);
  /* A chain that was accepted before is not the one that was refused. */
  uint8_t der[4096];
  size_t len = 0;
  EXPECT_STATUS(sst_stream_refused_certificate(stop->subject->stream, 0, der, sizeof der, &len), SST_OK);
  EXPECT_EQ(len > 0, stop->question->want == SST_WANT_CERTIFICATE_VERIFY);
  stop_hears(stop, stop->question->usual_alert);
  EXPECT_STATUS(side_call(stop->subject, CALL_ENCRYPT, NULL, 0, 0), SST_ERR_REJECTED);
  EXPECT_STATUS(side_call(stop->subject, CALL_DECRYPT, NULL, 0, 0), SST_ERR_REJECTED);
  EXPECT_STATUS(sst_stream_abort(stop->subject->stream, 90), SST_ERR_REJECTED);
}

TEST_VERSIONS(question_contract, rejection_sends_the_usual_alert_and_stays) {
  stop_each(version, rejects);
}

static void rejects_with(Stop *stop, int32_t alert) {
  EXPECT_STATUS(sst_stream_reject(stop->subject->stream, alert), SST_OK);
  EXPECT_STATUS(side_handshake(stop->subject), SST_ERR_REJECTED);
  EXPECT_EQ(error_of(stop->subject).alert_sent, alert);
  stop_hears(stop, alert);
}

static void rejects_with_the_least(Stop *stop) {
  rejects_with(stop, 1);
}

static void rejects_with_the_most(Stop *stop) {
  rejects_with(stop, 255);
}

TEST_VERSIONS(question_contract, rejection_sends_the_least_and_the_most) {
  stop_each(version, rejects_with_the_least);
  stop_each(version, rejects_with_the_most);
}

/* ---- ends ---- */

static bool needs_no_more(const Stop *stop) {
  return stop->version == SST_TLS1_3 && (stop->question->client || stop->question->want == SST_WANT_CERTIFICATE_VERIFY);
}

/* What was received before the end of the transport counts; the end is met where more is needed. */
static void meets_the_end(Stop *stop) {
  EXPECT_STATUS(sst_stream_input_eof(stop->subject->stream), SST_OK);
  stands(stop);
  wire_drop(stop->subject->in);
  stop_answer(stop);
  sst_status status = side_handshake(stop->subject);
  while (status >= SST_WANT_CLIENT_HELLO) {
    answer(stop->subject, stop->subject_answers);
    status = side_handshake(stop->subject);
  }
  EXPECT_STATUS(status, needs_no_more(stop) ? SST_OK : SST_ERR_HANDSHAKE_EOF);
  EXPECT_EQ(sst_stream_state(stop->subject->stream),
            needs_no_more(stop) ? SST_STATE_OPEN : SST_STATE_HANDSHAKE | SST_STATE_FAILED);
}

TEST_VERSIONS(question_contract, end_of_input_is_met_behind_the_answer) {
  stop_each(version, meets_the_end);
}

static void is_closed(Stop *stop) {
  EXPECT_STATUS(side_call(stop->subject, CALL_CLOSE, NULL, 0, 100), SST_OK);
  EXPECT_EQ(stop->subject->progress.produced, 0);
  EXPECT_EQ(sst_stream_state(stop->subject->stream), SST_STATE_HANDSHAKE | SST_STATE_ENDED_EARLY);
  wrong_answers(stop, SST_OK);
  EXPECT_STATUS(side_call(stop->subject, CALL_HANDSHAKE, NULL, 0, 100), SST_ERR_CLOSED);
  EXPECT_STATUS(side_call(stop->subject, CALL_ENCRYPT, NULL, 0, 100), SST_ERR_CLOSED);
  EXPECT_STATUS(sst_stream_abort(stop->subject->stream, 90), SST_ERR_CLOSED);
  EXPECT_EQ(sst_stream_num_peer_certificates(stop->subject->stream), 0);
  size_t len = 1;
  uint8_t out[100];
  EXPECT_STATUS(sst_stream_client_hello(stop->subject->stream, out, sizeof out, &len), SST_OK);
  EXPECT_EQ(len, 0);
}

static void is_answered_and_closed(Stop *stop) {
  stop_answer(stop);
  is_closed(stop);
}

TEST_VERSIONS(question_contract, close_ends_the_stream_and_the_question) {
  stop_each(version, is_closed);
  stop_each(version, is_answered_and_closed);
}

static void is_aborted(Stop *stop) {
  EXPECT_STATUS(sst_stream_abort(stop->subject->stream, 90), SST_OK);
  EXPECT_EQ(sst_stream_state(stop->subject->stream), SST_STATE_HANDSHAKE | SST_STATE_FAILED);
  wrong_answers(stop, SST_OK);
  EXPECT_EQ(sst_stream_num_peer_certificates(stop->subject->stream), 0);
  stop_hears(stop, 90);
  EXPECT_STATUS(side_handshake(stop->subject), SST_ERR_ABORTED);
}

static void is_answered_and_aborted(Stop *stop) {
  stop_answer(stop);
  is_aborted(stop);
}

TEST_VERSIONS(question_contract, abort_sends_its_alert_and_ends_the_question) {
  stop_each(version, is_aborted);
  stop_each(version, is_answered_and_aborted);
}

/* stop_end counts what is left. */
static void is_freed(Stop *stop) {
  (void)stop;
}

TEST_VERSIONS(question_contract, free_leaves_nothing) {
  stop_each(version, is_freed);
  stop_each(version, stop_answer);
}

/* ---- all alerts, and a copy in another process ---- */

TEST(question_contract, rejection_sends_every_alert) {
  for (int32_t alert = 1; alert <= 255; alert++) {
    Pair pair = pair_new(.server = {.no_config = true});
    EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CLIENT_HELLO);
    EXPECT_STATUS(sst_stream_reject(pair.server.stream, alert), SST_OK);
    EXPECT_STATUS(pair_handshake(&pair), SST_ERR_REJECTED);
    EXPECT_EQ(error_of(&pair.client).alert_received, alert);
    pair_free(&pair);
  }
}

/* The number of the call that was not refused, or 0. */
static int answers_in_child(const Stop *stop) {
  sst_stream *stream = stop->subject->stream;
  if (sst_stream_set_config(stream, stop->pair.server.config) != SST_ERR_FORKED) return 1;
  if (sst_stream_set_credential(stream, stop->subject_answers->credential) != SST_ERR_FORKED) return 2;
  if (sst_stream_accept(stream) != SST_ERR_FORKED) return 3;
  if (sst_stream_accept_default(stream) != SST_ERR_FORKED) return 4;
  if (sst_stream_set_signature(stream, (const uint8_t *)"x", 1) != SST_ERR_FORKED) return 5;
  if (sst_stream_reject(stream, -1) != SST_ERR_FORKED) return 6;
  if (sst_stream_set_ticket_plaintext(stream, NULL, 0) != SST_ERR_FORKED) return 7;
  if (sst_stream_ignore_ticket(stream) != SST_ERR_FORKED) return 8;
  if (sst_stream_answer_session(stream, NULL) != SST_ERR_FORKED) return 9;
  if (sst_stream_continue_without_early_data(stream) != SST_ERR_FORKED) return 10;
  if (sst_stream_reject(stream, 0) != SST_ERR_INVALID_ARGUMENT) return 11;
  if (sst_stream_state(stream) != (SST_STATE_HANDSHAKE | SST_STATE_SUSPENDED)) return 12;
  return 0;
}

static void belongs_to_its_process(Stop *stop) {
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) _exit(answers_in_child(stop));
  int state = -1;
  REQUIRE_EQ(waitpid(pid, &state, 0), pid);
  EXPECT(WIFEXITED(state));
  EXPECT_EQ(WEXITSTATUS(state), 0);
  stop_finish(stop);
}

TEST_VERSIONS(question_contract, answer_in_a_forked_child_is_refused) {
  stop_each(version, belongs_to_its_process);
}
