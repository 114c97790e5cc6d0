/*
 * The ClientHello: what stands in it (X05, X06), and a server that gets it in any number of pieces (H02).
 */
#include "hello.h"
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* X05. The name that goes out, the one that is verified, and the one that the server sees. */
static void sends_name(uint16_t version, const char *host, const char *credential, const char *sent) {
  test_note("host '%s'", host);
  Pair pair = pair_new(.client = {.max_version = version, .server_name = host}, .server = {.credential = credential});
  REQUIRE_STATUS(pair_handshake(&pair), SST_OK);
  Hello hello = hello_read(pair.client.out->bytes, pair.client.out->len);
  char name[256] = "";
  EXPECT_EQ(hello_server_name(&hello, name, sizeof name), sent[0] != '\0');
  EXPECT_STRING(name, sent);
  EXPECT_STRING(side_text(&pair.server, sst_stream_server_name), sent);
  EXPECT_STRING(side_text(&pair.client, sst_stream_server_name), sent);
  EXPECT((info_of(&pair.client).flags & SST_INFO_VERIFIED) != 0);
  hello_free(&hello);
  pair_free(&pair);
}

TEST_VERSIONS(stream_handshake_hello, dns_name_goes_out_and_is_verified) {
  sends_name(version, "server.test", "server-p256", "server.test");
  sends_name(version, "one.wild.test", "server-p256", "one.wild.test");
}

TEST_VERSIONS(stream_handshake_hello, trailing_dot_is_dropped) {
  sends_name(version, "a.test.", "server-names", "a.test");
}

TEST_VERSIONS(stream_handshake_hello, address_is_verified_and_not_sent) {
  sends_name(version, "127.0.0.1", "server-p256", "");
  sends_name(version, "::1", "server-p256", "");
  sends_name(version, "[::1]", "server-p256", "");
}

TEST_VERSIONS(stream_handshake_hello, underscore_is_sent_as_it_is) {
  sends_name(version, "ex_ample.test", "server-names", "ex_ample.test");
}

TEST_VERSIONS(stream_handshake_hello, a_label_is_sent_as_it_is) {
  sends_name(version, "xn--bcher-kva.test", "server-names", "xn--bcher-kva.test");
}

/* An address is compared with addresses only: another one does not pass, nor one that a DNS name entry spells. */
TEST_VERSIONS(stream_handshake_hello, other_address_is_a_name_mismatch) {
  const char *const hosts[] = {"127.0.0.2", "::2", "127.0.0.1.wild.test", "other.test", "wild.test"};
  for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
    test_note("host '%s'", hosts[i]);
    Pair pair = pair_new(.client = {.max_version = version, .server_name = hosts[i]});
    EXPECT_STATUS(pair_handshake(&pair), SST_ERR_CERT_NAME_MISMATCH);
    EXPECT_EQ(error_of(&pair.client).reasons, UINT64_C(1) << 30);
    EXPECT_CONTAINS(error_of(&pair.client).message, hosts[i]);
    const int32_t alert = error_of(&pair.server).alert_received;
    EXPECT(alert == 42 || alert == 46);
    pair_free(&pair);
  }
}

TEST(stream_handshake_hello, what_is_no_host_is_refused) {
  static const char long_name[256] = {0};
  char letters[256];
  memset(letters, 'a', sizeof letters);
  const struct {
    const char *name;
    size_t len;
  } bad[] = {{"b\xc3\xbc"
              "cher.test",
              12},
             {letters, 256},
             {letters, 64},
             {"a\0b.test", 8},
             {"a b.test", 8},
             {"a..test", 7},
             {".test", 5},
             {".", 1},
             {long_name, 1},
             {" a.test", 7},
             {"a.test\n", 7},
             {"[::1", 4},
             {"::1]", 4},
             {"[a.test]", 8}};
  Pair pair = pair_new(.client = {.server_name = "server.test"});
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    test_note("name %zu", i);
    EXPECT_STATUS(sst_stream_set_server_name(pair.client.stream, bad[i].name, bad[i].len), SST_ERR_BAD_HOST);
    EXPECT_STATUS(sst_stream_set_verify_name(pair.client.stream, bad[i].name, bad[i].len), SST_ERR_BAD_HOST);
  }
  test_note(NULL);
  /* A refused setter changes nothing: the good name is still there. */
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  EXPECT_STRING(side_text(&pair.server, sst_stream_server_name), "server.test");
  pair_free(&pair);
}

/* 63 bytes a label and 253 in all are the limits of a name. */
TEST(stream_handshake_hello, longest_name_is_sent) {
  char name[255];
  memset(name, 'a', sizeof name);
  name[63] = name[127] = name[191] = '.';
  name[253] = '\0';
  Pair pair = pair_open(.client = {.server_name = name, .verify_name = "server.test"});
  EXPECT_STRING(side_text(&pair.server, sst_stream_server_name), name);
  EXPECT_STATUS(sst_stream_set_server_name(pair.client.stream, name, 253), SST_ERR_STATE);
  pair_free(&pair);
  Pair longer = pair_new();
  name[253] = 'a';
  EXPECT_STATUS(sst_stream_set_server_name(longer.client.stream, name, 254), SST_ERR_BAD_HOST);
  pair_free(&longer);
}

