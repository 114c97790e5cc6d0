/*
 * The answer to WANT_CLIENT_HELLO is a whole config (A03): every setting of it is in force, and none of a config that
 * the stream was made with.
 */
#include "answer.h"

#include <stdlib.h>
#include <string.h>

/* A client and a server stream of the config first (NULL: of none), which is answered with the config chosen. The
   test's references to the server's configs are released before the handshake goes on. */
static Pair chosen_pair(const SideOptions *client, const SideOptions *first, const SideOptions *chosen) {
  SideOptions asking = {.no_config = true};
  if (first != NULL) {
    asking = *first;
    asking.suspend = ASK_ALL;
  }
  Pair pair = pair_make(&(PairOptions){.client = *client, .server = asking});
  sst_config *config = pair_config(chosen, SST_ROLE_SERVER);
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CLIENT_HELLO);
  EXPECT_STATUS(sst_stream_set_config(pair.server.stream, config), SST_OK);
  sst_config_free(config);
  sst_config_free(pair.server.config);
  pair.server.config = NULL;
  return pair;
}

/* The same for a stream without a config and for one whose config is first. */
typedef void (*Check)(Pair *pair);
static void choose(const SideOptions *client, const SideOptions *first, const SideOptions *chosen, sst_status status,
                   Check check) {
  for (int i = 0; i < 2; i++) {
    test_note(i == 0 ? "made with no config" : "made with another config");
    const uint64_t before = sst_live_objects();
    Pair pair = chosen_pair(client, i == 0 ? NULL : first, chosen);
    EXPECT_STATUS(pair_handshake(&pair), status);
    pair.objects = sst_live_objects() - before; /* with the chosen config, without the first */
    if (check != NULL) check(&pair);
    if (status == SST_OK) pair_echo(&pair, 3000);
    pair_free(&pair);
  }
  test_note(NULL);
}

#define DEMANDS                                                                                        \
  {                                                                                                    \
    .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE, .trust = "client-root-b", .alpn = {"x"},     \
    .min_version = SST_TLS1_3, .credential = "server-names", .client_ca = "client-root-b", .groups = { \
      24                                                                                               \
    }                                                                                                  \
  }
#define OPEN_TO_ALL  \
  {                  \
    .alpn = { "h2" } \
  }

static const SideOptions demands = DEMANDS, open_to_all = OPEN_TO_ALL;

static void is_b(Pair *pair) {
  uint8_t der[4096];
  size_t len = 0;
  const Data leaf = data_certificate("server-names", 0), client = data_certificate("client-b", 0);
  EXPECT_STATUS(sst_stream_peer_certificate(pair->client.stream, 0, der, sizeof der, &len), SST_OK);
  EXPECT_BYTES(der, len, leaf.bytes, leaf.len);
  EXPECT_STATUS(sst_stream_peer_certificate(pair->server.stream, 0, der, sizeof der, &len), SST_OK);
  EXPECT_BYTES(der, len, client.bytes, client.len);
  EXPECT_STRING(side_text(&pair->client, sst_stream_alpn), "x");
  EXPECT_STRING(side_text(&pair->server, sst_stream_alpn), "x");
  EXPECT_EQ(info_of(&pair->server).flags & SST_INFO_VERIFIED, SST_INFO_VERIFIED);
  EXPECT_EQ(info_of(&pair->server).group, 24);
  free(leaf.bytes);
  free(client.bytes);
}

TEST(question_config, chosen_demands_are_in_force) {
  const SideOptions with = {.server_name = "b.test", .alpn = {"h2", "x"}, .credential = "client-b"};
  choose(&with, &open_to_all, &demands, SST_OK, is_b);
  const SideOptions without = {.server_name = "b.test", .alpn = {"h2", "x"}};
  choose(&without, &open_to_all, &demands, SST_ERR_PEER_CERT_REQUIRED, NULL);
  const SideOptions old = {.server_name = "b.test", .credential = "client-b", .max_version = SST_TLS1_2};
  choose(&old, &open_to_all, &demands, SST_ERR_NO_SHARED_VERSION, NULL);
  const SideOptions group = {.server_name = "b.test", .credential = "client-b", .groups = {29}};
  choose(&group, &open_to_all, &demands, SST_ERR_NO_SHARED_GROUP, NULL);
  const SideOptions protocol = {.server_name = "b.test", .alpn = {"h2"}, .credential = "client-b"};
  choose(&protocol, &open_to_all, &demands, SST_ERR_NO_APPLICATION_PROTOCOL, NULL);
}

