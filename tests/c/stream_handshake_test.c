/*
 * What two streams agree on, and how they fail where they cannot: versions, groups, suites, keys, client certificates.
 */
#include "pair.h"

#include <stdlib.h>
#include <string.h>

static void expect_agreed(const Pair *pair, uint16_t version, uint16_t suite, uint16_t group) {
  const Side *const sides[] = {&pair->client, &pair->server};
  for (int i = 0; i < 2; i++) {
    const sst_stream_info info = info_of(sides[i]);
    EXPECT_EQ(info.version, version);
    if (suite != 0) EXPECT_EQ(info.suite, suite);
    EXPECT_EQ(info.group, group);
    EXPECT((info.flags & SST_INFO_EXTENDED_MASTER_SECRET) != 0);
  }
}

/* What nobody has set must be the best of both: TLS 1.3 with the hybrid group. */
TEST(stream_handshake, defaults_agree_on_tls13_and_hybrid_group) {
  Pair pair = pair_open();
  expect_agreed(&pair, SST_TLS1_3, 0, 4588);
  const uint16_t suite = info_of(&pair.client).suite;
  EXPECT(suite == 0x1301 || suite == 0x1302 || suite == 0x1303);
  pair_echo(&pair, 1000);
  pair_free(&pair);
}

/* The highest version that both have is used, whichever side is limited. */
TEST(stream_handshake, limited_server_or_client_agree_on_tls12) {
  Pair server = pair_open(.server = {.max_version = SST_TLS1_2});
  expect_agreed(&server, SST_TLS1_2, 0xc02b, 29);
  pair_echo(&server, 1000);
  pair_free(&server);
  Pair client = pair_open(.client = {.max_version = SST_TLS1_2});
  expect_agreed(&client, SST_TLS1_2, 0xc02b, 29);
  pair_echo(&client, 1000);
  pair_free(&client);
}

static void agrees_on_group(uint16_t version, uint16_t group) {
  test_note("group %u", group);
  Pair pair = pair_open(.client = {.max_version = version, .groups = {group}},
                        .server = {.groups = {24, 4588, 29, 514, 25, 23}, .credential = "server-rsa2048"});
  expect_agreed(&pair, version, 0, group);
  EXPECT_EQ(info_of(&pair.client).flags & SST_INFO_HELLO_RETRY, 0);
  pair_echo(&pair, 100);
  pair_free(&pair);
}

TEST(stream_handshake, each_group_is_used_tls13) {
  const uint16_t groups[] = {29, 23, 24, 25, 4588, 514};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    agrees_on_group(SST_TLS1_3, groups[i]);
}

TEST(stream_handshake, each_classical_group_is_used_tls12) {
  const uint16_t groups[] = {29, 23, 24, 25};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    agrees_on_group(SST_TLS1_2, groups[i]);
}

/* A server whose group has no share asks once more, and both sides can tell. */
TEST(stream_handshake, group_without_share_costs_a_retry) {
  Pair pair = pair_open(.client = {.groups = {29, 23}}, .server = {.groups = {23}});
  expect_agreed(&pair, SST_TLS1_3, 0, 23);
  EXPECT((info_of(&pair.client).flags & SST_INFO_HELLO_RETRY) != 0);
  EXPECT((info_of(&pair.server).flags & SST_INFO_HELLO_RETRY) != 0);
  pair_echo(&pair, 100);
  pair_free(&pair);
}

/* Each suite of TLS 1.2 over each of its groups, with the kind of key that it names. */
TEST(stream_handshake, each_suite_is_used_tls12) {
  const uint16_t suites[] = {0xc02b, 0xc02c, 0xcca9, 0xc02f, 0xc030, 0xcca8}, groups[] = {29, 23, 24, 25};
  for (size_t i = 0; i < 24; i++) {
    const uint16_t suite = suites[i / 4], group = groups[i % 4], other = group == 23 ? 29 : 23;
    test_note("suite %04x, group %u", suite, group);
    Pair pair =
        pair_open(.client = {.max_version = SST_TLS1_2, .suites = {suite}, .groups = {group, other}},
                  .server = {.credential = i < 12 ? "server-p256" : "server-rsa2048", .groups = {group, other}});
    expect_agreed(&pair, SST_TLS1_2, suite, group);
    pair_echo(&pair, 100);
    pair_free(&pair);
  }
}

