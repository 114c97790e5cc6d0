#include "early.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 40000 };

const char *early_name(EarlyKind kind) {
  static const char *const names[EARLY_KINDS] = {"taken", "off", "HelloRetryRequest", "other ticket key", "other ALPN"};
  return names[kind];
}

static void replace_server(Early *early) {
  SideOptions options = early->resume.options.server;
  sst_ticket_keys *keys = early->kind == EARLY_OTHER_KEY ? sst_ticket_keys_new() : NULL;
  options.config = NULL;
  options.early_data = early->kind != EARLY_OFF;
  if (early->kind == EARLY_HELLO_RETRY) memcpy(options.groups, (uint16_t[8]){23}, sizeof options.groups);
  if (early->kind == EARLY_OTHER_ALPN) options.alpn[0] = "other";
  if (keys != NULL) options.ticket_keys = keys;
  resume_set_config(&early->resume.options.server, pair_config(&options, SST_ROLE_SERVER));
  sst_ticket_keys_free(keys);
}

Early early_prepare(EarlyKind kind, const PairOptions *options) {
  PairOptions both = *options;
  sst_ticket_keys *keys =
      options->server.ticket_keys != NULL ? sst_ticket_keys_ref(options->server.ticket_keys) : sst_ticket_keys_new();
  both.client.early_data = both.server.early_data = 1;
  both.client.report |= 1 << SST_EVENT_EARLY_DATA;
  both.server.report |= 1 << SST_EVENT_EARLY_DATA;
  both.server.ticket_keys = keys;
  memcpy(both.client.groups, (uint16_t[8]){29, 23}, sizeof both.client.groups);
  if (kind == EARLY_OTHER_ALPN) {
    both.client.alpn[0] = both.server.alpn[0] = "one";
    both.client.alpn[1] = "other";
  }
  Early early = {.kind = kind, .resume = resume_make(SST_TLS1_3, &both)};
  early.session = resume_session(&early.resume);
  REQUIRE(early.session != NULL);
  if (kind != EARLY_TAKEN) replace_server(&early);
  early.resume.options.server.ticket_keys = NULL; /* the config keeps them */
  sst_ticket_keys_free(keys);
  return early;
}

void early_start(Early *early) {
  Side *client = &early->pair.client;
  /* A session is offered once: each connection has one of its own. */
  const Data bytes = session_bytes(early->session);
  early->offered = session_loaded(bytes.bytes, bytes.len);
  free(bytes.bytes);
  early->resume.options.client.session = early->offered;
  early->pair = pair_make(&early->resume.options);
  early->started = true;
  REQUIRE_STATUS(side_handshake(client), SST_NEED_INPUT);
  REQUIRE_EQ(client->progress.flags & SST_EARLY_DATA, SST_EARLY_DATA);
  REQUIRE_EQ(sst_stream_early_data_left(client->stream), EARLY_LIMIT);
}

void early_stop(Early *early) {
  if (!early->started) return;
  pair_free(&early->pair);
  sst_session_free(early->offered);
  early->started = false;
}

void early_free(Early *early) {
  early_stop(early);
  sst_session_free(early->session);
  resume_free(&early->resume);
}

Early early_opened(EarlyKind kind, const PairOptions *options) {
  Early early = early_prepare(kind, options);
  early_start(&early);
  return early;
}

uint64_t early_verdict(Side *side) {
  sst_event event = {.size = sizeof event};
  char text[64];
  return side_event(side, SST_EVENT_EARLY_DATA, &event, text, sizeof text) ? event.value : 99;
}

/* ---- a conversation ---- */

typedef struct Talker {
  Side *side;
  bool is_server, in_place;
  size_t gate, room, chunk;
  size_t held;     /* that the last call has left */
  size_t asked[2]; /* the room that the next call must have: to take, to send */
  uint8_t to_send[MOST];
  size_t sent, to_send_len, sent_early;
  uint8_t early[MOST], late[MOST]; /* what came */
  size_t early_len, late_len;
  bool may_send, open, moved;
} Talker;

static void queue_data(Talker *talker, const uint8_t *data, size_t len) {
  REQUIRE(talker->to_send_len + len <= MOST);
  memcpy(talker->to_send + talker->to_send_len, data, len);
  talker->to_send_len += len;
}

static size_t next_room(Talker *talker, bool to_send, size_t plenty) {
  const size_t asked = talker->asked[to_send];
  const size_t room = asked > 0 ? asked : talker->room > 0 ? talker->room : plenty;
  talker->asked[to_send] = 0;
  return room;
}

static void learn_room(Talker *talker, bool to_send, sst_status status, size_t room) {
  const sst_progress *done = &talker->side->progress;
  if (status != SST_NEED_OUTPUT) return;
  talker->moved = true;
  if (done->produced == 0 && done->consumed == 0) {
    REQUIRE(done->needed > room);
    talker->asked[to_send] = done->needed;
  }
}

static void send_some(Talker *talker) {
  const size_t left = talker->to_send_len - talker->sent;
  const size_t room = next_room(talker, true, sst_stream_encrypted_size(talker->side->stream, left));
  const sst_status status = side_call(talker->side, CALL_ENCRYPT, talker->to_send + talker->sent, left, room);
  talker->sent += talker->side->progress.consumed;
  if (!talker->open) talker->sent_early = talker->sent;
  talker->moved |= talker->side->progress.consumed > 0;
  if (status != SST_OK) EXPECT_STATUS(status, SST_NEED_OUTPUT);
  learn_room(talker, true, status, room);
}

