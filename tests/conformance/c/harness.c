/* What tests/c/support needs of a harness (test.h), for a program whose cases are made of scenarios. */
#include "harness.h"

#include <ctype.h>
#include <inttypes.h>
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

static void report(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void report(const char *file, int line, const char *format, ...) {
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

bool test_expect(const char *file, int line, const char *text, bool holds) {
  if (!holds) report(file, line, "expected %s", text);
  return holds;
}

bool test_expect_eq(const char *file, int line, const char *text, int64_t got, const char *expected_text,
                    int64_t expected) {
  if (got == expected) return true;
  report(file, line, "%s: expected %" PRId64 " (%s), got %" PRId64, text, expected, expected_text, got);
  return false;
}

bool test_expect_order(const char *file, int line, const char *text, int64_t got, const char *order, int64_t limit) {
  const bool holds = order[0] == '>' ? got >= limit : got <= limit;
  if (!holds) report(file, line, "%s: expected %s %" PRId64 ", got %" PRId64, text, order, limit, got);
  return holds;
}

bool test_expect_status(const char *file, int line, const char *text, sst_status got, sst_status expected) {
  met_status(got);
  if (got == expected) return true;
  report(file, line, "%s: expected %s (%d), got %s (%d)", text, sst_status_name(expected), expected,
         sst_status_name(got), got);
  return false;
}

/* At most 32 bytes, printable where they are. */
static const char *shown(const void *bytes, size_t len, char *out, size_t out_cap) {
  const uint8_t *from = bytes;
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; i < len && i < 32 && used + 8 < out_cap; i++)
    used += (size_t)snprintf(out + used, out_cap - used, isprint(from[i]) ? "%c" : "\\x%02x", from[i]);
  return out;
}

bool test_expect_bytes(const char *file, int line, const char *text, const void *got, size_t got_len,
                       const void *expected, size_t expected_len) {
  if (got_len == expected_len && (got_len == 0 || memcmp(got, expected, got_len) == 0)) return true;
  char got_text[160], expected_text[160];
  report(file, line, "%s: expected %zu bytes '%s', got %zu bytes '%s'", text, expected_len,
         shown(expected, expected_len, expected_text, sizeof expected_text), got_len,
         shown(got, got_len, got_text, sizeof got_text));
  return false;
}

bool test_expect_text(const char *file, int line, const char *text, const void *got, size_t got_len,
                      const char *expected) {
  return test_expect_bytes(file, line, text, got, got_len, expected, strlen(expected));
}

bool test_expect_string(const char *file, int line, const char *text, const char *got, const char *expected) {
  return test_expect_text(file, line, text, got, strlen(got), expected);
}

bool test_expect_contains(const char *file, int line, const char *text, const char *part) {
  if (strstr(text, part) != NULL) return true;
  report(file, line, "expected '%s' to contain '%s'", text, part);
  return false;
}

void test_require(bool holds) {
  if (!holds) longjmp(end_of_case, 1);
}

void test_fail(const char *file, int line, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  report(file, line, "%s", text);
  longjmp(end_of_case, 1);
}

void *test_reallocate(void *old, size_t size) {
  void *memory = realloc(old, size == 0 ? 1 : size);
  if (memory == NULL) abort();
  return memory;
}

void *test_allocate(size_t size) {
  return test_reallocate(NULL, size);
}

/* Scenarios leave nothing to chance. */
uint32_t test_random_below(uint32_t limit) {
  (void)limit;
  abort();
}
