/*
 * Sessions as objects: events, bytes, facts, marks.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "resume.h"

static sst_session *a_session(uint16_t version, uint32_t lifetime_s) {
  Resume resume = resume_new(version, .server = {.lifetime_s = lifetime_s}, .client = {.lifetime_s = lifetime_s});
  sst_session *session = resume_session(&resume);
  REQUIRE(session != NULL);
  resume_free(&resume);
  return session;
}

/* ---- empty ones ---- */

TEST(session, empty_session_says_that_it_is_empty) {
  sst_session *session = sst_session_new();
  sst_session_info info = {.size = sizeof info};
  sst_error error = {.size = sizeof error};
  size_t len = 7;
  EXPECT_STATUS(sst_session_to_bytes(session, NULL, 0, &len), SST_ERR_STATE);
  EXPECT_EQ(len, 0);
  EXPECT_STATUS(sst_session_get_info(session, &info), SST_ERR_STATE);
  EXPECT_STATUS(sst_session_last_error(session, &error), SST_OK);
  EXPECT_STATUS(error.code, SST_OK);
  EXPECT(sst_session_ref(session) == session);
  sst_session_free(session);
  sst_session_free(session);
  sst_session_free(NULL);
  EXPECT(sst_session_ref(NULL) == NULL);
}

