/* White-box: a whole 0-RTT connection with each of its allocations failing: it ends in SST_ERR_NO_MEMORY or goes on,
   leaves nothing behind, and gives nothing twice. */
#include <stdlib.h>
#include <string.h>

#include "early.h"
#include "faults.h"

enum { WIRE = 30000, EARLY_LEN = 700, LATE_LEN = 300, ANSWER_LEN = 500, MOST = 4000 };

typedef struct Bytes {
  uint8_t bytes[WIRE];
  size_t begin, end;
} Bytes;

typedef struct Connection {
  Early *early;
  sst_config *client_config, *server_config;
  sst_session *session;
  sst_stream *client, *server;
  Bytes to_server, to_client;
  uint8_t data[EARLY_LEN + LATE_LEN], answer[ANSWER_LEN];
  uint8_t got[MOST], got_answer[MOST]; /* without what was early, with, */
  size_t got_len, got_answer_len, early_len;
  bool refused;
} Connection;

static void prepare(void *context) {
  Connection *connection = context;
  const Data bytes = session_bytes(connection->early->session);
  connection->session = session_loaded(bytes.bytes, bytes.len);
  free(bytes.bytes);
  connection->to_server = connection->to_client = (Bytes){.end = 0};
  connection->got_len = connection->got_answer_len = connection->early_len = 0;
  connection->refused = false;
}

/* ---- the calls; each returns what ends the connection, or SST_OK ---- */

static sst_status shake_hands(sst_stream *stream, Bytes *in, Bytes *out, sst_status *status) {
  sst_progress done;
  *status = sst_stream_handshake(stream, in->bytes + in->begin, in->end - in->begin, out->bytes + out->end,
                                 WIRE - out->end, &done);
  in->begin += done.consumed;
  out->end += done.produced;
  return *status < 0 ? *status : SST_OK;
}

static sst_status send_data(sst_stream *stream, Bytes *out, const uint8_t *data, size_t len) {
  sst_progress done;
  const sst_status status = sst_stream_encrypt(stream, data, len, out->bytes + out->end, WIRE - out->end, &done);
  out->end += done.produced;
  EXPECT(status < 0 || done.consumed == len);
  return status;
}

/* Through a small room, so that a rest is kept. */
static sst_status receive(sst_stream *stream, Bytes *in, uint8_t *got, size_t *got_len, size_t *early_len) {
  for (;;) {
    sst_progress done;
    const size_t room = MOST - *got_len < 400 ? MOST - *got_len : 400;
    const sst_status status =
        sst_stream_decrypt(stream, in->bytes + in->begin, in->end - in->begin, got + *got_len, room, &done);
    in->begin += done.consumed;
    *got_len += done.produced;
    if ((done.flags & SST_EARLY_DATA) != 0) *early_len += done.produced;
    if (status != SST_NEED_OUTPUT) return status == SST_NEED_INPUT ? SST_OK : status;
  }
}

static sst_status client_turn(Connection *connection, bool *open) {
  sst_status status;
  const sst_status failed = shake_hands(connection->client, &connection->to_client, &connection->to_server, &status);
  if (failed != SST_OK) return failed;
  if (status == SST_WANT_EARLY_DATA_RETRY) {
    connection->refused = true;
    return sst_stream_continue_without_early_data(connection->client);
  }
  *open = status == SST_OK;
  return SST_OK;
}

static sst_status server_turn(Connection *connection) {
  sst_status status = SST_OK;
  if ((sst_stream_state(connection->server) & SST_STATE_OPEN) == 0) {
    return shake_hands(connection->server, &connection->to_server, &connection->to_client, &status);
  }
  return receive(connection->server, &connection->to_server, connection->got, &connection->got_len,
                 &connection->early_len);
}

