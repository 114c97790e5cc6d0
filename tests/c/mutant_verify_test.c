/* White-box: damaged certificates and revocation lists in verification. Whatever is changed in a signed certificate, its
   signature or around it: the chain is never accepted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "error.h"
#include "judge.h"
#include "mutant.h"
#include "mutate.h"

enum { MOST_NS = 2000000000 };

static Corpus corpus;

static bool is_same(const Data *one, const Data *other) {
  return one->len == other->len && memcmp(one->bytes, other->bytes, one->len) == 0;
}

static void trust_file(Judge *judge, const char *name) {
  const Data pem = data_read(name, "pem");
  EXPECT_STATUS(sst__anchors_load_pem(judge->anchors, pem.bytes, pem.len, &judge->error), SST_OK);
  free(pem.bytes);
}

/* A judge of any name and role who trusts all roots of tests/data that leaves are from. */
static Judge judge_of_any(void) {
  Judge judge = judge_new();
  trust_file(&judge, "root");
  trust_file(&judge, "client-root");
  judge.request.name = NULL;
  return judge;
}

/* Sends one certificate and the intermediate of most leaves. */
static sst_status verdict_of(Judge *judge, const Data *leaf, const Data *intermediate) {
  judge_is_sent_bytes(judge, leaf->bytes, leaf->len);
  judge_is_sent_bytes(judge, intermediate->bytes, intermediate->len);
  const uint64_t begin = thread_time();
  const sst_status status = judge_verdict(judge);
  EXPECT_AT_MOST(thread_time() - begin, MOST_NS);
  while (sk_CRYPTO_BUFFER_num(judge->chain) > 0)
    CRYPTO_BUFFER_free(sk_CRYPTO_BUFFER_pop(judge->chain));
  return status;
}

typedef struct Tally {
  uint64_t count, accepted, key_usage, by_code[64];
} Tally;

static void note(Tally *tally, const Judge *judge, sst_status status) {
  tally->count++;
  if (status == SST_OK) {
    tally->accepted++;
    return;
  }
  EXPECT_EQ(judge->error.code, status);
  EXPECT(judge->error.message[0] != 0);
  if (status == SST_ERR_KEY_USAGE) {
    tally->key_usage++; /* its one fault has a code of the protocol */
  } else if (EXPECT(status <= -500 && status > -564)) {
    tally->by_code[-500 - status]++;
  }
}

static void print(const Tally *tally, const char *title) {
  test_note(NULL);
  printf("%s: %" PRIu64 " mutants: %" PRIu64 " accepted, which are equal to the original;", title, tally->count,
         tally->accepted);
  for (int i = 0; i < 64; i++) {
    if (tally->by_code[i] > 0) printf(" %s %" PRIu64, sst_status_name(-500 - i), tally->by_code[i]);
  }
  printf(" ERR_KEY_USAGE %" PRIu64 "\n", tally->key_usage);
}

/* Of all certificates that a judge accepts as a leaf, each role; at least the good leaves of each kind of key. */
TEST(mutant, leaf_that_was_changed_is_never_accepted) {
  enum { TOTAL = 12000, LEAVES_AT_LEAST = 20 };
  Judge judge = judge_of_any();
  const Data intermediate = data_certificate("intermediate", 0);
  Tally tally = {0};
  size_t leaves = 0;
  corpus_read_blocks(&corpus, (const char *const[]){".pem", NULL}, "CERTIFICATE");
  for (size_t i = 0; i < corpus.count; i++) {
    const CorpusItem *item = &corpus.list[i];
    judge.request.peer_is_server = true;
    if (verdict_of(&judge, &item->data, &intermediate) != SST_OK) judge.request.peer_is_server = false;
    if (verdict_of(&judge, &item->data, &intermediate) != SST_OK) continue;
    leaves++;
    for (size_t k = 0; k < TOTAL / LEAVES_AT_LEAST; k++) {
      test_note("%s, mutant %zu", item->name, k);
      const Data mutant =
          k % 2 == 0 ? mutate_bytes(item->data.bytes, item->data.len) : mutate_der(item->data.bytes, item->data.len);
      const sst_status status = verdict_of(&judge, &mutant, &intermediate);
      EXPECT_EQ(status == SST_OK, is_same(&mutant, &item->data));
      note(&tally, &judge, status);
      free(mutant.bytes);
    }
  }
  EXPECT_AT_LEAST(leaves, LEAVES_AT_LEAST);
  print(&tally, "leaves");
  corpus_free(&corpus);
  free(intermediate.bytes);
  judge_free(&judge);
}

/* The same of the intermediate: the leaf is good, and no path leads over a changed one. */
TEST(mutant, intermediate_that_was_changed_carries_no_path) {
  Judge judge = judge_of_any();
  const Data intermediate = data_certificate("intermediate", 0), leaf = data_certificate("server-p256", 0);
  Tally tally = {0};
  EXPECT_STATUS(verdict_of(&judge, &leaf, &intermediate), SST_OK);
  for (size_t k = 0; k < 4000; k++) {
    test_note("mutant %zu", k);
    const Data mutant = k % 2 == 0 ? mutate_bytes(intermediate.bytes, intermediate.len)
                                   : mutate_der(intermediate.bytes, intermediate.len);
    const sst_status status = verdict_of(&judge, &leaf, &mutant);
    EXPECT_EQ(status == SST_OK, is_same(&mutant, &intermediate));
    note(&tally, &judge, status);
    free(mutant.bytes);
  }
  print(&tally, "intermediates");
  free(intermediate.bytes);
  free(leaf.bytes);
  judge_free(&judge);
}

/* Where the trust holds lists, a damaged one covers nothing. */
TEST(mutant, revocation_list_that_was_changed_lets_nobody_pass) {
  const Data intermediate = data_certificate("intermediate", 0), leaf = data_certificate("server-p256", 0);
  const Data of_root = data_read("crl-root", "pem");
  Tally tally = {0};
  uint64_t loaded = 0;
  corpus_read_blocks(&corpus, (const char *const[]){".pem", NULL}, "CRL");
  const size_t each = 4000 / corpus.count + 1;
  for (size_t i = 0; i < corpus.count * each; i++) {
    const CorpusItem *item = &corpus.list[i / each];
    test_note("%s, mutant %zu", item->name, i % each);
    Judge judge = judge_of_any();
    const Data mutant =
        i % 2 == 0 ? mutate_bytes(item->data.bytes, item->data.len) : mutate_der(item->data.bytes, item->data.len);
    EXPECT_STATUS(sst__anchors_load_crl(judge.anchors, of_root.bytes, of_root.len, &judge.error), SST_OK);
    if (sst__anchors_load_crl(judge.anchors, mutant.bytes, mutant.len, &judge.error) == SST_OK) loaded++;
    const sst_status status = verdict_of(&judge, &leaf, &intermediate);
    if (status == SST_OK) EXPECT(is_same(&mutant, &item->data));
    note(&tally, &judge, status);
    free(mutant.bytes);
    judge_free(&judge);
  }
  EXPECT_AT_LEAST(loaded, 200);
  print(&tally, "revocation lists");
  corpus_free(&corpus);
  free(of_root.bytes);
  free(intermediate.bytes);
  free(leaf.bytes);
}
