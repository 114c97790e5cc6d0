/* White-box: chains made to cost, or to be read wrong. Each is judged within two seconds of the thread's time, and none
   passes that must not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/bytestring.h>
#include <openssl/mem.h>
#include <openssl/rsa.h>

#include "judge.h"
#include "mutant.h"
#include "mutate.h"

enum { MOST_NS = 2000000000 };

static sst_status verdict_in_time(Judge *judge, const char *name) {
  const uint64_t begin = thread_time();
  const sst_status status = judge_verdict(judge);
  const uint64_t ns = thread_time() - begin;
  EXPECT_AT_MOST(ns, MOST_NS);
  printf("%s: %s, %u ms\n", name, sst_status_name(status), (unsigned)(ns / 1000000));
  return status;
}

/* "FORMAT,FORMAT,..." with the number in each. */
static char *list_of(const char *format, unsigned count, const char *last) {
  char *text = test_allocate((size_t)count * 64 + 64);
  size_t len = 0;
  for (unsigned i = 0; i < count; i++) {
    len += (size_t)snprintf(text + len, 64, format, i);
    text[len++] = ',';
  }
  (void)snprintf(text + len, 64, "%s", last);
  return text;
}

static X509 *leaf_of(const X509 *issuer, EVP_PKEY *issuer_key, const char *names) {
  return ISSUE(.subject = "Leaf", .key = key_of(KEY_P256, 2), .issuer = issuer, .issuer_key = issuer_key,
               .names = names);
}

TEST(hostile_chain, ten_thousand_names_are_searched_in_time) {
  for (int there = 0; there < 2; there++) {
    Judge judge = judge_new();
    X509 *root = judge_root();
    char *names = list_of("DNS:*.name-%u.test", 10000, there ? "DNS:server.test" : "DNS:other.test");
    judge_trusts(&judge, root, NULL);
    judge_is_sent(&judge, leaf_of(root, key_of(KEY_P256, 0), names), NULL);
    EXPECT_STATUS(verdict_in_time(&judge, "10,000 names"), there ? SST_OK : SST_ERR_CERT_NAME_MISMATCH);
    free(names);
    judge_free(&judge);
  }
}

/* Each name against each constraint: 100,000,000 comparisons, which BoringSSL refuses to make. */
TEST(hostile_chain, ten_thousand_constraints_of_ten_thousand_names_are_refused_in_time) {
  static const char *const kinds[] = {"permitted;DNS:name-%u.test", "excluded;DNS:other-%u.test"};
  for (int kind = 0; kind < 2; kind++) {
    Judge judge = judge_new();
    X509 *root = judge_root();
    char *names = list_of("DNS:name-%u.test", 10000, "DNS:server.test");
    char *constraints = list_of(kinds[kind], 10000, kind == 0 ? "permitted;DNS:server.test" : "excluded;DNS:x.test");
    X509 *issuer = ISSUE(.subject = "Intermediate", .key = key_of(KEY_P256, 1), .ca = true, .issuer = root,
                         .issuer_key = key_of(KEY_P256, 0), .constraints = constraints);
    judge_trusts(&judge, root, NULL);
    judge_is_sent(&judge, leaf_of(issuer, key_of(KEY_P256, 1), names), issuer, NULL);
    EXPECT(verdict_in_time(&judge, "10,000 constraints of 10,000 names") != SST_OK);
    free(names);
    free(constraints);
    judge_free(&judge);
  }
}

/* As many as BoringSSL compares: 1,000 with 1,000. */
TEST(hostile_chain, a_thousand_constraints_of_a_thousand_names_are_judged_in_time) {
  Judge judge = judge_new();
  X509 *root = judge_root();
  char *names = list_of("DNS:name-%u.test", 999, "DNS:server.test");
  char *constraints = list_of("permitted;DNS:name-%u.test", 999, "permitted;DNS:server.test");
  X509 *issuer = ISSUE(.subject = "Intermediate", .key = key_of(KEY_P256, 1), .ca = true, .issuer = root,
                       .issuer_key = key_of(KEY_P256, 0), .constraints = constraints);
  judge_trusts(&judge, root, NULL);
  judge_is_sent(&judge, leaf_of(issuer, key_of(KEY_P256, 1), names), issuer, NULL);
  EXPECT_STATUS(verdict_in_time(&judge, "1,000 constraints of 1,000 names"), SST_OK);
  free(names);
  free(constraints);
  judge_free(&judge);
}

/* ---- paths ---- */

