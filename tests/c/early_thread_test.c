/*
 * 0-RTT and threads: until it is confirmed a stream is for one thread, and a second one is told so, whatever it calls
 * and whenever; afterwards one sends while another receives.
 */
#include <stdatomic.h>
#include <string.h>

#include "channel.h"
#include "early.h"

enum { WIRE = 100000, RECORDS = 300, SIZE = 200 };

/* ---- a second thread that does not keep to the rule ---- */

typedef struct Intruder {
  sst_stream *stream;
  atomic_bool stop;
  uint64_t busy, refused, queued;
} Intruder;

static void look(const sst_stream *stream) {
  sst_error error = {.size = sizeof error};
  (void)sst_stream_state(stream);
  (void)sst_stream_early_data_left(stream);
  (void)sst_stream_counter(stream, SST_COUNTER_BYTES_DECRYPTED);
  (void)sst_stream_last_error(stream, &error);
}

/* Changes nothing before the handshake is over, and one KeyUpdate then. */
static void *run_intruder(void *argument) {
  Intruder *intruder = argument;
  while (!atomic_load(&intruder->stop) && intruder->queued == 0) {
    const sst_status status = sst_stream_key_update(intruder->stream, 0);
    if (status == SST_ERR_BUSY) {
      intruder->busy++;
    } else if (status == SST_ERR_STATE) {
      intruder->refused++;
    } else {
      EXPECT_STATUS(status, SST_OK);
      intruder->queued++;
    }
    look(intruder->stream);
  }
  return NULL;
}

/* What one side has said and the other not read. */
typedef struct Bytes {
  uint8_t bytes[WIRE];
  size_t begin, end;
} Bytes;

typedef struct Rig {
  sst_stream *stream;
  Bytes *in, *out;
} Rig;

/* One call, again and again while the intruder is in. */
static sst_status call(const Rig *rig, Call call, const void *data, size_t len, sst_progress *done) {
  sst_status status;
  do {
    uint8_t *out = rig->out->bytes + rig->out->end;
    const size_t room = WIRE - rig->out->end;
    status = call == CALL_HANDSHAKE ? sst_stream_handshake(rig->stream, rig->in->bytes + rig->in->begin,
                                                           rig->in->end - rig->in->begin, out, room, done)
             : call == CALL_ENCRYPT ? sst_stream_encrypt(rig->stream, data, len, out, room, done)
                                    : sst_stream_flush(rig->stream, out, room, done);
  } while (status == SST_ERR_BUSY);
  rig->out->end += done->produced;
  if (call == CALL_HANDSHAKE) rig->in->begin += done->consumed;
  return status;
}

static sst_status receive(const Rig *rig, uint8_t *out, size_t cap, sst_progress *done) {
  sst_status status;
  do {
    status =
        sst_stream_decrypt(rig->stream, rig->in->bytes + rig->in->begin, rig->in->end - rig->in->begin, out, cap, done);
  } while (status == SST_ERR_BUSY);
  rig->in->begin += done->consumed;
  return status;
}

static void converse(const Rig *client, const Rig *server) {
  static uint8_t out[2 * SST_RECORD_MAX];
  sst_progress done;
  EXPECT_STATUS(call(client, CALL_HANDSHAKE, NULL, 0, &done), SST_NEED_INPUT);
  EXPECT_STATUS(call(client, CALL_ENCRYPT, "early", 5, &done), SST_OK);
  EXPECT_STATUS(call(server, CALL_HANDSHAKE, NULL, 0, &done), SST_OK);
  EXPECT_STATUS(receive(server, out, sizeof out, &done), SST_NEED_INPUT);
  EXPECT_BYTES(out, done.produced, "early", 5);
  EXPECT_EQ(done.flags & SST_EARLY_DATA, SST_EARLY_DATA);
  EXPECT_STATUS(call(server, CALL_ENCRYPT, "answer", 6, &done), SST_OK);
  EXPECT_STATUS(call(client, CALL_HANDSHAKE, NULL, 0, &done), SST_OK);
  EXPECT_STATUS(receive(client, out, sizeof out, &done), SST_NEED_INPUT);
  EXPECT_BYTES(out, done.produced, "answer", 6);
  EXPECT_STATUS(receive(server, out, sizeof out, &done), SST_NEED_INPUT); /* the confirmation */
  EXPECT_STATUS(call(client, CALL_ENCRYPT, "later", 5, &done), SST_OK);
  EXPECT_STATUS(receive(server, out, sizeof out, &done), SST_NEED_INPUT);
  EXPECT_BYTES(out, done.produced, "later", 5);
  EXPECT_EQ(done.flags & SST_EARLY_DATA, 0);
}

