/* White-box: every row of tests/data/verdicts.txt. */
#include "verdict_rows.h"

#include <stdio.h>
#include <string.h>

#include "error.h"

static X509 *parsed(const CRYPTO_BUFFER *der) {
  const uint8_t *bytes = CRYPTO_BUFFER_data(der);
  X509 *certificate = d2i_X509(NULL, &bytes, (long)CRYPTO_BUFFER_len(der));
  REQUIRE(certificate != NULL);
  return certificate;
}

/* Certificate index of the path; the caller frees it. */
static X509 *on_path(const Judge *judge, const sst__path *path, size_t index) {
  const size_t at = path->at[index];
  if ((at & SST__IN_TRUST) == 0) {
    REQUIRE(at < sk_CRYPTO_BUFFER_num(judge->chain));
    return parsed(sk_CRYPTO_BUFFER_value(judge->chain, at));
  }
  REQUIRE((at & ~(size_t)SST__IN_TRUST) < sk_X509_num(judge->anchors->list));
  X509 *anchor = sk_X509_value(judge->anchors->list, at & ~(size_t)SST__IN_TRUST);
  (void)X509_up_ref(anchor);
  return anchor;
}

static bool is_in_trust(const Judge *judge, const X509 *certificate) {
  for (size_t i = 0; i < sk_X509_num(judge->anchors->list); i++) {
    if (X509_cmp(sk_X509_value(judge->anchors->list, i), certificate) == 0) return true;
  }
  return false;
}

/* From the leaf to an anchor, each issued by the next. */
static void expect_path(const Judge *judge, const sst__path *path) {
  REQUIRE(path->length > 0 && path->length <= SST__MAX_PATH);
  X509 *certificate = on_path(judge, path, 0), *leaf = parsed(sk_CRYPTO_BUFFER_value(judge->chain, 0));
  EXPECT(X509_cmp(certificate, leaf) == 0);
  for (size_t i = 1; i < path->length; i++) {
    X509 *issuer = on_path(judge, path, i);
    EXPECT(X509_verify(certificate, X509_get0_pubkey(issuer)) == 1);
    X509_free(certificate);
    certificate = issuer;
  }
  EXPECT(is_in_trust(judge, certificate));
  X509_free(certificate);
  X509_free(leaf);
}

/* What the peer must see by RFC 8446, 6.2, and X07. */
static int alert_of(sst_status code) {
  switch (code) {
    case SST_ERR_CERT_ISSUER_NOT_FOUND:
    case SST_ERR_CERT_SELF_SIGNED:
      return 48;
    case SST_ERR_CERT_EXPIRED:
    case SST_ERR_CERT_NOT_YET_VALID:
      return 45;
    case SST_ERR_CERT_REVOKED:
      return 44;
    case SST_ERR_CERT_PURPOSE:
      return 43;
    case SST_ERR_CERT_NAME_MISMATCH:
      return 42;
    case SST_ERR_CERT_STAPLE_MISSING: /* RFC 6066, 8, as RFC 8446, 6.2 says of it */
      return 113;
    default:
      return 0; /* RFC 8446 leaves it open */
  }
}

/* A name, a certificate by number, or the whole chain where that is at fault. */
static void expect_message(const VerdictRow *row, const char *message) {
  int number = 0;
  const char *at = strstr(message, "certificate ");
  const bool has_number = at != NULL && sscanf(at, "certificate %d", &number) == 1 && number > 0;
  if (row->code == SST_ERR_CERT_NAME_MISMATCH) {
    EXPECT_CONTAINS(message, row->expected_name);
  } else if (row->code == SST_ERR_CERT_CHAIN_TOO_LONG && !has_number) {
    EXPECT_STRING(message, "the chain has more than 10 certificates");
  } else if (!has_number) {
    EXPECT_CONTAINS(message, "certificate N"); /* fails, and shows the message */
  }
}

static void expect_row(const VerdictRow *row) {
  test_note("%s", row->name);
  Judge judge = verdict_row_judge(row);
  sst__path path = {.length = 0};
  judge.request.path = &path;

  const sst_status got = judge_verdict(&judge);
  EXPECT_STATUS(got, row->code);
  EXPECT_EQ(judge.error.reasons, row->reasons);
  if (got == SST_OK) {
    expect_path(&judge, &path);
  } else if (got == row->code) {
    EXPECT_EQ(path.length, 0);
    if (alert_of(row->code) != 0) EXPECT_EQ(judge.error.alert_sent, alert_of(row->code));
    expect_message(row, judge.error.message);
  }
  judge_free(&judge);
}

TEST(verdicts, every_row_has_the_code_the_set_and_the_path_that_it_must_have) {
  VerdictRows rows = verdict_rows_read();
  EXPECT_AT_LEAST(rows.count, 120);
  for (size_t i = 0; i < rows.count; i++)
    expect_row(&rows.rows[i]);
  verdict_rows_free(&rows);
}
