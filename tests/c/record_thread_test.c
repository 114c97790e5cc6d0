/* White-box: one thread sends while another receives, over keys that carry a few records, with the stream's lock held
   by neither; and failures of one side in the middle of the other's work: the alert is the last word, and there is one. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "forge.h"
#include "stream.h"
#include "tls/internal.h"

enum { LIMIT = 3, MOST = 3000, WIRE = 4 * SST_RECORD_MAX, ROUNDS = 150 };

static void only_on_our_path(void) {
  if (sst__keeps_ssl()) SKIP("BoringSSL's SSL needs the lock");
}

typedef struct End {
  sst_stream *stream;
  Channel *out, *in;
  double until;
  Keys expected[2];        /* of each direction, as far as the observer has seen them */
  unsigned generations[2]; /* how many it has seen */
  uint64_t sent, received, calls;
  atomic_bool done;
} End;

static uint8_t byte_at(uint64_t offset) {
  return (uint8_t)(offset * 31 + (offset >> 8));
}

/* ---- both ends at work ---- */

static void *run_sender(void *argument) {
  End *end = argument;
  uint8_t *data = malloc(MOST), *wire = malloc(WIRE);
  sst_progress done;
  for (uint64_t round = 0; seconds_now() < end->until; round++) {
    const size_t len = (size_t)(round * 37 % MOST);
    for (size_t i = 0; i < len; i++)
      data[i] = byte_at(end->sent + i);
    /* Room for little now and then, so that answers wait in the queue. */
    const sst_status status = sst_stream_encrypt(end->stream, data, len, wire, round % 5 == 0 ? 60 : WIRE, &done);
    if (!EXPECT(status == SST_OK || status == SST_NEED_OUTPUT)) break;
    channel_put(end->out, wire, done.produced);
    end->sent += done.consumed;
    if (round % 4 == 1) EXPECT_STATUS(sst_stream_key_update(end->stream, round % 8 == 1), SST_OK);
    if (round % 4 == 3) {
      EXPECT_STATUS(sst_stream_flush(end->stream, wire, WIRE, &done), SST_OK);
      channel_put(end->out, wire, done.produced);
    }
  }
  EXPECT_STATUS(sst_stream_close(end->stream, wire, WIRE, &done), SST_OK);
  channel_put(end->out, wire, done.produced);
  channel_close(end->out);
  free(data);
  free(wire);
  return NULL;
}

static void *run_receiver(void *argument) {
  End *end = argument;
  uint8_t *wire = malloc(WIRE), *out = malloc(WIRE);
  sst_status status = SST_NEED_INPUT;
  for (size_t got = 1; got > 0 && status == SST_NEED_INPUT; end->calls++) {
    got = channel_take(end->in, wire, 1 + end->calls * 97 % 5000);
    sst_progress done;
    size_t used = 0;
    do {
      status = sst_stream_decrypt(end->stream, wire + used, got - used, out, 1 + end->calls % 2 * WIRE / 2, &done);
      used += done.consumed;
      for (size_t i = 0; i < done.produced; i++)
        EXPECT(out[i] == byte_at(end->received + i));
      end->received += done.produced;
    } while (status == SST_NEED_OUTPUT);
  }
  EXPECT_STATUS(status, SST_CLOSED);
  free(wire);
  free(out);
  return NULL;
}

/* What is read while the other threads change it is whole: one of the generations to come. */
static void see_secret(End *end, int32_t direction) {
  enum { MOST_STEPS = 100000 };
  Keys *keys = &end->expected[direction];
  uint8_t secret[SECRET_MAX];
  size_t len = 0;
  EXPECT_STATUS(sst_stream_traffic_secret(end->stream, direction, secret, sizeof secret, &len), SST_OK);
  if (memcmp(secret, keys->secret, len) == 0) return;
  end->generations[direction]++;
  for (int i = 0; i < MOST_STEPS; i++) {
    keys_update(keys);
    if (memcmp(secret, keys->secret, len) == 0) return;
  }
  FAIL("a traffic secret that is none");
}

