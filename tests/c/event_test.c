/*
 * Events: facts that need no answer, only for those who ask, and never in anybody's way.
 */
#include "hello.h"
#include "pair.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  KEY_LOG = 1 << SST_EVENT_KEY_LOG,
  ALERT_RECEIVED = 1 << SST_EVENT_ALERT_RECEIVED,
  KEYS_UPDATED = 1 << SST_EVENT_KEYS_UPDATED
};

static size_t count_events(Side *side, uint32_t kind) {
  sst_event event;
  char text[512];
  size_t count = 0;
  while (side_event(side, kind, &event, text, sizeof text))
    count++;
  return count;
}

static bool is_hex(const char *text, size_t len) {
  for (size_t i = 0; i < len; i++)
    if (!isxdigit((unsigned char)text[i])) return false;
  return true;
}

/* "LABEL random secret" in hex, one blank between, and nothing else (RFC 9850). */
static void expect_key_log_line(const char *line, const char *label, const char *random, size_t secret_len) {
  const size_t label_len = strlen(label);
  REQUIRE_EQ(strlen(line), label_len + 1 + 64 + 1 + 2 * secret_len);
  EXPECT(strncmp(line, label, label_len) == 0 && line[label_len] == ' ');
  EXPECT(strncmp(line + label_len + 1, random, 64) == 0 && line[label_len + 65] == ' ');
  EXPECT(is_hex(line + label_len + 66, 2 * secret_len));
}

static void client_random(const Side *client, char *hex) {
  static const char digits[] = "0123456789abcdef";
  Hello hello = hello_read(client->out->bytes, client->out->len);
  for (size_t i = 0; i < 32; i++) {
    hex[2 * i] = digits[hello.random[i] >> 4];
    hex[2 * i + 1] = digits[hello.random[i] & 15];
  }
  hex[64] = '\0';
  hello_free(&hello);
}

static void takes_key_log(Side *side, const char *random, const char *const *labels, size_t num_labels, size_t secret) {
  bool seen[8] = {false};
  char line[512];
  sst_event event;
  size_t lines = 0;
  for (; side_event(side, SST_EVENT_KEY_LOG, &event, line, sizeof line); lines++) {
    EXPECT_EQ(event.lost, 0);
    EXPECT_EQ(event.value, 0);
    size_t i = 0;
    while (i < num_labels && strncmp(line, labels[i], strlen(labels[i])) != 0)
      i++;
    REQUIRE(i < num_labels);
    EXPECT(!seen[i]);
    seen[i] = true;
    expect_key_log_line(line, labels[i], random, secret);
  }
  EXPECT_EQ(lines, num_labels);
}

/* V08 */
TEST(event, key_log_has_five_lines_tls13) {
  static const char *const labels[] = {"CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET",
                                       "CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0", "EXPORTER_SECRET"};
  Pair pair = pair_open(.client = {.report = KEY_LOG}, .server = {.report = KEY_LOG});
  char random[65];
  client_random(&pair.client, random);
  const size_t secret = info_of(&pair.client).suite == 0x1302 ? 48 : 32;
  takes_key_log(&pair.client, random, labels, 5, secret);
  takes_key_log(&pair.server, random, labels, 5, secret);
  pair_free(&pair);
}

TEST(event, key_log_has_one_line_tls12) {
  static const char *const labels[] = {"CLIENT_RANDOM"};
  Pair pair = pair_open(.client = {.max_version = SST_TLS1_2, .report = KEY_LOG}, .server = {.report = KEY_LOG});
  char random[65];
  client_random(&pair.client, random);
  takes_key_log(&pair.client, random, labels, 1, 48);
  takes_key_log(&pair.server, random, labels, 1, 48);
  pair_free(&pair);
}

/* Both sides must log the same secrets, or the log of one is of no use for the bytes of the other. */
TEST_VERSIONS(event, key_log_is_the_same_at_both_sides) {
  Pair pair = pair_open(.client = {.max_version = version, .report = KEY_LOG}, .server = {.report = KEY_LOG});
  char lines[8][512];
  size_t count = 0;
  sst_event event;
  while (count < 8 && side_event(&pair.client, SST_EVENT_KEY_LOG, &event, lines[count], sizeof lines[0]))
    count++;
  char line[512];
  for (size_t i = 0; side_event(&pair.server, SST_EVENT_KEY_LOG, &event, line, sizeof line); i++) {
    size_t same = 0;
    for (size_t j = 0; j < count; j++)
      same += strcmp(lines[j], line) == 0;
    EXPECT_EQ(same, 1);
  }
  pair_free(&pair);
}

