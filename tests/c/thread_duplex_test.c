/*
 * One thread sends while another receives, on both ends of a connection, with KeyUpdates from both, while a third looks
 * at everything that may be looked at. Ten seconds under ThreadSanitizer; SST_TEST_SECONDS sets another time.
 */
#include "channel.h"
#include "pair.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40000, WIRE = MOST + 4 * SST_RECORD_MAX };

typedef struct End {
  sst_stream *stream;
  Channel *out, *in;
  bool in_place, tls13;
  double until;
  _Atomic uint64_t sent, received;
  atomic_bool done; /* the observer may stop */
} End;

/* Every thread has its own numbers. */
static uint32_t next(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* The byte at an offset of a direction's data. */
static uint8_t byte_at(uint64_t offset) {
  return (uint8_t)(offset * 167 + (offset >> 8) * 13);
}

static void put_pattern(uint8_t *bytes, size_t len, uint64_t offset) {
  for (size_t i = 0; i < len; i++)
    bytes[i] = byte_at(offset + i);
}

static bool is_pattern(const uint8_t *bytes, size_t len, uint64_t offset) {
  for (size_t i = 0; i < len; i++) {
    if (bytes[i] != byte_at(offset + i)) return false;
  }
  return true;
}

/* ---- sending ---- */

static bool send_some(End *end, uint32_t *state, uint8_t *data, uint8_t *wire) {
  const size_t len = next(state) % 8 == 0 ? next(state) % MOST : next(state) % 300;
  const uint64_t sent = atomic_load(&end->sent);
  const size_t room = next(state) % 4 == 0 ? next(state) % 2000 : WIRE;
  sst_progress done;
  put_pattern(data, len, sent);
  const sst_status status = sst_stream_encrypt(end->stream, data, len, wire, room, &done);
  if (!EXPECT(status == SST_OK || status == SST_NEED_OUTPUT)) return false;
  channel_put(end->out, wire, done.produced);
  atomic_store(&end->sent, sent + done.consumed);
  return true;
}

/* What the receiving side has made goes out too. */
static bool flush(End *end, uint8_t *wire) {
  sst_progress done;
  if (!EXPECT_STATUS(sst_stream_flush(end->stream, wire, WIRE, &done), SST_OK)) return false;
  channel_put(end->out, wire, done.produced);
  return true;
}

static void *run_sender(void *argument) {
  End *end = argument;
  uint8_t *data = malloc(MOST), *wire = malloc(WIRE);
  uint32_t state = 1;
  for (uint64_t round = 0; seconds_now() < end->until; round++) {
    if (!send_some(end, &state, data, wire)) break;
    if (end->tls13 && round % 16 == 7) EXPECT_STATUS(sst_stream_key_update(end->stream, round % 32 == 7), SST_OK);
    if (round % 8 == 3 && !flush(end, wire)) break;
  }
  sst_progress done;
  EXPECT_STATUS(sst_stream_close(end->stream, wire, WIRE, &done), SST_OK);
  channel_put(end->out, wire, done.produced);
  channel_close(end->out);
  free(data);
  free(wire);
  return NULL;
}

/* ---- receiving ---- */

static bool keep(End *end, const uint8_t *data, size_t len) {
  const uint64_t received = atomic_load(&end->received);
  if (!EXPECT(is_pattern(data, len, received))) return false;
  atomic_store(&end->received, received + len);
  return true;
}

/* All of len bytes; false: the end. */
static bool open_copied(End *end, const uint8_t *wire, size_t len, uint8_t *out, uint32_t *state) {
  for (size_t used = 0;;) {
    sst_progress done;
    const size_t room = next(state) % 3 == 0 ? 1 + next(state) % 3000 : WIRE;
    const sst_status status = sst_stream_decrypt(end->stream, wire + used, len - used, out, room, &done);
    used += done.consumed;
    if (!keep(end, out, done.produced)) return false;
    if (status == SST_NEED_INPUT) return true;
    if (status == SST_NEED_OUTPUT) continue;
    EXPECT_STATUS(status, SST_CLOSED);
    return false;
  }
}

/* All whole records of len bytes; *left are to be given again. */
static bool open_in_place(End *end, uint8_t *wire, size_t len, size_t *left) {
  sst_range ranges[8];
  for (size_t begin = 0;;) {
    size_t used = 0;
    sst_progress done;
    const sst_status status =
        sst_stream_decrypt_in_place(end->stream, wire + begin, len - begin, ranges, 8, &used, &done);
    for (size_t i = 0; i < used; i++) {
      if (!keep(end, wire + begin + ranges[i].offset, ranges[i].length)) return false;
    }
    begin += done.consumed;
    *left = len - begin;
    if (status == SST_NEED_OUTPUT) continue;
    if (status != SST_NEED_INPUT) EXPECT_STATUS(status, SST_CLOSED);
    memmove(wire, wire + begin, *left);
    return status == SST_NEED_INPUT;
  }
}

static void *run_receiver(void *argument) {
  End *end = argument;
  uint8_t *wire = malloc(WIRE), *out = malloc(WIRE);
  uint32_t state = 2;
  size_t left = 0;
  bool goes_on = true;
  while (goes_on) {
    const size_t got = channel_take(end->in, wire + left, 1 + next(&state) % (WIRE - left));
    if (got == 0) break;
    goes_on = end->in_place ? open_in_place(end, wire, left + got, &left) : open_copied(end, wire, got, out, &state);
  }
  /* The end of the transport, when the sender may still be at work. */
  EXPECT_STATUS(sst_stream_input_eof(end->stream), SST_OK);
  free(wire);
  free(out);
  return NULL;
}

/* ---- looking ---- */

static void *run_observer(void *argument) {
  End *end = argument;
  uint64_t last[SST_COUNTER_EVENTS_LOST + 1] = {0};
  uint32_t last_state = 0;
  while (!atomic_load(&end->done)) {
    const uint32_t state = sst_stream_state(end->stream);
    EXPECT_EQ(last_state & ~state, 0); /* bits come and stay */
    last_state = state;
    for (int32_t i = 0; i <= SST_COUNTER_EVENTS_LOST; i++) {
      const uint64_t count = sst_stream_counter(end->stream, i);
      EXPECT(count >= last[i]);
      last[i] = count;
    }
    sst_error error = {.size = sizeof error};
    EXPECT_STATUS(sst_stream_last_error(end->stream, &error), SST_OK);
    EXPECT_STATUS(error.code, SST_OK);
    sst_event event = {.size = sizeof event};
    uint8_t text[300];
    const sst_status status = sst_stream_next_event(end->stream, &event, text, sizeof text);
    EXPECT(status == SST_OK || status == SST_NONE);
    if (status == SST_OK) EXPECT(event.kind == SST_EVENT_KEYS_UPDATED || event.kind == SST_EVENT_ALERT_RECEIVED);
    EXPECT_AT_MOST(sst_stream_output_size(end->stream), WIRE);
    EXPECT_AT_MOST(sst_stream_plaintext_size(end->stream), 16384);
    EXPECT_AT_LEAST(sst_stream_encrypted_size(end->stream, 100), 100);
    sst_stream_info info = {.size = sizeof info};
    EXPECT_STATUS(sst_stream_get_info(end->stream, &info), SST_OK);
    EXPECT_EQ(info.version, end->tls13 ? SST_TLS1_3 : SST_TLS1_2);
  }
  return NULL;
}

TEST_VERSIONS(thread, both_ends_send_and_receive_at_once) {
  const uint32_t report = 1u << SST_EVENT_KEYS_UPDATED | 1u << SST_EVENT_ALERT_RECEIVED;
  Pair pair = pair_open(.client = {.max_version = version, .report = report}, .server = {.report = report});
  Channel to_server, to_client;
  channel_init(&to_server);
  channel_init(&to_client);
  const double until = seconds_now() + thread_seconds();
  End ends[2] = {{.stream = pair.client.stream, .out = &to_server, .in = &to_client},
                 {.stream = pair.server.stream, .out = &to_client, .in = &to_server, .in_place = true}};
  pthread_t threads[2][3];
  for (int i = 0; i < 2; i++) {
    ends[i].tls13 = version == SST_TLS1_3;
    ends[i].until = until;
    threads[i][0] = thread_start(run_sender, &ends[i]);
    threads[i][1] = thread_start(run_receiver, &ends[i]);
    threads[i][2] = thread_start(run_observer, &ends[i]);
  }
  for (int i = 0; i < 2; i++) {
    thread_join(threads[i][0]);
    thread_join(threads[i][1]);
  }
  for (int i = 0; i < 2; i++) {
    atomic_store(&ends[i].done, true);
    thread_join(threads[i][2]);
    EXPECT_EQ(ends[i].received, ends[1 - i].sent);
    EXPECT_AT_LEAST(ends[i].sent, 100000);
    EXPECT_EQ(sst_stream_state(ends[i].stream), SST_STATE_OPEN | SST_STATE_WE_CLOSED | SST_STATE_PEER_CLOSED);
    if (version == SST_TLS1_3)
      EXPECT_AT_LEAST(sst_stream_counter(ends[i].stream, SST_COUNTER_KEY_UPDATES_RECEIVED), 10);
  }
  channel_destroy(&to_server);
  channel_destroy(&to_client);
  pair_free(&pair);
}