static void *run_observer(void *argument) {
  End *end = argument;
  while (!atomic_load(&end->done)) {
    see_secret(end, SST_DIRECTION_SEND);
    see_secret(end, SST_DIRECTION_RECEIVE);
    uint8_t key[32];
    EXPECT_STATUS(sst_stream_export_key(end->stream, "l", 1, NULL, 0, key, sizeof key), SST_OK);
    sst_error error = {.size = sizeof error};
    EXPECT_STATUS(sst_stream_last_error(end->stream, &error), SST_OK);
    EXPECT_STATUS(error.code, SST_OK);
    for (int32_t i = 0; i <= SST_COUNTER_EVENTS_LOST; i++)
      (void)sst_stream_counter(end->stream, i);
    EXPECT_AT_MOST(sst_stream_output_size(end->stream), WIRE);
    EXPECT_AT_MOST(sst_stream_plaintext_size(end->stream), 16384);
    EXPECT_AT_LEAST(sst_stream_encrypted_size(end->stream, 1), 1);
    EXPECT((sst_stream_state(end->stream) & SST_STATE_OPEN) != 0);
  }
  return NULL;
}

static void expect_ended_well(const End *end, const End *other) {
  EXPECT_EQ(end->received, other->sent);
  EXPECT_AT_LEAST(end->sent, 10000);
  EXPECT_AT_LEAST(end->generations[SST_DIRECTION_SEND], 1);
  EXPECT_AT_LEAST(end->generations[SST_DIRECTION_RECEIVE], 1);
  EXPECT_AT_LEAST(sst_stream_counter(end->stream, SST_COUNTER_KEY_UPDATES_SENT), 50);
  EXPECT_EQ(sst_stream_counter(end->stream, SST_COUNTER_KEY_UPDATES_RECEIVED),
            sst_stream_counter(other->stream, SST_COUNTER_KEY_UPDATES_SENT));
  EXPECT_EQ(sst_stream_state(end->stream), SST_STATE_OPEN | SST_STATE_WE_CLOSED | SST_STATE_PEER_CLOSED);
}

/* Who took the lock would never come back. */
TEST(record_thread, both_sides_of_both_ends_change_keys_without_the_lock_tls13) {
  only_on_our_path();
  sst_config *configs[2];
  for (int i = 0; i < 2; i++) {
    configs[i] =
        pair_config(&(SideOptions){.report = 1u << SST_EVENT_KEYS_UPDATED | FORGE_EVENTS, .max_fragment = 1024},
                    i == 0 ? SST_ROLE_CLIENT : SST_ROLE_SERVER);
    EXPECT_STATUS(sst_config_set_key_update_limit(configs[i], LIMIT), SST_OK);
  }
  Pair pair = pair_open(.client = {.config = configs[0]}, .server = {.config = configs[1]});
  Secrets secrets = {.count = 0};
  secrets_read(&secrets, &pair.client);
  Channel to_server, to_client;
  channel_init(&to_server);
  channel_init(&to_client);
  const double until = seconds_now() + thread_seconds() / 2;
  End ends[2] = {{.stream = pair.client.stream, .out = &to_server, .in = &to_client, .until = until},
                 {.stream = pair.server.stream, .out = &to_client, .in = &to_server, .until = until}};
  for (int i = 0; i < 2; i++) {
    ends[i].expected[SST_DIRECTION_SEND] =
        secrets_keys(&secrets, &pair, EPOCH_DATA, i == 0 ? SST_ROLE_CLIENT : SST_ROLE_SERVER);
    ends[1 - i].expected[SST_DIRECTION_RECEIVE] = ends[i].expected[SST_DIRECTION_SEND];
  }
  pthread_t threads[2][3];
  for (int i = 0; i < 2; i++) {
    pthread_mutex_lock(&ends[i].stream->lock);
    threads[i][0] = thread_start(run_sender, &ends[i]);
    threads[i][1] = thread_start(run_receiver, &ends[i]);
    threads[i][2] = thread_start(run_observer, &ends[i]);
  }
  for (int i = 0; i < 4; i++)
    thread_join(threads[i / 2][i % 2]);
  for (int i = 0; i < 2; i++) {
    atomic_store(&ends[i].done, true);
    thread_join(threads[i][2]);
    pthread_mutex_unlock(&ends[i].stream->lock);
    expect_ended_well(&ends[i], &ends[1 - i]);
  }
  channel_destroy(&to_server);
  channel_destroy(&to_client);
  pair_free(&pair);
  for (int i = 0; i < 2; i++)
    sst_config_free(configs[i]);
}

