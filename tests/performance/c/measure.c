#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "test.h"

enum { PASSES = 10, FEW_PASSES = 3, WARM_UP_NS = 50000000 };

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double timed(const Case *what, Work *work, uint64_t n) {
  const double begin = now_ns();
  what->kind->pass(work, n);
  return (now_ns() - begin) / (double)n;
}

/* Repeats single ops, and returns what the quickest took. */
static double warm_up(const Case *what, Work *work, double most_ns) {
  const double begin = now_ns();
  double best = timed(what, work, 1);
  while (now_ns() - begin < most_ns) {
    const double again = timed(what, work, 1);
    if (again < best) best = again;
  }
  return best;
}

static int by_value(const void *a, const void *b) {
  const double left = *(const double *)a, right = *(const double *)b;
  return left < right ? -1 : left > right;
}

static Result repeated(const Case *what, Work *work, unsigned ms) {
  const double pass_ns = (double)ms * 1e6 / PASSES;
  const double once = warm_up(what, work, pass_ns < WARM_UP_NS ? pass_ns : WARM_UP_NS);
  const uint64_t n = once >= pass_ns ? 1 : (uint64_t)(pass_ns / once);
  const size_t passes = once >= pass_ns ? FEW_PASSES : PASSES;

  double taken[PASSES];
  for (size_t i = 0; i < passes; i++)
    taken[i] = timed(what, work, n);
  qsort(taken, passes, sizeof *taken, by_value);

  allocations_start();
  what->kind->pass(work, n);
  const Allocations counted = allocations_stop();
  return (Result){.ns = taken[0],
                  .ns_median = taken[passes / 2],
                  .ops = n,
                  .allocations = (double)counted.calls / (double)n,
                  .bytes = (double)counted.bytes / (double)n,
                  .per_client = NAN,
                  .per_server = NAN,
                  .peak_rss = NAN};
}

static Result weighed(const Case *what, Work *work) {
  const uint64_t n = what->streams / 2;
  const double ns = timed(what, work, n);
  Result result = {.ns = ns, .ns_median = ns, .ops = n, .allocations = NAN, .bytes = NAN};
  what->kind->weigh(work, &result);
  return result;
}

Result measure(const Case *what, unsigned ms) {
  Work *work = what->kind->begin(what);
  const Result result = what->kind->weigh == NULL ? repeated(what, work, ms) : weighed(what, work);
  what->kind->end(work);
  return result;
}
