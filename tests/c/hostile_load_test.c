/* White-box: input made to cost, or to be read wrong, for every loader: lengths that lie, levels without end, numbers of
   things, keys that are none. Each is loaded or refused as the header says, within two seconds (mutant.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/mem.h>

#include "judge.h"
#include "mutant.h"
#include "mutate.h"

static Data repeated(const void *unit, size_t unit_len, size_t times, const void *end, size_t end_len) {
  const Data data = {test_allocate(unit_len * times + end_len), unit_len * times + end_len};
  for (size_t i = 0; i < times; i++)
    memcpy(data.bytes + i * unit_len, unit, unit_len);
  if (end_len > 0) memcpy(data.bytes + times * unit_len, end, end_len);
  return data;
}

static char *to_pem(const Data *der, const char *label) {
  char *pem = test_allocate(der->len * 2 + 200);
  size_t len = (size_t)sprintf(pem, "-----BEGIN %s-----\n", label);
  len += EVP_EncodeBlock((uint8_t *)pem + len, der->bytes, der->len);
  (void)sprintf(pem + len, "\n-----END %s-----\n", label);
  return pem;
}

/* To all loaders, in DER and as each kind of block in PEM; none may take it. */
static void all_refuse(Mutants *mutants, const char *name, const Data *der) {
  static const char *const labels[] = {"CERTIFICATE",     "X509 CRL",       "PRIVATE KEY", "ENCRYPTED PRIVATE KEY",
                                       "RSA PRIVATE KEY", "EC PRIVATE KEY", NULL};
  for (Way way = 0; way < NUM_WAYS; way++)
    EXPECT(mutants_load(mutants, way, name, der->bytes, der->len, "pw") != SST_OK);
  for (const char *const *label = labels; *label != NULL; label++) {
    char *pem = to_pem(der, *label);
    for (Way way = 0; way < NUM_WAYS; way++) {
      if (way == WAY_CREDENTIAL_DER || way == WAY_CREDENTIAL_KEY_DER || way == WAY_TRUST_DER) continue;
      EXPECT(mutants_load(mutants, way, name, pem, strlen(pem), "pw") != SST_OK);
    }
    free(pem);
  }
}

/* der in levels elements of that tag, with lengths that are right. */
static Data nested(uint8_t tag, size_t levels) {
  Data data = {test_allocate(levels * 5), levels * 5};
  size_t at = data.len, inside = 0;
  for (size_t i = 0; i < levels; i++) {
    uint8_t head[5] = {tag, (uint8_t)inside};
    size_t head_len = 2;
    if (inside > 0xffff) {
      head[1] = 0x83, head[2] = (uint8_t)(inside >> 16), head[3] = (uint8_t)(inside >> 8), head[4] = (uint8_t)inside;
      head_len = 5;
    } else if (inside > 0x7f) {
      head[1] = 0x82, head[2] = (uint8_t)(inside >> 8), head[3] = (uint8_t)inside;
      head_len = 4;
      if (inside <= 0xff) head[1] = 0x81, head[2] = (uint8_t)inside, head_len = 3;
    }
    at -= head_len;
    memcpy(data.bytes + at, head, head_len);
    inside += head_len;
  }
  memmove(data.bytes, data.bytes + at, inside);
  data.len = inside;
  return data;
}

TEST(hostile_load, ten_thousand_levels_are_refused) {
  static const uint8_t tags[] = {0x30, 0x24, 0x31, 0xa0};
  Mutants mutants = mutants_new(HELD_CHAIN);
  for (size_t i = 0; i < sizeof tags; i++) {
    const Data definite = nested(tags[i], 10000);
    const uint8_t head[] = {tags[i], 0x80}, version[] = {tags[i], 0x80, 2, 1, 3};
    const Data endless = repeated(head, 2, 10000, NULL, 0), ended = repeated(head, 2, 10000, NULL, 0);
    const Data versions = repeated(version, 5, 10000, NULL, 0);
    all_refuse(&mutants, "levels with lengths", &definite);
    all_refuse(&mutants, "levels of indefinite length", &endless);
    all_refuse(&mutants, "levels behind numbers", &versions);
    Data closed = {test_allocate(40000), 40000};
    memcpy(closed.bytes, ended.bytes, 20000);
    memset(closed.bytes + 20000, 0, 20000);
    all_refuse(&mutants, "levels that end", &closed);
    free(definite.bytes);
    free(endless.bytes);
    free(ended.bytes);
    free(versions.bytes);
    free(closed.bytes);
  }
  mutants_end(&mutants, "levels");
}

TEST(hostile_load, lengths_up_to_all_memory_are_refused) {
  Mutants mutants = mutants_new(HELD_CHAIN);
  for (uint8_t octets = 1; octets <= 9; octets++) {
    for (int last = 0; last < 5; last++) {
      uint8_t der[40] = {0x30, 0x80 | octets};
      static const uint8_t ends[] = {0xff, 0xfe, 0xf0, 0x7f, 0x80};
      memset(der + 2, 0xff, octets);
      if (last >= 3) der[2] = 0x7f;
      der[1 + octets] = ends[last];
      static const uint8_t inside[] = {0x30, 0x03, 0x02, 0x01, 0x00};
      memcpy(der + 2 + octets, inside, sizeof inside);
      const Data data = {der, sizeof der};
      all_refuse(&mutants, "a length", &data);
    }
  }
  mutants_end(&mutants, "lengths");
}

