/* White-box: our record layer against BoringSSL's: the same random calls on two pairs, one on each path, give the same
   statuses, progress, plaintext, events and counters. */
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"
#include "tls/internal.h"

enum { SEQUENCES = 10000, OPERATIONS = 12, MOST_DATA = 40000, MOST_ROOM = 45000, MOST_RANGES = 8, MOST_SLICES = 100 };

#if defined(SST_RECORD_PATH_BOTH)

/* The same end of both pairs. */
typedef struct Twins {
  Side *own, *ssl;
} Twins;

typedef struct Duel {
  Pair own, ssl;
  bool asks; /* KeyUpdates are requests of the client, else of either side and without a request */
  uint64_t requests;
  bool over; /* failed, or closed on both sides: there is nothing more to compare */
} Duel;

static void duel_open(Duel *duel, uint16_t version, bool chacha) {
  const uint32_t options = test_random_below(2) == 0 ? SST_OPTION_LEAVE_PARTIAL : 0;
  const SideOptions client = {.min_version = version,
                              .max_version = version,
                              .groups = {29, 23},
                              .suites = {chacha                      ? 0xcca9
                                         : test_random_below(2) == 0 ? 0xc02b
                                                                     : 0xc02c},
                              .report = 1u << SST_EVENT_ALERT_RECEIVED | 1u << SST_EVENT_KEYS_UPDATED,
                              .options = options};
  const SideOptions server = {
      .report = client.report, .options = options, .credential = "server-ed25519"}; /* a signature of fixed length */
  atomic_store(&sst__record_path_is_ssl, false);
  duel->own = pair_opened(&(PairOptions){.client = client, .server = server});
  atomic_store(&sst__record_path_is_ssl, true);
  duel->ssl = pair_opened(&(PairOptions){.client = client, .server = server});
  atomic_store(&sst__record_path_is_ssl, false);
  duel->over = false;
  duel->asks = test_random_below(2) == 0;
  duel->requests = 0;
}

static void duel_close(Duel *duel) {
  pair_free(&duel->own);
  pair_free(&duel->ssl);
}

/* A known difference: the answer to a KeyUpdate that comes while other output waits is counted from the start by us, and
   not before it is written by the other. */
static bool answer_waits(const Twins *twins) {
  return sst__due_any(&twins->own->stream->due);
}

/* A known difference: an answer to KeyUpdate that waits when the peer ends the stream by an alert is not owed any more;
   the other one has it in its queue. */
static bool answer_is_dropped(const Twins *twins) {
  return answer_waits(twins) && sst__due_size(&twins->own->stream->due) == 0;
}

static void expect_same_size(const Twins *twins, size_t own, size_t ssl) {
  if (own != ssl && answer_waits(twins)) own -= twins->own->stream->due.update_size;
  EXPECT_EQ(own, ssl);
}

static void expect_same_progress(const Twins *twins) {
  const sst_progress *own = &twins->own->progress, *ssl = &twins->ssl->progress;
  if (answer_is_dropped(twins)) return;
  EXPECT_EQ(own->consumed, ssl->consumed);
  EXPECT_EQ(own->produced, ssl->produced);
  expect_same_size(twins, own->needed, ssl->needed);
  expect_same_size(twins, own->waiting, ssl->waiting);
  EXPECT_EQ(own->flags & ~(uint32_t)SST_HAS_EVENT,
            ssl->flags & ~(uint32_t)SST_HAS_EVENT); /* events are compared apart */
}

static uint64_t compared_copied, compared_in_place; /* plaintext, in bytes: that there was some */

static void expect_same_plaintext(const Twins *twins) {
  compared_copied += twins->own->received_len;
  EXPECT_BYTES(twins->own->received, twins->own->received_len, twins->ssl->received, twins->ssl->received_len);
  twins->own->received_len = twins->ssl->received_len = 0;
}

