/*
 * Credentials: certificates and key in any order come out in the order of the wire (cases.md X08).
 */
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "pair.h"
#include "test.h"

/* One certificate of a file, or a key. */
typedef struct Piece {
  const char *file;
  size_t index; /* KEY: the key */
} Piece;
enum { KEY = 99 };

#define LEAF {"server-chain", 0}
#define LOWER {"server-chain", 1}
#define UPPER {"server-chain", 2}
#define ROOT {"root", 0}
#define OTHER {"server-other", 0}
#define THE_KEY {"server-chain", KEY}

static void append(Data *all, const uint8_t *bytes, size_t len) {
  all->bytes = test_reallocate(all->bytes, all->len + len);
  memcpy(all->bytes + all->len, bytes, len);
  all->len += len;
}

/* Block index of NAME.pem as text. */
static void append_certificate(Data *all, const Piece *piece) {
  static const char begin[] = "-----BEGIN CERTIFICATE-----", end[] = "-----END CERTIFICATE-----\n";
  const Data file = data_read(piece->file, "pem");
  char *text = test_allocate(file.len + 1);
  memcpy(text, file.bytes, file.len);
  text[file.len] = 0;
  const char *at = strstr(text, begin);
  for (size_t i = 0; i < piece->index && at != NULL; i++)
    at = strstr(at + 1, begin);
  REQUIRE(at != NULL);
  const char *stop = strstr(at, end);
  REQUIRE(stop != NULL);
  append(all, (const uint8_t *)at, (size_t)(stop - at) + sizeof end - 1);
  free(text);
  free(file.bytes);
}

static sst_credential *load(const Piece *pieces, size_t count) {
  Data all = {NULL, 0};
  for (size_t i = 0; i < count; i++) {
    if (pieces[i].index != KEY) {
      append_certificate(&all, &pieces[i]);
      continue;
    }
    const Data key = data_read(pieces[i].file, "key");
    append(&all, key.bytes, key.len);
    free(key.bytes);
  }
  sst_credential *credential = sst_credential_new();
  EXPECT_STATUS(sst_credential_load_pem(credential, all.bytes, all.len, NULL, 0), SST_OK);
  free(all.bytes);
  return credential;
}

static void expect_chain(const sst_credential *credential, const Piece *pieces, size_t count) {
  uint8_t out[4096];
  size_t len = 0;
  for (size_t i = 0; i < count; i++) {
    const Data der = data_certificate(pieces[i].file, pieces[i].index);
    EXPECT_STATUS(sst_credential_certificate(credential, i, out, sizeof out, &len), SST_OK);
    EXPECT_BYTES(out, len, der.bytes, der.len);
    free(der.bytes);
  }
  EXPECT_STATUS(sst_credential_certificate(credential, count, out, sizeof out, &len), SST_OK);
  EXPECT_EQ(len, 0);
}

#define COUNT(list) (sizeof(list) / sizeof(list)[0])
static const Piece in_order[] = {LEAF, LOWER, UPPER};

static void expect_in_order(const Piece *pieces, size_t count) {
  sst_credential *credential = load(pieces, count);
  expect_chain(credential, in_order, COUNT(in_order));
  sst_credential_free(credential);
}

TEST(credential_order, every_order_of_certificates_and_key_gives_one_chain) {
  const Piece pieces[] = {LEAF, LOWER, UPPER, ROOT, THE_KEY};
  enum { N = sizeof pieces / sizeof pieces[0] };
  for (int order = 0; order < 120; order++) { /* all permutations, by their number in the factorial system */
    Piece left[N], shuffled[N];
    memcpy(left, pieces, sizeof left);
    int rest = order;
    for (int i = 0; i < N; i++) {
      const int pick = rest % (N - i);
      rest /= N - i;
      shuffled[i] = left[pick];
      memmove(&left[pick], &left[pick + 1], (size_t)(N - i - 1 - pick) * sizeof left[0]);
    }
    test_note("order %d", order);
    expect_in_order(shuffled, N);
  }
}

