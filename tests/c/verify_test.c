/* White-box: what is wrong with a chain, one fault at a time. */
#include "judge.h"

#include <string.h>

#include <openssl/mem.h>

/* A leaf that the root issued, with one thing changed. */
#define LEAF(root, ...)                                                                                     \
  ISSUE(.subject = "Leaf", .key = key_of(KEY_P256, 2), .issuer = (root), .issuer_key = key_of(KEY_P256, 0), \
        .names = "DNS:server.test", __VA_ARGS__)

static void expect_leaf(Judge *judge, const X509 *root, const X509 *leaf, sst_status status, int alert) {
  judge_trusts(judge, root, NULL);
  judge_is_sent(judge, leaf, NULL);
  EXPECT_STATUS(judge_verdict(judge), status);
  if (status == SST_OK) return;
  EXPECT_EQ(judge->error.code, status);
  EXPECT_EQ(judge->error.alert_sent, alert);
  EXPECT_EQ(judge->error.reasons, judge_reasons(status, 0));
}

TEST(verify, chain_to_an_anchor_passes) {
  Judge judge = judge_new();
  X509 *root = judge_root(), *intermediate = judge_intermediate(root), *leaf = judge_leaf(intermediate);
  judge_trusts(&judge, root, NULL);
  judge_is_sent(&judge, leaf, intermediate, NULL);

  EXPECT_STATUS(judge_verdict(&judge), SST_OK);
  EXPECT_EQ(judge.error.code, 0);
  judge_free(&judge);
}

TEST(verify, unknown_issuer_is_issuer_not_found_with_alert_48) {
  Judge judge = judge_new();
  X509 *root = judge_root(), *intermediate = judge_intermediate(root), *leaf = judge_leaf(intermediate);
  expect_leaf(&judge, root, leaf, SST_ERR_CERT_ISSUER_NOT_FOUND, 48);

  EXPECT_STRING(judge.error.message,
                "the issuer of certificate 1 of 1 (CN=Leaf) is neither in the chain nor in the trust: CN=Intermediate");
  judge_free(&judge);
}

TEST(verify, self_signed_leaf_is_self_signed_with_alert_48) {
  Judge judge = judge_new();
  X509 *leaf = ISSUE(.subject = "Self", .key = key_of(KEY_P256, 2), .names = "DNS:server.test");
  expect_leaf(&judge, judge_root(), leaf, SST_ERR_CERT_SELF_SIGNED, 48);

  EXPECT_STRING(judge.error.message, "certificate 1 of 1 (CN=Self) is self-signed and not in the trust");
  judge_free(&judge);
}

/* That the peer sends its root does not make the chain another one. */
TEST(verify, unknown_root_in_the_chain_is_issuer_not_found) {
  Judge judge = judge_new();
  X509 *other = ISSUE(.subject = "Other", .key = key_of(KEY_P256, 3), .ca = true);
  X509 *root = judge_root();
  judge_trusts(&judge, other, NULL);
  judge_is_sent(&judge, LEAF(root, .begin = 0), root, NULL);

  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_ISSUER_NOT_FOUND);
  EXPECT_STRING(judge.error.message, "certificate 2 of 2 (CN=Root) is self-signed and not in the trust");
  judge_free(&judge);
}

TEST(verify, expired_leaf_is_expired_with_alert_45) {
  Judge judge = judge_new();
  X509 *root = judge_root();
  expect_leaf(&judge, root, LEAF(root, .begin = -10, .end = -1), SST_ERR_CERT_EXPIRED, 45);

  EXPECT_STRING(judge.error.message, "certificate 1 of 2 (CN=Leaf) expired at 2025-12-31T00:00:00Z");
  judge_free(&judge);
}

TEST(verify, future_leaf_is_not_yet_valid_with_alert_45) {
  Judge judge = judge_new();
  X509 *root = judge_root();
  expect_leaf(&judge, root, LEAF(root, .begin = 1, .end = 10), SST_ERR_CERT_NOT_YET_VALID, 45);

  EXPECT_STRING(judge.error.message, "certificate 1 of 2 (CN=Leaf) is not valid before 2026-01-02T00:00:00Z");
  judge_free(&judge);
}

TEST(verify, expired_issuer_is_named_in_the_message) {
  Judge judge = judge_new();
  X509 *root = judge_root();
  X509 *old = ISSUE(.subject = "Intermediate", .key = key_of(KEY_P256, 1), .ca = true, .issuer = root,
                    .issuer_key = key_of(KEY_P256, 0), .begin = -10, .end = -2);
  judge_trusts(&judge, root, NULL);
  judge_is_sent(&judge, judge_leaf(old), old, NULL);

  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_EXPIRED);
  EXPECT_STRING(judge.error.message, "certificate 2 of 3 (CN=Intermediate) expired at 2025-12-30T00:00:00Z");
  judge_free(&judge);
}

