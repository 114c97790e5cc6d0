/*
 * Contract: how the bytes of a handshake are cut, and how much room there is for the answer, changes nothing that can
 * be seen. Random cuts print their seed; SST_TEST_SEED repeats them.
 */
#include "trace.h"

#include <string.h>

typedef struct Scenario {
  const char *name;
  PairOptions options;
} Scenario;

#define ALL_EVENTS (1u << SST_EVENT_KEY_LOG | 1u << SST_EVENT_ALERT_RECEIVED | 1u << SST_EVENT_KEYS_UPDATED)

/* Keys of Ed25519 and groups of a fixed size: then even the lengths of all records are the same in every run. */
#define CLIENT(...) \
  .client = {.groups = {29, 24}, .alpn = {"h2", "x"}, .report = ALL_EVENTS, .credential = "client-ed25519", __VA_ARGS__}
#define SERVER(...) .server = {.alpn = {"x"}, .report = ALL_EVENTS, .credential = "server-ed25519", __VA_ARGS__}

enum { FULL_13, FULL_12, MUTUAL_13, MUTUAL_12, RETRY, REFUSED_13, REFUSED_12, NO_VERSION, SCENARIOS };

static const Scenario scenarios[SCENARIOS] = {
    [FULL_13] = {"full 1.3", {CLIENT(.max_version = SST_TLS1_3), SERVER(.groups = {29})}},
    [FULL_12] = {"full 1.2", {CLIENT(.max_version = SST_TLS1_2), SERVER(.groups = {29})}},
    [MUTUAL_13] = {"mutual 1.3",
                   {CLIENT(.max_version = SST_TLS1_3),
                    SERVER(.groups = {29}, .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE)}},
    [MUTUAL_12] = {"mutual 1.2",
                   {CLIENT(.max_version = SST_TLS1_2),
                    SERVER(.groups = {29}, .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE)}},
    [RETRY] = {"HelloRetryRequest", {CLIENT(.max_version = SST_TLS1_3), SERVER(.groups = {24})}},
    [REFUSED_13] = {"refused 1.3",
                    {CLIENT(.max_version = SST_TLS1_3, .server_name = "other.test"), SERVER(.groups = {29})}},
    [REFUSED_12] = {"refused 1.2",
                    {CLIENT(.max_version = SST_TLS1_2, .server_name = "other.test"), SERVER(.groups = {29})}},
    [NO_VERSION] = {"no version",
                    {CLIENT(.max_version = SST_TLS1_2), SERVER(.groups = {29}, .min_version = SST_TLS1_3)}},
};

/* The configs are made once: a run is a handshake and little else. */
static sst_config *client_config, *server_config;
static size_t longest_flight; /* of the runs so far */

static void use(const Scenario *scenario) {
  longest_flight = 0;
  client_config = pair_config(&scenario->options.client, SST_ROLE_CLIENT);
  server_config = pair_config(&scenario->options.server, SST_ROLE_SERVER);
}

static void drop(void) {
  sst_config_free(client_config);
  sst_config_free(server_config);
}

static void see_flights(const Wire *wire) {
  for (size_t i = 0; i < wire->num_pieces; i++) {
    if (wire->pieces[i] > longest_flight) longest_flight = wire->pieces[i];
  }
}

/* A handshake behind which the client's first data stands in the same piece. */
static Trace run(const Scenario *scenario, const Feed *feed) {
  Trace trace = {.text = NULL};
  Pair pair =
      pair_new(.client = {.config = client_config,
                          .server_name = scenario->options.client.server_name,
                          .options = feed->leave_partial ? SST_OPTION_LEAVE_PARTIAL : 0},
               .server = {.config = server_config, .options = feed->leave_partial ? SST_OPTION_LEAVE_PARTIAL : 0});
  Side *const sides[2] = {&pair.client, &pair.server};
  bool sent = false;
  sst_status status[2] = {SST_NEED_INPUT, SST_NEED_INPUT};
  for (int turn = 0; turn < 8 && (status[0] > 0 || status[1] > 0); turn++) {
    const int i = turn % 2;
    if (status[i] <= 0) continue;
    status[i] = feed_handshake(sides[i], feed);
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
  }
  trace_records(&trace, "client", pair.client.out);
  trace_records(&trace, "server", pair.server.out);
  see_flights(pair.client.out);
  see_flights(pair.server.out);
  pair_free(&pair);
  return trace;
}