static sst_status call(const Twins *twins, Call what, const uint8_t *in, size_t in_len, size_t room) {
  const sst_status own = side_call(twins->own, what, in, in_len, room);
  const sst_status ssl = side_call(twins->ssl, what, in, in_len, room);
  EXPECT_STATUS(own, ssl);
  expect_same_progress(twins);
  return own;
}

static size_t random_size(size_t most) {
  const uint32_t limits[] = {2, 60, 1000, (uint32_t)most};
  return test_random_below(limits[test_random_below(4)]);
}

static sst_status encrypt_slices(Side *side, const sst_slice *slices, size_t count, size_t room) {
  uint8_t *out = test_allocate(room + 1);
  const sst_status status = count == 2
                                ? sst_stream_encrypt2(side->stream, slices[0].data, slices[0].length, slices[1].data,
                                                      slices[1].length, out, room, &side->progress)
                                : sst_stream_encryptv(side->stream, slices, count, out, room, &side->progress);
  wire_write(side->out, out, side->progress.produced);
  free(out);
  return status;
}

/* The data in slices, some of them empty, and many more than a record is gathered from. */
static void encrypts_slices(const Twins *twins, const uint8_t *data, size_t len, size_t room) {
  sst_slice slices[MOST_SLICES];
  const uint32_t count = test_random_below(2) == 0 ? 2 : 1 + test_random_below(MOST_SLICES);
  for (size_t i = 0, at = 0; i < count; at += slices[i++].length) {
    const size_t left = len - at;
    slices[i] = (sst_slice){data + at, i + 1 == count ? left : test_random_below((uint32_t)(2 * left / count) + 1)};
  }
  const sst_status own = encrypt_slices(twins->own, slices, count, room);
  EXPECT_STATUS(encrypt_slices(twins->ssl, slices, count, room), own);
  expect_same_progress(twins);
}

static void encrypts(const Twins *twins) {
  static uint8_t data[MOST_DATA];
  const size_t len = random_size(MOST_DATA), room = random_size(MOST_ROOM);
  pattern_fill(data, len, test_random());
  if (test_random_below(3) == 0) {
    encrypts_slices(twins, data, len, room);
  } else {
    (void)call(twins, CALL_ENCRYPT, data, len, room);
  }
}

static sst_status decrypt(Side *side, size_t len, size_t room) {
  const sst_status status = side_call(side, CALL_DECRYPT, wire_head(side->in), len, room);
  side->in->taken += side->progress.consumed;
  return status;
}

static void decrypts(const Twins *twins) {
  const size_t waiting = wire_waiting(twins->own->in), room = random_size(MOST_ROOM);
  EXPECT_EQ(waiting, wire_waiting(twins->ssl->in));
  const size_t some = test_random_below(3) == 0 ? test_random_below((uint32_t)waiting + 1) : waiting;
  const sst_status own = decrypt(twins->own, some, room);
  EXPECT_STATUS(decrypt(twins->ssl, some, room), own);
  expect_same_progress(twins);
  expect_same_plaintext(twins);
}

/* What one side opens in place, copied out of its ranges. */
static sst_status open_in_place(Side *side, size_t most_ranges, uint8_t *out, size_t *out_len) {
  const size_t waiting = wire_waiting(side->in);
  uint8_t *copy = test_allocate(waiting + 1);
  sst_range ranges[MOST_RANGES];
  size_t used = 0;
  if (waiting > 0) memcpy(copy, side->in->bytes + side->in->taken, waiting);
  const sst_status status =
      sst_stream_decrypt_in_place(side->stream, copy, waiting, ranges, most_ranges, &used, &side->progress);
  *out_len = 0;
  for (size_t i = 0; i < used; i++) {
    memcpy(out + *out_len, copy + ranges[i].offset, ranges[i].length);
    *out_len += ranges[i].length;
  }
  side->in->taken += side->progress.consumed;
  free(copy);
  return status;
}