/* An empty name, or NULL, takes the name back. */
TEST(stream_handshake_hello, empty_name_removes_it) {
  for (int round = 0; round < 2; round++) {
    Pair pair = pair_new(.client = {.verify = SST_VERIFY_CHAIN_ONLY, .server_name = "server.test"});
    EXPECT_STATUS(sst_stream_set_server_name(pair.client.stream, round == 0 ? NULL : "", 0), SST_OK);
    EXPECT_STATUS(pair_handshake(&pair), SST_OK);
    EXPECT_STRING(side_text(&pair.server, sst_stream_server_name), "");
    pair_free(&pair);
  }
}

TEST(stream_handshake_hello, server_name_of_a_server_is_err_state) {
  Pair pair = pair_new();
  EXPECT_STATUS(sst_stream_set_server_name(pair.server.stream, "a.test", 6), SST_ERR_STATE);
  pair_free(&pair);
}

/* X06. A client that forgot the name must not go on without the check. */
TEST_VERSIONS(stream_handshake_hello, verifying_client_without_name_sends_nothing) {
  Pair pair = pair_new(.client = {.max_version = version, .server_name = ""}, .server = {.credential = "server-other"});
  for (int round = 0; round < 2; round++) {
    EXPECT_STATUS(side_handshake(&pair.client), SST_ERR_NO_EXPECTED_NAME);
    EXPECT_EQ(pair.client.progress.produced, 0);
    EXPECT_EQ(pair.client.progress.flags, 0);
  }
  EXPECT_EQ(pair.client.out->len, 0);
  const sst_error error = error_of(&pair.client);
  EXPECT_STATUS(error.code, SST_ERR_NO_EXPECTED_NAME);
  EXPECT_EQ(error.alert_sent, -1);
  EXPECT_STATUS(side_flush(&pair.client), SST_OK);
  EXPECT_EQ(pair.client.out->len, 0);
  pair_free(&pair);
}

TEST_VERSIONS(stream_handshake_hello, named_opt_out_checks_the_chain_alone) {
  Pair good = pair_open(.client = {.max_version = version, .server_name = "", .verify = SST_VERIFY_CHAIN_ONLY},
                        .server = {.credential = "server-other"});
  EXPECT((info_of(&good.client).flags & SST_INFO_VERIFIED) != 0);
  pair_free(&good);
  Pair bad = pair_new(.client = {.max_version = version, .server_name = "", .verify = SST_VERIFY_CHAIN_ONLY},
                      .server = {.credential = "server-untrusted"});
  EXPECT_STATUS(pair_handshake(&bad), SST_ERR_CERT_ISSUER_NOT_FOUND);
  pair_free(&bad);
}

/* Without verification nothing is said to be verified. */
TEST_VERSIONS(stream_handshake_hello, no_verification_takes_any_certificate_and_says_so) {
  Pair pair = pair_open(.client = {.max_version = version, .server_name = "", .verify = SST_VERIFY_NONE, .trust = ""},
                        .server = {.credential = "server-self-signed"});
  EXPECT_EQ(info_of(&pair.client).flags & SST_INFO_VERIFIED, 0);
  pair_free(&pair);
}

/* The verify name is for the certificate, the server name for the wire. */
TEST_VERSIONS(stream_handshake_hello, verify_name_is_not_sent) {
  Pair pair = pair_open(.client = {.max_version = version, .server_name = "", .verify_name = "other.test"},
                        .server = {.credential = "server-other"});
  EXPECT_STRING(side_text(&pair.server, sst_stream_server_name), "");
  pair_free(&pair);
  Pair both = pair_open(.client = {.max_version = version, .server_name = "front.test", .verify_name = "other.test"},
                        .server = {.credential = "server-other"});
  EXPECT_STRING(side_text(&both.server, sst_stream_server_name), "front.test");
  pair_free(&both);
  Pair bad = pair_new(.client = {.max_version = version, .server_name = "other.test", .verify_name = "front.test"},
                      .server = {.credential = "server-other"});
  EXPECT_STATUS(pair_handshake(&bad), SST_ERR_CERT_NAME_MISMATCH);
  pair_free(&bad);
}