/* Whom another root has certified is refused; without a list of issuers he is asked at all. */
TEST_VERSIONS(question_config, chosen_trust_judges) {
  const SideOptions stranger = {.max_version = version, .credential = "client-p256"};
  SideOptions first = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE}, chosen = first;
  chosen.trust = "client-root-b";
  choose(&stranger, &first, &chosen, SST_ERR_CERT_ISSUER_NOT_FOUND, NULL);
  first.verify = SST_VERIFY_NONE;
  choose(&stranger, &first, &chosen, SST_ERR_CERT_ISSUER_NOT_FOUND, NULL);
  chosen.trust = "client-root";
  first.trust = "client-root-b";
  choose(&stranger, &first, &chosen, SST_OK, NULL);
}

static void is_d(Pair *pair) {
  EXPECT_STRING(side_text(&pair->client, sst_stream_alpn), "h2");
  EXPECT_EQ(sst_stream_num_peer_certificates(pair->server.stream), 0);
  EXPECT_EQ(sst_stream_num_peer_certificates(pair->client.stream), 2);
}

TEST_VERSIONS(question_config, demands_of_the_first_config_are_gone) {
  const SideOptions client = {
      .max_version = version, .alpn = {"h2", "x"}, .groups = {29, 23}, .credential = "client-b"};
  choose(&client, &demands, &open_to_all, SST_OK, is_d);
}

static void is_aes256(Pair *pair) {
  EXPECT_EQ(info_of(&pair->server).suite, 0xc02c);
}

TEST(question_config, suites_and_schemes_are_those_of_the_chosen_config) {
  const SideOptions tls12 = {.max_version = SST_TLS1_2};
  choose(&tls12, &(SideOptions){.suites = {0xcca9}}, &(SideOptions){.suites = {0xc02c}}, SST_OK, is_aes256);
  choose(&(SideOptions){.max_version = SST_TLS1_2, .suites = {0xcca9}}, &(SideOptions){.suites = {0xcca9}},
         &(SideOptions){.suites = {0xc02c}}, SST_ERR_NO_SHARED_SUITE, NULL);
  const SideOptions rsa = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE, .schemes = {0x0804}},
                    any = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE};
  const SideOptions client = {.credential = "client-p256"};
  choose(&client, &any, &rsa, SST_ERR_PEER_CERT_REQUIRED, NULL);
  choose(&client, &rsa, &any, SST_OK, NULL);
}

TEST_VERSIONS(question_config, limits_are_those_of_the_chosen_config) {
  const SideOptions client = {.max_version = version, .credential = "client-rsa1024", .minimum_rsa = 1024};
  const SideOptions strict = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE};
  SideOptions mild = strict;
  mild.minimum_rsa = 1024;
  choose(&client, &mild, &strict, SST_ERR_CERT_WEAK_KEY, NULL);
  choose(&client, &strict, &mild, SST_OK, NULL);
}

TEST_VERSIONS(question_config, leniency_about_protocols_is_that_of_the_chosen_config) {
  const SideOptions client = {.max_version = version, .alpn = {"h2"}};
  const SideOptions lenient = {.alpn = {"x"}, .alpn_lenient = 1}, strict = {.alpn = {"x"}};
  choose(&client, &lenient, &strict, SST_ERR_NO_APPLICATION_PROTOCOL, NULL);
  choose(&client, &strict, &lenient, SST_OK, NULL);
}

/* ---- events ---- */

#define KEY_LOG (1u << SST_EVENT_KEY_LOG)

