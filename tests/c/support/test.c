#include "test.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "met.h"

enum { EXIT_SKIPPED = 77, DEFAULT_SEED = 20260101 };

static TestCase *cases;
static atomic_int failures; /* of the case that runs; expectations may stand in several threads */
static jmp_buf end_of_case; /* REQUIRE, SKIP and FAIL leave by it, from the thread of the case only */
static bool skipped;
static char note[256];
static uint64_t random_state; /* 0: not seeded yet */

/* Constructors run in link order; cases are kept sorted by name so that a listing does not depend on it. */
void test_register(TestCase *test_case) {
  TestCase **place = &cases;
  while (*place != NULL && strcmp((*place)->name, test_case->name) < 0)
    place = &(*place)->next;
  test_case->next = *place;
  *place = test_case;
}

void test_note(const char *format, ...) {
  note[0] = '\0';
  if (format == NULL) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(note, sizeof note, format, arguments);
  va_end(arguments);
}

void test_report(const char *file, int line, const char *format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  printf("%s:%d: %s%s%s\n", file, line, note, note[0] == '\0' ? "" : ": ", text);
  fflush(stdout);
  atomic_fetch_add(&failures, 1);
}

bool test_failed(void) {
  return atomic_load(&failures) > 0;
}

void test_require(bool holds) {
  if (!holds) longjmp(end_of_case, 1);
}

void test_skip(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf("skipped: ");
  vprintf(format, arguments);
  printf("\n");
  va_end(arguments);
  skipped = true;
  longjmp(end_of_case, 1);
}

/* xorshift64*: the same numbers for the same seed on every machine. */
uint32_t test_random(void) {
  if (random_state == 0) {
    const char *given = getenv("SST_TEST_SEED");
    random_state = given != NULL ? strtoull(given, NULL, 0) : DEFAULT_SEED;
    if (random_state == 0) random_state = 1;
    printf("SST_TEST_SEED=%" PRIu64 "\n", random_state);
  }
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return (uint32_t)((random_state * 0x2545F4914F6CDD1DULL) >> 32);
}

uint32_t test_random_below(uint32_t limit) {
  return limit == 0 ? 0 : test_random() % limit;
}

/* 0: passed, 1: failed, 77: skipped. */
static int run_case(const TestCase *test_case) {
  const uint64_t objects = sst_live_objects();
  atomic_store(&failures, 0);
  skipped = false;
  random_state = 0;
  met_begin();
  test_note(NULL);
  if (setjmp(end_of_case) == 0) {
    test_case->run();
    test_note(NULL);
    /* A case that was left early could not clean up: that is not one more fault. */
    if (atomic_load(&failures) == 0 && sst_live_objects() != objects)
      test_report(test_case->file, 0, "%" PRId64 " objects are left", (int64_t)(sst_live_objects() - objects));
  }
  met_end(test_case->name);
  if (atomic_load(&failures) > 0) return 1;
  return skipped ? EXIT_SKIPPED : 0;
}

/* A case that was left early has leaks, which a report at exit would only hide the reason behind. */
static int run_alone(const TestCase *test_case) {
  const int result = run_case(test_case);
  fflush(stdout);
  if (result != 0) _Exit(result);
  return 0;
}

static int run_all(const char *prefix) {
  int passed = 0, failed = 0, left_out = 0;
  for (const TestCase *test_case = cases; test_case != NULL; test_case = test_case->next) {
    if (strncmp(test_case->name, prefix, strlen(prefix)) != 0) continue;
    const int result = run_case(test_case);
    printf("%s %s\n", result == 0 ? "ok  " : result == EXIT_SKIPPED ? "skip" : "FAIL", test_case->name);
    fflush(stdout);
    if (result == 0) passed++;
    if (result == 1) failed++;
    if (result == EXIT_SKIPPED) left_out++;
  }
  printf("%d passed, %d failed, %d skipped\n", passed, failed, left_out);
  return failed == 0 && passed + left_out > 0 ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc == 1) return run_all("");
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (const TestCase *test_case = cases; test_case != NULL; test_case = test_case->next)
      puts(test_case->name);
    return 0;
  }
  if (argc == 3 && strcmp(argv[1], "--all") == 0) return run_all(argv[2]);
  if (argc == 3 && strcmp(argv[1], "--run") == 0) {
    for (const TestCase *test_case = cases; test_case != NULL; test_case = test_case->next)
      if (strcmp(test_case->name, argv[2]) == 0) return run_alone(test_case);
    fprintf(stderr, "no case '%s'\n", argv[2]);
    return 1;
  }
  fprintf(stderr, "usage: %s [--list | --run CASE | --all PREFIX]\n", argv[0]);
  return 2;
}