/* A megabyte of each of what scanners skip or wait behind. */
TEST(hostile_load, megabytes_of_marks_and_headers_are_read_in_time) {
  static const char *const units[] = {"-----BEGIN CERTIFICATE-----\n",
                                      "-----BEGIN ",
                                      "-----END X-----\n",
                                      "-----\n",
                                      "\n",
                                      "a: b\n",
                                      "-----BEGIN PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n",
                                      "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
                                      "-----BEGIN X-----\nAAAA\n-----END X-----\n",
                                      "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"};
  static const Way ways[] = {WAY_CREDENTIAL_PEM, WAY_TRUST_PEM, WAY_TRUST_CRL, WAY_CLIENT_CA};
  Mutants mutants = mutants_new(HELD_CHAIN);
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    const Data text = repeated(units[i], strlen(units[i]), 1000000 / strlen(units[i]), NULL, 0);
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++)
      EXPECT(mutants_load(&mutants, ways[k], units[i], text.bytes, text.len, "") != SST_OK);
    free(text.bytes);
  }
  mutants_end(&mutants, "marks");
}

/* ---- numbers of things ---- */

/* count certificates in DER that differ in their signatures, which nobody looks at at load. */
static Data many(const X509 *one, size_t count) {
  uint8_t *der = NULL;
  const int len = i2d_X509(one, &der);
  REQUIRE(len > 0);
  const Data data = repeated(der, (size_t)len, count, NULL, 0);
  for (size_t i = 0; i < count; i++) {
    uint8_t *end = data.bytes + (i + 1) * (size_t)len;
    end[-1] = (uint8_t)i;
    end[-2] = (uint8_t)(i >> 8);
    end[-3] = (uint8_t)(i >> 16);
  }
  OPENSSL_free(der);
  return data;
}

TEST(hostile_load, trust_takes_32767_anchors_and_no_more) {
  Mutants mutants = mutants_new(HELD_CHAIN);
  const Data all = many(judge_root(), 40000);
  const size_t each = all.len / 40000;
  EXPECT_STATUS(mutants_load(&mutants, WAY_TRUST_DER, "40,000", all.bytes, all.len, ""), SST_ERR_LIST_TOO_LONG);
  EXPECT_STATUS(mutants_load(&mutants, WAY_TRUST_DER, "32,767", all.bytes, each * 32767, ""), SST_ERR_LIST_TOO_LONG);
  EXPECT_STATUS(mutants_load(&mutants, WAY_TRUST_DER, "32,766", all.bytes, each * 32766, ""), SST_OK);
  free(all.bytes);
  mutants_end(&mutants, "anchors");
  issue_free_all();
}

TEST(hostile_load, anchor_that_stands_there_40000_times_is_one) {
  uint8_t *der = NULL;
  const int len = i2d_X509(judge_root(), &der);
  const Data all = repeated(der, (size_t)len, 40000, NULL, 0);
  sst_trust *trust = sst_trust_new();
  const uint64_t begin = thread_time();
  EXPECT_STATUS(sst_trust_load_der(trust, all.bytes, all.len), SST_OK);
  EXPECT_AT_MOST(thread_time() - begin, 2000000000);
  EXPECT_EQ(sst_trust_num_anchors(trust), 1);
  sst_trust_free(trust);
  OPENSSL_free(der);
  free(all.bytes);
  issue_free_all();
}

TEST(hostile_load, credential_takes_200_certificates_and_no_more) {
  Mutants mutants = mutants_new(HELD_KEY);
  const Data all = many(ISSUE(.subject = "A", .key = key_of(KEY_P256, 0), .ca = true), 1000);
  const size_t each = all.len / 1000;
  EXPECT_STATUS(mutants_load(&mutants, WAY_CREDENTIAL_DER, "1000", all.bytes, all.len, ""), SST_ERR_LIST_TOO_LONG);
  EXPECT_STATUS(mutants_load(&mutants, WAY_CREDENTIAL_DER, "201", all.bytes, each * 201, ""), SST_ERR_LIST_TOO_LONG);
  EXPECT_STATUS(mutants_load(&mutants, WAY_CREDENTIAL_DER, "200", all.bytes, each * 200, ""), SST_ERR_KEY_MISMATCH);
  free(all.bytes);
  mutants_end(&mutants, "certificates of a credential");
  issue_free_all();
}

/* A leaf and 99 authorities of one name, each signed by another one: everything may have issued everything. */
TEST(hostile_load, credential_of_100_cross_signed_issuers_is_ordered_in_time) {
  static const KeyKind kinds[] = {KEY_P256, KEY_RSA2048};
  for (size_t kind = 0; kind < 2; kind++) {
    const X509 *list[101] = {NULL};
    X509 *name = ISSUE(.subject = "CA", .key = key_of(kinds[kind], 0));
    for (unsigned i = 0; i < 99; i++) {
      list[1 + i] = ISSUE(.subject = "CA", .key = key_of(kinds[kind], i % 4), .ca = true, .issuer = name,
                          .issuer_key = key_of(kinds[kind], (i + 1) % 4));
    }
    list[0] = ISSUE(.subject = "Leaf", .key = key_of(KEY_P256, 3), .issuer = name, .issuer_key = key_of(kinds[kind], 0),
                    .usage = "digitalSignature");
    char *pem = issue_pem(list);
    sst_credential *credential = sst_credential_new();
    const uint64_t begin = thread_time();
    EXPECT_STATUS(sst_credential_load_pem(credential, (const uint8_t *)pem, strlen(pem), NULL, 0), SST_OK);
    EXPECT_AT_MOST(thread_time() - begin, 2000000000);
    sst_credential_free(credential);
    free(pem);
    issue_free_all();
  }
}
