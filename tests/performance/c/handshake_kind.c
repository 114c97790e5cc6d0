/* handshake: two streams, from nothing to OK on both sides, on each thread. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data.h"
#include "party.h"
#include "transport.h"
#include "workers.h"

enum { ROOM = 65536, TURNS = 4 };

/* What a thread needs. It must not leave by the harness: it says what happened. Arrays are by side. */
typedef struct Hand {
  Party *party;
  uint64_t n;
  Transport transport;
  sst_stream *stream[2];
  bool open[2];
  uint8_t *in, *out[2];
  size_t out_len[2]; /* memory: what waits for the other side */
  char fault[128];
} Hand;

struct Work {
  Party party;
  Crowd idle;
  Hand hands[MOST_THREADS];
};

static bool failed(Hand *hand, const char *call, const char *why) {
  snprintf(hand->fault, sizeof hand->fault, "%s: %s", call, why);
  return false;
}

static bool good(Hand *hand, const char *call, sst_status status) {
  return status == SST_OK || failed(hand, call, sst_status_name(status));
}

static Work *begin(const Case *what) {
  Work *work = test_allocate(sizeof *work);
  work->party = party_new(what);
  work->idle = crowd_new(what->streams / 2);
  crowd_grow(&work->idle, &work->party, what->streams / 2);
  for (size_t i = 0; i < what->threads; i++) {
    Hand *hand = &work->hands[i];
    memset(hand, 0, sizeof *hand);
    hand->party = &work->party;
    hand->in = test_allocate(ROOM);
    for (int side = CLIENT; side <= SERVER; side++)
      hand->out[side] = test_allocate(ROOM);
    if (!transport_new(&hand->transport, what->over)) FAIL("no listener on the loopback: %s", strerror(errno));
  }
  return work;
}

static void end(Work *work) {
  for (size_t i = 0; i < work->party.what->threads; i++) {
    Hand *hand = &work->hands[i];
    transport_free(&hand->transport);
    free(hand->in);
    for (int side = CLIENT; side <= SERVER; side++)
      free(hand->out[side]);
  }
  crowd_free(&work->idle);
  party_free(&work->party);
  free(work);
}

static bool make_streams(Hand *hand) {
  static const int32_t roles[] = {SST_ROLE_CLIENT, SST_ROLE_SERVER};
  for (int side = CLIENT; side <= SERVER; side++) {
    hand->open[side] = false;
    hand->out_len[side] = 0;
    if (!good(hand, "new", sst_stream_new(hand->party->config[side], roles[side], &hand->stream[side])) ||
        !good(hand, "verify time", sst_stream_set_verify_time(hand->stream[side], DATA_CLOCK)))
      return false;
  }
  return good(hand, "server name", sst_stream_set_server_name(hand->stream[CLIENT], "server.test", 11));
}

/* What has come for a side. */
static bool receive(Hand *hand, int side, const uint8_t **in, size_t *in_len) {
  const int other = 1 - side;
  if (hand->transport.over == OVER_MEMORY) {
    *in = hand->out[other];
    *in_len = hand->out_len[other];
    hand->out_len[other] = 0;
    return *in_len > 0 || failed(hand, "receive", "nothing was sent");
  }
  const ssize_t came = read(hand->transport.fd[side], hand->in, ROOM);
  *in = hand->in;
  *in_len = (size_t)came;
  return came > 0 || failed(hand, "read", came < 0 ? strerror(errno) : "the end");
}

/* Output waits for the other side, or goes out in one write. */
static bool send_flight(Hand *hand, int side, size_t len) {
  if (hand->transport.over == OVER_MEMORY) {
    hand->out_len[side] = len;
    return true;
  }
  return len == 0 || write(hand->transport.fd[side], hand->out[side], len) == (ssize_t)len ||
         failed(hand, "write", strerror(errno));
}

/* A turn of a side: what has come, until it answers or is open. A client's first has no input. */
static bool take_turn(Hand *hand, int side, bool reads) {
  const uint8_t *in = NULL;
  sst_progress done = {.produced = 0};
  while (!hand->open[side] && done.produced == 0) {
    size_t in_len = 0;
    if (reads && !receive(hand, side, &in, &in_len)) return false;
    const sst_status status = sst_stream_handshake(hand->stream[side], in, in_len, hand->out[side], ROOM, &done);
    if ((status != SST_OK && status != SST_NEED_INPUT) || done.consumed != in_len)
      return failed(hand, "handshake", sst_status_name(status));
    hand->open[side] = status == SST_OK;
  }
  return send_flight(hand, side, done.produced);
}

static bool shake_hands(Hand *hand) {
  if (!make_streams(hand)) return false;
  if (!transport_connect(&hand->transport)) return failed(hand, "connect", strerror(errno));
  for (int turn = 0; !hand->open[CLIENT] || !hand->open[SERVER]; turn++) {
    if (turn == TURNS) return failed(hand, "handshake", "it does not end");
    if (!hand->open[CLIENT] && !take_turn(hand, CLIENT, turn > 0)) return false;
    if (!hand->open[SERVER] && !take_turn(hand, SERVER, true)) return false;
  }
  return true;
}

static void let_go(Hand *hand) {
  for (int side = CLIENT; side <= SERVER; side++) {
    sst_stream_free(hand->stream[side]);
    hand->stream[side] = NULL;
  }
  transport_close(&hand->transport);
}

static void run(void *context) {
  Hand *hand = context;
  for (uint64_t i = 0; i < hand->n && hand->fault[0] == '\0'; i++) {
    /* Leaves by the harness: there is one thread then. */
    if (hand->party->what->fresh_configs) party_renew(hand->party);
    (void)shake_hands(hand);
    let_go(hand);
  }
}

static void pass(Work *work, uint64_t n) {
  const size_t threads = work->party.what->threads;
  for (size_t i = 0; i < threads; i++)
    work->hands[i].n = n;
  workers_run(threads, run, work->hands, sizeof *work->hands);
  for (size_t i = 0; i < threads; i++)
    if (work->hands[i].fault[0] != '\0') FAIL("%s", work->hands[i].fault);
}

static uint64_t things(const Case *what) {
  return what->threads;
}

const Kind kind_handshake = {.name = "handshake", .begin = begin, .end = end, .pass = pass, .things = things};
