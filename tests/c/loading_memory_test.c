/* White-box: loading and verification with every n-th allocation failing. A failure is NO_MEMORY, never a crash, a
   leak, a half-loaded object or a chain that passes though it must not; and what is shared works afterwards. */
#include "allocations.h"
#include "judge.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

typedef sst_status (*Step)(void *context);

/* Runs step with each allocation failing in turn. A failure that the reserve for small requests covers has no effect:
   then the outcome is expected. after checks the object each time. */
static void fail_each(Step step, Step after, void *context, sst_status expected) {
  if (!allocations_are_wrapped()) SKIP("malloc is not wrapped in this build");
  EXPECT_STATUS(step(context), expected); /* what is made once in a process is made here */
  uint64_t refused = 0, n = 0;
  for (bool hit = true; hit;) {
    test_note("allocation %u", (unsigned)++n);
    const uint64_t bytes = sst_allocated_bytes();
    allocations_fail_at(n);
    const sst_status status = step(context);
    hit = allocations_hit();
    if (status == SST_ERR_NO_MEMORY) refused++;
    if (status != SST_ERR_NO_MEMORY) EXPECT_STATUS(status, expected);
    EXPECT_STATUS(after(context), expected);
    EXPECT_EQ(sst_allocated_bytes(), bytes);
  }
  EXPECT_AT_LEAST(refused, 3);
}

static sst_status verify(void *context) {
  return judge_verdict(context);
}

TEST(loading_memory, good_chain_passes_or_is_no_memory_and_passes_again) {
  Judge judge = judge_new();
  X509 *root = judge_root(), *intermediate = judge_intermediate(root), *leaf = judge_leaf(intermediate);
  judge_trusts(&judge, root, NULL);
  judge_is_sent(&judge, leaf, intermediate, NULL);
  fail_each(verify, verify, &judge, SST_OK);
  judge_free(&judge);
}

static void bad_chain(const X509 *anchor, const X509 *leaf, const X509 *issuer, sst_status status) {
  Judge judge = judge_new();
  judge_trusts(&judge, anchor, NULL);
  judge_is_sent(&judge, leaf, issuer, NULL);
  fail_each(verify, verify, &judge, status);
  judge_free(&judge);
}

#define LEAF(...) \
  ISSUE(.subject = "Leaf", .key = key_of(KEY_P256, 2), .issuer = issuer, .issuer_key = key_of(KEY_P256, 1), __VA_ARGS__)

TEST(loading_memory, chain_with_a_fault_never_passes) {
  for (int fault = 0; fault < 8; fault++) {
    X509 *root = judge_root(), *issuer = judge_intermediate(root);
    switch (fault) {
      case 0:
        bad_chain(root, LEAF(.names = "DNS:b.test"), issuer, SST_ERR_CERT_NAME_MISMATCH);
        break;
      case 1:
        bad_chain(root, LEAF(.names = "DNS:server.test", .begin = -10, .end = -1), issuer, SST_ERR_CERT_EXPIRED);
        break;
      case 2:
        bad_chain(root, LEAF(.names = "DNS:server.test", .purposes = "clientAuth"), issuer, SST_ERR_CERT_PURPOSE);
        break;
      case 3:
        bad_chain(root, issue_damaged(LEAF(.names = "DNS:server.test")), issuer, SST_ERR_CERT_BAD_SIGNATURE);
        break;
      case 4:
        bad_chain(root, LEAF(.names = "DNS:server.test", .unknown_critical = true), issuer, SST_ERR_CERT_OTHER);
        break;
      case 5:
        bad_chain(root, LEAF(.names = "DNS:server.test", .digest = EVP_sha1()), issuer, SST_ERR_CERT_WEAK_DIGEST);
        break;
      case 6:
        bad_chain(ISSUE(.subject = "Other", .key = key_of(KEY_P256, 3), .ca = true), LEAF(.names = "DNS:server.test"),
                  issuer, SST_ERR_CERT_ISSUER_NOT_FOUND);
        break;
      case 7:
        issuer = ISSUE(.subject = "Intermediate", .key = key_of(KEY_P256, 1), .ca = true, .issuer = root,
                       .issuer_key = key_of(KEY_P256, 0), .constraints = "permitted;DNS:a.test");
        bad_chain(root, LEAF(.names = "DNS:server.test"), issuer, SST_ERR_CERT_NAME_CONSTRAINT);
        break;
    }
  }
}