/* A issued B and B issued A, and both the leaf's. */
TEST(hostile_chain, issuers_in_a_circle_lead_nowhere) {
  Judge judge = judge_new();
  X509 *a = ISSUE(.subject = "A", .key = key_of(KEY_P256, 0), .ca = true);
  X509 *b = ISSUE(.subject = "B", .key = key_of(KEY_P256, 1), .ca = true);
  X509 *a_by_b =
      ISSUE(.subject = "A", .key = key_of(KEY_P256, 0), .ca = true, .issuer = b, .issuer_key = key_of(KEY_P256, 1));
  X509 *b_by_a =
      ISSUE(.subject = "B", .key = key_of(KEY_P256, 1), .ca = true, .issuer = a, .issuer_key = key_of(KEY_P256, 0));
  judge_trusts(&judge, ISSUE(.subject = "Root", .key = key_of(KEY_P256, 3), .ca = true), NULL);
  judge_is_sent(&judge, leaf_of(a, key_of(KEY_P256, 0), "DNS:server.test"), a_by_b, b_by_a, NULL);
  const sst_status status = verdict_in_time(&judge, "a circle");
  EXPECT(status == SST_ERR_CERT_ISSUER_NOT_FOUND || status == SST_ERR_CERT_CHAIN_TOO_LONG);
  judge_free(&judge);
}

/* count authorities of one name, each signed by the next of four keys: every one may have issued every other. */
static X509 *send_cross_signed(Judge *judge, KeyKind kind, unsigned count) {
  X509 *name = ISSUE(.subject = "CA", .key = key_of(kind, 0));
  judge_is_sent(judge, leaf_of(name, key_of(kind, 0), "DNS:server.test"), NULL);
  for (unsigned i = 0; i < count; i++) {
    judge_is_sent(judge,
                  ISSUE(.subject = "CA", .key = key_of(kind, i % 4), .ca = true, .issuer = name,
                        .issuer_key = key_of(kind, (i + 1) % 4)),
                  NULL);
  }
  return name;
}

TEST(hostile_chain, hundred_cross_signed_issuers_are_refused_in_time) {
  static const KeyKind kinds[] = {KEY_P256, KEY_P384, KEY_P521, KEY_RSA2048};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    Judge judge = judge_new();
    judge_trusts(&judge, ISSUE(.subject = "Root", .key = key_of(KEY_P256, 3), .ca = true), NULL);
    (void)send_cross_signed(&judge, kinds[i], 100);
    EXPECT(verdict_in_time(&judge, "100 cross-signed issuers") != SST_OK);
    judge_free(&judge);
  }
}

/* The same, and the trust holds authorities of that name with other keys. */
TEST(hostile_chain, hundred_cross_signed_issuers_and_anchors_are_refused_in_time) {
  static const KeyKind kinds[] = {KEY_P256, KEY_P521};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    Judge judge = judge_new();
    for (int anchor = 0; anchor < 50; anchor++)
      judge_trusts(&judge, ISSUE(.subject = "CA", .key = key_of(KEY_P384, 3), .ca = true), NULL);
    (void)send_cross_signed(&judge, kinds[i], 100);
    EXPECT(verdict_in_time(&judge, "100 cross-signed issuers and 50 anchors") != SST_OK);
    judge_free(&judge);
  }
}

/* ---- odd keys and numbers ---- */

/* The certificate with one element of it replaced, which need not parse. */
static Data with_element(const X509 *certificate, const Data *old, const Data *put) {
  uint8_t *der = NULL;
  const int len = i2d_X509(certificate, &der);
  REQUIRE(len > 0);
  size_t at = 0;
  while (at + old->len < (size_t)len && memcmp(der + at, old->bytes, old->len) != 0)
    at++;
  REQUIRE(at + old->len < (size_t)len);
  const Data made = mutate_splice(der, (size_t)len, at, old->len, put->bytes, put->len);
  OPENSSL_free(der);
  return made;
}

static Data key_info(EVP_PKEY *key) {
  uint8_t *der = NULL;
  const int len = i2d_PUBKEY(key, &der);
  REQUIRE(len > 0);
  const Data data = {test_allocate((size_t)len), (size_t)len};
  memcpy(data.bytes, der, data.len);
  OPENSSL_free(der);
  return data;
}

