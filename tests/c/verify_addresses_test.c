/* White-box: name constraints on addresses, and issuers that must not sign: what the rows of verdicts.txt do not show. */
#include "verdict_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "faults.h"

/* PREFIX10.A.B.0SUFFIX,... count times; the caller frees it. */
static char *many(const char *before, size_t count, const char *after) {
  char *text = test_allocate(count * 64 + 1), *at = text;
  for (size_t i = 0; i < count; i++)
    at += sprintf(at, "%s%s10.%zu.%zu.0%s", i == 0 ? "" : ",", before, i / 256, i % 256, after);
  return text;
}

static sst_status verdict_of(size_t num_names, size_t num_constraints, sst_error *error) {
  char *names = many("IP:", num_names, ""), *constraints = many("permitted;IP:", num_constraints, "/255.255.255.0");
  Judge judge = judge_new();
  X509 *root = judge_root();
  X509 *issuer = ISSUE(.subject = "Intermediate", .key = key_of(KEY_P256, 1), .ca = true, .issuer = root,
                       .issuer_key = key_of(KEY_P256, 0), .constraints = constraints);
  judge_trusts(&judge, root, NULL);
  judge_is_sent(&judge,
                ISSUE(.subject = "Leaf", .key = key_of(KEY_P256, 2), .issuer = issuer,
                      .issuer_key = key_of(KEY_P256, 1), .names = names),
                issuer, NULL);
  judge.request.name = NULL;
  const sst_status status = judge_verdict(&judge);
  *error = judge.error;
  judge_free(&judge);
  free(constraints);
  free(names);
  return status;
}

TEST(verify_addresses, each_of_many_is_looked_at) {
  sst_error error;
  EXPECT_STATUS(verdict_of(200, 200, &error), SST_OK);
  EXPECT_STATUS(verdict_of(200, 199, &error), SST_ERR_CERT_NAME_CONSTRAINT);
  EXPECT_EQ(error.reasons, judge_reasons(SST_ERR_CERT_NAME_CONSTRAINT, 0));
  EXPECT_STRING(error.message, "a name in certificate 1 of 3 (CN=Leaf) is outside what its issuers may certify");
}

/* Sixteen million comparisons that nobody may make us do. */
TEST(verify_addresses, too_many_end_in_bounded_time) {
  sst_error error;
  const clock_t start = clock();
  EXPECT_STATUS(verdict_of(4000, 4000, &error), SST_ERR_CERT_OTHER);
  EXPECT_AT_MOST((clock() - start) * 1000 / CLOCKS_PER_SEC, 3000); /* the making included */
}

static const VerdictRow *row_named(const VerdictRows *rows, const char *name) {
  for (size_t i = 0; i < rows->count; i++) {
    if (strcmp(rows->rows[i].name, name) == 0) return &rows->rows[i];
  }
  FAIL("no row %s", name);
}

TEST(verify_addresses, issuer_without_keycertsign_is_named) {
  VerdictRows rows = verdict_rows_read();
  Judge judge = verdict_row_judge(row_named(&rows, "no-keycertsign"));

  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_NOT_CA);
  EXPECT_STRING(judge.error.message,
                "certificate 2 of 3 (CN=no-certsign) signed another one, but its keyUsage lacks keyCertSign");
  judge_free(&judge);
  verdict_rows_free(&rows);
}

typedef struct Step {
  const VerdictRow *row;
  Judge judge;
} Step;

static void prepare(void *context) {
  Step *step = context;
  step->judge = verdict_row_judge(step->row);
}

static sst_status run(void *context) {
  return judge_verdict(&((Step *)context)->judge);
}

static void check(void *context, sst_status status) {
  (void)status;
  judge_free(&((Step *)context)->judge);
}

/* Without memory a chain is not taken for a good one. */
TEST(verify_addresses, every_allocation_fails_in_turn) {
  static const char *const names[] = {"permitted-ip",   "permitted-other-ip",  "permitted-ip-and-other-name",
                                      "no-keycertsign", "leaf-issued-by-leaf", "crl-wrong-signer-does-not-revoke"};
  VerdictRows rows = verdict_rows_read();
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    Step step = {.row = row_named(&rows, names[i])};
    faults_each(&(Faults){.name = names[i],
                          .context = &step,
                          .prepare = prepare,
                          .run = run,
                          .check = check,
                          .expected = step.row->code});
  }
  verdict_rows_free(&rows);
}