static void decrypts_in_place(const Twins *twins) {
  static uint8_t own[4 * MOST_DATA], ssl[4 * MOST_DATA];
  size_t own_len = 0, ssl_len = 0;
  const size_t ranges = test_random_below(MOST_RANGES + 1);
  EXPECT_STATUS(open_in_place(twins->own, ranges, own, &own_len), open_in_place(twins->ssl, ranges, ssl, &ssl_len));
  EXPECT_BYTES(own, own_len, ssl, ssl_len);
  compared_in_place += own_len;
  expect_same_progress(twins);
}

/* A known difference: of two requests in a row ours answers both by one message, the other one by two. So only the
   client asks, and only when its last request is answered. */
static void updates_keys(Duel *duel, const Twins *twins) {
  const bool request = duel->asks && twins->own == &duel->own.client;
  const uint64_t answers = sst_stream_counter(twins->own->stream, SST_COUNTER_KEY_UPDATES_RECEIVED);
  if (duel->asks && (!request || answers < duel->requests)) return;
  const sst_status status = sst_stream_key_update(twins->own->stream, request);
  EXPECT_STATUS(sst_stream_key_update(twins->ssl->stream, request), status);
  if (request && status == SST_OK) duel->requests++;
}

static void ends(const Twins *twins) {
  switch (test_random_below(4)) {
    case 0:
      EXPECT_STATUS(sst_stream_input_eof(twins->own->stream), sst_stream_input_eof(twins->ssl->stream));
      break;
    case 1:
      EXPECT_STATUS(sst_stream_abort(twins->own->stream, 80), sst_stream_abort(twins->ssl->stream, 80));
      break;
    default:
      (void)call(twins, CALL_CLOSE, NULL, 0, random_size(100));
      break;
  }
}

/* One bit of what is under way is wrong, the same in both. */
static void tampers(const Twins *twins) {
  const size_t waiting = wire_waiting(twins->own->in);
  if (waiting == 0) return;
  const size_t at = test_random_below((uint32_t)waiting);
  const uint8_t mask = (uint8_t)(1u << test_random_below(8));
  twins->own->in->bytes[twins->own->in->taken + at] ^= mask;
  twins->ssl->in->bytes[twins->ssl->in->taken + at] ^= mask;
}

/* Takes events up to the next that is not about our own keys, whose time differs as the answers' does. */
static sst_status next_event(const Side *side, sst_event *event) {
  sst_status status;
  do {
    *event = (sst_event){.size = sizeof *event};
    status = sst_stream_next_event(side->stream, event, NULL, 0);
  } while (status == SST_OK && event->kind == SST_EVENT_KEYS_UPDATED && event->value == SST_DIRECTION_SEND);
  return status;
}

static void expect_same_events(const Twins *twins) {
  sst_event own, ssl;
  for (sst_status status = SST_OK; status == SST_OK;) {
    status = next_event(twins->own, &own);
    EXPECT_STATUS(next_event(twins->ssl, &ssl), status);
    if (status != SST_OK) return;
    EXPECT_EQ(own.kind, ssl.kind);
    EXPECT_EQ(own.value, ssl.value);
  }
}

static void expect_same_counter(const Twins *twins, int32_t which) {
  test_note("counter %d, %s", (int)which, error_of(twins->own).message);
  EXPECT_EQ(sst_stream_counter(twins->own->stream, which), sst_stream_counter(twins->ssl->stream, which));
}

static void expect_same_facts(const Twins *twins) {
  for (int32_t which = SST_COUNTER_RECORDS_SENT; which <= SST_COUNTER_EVENTS_LOST; which++) {
    if (which != SST_COUNTER_KEY_UPDATES_SENT) expect_same_counter(twins, which);
  }
  EXPECT_EQ(sst_stream_state(twins->own->stream), sst_stream_state(twins->ssl->stream));
  expect_same_size(twins, sst_stream_output_size(twins->own->stream), sst_stream_output_size(twins->ssl->stream));
  const sst_error own = error_of(twins->own), ssl = error_of(twins->ssl);
  EXPECT_EQ(own.code, ssl.code);
  EXPECT_EQ(own.alert_sent, ssl.alert_sent);
  EXPECT_EQ(own.alert_received, ssl.alert_received);
  expect_same_events(twins);
}