TEST(stream_handshake, suites_of_both_let_the_servers_order_win_tls12) {
  Pair pair = pair_open(.client = {.max_version = SST_TLS1_2, .suites = {0xc02b, 0xcca9, 0xc02c}},
                        .server = {.suites = {0xc02c, 0xc02b}});
  expect_agreed(&pair, SST_TLS1_2, 0xc02c, 29);
  pair_free(&pair);
}

/* Each kind of leaf key, with the scheme that it signs by; P-521 needs its curve in the lists of TLS 1.2. */
TEST_VERSIONS(stream_handshake, each_kind_of_key_is_accepted) {
  const struct {
    const char *kind;
    uint16_t scheme;
  } kinds[] = {{"p256", 0x0403},    {"p384", 0x0503}, {"p521", 0x0603},
               {"ed25519", 0x0807}, {"rsa2048", 0},   {"rsa4096", 0}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    test_note("%s", kinds[i].kind);
    char name[32] = "server-";
    strcat(name, kinds[i].kind);
    Pair pair = pair_open(.client = {.max_version = version, .groups = {29, 23, 24, 25}},
                          .server = {.credential = name, .groups = {29, 23, 24, 25}});
    const uint16_t scheme = info_of(&pair.client).peer_scheme;
    const bool any_hash = version == SST_TLS1_2 && (scheme & 0xff) == 3; /* there a scheme of ECDSA names no curve */
    if (kinds[i].scheme == 0) EXPECT(scheme >= 0x0804 && scheme <= 0x0806);
    if (kinds[i].scheme != 0 && !any_hash) EXPECT_EQ(scheme, kinds[i].scheme);
    EXPECT_EQ(info_of(&pair.server).local_scheme, scheme);
    EXPECT_EQ(info_of(&pair.server).peer_scheme, 0);
    pair_free(&pair);
  }
}

/* Of several credentials the first that the client can take is used. */
TEST_VERSIONS(stream_handshake, second_credential_serves_a_client_that_cannot_take_the_first) {
  Pair pair = pair_open(.client = {.max_version = version, .schemes = {0x0804}},
                        .server = {.credential = "server-p256", .second_credential = "server-rsa2048"});
  EXPECT_EQ(info_of(&pair.client).peer_scheme, 0x0804);
  pair_free(&pair);
}

/* Nothing in common: the server says why, and the client hears it by the right alert. */
static void fails_with(Pair *pair, sst_status code, int32_t alert) {
  EXPECT_STATUS(pair_handshake(pair), code);
  EXPECT_EQ(error_of(&pair->server).code, code);
  EXPECT_EQ(error_of(&pair->server).alert_sent, alert);
  EXPECT_EQ(error_of(&pair->server).alert_received, -1);
  EXPECT_EQ(error_of(&pair->client).code, SST_ERR_ALERT_RECEIVED - alert);
  EXPECT_EQ(error_of(&pair->client).alert_received, alert);
  EXPECT_EQ(error_of(&pair->client).alert_sent, -1);
  EXPECT(error_of(&pair->server).message[0] != '\0');
  pair_free(pair);
}

TEST(stream_handshake, old_client_fails_with_no_shared_version) {
  Pair pair = pair_new(.client = {.max_version = SST_TLS1_2}, .server = {.min_version = SST_TLS1_3});
  fails_with(&pair, SST_ERR_NO_SHARED_VERSION, 70);
}

TEST(stream_handshake, old_server_fails_with_no_shared_version) {
  Pair pair = pair_new(.client = {.min_version = SST_TLS1_3}, .server = {.max_version = SST_TLS1_2});
  fails_with(&pair, SST_ERR_NO_SHARED_VERSION, 70);
}

TEST_VERSIONS(stream_handshake, other_groups_fail_with_no_shared_group) {
  Pair pair = pair_new(.client = {.max_version = version, .groups = {29}},
                       .server = {.groups = {23}, .credential = "server-rsa2048"});
  fails_with(&pair, SST_ERR_NO_SHARED_GROUP, 40);
}

