/*
 * Contract: a handshake that stops for every question is the same as one that stops for none, however its bytes are cut
 * and however little room there is. Random cuts print their seed; SST_TEST_SEED repeats them.
 */
#include "answer.h"
#include "trace.h"

#include <string.h>

#define ALL_EVENTS (1u << SST_EVENT_KEY_LOG | 1u << SST_EVENT_ALERT_RECEIVED | 1u << SST_EVENT_KEYS_UPDATED)

typedef struct Scenario {
  const char *name;
  SideOptions client, server;
  const char *mark; /* what the plain run must show: that it is what it is for */
  size_t questions;
} Scenario;

/* Keys of Ed25519 and groups of a fixed size: then even the lengths of all records are the same in every run. */
#define CLIENT(...) \
  .client = {.groups = {29, 24}, .alpn = {"h2", "x"}, .report = ALL_EVENTS, .credential = "client-ed25519", __VA_ARGS__}
#define SERVER(...) .server = {.alpn = {"x"}, .report = ALL_EVENTS, .credential = "server-ed25519", __VA_ARGS__}
#define DEMANDS .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE

enum { FULL_13, FULL_12, MUTUAL_13, MUTUAL_12, RETRY, REFUSED_13, REFUSED_12, SCENARIOS };

static const Scenario scenarios[SCENARIOS] = {
    [FULL_13] = {"full 1.3", CLIENT(.max_version = SST_TLS1_3), SERVER(.groups = {29}), "server has 4 bytes", 4},
    [FULL_12] = {"full 1.2", CLIENT(.max_version = SST_TLS1_2), SERVER(.groups = {29}), "server has 4 bytes", 4},
    [MUTUAL_13] = {"mutual 1.3", CLIENT(.max_version = SST_TLS1_3), SERVER(.groups = {29}, DEMANDS),
                   "schemes 807 807, flags 22,", 7},
    [MUTUAL_12] = {"mutual 1.2", CLIENT(.max_version = SST_TLS1_2), SERVER(.groups = {29}, DEMANDS),
                   "schemes 807 807, flags 22,", 7},
    [RETRY] = {"HelloRetryRequest", CLIENT(.max_version = SST_TLS1_3), SERVER(.groups = {24}, DEMANDS),
               "group 24, schemes 807 807, flags 2a,", 7},
    [REFUSED_13] = {"refused 1.3", CLIENT(.max_version = SST_TLS1_3, .server_name = "other.test"),
                    SERVER(.groups = {29}), "client handshake ERR_CERT_NAME_MISMATCH", 4},
    [REFUSED_12] = {"refused 1.2", CLIENT(.max_version = SST_TLS1_2, .server_name = "other.test"),
                    SERVER(.groups = {29}), "client handshake ERR_CERT_NAME_MISMATCH", 4},
};

/* What a scenario is run with, made once: plain, and with all questions. */
typedef struct Configs {
  sst_config *client, *server;
} Configs;

static Configs plain_configs, asking_configs;
static Answers all_answers;
static size_t longest_flight; /* of the runs so far */

static Configs make_configs(const Scenario *scenario, bool asks) {
  SideOptions client = scenario->client, server = scenario->server;
  if (asks) {
    client.suspend = server.suspend = ASK_ALL;
    client.credential = server.credential = "";
  }
  return (Configs){pair_config(&client, SST_ROLE_CLIENT), pair_config(&server, SST_ROLE_SERVER)};
}

static void begin(const Scenario *scenario) {
  longest_flight = 0;
  plain_configs = make_configs(scenario, false);
  asking_configs = make_configs(scenario, true);
  all_answers = (Answers){
      .client = {.credential = answer_credential("client-ed25519", 0x0807), .key = "client-ed25519"},
      .server = {.credential = answer_credential("server-ed25519", 0x0807), .key = "server-ed25519"},
  };
  all_answers.server.config = asking_configs.server;
}

static void end(void) {
  sst_config_free(plain_configs.client);
  sst_config_free(plain_configs.server);
  sst_config_free(asking_configs.client);
  sst_config_free(asking_configs.server);
  sst_credential_free(all_answers.client.credential);
  sst_credential_free(all_answers.server.credential);
}

static void see_flights(const Wire *wire) {
  for (size_t i = 0; i < wire->num_pieces; i++) {
    if (wire->pieces[i] > longest_flight) longest_flight = wire->pieces[i];
  }
}

/* Over all questions. Each comes with its status again, before it is answered. */
static sst_status feed_answered(Side *side, const Feed *feed, SideAnswers *answers) {
  for (;;) {
    const sst_status status = feed_handshake(side, feed);
    if (status < SST_WANT_CLIENT_HELLO) return status;
    side->room = 0;
    EXPECT_STATUS(side_call(side, CALL_HANDSHAKE, (const uint8_t *)"more", 4, 10), status);
    EXPECT_EQ(side->progress.consumed + side->progress.produced, 0);
    answer(side, answers);
  }
}

static Pair make_pair(const Scenario *scenario, const Feed *feed, bool asks) {
  const uint32_t options = feed->leave_partial ? SST_OPTION_LEAVE_PARTIAL : 0;
  SideOptions client = {.server_name = scenario->client.server_name, .options = options}, server = {.options = options};
  client.config = asks ? asking_configs.client : plain_configs.client;
  server.config = asks ? NULL : plain_configs.server;
  server.no_config = asks;
  return pair_make(&(PairOptions){.client = client, .server = server});
}

