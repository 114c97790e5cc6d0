/*
 * What several threads may do with one stream and one config, and what happens when they do more than they may.
 */
#include "bare.h"
#include "channel.h"
#include "met.h"
#include "pair.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8 };

/* ---- two senders at once: the second gets BUSY, and what is accepted arrives ---- */

enum { MOST_CALLS = 20000, MOST_LEN = 3000, ROOM = 4000, EXPLICIT_NONCE = 8 };

/* What one accepted call took and gave. TLS 1.2 with GCM writes the number of each record into it (RFC 5288, 3), which
   tells the order of calls of several threads. */
typedef struct Accepted {
  uint64_t number;
  uint8_t tag;
  size_t taken, produced;
  uint8_t *wire;
} Accepted;

typedef struct Sender {
  sst_stream *stream;
  uint8_t tag;
  pthread_barrier_t *start;
  double until;
  Accepted *calls;
  size_t count, busy;
} Sender;

static uint64_t number_of(const uint8_t *record) {
  uint64_t number = 0;
  for (int i = 0; i < EXPLICIT_NONCE; i++)
    number = number << 8 | record[RECORD_HEADER + i];
  return number;
}

static bool is_zero(const sst_progress *done) {
  return done->consumed + done->produced + done->needed + done->waiting + done->flags == 0;
}

static void *run_second_sender(void *argument) {
  Sender *sender = argument;
  uint8_t data[MOST_LEN], wire[ROOM];
  memset(data, sender->tag, sizeof data);
  pthread_barrier_wait(sender->start);
  for (size_t i = 0; sender->count < MOST_CALLS && seconds_now() < sender->until; i++) {
    sst_progress done;
    memset(&done, 0xff, sizeof done);
    const sst_status status =
        sst_stream_encrypt(sender->stream, data, 1 + i * 97 % MOST_LEN, wire, 100 + i * 31 % (ROOM - 100), &done);
    if (status == SST_ERR_BUSY) {
      met_status(status);
      EXPECT(is_zero(&done));
      sender->busy++;
      continue;
    }
    if (!EXPECT(status == SST_OK || status == SST_NEED_OUTPUT)) break;
    if (done.produced == 0) continue;
    Accepted *call = &sender->calls[sender->count++];
    *call = (Accepted){number_of(wire), sender->tag, done.consumed, done.produced, malloc(done.produced)};
    memcpy(call->wire, wire, done.produced);
  }
  return NULL;
}

static int compare_numbers(const void *a, const void *b) {
  const uint64_t left = ((const Accepted *)a)->number, right = ((const Accepted *)b)->number;
  return left < right ? -1 : left > right;
}

/* The peer reads, in the order of the calls, just what each of them has taken. */
static void expect_all_arrives(Pair *pair, Accepted *calls, size_t count) {
  qsort(calls, count, sizeof *calls, compare_numbers);
  for (size_t i = 0; i < count; i++) {
    wire_insert(pair->server.in, calls[i].wire, calls[i].produced);
    REQUIRE_STATUS(side_receive(&pair->server), SST_NEED_INPUT);
    REQUIRE_EQ(pair->server.received_len, calls[i].taken);
    for (size_t k = 0; k < calls[i].taken; k++)
      REQUIRE_EQ(pair->server.received[k], calls[i].tag);
    pair->server.received_len = 0;
    free(calls[i].wire);
  }
}

TEST(thread, of_two_senders_one_may_be_busy_and_nothing_is_lost_tls12) {
  Pair pair = pair_open(.client = {.max_version = SST_TLS1_2, .suites = {0xc02b}, .max_fragment = 1000});
  pthread_barrier_t start;
  pthread_barrier_init(&start, NULL, 2);
  Accepted *calls = test_allocate(2 * MOST_CALLS * sizeof *calls);
  Sender senders[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) {
    senders[i] = (Sender){pair.client.stream,
                          (uint8_t)('a' + i),
                          &start,
                          seconds_now() + thread_seconds() / 2,
                          calls + i * MOST_CALLS,
                          0,
                          0};
    threads[i] = thread_start(run_second_sender, &senders[i]);
  }
  for (int i = 0; i < 2; i++)
    thread_join(threads[i]);
  EXPECT_AT_LEAST(senders[0].count, 10);
  EXPECT_AT_LEAST(senders[1].count, 10);
  memmove(calls + senders[0].count, calls + MOST_CALLS, senders[1].count * sizeof *calls);
  expect_all_arrives(&pair, calls, senders[0].count + senders[1].count);
  pair_echo(&pair, 100);
  free(calls);
  pthread_barrier_destroy(&start);
  pair_free(&pair);
}

/* ---- any pair of calls: what does not fit is BUSY and changes nothing ---- */

typedef struct Meddler {
  sst_stream *stream;
  atomic_bool stop;
  size_t busy, ok;
} Meddler;

