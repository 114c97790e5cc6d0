/*
 * Trust from DER, and revocation lists.
 */
#include <stdlib.h>
#include <string.h>

#include "pair.h"

static sst_error error_of_trust(const sst_trust *trust) {
  sst_error error = {.size = sizeof error};
  EXPECT_STATUS(sst_trust_last_error(trust, &error), SST_OK);
  return error;
}

static void expect_refused(const sst_trust *trust, sst_status status, sst_status code, const char *message) {
  EXPECT_STATUS(status, code);
  EXPECT_STATUS(error_of_trust(trust).code, code);
  EXPECT_CONTAINS(error_of_trust(trust).message, message);
}

TEST(trust_forms, certificates_in_der_are_added) {
  const Data der = data_read("roots", "der");
  sst_trust *trust = data_trust("root");
  EXPECT_STATUS(sst_trust_load_der(trust, der.bytes, der.len), SST_OK);
  EXPECT_EQ(sst_trust_num_anchors(trust), 2);
  free(der.bytes);
  sst_trust_free(trust);
}

TEST(trust_forms, damaged_der_adds_nothing) {
  const Data der = data_read("roots", "der");
  sst_trust *trust = sst_trust_new();
  expect_refused(trust, sst_trust_load_der(trust, der.bytes, der.len - 1), SST_ERR_PARSE, "certificate 2");
  expect_refused(trust, sst_trust_load_der(trust, der.bytes + 1, der.len - 1), SST_ERR_PARSE, "certificate 1");
  expect_refused(trust, sst_trust_load_der(trust, NULL, 0), SST_ERR_NO_CERTIFICATE, "no certificate");
  EXPECT_EQ(sst_trust_num_anchors(trust), 0);
  EXPECT_STATUS(sst_trust_load_der(NULL, der.bytes, der.len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_trust_load_der(trust, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_trust_load_crl(NULL, der.bytes, der.len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_trust_load_crl(trust, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_trust_load_system(NULL), SST_ERR_INVALID_ARGUMENT);
  free(der.bytes);
  sst_trust_free(trust);
}

TEST(trust_forms, frozen_trust_takes_nothing) {
  sst_trust *trust = data_trust("root");
  sst_config *config = sst_config_new();
  const uint8_t byte = 0;
  EXPECT_STATUS(sst_config_set_trust(config, trust), SST_OK);
  EXPECT_STATUS(sst_trust_load_der(trust, &byte, 1), SST_ERR_FROZEN);
  EXPECT_STATUS(sst_trust_load_crl(trust, &byte, 1), SST_ERR_FROZEN);
  EXPECT_STATUS(sst_trust_load_system(trust), SST_ERR_FROZEN);
  sst_config_free(config);
  sst_trust_free(trust);
}

TEST(trust_forms, damaged_lists_are_parse_with_their_place) {
  const Data both = data_read("crl-both", "der"), pem = data_read("crl-root", "pem"), root = data_read("root", "pem");
  sst_trust *trust = data_trust("root");
  expect_refused(trust, sst_trust_load_crl(trust, both.bytes, both.len - 1), SST_ERR_PARSE, "revocation list 2");
  expect_refused(trust, sst_trust_load_crl(trust, root.bytes, root.len), SST_ERR_PARSE, "no revocation list");
  expect_refused(trust, sst_trust_load_crl(trust, NULL, 0), SST_ERR_PARSE, "no revocation list");
  pem.bytes[200] = '!';
  expect_refused(trust, sst_trust_load_crl(trust, pem.bytes, pem.len), SST_ERR_PARSE,
                 "revocation list 1 of 1: bad base64 at line 4");
  pem.bytes[200] = pem.bytes[201];
  pem.bytes[40] = 'A';
  expect_refused(trust, sst_trust_load_crl(trust, pem.bytes, pem.len), SST_ERR_PARSE,
                 "revocation list 1 of 1: not a valid revocation list, in the block at line 1");
  free(both.bytes);
  free(pem.bytes);
  free(root.bytes);
  sst_trust_free(trust);
}

/* ---- what lists do to handshakes ---- */

typedef struct Row {
  const char *credential;
  const char *lists[4]; /* of the client's trust, in PEM */
  sst_status code;
  uint64_t reasons;
  int alert;
  const char *message;
} Row;

#define BIT(code) (UINT64_C(1) << (-500 - (code)))

static sst_trust *trust_with(const char *root, const char *const *lists) {
  sst_trust *trust = data_trust(root);
  for (; *lists != NULL; lists++) {
    const Data crl = data_read(*lists, "pem");
    EXPECT_STATUS(sst_trust_load_crl(trust, crl.bytes, crl.len), SST_OK);
    free(crl.bytes);
  }
  return trust;
}

static void expect_row(const Row *row, uint16_t version) {
  sst_trust *trust = trust_with("root", row->lists);
  sst_config *config = sst_config_new();
  EXPECT_STATUS(sst_config_set_trust(config, trust), SST_OK);
  EXPECT_STATUS(sst_config_set_versions(config, version, version), SST_OK);
  Pair pair = pair_new(.server = {.credential = row->credential}, .client = {.config = config});
  EXPECT_STATUS(pair_handshake(&pair), row->code);
  const sst_error error = error_of(&pair.client);
  EXPECT_EQ(error.reasons, row->reasons);
  if (row->code != SST_OK) {
    EXPECT_EQ(error.alert_sent, row->alert);
    EXPECT_STRING(error.message, row->message);
    EXPECT_EQ(error_of(&pair.server).alert_received, row->alert);
  }
  pair_free(&pair);
  sst_config_free(config);
  sst_trust_free(trust);
}

static const Row rows[] = {
    {"server-revoked", {NULL}, SST_OK, 0, 0, NULL},
    {"server-revoked", {"crl-root", "crl-intermediate"}, SST_OK, 0, 0, NULL},
    {"server-p256", {"crl-root", "crl-intermediate-revokes"}, SST_OK, 0, 0, NULL},
    {"server-revoked",
     {"crl-root", "crl-intermediate-revokes"},
     SST_ERR_CERT_REVOKED,
     BIT(SST_ERR_CERT_REVOKED),
     44,
     "certificate 1 of 3 (CN=server-revoked) is revoked"},
    {"server-revoked", /* the newer list counts, whichever was loaded first */
     {"crl-intermediate-revokes", "crl-intermediate", "crl-root"},
     SST_ERR_CERT_REVOKED,
     BIT(SST_ERR_CERT_REVOKED),
     44,
     "certificate 1 of 3 (CN=server-revoked) is revoked"},
    {"server-p256",
     {"crl-root-revokes", "crl-intermediate"},
     SST_ERR_CERT_REVOKED,
     BIT(SST_ERR_CERT_REVOKED),
     44,
     "certificate 2 of 3 (CN=Test Intermediate) is revoked"},
    {"server-p256",
     {"crl-intermediate"},
     SST_ERR_CERT_CRL,
     BIT(SST_ERR_CERT_CRL),
     48,
     "no revocation list of CN=Test Root is in the trust, for certificate 2 of 3 (CN=Test Intermediate)"},
    {"server-p256",
     {"crl-root"},
     SST_ERR_CERT_CRL,
     BIT(SST_ERR_CERT_CRL),
     48,
     "no revocation list of CN=Test Intermediate is in the trust, for certificate 1 of 3 (CN=server-p256)"},
    {"server-p256",
     {"crl-root", "crl-intermediate-expired"},
     SST_ERR_CERT_CRL,
     BIT(SST_ERR_CERT_CRL),
     48,
     "the revocation list of CN=Test Intermediate, for certificate 1 of 3 (CN=server-p256), has expired"},
    {"server-p256",
     {"crl-root", "crl-intermediate-future"},
     SST_ERR_CERT_CRL,
     BIT(SST_ERR_CERT_CRL),
     48,
     "the revocation list of CN=Test Intermediate, for certificate 1 of 3 (CN=server-p256), is not valid yet"},
    {"server-p256",
     {"crl-root", "crl-wrong-signer"},
     SST_ERR_CERT_CRL,
     BIT(SST_ERR_CERT_CRL),
     48,
     "the signature of the revocation list of CN=Test Intermediate, for certificate 1 of 3 (CN=server-p256), is "
     "wrong"},
    {"server-p256", /* an expired list beside a good one does no harm */
     {"crl-intermediate-expired", "crl-root", "crl-intermediate"},
     SST_OK,
     0,
     0,
     NULL},
    {"server-expired",
     {"crl-root"},
     SST_ERR_CERT_CRL,
     BIT(SST_ERR_CERT_CRL) | BIT(SST_ERR_CERT_EXPIRED),
     48,
     "no revocation list of CN=Test Intermediate is in the trust, for certificate 1 of 3 (CN=server-expired)"},
};

TEST(trust_forms, lists_are_checked_where_they_are_given) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (uint16_t version = SST_TLS1_2; version <= SST_TLS1_3; version++) {
      test_note("row %zu, %x", i, version);
      expect_row(&rows[i], version);
    }
  }
}

TEST(trust_forms, server_checks_lists_of_its_clients) {
  for (int revoked = 0; revoked < 2; revoked++) {
    const char *const lists[] = {revoked ? "crl-client-root-revokes" : "crl-client-root", NULL};
    sst_trust *trust = trust_with("client-root", lists);
    sst_credential *credential = data_credential("server-p256");
    sst_config *config = sst_config_new();
    EXPECT_STATUS(sst_config_set_trust(config, trust), SST_OK);
    EXPECT_STATUS(sst_config_add_credential(config, credential), SST_OK);
    EXPECT_STATUS(sst_config_set_client_certificate(config, SST_CLIENT_CERTIFICATE_REQUIRE), SST_OK);
    Pair pair = pair_new(.server = {.config = config}, .client = {.credential = "client-p256"});
    EXPECT_STATUS(pair_handshake(&pair), revoked ? SST_ERR_CERT_REVOKED : SST_OK);
    pair_free(&pair);
    sst_config_free(config);
    sst_credential_free(credential);
    sst_trust_free(trust);
  }
}

/* Where the trust ends at an intermediate, nothing above it is asked for. */
TEST(trust_forms, anchor_of_a_partial_chain_needs_no_list) {
  const char *const lists[] = {"crl-intermediate", NULL};
  sst_trust *trust = trust_with("intermediate", lists);
  sst_config *config = sst_config_new();
  EXPECT_STATUS(sst_trust_set_partial_chain(trust, 1), SST_OK);
  EXPECT_STATUS(sst_config_set_trust(config, trust), SST_OK);
  Pair pair = pair_new(.client = {.config = config});
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  pair_free(&pair);
  sst_config_free(config);
  sst_trust_free(trust);
}
