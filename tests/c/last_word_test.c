/* White-box: two failures at once, one on each side of a stream, or a failure and close: one record is published, it is
   that of the failure whose alert goes out, and it never changes. One call is held at every moment at which it has
   changed what the other can see, while the other runs from begin to end. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "forge.h"
#include "steps.h"
#include "stream.h"
#include "tls/record.h"

enum { MOST_MOMENTS = 20, ABORT_ALERT = 80, PEER_ALERT = 40, UNKNOWN_TYPE = 99, PATIENCE_S = 20 };

/* ---- what the two sides do ---- */

typedef struct Stage {
  Forged *forged;
  Side *victim;
  Data record; /* the victim reads it */
  sst_status sent, received;
  sst_progress sending, receiving;
  uint8_t wire[200], plaintext[100];
} Stage;

typedef void (*Act)(void *stage);

static void receives(void *argument) {
  Stage *stage = argument;
  stage->received = sst_stream_decrypt(stage->victim->stream, stage->record.bytes, stage->record.len, stage->plaintext,
                                       sizeof stage->plaintext, &stage->receiving);
}

static void aborts(void *argument) {
  Stage *stage = argument;
  stage->sent = sst_stream_abort(stage->victim->stream, ABORT_ALERT);
}

static void closes(void *argument) {
  Stage *stage = argument;
  stage->sent = sst_stream_close(stage->victim->stream, stage->wire, sizeof stage->wire, &stage->sending);
}

static void encrypts(void *argument) {
  Stage *stage = argument;
  stage->sent = sst_stream_encrypt(stage->victim->stream, (const uint8_t *)"x", 1, stage->wire, sizeof stage->wire,
                                   &stage->sending);
}

/* ---- one of them in steps ---- */

/* What others see of a stream. */
typedef struct Seen {
  const sst_error *end;
  uint32_t state;
  unsigned due;
} Seen;

typedef struct Duel {
  Stage *stage;
  Act stepped, whole;
  int moment;      /* the other call runs when so many changes are seen */
  atomic_int turn; /* 1: the other call may run; 2: it has */
  Seen seen;
  int changes;
  sst_error told;    /* the first failure that was seen */
  const char *fault; /* of what was seen between two instructions */
} Duel;

static Seen look_at(const sst_stream *stream) {
  return (Seen){
      .end = atomic_load(&stream->due.end), .state = sst__state(stream), .due = atomic_load(&stream->due.what)};
}

/* A failure comes with its record, and its alert behind both. */
static void check(Duel *duel) {
  const sst_stream *stream = duel->stage->victim->stream;
  const bool alert = (atomic_load(&stream->due.what) & SST__DUE_ALERT) != 0;
  const bool failed = (sst__state(stream) & SST_STATE_FAILED) != 0;
  sst_error error = {.size = sizeof error};
  (void)sst_stream_last_error(stream, &error);
  if (alert && !failed) duel->fault = "an alert is due of a stream that has not failed";
  if (failed && error.code == SST_OK) duel->fault = "the stream has failed and has no record";
  if (!failed && error.code != SST_OK) duel->fault = "there is a record of a stream that has not failed";
  if (duel->told.code == SST_OK) duel->told = error;
  if (memcmp(&duel->told, &error, sizeof error) != 0) duel->fault = "the record has changed";
}

static void between(void *argument) {
  Duel *duel = argument;
  const Seen now = look_at(duel->stage->victim->stream);
  check(duel);
  if (now.end == duel->seen.end && now.state == duel->seen.state && now.due == duel->seen.due) return;
  duel->seen = now;
  if (++duel->changes != duel->moment) return;
  atomic_store(&duel->turn, 1);
  const double until = seconds_now() + PATIENCE_S;
  while (atomic_load(&duel->turn) != 2 && duel->fault == NULL)
    if (seconds_now() > until) duel->fault = "one side waits for the other";
  duel->seen = look_at(duel->stage->victim->stream);
}

static void run_stepped(void *argument) {
  Duel *duel = argument;
  duel->stepped(duel->stage);
}

static void *run_whole(void *argument) {
  Duel *duel = argument;
  while (atomic_load(&duel->turn) != 1)
    sched_yield();
  duel->whole(duel->stage);
  atomic_store(&duel->turn, 2);
  return NULL;
}

/* ---- what comes of it ---- */

typedef struct Match {
  Act sends;
  uint8_t type; /* of the record that the victim reads */
  const char *content;
  int32_t alert; /* ours, to that record; -1: none */
} Match;

static void expect_one_last_word(Stage *stage, const Match *match) {
  Side *victim = stage->victim;
  const sst_error error = error_of(victim);
  char heard[64], expected[64] = "";
  wire_write(victim->out, stage->wire, stage->sending.produced);
  EXPECT_STATUS(side_flush(victim), SST_OK);
  EXPECT_EQ(sst_stream_output_size(victim->stream), 0);
  forge_hear(&stage->forged->forge, heard, sizeof heard);
  const bool closed = match->sends == closes && strcmp(heard, "alert 1 0") == 0;
  if (error.alert_sent >= 0) snprintf(expected, sizeof expected, "alert 2 %d", (int)error.alert_sent);
  if (!closed || error.alert_sent >= 0) EXPECT_STRING(heard, expected);

  EXPECT_STATUS(stage->received, error.code);
  const bool own = match->sends == aborts ? error.code == SST_ERR_ABORTED : error.code == SST_ERR_KEY_EXHAUSTED;
  if (match->sends == closes) {
    EXPECT_STATUS(stage->sent, SST_OK);
    EXPECT(error.alert_sent == (closed ? -1 : match->alert));
  } else {
    EXPECT_STATUS(stage->sent, own && match->sends == aborts ? SST_OK : error.code);
    EXPECT_EQ(error.alert_sent, own ? ABORT_ALERT : match->alert);
  }
  EXPECT_EQ(error.alert_received, own || match->type != RECORD_ALERT ? -1 : PEER_ALERT);
}