/* Calls of both sets that move no byte. */
static void *run_meddler(void *argument) {
  Meddler *meddler = argument;
  for (uint32_t i = 0; !atomic_load(&meddler->stop); i++) {
    sst_progress done;
    sst_status status;
    switch (i % 5) {
      case 0:
        status = sst_stream_encrypt(meddler->stream, NULL, 0, NULL, 0, &done);
        break;
      case 1:
        status = sst_stream_flush(meddler->stream, NULL, 0, &done);
        break;
      case 2:
        status = sst_stream_handshake(meddler->stream, NULL, 0, NULL, 0, &done);
        break;
      case 3:
        status = sst_stream_decrypt(meddler->stream, NULL, 0, NULL, 0, &done);
        break;
      default:
        status = sst_stream_key_update(meddler->stream, 2); /* refused before it could change anything */
        done = (sst_progress){0};
        EXPECT_STATUS(status, SST_ERR_INVALID_ARGUMENT);
        continue;
    }
    if (status == SST_ERR_BUSY) {
      EXPECT(is_zero(&done));
      meddler->busy++;
    } else {
      EXPECT(status == SST_OK || status == SST_NEED_INPUT);
      meddler->ok++;
    }
  }
  return NULL;
}

/* The one that works repeats what was BUSY. */
static void works_beside_a_meddler(uint16_t version) {
  enum { LEN = 20000, WIRE = LEN + 2 * SST_RECORD_MAX };
  Pair pair = pair_open(.client = {.max_version = version});
  Meddler meddler = {.stream = pair.client.stream};
  uint8_t *data = test_allocate(LEN), *wire = test_allocate(WIRE);
  pattern_fill(data, LEN, 3);
  const pthread_t thread = thread_start(run_meddler, &meddler);
  const double until = seconds_now() + thread_seconds() / 2;
  size_t busy = 0;
  while (seconds_now() < until) {
    sst_progress done;
    const sst_status status = sst_stream_encrypt(pair.client.stream, data, LEN, wire, WIRE, &done);
    if (status == SST_ERR_BUSY) {
      REQUIRE(is_zero(&done));
      busy++;
      continue;
    }
    REQUIRE_STATUS(status, SST_OK);
    wire_insert(pair.server.in, wire, done.produced);
    REQUIRE_STATUS(side_receive(&pair.server), SST_NEED_INPUT);
    EXPECT_RECEIVED(&pair.server, data, LEN);
    pair.server.in->len = pair.server.in->taken = 0;
  }
  atomic_store(&meddler.stop, true);
  thread_join(thread);
  EXPECT_AT_LEAST(meddler.ok, 1);
  EXPECT_AT_LEAST(busy + meddler.busy, 1);
  free(data);
  free(wire);
  pair_free(&pair);
}

TEST_VERSIONS(thread, calls_that_do_not_fit_are_busy_and_change_nothing) {
  works_beside_a_meddler(version);
}

/* ---- one config, many threads ---- */

typedef struct Maker {
  sst_config *client, *server;
  pthread_barrier_t *start;
  double until;
  size_t rounds;
} Maker;

static void *run_maker(void *argument) {
  Maker *maker = argument;
  Bare *bare = malloc(sizeof *bare);
  uint8_t data[1000], out[1000];
  pattern_fill(data, sizeof data, 1);
  pthread_barrier_wait(maker->start);
  do {
    bool good = EXPECT_STATUS(bare_new(bare, maker->client, maker->server), SST_OK);
    good = good && EXPECT_STATUS(bare_handshake(bare), SST_OK);
    good = good && EXPECT_STATUS(bare_echo(bare, data, sizeof data, out), SST_OK);
    good = good && EXPECT_STATUS(bare_close(bare), SST_OK);
    bare_end(bare);
    if (!good) break;
    maker->rounds++;
  } while (seconds_now() < maker->until);
  free(bare);
  sst_config_free(maker->client);
  sst_config_free(maker->server);
  return NULL;
}

/* Each thread has a reference of its own, and the first streams freeze the configs, all at once. */
static void make_from(sst_config *client, sst_config *server, double seconds) {
  pthread_barrier_t start;
  pthread_barrier_init(&start, NULL, THREADS);
  Maker makers[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    makers[i] = (Maker){sst_config_ref(client), sst_config_ref(server), &start, seconds_now() + seconds, 0};
    threads[i] = thread_start(run_maker, &makers[i]);
  }
  sst_config_free(client);
  sst_config_free(server);
  for (int i = 0; i < THREADS; i++) {
    thread_join(threads[i]);
    EXPECT_AT_LEAST(makers[i].rounds, 1);
  }
  pthread_barrier_destroy(&start);
}

TEST_VERSIONS(thread, eight_threads_shake_hands_from_one_config) {
  const uint64_t objects = sst_live_objects();
  make_from(pair_config(&(SideOptions){.max_version = version, .credential = "client-p256"}, SST_ROLE_CLIENT),
            pair_config(&(SideOptions){.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE}, SST_ROLE_SERVER),
            thread_seconds() / 2);
  EXPECT_EQ(sst_live_objects(), objects);
}