static void reports_nothing(Pair *pair) {
  sst_event event = {.size = sizeof event};
  Side *const sides[] = {&pair->client, &pair->server};
  for (int i = 0; i < 2; i++) {
    EXPECT_EQ(sides[i]->progress.flags & SST_HAS_EVENT, 0);
    EXPECT_STATUS(sst_stream_next_event(sides[i]->stream, &event, NULL, 0), SST_NONE);
  }
}

/* Off unless asked for; no environment variable turns it on. */
TEST_VERSIONS(event, nothing_is_reported_by_default) {
  char path[] = "/tmp/sst_key_log_XXXXXX";
  const int file = mkstemp(path);
  REQUIRE(file >= 0 && setenv("SSLKEYLOGFILE", path, 1) == 0);
  Pair pair = pair_open(.client = {.max_version = version});
  reports_nothing(&pair);
  if (version == SST_TLS1_3) EXPECT_STATUS(sst_stream_key_update(pair.client.stream, 1), SST_OK);
  pair_echo(&pair, 100);
  reports_nothing(&pair);
  side_close(&pair.client);
  EXPECT_STATUS(side_receive(&pair.server), SST_CLOSED);
  reports_nothing(&pair);
  unsetenv("SSLKEYLOGFILE");
  EXPECT_EQ(lseek(file, 0, SEEK_END), 0);
  close(file);
  unlink(path);
  pair_free(&pair);
}

/* Who asks for one kind gets only that. */
TEST_VERSIONS(event, only_kinds_that_were_asked_for_are_reported) {
  Pair pair = pair_open(.client = {.max_version = version, .report = ALERT_RECEIVED});
  reports_nothing(&pair);
  side_close(&pair.server);
  EXPECT_STATUS(side_receive(&pair.client), SST_CLOSED);
  EXPECT((pair.client.progress.flags & SST_HAS_EVENT) != 0);
  sst_event event = {.size = sizeof event};
  EXPECT_STATUS(sst_stream_next_event(pair.client.stream, &event, NULL, 0), SST_OK);
  EXPECT_EQ(event.kind, SST_EVENT_ALERT_RECEIVED);
  EXPECT_STATUS(sst_stream_next_event(pair.client.stream, &event, NULL, 0), SST_NONE);
  pair_free(&pair);
}

static void reports_alert(Side *side, int32_t alert) {
  sst_event event;
  char text[8];
  REQUIRE(side_event(side, SST_EVENT_ALERT_RECEIVED, &event, text, sizeof text));
  EXPECT_EQ(event.value, alert);
  EXPECT_EQ(event.length, 0);
  EXPECT_EQ(event.lost, 0);
  EXPECT(!side_event(side, SST_EVENT_ALERT_RECEIVED, &event, text, sizeof text));
}

TEST_VERSIONS(event, close_notify_is_reported_as_alert_0) {
  Pair pair = pair_open(.client = {.max_version = version}, .server = {.report = ALERT_RECEIVED});
  side_close(&pair.client);
  EXPECT_STATUS(side_receive(&pair.server), SST_CLOSED);
  EXPECT((pair.server.progress.flags & SST_HAS_EVENT) != 0);
  reports_alert(&pair.server, 0);
  pair_free(&pair);
}

TEST_VERSIONS(event, fatal_alert_is_reported) {
  Pair pair = pair_open(.client = {.max_version = version}, .server = {.report = ALERT_RECEIVED});
  EXPECT_STATUS(sst_stream_abort(pair.client.stream, 90), SST_OK);
  side_flush(&pair.client);
  EXPECT_STATUS(side_receive(&pair.server), SST_ERR_ALERT_RECEIVED - 90);
  EXPECT((pair.server.progress.flags & SST_HAS_EVENT) != 0);
  reports_alert(&pair.server, 90);
  pair_free(&pair);
}

TEST(event, alert_in_the_handshake_is_reported) {
  Pair pair =
      pair_new(.client = {.max_version = SST_TLS1_2, .report = ALERT_RECEIVED}, .server = {.min_version = SST_TLS1_3});
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_NO_SHARED_VERSION);
  reports_alert(&pair.client, 70);
  pair_free(&pair);
}

/* Each direction's keys change once: the one that asks sees its own, then the peer's. */
TEST(event, key_updates_are_reported_with_their_direction) {
  Pair pair = pair_open(.client = {.report = KEYS_UPDATED}, .server = {.report = KEYS_UPDATED});
  EXPECT_STATUS(sst_stream_key_update(pair.client.stream, 1), SST_OK);
  pair_echo(&pair, 10);
  const uint64_t expected[2][2] = {{SST_DIRECTION_SEND, SST_DIRECTION_RECEIVE},
                                   {SST_DIRECTION_RECEIVE, SST_DIRECTION_SEND}};
  for (int i = 0; i < 2; i++) {
    Side *side = i == 0 ? &pair.client : &pair.server;
    test_note("%s", side->label);
    sst_event event;
    char text[8];
    for (int j = 0; j < 2; j++) {
      REQUIRE(side_event(side, SST_EVENT_KEYS_UPDATED, &event, text, sizeof text));
      EXPECT_EQ(event.value, expected[i][j]);
      EXPECT_EQ(event.length, 0);
    }
    EXPECT(!side_event(side, SST_EVENT_KEYS_UPDATED, &event, text, sizeof text));
  }
  pair_free(&pair);
}

