/*
 * A02: ALPN is strict unless a server says otherwise, the server's order wins, and no name that is no name is taken.
 */
#include "pair.h"

#include <string.h>

static void expect_alpn(const Pair *pair, const char *protocol) {
  EXPECT_STRING(side_text(&pair->client, sst_stream_alpn), protocol);
  EXPECT_STRING(side_text(&pair->server, sst_stream_alpn), protocol);
}

TEST_VERSIONS(stream_handshake_alpn, lists_without_overlap_fail) {
  Pair pair = pair_new(.client = {.max_version = version, .alpn = {"h2"}}, .server = {.alpn = {"http/1.1"}});
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_NO_APPLICATION_PROTOCOL);
  EXPECT_EQ(error_of(&pair.server).alert_sent, 120);
  EXPECT_EQ(error_of(&pair.client).alert_received, 120);
  EXPECT_STATUS(error_of(&pair.client).code, SST_ERR_ALERT_RECEIVED - 120);
  expect_alpn(&pair, "");
  pair_free(&pair);
}

TEST_VERSIONS(stream_handshake_alpn, lists_without_overlap_give_none_to_lenient_server) {
  Pair pair = pair_open(.client = {.max_version = version, .alpn = {"h2"}},
                        .server = {.alpn = {"http/1.1"}, .alpn_lenient = 1});
  expect_alpn(&pair, "");
  pair_free(&pair);
}

/* Leniency is for lists without overlap only. */
TEST_VERSIONS(stream_handshake_alpn, lists_with_overlap_agree_at_lenient_server) {
  Pair pair = pair_open(.client = {.max_version = version, .alpn = {"h2", "x"}},
                        .server = {.alpn = {"y", "x"}, .alpn_lenient = 1});
  expect_alpn(&pair, "x");
  pair_free(&pair);
}

TEST_VERSIONS(stream_handshake_alpn, server_without_list_gives_none) {
  Pair pair = pair_open(.client = {.max_version = version, .alpn = {"h2"}});
  expect_alpn(&pair, "");
  pair_free(&pair);
}

TEST_VERSIONS(stream_handshake_alpn, client_without_list_gives_none) {
  Pair pair = pair_open(.client = {.max_version = version}, .server = {.alpn = {"h2"}});
  expect_alpn(&pair, "");
  pair_free(&pair);
}

TEST_VERSIONS(stream_handshake_alpn, order_of_the_server_wins) {
  Pair pair = pair_open(.client = {.max_version = version, .alpn = {"a", "b"}}, .server = {.alpn = {"b", "a"}});
  expect_alpn(&pair, "b");
  pair_free(&pair);
}

/* A name is bytes: compared whole, and with its length. */
TEST_VERSIONS(stream_handshake_alpn, names_are_compared_whole) {
  Pair pair = pair_open(.client = {.max_version = version, .alpn = {"h2c", "h", "h2"}}, .server = {.alpn = {"h2"}});
  expect_alpn(&pair, "h2");
  pair_free(&pair);
}

TEST_VERSIONS(stream_handshake_alpn, longest_name_is_agreed) {
  char longest[256];
  memset(longest, 'n', 255);
  longest[255] = '\0';
  Pair pair = pair_open(.client = {.max_version = version, .alpn = {longest}}, .server = {.alpn = {longest}});
  expect_alpn(&pair, longest);
  pair_free(&pair);
}

TEST(stream_handshake_alpn, bad_names_are_config_errors) {
  static const uint8_t name[256] = {'x'};
  sst_config *config = sst_config_new();
  REQUIRE(config != NULL);
  EXPECT_STATUS(sst_config_add_alpn(config, name, 0), SST_ERR_BAD_ALPN);
  EXPECT_STATUS(sst_config_add_alpn(config, NULL, 0), SST_ERR_BAD_ALPN);
  EXPECT_STATUS(sst_config_add_alpn(config, name, 256), SST_ERR_BAD_ALPN);
  sst_error error = {.size = sizeof error};
  EXPECT_STATUS(sst_config_last_error(config, &error), SST_OK);
  EXPECT_STATUS(error.code, SST_ERR_BAD_ALPN);
  EXPECT_STATUS(sst_config_add_alpn(config, name, 255), SST_OK);
  sst_config_free(config);
}

/* An entry is its length byte and the name: 32 of 256 bytes are the limit. */
TEST(stream_handshake_alpn, list_over_8192_bytes_is_too_long) {
  static uint8_t name[255] = {'x'};
  sst_config *config = sst_config_new();
  REQUIRE(config != NULL);
  for (int i = 0; i < 32; i++)
    EXPECT_STATUS(sst_config_add_alpn(config, name, 255), SST_OK);
  EXPECT_STATUS(sst_config_add_alpn(config, name, 1), SST_ERR_LIST_TOO_LONG);
  EXPECT_STATUS(sst_config_set_verify(config, SST_VERIFY_NONE), SST_OK);
  EXPECT_STATUS(sst_config_freeze(config, SST_ROLE_CLIENT), SST_OK);
  sst_config_free(config);
}

/* What the setter takes must work: the longest list, in a hello to one of our own servers. */
TEST_VERSIONS(stream_handshake_alpn, longest_list_is_agreed) {
  uint8_t name[255] = {'x'};
  sst_config *config = pair_config(&(SideOptions){.max_version = version}, SST_ROLE_CLIENT);
  for (int i = 0; i < 31; i++) {
    name[1] = (uint8_t)i;
    EXPECT_STATUS(sst_config_add_alpn(config, name, 255), SST_OK);
  }
  EXPECT_STATUS(sst_config_add_alpn(config, name, 252), SST_OK);
  EXPECT_STATUS(sst_config_add_alpn(config, (const uint8_t *)"h2", 2), SST_OK);
  Pair pair = pair_new(.client = {.config = config}, .server = {.alpn = {"h2"}});
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  expect_alpn(&pair, "h2");
  pair_free(&pair);
  sst_config_free(config);
}