static size_t key_log_lines(Side *side) {
  char text[512];
  sst_event event;
  size_t lines = 0;
  while (side_event(side, SST_EVENT_KEY_LOG, &event, text, sizeof text))
    lines++;
  return lines;
}

static void logs(Pair *pair) {
  EXPECT_EQ(key_log_lines(&pair->server), info_of(&pair->server).version == SST_TLS1_3 ? 5 : 1);
}

static void logs_nothing(Pair *pair) {
  EXPECT_EQ(key_log_lines(&pair->server), 0);
}

TEST_VERSIONS(question_config, events_are_those_of_the_chosen_config) {
  const SideOptions client = {.max_version = version}, silent = {0}, logging = {.report = KEY_LOG};
  choose(&client, &silent, &logging, SST_OK, logs);
  choose(&client, &logging, &silent, SST_OK, logs_nothing);
}

/* A warning in front of the hello: the config that is chosen later says whether it is told. */
TEST(question_config, events_before_the_answer_are_those_of_the_chosen_config) {
  for (int reports = 0; reports < 2; reports++) {
    const uint32_t alerts = 1u << SST_EVENT_ALERT_RECEIVED;
    sst_config *config = pair_config(&(SideOptions){.report = reports ? alerts : 0}, SST_ROLE_SERVER);
    Pair pair = pair_new(.server = {.suspend = ASK_ALL, .report = reports ? 0 : alerts});
    Answers answers = {.server = {.config = config}};
    char text[10];
    sst_event event;
    wire_insert(pair.client.out, "\x15\x03\x01\x00\x02\x01\x5a", 7); /* user_canceled, as a warning */
    EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CLIENT_HELLO);
    EXPECT(!side_event(&pair.server, SST_EVENT_ALERT_RECEIVED, &event, text, sizeof text));
    EXPECT_STATUS(answer_handshake(&pair, &answers), SST_OK);
    EXPECT_EQ(side_event(&pair.server, SST_EVENT_ALERT_RECEIVED, &event, text, sizeof text), reports);
    pair_free(&pair);
    sst_config_free(config);
  }
}

/* ---- records ---- */

static size_t longest_data(const Wire *wire) {
  static Record records[512];
  const size_t count = records_parse(wire->bytes, wire->len, records, 512);
  size_t longest = 0;
  for (size_t i = 0; i < count; i++) {
    if (records[i].type == RECORD_APPLICATION_DATA && records[i].length > longest) longest = records[i].length;
  }
  return longest;
}

/* stream 0: nothing is set on the stream. */
static void sends_at_most(uint16_t version, uint32_t first, uint32_t stream, uint32_t chosen, size_t most) {
  sst_config *config = pair_config(&(SideOptions){.max_fragment = chosen}, SST_ROLE_SERVER);
  Pair pair = pair_new(.client = {.max_version = version},
                       .server = {.no_config = first == 0, .max_fragment = first, .suspend = ASK_ALL});
  if (stream != 0) EXPECT_STATUS(sst_stream_set_max_fragment(pair.server.stream, stream), SST_OK);
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CLIENT_HELLO);
  EXPECT_STATUS(sst_stream_set_max_fragment(pair.server.stream, 600), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_set_config(pair.server.stream, config), SST_OK);
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  pair_echo(&pair, 40000);
  const size_t longest = longest_data(pair.server.out);
  EXPECT_AT_LEAST(longest, most + 16);
  EXPECT_AT_MOST(longest, most + 24);
  pair_free(&pair);
  sst_config_free(config);
}

TEST_VERSIONS(question_config, fragments_are_the_chosen_configs_unless_the_stream_has_its_own) {
  sends_at_most(version, 0, 0, 0, 16384);
  sends_at_most(version, 0, 0, 1000, 1000);
  sends_at_most(version, 600, 0, 1000, 1000);
  sends_at_most(version, 600, 0, 0, 16384);
  sends_at_most(version, 0, 700, 1000, 700);
  sends_at_most(version, 600, 2000, 1000, 2000);
}