static void compare(const Scenario *scenario, const Trace *plain, const Feed *feed) {
  Trace other = run(scenario, feed);
  trace_compare(&other, plain);
  trace_free(&other);
}

/* The plain run itself must be what the scenario is for. */
static void expect_scenario(int number, const Trace *plain) {
  const char *const marks[SCENARIOS] = {
      [FULL_13] = "server has 4 bytes",
      [FULL_12] = "server has 4 bytes",
      [MUTUAL_13] = "schemes 807 807, flags 22,",
      [MUTUAL_12] = "schemes 807 807, flags 22,",
      [RETRY] = "group 24, schemes 807 0, flags 2a,",
      [REFUSED_13] = "client handshake ERR_CERT_NAME_MISMATCH",
      [REFUSED_12] = "client handshake ERR_CERT_NAME_MISMATCH",
      [NO_VERSION] = "client handshake ERR_ALERT_RECEIVED",
  };
  EXPECT_CONTAINS(plain->text, marks[number]);
}

static void run_feeds(int number, const Feed *feeds, size_t num_feeds) {
  const Scenario *scenario = &scenarios[number];
  use(scenario);
  Trace plain = run(scenario, &(Feed){.cut = 0});
  expect_scenario(number, &plain);
  for (size_t i = 0; i < num_feeds; i++) {
    test_note("%s, feed %zu", scenario->name, i);
    compare(scenario, &plain, &feeds[i]);
  }
  trace_free(&plain);
  drop();
}

/* Every flight in two parts, at each of its bytes. */
static void run_cuts(int number) {
  const Scenario *scenario = &scenarios[number];
  use(scenario);
  Trace plain = run(scenario, &(Feed){.cut = 0});
  expect_scenario(number, &plain);
  EXPECT_AT_LEAST(longest_flight, 100);
  for (size_t cut = 1; cut < longest_flight; cut++) {
    test_note("%s, cut at %zu", scenario->name, cut);
    compare(scenario, &plain, &(Feed){.cut = cut, .leave_partial = cut % 2 == 0});
  }
  trace_free(&plain);
  drop();
}

static const Feed pieces[] = {{.chunk = 1},
                              {.chunk = 2},
                              {.chunk = 5},
                              {.chunk = 6},
                              {.chunk = 61},
                              {.exact = true},
                              {.chunk = 1, .room = 1},
                              {.chunk = 1, .leave_partial = true}};
static const Feed rooms[] = {
    {.room = 1}, {.room = 5}, {.room = 100}, {.room = SIDE_LEARN}, {.room = SIDE_LEARN, .chunk = 7}};

#define LENGTH(list) (sizeof(list) / sizeof *(list))

static void run_random(int number) {
  enum { ROUNDS = 100 };
  Feed feeds[ROUNDS];
  for (int i = 0; i < ROUNDS; i++) {
    feeds[i] = (Feed){.chunk = SIDE_RANDOM, .room = i % 2 == 0 ? SIDE_RANDOM : 0, .leave_partial = i % 3 == 0};
  }
  run_feeds(number, feeds, ROUNDS);
}

#define SCENARIO(name, number)                           \
  TEST(chunking, name##_in_pieces_is_the_same) {         \
    run_feeds((number), pieces, LENGTH(pieces));         \
  }                                                      \
  TEST(chunking, name##_with_little_room_is_the_same) {  \
    run_feeds((number), rooms, LENGTH(rooms));           \
  }                                                      \
  TEST(chunking, name##_cut_at_every_byte_is_the_same) { \
    run_cuts(number);                                    \
  }                                                      \
  TEST(chunking, name##_in_random_pieces_is_the_same) {  \
    run_random(number);                                  \
  }

SCENARIO(handshake_tls13, FULL_13)
SCENARIO(handshake_tls12, FULL_12)
SCENARIO(mutual_handshake_tls13, MUTUAL_13)
SCENARIO(mutual_handshake_tls12, MUTUAL_12)
SCENARIO(handshake_with_retry, RETRY)
SCENARIO(refused_handshake_tls13, REFUSED_13)
SCENARIO(refused_handshake_tls12, REFUSED_12)
SCENARIO(handshake_without_common_version, NO_VERSION)
