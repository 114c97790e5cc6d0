/* White-box: a password that must be hashed more often than the header allows is refused before it is hashed, wherever
   the number stands and however the file is encoded; what is under the limit opens. */
#include <stdlib.h>
#include <string.h>

#include <openssl/bytestring.h>
#include <openssl/evp.h>
#include <openssl/mem.h>
#include <openssl/nid.h>
#include <openssl/pkcs8.h>

#include "judge.h"
#include "mutant.h"
#include "mutate.h"
#include "pfx.h"

/* Numbers that stand in no file by chance, and their encodings. */
enum { ROUNDS = 0x04d2, MAC_ROUNDS = 0x04d3, INTEGER_LEN = 4, WHOLE = 0 };
static const uint8_t rounds[INTEGER_LEN] = {2, 2, 0x04, 0xd2}, mac_rounds[INTEGER_LEN] = {2, 2, 0x04, 0xd3};
static const uint8_t at_limit[] = {2, 4, 0x00, 0x98, 0x96, 0x80}; /* 10,000,000 */
static const uint8_t over_limit[] = {2, 4, 0x00, 0x98, 0x96, 0x81};
static const uint8_t far_over[] = {2, 9, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static Data taken(uint8_t *der, size_t len) {
  const Data data = {test_allocate(len), len};
  memcpy(data.bytes, der, len);
  OPENSSL_free(der);
  return data;
}

static size_t find(const Data *in, const uint8_t integer[INTEGER_LEN]) {
  for (size_t i = 0; i + INTEGER_LEN <= in->len; i++) {
    if (memcmp(in->bytes + i, integer, INTEGER_LEN) == 0) return i;
  }
  FAIL("the number is not in the file");
}

static Data with(const Data *from, const uint8_t integer[INTEGER_LEN], const uint8_t *put, size_t put_len) {
  return mutate_splice(from->bytes, from->len, find(from, integer), INTEGER_LEN, put, put_len);
}

/* ---- BER ---- */

static void add(Data *to, const uint8_t *bytes, size_t len) {
  to->bytes = test_reallocate(to->bytes, to->len + len);
  if (len > 0) memcpy(to->bytes + to->len, bytes, len);
  to->len += len;
}

/* A string of indefinite length in pieces. */
static void add_string(Data *to, uint8_t tag, const CBS *contents, size_t piece) {
  const uint8_t head[] = {tag | 0x20, 0x80};
  add(to, head, sizeof head);
  for (size_t at = 0; at < CBS_len(contents); at += piece) {
    const size_t len = CBS_len(contents) - at < piece ? CBS_len(contents) - at : piece;
    const uint8_t part[] = {4, (uint8_t)len};
    add(to, part, sizeof part);
    add(to, CBS_data(contents) + at, len);
  }
  add(to, (const uint8_t *)"\0", 2);
}

/* Every constructed element gets an indefinite length, and strings that wrap others or ciphertext are cut into pieces of
   at most 127 bytes. What is in a string stays as it is: a MAC may be over it. */
static void add_ber(Data *to, CBS der, size_t piece) {
  while (CBS_len(&der) > 0) {
    CBS element, contents;
    CBS_ASN1_TAG tag;
    size_t header = 0;
    REQUIRE(CBS_get_any_asn1_element(&der, &element, &tag, &header));
    contents = element;
    REQUIRE(CBS_skip(&contents, header));
    const uint8_t byte = CBS_data(&element)[0], head[] = {byte, 0x80};
    if ((tag & CBS_ASN1_CONSTRUCTED) != 0) {
      add(to, head, sizeof head);
      add_ber(to, contents, piece);
      add(to, (const uint8_t *)"\0", 2);
    } else if (tag == CBS_ASN1_OCTETSTRING || tag == (CBS_ASN1_CONTEXT_SPECIFIC | 0)) {
      add_string(to, byte, &contents, piece);
    } else {
      add(to, CBS_data(&element), CBS_len(&element));
    }
  }
}

/* WHOLE: der as it is. */
static Data to_ber(const Data *der, size_t piece) {
  Data ber = {NULL, 0};
  CBS cbs;
  CBS_init(&cbs, der->bytes, der->len);
  if (piece == WHOLE) {
    add(&ber, der->bytes, der->len);
  } else {
    add_ber(&ber, cbs, piece);
  }
  return ber;
}

/* ---- the limit ---- */

static const size_t pieces[] = {WHOLE, 127, 50, 3, 2, 1};
enum { NUM_PIECES = sizeof pieces / sizeof pieces[0] };

/* A safe, or where mac is true a whole file, in every encoding inside and outside. */
static void expect_each(Mutants *mutants, const char *name, const Data *der, bool mac, sst_status status) {
  for (size_t inside = 0; inside < (mac ? 1 : NUM_PIECES); inside++) {
    const Data safe = to_ber(der, pieces[inside]);
    const Data pfx = mac ? to_ber(der, WHOLE) : pfx_wrap(safe.bytes, safe.len);
    for (size_t outside = 0; outside < NUM_PIECES; outside++) {
      const Data file = to_ber(&pfx, pieces[outside]);
      if (mutants_load(mutants, WAY_CREDENTIAL_PKCS12, name, file.bytes, file.len, "pw") != status)
        FAIL("not %s in pieces of %zu inside, %zu outside", sst_status_name(status), pieces[inside], pieces[outside]);
      free(file.bytes);
    }
    free(safe.bytes);
    free(pfx.bytes);
  }
}

static void expect_limit(Mutants *mutants, const char *name, const Data *der, const uint8_t integer[INTEGER_LEN]) {
  const bool mac = integer == mac_rounds;
  const Data over = with(der, integer, over_limit, sizeof over_limit);
  const Data far = with(der, integer, far_over, sizeof far_over);
  expect_each(mutants, name, der, mac, SST_OK);
  expect_each(mutants, name, &over, mac, SST_ERR_UNSUPPORTED_CIPHER);
  expect_each(mutants, name, &far, mac, SST_ERR_UNSUPPORTED_CIPHER);
  free(over.bytes);
  free(far.bytes);
}

TEST(hashing_limit, pkcs12_over_it_is_refused_in_der_and_ber) {
  static const struct {
    const char *name;
    int key_nid, certificate_nid;
  } rows[] = {
      {"in a shrouded bag, PBES2", NID_aes_256_cbc, -1},
      {"in a shrouded bag, 3DES", NID_pbe_WithSHA1And3_Key_TripleDES_CBC, -1},
      {"around certificates, PBES2", -1, NID_aes_256_cbc},
      {"around certificates, RC2", -1, NID_pbe_WithSHA1And40BitRC2_CBC},
      {"around certificates, with a shrouded bag behind", NID_aes_256_cbc, NID_aes_256_cbc},
  };
  Mutants mutants = mutants_new(HELD_CHAIN);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const Data safe = pfx_safe(rows[i].key_nid, rows[i].certificate_nid, ROUNDS);
    expect_limit(&mutants, rows[i].name, &safe, rounds);
    free(safe.bytes);
  }
  mutants_end(&mutants, "rounds in PKCS#12");
  issue_free_all();
}

