/*
 * The certificates of a stream: the verified path, and what verification refused.
 */
#include <stdlib.h>
#include <string.h>

#include "pair.h"

typedef sst_status (*CertificateGetter)(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap,
                                        size_t *out_len);

static void expect_certificate(const Side *side, CertificateGetter get, size_t index, const char *file,
                               size_t in_file) {
  const Data der = data_certificate(file, in_file);
  uint8_t out[4096];
  size_t len = 0, again = 0;
  EXPECT_STATUS(get(side->stream, index, NULL, 0, &len), SST_NEED_OUTPUT);
  EXPECT_EQ(len, der.len);
  EXPECT_STATUS(get(side->stream, index, out, len, &again), SST_OK);
  EXPECT_BYTES(out, again, der.bytes, der.len);
  free(der.bytes);
}

static void expect_none(const Side *side, CertificateGetter get, size_t index) {
  uint8_t out[16] = {0x5a};
  size_t len = 7;
  EXPECT_STATUS(get(side->stream, index, out, sizeof out, &len), SST_OK);
  EXPECT_EQ(len, 0);
  EXPECT_EQ(out[0], 0x5a);
}

TEST(stream_certificates, verified_path_ends_at_the_anchor) {
  for (uint16_t version = SST_TLS1_2; version <= SST_TLS1_3; version++) {
    Pair pair = pair_new(.server = {.credential = "server-chain"}, .client = {.max_version = version});
    expect_none(&pair.client, sst_stream_verified_certificate, 0);
    EXPECT_STATUS(pair_handshake(&pair), SST_OK);
    for (size_t i = 0; i < 3; i++)
      expect_certificate(&pair.client, sst_stream_verified_certificate, i, "server-chain", i);
    expect_certificate(&pair.client, sst_stream_verified_certificate, 3, "root", 0);
    expect_none(&pair.client, sst_stream_verified_certificate, 4);
    expect_none(&pair.client, sst_stream_verified_certificate, SIZE_MAX);
    expect_none(&pair.server, sst_stream_verified_certificate, 0);
    expect_none(&pair.client, sst_stream_refused_certificate, 0);
    pair_free(&pair);
  }
}

TEST(stream_certificates, server_has_the_path_of_its_client) {
  Pair pair = pair_open(.server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE},
                        .client = {.credential = "client-p256"});
  expect_certificate(&pair.server, sst_stream_verified_certificate, 0, "client-p256", 0);
  expect_certificate(&pair.server, sst_stream_verified_certificate, 1, "client-root", 0);
  expect_none(&pair.server, sst_stream_verified_certificate, 2);
  pair_free(&pair);
}

TEST(stream_certificates, trusted_leaf_is_its_own_path) {
  Pair pair = pair_open(.server = {.credential = "server-self-signed"}, .client = {.trust = "server-self-signed"});
  expect_certificate(&pair.client, sst_stream_verified_certificate, 0, "server-self-signed", 0);
  expect_none(&pair.client, sst_stream_verified_certificate, 1);
  pair_free(&pair);
}

TEST(stream_certificates, what_was_not_verified_has_no_path) {
  Pair pair = pair_open(.client = {.verify = SST_VERIFY_NONE});
  EXPECT_EQ(sst_stream_num_peer_certificates(pair.client.stream), 2);
  expect_none(&pair.client, sst_stream_verified_certificate, 0);
  pair_free(&pair);
}

TEST(stream_certificates, refused_chain_is_shown_as_it_was_sent) {
  static const struct {
    const char *credential, *name;
    sst_status code;
  } rows[] = {{"server-expired", NULL, SST_ERR_CERT_EXPIRED},
              {"server-p256", "other.test", SST_ERR_CERT_NAME_MISMATCH},
              {"server-untrusted", NULL, SST_ERR_CERT_ISSUER_NOT_FOUND},
              {"server-self-signed", NULL, SST_ERR_CERT_SELF_SIGNED}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (uint16_t version = SST_TLS1_2; version <= SST_TLS1_3; version++) {
      test_note("%s, %x", rows[i].credential, version);
      Pair pair = pair_new(.server = {.credential = rows[i].credential},
                           .client = {.max_version = version, .server_name = rows[i].name});
      EXPECT_STATUS(pair_handshake(&pair), rows[i].code);
      expect_certificate(&pair.client, sst_stream_refused_certificate, 0, rows[i].credential, 0);
      expect_none(&pair.client, sst_stream_refused_certificate, 100);
      EXPECT_EQ(sst_stream_num_peer_certificates(pair.client.stream), 0);
      expect_none(&pair.client, sst_stream_peer_certificate, 0);
      expect_none(&pair.client, sst_stream_verified_certificate, 0);
      expect_none(&pair.server, sst_stream_refused_certificate, 0);
      pair_free(&pair);
    }
  }
}

TEST(stream_certificates, server_shows_the_client_chain_that_it_refused) {
  Pair pair = pair_new(.server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE},
                       .client = {.credential = "client-untrusted"});
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_CERT_ISSUER_NOT_FOUND);
  expect_certificate(&pair.server, sst_stream_refused_certificate, 0, "client-untrusted", 0);
  pair_free(&pair);
}

TEST(stream_certificates, other_failures_show_no_chain) {
  Pair pair = pair_open();
  EXPECT_STATUS(sst_stream_abort(pair.client.stream, 80), SST_OK);
  expect_none(&pair.client, sst_stream_refused_certificate, 0);
  pair_free(&pair);
}

TEST(stream_certificates, arguments_are_looked_at) {
  static const CertificateGetter getters[] = {sst_stream_peer_certificate, sst_stream_verified_certificate,
                                              sst_stream_local_certificate, sst_stream_refused_certificate};
  Pair pair = pair_open();
  for (size_t i = 0; i < sizeof getters / sizeof getters[0]; i++) {
    uint8_t out[16];
    size_t len = 7;
    EXPECT_STATUS(getters[i](NULL, 0, out, sizeof out, &len), SST_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(len, 0);
    EXPECT_STATUS(getters[i](pair.client.stream, 0, out, sizeof out, NULL), SST_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(getters[i](pair.client.stream, 0, NULL, 5, &len), SST_ERR_INVALID_ARGUMENT);
  }
  pair_free(&pair);
}
