/* What tests/c/support needs of a harness (test.h), for a program whose cases are made of scenarios. */
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "met.h"
#include "test.h"

static jmp_buf end_of_case;
static char place[128], messages[4096];
static size_t failures;

bool harness_run(void (*run)(void *context), void *context) {
  failures = 0;
  messages[0] = place[0] = '\0';
  met_begin();
  if (setjmp(end_of_case) == 0) run(context);
  met_end(place);
  return failures == 0;
}

void harness_at(const char *name, size_t line) {
  snprintf(place, sizeof place, "%s.scn:%zu", name, line);
}

const char *harness_messages(void) {
  return messages;
}

size_t harness_failures(void) {
  return failures;
}

void test_report(const char *file, int line, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const char *base = strrchr(file, '/');
  const size_t used = strlen(messages);
  snprintf(messages + used, sizeof messages - used, "%s%s: %s (%s:%d)", failures == 0 ? "" : "; ", place, text,
           base == NULL ? file : base + 1, line);
  failures++;
}

void test_require(bool holds) {
  if (!holds) longjmp(end_of_case, 1);
}

/* No case of a scenario is skipped: where something is missing it fails. */
void test_skip(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  test_report("scenario", 0, "%s", text);
  longjmp(end_of_case, 1);
}

/* Scenarios leave nothing to chance. */
uint32_t test_random_below(uint32_t limit) {
  (void)limit;
  abort();
}