TEST(session, arguments_are_checked) {
  sst_session *session = sst_session_new();
  sst_session_info info = {.size = sizeof info};
  sst_error error = {.size = sizeof error};
  uint8_t out[4];
  size_t len;
  EXPECT_STATUS(sst_session_load(NULL, out, 4), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_session_load(session, NULL, 4), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_session_to_bytes(NULL, out, 4, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_session_to_bytes(session, out, 4, NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_session_get_info(NULL, &info), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_session_get_info(session, NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_session_set_reusable(NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_session_set_reusable(session, 2), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_session_last_error(NULL, &error), SST_ERR_INVALID_ARGUMENT);
  sst_session_free(session);
}

TEST(session, settings_of_a_config_have_ranges) {
  sst_config *config = sst_config_new();
  EXPECT_STATUS(sst_config_set_ticket_count(config, 0), SST_OK);
  EXPECT_STATUS(sst_config_set_ticket_count(config, 16), SST_OK);
  EXPECT_STATUS(sst_config_set_ticket_count(config, 17), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_config_set_session_lifetime(config, 0), SST_OK);
  EXPECT_STATUS(sst_config_set_session_lifetime(config, 604800), SST_OK);
  EXPECT_STATUS(sst_config_set_session_lifetime(config, 604801), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_config_set_ticket_count(NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_config_set_session_lifetime(NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_config_set_ticket_keys(NULL, NULL), SST_ERR_INVALID_ARGUMENT);
  sst_trust *trust = data_trust("root");
  EXPECT_STATUS(sst_config_set_trust(config, trust), SST_OK);
  EXPECT_STATUS(sst_config_freeze(config, SST_ROLE_CLIENT), SST_OK);
  EXPECT_STATUS(sst_config_set_ticket_count(config, 1), SST_ERR_FROZEN);
  EXPECT_STATUS(sst_config_set_session_lifetime(config, 1), SST_ERR_FROZEN);
  EXPECT_STATUS(sst_config_set_ticket_keys(config, NULL), SST_ERR_FROZEN);
  sst_trust_free(trust);
  sst_config_free(config);
}

/* ---- events ---- */

TEST_VERSIONS(session, each_session_is_an_event) {
  Resume resume = resume_new(version, .server = {.tickets = 3});
  const size_t expected = version == SST_TLS1_2 ? 1 : 3;
  Pair pair = pair_opened(&resume.options);
  resume_deliver(&pair);
  sst_event event = {.size = sizeof event};
  for (size_t i = 0; i < expected; i++) {
    EXPECT_STATUS(sst_stream_next_event(pair.client.stream, &event, NULL, 0), SST_OK);
    EXPECT_EQ(event.kind, SST_EVENT_SESSION);
    EXPECT_EQ(event.length, 0);
  }
  EXPECT_STATUS(sst_stream_next_event(pair.client.stream, &event, NULL, 0), SST_NONE);
  size_t taken = 0;
  for (sst_session *session; (session = sst_stream_take_session(pair.client.stream)) != NULL; taken++)
    sst_session_free(session);
  EXPECT_EQ(taken, expected);
  EXPECT(sst_stream_take_session(pair.server.stream) == NULL);
  pair_free(&pair);
  resume_free(&resume);
}

/* Each is another ticket, so that each may be used once. */
TEST(session, tickets_of_one_connection_are_different) {
  Resume resume = resume_new(SST_TLS1_3, .server = {.tickets = 16});
  Pair pair = pair_opened(&resume.options);
  resume_deliver(&pair);
  sst_session *sessions[16];
  for (size_t i = 0; i < 16; i++) {
    sessions[i] = sst_stream_take_session(pair.client.stream);
    REQUIRE(sessions[i] != NULL);
  }
  pair_free(&pair);
  for (size_t i = 0; i < 16; i++) {
    EXPECT(resume_with(&resume, sessions[i]));
    sst_session_free(sessions[i]);
  }
  resume_free(&resume);
}

/* What nobody takes must not grow: of many tickets the newest stay. */
TEST(session, sessions_that_nobody_takes_are_few) {
  Resume resume = resume_new(SST_TLS1_3, .server = {.tickets = 16});
  const uint64_t before = sst_live_objects();
  Pair pair = pair_opened(&resume.options);
  const uint64_t streams = sst_live_objects() - before;
  resume_deliver(&pair);
  EXPECT_EQ(sst_live_objects() - before, streams + 16);
  sst_stream_free(pair.client.stream); /* and they go with the stream */
  EXPECT_EQ(sst_live_objects() - before, streams - 1);
  pair.client.stream = NULL;
  pair.objects--;
  pair_free(&pair);
  resume_free(&resume);
}

/* ---- bytes ---- */

TEST_VERSIONS(session, bytes_make_the_same_session) {
  Resume resume = resume_new(version);
  sst_session *session = resume_session(&resume);
  const Data bytes = session_bytes(session);
  sst_session *loaded = session_loaded(bytes.bytes, bytes.len);
  const Data again = session_bytes(loaded);
  EXPECT_BYTES(again.bytes, again.len, bytes.bytes, bytes.len);
  EXPECT_STATUS(sst_session_load(loaded, bytes.bytes, bytes.len), SST_ERR_FROZEN);

  EXPECT(resume_with(&resume, loaded));
  EXPECT(!resume_with(&resume, loaded)); /* one from bytes is used once, too */

  sst_session_free(session);
  sst_session_free(loaded);
  free(bytes.bytes);
  free(again.bytes);
  resume_free(&resume);
}

/* Bytes are no way to use one twice: the marks go with them. */
TEST(session, marks_are_in_the_bytes) {
  Resume resume = resume_new(SST_TLS1_3);
  sst_session *session = resume_session(&resume);
  EXPECT(resume_with(&resume, session));
  Data bytes = session_bytes(session);
  sst_session *loaded = session_loaded(bytes.bytes, bytes.len);
  EXPECT(!resume_with(&resume, loaded));
  sst_session_free(loaded);
  free(bytes.bytes);

  EXPECT_STATUS(sst_session_set_reusable(session, 1), SST_OK);
  bytes = session_bytes(session);
  loaded = session_loaded(bytes.bytes, bytes.len);
  EXPECT(resume_with(&resume, loaded));
  EXPECT(resume_with(&resume, loaded));
  sst_session_free(loaded);
  free(bytes.bytes);
  sst_session_free(session);
  resume_free(&resume);
}

/* The bytes say whom the session is for: it cannot be had for another by way of them. */
TEST_VERSIONS(session, loaded_session_never_resumes_to_another_name) {
  Resume resume = resume_new(version, .client = {.verify = SST_VERIFY_CHAIN_ONLY});
  sst_session *session = resume_session(&resume);
  const Data bytes = session_bytes(session);
  sst_session *loaded = session_loaded(bytes.bytes, bytes.len);
  resume.options.client.server_name = "other.test";
  EXPECT(!resume_with(&resume, loaded));
  resume.options.client.server_name = "server.test";
  EXPECT(resume_with(&resume, loaded));
  sst_session_free(session);
  sst_session_free(loaded);
  free(bytes.bytes);
  resume_free(&resume);
}

static void is_refused(const uint8_t *bytes, size_t len) {
  sst_session *session = sst_session_new();
  sst_error error = {.size = sizeof error};
  uint8_t *exact = len == 0 ? NULL : test_allocate(len);
  if (len > 0) memcpy(exact, bytes, len);
  EXPECT_STATUS(sst_session_load(session, exact, len), SST_ERR_BAD_SESSION);
  EXPECT_STATUS(sst_session_last_error(session, &error), SST_OK);
  EXPECT_STATUS(error.code, SST_ERR_BAD_SESSION);
  free(exact);
  sst_session_free(session);
}

/* A session with a damaged key would fail every handshake that offers it: damage is seen before. */
TEST_VERSIONS(session, damaged_bytes_are_refused) {
  sst_session *session = a_session(version, 0);
  const Data bytes = session_bytes(session);
  for (size_t len = 0; len < bytes.len; len++)
    is_refused(bytes.bytes, len);
  for (size_t i = 0; i < bytes.len && !test_failed(); i++) {
    test_note("bit turned in byte %zu of %zu", i, bytes.len);
    bytes.bytes[i] ^= (uint8_t)(1 << i % 8);
    is_refused(bytes.bytes, bytes.len);
    bytes.bytes[i] ^= (uint8_t)(1 << i % 8);
  }
  uint8_t *longer = test_allocate(bytes.len + 1);
  memcpy(longer, bytes.bytes, bytes.len);
  longer[bytes.len] = 0;
  is_refused(longer, bytes.len + 1);
  free(longer);
  free(bytes.bytes);
  sst_session_free(session);
}

/* A failed load leaves the object empty, and it can be filled then. */
TEST(session, session_can_be_loaded_after_a_failed_load) {
  sst_session *session = a_session(SST_TLS1_3, 0), *loaded = sst_session_new();
  const Data bytes = session_bytes(session);
  EXPECT_STATUS(sst_session_load(loaded, bytes.bytes, bytes.len - 1), SST_ERR_BAD_SESSION);
  EXPECT_STATUS(sst_session_load(loaded, bytes.bytes, bytes.len), SST_OK);
  free(bytes.bytes);
  sst_session_free(session);
  sst_session_free(loaded);
}

/* ---- facts ---- */

TEST_VERSIONS(session, info_says_what_and_how_long) {
  const uint64_t before = (uint64_t)time(NULL);
  sst_session *session = a_session(version, 1000);
  sst_session_info info = {.size = sizeof info};
  EXPECT_STATUS(sst_session_get_info(session, &info), SST_OK);
  EXPECT_EQ(info.version, version);
  EXPECT_EQ(info.suite, version == SST_TLS1_3 ? 0x1301 : 0xc02b);
  EXPECT_AT_LEAST(info.created_unix_s, before);
  EXPECT_AT_MOST(info.created_unix_s, time(NULL) + 1);
  EXPECT_AT_MOST(info.expires_unix_s, info.created_unix_s + 1000);
  EXPECT_AT_LEAST(info.expires_unix_s, info.created_unix_s + 970);
  EXPECT_EQ(info.flags, 0);
  EXPECT_EQ(info.max_early_data, 0);
  sst_session_free(session);
}

/* The shorter of both sides' lifetimes holds; two hours where nobody says anything. */
TEST_VERSIONS(session, shorter_lifetime_holds) {
  static const uint32_t lifetimes[][3] = {{100, 1000, 100}, {1000, 100, 100}, {0, 0, 7200}, {604800, 604800, 604800}};
  for (size_t i = 0; i < 4; i++) {
    Resume resume =
        resume_new(version, .server = {.lifetime_s = lifetimes[i][0]}, .client = {.lifetime_s = lifetimes[i][1]});
    sst_session *session = resume_session(&resume);
    sst_session_info info = {.size = sizeof info};
    EXPECT_STATUS(sst_session_get_info(session, &info), SST_OK);
    EXPECT_AT_MOST(info.expires_unix_s - info.created_unix_s, lifetimes[i][2]);
    EXPECT_AT_LEAST(info.expires_unix_s - info.created_unix_s, lifetimes[i][2] - 30);
    sst_session_free(session);
    resume_free(&resume);
  }
}
