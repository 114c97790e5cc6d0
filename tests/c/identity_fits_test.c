/*
 * Which credential a client sends: one that the server's schemes and issuers cover, else none, instead of failing.
 */
#include <stdlib.h>

#include "pair.h"
#include "test.h"

/* The server asks and the client has name (and second): the server sees file's certificate, or none (NULL). */
static void expect_sent(const PairOptions *options, const char *file) {
  Pair pair = pair_make(options);
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  EXPECT_EQ(sst_stream_num_peer_certificates(pair.server.stream) > 0, file != NULL);
  if (file != NULL) {
    const Data der = data_certificate(file, 0);
    uint8_t out[4096];
    size_t len = 0;
    EXPECT_STATUS(sst_stream_peer_certificate(pair.server.stream, 0, out, sizeof out, &len), SST_OK);
    EXPECT_BYTES(out, len, der.bytes, der.len);
    free(der.bytes);
  }
  pair_free(&pair);
}

#define EXPECT_SENT(file, ...) expect_sent(&(PairOptions){.first = 0, __VA_ARGS__}, (file))
#define ASKS .client_certificate = SST_CLIENT_CERTIFICATE_REQUEST, .max_version = version, .min_version = version

TEST_VERSIONS(identity_fits, scheme_that_the_key_cannot_make_keeps_the_credential_back) {
  EXPECT_SENT(NULL, .server = {ASKS, .schemes = {0x0807, 0x0403}}, .client = {.credential = "client-rsa2048"});
  EXPECT_SENT(NULL, .server = {ASKS, .schemes = {0x0804}}, .client = {.credential = "client-p256"});
  EXPECT_SENT(NULL, .server = {ASKS, .schemes = {0x0403, 0x0804}}, .client = {.credential = "client-ed25519"});
  EXPECT_SENT("client-ed25519", .server = {ASKS, .schemes = {0x0804, 0x0807}},
              .client = {.credential = "client-ed25519"});
}

/* TLS 1.2 names a digest, TLS 1.3 digest and curve. */
TEST(identity_fits, curve_of_the_scheme_counts_in_tls13_only) {
  uint16_t version = SST_TLS1_2;
  EXPECT_SENT("client-p256", .server = {ASKS, .schemes = {0x0503}}, .client = {.credential = "client-p256"});
  version = SST_TLS1_3;
  EXPECT_SENT(NULL, .server = {ASKS, .schemes = {0x0503}}, .client = {.credential = "client-p256"});
  EXPECT_SENT("client-p384", .server = {ASKS, .schemes = {0x0503}}, .client = {.credential = "client-p384"});
}

TEST(identity_fits, pkcs1_signature_is_for_tls12_only) {
  uint16_t version = SST_TLS1_2;
  EXPECT_SENT("client-rsa2048", .server = {ASKS, .schemes = {0x0401}, .credential = "server-rsa2048"},
              .client = {.credential = "client-rsa2048"});
  version = SST_TLS1_3;
  EXPECT_SENT(NULL, .server = {ASKS, .schemes = {0x0401}}, .client = {.credential = "client-rsa2048"});
}

TEST_VERSIONS(identity_fits, first_credential_that_fits_is_sent) {
  EXPECT_SENT("client-p384", .server = {ASKS, .schemes = {0x0503, 0x0403}},
              .client = {.credential = "client-rsa2048", .second_credential = "client-p384"});
  EXPECT_SENT("client-rsa2048", .server = {ASKS},
              .client = {.credential = "client-rsa2048", .second_credential = "client-p384"});
  EXPECT_SENT("client-p256", .server = {ASKS, .client_ca = "client-root"},
              .client = {.credential = "client-b", .second_credential = "client-p256"});
}

TEST_VERSIONS(identity_fits, issuer_that_is_not_asked_for_keeps_the_credential_back) {
  EXPECT_SENT(NULL, .server = {ASKS, .client_ca = "client-root-b"}, .client = {.credential = "client-p256"});
  EXPECT_SENT("client-p256", .server = {ASKS, .client_ca = "client-root"}, .client = {.credential = "client-p256"});
}

/* The issuer that is asked for may stand anywhere above the leaf. */
TEST_VERSIONS(identity_fits, issuer_of_any_certificate_in_the_chain_counts) {
  EXPECT_SENT("eku-both", .server = {ASKS, .trust = "root", .client_ca = "root"}, .client = {.credential = "eku-both"});
  EXPECT_SENT("eku-both", .server = {ASKS, .trust = "root", .client_ca = "intermediate"},
              .client = {.credential = "eku-both"});
}