static uint64_t updates_of(Pair *pair, Answers *answers) {
  EXPECT_STATUS(answer_handshake(pair, answers), SST_OK);
  pair_echo(pair, 5120);
  const uint64_t updates = sst_stream_counter(pair->server.stream, SST_COUNTER_KEY_UPDATES_SENT);
  pair_free(pair);
  return updates;
}

/* As with a stream that had the config from the beginning. (Where records go through BoringSSL there is no limit.) */
TEST(question_config, limit_of_a_key_is_the_chosen_configs) {
  sst_config *config = pair_config(&(SideOptions){.max_fragment = 512}, SST_ROLE_SERVER);
  REQUIRE_STATUS(sst_config_set_key_update_limit(config, 2), SST_OK);
  Pair with_config = pair_new(.server = {.config = config});
  Pair without = pair_new(.server = {.no_config = true});
  Answers none = {.server = {.config = NULL}}, answers = {.server = {.config = config}};
  EXPECT_EQ(updates_of(&without, &answers), updates_of(&with_config, &none));
  sst_config_free(config);
}

/* ---- what was set on the stream stays ---- */

TEST_VERSIONS(question_config, time_and_name_of_the_stream_stay) {
  const SideOptions asks = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE};
  sst_config *config = pair_config(&asks, SST_ROLE_SERVER);
  for (int i = 0; i < 3; i++) {
    Pair pair = pair_new(.client = {.max_version = version, .credential = "client-p256"},
                         .server = {.no_config = true,
                                    .verify_time = i == 1 ? DATA_CLOCK + 400 * INT64_C(86400) : 0,
                                    .verify_name = i == 2 ? "somebody.else" : NULL});
    Answers answers = {.server = {.config = config}};
    const sst_status expected[] = {SST_OK, SST_ERR_CERT_EXPIRED, SST_ERR_CERT_NAME_MISMATCH};
    EXPECT_STATUS(answer_handshake(&pair, &answers), expected[i]);
    pair_free(&pair);
  }
  sst_config_free(config);
}

TEST(question_config, options_of_the_stream_stay) {
  sst_config *config = pair_config(&(SideOptions){0}, SST_ROLE_SERVER);
  Pair pair = pair_new(.server = {.no_config = true, .options = SST_OPTION_LEAVE_PARTIAL});
  Answers answers = {.server = {.config = config}};
  EXPECT_STATUS(answer_handshake(&pair, &answers), SST_OK);
  EXPECT_STATUS(side_send(&pair.client, "data", 4), SST_OK);
  EXPECT_STATUS(side_call(&pair.server, CALL_DECRYPT, wire_head(pair.client.out), 8, 100), SST_NEED_INPUT);
  EXPECT_EQ(pair.server.progress.consumed, 0);
  EXPECT_STATUS(side_receive(&pair.server), SST_NEED_INPUT);
  EXPECT_RECEIVED(&pair.server, "data", 4);
  pair_free(&pair);
  sst_config_free(config);
}

/* ---- questions of configs ---- */

static uint32_t asked_with(const SideOptions *first, const SideOptions *chosen) {
  sst_config *config = pair_config(chosen, SST_ROLE_SERVER);
  sst_credential *credential = data_credential("server-p384");
  Pair pair = pair_make(&(PairOptions){.client = {.credential = "client-p256"}, .server = *first});
  Answers answers = {.server = {.config = config, .credential = credential}};
  EXPECT_STATUS(answer_handshake(&pair, &answers), SST_OK);
  pair_echo(&pair, 100);
  pair_free(&pair);
  sst_config_free(config);
  sst_credential_free(credential);
  return answers.server.asked;
}

TEST(question_config, further_questions_are_those_of_the_chosen_config) {
  const uint32_t certificate = ASK(SST_WANT_CERTIFICATE), verify = ASK(SST_WANT_CERTIFICATE_VERIFY),
                 hello = ASK(SST_WANT_CLIENT_HELLO);
  const SideOptions none = {.no_config = true}, all = {.suspend = ASK_ALL};
  EXPECT_EQ(asked_with(&none, &(SideOptions){0}), hello);
  EXPECT_EQ(asked_with(&all, &(SideOptions){0}), hello);
  EXPECT_EQ(asked_with(&(SideOptions){.suspend = hello}, &all), hello | certificate);
  const SideOptions mutual = {
      .suspend = ASK_ALL, .credential = "", .client_certificate = SST_CLIENT_CERTIFICATE_REQUEST};
  EXPECT_EQ(asked_with(&none, &mutual), hello | certificate | verify);
}