/* Many configs, each of which is frozen by eight threads at the same moment. */
TEST(thread, freezing_by_the_first_streams_races_with_itself) {
  const uint64_t objects = sst_live_objects();
  for (int round = 0; round < 20; round++) {
    make_from(pair_config(&(SideOptions){.alpn = {"h2"}}, SST_ROLE_CLIENT),
              pair_config(&(SideOptions){.alpn = {"h2"}}, SST_ROLE_SERVER), 0);
  }
  EXPECT_EQ(sst_live_objects(), objects);
}

typedef struct Freezer {
  sst_config *config;
  pthread_barrier_t *start;
  int number;
} Freezer;

/* The calls that a shared config allows from any thread. Without a credential every server fails, and says why. */
static void *run_freezer(void *argument) {
  const Freezer *freezer = argument;
  pthread_barrier_wait(freezer->start);
  sst_stream *stream = NULL;
  sst_error error = {.size = sizeof error};
  switch (freezer->number % 4) {
    case 0:
      EXPECT_STATUS(sst_stream_new(freezer->config, SST_ROLE_SERVER, &stream), SST_ERR_NO_CREDENTIAL);
      EXPECT(stream == NULL);
      break;
    case 1:
      EXPECT_STATUS(sst_config_freeze(freezer->config, SST_ROLE_BOTH), SST_ERR_NO_CREDENTIAL);
      EXPECT_STATUS(sst_config_last_error(freezer->config, &error), SST_OK);
      EXPECT_STATUS(error.code, SST_ERR_NO_CREDENTIAL);
      break;
    case 2:
      EXPECT_STATUS(sst_stream_new(freezer->config, SST_ROLE_CLIENT, &stream), SST_OK);
      sst_stream_free(stream);
      break;
    default: {
      sst_config *copy = sst_config_copy(freezer->config);
      EXPECT(copy != NULL);
      EXPECT_STATUS(sst_config_set_max_fragment(copy, 600), SST_OK); /* a copy is not frozen */
      sst_config_free(copy);
    }
  }
  return NULL;
}

TEST(thread, freezing_failing_and_copying_race) {
  for (int round = 0; round < 50; round++) {
    sst_config *config = pair_config(&(SideOptions){.alpn = {"h2"}}, SST_ROLE_CLIENT);
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, THREADS);
    Freezer freezers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
      freezers[i] = (Freezer){config, &start, i};
      threads[i] = thread_start(run_freezer, &freezers[i]);
    }
    for (int i = 0; i < THREADS; i++)
      thread_join(threads[i]);
    EXPECT_STATUS(sst_config_set_max_fragment(config, 600), SST_ERR_FROZEN);
    pthread_barrier_destroy(&start);
    sst_config_free(config);
  }
}

/* ---- an end from the other thread ---- */

typedef struct Reader {
  sst_stream *stream;
  const uint8_t *wire;
  size_t len;
  size_t received;
  sst_status last;
  pthread_barrier_t *start;
} Reader;

/* Reads records one by one until the stream has failed. */
static void *run_reader(void *argument) {
  Reader *reader = argument;
  uint8_t out[1000];
  pthread_barrier_wait(reader->start);
  reader->last = SST_NEED_INPUT;
  const double until = seconds_now() + 20;
  for (size_t at = 0; reader->last == SST_NEED_INPUT || reader->last == SST_NEED_OUTPUT;) {
    sst_progress done;
    if (!EXPECT(seconds_now() < until)) break;
    reader->last = sst_stream_decrypt(reader->stream, reader->wire + at, reader->len - at, out, 100, &done);
    at += done.consumed;
    reader->received += done.produced;
  }
  return NULL;
}

/* What was received before the abort is read, nothing after it, and the alert goes out once. */
TEST_VERSIONS(thread, abort_while_the_other_thread_decrypts) {
  enum { LEN = 20000, ROUNDS = 50 };
  uint8_t *data = test_allocate(LEN);
  pattern_fill(data, LEN, 1);
  for (int round = 0; round < ROUNDS; round++) {
    Pair pair = pair_open(.client = {.max_version = version, .max_fragment = 512});
    EXPECT_STATUS(side_send(&pair.client, data, LEN), SST_OK);
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, 2);
    Reader reader = {.stream = pair.server.stream, .wire = wire_head(pair.server.in), .start = &start};
    reader.len = wire_waiting(pair.server.in);
    const pthread_t thread = thread_start(run_reader, &reader);
    pthread_barrier_wait(&start);
    EXPECT_STATUS(sst_stream_abort(pair.server.stream, 90), SST_OK);
    thread_join(thread); /* side.h looks at both sides of a stream */
    EXPECT_STATUS(side_flush(&pair.server), SST_OK);
    REQUIRE_STATUS(reader.last, SST_ERR_ABORTED);
    EXPECT_AT_MOST(reader.received, LEN);
    EXPECT_STATUS(side_receive(&pair.client), SST_ERR_ALERT_RECEIVED - 90);
    pthread_barrier_destroy(&start);
    pair_free(&pair);
  }
  free(data);
}
