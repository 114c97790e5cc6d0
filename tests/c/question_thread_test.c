/*
 * Questions and threads: an answer comes from any thread, while the thread of the handshake polls and others look at
 * the facts; it is taken once, whole, and never refused as BUSY.
 */
#include "stop.h"
#include "channel.h"
#include "openssl_signer.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- answers of another thread, while this one polls ---- */

typedef struct Race {
  Stop *stop;
  atomic_int answered; /* threads whose answer was taken */
  atomic_bool over;
  pthread_barrier_t start;
} Race;

static sst_status post(const Race *race, const uint8_t *signature, size_t signature_len) {
  const Stop *stop = race->stop;
  sst_stream *stream = stop->subject->stream;
  switch (stop->question->want) {
    case SST_WANT_CLIENT_HELLO:
      return sst_stream_set_config(stream, stop->subject_answers->config);
    case SST_WANT_CERTIFICATE:
      return sst_stream_set_credential(stream, stop->subject_answers->credential);
    case SST_WANT_CERTIFICATE_VERIFY:
      return sst_stream_accept(stream);
    default:
      return sst_stream_set_signature(stream, signature, signature_len);
  }
}

static void *run_answerer(void *argument) {
  Race *race = argument;
  uint8_t message[16384], signature[512];
  size_t len = 0, signature_len = 0;
  int32_t operation;
  uint16_t scheme = 0;
  if (sst_stream_private_key_operation(race->stop->subject->stream, &operation, &scheme, message, sizeof message,
                                       &len) == SST_OK) {
    signature_len = openssl_sign(race->stop->subject_answers->key, scheme, message, len, signature, sizeof signature);
  }
  pthread_barrier_wait(&race->start);
  const sst_status status = post(race, signature, signature_len);
  if (status == SST_OK) {
    atomic_fetch_add(&race->answered, 1);
  } else {
    EXPECT_STATUS(status, SST_ERR_STATE);
  }
  return NULL;
}

/* What is seen is nothing, or the whole; the next question may be there already. */
static void look(const sst_stream *stream) {
  uint8_t out[16384];
  uint16_t numbers[64], scheme;
  int32_t operation;
  size_t len = 0;
  sst_error error = {.size = sizeof error};
  EXPECT_STATUS(sst_stream_client_hello(stream, out, sizeof out, &len), SST_OK);
  if (len > 0) EXPECT(len >= 100 && out[0] == 3 && out[1] == 3);
  EXPECT_STATUS(sst_stream_client_hello_list(stream, SST_HELLO_GROUPS, numbers, 64, &len), SST_OK);
  if (len > 0) EXPECT(len >= 3 && (numbers[0] == 4588 || numbers[0] == 29));
  EXPECT_STATUS(sst_stream_accepted_schemes(stream, numbers, 64, &len), SST_OK);
  if (len > 0) EXPECT(len == 10 && numbers[0] == 0x0403);
  EXPECT_STATUS(sst_stream_accepted_ca(stream, 0, out, sizeof out, &len), SST_OK);
  EXPECT_STATUS(sst_stream_peer_certificate(stream, 0, out, sizeof out, &len), SST_OK);
  if (len > 0) EXPECT(out[0] == 0x30 && len > 300);
  EXPECT(sst_stream_num_peer_certificates(stream) <= 2);
  const sst_status judged = sst_stream_verdict(stream, &error);
  EXPECT(judged == SST_ERR_STATE || (judged == SST_OK && error.code == SST_OK));
  const sst_status signs = sst_stream_private_key_operation(stream, &operation, &scheme, out, sizeof out, &len);
  EXPECT(signs == SST_ERR_STATE || (signs == SST_OK && len >= 100 && scheme == 0x0403));
  EXPECT_STATUS(sst_stream_ocsp_response(stream, out, sizeof out, &len), SST_OK);
  EXPECT_STATUS(sst_stream_scts(stream, out, sizeof out, &len), SST_OK);
  (void)sst_stream_state(stream);
}

static void *run_looker(void *argument) {
  Race *race = argument;
  pthread_barrier_wait(&race->start);
  while (!atomic_load(&race->over))
    look(race->stop->subject->stream);
  return NULL;
}