/* Nobody is made to read events: 32 wait, the oldest go, and the next one taken says how many. */
TEST(event, more_than_32_lose_the_oldest) {
  Pair pair = pair_open(.client = {.report = KEYS_UPDATED | ALERT_RECEIVED});
  const Side *client = &pair.client;
  for (int i = 0; i < 40; i++) {
    EXPECT_STATUS(sst_stream_key_update(pair.client.stream, 0), SST_OK);
    EXPECT_STATUS(side_send(&pair.client, "x", 1), SST_OK);
  }
  EXPECT_EQ(sst_stream_counter(client->stream, SST_COUNTER_EVENTS_LOST), 8);
  side_close(&pair.server);
  EXPECT_STATUS(side_receive(&pair.client), SST_CLOSED);
  EXPECT_EQ(sst_stream_counter(client->stream, SST_COUNTER_EVENTS_LOST), 9);

  sst_event event = {.size = sizeof event};
  for (int i = 0; i < 32; i++) {
    EXPECT_STATUS(sst_stream_next_event(client->stream, &event, NULL, 0), SST_OK);
    EXPECT_EQ(event.lost, i == 0 ? 9 : 0);
    EXPECT_EQ(event.kind, i == 31 ? SST_EVENT_ALERT_RECEIVED : SST_EVENT_KEYS_UPDATED);
  }
  EXPECT_STATUS(sst_stream_next_event(client->stream, &event, NULL, 0), SST_NONE);
  EXPECT_EQ(sst_stream_counter(client->stream, SST_COUNTER_EVENTS_LOST), 9);
  pair_free(&pair);
}

TEST(event, short_room_keeps_the_event) {
  Pair pair = pair_open(.client = {.report = KEY_LOG});
  char line[512] = "";
  sst_event event = {.size = sizeof event};
  EXPECT_STATUS(sst_stream_next_event(pair.client.stream, &event, NULL, 0), SST_NEED_OUTPUT);
  const size_t needed = event.length;
  REQUIRE(needed > 0 && needed < sizeof line);
  EXPECT_EQ(event.kind, SST_EVENT_KEY_LOG);
  EXPECT_STATUS(sst_stream_next_event(pair.client.stream, &event, (uint8_t *)line, needed - 1), SST_NEED_OUTPUT);
  EXPECT_EQ(line[0], '\0');
  EXPECT_STATUS(sst_stream_next_event(pair.client.stream, &event, (uint8_t *)line, needed), SST_OK);
  EXPECT_EQ(event.length, needed);
  EXPECT_EQ(strlen(line), needed);
  EXPECT(strchr(line, '\n') == NULL);
  EXPECT_EQ(count_events(&pair.client, SST_EVENT_KEY_LOG), 4);
  pair_free(&pair);
}

TEST(event, wrong_arguments_are_refused_and_keep_the_event) {
  Pair pair = pair_open(.client = {.report = KEY_LOG});
  sst_event event = {.size = sizeof event};
  uint8_t out[512];
  sst_stream *stream = pair.client.stream;
  EXPECT_STATUS(sst_stream_next_event(NULL, &event, out, sizeof out), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_next_event(stream, NULL, out, sizeof out), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_next_event(stream, &event, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  event.size = 0;
  EXPECT_STATUS(sst_stream_next_event(stream, &event, out, sizeof out), SST_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(count_events(&pair.client, SST_EVENT_KEY_LOG), 5);
  pair_free(&pair);
}

/* What was reported before a failure can be read after it. */
TEST(event, events_stay_after_failure) {
  Pair pair = pair_open(.client = {.report = KEY_LOG | ALERT_RECEIVED});
  EXPECT_STATUS(sst_stream_abort(pair.client.stream, 80), SST_OK);
  side_flush(&pair.client);
  EXPECT((pair.client.progress.flags & SST_HAS_EVENT) != 0);
  EXPECT_EQ(count_events(&pair.client, SST_EVENT_KEY_LOG), 5);
  pair_free(&pair);
}

TEST(event, kinds_that_do_not_exist_are_refused) {
  sst_config *config = sst_config_new();
  EXPECT_STATUS(sst_config_report(config, 1 << (SST_EVENT_EARLY_DATA + 1)), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_config_report(config, (1 << (SST_EVENT_EARLY_DATA + 1)) - 1), SST_OK);
  EXPECT_STATUS(sst_config_report(config, 0), SST_OK);
  sst_config_free(config);
}
