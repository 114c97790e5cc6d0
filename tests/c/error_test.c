/* White-box: the table of errors against the header's constants, and the helpers that every getter shares. */
#include "error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

typedef void (*Visit)(const char *name, long number);

/* Every constant SST_NAME of abi/constants.txt, which a compiled program has printed from the header. */
static size_t each_constant(const char *prefix, Visit visit) {
  char line[200], name[100];
  long number = 0;
  size_t count = 0;
  FILE *file = fopen(SST_TEST_DATA "/../../abi/constants.txt", "r");
  REQUIRE(file != NULL);
  while (fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "SST_%99s = %ld", name, &number) != 2 || strncmp(name, prefix, strlen(prefix)) != 0) continue;
    visit(name, number);
    count++;
  }
  fclose(file);
  return count;
}

static void is_in_table(const char *name, long number) {
  const sst_status status = (sst_status)number;
  test_note("%s", name);
  EXPECT_STRING(sst_status_name(status), name);
  EXPECT(strcmp(sst_status_text(status), "unknown") != 0);
  EXPECT(strlen(sst_status_text(status)) > 8);
}

/* One line that a person can follow. No hint may talk anybody out of verification. */
static void has_a_hint(const char *name, long number) {
  const char *hint = sst_status_hint((sst_status)number);
  test_note("%s", name);
  EXPECT_AT_LEAST(strlen(hint), 10);
  EXPECT_AT_MOST(strlen(hint), 120);
  EXPECT(strchr(hint, '\n') == NULL);
  EXPECT(strcmp(hint, sst_status_text((sst_status)number)) != 0);
  EXPECT(strstr(hint, "VERIFY_NONE") == NULL && strstr(hint, "verification off") == NULL);
}

static void has_no_hint(const char *name, long number) {
  test_note("%s", name);
  EXPECT_STRING(sst_status_hint((sst_status)number), "");
}

TEST(error, every_error_has_a_hint_and_outcomes_have_none) {
  EXPECT_AT_LEAST(each_constant("ERR_", has_a_hint), 70);
  EXPECT_AT_LEAST(each_constant("WANT_", has_no_hint), 7);
  for (long outcome = SST_OK; outcome <= SST_NONE; outcome++)
    has_no_hint("outcome", outcome);
  has_no_hint("no status", -99);
  has_no_hint("no status", 1000);
  has_no_hint("below the alerts", SST_ERR_ALERT_RECEIVED - 256);
  test_note(NULL);
}

/* The alert tells the cause at the other side. */
TEST(error, alerts_received_have_hints_of_their_own) {
  for (sst_status alert = 0; alert <= 255; alert++)
    has_a_hint("alert", SST_ERR_ALERT_RECEIVED - alert);
  EXPECT_CONTAINS(sst_status_hint(SST_ERR_ALERT_RECEIVED - 48), "issuer");
  EXPECT_CONTAINS(sst_status_hint(SST_ERR_ALERT_RECEIVED - 116), "client certificate");
  EXPECT_CONTAINS(sst_status_hint(SST_ERR_ALERT_RECEIVED - 120), "ALPN");
  EXPECT_STRING(sst_status_hint(SST_ERR_ALERT_RECEIVED - 201), sst_status_hint(SST_ERR_ALERT_RECEIVED - 202));
  test_note(NULL);
}

/* A code of the header without a row would have no name and no alert. */
TEST(error, every_code_of_the_header_has_a_name_and_a_text) {
  EXPECT_AT_LEAST(each_constant("ERR_", is_in_table), 70);
  EXPECT_AT_LEAST(each_constant("WANT_", is_in_table), 7);
  test_note(NULL);
}

TEST(error, alerts_received_are_one_code_for_each_number) {
  for (sst_status alert = 0; alert <= 255; alert++) {
    EXPECT_STRING(sst_status_name(SST_ERR_ALERT_RECEIVED - alert), "ERR_ALERT_RECEIVED");
  }
  EXPECT_STRING(sst_status_name(SST_ERR_ALERT_RECEIVED - 256), "unknown");
  EXPECT_STRING(sst_status_name(SST_ERR_ALERT_RECEIVED + 1), "unknown");
  EXPECT_STRING(sst_status_text(5), "unknown");
}

/* bit = 1 << (-500 - code), for certificate faults alone. */
TEST(error, reasons_have_the_bits_of_their_codes) {
  EXPECT_EQ(sst__reason_bit(SST_ERR_CERT_ISSUER_NOT_FOUND), 1);
  EXPECT_EQ(sst__reason_bit(SST_ERR_CERT_EXPIRED), UINT64_C(1) << 20);
  EXPECT_EQ(sst__reason_bit(SST_ERR_CERT_OTHER), UINT64_C(1) << 49);
  EXPECT_EQ(sst__reason_bit(SST_ERR_UNRECOGNIZED_NAME), 0);
  EXPECT_EQ(sst__reason_bit(SST_ERR_CERT_OTHER - 1), 0);
}

TEST(error, failing_fills_the_whole_record) {
  sst_error record;
  memset(&record, 0x55, sizeof record);
  EXPECT_STATUS(sst__fail(&record, SST_ERR_CERT_EXPIRED, "certificate %d", 7), SST_ERR_CERT_EXPIRED);
  EXPECT_EQ(record.size, sizeof record);
  EXPECT_EQ(record.alert_sent, 45);
  EXPECT_EQ(record.alert_received, -1);
  EXPECT_EQ(record.reasons, UINT64_C(1) << 20);
  EXPECT_EQ(record.detail, 0);
  EXPECT_STRING(record.message, "certificate 7");

  char long_text[2000];
  memset(long_text, 'x', sizeof long_text);
  long_text[sizeof long_text - 1] = 0;
  EXPECT_STATUS(sst__fail(&record, SST_ERR_PARSE, "%s", long_text), SST_ERR_PARSE);
  EXPECT_EQ(strlen(record.message), sizeof record.message - 1);
  EXPECT_EQ(record.alert_sent, -1);
}

/* Text of a peer must not bring control characters into a log, nor fill it. */
TEST(error, peer_text_is_made_printable_and_short) {
  char out[300];
  sst__printable("a\nb\x1b[\xc3\xa4\x7f", 8, out, sizeof out);
  EXPECT_STRING(out, "a?b?[???");
  char peer[1000];
  memset(peer, 'p', sizeof peer);
  sst__printable(peer, sizeof peer, out, sizeof out);
  EXPECT_AT_MOST(strlen(out), 200);
  EXPECT_STRING(out + strlen(out) - 4, "p...");
  sst__printable(peer, sizeof peer, out, 5);
  EXPECT_STRING(out, "pppp");
  sst__printable(peer, 0, out, sizeof out);
  EXPECT_STRING(out, "");
}