/* A handshake behind which the client's first data stands in the same piece. */
static Trace run(const Scenario *scenario, const Feed *feed, bool asks) {
  Trace trace = {.text = NULL};
  Pair pair = make_pair(scenario, feed, asks);
  Answers answers = all_answers;
  Side *const sides[2] = {&pair.client, &pair.server};
  SideAnswers *const side_answers[2] = {&answers.client, &answers.server};
  bool sent = false;
  sst_status status[2] = {SST_NEED_INPUT, SST_NEED_INPUT};
  for (int turn = 0; turn < 8 && (status[0] > 0 || status[1] > 0); turn++) {
    const int i = turn % 2;
    if (status[i] <= 0) continue;
    status[i] = feed_answered(sides[i], feed, side_answers[i]);
    trace_add(&trace, "%s handshake %s\n", sides[i]->label, sst_status_name(status[i]));
    sides[i]->room = 0;
    if (i == 0 && status[0] == SST_OK && !sent) EXPECT_STATUS(side_send(&pair.client, "data", 4), SST_OK);
    sent |= status[0] == SST_OK;
  }
  for (int i = 0; i < 2; i++) {
    trace_add(&trace, "%s decrypt %s\n", sides[i]->label, sst_status_name(feed_receive(sides[i], feed)));
    trace_received(&trace, sides[i]);
    trace_events(&trace, sides[i]);
    trace_facts(&trace, sides[i]);
    trace_add(&trace, "received %d bytes\n", (int)sst_stream_counter(sides[i]->stream, SST_COUNTER_WIRE_RECEIVED));
  }
  trace_records(&trace, "client", pair.client.out);
  trace_records(&trace, "server", pair.server.out);
  see_flights(pair.client.out);
  see_flights(pair.server.out);
  EXPECT_EQ(answers.client.questions + answers.server.questions, asks ? scenario->questions : 0);
  pair_free(&pair);
  return trace;
}

static Trace run_plain(const Scenario *scenario) {
  Trace plain = run(scenario, &(Feed){.cut = 0}, false);
  EXPECT_CONTAINS(plain.text, scenario->mark);
  return plain;
}

static void compare(const Scenario *scenario, const Trace *plain, const Feed *feed) {
  Trace other = run(scenario, feed, true);
  trace_compare(&other, plain);
  trace_free(&other);
}

static void run_feeds(const Scenario *scenario, const Feed *feeds, size_t num_feeds) {
  begin(scenario);
  Trace plain = run_plain(scenario);
  for (size_t i = 0; i < num_feeds; i++) {
    test_note("%s, feed %zu", scenario->name, i);
    compare(scenario, &plain, &feeds[i]);
  }
  trace_free(&plain);
  end();
}

/* Every flight in two parts, at each of its bytes. */
static void run_cuts(const Scenario *scenario) {
  begin(scenario);
  Trace plain = run_plain(scenario);
  EXPECT_AT_LEAST(longest_flight, 100);
  for (size_t cut = 1; cut < longest_flight; cut++) {
    test_note("%s, cut at %zu", scenario->name, cut);
    compare(scenario, &plain, &(Feed){.cut = cut, .leave_partial = cut % 2 == 0});
  }
  trace_free(&plain);
  end();
}

static const Feed ways[] = {{.cut = 0},
                            {.chunk = 1},
                            {.chunk = 2},
                            {.chunk = 5},
                            {.chunk = 61},
                            {.exact = true},
                            {.chunk = 1, .room = 1},
                            {.chunk = 1, .leave_partial = true},
                            {.room = 1},
                            {.room = 5},
                            {.room = 100},
                            {.room = SIDE_LEARN},
                            {.room = SIDE_LEARN, .chunk = 7}};

static void run_random(const Scenario *scenario) {
  enum { ROUNDS = 60 };
  Feed feeds[ROUNDS];
  for (int i = 0; i < ROUNDS; i++) {
    feeds[i] = (Feed){.chunk = SIDE_RANDOM, .room = i % 2 == 0 ? SIDE_RANDOM : 0, .leave_partial = i % 3 == 0};
  }
  run_feeds(scenario, feeds, ROUNDS);
}

#define SCENARIO(name, number)                                       \
  TEST(question_chunking, name##_in_pieces_is_the_same) {            \
    run_feeds(&scenarios[number], ways, sizeof ways / sizeof *ways); \
  }                                                                  \
  TEST(question_chunking, name##_cut_at_every_byte_is_the_same) {    \
    run_cuts(&scenarios[number]);                                    \
  }                                                                  \
  TEST(question_chunking, name##_in_random_pieces_is_the_same) {     \
    run_random(&scenarios[number]);                                  \
  }

SCENARIO(handshake_tls13, FULL_13)
SCENARIO(handshake_tls12, FULL_12)
SCENARIO(mutual_handshake_tls13, MUTUAL_13)
SCENARIO(mutual_handshake_tls12, MUTUAL_12)
SCENARIO(handshake_with_retry, RETRY)
SCENARIO(refused_handshake_tls13, REFUSED_13)
SCENARIO(refused_handshake_tls12, REFUSED_12)