TEST(credential_order, doubles_and_strangers_are_not_sent) {
  const Piece doubles[] = {THE_KEY, LEAF, LEAF, LOWER, UPPER, LOWER, UPPER, ROOT, ROOT};
  const Piece strangers[] = {OTHER, UPPER, LEAF, {"client-root", 0}, {"intermediate", 0}, LOWER, THE_KEY};
  expect_in_order(doubles, COUNT(doubles));
  expect_in_order(strangers, COUNT(strangers));
}

TEST(credential_order, what_no_path_leads_to_is_not_sent) {
  const Piece pieces[] = {UPPER, LEAF, THE_KEY};
  const Piece leaf[] = {LEAF};
  sst_credential *credential = load(pieces, COUNT(pieces));
  expect_chain(credential, leaf, 1);
  sst_credential_free(credential);
}

TEST(credential_order, without_a_key_the_leaf_is_what_issued_no_other) {
  const Piece pieces[] = {UPPER, LOWER, ROOT, LEAF};
  expect_in_order(pieces, COUNT(pieces));
}

TEST(credential_order, key_that_comes_later_says_which_is_the_leaf) {
  const Piece pieces[] = {OTHER, UPPER, LOWER, LEAF};
  const Piece other[] = {OTHER};
  sst_credential *credential = load(pieces, COUNT(pieces));
  expect_chain(credential, other, 1);
  const Data key = data_read("server-chain", "key");
  EXPECT_STATUS(sst_credential_load_pem(credential, key.bytes, key.len, NULL, 0), SST_OK);
  expect_chain(credential, in_order, COUNT(in_order));
  free(key.bytes);
  sst_credential_free(credential);
}

TEST(credential_order, self_signed_leaf_is_sent) {
  const Piece pieces[] = {ROOT, {"server-self-signed", KEY}, {"server-self-signed", 0}};
  const Piece leaf[] = {{"server-self-signed", 0}};
  sst_credential *credential = load(pieces, COUNT(pieces));
  expect_chain(credential, leaf, 1);
  sst_credential_free(credential);
}

TEST(credential_order, more_certificates_than_a_chain_can_have_are_list_too_long) {
  static Piece many[201];
  for (size_t i = 0; i < COUNT(many); i++)
    many[i] = (Piece)LEAF;
  sst_credential_free(load(many, 200));
  Data all = {NULL, 0};
  for (size_t i = 0; i < COUNT(many); i++)
    append_certificate(&all, &many[i]);
  sst_credential *credential = sst_credential_new();
  EXPECT_STATUS(sst_credential_load_pem(credential, all.bytes, all.len, NULL, 0), SST_ERR_LIST_TOO_LONG);
  expect_chain(credential, NULL, 0);
  free(all.bytes);
  sst_credential_free(credential);
}

/* ---- on the wire ---- */

static size_t peer_chain(const Side *side, const Piece *pieces, size_t count) {
  uint8_t out[4096];
  size_t len = 0;
  for (size_t i = 0; i < count; i++) {
    const Data der = data_certificate(pieces[i].file, pieces[i].index);
    EXPECT_STATUS(sst_stream_peer_certificate(side->stream, i, out, sizeof out, &len), SST_OK);
    EXPECT_BYTES(out, len, der.bytes, der.len);
    free(der.bytes);
  }
  return sst_stream_num_peer_certificates(side->stream);
}

TEST(credential_order, peer_that_trusts_the_root_gets_the_whole_path) {
  const Piece pieces[] = {ROOT, UPPER, THE_KEY, LOWER, LEAF};
  for (uint16_t version = SST_TLS1_2; version <= SST_TLS1_3; version++) {
    sst_credential *credential = load(pieces, COUNT(pieces));
    sst_config *config = sst_config_new();
    EXPECT_STATUS(sst_config_add_credential(config, credential), SST_OK);
    Pair pair = pair_new(.server = {.config = config}, .client = {.max_version = version});
    EXPECT_STATUS(pair_handshake(&pair), SST_OK);
    EXPECT_EQ(peer_chain(&pair.client, in_order, COUNT(in_order)), 3);
    pair_free(&pair);
    sst_config_free(config);
    sst_credential_free(credential);
  }
}