/* Two threads answer, two look, and this one polls until one answer is taken. */
static void races(Stop *stop) {
  Race race = {.stop = stop};
  pthread_t threads[4];
  pthread_barrier_init(&race.start, NULL, 5);
  for (int i = 0; i < 4; i++)
    threads[i] = thread_start(i < 2 ? run_answerer : run_looker, &race);
  pthread_barrier_wait(&race.start);
  const double until = seconds_now() + 60;
  do {
    (void)side_handshake(stop->subject);
    if (stop->subject->status == stop->question->want) EXPECT_EQ(stop->subject->progress.consumed, 0);
  } while (stop->subject->status == stop->question->want && seconds_now() < until);
  EXPECT(stop->subject->status != stop->question->want);
  thread_join(threads[0]);
  thread_join(threads[1]);
  atomic_store(&race.over, true);
  thread_join(threads[2]);
  thread_join(threads[3]);
  pthread_barrier_destroy(&race.start);
  EXPECT_EQ(atomic_load(&race.answered), 1);
  if (stop->subject->status >= SST_WANT_CLIENT_HELLO) answer(stop->subject, stop->subject_answers);
  EXPECT_STATUS(answer_handshake(&stop->pair, &stop->answers), SST_OK);
  pair_echo(&stop->pair, 100);
}

TEST_VERSIONS(question_thread, one_answer_of_several_threads_is_taken) {
  openssl_signer_load();
  for (int round = 0; round < 5; round++)
    stop_each(version, races);
}

/* ---- an answer, or the end: whichever comes first ---- */

static void *run_aborter(void *argument) {
  Race *race = argument;
  pthread_barrier_wait(&race->start);
  EXPECT_STATUS(sst_stream_abort(race->stop->subject->stream, 90), SST_OK);
  return NULL;
}

static void ends_meanwhile(Stop *stop) {
  Race race = {.stop = stop};
  pthread_t threads[3];
  pthread_barrier_init(&race.start, NULL, 3);
  threads[0] = thread_start(run_answerer, &race);
  threads[1] = thread_start(run_looker, &race);
  threads[2] = thread_start(run_aborter, &race);
  thread_join(threads[0]);
  thread_join(threads[2]);
  atomic_store(&race.over, true);
  thread_join(threads[1]);
  pthread_barrier_destroy(&race.start);
  EXPECT_EQ(sst_stream_state(stop->subject->stream), SST_STATE_HANDSHAKE | SST_STATE_FAILED);
  EXPECT_STATUS(post(&race, NULL, 0), SST_ERR_STATE);
  stop_hears(stop, 90);
}

TEST_VERSIONS(question_thread, abort_beside_an_answer_ends_the_stream) {
  openssl_signer_load();
  for (int round = 0; round < 10; round++)
    stop_each(version, ends_meanwhile);
}

/* ---- many streams, one thread ---- */

TEST_VERSIONS(question_thread, many_suspended_handshakes_are_answered_in_any_order) {
  enum { STREAMS = 100 };
  static Stop all[STREAMS];
  static int order[STREAMS];
  for (int i = 0; i < STREAMS; i++) {
    stop_begin(&all[i], version, &stop_questions[i % STOP_QUESTIONS]);
    order[i] = i;
  }
  for (int i = STREAMS - 1; i > 0; i--) {
    const int k = (int)test_random_below((uint32_t)i + 1), kept = order[i];
    order[i] = order[k];
    order[k] = kept;
  }
  for (int i = 0; i < STREAMS; i++) {
    Stop *stop = &all[order[i]];
    test_note("stream %d", order[i]);
    EXPECT_STATUS(side_handshake(stop->subject), stop->question->want);
    stop_finish(stop);
  }
  for (int i = 0; i < STREAMS; i++)
    stop_end(&all[i]);
}

/* ---- a ring of signers ---- */

enum { SIGNERS = 4, HANDSHAKES = 24 };

/* Streams that wait for a signature, and those that have it. */
typedef struct Ring {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int waiting[HANDSHAKES], num_waiting;
  bool closed;
  const Side *sides[HANDSHAKES];
  const char *keys[HANDSHAKES];
  atomic_bool signed_[HANDSHAKES];
} Ring;

