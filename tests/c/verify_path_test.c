/* White-box: which path verification takes, and who may issue what. */
#include "judge.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define INTERMEDIATE(root, ...)                                                                                     \
  ISSUE(.subject = "Intermediate", .key = key_of(KEY_P256, 1), .issuer = (root), .issuer_key = key_of(KEY_P256, 0), \
        __VA_ARGS__)

typedef struct Cast {
  Judge judge;
  X509 *root, *upper, *intermediate, *leaf;
} Cast;

/* root (trusted) > upper > intermediate > leaf */
static Cast cast_new(void) {
  Cast cast = {.judge = judge_new(), .root = judge_root()};
  cast.upper = ISSUE(.subject = "Upper", .key = key_of(KEY_P256, 3), .ca = true, .issuer = cast.root,
                     .issuer_key = key_of(KEY_P256, 0));
  cast.intermediate = ISSUE(.subject = "Intermediate", .key = key_of(KEY_P256, 1), .ca = true, .issuer = cast.upper,
                            .issuer_key = key_of(KEY_P256, 3));
  cast.leaf = judge_leaf(cast.intermediate);
  judge_trusts(&cast.judge, cast.root, NULL);
  return cast;
}

TEST(verify_path, issuers_in_any_order_among_strangers_and_repeats_pass) {
  Cast cast = cast_new();
  X509 *stranger = ISSUE(.subject = "Stranger", .key = key_of(KEY_P384, 0), .ca = true);
  judge_is_sent(&cast.judge, cast.leaf, cast.leaf, cast.upper, stranger, cast.intermediate, cast.upper, NULL);

  EXPECT_STATUS(judge_verdict(&cast.judge), SST_OK);
  judge_free(&cast.judge);
}

TEST(verify_path, leaf_that_is_not_first_fails) {
  Cast cast = cast_new();
  judge_is_sent(&cast.judge, cast.intermediate, cast.leaf, cast.upper, NULL);

  EXPECT_STATUS(judge_verdict(&cast.judge), SST_ERR_KEY_USAGE); /* of an authority, which signs certificates only */
  judge_free(&cast.judge);
}

TEST(verify_path, missing_issuer_in_the_middle_is_issuer_not_found) {
  Cast cast = cast_new();
  judge_is_sent(&cast.judge, cast.leaf, cast.upper, NULL);

  EXPECT_STATUS(judge_verdict(&cast.judge), SST_ERR_CERT_ISSUER_NOT_FOUND);
  judge_free(&cast.judge);
}

TEST(verify_path, junk_behind_the_leaf_is_left_out) {
  Cast cast = cast_new();
  judge_is_sent(&cast.judge, cast.leaf, NULL);
  judge_is_sent_bytes(&cast.judge, "junk", 4);
  judge_is_sent_bytes(&cast.judge, "", 0);
  judge_is_sent(&cast.judge, cast.intermediate, cast.upper, NULL);

  EXPECT_STATUS(judge_verdict(&cast.judge), SST_OK);
  judge_free(&cast.judge);
}

static void with_alternative(const X509 *root, const X509 *good, const X509 *bad, bool good_first) {
  test_note("good one %s", good_first ? "first" : "last");
  Judge judge = judge_new();
  judge_trusts(&judge, root, NULL);
  judge_is_sent(&judge, judge_leaf(good), good_first ? good : bad, good_first ? bad : good, NULL);
  EXPECT_STATUS(judge_verdict(&judge), SST_OK);
  sst__anchors_free(judge.anchors);
  sk_CRYPTO_BUFFER_pop_free(judge.chain, CRYPTO_BUFFER_free);
}

TEST(verify_path, expired_issuer_beside_a_renewed_one_does_no_harm) {
  X509 *root = judge_root();
  X509 *old = INTERMEDIATE(root, .ca = true, .key_ids = true, .begin = -100, .end = -1);
  with_alternative(root, judge_intermediate(root), old, true);
  with_alternative(root, judge_intermediate(root), old, false);
  issue_free_all();
}

TEST(verify_path, issuer_of_the_same_name_with_another_key_does_no_harm) {
  X509 *root = judge_root();
  X509 *impostor = ISSUE(.subject = "Intermediate", .key = key_of(KEY_P256, 3), .ca = true, .issuer = root,
                         .issuer_key = key_of(KEY_P256, 0));
  with_alternative(root, judge_intermediate(root), impostor, true);
  with_alternative(root, judge_intermediate(root), impostor, false);
  issue_free_all();
}

/* The intermediate's key is certified by two roots, of which one is trusted. */
TEST(verify_path, cross_certificate_of_an_unknown_root_does_no_harm) {
  X509 *root = judge_root(), *other = ISSUE(.subject = "Other", .key = key_of(KEY_P256, 3), .ca = true);
  X509 *cross = ISSUE(.subject = "Intermediate", .key = key_of(KEY_P256, 1), .ca = true, .issuer = other,
                      .issuer_key = key_of(KEY_P256, 3));
  with_alternative(root, judge_intermediate(root), cross, true);
  with_alternative(root, judge_intermediate(root), cross, false);
  issue_free_all();
}

