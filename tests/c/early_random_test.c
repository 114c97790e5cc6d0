/*
 * Random 0-RTT connections against a model of them: the client may send while it is told so, the server reads, answers
 * and closes when it likes, calls get any piece and any room. What was sent early comes early, once, or, refused, not at
 * all until it is sent again.
 */
#include <stdlib.h>
#include <string.h>

#include "early.h"

enum { MOST = 60000, ROUNDS = 3000 };

typedef struct Text {
  uint8_t bytes[MOST];
  size_t len;
} Text;

static struct Walk {
  Early early;
  Text data, answer;              /* all that a side ever says, in order */
  size_t sent, answered;          /* how much of it is encrypted */
  size_t early_sent;              /* of that, before the handshake was over */
  Text came_early, came, replies; /* what the other side has read */
  bool refused, client_open, server_open, server_closed, client_sees_close;
} walk;

static void add(Text *text, Side *side) {
  REQUIRE(text->len + side->received_len <= MOST);
  if (side->received_len > 0) memcpy(text->bytes + text->len, side->received, side->received_len);
  text->len += side->received_len;
  side->received_len = 0;
}

static size_t any_size(void) {
  static const uint32_t limits[] = {1, 2, 30, 400, 3000, 40000};
  return test_random_below(limits[test_random_below(6)] + 1);
}

static size_t any_piece(const Side *side) {
  const size_t waiting = wire_waiting(side->in);
  const size_t piece = test_random_below(3) == 0 ? any_size() : waiting;
  return piece < waiting ? piece : waiting;
}

static bool is_early(const Side *side) {
  return (side->progress.flags & SST_EARLY_DATA) != 0;
}

static void client_shakes_hands(Side *client) {
  const sst_status status = side_call(client, CALL_HANDSHAKE, wire_head(client->in), any_piece(client), any_size());
  client->in->taken += client->progress.consumed;
  if (status == SST_WANT_EARLY_DATA_RETRY) {
    EXPECT(walk.early.kind != EARLY_TAKEN);
    EXPECT(walk.early_sent > 0);
    EXPECT(!is_early(client));
    walk.refused = true;
    walk.sent = walk.early_sent = 0;
    if (test_random_below(2) == 0) EXPECT_STATUS(sst_stream_continue_without_early_data(client->stream), SST_OK);
    return;
  }
  if (status == SST_OK) {
    walk.client_open = true;
    EXPECT(!is_early(client));
    if (!walk.refused) EXPECT(walk.early_sent == 0 || walk.early.kind == EARLY_TAKEN);
    return;
  }
  if (status != SST_NEED_INPUT) EXPECT_STATUS(status, SST_NEED_OUTPUT);
}

static void client_encrypts(Side *client) {
  const size_t rest = walk.data.len - walk.sent, size = any_size();
  const size_t len = size < rest ? size : rest, left = sst_stream_early_data_left(client->stream);
  const sst_status status = side_call(client, CALL_ENCRYPT, walk.data.bytes + walk.sent, len, any_size());
  const size_t consumed = client->progress.consumed;
  if (!walk.client_open) {
    EXPECT_EQ(sst_stream_early_data_left(client->stream), left - consumed);
    if (!is_early(client)) EXPECT_EQ(left, 0);
    if (!is_early(client) || len > left) EXPECT_STATUS(status, SST_ERR_STATE);
    walk.early_sent += consumed;
  }
  if (status == SST_ERR_STATE) EXPECT(!walk.client_open && consumed == 0);
  if (status != SST_OK && status != SST_ERR_STATE) EXPECT_STATUS(status, SST_NEED_OUTPUT);
  walk.sent += consumed;
}

static void client_decrypts(Side *client) {
  const sst_status status = side_call(client, CALL_DECRYPT, wire_head(client->in), any_piece(client), any_size());
  client->in->taken += client->progress.consumed;
  EXPECT(!is_early(client));
  add(&walk.replies, client);
  if (status == SST_CLOSED) {
    EXPECT(walk.server_closed);
    walk.client_sees_close = true;
  } else if (status != SST_NEED_INPUT) {
    EXPECT_STATUS(status, SST_NEED_OUTPUT);
  }
}

static void server_shakes_hands(Side *server) {
  const sst_status status = side_call(server, CALL_HANDSHAKE, wire_head(server->in), any_piece(server), any_size());
  server->in->taken += server->progress.consumed;
  if (status == SST_OK) {
    walk.server_open = true;
    EXPECT_EQ(is_early(server), walk.early.kind == EARLY_TAKEN);
  } else if (status != SST_NEED_INPUT) {
    EXPECT_STATUS(status, SST_NEED_OUTPUT);
  }
}

static void server_decrypts_in_place(Side *server) {
  const size_t len = any_piece(server);
  sst_range ranges[3];
  size_t used = 0;
  uint8_t *buffer = test_allocate(len + 1);
  if (len > 0) memcpy(buffer, wire_head(server->in), len);
  const sst_status status =
      sst_stream_decrypt_in_place(server->stream, buffer, len, ranges, test_random_below(4), &used, &server->progress);
  server->in->taken += server->progress.consumed;
  for (size_t i = 0; i < used; i++) {
    server->received = test_reallocate(server->received, server->received_len + ranges[i].length);
    memcpy(server->received + server->received_len, buffer + ranges[i].offset, ranges[i].length);
    server->received_len += ranges[i].length;
  }
  if (status == SST_ERR_STATE) EXPECT_EQ(server->progress.consumed, 0);
  if (status != SST_ERR_STATE && status != SST_NEED_INPUT) EXPECT_STATUS(status, SST_NEED_OUTPUT);
  free(buffer);
}