static int take_one(Ring *ring) {
  pthread_mutex_lock(&ring->lock);
  while (ring->num_waiting == 0 && !ring->closed)
    pthread_cond_wait(&ring->changed, &ring->lock);
  const int taken = ring->num_waiting > 0 ? ring->waiting[--ring->num_waiting] : -1;
  pthread_mutex_unlock(&ring->lock);
  return taken;
}

static void *run_signer(void *argument) {
  Ring *ring = argument;
  for (int i; (i = take_one(ring)) >= 0;) {
    EXPECT_EQ(answer_signature(ring->sides[i], ring->keys[i]), 0x0403);
    atomic_store(&ring->signed_[i], true);
  }
  return NULL;
}

static void hand_in(Ring *ring, int i, const Side *side, const char *key) {
  atomic_store(&ring->signed_[i], false);
  pthread_mutex_lock(&ring->lock);
  ring->sides[i] = side;
  ring->keys[i] = key;
  ring->waiting[ring->num_waiting++] = i;
  pthread_cond_signal(&ring->changed);
  pthread_mutex_unlock(&ring->lock);
}

/* Runs all handshakes on this thread; those that wait are passed over. */
static void run_handshakes(Ring *ring, Pair *pairs) {
  const double until = seconds_now() + 120;
  bool suspended[HANDSHAKES] = {false}, done[HANDSHAKES] = {false};
  int left = HANDSHAKES;
  while (left > 0 && seconds_now() < until) {
    for (int i = 0; i < HANDSHAKES; i++) {
      if (done[i] || (suspended[i] && !atomic_load(&ring->signed_[i]))) continue;
      if (suspended[i]) pairs[i].client.status = pairs[i].server.status = SST_NEED_INPUT;
      const sst_status status = pair_handshake(&pairs[i]);
      suspended[i] = status == SST_WANT_PRIVATE_KEY_OPERATION;
      if (suspended[i]) {
        const bool client = pairs[i].client.status == SST_WANT_PRIVATE_KEY_OPERATION;
        hand_in(ring, i, client ? &pairs[i].client : &pairs[i].server, client ? "client-p256" : "server-p256");
        continue;
      }
      EXPECT_STATUS(status, SST_OK);
      done[i] = true;
      left--;
    }
  }
  EXPECT_EQ(left, 0);
}

TEST_VERSIONS(question_thread, ring_of_signers_serves_many_handshakes) {
  static Ring ring;
  static Pair pairs[HANDSHAKES];
  pthread_t threads[SIGNERS];
  openssl_signer_load();
  ring = (Ring){.closed = false};
  pthread_mutex_init(&ring.lock, NULL);
  pthread_cond_init(&ring.changed, NULL);
  sst_credential *of_server = answer_credential("server-p256", 0x0403),
                 *of_client = answer_credential("client-p256", 0);
  sst_config *server = pair_config(
      &(SideOptions){.credential = "", .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE}, SST_ROLE_SERVER);
  sst_config *client = pair_config(&(SideOptions){.max_version = version}, SST_ROLE_CLIENT);
  EXPECT_STATUS(sst_config_add_credential(server, of_server), SST_OK);
  EXPECT_STATUS(sst_config_add_credential(client, of_client), SST_OK);
  for (int i = 0; i < HANDSHAKES; i++)
    pairs[i] = pair_new(.client = {.config = client}, .server = {.config = server});
  for (int i = 0; i < SIGNERS; i++)
    threads[i] = thread_start(run_signer, &ring);
  run_handshakes(&ring, pairs);
  pthread_mutex_lock(&ring.lock);
  ring.closed = true;
  pthread_cond_broadcast(&ring.changed);
  pthread_mutex_unlock(&ring.lock);
  for (int i = 0; i < SIGNERS; i++)
    thread_join(threads[i]);
  for (int i = 0; i < HANDSHAKES; i++) {
    pair_echo(&pairs[i], 100);
    pair_free(&pairs[i]);
  }
  sst_config_free(server);
  sst_config_free(client);
  sst_credential_free(of_server);
  sst_credential_free(of_client);
}