static void with_anchors(X509 *first, X509 *second, sst_status status) {
  Judge judge = judge_new();
  judge_trusts(&judge, first, second, NULL);
  judge_is_sent(&judge, judge_leaf(INTERMEDIATE(first, .ca = true)), INTERMEDIATE(first, .ca = true), NULL);
  EXPECT_STATUS(judge_verdict(&judge), status);
  sst__anchors_free(judge.anchors);
  sk_CRYPTO_BUFFER_pop_free(judge.chain, CRYPTO_BUFFER_free);
}

TEST(verify_path, expired_anchor_beside_a_renewed_one_does_no_harm) {
  X509 *old = ISSUE(.subject = "Root", .key = key_of(KEY_P256, 0), .ca = true, .begin = -100, .end = -1);
  X509 *renewed = ISSUE(.subject = "Root", .key = key_of(KEY_P256, 0), .ca = true);
  with_anchors(old, renewed, SST_OK);
  with_anchors(renewed, old, SST_OK);
  with_anchors(old, old, SST_ERR_CERT_EXPIRED);
  issue_free_all();
}

TEST(verify_path, anchor_of_the_same_name_with_another_key_does_no_harm) {
  X509 *impostor = ISSUE(.subject = "Root", .key = key_of(KEY_P256, 3), .ca = true);
  X509 *real = ISSUE(.subject = "Root", .key = key_of(KEY_P256, 0), .ca = true);
  with_anchors(impostor, real, SST_OK);
  with_anchors(real, impostor, SST_OK);
  with_anchors(impostor, impostor, SST_ERR_CERT_BAD_SIGNATURE);
  issue_free_all();
}

TEST(verify_path, trusted_self_signed_leaf_passes_beside_an_older_one_of_its_name) {
  X509 *old = ISSUE(.subject = "Self", .key = key_of(KEY_P256, 1), .names = "DNS:server.test");
  X509 *leaf = ISSUE(.subject = "Self", .key = key_of(KEY_P256, 2), .names = "DNS:server.test");
  Judge judge = judge_new();
  judge_trusts(&judge, old, leaf, NULL);
  judge_is_sent(&judge, leaf, NULL);

  EXPECT_STATUS(judge_verdict(&judge), SST_OK);
  judge_free(&judge);
}

TEST(verify_path, intermediate_as_anchor_is_enough_with_partial_chains_only) {
  Cast cast = cast_new();
  Judge judge = judge_new();
  judge_trusts(&judge, cast.intermediate, NULL);
  judge_is_sent(&judge, cast.leaf, NULL);

  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_ISSUER_NOT_FOUND);
  sst__anchors_set_partial_chain(judge.anchors, true);
  EXPECT_STATUS(judge_verdict(&judge), SST_OK);
  sst__anchors_free(cast.judge.anchors);
  sk_CRYPTO_BUFFER_free(cast.judge.chain);
  judge_free(&judge);
}

/* An end at any anchor is enough: that the path could go on to an expired one does not matter. */
TEST(verify_path, partial_chain_does_not_go_on_to_an_expired_root) {
  X509 *old = ISSUE(.subject = "Root", .key = key_of(KEY_P256, 0), .ca = true, .begin = -100, .end = -1);
  X509 *intermediate = INTERMEDIATE(old, .ca = true);
  Judge judge = judge_new();
  judge_trusts(&judge, intermediate, old, NULL);
  judge_is_sent(&judge, judge_leaf(intermediate), NULL);
  sst__anchors_set_partial_chain(judge.anchors, true);

  EXPECT_STATUS(judge_verdict(&judge), SST_OK);
  judge_free(&judge);
}

TEST(verify_path, leaf_as_anchor_is_enough_with_partial_chains) {
  Cast cast = cast_new();
  Judge judge = judge_new();
  judge_trusts(&judge, cast.leaf, NULL);
  judge_is_sent(&judge, cast.leaf, NULL);
  sst__anchors_set_partial_chain(judge.anchors, true);

  EXPECT_STATUS(judge_verdict(&judge), SST_OK);
  judge.request.name = "other.test";
  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_NAME_MISMATCH);
  sst__anchors_free(cast.judge.anchors);
  sk_CRYPTO_BUFFER_free(cast.judge.chain);
  judge_free(&judge);
}

TEST(verify_path, issuer_that_is_no_authority_is_not_ca_with_alert_48) {
  Judge judge = judge_new();
  X509 *root = judge_root(), *leaf = INTERMEDIATE(root, .names = "DNS:a.test");
  judge_trusts(&judge, root, NULL);
  judge_is_sent(&judge, judge_leaf(leaf), leaf, NULL);

  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_NOT_CA);
  EXPECT_EQ(judge.error.reasons, judge_reasons(SST_ERR_CERT_NOT_CA, 0));
  EXPECT_EQ(judge.error.alert_sent, 48);
  EXPECT_STRING(judge.error.message,
                "certificate 2 of 3 (CN=Intermediate) is no certificate authority, and issued another one");
  judge_free(&judge);
}