/* ---- failures in the middle ---- */

typedef struct Attack {
  Forged *forged;
  atomic_int ready;
  sst_status status;
} Attack;

/* Both threads begin at the same moment. */
static void meet(Attack *attack) {
  atomic_fetch_add(&attack->ready, 1);
  while (atomic_load(&attack->ready) < 2)
    continue;
}

/* The victim reads a record that does not open. */
static void *run_bad_record(void *argument) {
  Attack *attack = argument;
  Side *victim = attack->forged->forge.victim;
  const Data record = keys_seal(&attack->forged->forge.send, 99, "x", 1);
  uint8_t out[100];
  sst_progress done;
  meet(attack);
  attack->status = sst_stream_decrypt(victim->stream, record.bytes, record.len, out, sizeof out, &done);
  free(record.bytes);
  return NULL;
}

/* "d" for data, "a10" for an alert of that number; data in a row counts once. */
static void hear(Forge *forge, char *text, size_t cap) {
  char all[16384], *last = NULL;
  size_t used = 0;
  text[0] = '\0';
  Record record;
  Wire *wire = forge->victim->out;
  while (records_parse(wire_head(wire), wire_waiting(wire), &record, 1) > 0) {
    const size_t len = RECORD_HEADER + (size_t)record.length;
    const Opened opened = keys_open(&forge->hear, wire_head(wire), len);
    if (opened.type == RECORD_APPLICATION_DATA && (used == 0 || last[0] != 'd')) {
      last = all + used;
      used += (size_t)snprintf(all + used, sizeof all - used, "d");
    } else if (opened.type == RECORD_ALERT) {
      last = all + used;
      used += (size_t)snprintf(all + used, sizeof all - used, "a%u", opened.plaintext.bytes[1]);
    }
    free(opened.plaintext.bytes);
    wire->taken += len;
  }
  all[used] = '\0';
  const size_t len = used < cap ? used : cap - 1;
  memcpy(text, all, len);
  text[len] = 0;
}

/* What the sending side does meanwhile; it ends when the stream has failed, or with its own last word. */
typedef void (*Work)(Side *victim);

static Forged *attack(uint16_t version, Work work) {
  Attack attack = {.forged = forged_open(version, SST_ROLE_SERVER, &(PairOptions){.first = 0})};
  Side *victim = attack.forged->forge.victim;
  pthread_t thread = thread_start(run_bad_record, &attack);
  meet(&attack);
  work(victim);
  thread_join(thread);
  EXPECT(attack.status == SST_ERR_UNEXPECTED_MESSAGE || attack.status == SST_ERR_ABORTED);
  EXPECT_STATUS(side_flush(victim), SST_OK);
  return attack.forged;
}

static void encrypt_until_failure(Side *victim) {
  sst_status status = SST_OK;
  uint8_t wire[100];
  sst_progress done;
  while (status == SST_OK) {
    status = sst_stream_encrypt(victim->stream, (const uint8_t *)"x", 1, wire, sizeof wire, &done);
    wire_write(victim->out, wire, done.produced);
  }
  EXPECT_STATUS(status, SST_ERR_UNEXPECTED_MESSAGE);
}

