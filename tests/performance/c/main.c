/* sst_performance: measures the cases of tests/performance from C (README.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "measure.h"
#include "test.h"

typedef struct Order {
  const Case *what;
  unsigned ms;
  Result result;
} Order;

static void run(void *context) {
  Order *order = context;
  order->result = measure(order->what, order->ms);
}

/* A number of a result; NAN is null. */
static void print_number(const char *key, double value, int digits) {
  if (isnan(value))
    printf(", \"%s\": null", key);
  else
    printf(", \"%s\": %.*f", key, digits, value);
}

static double per_second(uint64_t (*in_op)(const Case *what), const Case *what, double ns) {
  return in_op == NULL ? NAN : (double)in_op(what) * 1e9 / ns;
}

static void print(const Case *what, const Result *result) {
  printf("{\"case\": \"%s\", \"language\": \"C\"", what->name);
  print_number("ns_per_op", result->ns, 1);
  print_number("ns_median", result->ns_median, 1);
  print_number("ops", (double)result->ops, 0);
  print_number("library_allocations", result->allocations, 2);
  print_number("library_bytes", result->bytes, 1);
  print_number("language_allocations", 0, 1);
  print_number("language_bytes", 0, 1);
  print_number("bytes_per_s", per_second(what->kind->bytes, what, result->ns), 0);
  print_number("per_s", per_second(what->kind->things, what, result->ns), 1);
  print_number("bytes_per_client", result->per_client, 1);
  print_number("bytes_per_server", result->per_server, 1);
  print_number("language_bytes_per_stream", what->kind->weigh == NULL ? NAN : 0, 1);
  print_number("peak_rss", result->peak_rss, 0);
  puts("}");
  fflush(stdout);
}

static bool run_case(const Case *what, unsigned ms) {
  Order order = {.what = what, .ms = ms};
  if (!harness_run(run, &order)) {
    fprintf(stderr, "%s: %s\n", what->name, harness_messages());
    return false;
  }
  print(what, &order.result);
  return true;
}

static bool run_named(const Case *cases, size_t count, const char *name, unsigned ms) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(cases[i].name, name) == 0) return run_case(&cases[i], ms);
  fprintf(stderr, "no case '%s'\n", name);
  return false;
}

static int perform(const Case *cases, size_t count, unsigned ms, int argc, char **argv) {
  bool good = true;
  if (argc > 1 && strcmp(argv[0], "--run") == 0) {
    for (int i = 1; i < argc; i++)
      good = run_named(cases, count, argv[i], ms) && good;
  } else if (argc == 1 && strcmp(argv[0], "--run-all") == 0) {
    for (size_t i = 0; i < count; i++)
      good = (cases[i].is_long || run_case(&cases[i], ms)) && good;
  } else if (argc == 1 && strcmp(argv[0], "--list") == 0) {
    for (size_t i = 0; i < count; i++)
      puts(cases[i].name);
  } else {
    fprintf(stderr, "usage: sst_performance [--ms N] --list | --run CASE... | --run-all\n");
    return 2;
  }
  return good ? 0 : 1;
}

int main(int argc, char **argv) {
  unsigned ms = 500;
  int taken = 1;
  if (argc > 2 && strcmp(argv[1], "--ms") == 0) {
    ms = (unsigned)strtoul(argv[2], NULL, 10);
    taken = 3;
  }
  size_t count = 0;
  Case *cases = cases_read(SST_CASES, &count);
  const int result = perform(cases, count, ms == 0 ? 1 : ms, argc - taken, argv + taken);
  free(cases);
  return result;
}