/* An RSA key by its numbers; no check but the reader's. */
static Data rsa_info(unsigned bits, uint64_t exponent, bool even) {
  static const uint8_t algorithm[] = {0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0};
  uint8_t *modulus = test_allocate(bits / 8 + 1), *der = NULL;
  memset(modulus, 0xff, bits / 8 + 1);
  modulus[0] = 0;
  if (even) modulus[bits / 8] = 0xfe;
  CBB cbb, info, string, numbers, number;
  size_t len = 0;
  REQUIRE(CBB_init(&cbb, 0) && CBB_add_asn1(&cbb, &info, CBS_ASN1_SEQUENCE) &&
          CBB_add_bytes(&info, algorithm, sizeof algorithm) && CBB_add_asn1(&info, &string, CBS_ASN1_BITSTRING) &&
          CBB_add_u8(&string, 0) && CBB_add_asn1(&string, &numbers, CBS_ASN1_SEQUENCE) &&
          CBB_add_asn1(&numbers, &number, CBS_ASN1_INTEGER) && CBB_add_bytes(&number, modulus, bits / 8 + 1) &&
          CBB_add_asn1_uint64(&numbers, exponent) && CBB_finish(&cbb, &der, &len));
  const Data data = {test_allocate(len), len};
  memcpy(data.bytes, der, len);
  OPENSSL_free(der);
  free(modulus);
  return data;
}

/* A certificate with another key in it, as leaf, as issuer and as anchor: never accepted, always in time. Loading it may
   succeed: nobody looks at the signature of an anchor. */
static void judge_key(const char *name, const Data *info) {
  X509 *root = judge_root(), *intermediate = judge_intermediate(root), *leaf = judge_leaf(intermediate);
  EVP_PKEY *keys[] = {key_of(KEY_P256, 2), key_of(KEY_P256, 1), key_of(KEY_P256, 0)};
  X509 *const certificates[] = {leaf, intermediate, root};
  for (int place = 0; place < 3; place++) {
    Judge judge = judge_new();
    const Data old = key_info(keys[place]), odd = with_element(certificates[place], &old, info);
    Mutants mutants = mutants_new(HELD_CHAIN);
    (void)mutants_load(&mutants, WAY_TRUST_DER, name, odd.bytes, odd.len, "");
    (void)mutants_load(&mutants, WAY_CREDENTIAL_DER, name, odd.bytes, odd.len, "");
    (void)mutants_load(&mutants, WAY_CLIENT_CA, name, odd.bytes, odd.len, "");
    mutants_end(&mutants, name);
    const sst_status loaded = place == 2 ? sst__anchors_load_der(judge.anchors, odd.bytes, odd.len, &judge.error) : 1;
    if (loaded != SST_OK)
      judge_trusts(&judge, place == 2 ? ISSUE(.subject = "X", .key = keys[0], .ca = true) : root, NULL);
    if (place == 0) judge_is_sent_bytes(&judge, odd.bytes, odd.len);
    if (place != 0) judge_is_sent(&judge, leaf, NULL);
    if (place == 1) judge_is_sent_bytes(&judge, odd.bytes, odd.len);
    if (place != 1) judge_is_sent(&judge, intermediate, NULL);
    EXPECT(verdict_in_time(&judge, name) != SST_OK);
    sst__anchors_free(judge.anchors);
    sk_CRYPTO_BUFFER_pop_free(judge.chain, CRYPTO_BUFFER_free);
    free(old.bytes);
    free(odd.bytes);
  }
  issue_free_all();
}

TEST(hostile_chain, odd_rsa_keys_are_refused_in_time) {
  static const struct {
    const char *name;
    unsigned bits;
    uint64_t exponent;
    bool even;
  } rows[] = {{"RSA with 16,384 bits", 16384, 65537, false},
              {"RSA with 16,392 bits", 16392, 65537, false},
              {"RSA with 65,536 bits", 65536, 65537, false},
              {"RSA with 1,000,000 bits", 1000000, 3, false},
              {"RSA with an exponent of 33 bits", 16384, UINT64_C(0x1ffffffff), false},
              {"RSA with an exponent of 64 bits", 8192, UINT64_C(0xffffffffffffffff), false},
              {"RSA with an even exponent", 2048, 65536, false},
              {"RSA with the exponent 1", 2048, 1, false},
              {"RSA with the exponent 0", 2048, 0, false},
              {"RSA with an even modulus", 2048, 65537, true},
              {"RSA with 8 bits", 8, 3, false}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const Data info = rsa_info(rows[i].bits, rows[i].exponent, rows[i].even);
    judge_key(rows[i].name, &info);
    free(info.bytes);
  }
}