static Data pfx_with_mac_rounds(void) {
  X509 *leaf = judge_leaf(judge_intermediate(judge_root()));
  PKCS12 *made = PKCS12_create("pw", NULL, key_of(KEY_P256, 2), leaf, NULL, NID_aes_256_cbc, -1, ROUNDS, MAC_ROUNDS, 0);
  uint8_t *der = NULL;
  const int len = i2d_PKCS12(made, &der);
  REQUIRE(len > 0);
  PKCS12_free(made);
  return taken(der, (size_t)len);
}

TEST(hashing_limit, pkcs12_with_a_mac_over_it_is_refused_in_der_and_ber) {
  Mutants mutants = mutants_new(HELD_CHAIN);
  const Data pfx = pfx_with_mac_rounds();
  expect_limit(&mutants, "in the MAC", &pfx, mac_rounds);
  free(pfx.bytes);
  mutants_end(&mutants, "rounds of MACs");
  issue_free_all();
}

/* The sum counts: each number alone is at the limit, and would be hashed for seconds. */
TEST(hashing_limit, pkcs12_whose_parts_are_over_it_together_is_refused) {
  Mutants mutants = mutants_new(HELD_CHAIN);
  const Data pfx = pfx_with_mac_rounds();
  const Data one = with(&pfx, rounds, at_limit, sizeof at_limit);
  const Data both = with(&one, mac_rounds, at_limit, sizeof at_limit);
  expect_each(&mutants, "each at the limit", &both, true, SST_ERR_UNSUPPORTED_CIPHER);
  free(pfx.bytes);
  free(one.bytes);
  free(both.bytes);
  mutants_end(&mutants, "sums of rounds");
  issue_free_all();
}

static Data to_pem(const Data *der) {
  static const char begin[] = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n",
                    end[] = "\n-----END ENCRYPTED PRIVATE KEY-----\n";
  Data pem = {NULL, 0};
  uint8_t *text = test_allocate(der->len * 2 + 4);
  const size_t len = EVP_EncodeBlock(text, der->bytes, der->len);
  add(&pem, (const uint8_t *)begin, sizeof begin - 1);
  add(&pem, text, len);
  add(&pem, (const uint8_t *)end, sizeof end - 1);
  free(text);
  return pem;
}

static void expect_key(Mutants *mutants, const Data *der, sst_status status) {
  const Data pem = to_pem(der);
  EXPECT_STATUS(mutants_load(mutants, WAY_CREDENTIAL_PEM, "key", pem.bytes, pem.len, "pw"), status);
  free(pem.bytes);
}

TEST(hashing_limit, pkcs8_over_it_is_refused) {
  static const int ages[] = {-1, NID_pbe_WithSHA1And3_Key_TripleDES_CBC, NID_pbe_WithSHA1And40BitRC2_CBC};
  Mutants mutants = mutants_new(HELD_KEY);
  for (size_t i = 0; i < sizeof ages / sizeof ages[0]; i++) {
    CBB cbb;
    uint8_t *der = NULL;
    size_t len = 0;
    REQUIRE(CBB_init(&cbb, 0) &&
            PKCS8_marshal_encrypted_private_key(&cbb, ages[i], ages[i] == -1 ? EVP_aes_128_cbc() : NULL, "pw", 2, NULL,
                                                0, ROUNDS, key_of(KEY_P256, 0)) &&
            CBB_finish(&cbb, &der, &len));
    const Data key = taken(der, len), over = with(&key, rounds, over_limit, sizeof over_limit);
    const Data far = with(&key, rounds, far_over, sizeof far_over);
    expect_key(&mutants, &key, SST_OK);
    expect_key(&mutants, &over, SST_ERR_UNSUPPORTED_CIPHER);
    expect_key(&mutants, &far, SST_ERR_UNSUPPORTED_CIPHER);
    free(key.bytes);
    free(over.bytes);
    free(far.bytes);
  }
  mutants_end(&mutants, "rounds in PKCS#8");
  issue_free_all();
}