TEST(stream_handshake, other_suites_fail_with_no_shared_suite) {
  Pair pair = pair_new(.client = {.max_version = SST_TLS1_2, .suites = {0xc02b}}, .server = {.suites = {0xc02c}});
  fails_with(&pair, SST_ERR_NO_SHARED_SUITE, 40);
}

/* Suites for ECDSA keys are no use to a server with an RSA key. */
TEST(stream_handshake, suites_of_another_key_fail_with_no_shared_suite) {
  Pair pair = pair_new(.client = {.max_version = SST_TLS1_2, .suites = {0xc02b, 0xc02c}},
                       .server = {.credential = "server-rsa2048"});
  fails_with(&pair, SST_ERR_NO_SHARED_SUITE, 40);
}

TEST_VERSIONS(stream_handshake, other_schemes_fail_with_no_common_scheme) {
  Pair pair =
      pair_new(.client = {.max_version = version, .schemes = {0x0403}}, .server = {.credential = "server-rsa2048"});
  fails_with(&pair, SST_ERR_NO_COMMON_SCHEME, 40);
}

/* A short room must not cost the alert: its record comes out in pieces and the peer still reads the right number. */
TEST(stream_handshake, alert_is_whole_when_room_is_one_byte) {
  Pair pair = pair_new(.server = {.min_version = SST_TLS1_3}, .client = {.max_version = SST_TLS1_2});
  pair.server.room = 1;
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_NO_SHARED_VERSION);
  EXPECT_EQ(error_of(&pair.client).alert_received, 70);
  pair_free(&pair);
}

/* The same for an alert of TLS 1.3 that is encrypted: here the client refuses the certificate. */
TEST_VERSIONS(stream_handshake, encrypted_alert_is_whole_when_room_is_one_byte) {
  Pair pair = pair_new(.server = {.credential = "server-untrusted"}, .client = {.max_version = version});
  pair.client.room = 1;
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_CERT_ISSUER_NOT_FOUND);
  EXPECT_EQ(error_of(&pair.client).alert_sent, 48);
  EXPECT_EQ(error_of(&pair.server).alert_received, 48);
  EXPECT_STATUS(error_of(&pair.server).code, SST_ERR_ALERT_RECEIVED - 48);
  pair_free(&pair);
}

/* Client certificates */

TEST_VERSIONS(stream_handshake, requested_client_certificate_is_seen) {
  Pair pair = pair_open(.client = {.max_version = version, .credential = "client-p256"},
                        .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUEST});
  EXPECT_EQ(sst_stream_num_peer_certificates(pair.server.stream), 1);
  EXPECT((info_of(&pair.server).flags & SST_INFO_VERIFIED) != 0);
  EXPECT_EQ(info_of(&pair.server).peer_scheme, 0x0403);
  EXPECT_EQ(info_of(&pair.client).local_scheme, 0x0403);
  pair_echo(&pair, 100);
  pair_free(&pair);
}

TEST_VERSIONS(stream_handshake, requested_client_certificate_may_be_missing) {
  Pair pair =
      pair_open(.client = {.max_version = version}, .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUEST});
  EXPECT_EQ(sst_stream_num_peer_certificates(pair.server.stream), 0);
  EXPECT_EQ(info_of(&pair.server).flags & SST_INFO_VERIFIED, 0);
  EXPECT_EQ(info_of(&pair.client).local_scheme, 0);
  pair_free(&pair);
}

TEST_VERSIONS(stream_handshake, required_client_certificate_is_accepted_of_each_kind) {
  const char *const kinds[] = {"client-p256", "client-p384", "client-p521", "client-rsa2048", "client-ed25519"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    test_note("%s", kinds[i]);
    Pair pair = pair_open(.client = {.max_version = version, .credential = kinds[i], .groups = {29, 23, 24, 25}},
                          .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE, .groups = {29, 23, 24, 25}});
    EXPECT_EQ(sst_stream_num_peer_certificates(pair.server.stream), 1);
    EXPECT_EQ(info_of(&pair.server).peer_scheme, info_of(&pair.client).local_scheme);
    pair_free(&pair);
  }
}

