/* White-box: 100,000 damaged copies of the files of tests/data, for every loader that takes such a file. Each is loaded
   or refused as the header says (support/whitebox/mutant.h), never a crash, a hang or a half-loaded object. */
#include <stdlib.h>
#include <string.h>

#include <openssl/nid.h>

#include "corpus.h"
#include "judge.h"
#include "mutant.h"
#include "mutate.h"
#include "pfx.h"

static Corpus corpus;

/* total mutants, the same number of each item; every second one knows DER if the items are DER. Each goes through the
   ways in turn. */
static void mutate_all(size_t total, bool der, Held held, const Way *ways, size_t num_ways, const char *title) {
  Mutants mutants = mutants_new(held);
  const size_t each = (total + corpus.count - 1) / corpus.count;
  for (size_t i = 0; i < corpus.count; i++) {
    const CorpusItem *item = &corpus.list[i];
    for (size_t k = 0; k < each; k++) {
      const Data mutant = der && k % 2 == 1 ? mutate_der(item->data.bytes, item->data.len)
                                            : mutate_bytes(item->data.bytes, item->data.len);
      (void)mutants_load(&mutants, ways[k / 2 % num_ways], item->name, mutant.bytes, mutant.len,
                         corpus_password(item->name));
      free(mutant.bytes);
    }
  }
  EXPECT_AT_LEAST(mutants.count, total);
  EXPECT_AT_LEAST(mutants.by_code[-SST_ERR_PARSE], 1);
  corpus_free(&corpus);
  mutants_end(&mutants, title);
}

static const char *const of_certificates[] = {".pem", NULL}, *const of_keys[] = {".key", NULL};

TEST(mutant, certificates_in_pem_are_loaded_or_refused) {
  static const Way ways[] = {WAY_TRUST_PEM, WAY_CREDENTIAL_PEM, WAY_CLIENT_CA, WAY_TRUST_CRL};
  corpus_read(&corpus, of_certificates);
  mutate_all(20000, false, HELD_CHAIN, ways, 4, "certificates in PEM");
}

TEST(mutant, certificates_in_der_are_loaded_or_refused) {
  static const Way ways[] = {WAY_TRUST_DER, WAY_CREDENTIAL_DER, WAY_CLIENT_CA};
  corpus_read_blocks(&corpus, of_certificates, "CERTIFICATE");
  mutate_all(20000, true, HELD_CHAIN, ways, 3, "certificates in DER");
}

TEST(mutant, files_in_der_are_loaded_or_refused) {
  static const Way ways[] = {WAY_TRUST_DER, WAY_CREDENTIAL_DER, WAY_CLIENT_CA, WAY_CREDENTIAL_KEY_DER, WAY_TRUST_CRL};
  corpus_read(&corpus, (const char *const[]){".der", NULL});
  mutate_all(5000, true, HELD_CHAIN, ways, 5, "files in DER");
}

TEST(mutant, keys_in_pem_are_loaded_or_refused) {
  static const Way ways[] = {WAY_CREDENTIAL_PEM};
  corpus_read(&corpus, of_keys);
  mutate_all(10000, false, HELD_KEY, ways, 1, "keys in PEM");
}

TEST(mutant, keys_in_der_are_loaded_or_refused) {
  static const Way ways[] = {WAY_CREDENTIAL_KEY_DER};
  corpus_read_blocks(&corpus, of_keys, "PRIVATE KEY");
  mutate_all(10000, true, HELD_KEY, ways, 1, "keys in DER");
}

TEST(mutant, revocation_lists_are_loaded_or_refused) {
  static const Way ways[] = {WAY_TRUST_CRL};
  corpus_read_blocks(&corpus, of_certificates, "CRL");
  mutate_all(10000, true, HELD_CHAIN, ways, 1, "revocation lists in DER");
}

TEST(mutant, pkcs12_files_are_loaded_or_refused) {
  static const Way ways[] = {WAY_CREDENTIAL_PKCS12};
  corpus_read(&corpus, (const char *const[]){".p12", NULL});
  mutate_all(5000, true, HELD_CHAIN, ways, 1, "PKCS#12 files");
}

TEST(mutant, pkcs12_behind_a_good_mac_is_loaded_or_refused) {
  static const int ages[][2] = {{-1, -1},
                                {NID_pbe_WithSHA1And3_Key_TripleDES_CBC, NID_pbe_WithSHA1And40BitRC2_CBC},
                                {NID_aes_256_cbc, -1},
                                {NID_aes_256_cbc, NID_aes_256_cbc}};
  enum { EACH = 2500 };
  Mutants mutants = mutants_new(HELD_CHAIN);
  for (size_t age = 0; age < sizeof ages / sizeof ages[0]; age++) {
    const Data safe = pfx_safe(ages[age][0], ages[age][1], 2);
    for (int i = 0; i <= EACH; i++) {
      Data mutant = i % 2 == 0 ? mutate_bytes(safe.bytes, safe.len) : mutate_der(safe.bytes, safe.len);
      const Data pfx = i == 0 ? pfx_wrap(safe.bytes, safe.len) : pfx_wrap(mutant.bytes, mutant.len);
      const sst_status status = mutants_load(&mutants, WAY_CREDENTIAL_PKCS12, "made", pfx.bytes, pfx.len, "pw");
      if (i == 0) EXPECT_STATUS(status, SST_OK); /* the MAC is what a reader expects */
      free(mutant.bytes);
      free(pfx.bytes);
    }
    free(safe.bytes);
  }
  EXPECT_AT_LEAST(mutants.by_code[-SST_ERR_PARSE], EACH);
  mutants_end(&mutants, "PKCS#12 behind a good MAC");
  issue_free_all();
}