TEST(verify, times_far_outside_of_all_certificates_are_judged_without_overflow) {
  Judge judge = judge_new();
  X509 *root = judge_root();
  judge_trusts(&judge, root, NULL);
  judge_is_sent(&judge, LEAF(root, .begin = 0), NULL);

  judge.request.unix_s = INT64_MAX;
  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_EXPIRED);
  judge.request.unix_s = INT64_MIN;
  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_NOT_YET_VALID);
  judge_free(&judge);
}

TEST(verify, several_faults_give_the_first_in_the_order_chain_time_name_and_all_reasons) {
  Judge judge = judge_new();
  X509 *root = judge_root(), *other = ISSUE(.subject = "Other", .key = key_of(KEY_P256, 3), .ca = true);
  X509 *leaf = LEAF(root, .begin = -10, .end = -1, .purposes = "clientAuth");
  judge.request.name = "b.test";
  judge_is_sent(&judge, leaf, NULL);

  judge_trusts(&judge, other, NULL);
  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_ISSUER_NOT_FOUND);
  EXPECT_EQ(judge.error.reasons, judge_reasons(SST_ERR_CERT_ISSUER_NOT_FOUND, SST_ERR_CERT_PURPOSE,
                                               SST_ERR_CERT_EXPIRED, SST_ERR_CERT_NAME_MISMATCH, 0));
  judge_trusts(&judge, root, NULL);
  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_PURPOSE);
  EXPECT_EQ(judge.error.reasons,
            judge_reasons(SST_ERR_CERT_PURPOSE, SST_ERR_CERT_EXPIRED, SST_ERR_CERT_NAME_MISMATCH, 0));
  judge_free(&judge);
}

TEST(verify, future_leaf_with_another_name_shows_both_reasons) {
  Judge judge = judge_new();
  X509 *root = judge_root();
  judge_trusts(&judge, root, NULL);
  judge_is_sent(&judge, LEAF(root, .begin = 1, .end = 9), NULL);
  judge.request.name = "b.test";

  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_NOT_YET_VALID);
  EXPECT_EQ(judge.error.reasons, judge_reasons(SST_ERR_CERT_NOT_YET_VALID, SST_ERR_CERT_NAME_MISMATCH, 0));
  judge_free(&judge);
}

TEST(verify, damaged_signature_is_bad_signature_with_alert_51) {
  Judge judge = judge_new();
  X509 *root = judge_root();
  expect_leaf(&judge, root, issue_damaged(LEAF(root, .begin = 0)), SST_ERR_CERT_BAD_SIGNATURE, 51);

  EXPECT_STRING(judge.error.message, "the signature of certificate 1 of 2 (CN=Leaf) is wrong");
  judge_free(&judge);
}

static void expect_purpose(const char *purposes, bool peer_is_server, bool accepted) {
  test_note("%s from a %s", purposes == NULL ? "none" : purposes, peer_is_server ? "server" : "client");
  Judge judge = judge_new();
  X509 *root = judge_root();
  judge.request.peer_is_server = peer_is_server;
  expect_leaf(&judge, root, LEAF(root, .purposes = purposes), accepted ? SST_OK : SST_ERR_CERT_PURPOSE, 43);
  if (!accepted) {
    EXPECT_CONTAINS(judge.error.message, "certificate 1 of 2 (CN=Leaf) is not for a TLS ");
    EXPECT_CONTAINS(judge.error.message, peer_is_server ? "server" : "client");
  }
  judge_free(&judge);
}

TEST(verify, extended_key_usage_is_judged_by_role) {
  const struct {
    const char *purposes;
    bool server, client;
  } rows[] = {{NULL, true, true},
              {"serverAuth", true, false},
              {"clientAuth", false, true},
              {"codeSigning", false, false},
              {"serverAuth,clientAuth", true, true},
              {"anyExtendedKeyUsage", false, false}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    expect_purpose(rows[i].purposes, true, rows[i].server);
    expect_purpose(rows[i].purposes, false, rows[i].client);
  }
}

/* BoringSSL does not look at the purpose of what is trusted itself. */
TEST(verify, trusted_leaf_for_another_purpose_is_refused) {
  Judge judge = judge_new();
  X509 *leaf =
      ISSUE(.subject = "Self", .key = key_of(KEY_P256, 2), .names = "DNS:server.test", .purposes = "clientAuth");
  expect_leaf(&judge, leaf, leaf, SST_ERR_CERT_PURPOSE, 43);
  judge_free(&judge);
}

TEST(verify, small_rsa_key_is_weak_with_alert_42_until_the_minimum_allows_it) {
  Judge judge = judge_new();
  X509 *root = judge_root();
  X509 *leaf = ISSUE(.subject = "Leaf", .key = key_of(KEY_RSA1024, 0), .issuer = root,
                     .issuer_key = key_of(KEY_P256, 0), .names = "DNS:server.test");
  expect_leaf(&judge, root, leaf, SST_ERR_CERT_WEAK_KEY, 42);
  EXPECT_STRING(judge.error.message,
                "certificate 1 of 2 (CN=Leaf) has an RSA key of 1024 bits; accepted are 2048 to 8192");

  judge.request.minimum_rsa_bits = 1024;
  EXPECT_STATUS(judge_verdict(&judge), SST_OK);
  judge_free(&judge);
}