/* The search for another path allocates too, and must not take half a search for a whole one. */
TEST(loading_memory, chain_that_needs_the_second_path_passes_or_is_no_memory) {
  Judge judge = judge_new();
  X509 *old = ISSUE(.subject = "Root", .key = key_of(KEY_P256, 0), .ca = true, .begin = -100, .end = -1);
  X509 *root = ISSUE(.subject = "Root", .key = key_of(KEY_P256, 0), .ca = true);
  X509 *intermediate = judge_intermediate(root);
  judge_trusts(&judge, old, root, NULL);
  judge_is_sent(&judge, judge_leaf(intermediate), intermediate, NULL);
  fail_each(verify, verify, &judge, SST_OK);
  judge_free(&judge);
}

typedef struct Loading {
  const char *name, *password;
  Data pem;
} Loading;

static sst_status load_credential(void *context) {
  const Loading *loading = context;
  sst_credential *credential = sst_credential_new();
  if (credential == NULL) return SST_ERR_NO_MEMORY;
  const size_t password_len = loading->password == NULL ? 0 : strlen(loading->password);
  const sst_status status =
      sst_credential_load_pem(credential, loading->pem.bytes, loading->pem.len, loading->password, password_len);
  sst_error error = {.size = sizeof error};
  if (status != SST_OK) {
    size_t len = 1;
    EXPECT_STATUS(sst_credential_certificate(credential, 0, NULL, 0, &len), SST_OK);
    EXPECT_EQ(len, 0);
    EXPECT_STATUS(sst_credential_last_error(credential, &error), SST_OK);
    EXPECT_STATUS(error.code, status);
  }
  sst_credential_free(credential);
  return status;
}

static void load_each(const char *certificate, const char *key, const char *password, sst_status expected) {
  test_note("%s", key);
  Data chain = data_read(certificate, "pem"), private_key = data_read(key, "key");
  Loading loading = {.password = password};
  loading.pem.len = chain.len + private_key.len;
  loading.pem.bytes = test_allocate(loading.pem.len);
  memcpy(loading.pem.bytes, chain.bytes, chain.len);
  memcpy(loading.pem.bytes + chain.len, private_key.bytes, private_key.len);
  fail_each(load_credential, load_credential, &loading, expected);
  free(loading.pem.bytes);
  free(chain.bytes);
  free(private_key.bytes);
}

/* Loads that succeed are in loading_faults_test.c. */
TEST(loading_memory, refused_credential_is_refused_or_no_memory) {
  load_each("server-p256", "server-p384", NULL, SST_ERR_KEY_MISMATCH);
  load_each("server-p256", "server-p256-encrypted", "wrong", SST_ERR_BAD_PASSWORD);
}

static sst_status read_names(void *context) {
  const Loading *loading = context;
  uint8_t *names = NULL;
  size_t names_len = 0;
  sst_error error;
  const sst_status status = sst__read_ca_names(loading->pem.bytes, loading->pem.len, &names, &names_len, &error);
  EXPECT_EQ(names != NULL, status == SST_OK);
  sst__free(names);
  return status;
}

TEST(loading_memory, names_of_issuers_are_read_or_no_memory) {
  Loading pem = {.pem = data_read("root", "pem")}, der = {.pem = data_certificate("root", 0)};
  fail_each(read_names, read_names, &pem, SST_OK);
  fail_each(read_names, read_names, &der, SST_OK);
  free(pem.pem.bytes);
  free(der.pem.bytes);
}
