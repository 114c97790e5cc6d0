/*
 * test.h - cases and expectations.
 *
 *     TEST(handshake, alert_is_whole_when_room_is_one_byte) { ... }
 *
 * A case registers itself under "handshake.alert_is_whole_when_room_is_one_byte". EXPECT_x notes a failure and goes on,
 * REQUIRE_x ends the case. A case also fails if it leaves objects of the library behind.
 */
#ifndef SST_TEST_H
#define SST_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "securestream.h"

typedef struct TestCase {
  const char *name;
  const char *file;
  void (*run)(void);
  struct TestCase *next;
} TestCase;

#define TEST(suite, name)                                                                  \
  static void test_##suite##_##name(void);                                                 \
  __attribute__((constructor)) static void register_##suite##_##name(void) {               \
    static TestCase test_case = {#suite "." #name, __FILE__, test_##suite##_##name, NULL}; \
    test_register(&test_case);                                                             \
  }                                                                                        \
  static void test_##suite##_##name(void)

/* One body, two cases: its parameter version is SST_TLS1_2, then SST_TLS1_3. */
#define TEST_VERSIONS(suite, name)                     \
  static void both_##suite##_##name(uint16_t version); \
  TEST(suite, name##_tls12) {                          \
    both_##suite##_##name(SST_TLS1_2);                 \
  }                                                    \
  TEST(suite, name##_tls13) {                          \
    both_##suite##_##name(SST_TLS1_3);                 \
  }                                                    \
  static void both_##suite##_##name(uint16_t version)

#define EXPECT(condition) test_expect(__FILE__, __LINE__, #condition, (condition))
#define REQUIRE(condition) test_require(EXPECT(condition))

/* Integers, at most 64 bits wide. */
#define EXPECT_EQ(got, expected) \
  test_expect_eq(__FILE__, __LINE__, #got, (int64_t)(got), #expected, (int64_t)(expected))
#define REQUIRE_EQ(got, expected) test_require(EXPECT_EQ(got, expected))
#define EXPECT_AT_LEAST(got, least) test_expect_order(__FILE__, __LINE__, #got, (int64_t)(got), ">=", (int64_t)(least))
#define EXPECT_AT_MOST(got, most) test_expect_order(__FILE__, __LINE__, #got, (int64_t)(got), "<=", (int64_t)(most))

/* An sst_status; names are printed. */
#define EXPECT_STATUS(got, expected) test_expect_status(__FILE__, __LINE__, #got, (got), (expected))
#define REQUIRE_STATUS(got, expected) test_require(EXPECT_STATUS(got, expected))

/* Bytes with a length, against bytes or against a C string. */
#define EXPECT_BYTES(got, got_len, expected, expected_len) \
  test_expect_bytes(__FILE__, __LINE__, #got, (got), (got_len), (expected), (expected_len))
#define EXPECT_TEXT(got, got_len, expected) \
  test_expect_text(__FILE__, __LINE__, #got, (const void *)(got), (got_len), (expected))
#define EXPECT_STRING(got, expected) test_expect_string(__FILE__, __LINE__, #got, (got), (expected))
#define EXPECT_CONTAINS(text, part) test_expect_contains(__FILE__, __LINE__, (text), (part))

/* Ends the case as not run: exit code 77, with the reason. */
#define SKIP(...) test_skip(__VA_ARGS__)
/* Ends the case as failed. */
#define FAIL(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)

/* Prefixes the failures that follow, to tell which round of a loop it is; NULL or "" ends that. */
void test_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* True once an expectation of this case has failed. */
bool test_failed(void);
void test_register(TestCase *test_case);
/* Notes a failure; and ends the case unless something holds. Each program has its own. */
void test_report(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
void test_require(bool holds);
bool test_expect(const char *file, int line, const char *text, bool holds);
bool test_expect_eq(const char *file, int line, const char *text, int64_t got, const char *expected_text,
                    int64_t expected);
bool test_expect_order(const char *file, int line, const char *text, int64_t got, const char *order, int64_t limit);
bool test_expect_status(const char *file, int line, const char *text, sst_status got, sst_status expected);
bool test_expect_bytes(const char *file, int line, const char *text, const void *got, size_t got_len,
                       const void *expected, size_t expected_len);
bool test_expect_text(const char *file, int line, const char *text, const void *got, size_t got_len,
                      const char *expected);
bool test_expect_string(const char *file, int line, const char *text, const char *got, const char *expected);
bool test_expect_contains(const char *file, int line, const char *text, const char *part);
void test_skip(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void test_fail(const char *file, int line, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));

/* Memory that cannot fail: the case ends instead. */
void *test_allocate(size_t size);
void *test_reallocate(void *old, size_t size);

/* Numbers for random tests. The seed is printed when the case starts to use it: always the same one, so that a failure
   can be repeated, unless SST_TEST_SEED sets another. */
uint32_t test_random(void);
uint32_t test_random_below(uint32_t limit);

#endif