/* id-ecPublicKey with parameters, and a point of 65 bytes. */
static Data ec_info(const uint8_t *parameters, size_t parameters_len, const uint8_t point[65]) {
  static const uint8_t oid[] = {6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1};
  uint8_t *der = NULL;
  size_t len = 0;
  CBB cbb, info, algorithm, string;
  REQUIRE(CBB_init(&cbb, 0) && CBB_add_asn1(&cbb, &info, CBS_ASN1_SEQUENCE) &&
          CBB_add_asn1(&info, &algorithm, CBS_ASN1_SEQUENCE) && CBB_add_bytes(&algorithm, oid, sizeof oid) &&
          CBB_add_bytes(&algorithm, parameters, parameters_len) && CBB_add_asn1(&info, &string, CBS_ASN1_BITSTRING) &&
          CBB_add_u8(&string, 0) && CBB_add_bytes(&string, point, 65) && CBB_finish(&cbb, &der, &len));
  const Data data = {test_allocate(len), len};
  memcpy(data.bytes, der, len);
  OPENSSL_free(der);
  return data;
}

/* Explicit parameters whose prime is none, where a square root by Tonelli and Shanks does not end (CVE-2022-0778), with a
   compressed base point that asks for one. */
static const uint8_t explicit_parameters[] = {0x30, 0x28, 2,    1,    1,    0x30, 0x0d, 6,    7,    0x2a, 0x86,
                                              0x48, 0xce, 0x3d, 1,    1,    2,    2,    0x02, 0xb9, /* 697 = 17 * 41 */
                                              0x30, 0x08, 4,    2,    0x00, 0x17, 4,    2,    0x00, 0x00, 4,
                                              3,    0x02, 0x00, 0x08, 2,    2,    0x02, 0xb9, 2,    1,    1};

TEST(hostile_chain, odd_ec_keys_are_refused_in_time) {
  static const uint8_t named[] = {6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7}, null[] = {5, 0};
  uint8_t off[65] = {4, 1, 2, 3}, infinity[65] = {0}, over[65];
  memset(over, 0xff, sizeof over);
  over[0] = 4;
  const Data infos[] = {ec_info(named, sizeof named, off), ec_info(named, sizeof named, infinity),
                        ec_info(named, sizeof named, over), ec_info(null, sizeof null, off),
                        ec_info(explicit_parameters, sizeof explicit_parameters, off)};
  static const char *const names[] = {"a point off the curve", "the point at infinity", "coordinates over the prime",
                                      "no curve", "explicit parameters without a prime"};
  for (size_t i = 0; i < sizeof infos / sizeof infos[0]; i++) {
    judge_key(names[i], &infos[i]);
    free(infos[i].bytes);
  }
}

/* The same parameters in a private key, SEC1: an INTEGER, the key, [0] the parameters. */
TEST(hostile_chain, private_key_with_explicit_parameters_is_refused) {
  uint8_t der[200] = {0x30, 3 + 34 + 2 + (uint8_t)sizeof explicit_parameters, 2, 1, 1, 4, 32};
  memset(der + 7, 1, 32);
  der[39] = 0xa0;
  der[40] = (uint8_t)sizeof explicit_parameters;
  memcpy(der + 41, explicit_parameters, sizeof explicit_parameters);
  Mutants mutants = mutants_new(HELD_KEY);
  EXPECT(mutants_load(&mutants, WAY_CREDENTIAL_KEY_DER, "SEC1", der, 41 + sizeof explicit_parameters, "") != SST_OK);
  mutants_end(&mutants, "private key with explicit parameters");
}

/* RFC 5280, 4.1.2.2: readers handle serial numbers that are zero, negative or too long gracefully. */
TEST(hostile_chain, odd_serial_numbers_are_judged_in_time) {
  static const int lengths[] = {1, 20, 21, 10000};
  for (int i = 0; i < 8; i++) {
    Judge judge = judge_new();
    X509 *root = judge_root(), *intermediate = judge_intermediate(root), *leaf = judge_leaf(intermediate);
    BIGNUM *number = BN_new();
    REQUIRE(number != NULL && BN_set_bit(number, lengths[i / 2] * 8 - 2) == 1);
    BN_set_negative(number, i % 2);
    ASN1_INTEGER *serial = BN_to_ASN1_INTEGER(number, NULL);
    REQUIRE(serial != NULL && X509_set_serialNumber(leaf, serial) &&
            X509_sign(leaf, key_of(KEY_P256, 1), EVP_sha256()));
    judge_trusts(&judge, root, NULL);
    judge_is_sent(&judge, leaf, intermediate, NULL);
    EXPECT_STATUS(verdict_in_time(&judge, i % 2 == 0 ? "a serial number" : "a negative serial number"), SST_OK);
    ASN1_INTEGER_free(serial);
    BN_free(number);
    judge_free(&judge);
  }
}
