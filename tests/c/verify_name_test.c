/* White-box: which names a certificate is good for (RFC 9525, 6.3). */
#include "judge.h"

#include <stdio.h>
#include <string.h>

static sst_status verdict(const char *subject, const char *san, const char *name, bool is_ip, sst_error *error) {
  Judge judge = judge_new();
  X509 *root = judge_root();
  judge_trusts(&judge, root, NULL);
  judge_is_sent(&judge,
                ISSUE(.subject = subject, .key = key_of(KEY_P256, 2), .issuer = root, .issuer_key = key_of(KEY_P256, 0),
                      .names = san),
                NULL);
  judge.request.name = name;
  judge.request.name_is_ip = is_ip;
  const sst_status status = judge_verdict(&judge);
  *error = judge.error;
  judge_free(&judge);
  return status;
}

typedef struct Row {
  const char *san, *name;
  bool is_ip, matches;
} Row;

static void expect_rows(const Row *rows, size_t count) {
  sst_error error;
  for (size_t i = 0; i < count; i++) {
    test_note("%s against %s", rows[i].name, rows[i].san);
    EXPECT_STATUS(verdict("Leaf", rows[i].san, rows[i].name, rows[i].is_ip, &error),
                  rows[i].matches ? SST_OK : SST_ERR_CERT_NAME_MISMATCH);
    if (!rows[i].matches) EXPECT_EQ(error.alert_sent, 42);
  }
}

TEST(verify_name, dns_name_matches_case_blind_and_whole) {
  static const Row rows[] = {{"DNS:a.test", "a.test", false, true},
                             {"DNS:A.Test", "a.tEST", false, true},
                             {"DNS:b.test,DNS:a.test", "a.test", false, true},
                             {"DNS:a.test", "b.a.test", false, false},
                             {"DNS:a.test", "test", false, false},
                             {"DNS:ex_ample.test", "ex_ample.test", false, true},
                             {"DNS:a.test", "xa.test", false, false},
                             {"DNS:localhost", "localhost", false, true}};
  expect_rows(rows, sizeof rows / sizeof rows[0]);
}

TEST(verify_name, wildcard_stands_for_one_whole_leftmost_label) {
  static const Row rows[] = {
      {"DNS:*.a.test", "b.a.test", false, true},    {"DNS:*.a.test", "a.test", false, false},
      {"DNS:*.a.test", "c.b.a.test", false, false}, {"DNS:b*.a.test", "bc.a.test", false, false},
      {"DNS:b.*.test", "b.a.test", false, false},   {"DNS:*", "a", false, false},
      {"DNS:*.test", "a.test", false, false},       {"DNS:*.a.test", "xn--bcher-kva.a.test", false, true}};
  expect_rows(rows, sizeof rows / sizeof rows[0]);
}

TEST(verify_name, address_matches_by_ip_entries_only) {
  static const Row rows[] = {
      {"IP:127.0.0.1", "127.0.0.1", true, true},         {"IP:127.0.0.1", "127.0.0.2", true, false},
      {"DNS:127.0.0.1", "127.0.0.1", true, false},       {"IP:::1", "::1", true, true},
      {"IP:::1", "0:0:0:0:0:0:0:1", true, true},         {"IP:2001:db8::1", "2001:DB8::1", true, true},
      {"IP:127.0.0.1", "::ffff:127.0.0.1", true, false}, {"IP:127.0.0.1", "a.test", false, false}};
  expect_rows(rows, sizeof rows / sizeof rows[0]);
}

TEST(verify_name, common_name_does_not_count) {
  sst_error error;
  EXPECT_STATUS(verdict("a.test", NULL, "a.test", false, &error), SST_ERR_CERT_NAME_MISMATCH);
  EXPECT_STRING(error.message, "host name 'a.test' is not in the certificate (it has no names)");
  EXPECT_STATUS(verdict("127.0.0.1", NULL, "127.0.0.1", true, &error), SST_ERR_CERT_NAME_MISMATCH);
}

TEST(verify_name, without_an_expected_name_any_passes) {
  sst_error error;
  EXPECT_STATUS(verdict("Leaf", "DNS:a.test", NULL, false, &error), SST_OK);
  EXPECT_STATUS(verdict("Leaf", NULL, NULL, false, &error), SST_OK);
}

TEST(verify_name, mismatch_names_what_the_certificate_has) {
  sst_error error;
  EXPECT_STATUS(verdict("Leaf", "DNS:a.test,DNS:*.a.test,IP:10.0.0.1,IP:::1,email:x@a.test", "b.test", false, &error),
                SST_ERR_CERT_NAME_MISMATCH);
  EXPECT_STRING(error.message, "host name 'b.test' is not in the certificate (a.test, *.a.test, 10.0.0.1, ::1)");
  EXPECT_STATUS(verdict("Leaf", "DNS:a.test", "10.0.0.2", true, &error), SST_ERR_CERT_NAME_MISMATCH);
  EXPECT_STRING(error.message, "address '10.0.0.2' is not in the certificate (a.test)");
}

TEST(verify_name, long_lists_of_names_are_cut_in_the_message) {
  char san[4000] = "DNS:0.test";
  for (int i = 1; i < 200; i++)
    snprintf(san + strlen(san), sizeof san - strlen(san), ",DNS:%d.test", i);
  sst_error error;
  EXPECT_STATUS(verdict("Leaf", san, "b.test", false, &error), SST_ERR_CERT_NAME_MISMATCH);
  EXPECT_CONTAINS(error.message, "(0.test, 1.test, ");
  EXPECT_CONTAINS(error.message, ", ...)");
  EXPECT_AT_MOST(strlen(error.message), 60 + 200);
}

/* What a peer writes into a certificate must not reach a terminal or a log as it is. */
TEST(verify_name, peer_text_is_printable_in_the_message) {
  sst_error error;
  EXPECT_STATUS(verdict("Leaf", "DNS:a\x1b[31m.test", "b.test", false, &error), SST_ERR_CERT_NAME_MISMATCH);
  EXPECT_CONTAINS(error.message, "(a?[31m.test)");

  Judge judge = judge_new();
  X509 *root = judge_root();
  judge_trusts(&judge, root, NULL);
  judge_is_sent(&judge, ISSUE(.subject = "L\nf\x7f", .key = key_of(KEY_P256, 2), .names = "DNS:a.test"), NULL);
  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_SELF_SIGNED);
  EXPECT_CONTAINS(judge.error.message, "(CN=L?f?)");
  judge_free(&judge);
}

TEST(verify_name, certificate_without_subject_is_named_so) {
  Judge judge = judge_new();
  X509 *root = judge_root();
  judge_trusts(&judge, root, NULL);
  judge_is_sent(&judge,
                ISSUE(.subject = "", .key = key_of(KEY_P256, 2), .issuer = root, .issuer_key = key_of(KEY_P256, 0),
                      .names = "DNS:server.test", .begin = 1, .end = 2),
                NULL);
  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_NOT_YET_VALID);
  EXPECT_CONTAINS(judge.error.message, "certificate 1 of 2 (no subject) is not valid before");
  judge_free(&judge);
}