TEST(early_thread, second_thread_is_told_that_it_is_busy_and_changes_nothing) {
  static Bytes to_server, to_client;
  Early early = early_prepare(EARLY_TAKEN, &(PairOptions){.first = 0});
  uint64_t busy = 0, refused = 0;
  const double until = seconds_now() + thread_seconds();
  for (int i = 0; (i < 20 || seconds_now() < until) && !test_failed(); i++) {
    early_start(&early);
    to_server.begin = to_server.end = to_client.begin = to_client.end = 0;
    const Wire *hello = early.pair.client.out;
    memcpy(to_server.bytes, hello->bytes, hello->len);
    to_server.end = hello->len;
    const Rig client = {early.pair.client.stream, &to_client, &to_server};
    const Rig server = {early.pair.server.stream, &to_server, &to_client};
    Intruder intruders[2] = {{.stream = client.stream}, {.stream = server.stream}};
    const pthread_t threads[2] = {thread_start(run_intruder, &intruders[0]), thread_start(run_intruder, &intruders[1])};
    converse(&client, &server);
    for (int k = 0; k < 2; k++) {
      atomic_store(&intruders[k].stop, true);
      thread_join(threads[k]);
      busy += intruders[k].busy;
      refused += intruders[k].refused;
    }
    early_stop(&early);
  }
  EXPECT_AT_LEAST(refused + busy, 1);
  early_free(&early);
}

/* ---- both directions, once it is confirmed ---- */

typedef struct Sender {
  sst_stream *stream;
  Bytes *out;
} Sender;

static void *run_sender(void *argument) {
  const Sender *sender = argument;
  uint8_t data[SIZE];
  sst_progress done;
  for (int i = 0; i < RECORDS; i++) {
    memset(data, i, sizeof data);
    EXPECT_STATUS(sst_stream_encrypt(sender->stream, data, sizeof data, sender->out->bytes + sender->out->end,
                                     WIRE - sender->out->end, &done),
                  SST_OK);
    sender->out->end += done.produced;
  }
  return NULL;
}

static void expect_records(sst_stream *stream, Bytes *in) {
  uint8_t data[SIZE], out[SIZE];
  sst_progress done;
  for (int i = 0; i < RECORDS && !test_failed(); i++) {
    memset(data, i, sizeof data);
    const sst_status status = sst_stream_decrypt(stream, in->bytes + in->begin, in->end - in->begin, out, SIZE, &done);
    EXPECT_STATUS(status, i + 1 < RECORDS ? SST_NEED_OUTPUT : SST_NEED_INPUT);
    EXPECT_BYTES(out, done.produced, data, SIZE);
    in->begin += done.consumed;
  }
}

TEST(early_thread, both_directions_run_at_once_when_it_is_confirmed) {
  static Bytes to_server, to_client;
  Early early = early_prepare(EARLY_TAKEN, &(PairOptions){.first = 0});
  for (int i = 0; i < 10 && !test_failed(); i++) {
    early_start(&early);
    Side *client = &early.pair.client, *server = &early.pair.server;
    EXPECT_STATUS(side_send(client, "early", 5), SST_OK);
    EXPECT_STATUS(side_handshake(server), SST_OK);
    EXPECT_STATUS(side_handshake(client), SST_OK);
    EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
    EXPECT_STATUS(side_receive(client), SST_NEED_INPUT);
    to_server.begin = to_server.end = to_client.begin = to_client.end = 0;
    (void)run_sender(&(Sender){client->stream, &to_server});
    Sender sender = {server->stream, &to_client};
    const pthread_t thread = thread_start(run_sender, &sender);
    expect_records(server->stream, &to_server);
    thread_join(thread);
    expect_records(client->stream, &to_client);
    early_stop(&early);
  }
  early_free(&early);
}