TEST_VERSIONS(question_config, client_is_not_asked_for_its_own_hello) {
  Pair pair = pair_new(.client = {.max_version = version, .suspend = ASK(SST_WANT_CLIENT_HELLO)});
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  pair_free(&pair);
}

TEST_VERSIONS(question_config, own_config_may_be_the_answer) {
  Pair pair = pair_new(.client = {.max_version = version}, .server = {.suspend = ASK_ALL});
  sst_credential *credential = data_credential("server-p384");
  Answers answers = {.server = {.config = pair.server.config, .credential = credential}};
  EXPECT_STATUS(answer_handshake(&pair, &answers), SST_OK);
  EXPECT_EQ(answers.server.questions, 2);
  pair_echo(&pair, 100);
  pair_free(&pair);
  sst_credential_free(credential);
}

TEST_VERSIONS(question_config, copy_of_a_config_asks_the_same) {
  sst_config *config = pair_config(&(SideOptions){.suspend = ASK(SST_WANT_CERTIFICATE)}, SST_ROLE_SERVER);
  sst_config *copy = sst_config_copy(config), *silent = sst_config_copy(config);
  EXPECT_STATUS(sst_config_suspend_on(silent, 0), SST_OK);
  for (int i = 0; i < 3; i++) {
    Pair pair = pair_new(.client = {.max_version = version}, .server = {.config = i == 0   ? config
                                                                                  : i == 1 ? copy
                                                                                           : silent});
    EXPECT_STATUS(pair_handshake(&pair), i < 2 ? SST_WANT_CERTIFICATE : SST_OK);
    pair_free(&pair);
  }
  EXPECT_STATUS(sst_config_suspend_on(copy, 0), SST_ERR_FROZEN);
  sst_config_free(config);
  sst_config_free(copy);
  sst_config_free(silent);
}

TEST_VERSIONS(question_config, config_that_cannot_be_frozen_leaves_the_question_open) {
  Pair pair = pair_new(.client = {.max_version = version}, .server = {.no_config = true});
  sst_config *bad[] = {pair_config(&(SideOptions){.credential = ""}, SST_ROLE_SERVER),
                       pair_config(&(SideOptions){.client_certificate = 1, .trust = ""}, SST_ROLE_SERVER),
                       pair_config(&(SideOptions){.credential = "server-rsa1024"}, SST_ROLE_SERVER)};
  const sst_status codes[] = {SST_ERR_NO_CREDENTIAL, SST_ERR_NO_TRUST, SST_ERR_UNSUPPORTED_KEY};
  sst_config *good = pair_config(&(SideOptions){0}, SST_ROLE_SERVER);
  EXPECT_STATUS(sst_stream_set_config(pair.server.stream, bad[0]), SST_ERR_STATE);
  EXPECT_STATUS(sst_config_suspend_on(bad[0], 0), SST_OK); /* a question that is not open freezes nothing */
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CLIENT_HELLO);
  for (int i = 0; i < 3; i++) {
    sst_error error = {.size = sizeof error};
    EXPECT_STATUS(sst_stream_set_config(pair.server.stream, bad[i]), codes[i]);
    EXPECT_STATUS(sst_config_last_error(bad[i], &error), SST_OK);
    EXPECT_STATUS(error.code, codes[i]);
    sst_config_free(bad[i]);
    EXPECT_STATUS(side_handshake(&pair.server), SST_WANT_CLIENT_HELLO);
  }
  EXPECT_STATUS(sst_stream_set_config(pair.server.stream, good), SST_OK);
  EXPECT_STATUS(sst_stream_set_config(pair.server.stream, good), SST_ERR_STATE);
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  pair_free(&pair);
  sst_config_free(good);
}