/* With nothing left to write the answers are out as well. */
static void expect_same_rest(const Twins *twins) {
  (void)call(twins, CALL_FLUSH, NULL, 0, MOST_ROOM);
  expect_same_facts(twins);
  if ((sst_stream_state(twins->own->stream) & (SST_STATE_FAILED | SST_STATE_WE_CLOSED)) == 0) {
    expect_same_counter(twins, SST_COUNTER_KEY_UPDATES_SENT);
  }
}

/* A known difference: an answer to KeyUpdate that waits when the stream fails is not sent by us any more. Nothing that
   follows can be compared then. */
static bool answer_is_lost(const Duel *duel) {
  const sst_stream *streams[] = {duel->own.client.stream, duel->own.server.stream};
  for (int i = 0; i < 2; i++) {
    const bool failed = (sst_stream_state(streams[i]) & SST_STATE_FAILED) != 0;
    if (failed && (atomic_load(&streams[i]->due.what) & SST__DUE_ANSWER) != 0) return true;
  }
  return false;
}

/* False: there is nothing more to compare. */
static bool operate(Duel *duel) {
  const bool client = test_random_below(2) == 0;
  const Twins twins =
      client ? (Twins){&duel->own.client, &duel->ssl.client} : (Twins){&duel->own.server, &duel->ssl.server};
  const uint32_t pick = test_random_below(1000);
  if (pick < 350) {
    encrypts(&twins);
  } else if (pick < 700) {
    decrypts(&twins);
  } else if (pick < 820) {
    decrypts_in_place(&twins);
  } else if (pick < 900) {
    (void)call(&twins, CALL_FLUSH, NULL, 0, random_size(200));
  } else if (pick < 985) {
    updates_keys(duel, &twins);
  } else if (pick < 992) {
    ends(&twins);
  } else {
    tampers(&twins);
  }
  const uint32_t state = sst_stream_state(twins.own->stream);
  duel->over |= (state & (SST_STATE_FAILED | SST_STATE_TRUNCATED)) != 0;
  if (answer_is_lost(duel)) return false;
  expect_same_facts(&twins);
  return true;
}

TEST(record_differential, random_sequences_are_the_same_on_both_paths) {
  Duel duel = {.over = true};
  bool open = false;
  unsigned pairs = 0, after = 0, age = 0;
  for (int i = 0; i < SEQUENCES; i++) {
    /* What follows the end is compared too, for a while. A wire keeps all that it carried: no pair lives for ever. */
    if (open && (++age > 50 || (duel.over && ++after > 2))) {
      duel_close(&duel);
      open = false;
    }
    if (!open) {
      duel_open(&duel, test_random_below(2) == 0 ? SST_TLS1_2 : SST_TLS1_3, test_random_below(3) == 0);
      open = true;
      after = age = 0;
      pairs++;
    }
    bool comparable = true;
    for (int k = 0; k < OPERATIONS && comparable; k++)
      comparable = operate(&duel);
    if (!comparable) {
      duel_close(&duel);
      open = false;
      continue;
    }
    expect_same_rest(&(Twins){&duel.own.client, &duel.ssl.client});
    expect_same_rest(&(Twins){&duel.own.server, &duel.ssl.server});
    if (test_failed()) break; /* the rest would only repeat it */
  }
  printf("%u pairs, %llu bytes of plaintext copied out and %llu in place\n", pairs, (unsigned long long)compared_copied,
         (unsigned long long)compared_in_place);
  EXPECT_AT_LEAST(compared_copied, 10000000);
  EXPECT_AT_LEAST(compared_in_place, 1000000);
  if (open) duel_close(&duel);
}

#else

TEST(record_differential, random_sequences_are_the_same_on_both_paths) {
  SKIP("this build has one path");
}

#endif