/* Who trusts one self-signed server certificate does not want its owner to make others. */
TEST(verify_path, trusted_self_signed_leaf_does_not_issue) {
  Judge judge = judge_new();
  X509 *trusted = ISSUE(.subject = "Self", .key = key_of(KEY_P256, 0), .names = "DNS:a.test");
  judge_trusts(&judge, trusted, NULL);
  judge_is_sent(&judge,
                ISSUE(.subject = "Leaf", .key = key_of(KEY_P256, 2), .issuer = trusted,
                      .issuer_key = key_of(KEY_P256, 0), .names = "DNS:server.test"),
                NULL);

  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_NOT_CA);
  judge_free(&judge);
}

TEST(verify_path, path_length_that_is_exceeded_is_chain_too_long) {
  Cast cast = cast_new();
  X509 *upper = ISSUE(.subject = "Upper", .key = key_of(KEY_P256, 3), .ca = true, .path_length = "0",
                      .issuer = cast.root, .issuer_key = key_of(KEY_P256, 0));
  judge_is_sent(&cast.judge, cast.leaf, cast.intermediate, upper, NULL);

  EXPECT_STATUS(judge_verdict(&cast.judge), SST_ERR_CERT_CHAIN_TOO_LONG);
  EXPECT_STRING(cast.judge.error.message, "the chain is longer than certificate 3 of 4 (CN=Upper) allows");
  judge_free(&cast.judge);
}

TEST(verify_path, name_outside_the_constraints_of_an_issuer_is_refused_with_alert_42) {
  Judge judge = judge_new();
  X509 *root = judge_root(), *issuer = INTERMEDIATE(root, .ca = true, .constraints = "permitted;DNS:a.test");
  judge_trusts(&judge, root, NULL);
  judge_is_sent(&judge, judge_leaf(issuer), issuer, NULL);

  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_NAME_CONSTRAINT);
  EXPECT_EQ(judge.error.alert_sent, 42);
  judge_free(&judge);
}

/* A chain of count certificates, root included, and a wrong link in the middle for those that are too long. */
static sst_status chain_of(int count, sst_error *error) {
  Judge judge = judge_new();
  X509 *chain[16];
  char name[16];
  for (int i = 0; i < count - 1; i++) {
    snprintf(name, sizeof name, "CA %d", i);
    chain[i] =
        ISSUE(.subject = name, .key = key_of(KEY_P256, (unsigned)i % 2), .ca = true,
              .issuer = i == 0 ? NULL : chain[i - 1], .issuer_key = key_of(KEY_P256, (unsigned)(i + 1 - (i == 0)) % 2));
  }
  judge_is_sent(&judge,
                ISSUE(.subject = "Leaf", .key = key_of(KEY_P256, 2), .issuer = chain[count - 2],
                      .issuer_key = key_of(KEY_P256, (unsigned)count % 2), .names = "DNS:server.test"),
                NULL);
  for (int i = count - 2; i > 0; i--)
    judge_is_sent(&judge, chain[i], NULL);
  judge_trusts(&judge, chain[0], NULL);
  const sst_status status = judge_verdict(&judge);
  *error = judge.error;
  judge_free(&judge);
  return status;
}

TEST(verify_path, ten_certificates_pass_and_more_are_chain_too_long) {
  sst_error error;
  EXPECT_STATUS(chain_of(2, &error), SST_OK);
  EXPECT_STATUS(chain_of(10, &error), SST_OK);
  for (int count = 11; count <= 14; count++) {
    test_note("%d certificates", count);
    EXPECT_STATUS(chain_of(count, &error), SST_ERR_CERT_CHAIN_TOO_LONG);
    EXPECT_EQ(error.reasons, judge_reasons(SST_ERR_CERT_CHAIN_TOO_LONG, 0));
    EXPECT_STRING(error.message, "the chain has more than 10 certificates");
  }
}

/* Four issuers of one name at each of six levels, all with a wrong key: 4,096 paths that nobody may make us walk. */
TEST(verify_path, many_alternatives_end_in_bounded_time) {
  static const char *const names[] = {"Level 1", "Level 2", "Level 3", "Level 4", "Level 5", "Level 6"};
  Judge judge = judge_new();
  X509 *issuer = judge_root();
  judge_trusts(&judge, issuer, NULL);
  X509 *levels[6][4];
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 4; j++) {
      levels[i][j] = ISSUE(.subject = names[i], .key = key_of(KEY_P256, 1), .ca = true, .issuer = issuer,
                           .issuer_key = key_of(KEY_P256, 3));
    }
    issuer = levels[i][0];
  }
  judge_is_sent(&judge,
                ISSUE(.subject = "Leaf", .key = key_of(KEY_P256, 2), .issuer = issuer,
                      .issuer_key = key_of(KEY_P256, 3), .names = "DNS:server.test"),
                NULL);
  for (int i = 5; i >= 0; i--) {
    for (int j = 0; j < 4; j++)
      judge_is_sent(&judge, levels[i][j], NULL);
  }

  const clock_t start = clock();
  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_BAD_SIGNATURE);
  EXPECT_AT_MOST((clock() - start) * 1000 / CLOCKS_PER_SEC, 300);
  judge_free(&judge);
}