TEST(verify, small_rsa_key_of_an_anchor_is_weak) {
  Judge judge = judge_new();
  X509 *root = ISSUE(.subject = "Root", .key = key_of(KEY_RSA1024, 0), .ca = true);
  X509 *leaf = ISSUE(.subject = "Leaf", .key = key_of(KEY_P256, 2), .issuer = root,
                     .issuer_key = key_of(KEY_RSA1024, 0), .names = "DNS:server.test");
  expect_leaf(&judge, root, leaf, SST_ERR_CERT_WEAK_KEY, 42);
  judge_free(&judge);
}

TEST(verify, key_kinds_of_the_header_pass_and_another_curve_is_weak) {
  const KeyKind kinds[] = {KEY_P256, KEY_P384, KEY_P521, KEY_ED25519, KEY_RSA2048, KEY_P224};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    test_note("kind %d", kinds[i]);
    Judge judge = judge_new();
    X509 *root = ISSUE(.subject = "Root", .key = key_of(kinds[i], 0), .ca = true);
    X509 *leaf = ISSUE(.subject = "Leaf", .key = key_of(kinds[i], 1), .issuer = root, .issuer_key = key_of(kinds[i], 0),
                       .names = "DNS:server.test");
    expect_leaf(&judge, root, leaf, kinds[i] == KEY_P224 ? SST_ERR_CERT_WEAK_KEY : SST_OK, 42);
    judge_free(&judge);
  }
}

TEST(verify, sha1_signature_is_a_weak_digest_with_alert_42_unless_allowed) {
  Judge judge = judge_new();
  X509 *root = judge_root();
  expect_leaf(&judge, root, LEAF(root, .digest = EVP_sha1()), SST_ERR_CERT_WEAK_DIGEST, 42);
  EXPECT_STRING(judge.error.message, "certificate 1 of 2 (CN=Leaf) is signed with ecdsa-with-SHA1");

  judge.request.allow_sha1 = true;
  EXPECT_STATUS(judge_verdict(&judge), SST_OK);
  judge_free(&judge);
}

TEST(verify, sha1_self_signature_of_an_anchor_does_not_count) {
  Judge judge = judge_new();
  X509 *root = ISSUE(.subject = "Root", .key = key_of(KEY_P256, 0), .ca = true, .digest = EVP_sha1());
  expect_leaf(&judge, root, LEAF(root, .begin = 0), SST_OK, 0);
  judge_free(&judge);
}

/* BoringSSL makes no such signature: a certificate is turned into one by its two algorithm identifiers. */
TEST(verify, md5_signature_is_a_weak_digest_though_sha1_is_allowed) {
  static const uint8_t sha256_with_rsa[] = {0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b};
  Judge judge = judge_new();
  X509 *root = ISSUE(.subject = "Root", .key = key_of(KEY_RSA2048, 0), .ca = true);
  X509 *leaf = ISSUE(.subject = "Leaf", .key = key_of(KEY_P256, 2), .issuer = root,
                     .issuer_key = key_of(KEY_RSA2048, 0), .names = "DNS:server.test");
  uint8_t *der = NULL;
  const int len = i2d_X509(leaf, &der);
  for (uint8_t *at = der; at + sizeof sha256_with_rsa <= der + len; at++) {
    if (memcmp(at, sha256_with_rsa, sizeof sha256_with_rsa) == 0) at[8] = 4; /* md5WithRSAEncryption */
  }
  judge_trusts(&judge, root, NULL);
  judge_is_sent_bytes(&judge, der, (size_t)len);
  judge.request.allow_sha1 = true;

  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_WEAK_DIGEST);
  EXPECT_EQ(judge.error.reasons, judge_reasons(SST_ERR_CERT_WEAK_DIGEST, 0));
  EXPECT_CONTAINS(judge.error.message, "certificate 1 of 2 (CN=Leaf) is signed with md5WithRSAEncryption");
  OPENSSL_free(der);
  judge_free(&judge);
}

TEST(verify, unknown_critical_extension_is_other_with_alert_46) {
  Judge judge = judge_new();
  X509 *root = judge_root();
  expect_leaf(&judge, root, LEAF(root, .unknown_critical = true), SST_ERR_CERT_OTHER, 46);
  judge_free(&judge);
}

TEST(verify, leaf_that_does_not_parse_is_malformed_with_alert_42) {
  Judge judge = judge_new();
  judge_trusts(&judge, judge_root(), NULL);
  judge_is_sent_bytes(&judge, "\x30\x03junk", 6);

  EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_MALFORMED);
  EXPECT_EQ(judge.error.alert_sent, 42);
  EXPECT_STRING(judge.error.message, "certificate 1 of 1 does not parse");
  judge_free(&judge);
}
