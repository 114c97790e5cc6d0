/* White-box: certificates between leaf and anchor are kept parsed by the trust, and judged anew each time. */
#include "allocations.h"
#include "judge.h"
#include "tls/verify.h"

/* A trust with a root, and a chain of leaf and intermediate; the path is wanted, as streams want it. */
typedef struct Case {
  Judge judge;
  X509 *root, *intermediate;
  sst__path path;
} Case;

static void begin(Case *it) {
  it->judge = judge_new();
  it->judge.request.path = &it->path;
  it->root = judge_root();
  it->intermediate = judge_intermediate(it->root);
  judge_trusts(&it->judge, it->root, NULL);
  judge_is_sent(&it->judge, judge_leaf(it->intermediate), it->intermediate, NULL);
}

static uint64_t allocations_of_verdict(Case *it, sst_status expected) {
  allocations_fail_at(0);
  EXPECT_STATUS(judge_verdict(&it->judge), expected);
  return allocations_count();
}

static X509 *kept(const Case *it) {
  return sst__authorities_find(it->judge.anchors->known, sk_CRYPTO_BUFFER_value(it->judge.chain, 1));
}

TEST(authorities, second_chain_parses_the_intermediate_no_more) {
  if (!allocations_are_wrapped()) SKIP("malloc is not wrapped in this build");
  Case it;
  begin(&it);
  const uint64_t first = allocations_of_verdict(&it, SST_OK), second = allocations_of_verdict(&it, SST_OK);
  EXPECT_AT_LEAST(first, second + 40);
  EXPECT_EQ(allocations_of_verdict(&it, SST_OK), second);
  EXPECT_EQ(it.path.length, 3);
  EXPECT_EQ(it.path.at[1], 1);
  judge_free(&it.judge);
}

TEST(authorities, kept_intermediate_that_has_expired_is_refused) {
  Case it;
  begin(&it);
  EXPECT_STATUS(judge_verdict(&it.judge), SST_OK);
  X509 *found = kept(&it);
  EXPECT(found != NULL);
  X509_free(found);
  it.judge.request.unix_s = DATA_CLOCK + 101 * INT64_C(86400);
  EXPECT_STATUS(judge_verdict(&it.judge), SST_ERR_CERT_EXPIRED);
  judge_free(&it.judge);
}

TEST(authorities, kept_intermediate_without_its_anchor_is_refused) {
  Case it;
  begin(&it);
  EXPECT_STATUS(judge_verdict(&it.judge), SST_OK);
  STACK_OF(X509) *anchors = it.judge.anchors->list;
  it.judge.anchors->list = sk_X509_new_null();
  EXPECT_STATUS(judge_verdict(&it.judge), SST_ERR_CERT_ISSUER_NOT_FOUND);
  sk_X509_free(it.judge.anchors->list);
  it.judge.anchors->list = anchors;
  judge_free(&it.judge);
}

TEST(authorities, intermediate_of_a_refused_chain_is_not_kept) {
  Case it;
  begin(&it);
  it.judge.request.name = "other.test";
  EXPECT_STATUS(judge_verdict(&it.judge), SST_ERR_CERT_NAME_MISMATCH);
  EXPECT(kept(&it) == NULL);
  judge_free(&it.judge);
}

/* The same name and key, another signature: what is not the same to the byte is another certificate. */
TEST(authorities, damaged_copy_of_a_kept_intermediate_is_refused) {
  Case it;
  begin(&it);
  EXPECT_STATUS(judge_verdict(&it.judge), SST_OK);
  CRYPTO_BUFFER_free(sk_CRYPTO_BUFFER_pop(it.judge.chain));
  judge_is_sent(&it.judge, issue_damaged(it.intermediate), NULL);
  EXPECT_STATUS(judge_verdict(&it.judge), SST_ERR_CERT_BAD_SIGNATURE);
  judge_free(&it.judge);
}

/* More than there is room for: the oldest go, and what is kept is still found by its bytes. */
TEST(authorities, more_than_there_is_room_for_stay_correct) {
  enum { MANY = 40, ROOM = 16 };
  Case it;
  begin(&it);
  sst__authorities *known = it.judge.anchors->known;
  CRYPTO_BUFFER *der[MANY];
  for (int i = 0; i < MANY; i++) {
    X509 *made = ISSUE(.subject = "many", .key = key_of(KEY_P256, 1), .begin = -i - 1, .end = 100, .ca = true);
    uint8_t *bytes = NULL;
    const int len = i2d_X509(made, &bytes);
    REQUIRE(len > 0);
    der[i] = CRYPTO_BUFFER_new(bytes, (size_t)len, NULL);
    OPENSSL_free(bytes);
    sst__authorities_add(known, der[i], made);
  }
  for (int i = 0; i < MANY; i++) {
    X509 *found = sst__authorities_find(known, der[i]);
    EXPECT_EQ(found != NULL, i >= MANY - ROOM);
    uint8_t *bytes = NULL;
    const int len = found == NULL ? 0 : i2d_X509(found, &bytes);
    if (found != NULL) EXPECT_BYTES(bytes, (size_t)len, CRYPTO_BUFFER_data(der[i]), CRYPTO_BUFFER_len(der[i]));
    OPENSSL_free(bytes);
    X509_free(found);
    CRYPTO_BUFFER_free(der[i]);
  }
  EXPECT_STATUS(judge_verdict(&it.judge), SST_OK);
  judge_free(&it.judge);
}