static sst_status make(Connection *connection) {
  sst_status status = sst_stream_new(connection->client_config, SST_ROLE_CLIENT, &connection->client);
  if (status == SST_OK) status = sst_stream_new(connection->server_config, SST_ROLE_SERVER, &connection->server);
  if (status == SST_OK) status = sst_stream_set_verify_time(connection->client, DATA_CLOCK);
  if (status == SST_OK) status = sst_stream_set_verify_time(connection->server, DATA_CLOCK);
  if (status == SST_OK) status = sst_stream_set_server_name(connection->client, "server.test", 11);
  if (status == SST_OK) status = sst_stream_set_session(connection->client, connection->session);
  return status;
}

static sst_status converse(Connection *connection) {
  size_t sent = 0, none = 0;
  bool open = false;
  sst_status status = client_turn(connection, &open);
  if (status == SST_OK && sst_stream_early_data_left(connection->client) > 0) {
    status = send_data(connection->client, &connection->to_server, connection->data, EARLY_LEN);
    sent = EARLY_LEN;
  }
  for (int i = 0; i < 6 && !open && status == SST_OK; i++) {
    status = server_turn(connection);
    if (status == SST_OK && i == 0) status = server_turn(connection);
    if (status == SST_OK) status = client_turn(connection, &open);
  }
  if (status != SST_OK) return status;
  if (connection->refused) sent = 0;
  status = send_data(connection->client, &connection->to_server, connection->data + sent, EARLY_LEN + LATE_LEN - sent);
  for (int i = 0; i < 2 && status == SST_OK; i++)
    status = server_turn(connection);
  if (status == SST_OK) {
    status = send_data(connection->server, &connection->to_client, connection->answer, ANSWER_LEN);
  }
  if (status != SST_OK) return status;
  return receive(connection->client, &connection->to_client, connection->got_answer, &connection->got_answer_len,
                 &none);
}

static sst_status run(void *context) {
  Connection *connection = context;
  const sst_status status = make(connection);
  return status != SST_OK ? status : converse(connection);
}

/* Nothing twice; and nothing lost without an error. */
static void check(void *context, sst_status status) {
  Connection *connection = context;
  EXPECT_AT_MOST(connection->got_len, sizeof connection->data);
  if (connection->got_len > 0)
    EXPECT_BYTES(connection->got, connection->got_len, connection->data, connection->got_len);
  if (connection->refused) EXPECT_EQ(connection->early_len, 0);
  if (status == SST_OK) {
    EXPECT_EQ(connection->got_len, sizeof connection->data);
    EXPECT_BYTES(connection->got_answer, connection->got_answer_len, connection->answer, ANSWER_LEN);
  }
  if (connection->client != NULL) {
    for (sst_session *session; (session = sst_stream_take_session(connection->client)) != NULL;)
      sst_session_free(session);
  }
  sst_stream_free(connection->client);
  sst_stream_free(connection->server);
  connection->client = connection->server = NULL;
  sst_session_free(connection->session);
}

static void every_allocation_fails(EarlyKind kind, const PairOptions *options) {
  static Connection connection;
  Early early = early_prepare(kind, options);
  memset(&connection, 0, sizeof connection);
  connection.early = &early;
  connection.client_config = early.resume.options.client.config;
  connection.server_config = early.resume.options.server.config;
  pattern_fill(connection.data, sizeof connection.data, 5);
  pattern_fill(connection.answer, sizeof connection.answer, 6);
  faults_each(&(Faults){.name = early_name(kind),
                        .context = &connection,
                        .prepare = prepare,
                        .run = run,
                        .check = check,
                        .expected = SST_OK});
  early_free(&early);
}

#define FAULTS(name, kind)                           \
  TEST(early_fault, every_allocation_##name) {       \
    every_allocation_fails(kind, &(PairOptions){0}); \
  }

FAULTS(of_early_data_that_is_taken, EARLY_TAKEN)
FAULTS(of_early_data_that_is_off, EARLY_OFF)
FAULTS(of_early_data_with_hello_retry, EARLY_HELLO_RETRY)
FAULTS(of_early_data_with_another_ticket_key, EARLY_OTHER_KEY)

TEST(early_fault, every_allocation_with_a_client_certificate) {
  every_allocation_fails(EARLY_TAKEN, &(PairOptions){.client = {.credential = "client-p256"},
                                                     .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE}});
}