static void server_decrypts(Side *server) {
  if (test_random_below(3) == 0) {
    server_decrypts_in_place(server);
  } else {
    const sst_status status = side_call(server, CALL_DECRYPT, wire_head(server->in), any_piece(server), any_size());
    server->in->taken += server->progress.consumed;
    if (status != SST_NEED_INPUT) EXPECT_STATUS(status, SST_NEED_OUTPUT);
  }
  add(is_early(server) ? &walk.came_early : &walk.came, server);
}

static void server_encrypts(Side *server) {
  const size_t rest = walk.answer.len - walk.answered, size = any_size();
  const sst_status status =
      side_call(server, CALL_ENCRYPT, walk.answer.bytes + walk.answered, size < rest ? size : rest, any_size());
  walk.answered += server->progress.consumed;
  if (walk.server_closed) {
    EXPECT_STATUS(status, SST_ERR_CLOSED);
  } else if (status != SST_OK) {
    EXPECT_STATUS(status, SST_NEED_OUTPUT);
  }
}

static void server_closes(Side *server) {
  const sst_status status = side_call(server, CALL_CLOSE, NULL, 0, any_size());
  if (status != SST_OK) EXPECT_STATUS(status, SST_NEED_OUTPUT);
  walk.server_closed = true;
}

static void one_step(Side *client, Side *server) {
  const uint32_t step = test_random_below(100);
  if (step < 35) {
    client_encrypts(client);
  } else if (step < 55) {
    if (!walk.client_open) {
      if (walk.refused) (void)sst_stream_continue_without_early_data(client->stream);
      client_shakes_hands(client);
    } else {
      client_decrypts(client);
    }
  } else if (step < 80) {
    if (!walk.server_open) {
      server_shakes_hands(server);
    } else {
      server_decrypts(server);
    }
  } else if (step < 95) {
    if (walk.server_open) server_encrypts(server);
  } else if (step < 99) {
    const sst_status status = side_call(step < 97 ? client : server, CALL_FLUSH, NULL, 0, any_size());
    if (status != SST_OK) EXPECT_STATUS(status, SST_NEED_OUTPUT);
  } else if (walk.server_open && test_random_below(4) == 0) {
    server_closes(server);
  }
}

/* What has come so far is the begin of what was sent, each byte once. */
static void compare(void) {
  const size_t early = walk.came_early.len;
  EXPECT_AT_MOST(early, walk.early.kind == EARLY_TAKEN ? walk.early_sent : 0);
  EXPECT_BYTES(walk.came_early.bytes, early, walk.data.bytes, early);
  if (walk.came.len > 0) EXPECT_EQ(early, walk.early.kind == EARLY_TAKEN ? walk.early_sent : 0);
  EXPECT_AT_MOST(early + walk.came.len, walk.sent);
  EXPECT_BYTES(walk.came.bytes, walk.came.len, walk.data.bytes + early, walk.came.len);
  EXPECT_AT_MOST(walk.replies.len, walk.answered);
  EXPECT_BYTES(walk.replies.bytes, walk.replies.len, walk.answer.bytes, walk.replies.len);
}

/* Nothing but reading, until all is there. */
static void finish(Side *client, Side *server) {
  for (int i = 0; i < 200 && !test_failed(); i++) {
    if (walk.refused) (void)sst_stream_continue_without_early_data(client->stream);
    if (!walk.client_open) {
      client_shakes_hands(client);
      if (client->status == SST_NEED_OUTPUT) (void)side_flush(client);
    } else {
      client_decrypts(client);
    }
    if (!walk.server_open) {
      server_shakes_hands(server);
    } else {
      server_decrypts(server);
    }
    (void)side_flush(server);
    (void)side_flush(client);
  }
}

static void run(EarlyKind kind) {
  Early early = early_prepare(kind, &(PairOptions){.first = 0});
  for (int i = 0; i < 60 && !test_failed(); i++) {
    test_note("%s, connection %d", early_name(kind), i);
    early_start(&early);
    walk = (struct Walk){.early = early, .data.len = MOST, .answer.len = MOST};
    pattern_fill(walk.data.bytes, MOST, test_random());
    pattern_fill(walk.answer.bytes, MOST, test_random());
    walk.data.len = 1 + test_random_below(30000);
    walk.answer.len = 1 + test_random_below(30000);
    Side *client = &early.pair.client, *server = &early.pair.server;
    const int steps = 1 + (int)test_random_below(ROUNDS);
    for (int k = 0; k < steps && !test_failed(); k++) {
      one_step(client, server);
      compare();
    }
    finish(client, server);
    compare();
    EXPECT_EQ(walk.came_early.len + walk.came.len, walk.sent);
    EXPECT_EQ(walk.replies.len, walk.answered);
    EXPECT_EQ(walk.client_sees_close, walk.server_closed);
    early_stop(&early);
  }
  early_free(&early);
}

TEST(early_random, walks_with_early_data_that_is_taken) {
  run(EARLY_TAKEN);
}

TEST(early_random, walks_with_early_data_that_is_refused) {
  for (EarlyKind kind = EARLY_OFF; kind < EARLY_KINDS; kind++)
    run(kind);
}
