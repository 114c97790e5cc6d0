/* echo: there and back, on each thread between a pair of its own. idle: open streams and what they hold. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lane.h"
#include "party.h"
#include "workers.h"

typedef struct Echo {
  uint64_t rounds;
  Lane there, back;
  const Lane *failed; /* NULL: none */
} Echo;

/* The first pair stays open in every case: what all streams share is never counted. */
struct Work {
  Party party;
  Crowd first, idle;
  Echo echoes[MOST_THREADS];
};

static Work *begin(const Case *what, size_t pairs, size_t idle) {
  Work *work = test_allocate(sizeof *work);
  work->party = party_new(what);
  work->first = crowd_new(pairs);
  crowd_grow(&work->first, &work->party, pairs);
  work->idle = crowd_new(what->streams / 2);
  crowd_grow(&work->idle, &work->party, idle);
  return work;
}

static void end(Work *work) {
  crowd_free(&work->first);
  crowd_free(&work->idle);
  party_free(&work->party);
  free(work);
}

static Work *begin_echo(const Case *what) {
  Work *work = begin(what, what->threads, what->streams / 2);
  for (size_t i = 0; i < what->threads; i++) {
    sst_stream *client = work->first.streams[CLIENT][i], *server = work->first.streams[SERVER][i];
    work->echoes[i] = (Echo){0, lane_new(client, server, what->size), lane_new(server, client, what->size), NULL};
  }
  return work;
}

static void end_echo(Work *work) {
  for (size_t i = 0; i < work->party.what->threads; i++) {
    lane_free(&work->echoes[i].there);
    lane_free(&work->echoes[i].back);
  }
  end(work);
}

static void run(void *context) {
  Echo *echo = context;
  for (uint64_t i = 0; i < echo->rounds && echo->failed == NULL; i++)
    echo->failed = !lane_move(&echo->there) ? &echo->there : !lane_move(&echo->back) ? &echo->back : NULL;
}

static void pass_echo(Work *work, uint64_t n) {
  const Case *what = work->party.what;
  for (size_t i = 0; i < what->threads; i++)
    work->echoes[i].rounds = n * what->rounds;
  workers_run(what->threads, run, work->echoes, sizeof *work->echoes);
  for (size_t i = 0; i < what->threads; i++) {
    if (work->echoes[i].failed != NULL) lane_fail(work->echoes[i].failed);
    lane_check(&work->echoes[i].there);
    lane_check(&work->echoes[i].back);
  }
}

static uint64_t echoes(const Case *what) {
  return (uint64_t)what->rounds * what->threads;
}

static uint64_t bytes(const Case *what) {
  return 2 * echoes(what) * what->size;
}

static Work *begin_idle(const Case *what) {
  return begin(what, 1, 0);
}

static void pass_idle(Work *work, uint64_t n) {
  crowd_grow(&work->idle, &work->party, n);
}

/* What getrusage gives is no less than what the program was that started this one; the kernel's VmHWM is of this one
   alone. NAN where there is none. */
static double peak_rss(void) {
  FILE *file = fopen("/proc/self/status", "r");
  char line[256];
  double bytes = NAN;
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, "VmHWM:", 6) == 0) bytes = strtod(line + 6, NULL) * 1024;
  if (file != NULL) fclose(file);
  return bytes;
}

static void weigh(Work *work, Result *result) {
  result->peak_rss = peak_rss();
  result->per_client = crowd_leave(&work->idle, CLIENT);
  result->per_server = crowd_leave(&work->idle, SERVER);
}

const Kind kind_echo = {
    .name = "echo", .begin = begin_echo, .end = end_echo, .pass = pass_echo, .bytes = bytes, .things = echoes};
const Kind kind_idle = {.name = "idle", .begin = begin_idle, .end = end, .pass = pass_idle, .weigh = weigh};