TEST_VERSIONS(record_thread, no_data_stands_behind_the_alert_of_the_other_side) {
  only_on_our_path();
  for (int round = 0; round < ROUNDS && !test_failed(); round++) {
    Forged *forged = attack(version, encrypt_until_failure);
    char heard[64];
    hear(&forged->forge, heard, sizeof heard);
    EXPECT_STRING(heard[0] == 'd' ? heard + 1 : heard, "a10");
    EXPECT_EQ(error_of(forged->forge.victim).alert_sent, 10);
    forged_free(forged);
  }
}

/* Some time between none and what the other thread takes for its call: they meet at every place of it. */
static void wait_a_little(void) {
  static unsigned turn;
  turn = turn * 73 + 1;
  for (volatile unsigned i = turn / 16 % 1500; i > 0; i--)
    continue;
}

static void close_now(Side *victim) {
  uint8_t wire[100];
  sst_progress done;
  wait_a_little();
  const sst_status status = sst_stream_close(victim->stream, wire, sizeof wire, &done);
  EXPECT_STATUS(status, SST_OK);
  wire_write(victim->out, wire, done.produced);
}

/* close_notify or the alert, never both; and the record of the failure knows which. */
TEST_VERSIONS(record_thread, one_last_word_when_close_meets_a_failure) {
  int alerts = 0;
  only_on_our_path();
  for (int round = 0; round < ROUNDS && !test_failed(); round++) {
    Forged *forged = attack(version, close_now);
    char heard[64];
    hear(&forged->forge, heard, sizeof heard);
    const int32_t alert = error_of(forged->forge.victim).alert_sent;
    EXPECT_STRING(heard, alert == 10 ? "a10" : "a0");
    EXPECT(alert == 10 || alert == -1);
    alerts += alert == 10 ? 1 : 0;
    forged_free(forged);
  }
  printf("%d times close_notify, %d times an alert\n", ROUNDS - alerts, alerts);
}

/* The moment between the two, which the threads seldom hit: the receiving side has taken the last word, and the stream
   has not failed yet. */
TEST_VERSIONS(record_thread, close_writes_nothing_when_the_other_side_has_the_last_word) {
  only_on_our_path();
  Pair pair = pair_open(.client = {.max_version = version});
  static const sst_error failure = {.size = sizeof failure, .code = SST_ERR_DECODE, .alert_sent = 50};
  EXPECT(sst__due_end(&pair.client.stream->due, &failure));
  EXPECT_STATUS(side_call(&pair.client, CALL_CLOSE, NULL, 0, 100), SST_OK);
  EXPECT_EQ(pair.client.progress.produced, 0);
  EXPECT_EQ(sst_stream_output_size(pair.client.stream), 0);
  EXPECT_STATUS(side_call(&pair.client, CALL_ENCRYPT, (const uint8_t *)"x", 1, 100), SST_ERR_CLOSED);
  atomic_store(&pair.client.stream->due.end, NULL); /* the stream would free it */
  pair_free(&pair);
}

static void abort_now(Side *victim) {
  wait_a_little();
  const sst_status status = sst_stream_abort(victim->stream, 80);
  EXPECT(status == SST_OK || status == SST_ERR_UNEXPECTED_MESSAGE);
}

/* Of two failures at once one is told, by one alert, its own. */
TEST_VERSIONS(record_thread, one_alert_when_abort_meets_a_failure) {
  int aborts = 0;
  only_on_our_path();
  for (int round = 0; round < ROUNDS && !test_failed(); round++) {
    Forged *forged = attack(version, abort_now);
    char heard[64];
    hear(&forged->forge, heard, sizeof heard);
    const sst_error error = error_of(forged->forge.victim);
    const bool aborted = error.code == SST_ERR_ABORTED;
    EXPECT_STRING(heard, aborted ? "a80" : "a10");
    EXPECT_STATUS(error.code, aborted ? SST_ERR_ABORTED : SST_ERR_UNEXPECTED_MESSAGE);
    EXPECT_EQ(error.alert_sent, aborted ? 80 : 10);
    aborts += aborted ? 1 : 0;
    forged_free(forged);
  }
  printf("%d times the abort, %d times the bad record\n", aborts, ROUNDS - aborts);
}