/* Returns how many changes the stepped call has made, up to the moment; -1: this machine has no steps. */
static int run_duel(uint16_t version, const Match *match, bool steps_receiver, int moment) {
  test_note("%s in steps, the other side behind change %d", steps_receiver ? "receiving" : "sending", moment);
  Stage stage = {.forged = forged_open(version, SST_ROLE_SERVER, &(PairOptions){.first = 0})};
  stage.victim = stage.forged->forge.victim;
  stage.record = keys_seal(&stage.forged->forge.send, match->type, match->content, 2);
  if (match->sends == encrypts) {
    sst__sender *sender = &sst__record_of(stage.victim->stream->engine)->sender;
    sender->most_records = sender->keys.sequence;
  }
  Duel duel = {.stage = &stage, .moment = moment, .told = error_of(stage.victim)};
  duel.stepped = steps_receiver ? receives : match->sends;
  duel.whole = steps_receiver ? match->sends : receives;
  duel.seen = look_at(stage.victim->stream);
  pthread_t thread = thread_start(run_whole, &duel);
  const bool steps = steps_run(run_stepped, between, &duel);
  if (!steps) run_stepped(&duel);
  if (atomic_load(&duel.turn) == 0) atomic_store(&duel.turn, 1);
  thread_join(thread);
  check(&duel);
  if (duel.fault != NULL) FAIL("%s", duel.fault);
  expect_one_last_word(&stage, match);
  free(stage.record.bytes);
  forged_free(stage.forged);
  return steps ? duel.changes : -1;
}

static void at_every_moment(uint16_t version, const Match *match) {
  if (sst__keeps_ssl()) SKIP("BoringSSL's SSL needs the lock: the sides take turns");
  for (int stepped = 0; stepped < 2; stepped++) {
    int moment = 0, changes = 0;
    do {
      changes = run_duel(version, match, stepped == 1, ++moment);
    } while (changes >= moment && moment < MOST_MOMENTS && !test_failed());
    if (changes < 0) SKIP("no single steps in this build, or on this machine");
    EXPECT_AT_LEAST(moment, 3); /* the end is one change, the state another; at the last moment there was none */
    EXPECT_AT_MOST(moment, MOST_MOMENTS - 1);
  }
}

TEST_VERSIONS(last_word, abort_and_a_bad_record_tell_one_failure) {
  at_every_moment(version, &(Match){aborts, UNKNOWN_TYPE, "xy", 10});
}

TEST_VERSIONS(last_word, abort_and_the_alert_of_the_peer_tell_one_failure) {
  at_every_moment(version, &(Match){aborts, RECORD_ALERT, "\2\50", -1});
}

TEST_VERSIONS(last_word, close_and_a_bad_record_say_one_last_word) {
  at_every_moment(version, &(Match){closes, UNKNOWN_TYPE, "xy", 10});
}

TEST_VERSIONS(last_word, close_and_the_alert_of_the_peer_say_one_last_word) {
  at_every_moment(version, &(Match){closes, RECORD_ALERT, "\2\50", -1});
}

TEST(last_word, keys_that_end_and_a_bad_record_tell_one_failure_tls12) {
  at_every_moment(SST_TLS1_2, &(Match){encrypts, UNKNOWN_TYPE, "xy", 10});
}

/* ---- without steps ---- */

/* The moment between the two, set by hand: the receiving side has the last word, and the stream has not failed yet. */
TEST_VERSIONS(last_word, abort_tells_the_failure_that_was_first) {
  if (sst__keeps_ssl()) SKIP("BoringSSL's SSL needs the lock: the sides take turns");
  Forged *forged = forged_open(version, SST_ROLE_CLIENT, &(PairOptions){.first = 0});
  sst_stream *stream = forged->forge.victim->stream;
  const sst_error first = {
      .size = sizeof first, .code = SST_ERR_BAD_RECORD_MAC, .alert_sent = 20, .alert_received = -1, .message = "first"};
  EXPECT(sst__due_end(&stream->due, &first));
  EXPECT_STATUS(error_of(forged->forge.victim).code, SST_OK);
  EXPECT_STATUS(sst_stream_abort(stream, ABORT_ALERT), SST_ERR_BAD_RECORD_MAC);
  EXPECT_EQ(sst_stream_output_size(stream), 0);
  const sst_error told = error_of(forged->forge.victim);
  EXPECT_BYTES(&told, sizeof told, &first, sizeof first);
  sst__due_add(&stream->due, SST__DUE_ALERT);
  EXPECT_STATUS(side_flush(forged->forge.victim), SST_OK);
  EXPECT_HEARD(&forged->forge, "alert 2 20");
  atomic_store(&stream->due.end, NULL); /* the stream would free it */
  forged_free(forged);
}