/* A credential is not sent unasked. */
TEST_VERSIONS(stream_handshake, client_certificate_is_not_sent_unasked) {
  Pair pair = pair_open(.client = {.max_version = version, .credential = "client-p256"});
  EXPECT_EQ(sst_stream_num_peer_certificates(pair.server.stream), 0);
  pair_free(&pair);
}

/* One that is sent is always judged, even where it was only requested. */
TEST_VERSIONS(stream_handshake, untrusted_client_certificate_fails_a_request) {
  Pair pair = pair_new(.client = {.max_version = version, .credential = "client-untrusted"},
                       .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUEST});
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_CERT_ISSUER_NOT_FOUND);
  if (version == SST_TLS1_3) side_receive(&pair.client);
  EXPECT_EQ(error_of(&pair.client).alert_received, 48);
  EXPECT_EQ(sst_stream_num_peer_certificates(pair.server.stream), 0);
  pair_free(&pair);
}

/* A credential whose issuer the server does not name is kept back, instead of failing the client. */
TEST_VERSIONS(stream_handshake, client_certificate_of_another_issuer_is_kept_back) {
  Pair pair = pair_open(.client = {.max_version = version, .credential = "client-b"},
                        .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUEST, .client_ca = "client-root"});
  EXPECT_EQ(sst_stream_num_peer_certificates(pair.server.stream), 0);
  pair_free(&pair);
  Pair named =
      pair_open(.client = {.max_version = version, .credential = "client-b", .second_credential = "client-p256"},
                .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE, .client_ca = "client-root"});
  EXPECT_EQ(sst_stream_num_peer_certificates(named.server.stream), 1);
  pair_free(&named);
}

/* A01: in TLS 1.3 the client has finished when the server refuses. It learns it by its next read, then by writes. */
TEST(stream_handshake, missing_client_certificate_shows_at_next_decrypt_tls13) {
  Pair pair = pair_new(.server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE});
  side_handshake(&pair.client);
  side_handshake(&pair.server);
  EXPECT_STATUS(side_handshake(&pair.client), SST_OK);
  EXPECT_STATUS(side_send(&pair.client, "data", 4), SST_OK);
  EXPECT_STATUS(side_handshake(&pair.server), SST_ERR_PEER_CERT_REQUIRED);
  EXPECT_STATUS(side_receive(&pair.server), SST_ERR_PEER_CERT_REQUIRED);
  EXPECT_EQ(pair.server.received_len, 0);

  EXPECT_STATUS(side_receive(&pair.client), SST_ERR_ALERT_RECEIVED - 116);
  EXPECT_EQ(error_of(&pair.client).alert_received, 116);
  EXPECT_CONTAINS(error_of(&pair.client).message, "certificate_required");
  EXPECT_STATUS(side_send(&pair.client, "more", 4), SST_ERR_ALERT_RECEIVED - 116);
  EXPECT_STATUS(side_send(&pair.client, "more", 4), SST_ERR_ALERT_RECEIVED - 116);
  pair_free(&pair);
}

TEST(stream_handshake, missing_client_certificate_fails_the_clients_handshake_tls12) {
  Pair pair =
      pair_new(.client = {.max_version = SST_TLS1_2}, .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE});
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_PEER_CERT_REQUIRED);
  EXPECT_STATUS(pair.client.status, SST_ERR_ALERT_RECEIVED - 40);
  EXPECT_EQ(error_of(&pair.client).alert_received, 40);
  pair_free(&pair);
}

/* Extended master secret is required by default and given by our own clients; TLS 1.3 counts as having it. */
TEST_VERSIONS(stream_handshake, extended_master_secret_is_used_in_both_profiles) {
  for (int32_t profile = SST_PROFILE_DEFAULT; profile <= SST_PROFILE_COMPAT; profile++) {
    Pair pair = pair_open(.client = {.max_version = version, .profile = profile}, .server = {.profile = profile});
    EXPECT((info_of(&pair.client).flags & SST_INFO_EXTENDED_MASTER_SECRET) != 0);
    EXPECT((info_of(&pair.server).flags & SST_INFO_EXTENDED_MASTER_SECRET) != 0);
    pair_free(&pair);
  }
}
