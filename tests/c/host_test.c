/* White-box: host names as callers write them. */
#include "host.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

static void expect_host(const char *text, const char *name, bool is_ip) {
  sst__host host = {.name = "unchanged", .is_ip = true};
  test_note("'%s'", text);
  EXPECT(sst__host_parse(&host, text, strlen(text)));
  EXPECT_STRING(host.name, name);
  EXPECT_EQ(host.is_ip, is_ip);
}

static void expect_refused(const char *text, size_t len) {
  sst__host host = {.name = "unchanged", .is_ip = true};
  test_note("'%s'", text);
  EXPECT(!sst__host_parse(&host, text, len));
  EXPECT_STRING(host.name, "unchanged");
  EXPECT(host.is_ip);
}

TEST(host, dns_name_is_kept_as_it_is) {
  const char *const names[] = {
      "a.test",         "A.Test",  "localhost", "ex_ample.test", "_tcp.a.test", "xn--bcher-kva.test",
      "r3---sn.a.test", "-a.test", "a-.test",   "1.a",           "127.0.0.1.a", "0x7f.example",
      "3com.test",      "0xg",     "1a"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    expect_host(names[i], names[i], false);
}

TEST(host, trailing_dot_is_dropped) {
  expect_host("a.test.", "a.test", false);
  expect_host("localhost.", "localhost", false);
  expect_host("127.0.0.1.", "127.0.0.1", true);
}

TEST(host, address_is_known_as_one_and_loses_its_brackets) {
  expect_host("127.0.0.1", "127.0.0.1", true);
  expect_host("::1", "::1", true);
  expect_host("[::1]", "::1", true);
  expect_host("[2001:DB8::192.0.2.1]", "2001:DB8::192.0.2.1", true);
  expect_host("::ffff:127.0.0.1", "::ffff:127.0.0.1", true);
}

TEST(host, empty_name_is_none) {
  sst__host host = {.name = "a.test", .is_ip = true};
  EXPECT(sst__host_parse(&host, "", 0));
  EXPECT_STRING(host.name, "");
  EXPECT(!host.is_ip);
  EXPECT(sst__host_parse(&host, NULL, 0));
}

TEST(host, bytes_that_no_host_name_has_are_refused) {
  const char *const names[] = {
      "b\xc3\xbc"
      "cher.test",
      "a test",
      " a.test",
      "a.test ",
      "a.test\n",
      "a/b",
      "a:443",
      "a.test:443",
      "*",
      "*.test",
      "a@b",
      "a%20b",
      "https://a.test",
      "a,b",
      "\x7f",
      "a\t",
      "\"a\"",
      "a\\b"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    expect_refused(names[i], strlen(names[i]));
  expect_refused("a.test\0", 7);
  expect_refused("a\0.test", 7);
  expect_refused("\0", 1);
  expect_refused("127.0.0.1\0", 10);
}

TEST(host, empty_labels_are_refused) {
  const char *const names[] = {".", "..", "a..b", ".a", "a.test..", ".a.test", "[]", "[.]"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    expect_refused(names[i], strlen(names[i]));
}

/* Resolvers read them as addresses in ways of their own; the certificate check must not take them for names. */
TEST(host, damaged_addresses_are_refused) {
  const char *const names[] = {"256.1.1.1",    "1.2.3",      "1.2.3.4.5",   "127.1",       "2130706433",
                               "0x7f000001",   "0x7f.0.0.1", "127.0.0.0x1", "01.02.03.04", "a.1",
                               "a.0x1",        "0x",         ":::",         "1::2::3",     "::1%lo",
                               "fe80::1%eth0", "::g",        "[127.0.0.1]", "[a.test]",    "[::1",
                               "::1]",         "[::1]:443",  "[[::1]]",     "::1.",        "12345::"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    expect_refused(names[i], strlen(names[i]));
}

static size_t labels(char *out, size_t label_len, size_t total) {
  for (size_t i = 0; i < total; i++)
    out[i] = (i + 1) % (label_len + 1) == 0 ? '.' : 'a';
  return total;
}

TEST(host, lengths_are_limited_to_63_a_label_and_253_in_all) {
  char text[300];
  sst__host host;
  EXPECT(sst__host_parse(&host, text, labels(text, 63, 63)));
  memset(text, 'a', 64);
  EXPECT(!sst__host_parse(&host, text, 64));
  EXPECT(sst__host_parse(&host, text, labels(text, 63, 253)));
  EXPECT_EQ(strlen(host.name), 253);
  EXPECT(!sst__host_parse(&host, text, labels(text, 62, 254)));
  EXPECT(!sst__host_parse(&host, text, labels(text, 62, 256)));
  labels(text, 62, 253);
  text[253] = '.';
  EXPECT(sst__host_parse(&host, text, 254)); /* the dot is not part of the name */
  EXPECT_EQ(strlen(host.name), 253);
}

/* A name that is not terminated, in a piece of memory of just its size. */
TEST(host, nothing_is_read_behind_the_end) {
  const char *const names[] = {"a.test", "[::1]", "127.0.0.1", "a.test."};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    for (size_t len = 1; len <= strlen(names[i]); len++) {
      char *exact = test_allocate(len);
      memcpy(exact, names[i], len);
      sst__host host;
      (void)sst__host_parse(&host, exact, len);
      free(exact);
    }
  }
}