/* What the config sets is what the hello offers, in that order. */
TEST(stream_handshake_hello, offers_what_is_configured) {
  Pair pair = pair_new();
  side_handshake(&pair.client);
  Hello hello = hello_read(pair.client.out->bytes, pair.client.out->len);
  const uint16_t groups[] = {4588, 29, 23, 24}, versions[] = {SST_TLS1_3, SST_TLS1_2};
  const uint16_t schemes[] = {0x0403, 0x0503, 0x0603, 0x0807, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601};
  uint16_t list[64];
  size_t count = hello_list(&hello, EXTENSION_SUPPORTED_GROUPS, list, 64);
  EXPECT_BYTES(list, 2 * count, groups, sizeof groups);
  count = hello_list(&hello, EXTENSION_SIGNATURE_ALGORITHMS, list, 64);
  EXPECT_BYTES(list, 2 * count, schemes, sizeof schemes);
  count = hello_list(&hello, EXTENSION_SUPPORTED_VERSIONS, list, 64);
  EXPECT_BYTES(list, 2 * count, versions, sizeof versions);
  size_t len = 0;
  EXPECT(hello_extension(&hello, EXTENSION_EXTENDED_MASTER_SECRET, &len) != NULL);
  EXPECT(hello_extension(&hello, EXTENSION_ALPN, &len) == NULL);
  count = hello_list(&hello, -1, list, 64);
  for (size_t i = 0; i < count; i++)
    if (list[i] >> 8 != 0x13) EXPECT(strncmp(sst_suite_name(list[i]), "TLS_ECDHE_", 10) == 0);
  hello_free(&hello);
  pair_free(&pair);
}

/* H02. A hello of over 1,700 bytes: the hybrid share and 40 protocol names, of which the server knows the last. */
typedef struct Configs {
  sst_config *client, *server;
} Configs;

static Configs large_configs(void) {
  static char names[40][24];
  SideOptions client = {.groups = {4588, 29}};
  for (int i = 0; i < 40; i++) {
    snprintf(names[i], sizeof names[i], "protocol-%02d", i);
    client.alpn[i] = names[i];
  }
  return (Configs){pair_config(&client, SST_ROLE_CLIENT),
                   pair_config(&(SideOptions){.alpn = {"protocol-39"}}, SST_ROLE_SERVER)};
}

static void free_configs(const Configs *configs) {
  sst_config_free(configs->client);
  sst_config_free(configs->server);
}

static Pair large_pair(const Configs *configs) {
  Pair pair = pair_new(.client = {.config = configs->client}, .server = {.config = configs->server});
  REQUIRE_STATUS(side_handshake(&pair.client), SST_NEED_INPUT);
  REQUIRE(wire_waiting(pair.server.in) > 1700);
  return pair;
}

static void finish(Pair *pair) {
  EXPECT_STATUS(pair_handshake(pair), SST_OK);
  EXPECT_STRING(side_text(&pair->server, sst_stream_server_name), "server.test");
  EXPECT_STRING(side_text(&pair->server, sst_stream_alpn), "protocol-39");
  pair_free(pair);
}

/* Gives the server what waits up to an offset: all is taken and more is wanted. */
static void give_incomplete(Side *server, size_t len) {
  EXPECT_STATUS(side_call(server, CALL_HANDSHAKE, wire_head(server->in), len, 4096), SST_NEED_INPUT);
  EXPECT_EQ(server->progress.consumed, len);
  EXPECT_EQ(server->progress.produced, 0);
  server->in->taken += len;
}

TEST(stream_handshake_hello, large_hello_byte_by_byte_is_taken) {
  const Configs configs = large_configs();
  Pair pair = large_pair(&configs);
  while (wire_waiting(pair.server.in) > 1)
    give_incomplete(&pair.server, 1);
  finish(&pair);
  free_configs(&configs);
}

TEST(stream_handshake_hello, large_hello_cut_at_every_offset_is_taken) {
  const Configs configs = large_configs();
  size_t len = 2;
  for (size_t cut = 1; cut < len; cut++) {
    Pair pair = large_pair(&configs);
    len = wire_waiting(pair.server.in);
    test_note("cut at %zu of %zu", cut, len);
    give_incomplete(&pair.server, cut);
    finish(&pair);
  }
  free_configs(&configs);
}

static void takes_reframed_hello(size_t payload) {
  const Configs configs = large_configs();
  Pair pair = large_pair(&configs);
  const Data small = reframe(wire_head(pair.server.in), wire_waiting(pair.server.in), payload);
  wire_drop(pair.server.in);
  wire_insert(pair.server.in, small.bytes, small.len);
  while (wire_waiting(pair.server.in) > payload) {
    const size_t left = wire_waiting(pair.server.in);
    give_incomplete(&pair.server, left > 2 * (RECORD_HEADER + payload) ? RECORD_HEADER + payload : 1);
  }
  free(small.bytes);
  finish(&pair);
  free_configs(&configs);
}

TEST(stream_handshake_hello, large_hello_in_records_of_1_byte_is_taken) {
  takes_reframed_hello(1);
}

TEST(stream_handshake_hello, large_hello_in_records_of_2_bytes_is_taken) {
  takes_reframed_hello(2);
}

TEST(stream_handshake_hello, large_hello_in_records_of_64_bytes_is_taken) {
  takes_reframed_hello(64);
}
