/* handshake: two streams of shared configs, from nothing to OK on both sides. */
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "pair.h"

enum { ROOM = 65536 };

struct Work {
  const Case *what;
  sst_config *client, *server;
  uint8_t *to_server, *to_client;
};

static Work *begin(const Case *what) {
  SideOptions client = {.min_version = what->version, .max_version = what->version, .minimum_rsa = what->minimum_rsa},
              server = client;
  memcpy(client.groups, what->groups, sizeof client.groups);
  memcpy(server.groups, what->groups, sizeof server.groups);
  server.credential = what->leaf;
  if (what->client[0] != '\0') {
    client.credential = what->client;
    server.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE;
  }
  Work *work = test_allocate(sizeof *work);
  *work = (Work){what, pair_config(&client, SST_ROLE_CLIENT), pair_config(&server, SST_ROLE_SERVER),
                 test_allocate(ROOM), test_allocate(ROOM)};
  return work;
}

static void end(Work *work) {
  sst_config_free(work->client);
  sst_config_free(work->server);
  free(work->to_server);
  free(work->to_client);
  free(work);
}

/* One step of a side: all of in, and what it answers. */
static size_t step(sst_stream *stream, const uint8_t *in, size_t in_len, uint8_t *out, bool *open) {
  sst_progress done;
  const sst_status status = sst_stream_handshake(stream, in, in_len, out, ROOM, &done);
  if (status != SST_OK && status != SST_NEED_INPUT) FAIL("handshake gave %s", sst_status_name(status));
  REQUIRE_EQ(done.consumed, in_len);
  *open = status == SST_OK;
  return done.produced;
}

static void shake_hands(Work *work) {
  sst_stream *client = NULL, *server = NULL;
  REQUIRE_STATUS(sst_stream_new(work->client, SST_ROLE_CLIENT, &client), SST_OK);
  REQUIRE_STATUS(sst_stream_new(work->server, SST_ROLE_SERVER, &server), SST_OK);
  REQUIRE_STATUS(sst_stream_set_verify_time(client, DATA_CLOCK), SST_OK);
  REQUIRE_STATUS(sst_stream_set_verify_time(server, DATA_CLOCK), SST_OK);
  REQUIRE_STATUS(sst_stream_set_server_name(client, "server.test", 11), SST_OK);
  bool client_open = false, server_open = false;
  size_t to_client = 0, to_server = 0;
  for (int turn = 0; !client_open || !server_open; turn++) {
    REQUIRE(turn < 4);
    if (!client_open) to_server = step(client, work->to_client, to_client, work->to_server, &client_open);
    if (!server_open) to_client = step(server, work->to_server, to_server, work->to_client, &server_open);
  }
  sst_stream_free(client);
  sst_stream_free(server);
}

static void pass(Work *work, uint64_t n) {
  for (uint64_t i = 0; i < n; i++)
    shake_hands(work);
}

static uint64_t bytes(const Case *what) {
  (void)what;
  return 0;
}

const Kind kind_handshake = {"handshake", begin, end, pass, bytes};
