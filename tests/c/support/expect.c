/* The expectations of test.h, for every program that has a test_report and a test_require. */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "met.h"
#include "test.h"

bool test_expect(const char *file, int line, const char *text, bool holds) {
  if (!holds) test_report(file, line, "expected %s", text);
  return holds;
}

bool test_expect_eq(const char *file, int line, const char *text, int64_t got, const char *expected_text,
                    int64_t expected) {
  if (got == expected) return true;
  test_report(file, line, "%s: expected %" PRId64 " (%s), got %" PRId64 " (0x%" PRIx64 ")", text, expected,
              expected_text, got, (uint64_t)got);
  return false;
}

bool test_expect_order(const char *file, int line, const char *text, int64_t got, const char *order, int64_t limit) {
  const bool holds = order[0] == '>' ? got >= limit : got <= limit;
  if (!holds) test_report(file, line, "%s: expected %s %" PRId64 ", got %" PRId64, text, order, limit, got);
  return holds;
}

bool test_expect_status(const char *file, int line, const char *text, sst_status got, sst_status expected) {
  met_status(got);
  if (got == expected) return true;
  test_report(file, line, "%s: expected %s (%d), got %s (%d)", text, sst_status_name(expected), expected,
              sst_status_name(got), got);
  return false;
}

/* At most 48 bytes, printable where they are. */
static const char *shown(const void *bytes, size_t len, char *out, size_t out_cap) {
  const uint8_t *from = bytes;
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; i < len && i < 48 && used + 8 < out_cap; i++) {
    const int wrote = snprintf(out + used, out_cap - used, isprint(from[i]) ? "%c" : "\\x%02x", from[i]);
    used += (size_t)wrote;
  }
  return out;
}

bool test_expect_bytes(const char *file, int line, const char *text, const void *got, size_t got_len,
                       const void *expected, size_t expected_len) {
  if (got_len == expected_len && (got_len == 0 || memcmp(got, expected, got_len) == 0)) return true;
  size_t same = 0;
  const uint8_t *left = got, *right = expected;
  while (same < got_len && same < expected_len && left[same] == right[same])
    same++;
  char got_text[256], expected_text[256];
  test_report(file, line, "%s: expected %zu bytes '%s', got %zu bytes '%s' (the same up to byte %zu)", text,
              expected_len, shown(expected, expected_len, expected_text, sizeof expected_text), got_len,
              shown(got, got_len, got_text, sizeof got_text), same);
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
  test_report(file, line, "expected '%s' to contain '%s'", text, part);
  return false;
}

void test_fail(const char *file, int line, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  test_report(file, line, "%s", text);
  test_require(false);
  abort(); /* it does not come here */
}

void *test_reallocate(void *old, size_t size) {
  void *memory = realloc(old, size == 0 ? 1 : size);
  if (memory == NULL) FAIL("no memory for %zu bytes", size);
  return memory;
}

void *test_allocate(size_t size) {
  return test_reallocate(NULL, size);
}