static void sort_received(Talker *talker) {
  Side *side = talker->side;
  const bool early = (side->progress.flags & SST_EARLY_DATA) != 0;
  uint8_t *to = early ? talker->early : talker->late;
  size_t *len = early ? &talker->early_len : &talker->late_len;
  REQUIRE(*len + side->received_len <= MOST);
  if (side->received_len > 0) memcpy(to + *len, side->received, side->received_len);
  *len += side->received_len;
  side->received_len = 0;
}

static sst_status open_in_place(Talker *talker, size_t len) {
  Side *side = talker->side;
  sst_range ranges[2];
  size_t used = 0;
  uint8_t *buffer = test_allocate(len + 1);
  if (len > 0) memcpy(buffer, wire_head(side->in), len);
  const sst_status status =
      sst_stream_decrypt_in_place(side->stream, buffer, len, ranges, 1 + test_random_below(2), &used, &side->progress);
  for (size_t i = 0; i < used; i++) {
    side->received = test_reallocate(side->received, side->received_len + ranges[i].length);
    memcpy(side->received + side->received_len, buffer + ranges[i].offset, ranges[i].length);
    side->received_len += ranges[i].length;
  }
  talker->moved |= status == SST_NEED_OUTPUT;
  free(buffer);
  return status;
}

static size_t next_piece(const Talker *talker) {
  const Wire *in = talker->side->in;
  const size_t end = in->len < talker->gate ? in->len : talker->gate;
  const size_t waiting = end > in->taken ? end - in->taken : 0;
  const size_t most = talker->chunk == 0 ? waiting : talker->held + talker->chunk;
  return waiting < most ? waiting : most;
}

static void take_some(Talker *talker) {
  Side *side = talker->side;
  const size_t len = next_piece(talker), held = talker->held;
  const size_t room = next_room(talker, false, talker->open ? len + SST_RECORD_MAX : 65536);
  const bool in_place = talker->open && talker->in_place;
  const sst_status status =
      in_place ? open_in_place(talker, len)
               : side_call(side, talker->open ? CALL_DECRYPT : CALL_HANDSHAKE, wire_head(side->in), len, room);
  side->in->taken += side->progress.consumed;
  talker->held = len - side->progress.consumed;
  talker->moved |= side->progress.consumed > 0 || side->progress.produced > 0 || talker->held > held;
  if (!in_place) learn_room(talker, false, status, room);
  if (talker->open) {
    if (status != SST_NEED_INPUT) EXPECT_STATUS(status, SST_NEED_OUTPUT);
    sort_received(talker);
    return;
  }
  talker->may_send = (side->progress.flags & SST_EARLY_DATA) != 0;
  if (status == SST_WANT_EARLY_DATA_RETRY) {
    EXPECT_STATUS(sst_stream_continue_without_early_data(side->stream), SST_OK);
    talker->sent = 0; /* all of it again */
    talker->moved = true;
  } else if (status == SST_OK) {
    talker->open = talker->may_send = talker->moved = true;
  } else if (status != SST_NEED_OUTPUT) {
    REQUIRE_STATUS(status, SST_NEED_INPUT);
  }
}

static void expect_all(const Early *early, const Talk *talk, const Talker *client, const Talker *server) {
  const bool taken = early->kind == EARLY_TAKEN;
  const size_t behind = taken ? client->sent_early : 0;
  EXPECT_EQ(client->to_send_len, talk->early_len + talk->late_len);
  EXPECT_AT_LEAST(client->sent_early, 1);
  EXPECT_BYTES(server->early, server->early_len, client->to_send, behind);
  EXPECT_BYTES(server->late, server->late_len, client->to_send + behind, client->to_send_len - behind);
  EXPECT_BYTES(client->late, client->late_len, server->to_send, server->to_send_len);
  EXPECT_EQ(client->early_len, 0);
  EXPECT_EQ(sst_stream_state(client->side->stream), SST_STATE_OPEN);
  EXPECT_EQ(sst_stream_state(server->side->stream), SST_STATE_OPEN);
  EXPECT_EQ(info_of(client->side).flags & SST_INFO_EARLY_DATA_ACCEPTED, taken ? SST_INFO_EARLY_DATA_ACCEPTED : 0);
  EXPECT_EQ(info_of(server->side).flags & SST_INFO_EARLY_DATA_ACCEPTED, taken ? SST_INFO_EARLY_DATA_ACCEPTED : 0);
}

static void one_round(Talker *client, Talker *server, const Talk *talk, const uint8_t *late) {
  client->moved = server->moved = false;
  if (client->may_send && client->sent < client->to_send_len) send_some(client);
  take_some(server);
  if (server->may_send && server->sent < server->to_send_len) send_some(server);
  const bool was_open = client->open;
  take_some(client);
  if (client->open && !was_open) queue_data(client, late, talk->late_len);
}

void early_talk(Early *early, const Talk *talk) {
  static Talker client, server;
  static uint8_t data[MOST + 2];
  const bool ours = client.side == NULL; /* not used by two at once */
  REQUIRE(ours);
  client = (Talker){.side = &early->pair.client, .gate = talk->to_client, .may_send = true};
  server =
      (Talker){.side = &early->pair.server, .gate = talk->to_server, .is_server = true, .in_place = talk->in_place};
  client.room = server.room = talk->room;
  client.chunk = server.chunk = talk->chunk;
  pattern_fill(data, sizeof data, 77);
  queue_data(&client, data, talk->early_len);
  queue_data(&server, data + 1, talk->answer_len);
  for (int lifted = 0; lifted < 2 && !test_failed();) {
    one_round(&client, &server, talk, data + 2);
    if (client.moved || server.moved) continue;
    client.gate = server.gate = SIZE_MAX;
    lifted++;
  }
  if (!test_failed()) expect_all(early, talk, &client, &server);
  client.side = NULL;
}
