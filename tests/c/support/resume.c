#include "resume.h"

#include <stdlib.h>

Resume resume_make(uint16_t version, const PairOptions *options) {
  Resume resume = {.options = *options};
  SideOptions *server = &resume.options.server, *client = &resume.options.client;
  if (server->tickets == 0) server->tickets = TICKETS_BY_DEFAULT;
  client->report |= SESSIONS;
  client->max_version = version;
  server->config = pair_config(server, SST_ROLE_SERVER);
  client->config = pair_config(client, SST_ROLE_CLIENT);
  return resume;
}

void resume_free(Resume *resume) {
  sst_config_free(resume->options.server.config);
  sst_config_free(resume->options.client.config);
}

void resume_set_config(SideOptions *side, sst_config *config) {
  sst_config_free(side->config);
  side->config = config;
}

void resume_deliver(Pair *pair) {
  EXPECT_STATUS(side_flush(&pair->server), SST_OK);
  EXPECT_STATUS(side_receive(&pair->client), SST_NEED_INPUT);
  EXPECT_EQ(pair->client.received_len, 0);
}

sst_session *resume_session(Resume *resume) {
  Pair pair = pair_opened(&resume->options);
  EXPECT(!resumed(&pair));
  resume_deliver(&pair);
  sst_session *session = sst_stream_take_session(pair.client.stream);
  pair_free(&pair);
  return session;
}

bool resumed(const Pair *pair) {
  const bool client = (info_of(&pair->client).flags & SST_INFO_RESUMED) != 0;
  EXPECT_EQ((info_of(&pair->server).flags & SST_INFO_RESUMED) != 0, client);
  return client;
}

bool resume_with(Resume *resume, sst_session *session) {
  PairOptions options = resume->options;
  options.client.session = session;
  Pair pair = pair_opened(&options);
  const bool is_resumed = resumed(&pair);
  pair_echo(&pair, 1000);
  pair_free(&pair);
  return is_resumed;
}

Data session_bytes(const sst_session *session) {
  Data data = {NULL, 0};
  EXPECT_STATUS(sst_session_to_bytes(session, NULL, 0, &data.len), SST_NEED_OUTPUT);
  data.bytes = test_allocate(data.len);
  REQUIRE_STATUS(sst_session_to_bytes(session, data.bytes, data.len, &data.len), SST_OK);
  return data;
}

sst_session *session_loaded(const void *bytes, size_t len) {
  sst_session *session = sst_session_new();
  REQUIRE_STATUS(sst_session_load(session, bytes, len), SST_OK);
  return session;
}
