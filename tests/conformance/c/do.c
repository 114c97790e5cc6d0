/* Steps under given and when that belong to streams (sections 5 and 6). */
#include <stdlib.h>

#include "world.h"

static void given_plan(World *world, const Match *match) {
  REQUIRE(plan_read(&end_of_role(world, match)->plan, &match->places[1]));
}

static void given_config(World *world, const Match *match) {
  world_describe(world, place_text(match, 0), &match->places[1]);
}

static void set_chunk(World *world, const Match *match) {
  end_of_role(world, match)->side.chunk = chunk_of(place_number(match, 1));
}

static void set_room(World *world, const Match *match) {
  end_of_role(world, match)->side.room = room_of(place_number(match, 1));
}

const Form given_forms[] = {{"a ROLE [CLAUSES]", given_plan},          {"the ROLE CLAUSES", given_plan},
                            {"a config TEXT [CLAUSES]", given_config}, {"ROLE gets N bytes a call", set_chunk},
                            {"ROLE has room for N bytes", set_room},   {NULL, NULL}};

/* Whether the side has got further: a byte taken or sent, or an end. */
static bool take_turn(End *end, bool *may_stall) {
  if (end->handshake_over) return false;
  const size_t taken = end->side.in->taken, sent = end->side.out->len;
  const sst_status status = end_turn(end);
  if (status < 0 || status >= SST_WANT_CLIENT_HELLO) *may_stall = true;
  return end->handshake_over || end->side.in->taken != taken || end->side.out->len != sent;
}

static void both_shake_hands(World *world, const Match *match) {
  (void)match;
  bool may_stall = false; /* a side has failed, or waits for an answer */
  while (!world->client.handshake_over || !world->server.handshake_over) {
    const bool client = take_turn(&world->client, &may_stall), server = take_turn(&world->server, &may_stall);
    if (client || server) continue;
    if (!may_stall) FAIL("stall: both sides wait for input");
    return;
  }
}

static void shakes_hands(World *world, const Match *match) {
  end_turn(end_of_role(world, match));
}

static void encrypts(World *world, const Match *match) {
  size_t len = 0;
  uint8_t *data = place_data(match, 1, &len);
  const sst_status status = side_send(&end_of_role(world, match)->side, data, len);
  free(data);
  REQUIRE_STATUS(status, SST_OK);
}

static void flushes(World *world, const Match *match) {
  REQUIRE_STATUS(side_flush(&end_of_role(world, match)->side), SST_OK);
}

static void flushes_some(World *world, const Match *match) {
  Side *side = &end_of_role(world, match)->side;
  REQUIRE_STATUS(side_call(side, CALL_FLUSH, NULL, 0, place_number(match, 1)), SST_NEED_OUTPUT);
  REQUIRE_EQ(side->progress.produced, place_number(match, 1));
}

static void closes(World *world, const Match *match) {
  REQUIRE_STATUS(side_close(&end_of_role(world, match)->side), SST_OK);
}

static void aborts(World *world, const Match *match) {
  REQUIRE_STATUS(sst_stream_abort(end_of_role(world, match)->side.stream, (int32_t)place_number(match, 1)), SST_OK);
}

static void updates(World *world, const Match *match) {
  REQUIRE_STATUS(sst_stream_key_update(end_of_role(world, match)->side.stream, 0), SST_OK);
}

static void updates_both(World *world, const Match *match) {
  REQUIRE_STATUS(sst_stream_key_update(end_of_role(world, match)->side.stream, 1), SST_OK);
}

static void transport_ends(World *world, const Match *match) {
  REQUIRE_STATUS(sst_stream_input_eof(end_of_role(world, match)->side.stream), SST_OK);
}

static void reloads(World *world, const Match *match) {
  world_reload(world, end_of_role(world, match), &match->places[1]);
}

static void connect_anew(World *world, const Match *match) {
  (void)match;
  world_make_anew(world);
}

const Form when_forms[] = {{"both shake hands", both_shake_hands},
                           {"ROLE shakes hands", shakes_hands},
                           {"ROLE encrypts DATA", encrypts},
                           {"ROLE flushes N bytes", flushes_some},
                           {"ROLE flushes", flushes},
                           {"ROLE closes", closes},
                           {"ROLE aborts with alert N", aborts},
                           {"ROLE updates its keys and asks for more", updates_both},
                           {"ROLE updates its keys", updates},
                           {"the transport to ROLE ends", transport_ends},
                           {"ROLE reloads CLAUSES", reloads},
                           {"ROLE answers ANSWER", answer_given},
                           {"both connect anew", connect_anew},
                           {"ROLE gets N bytes a call", set_chunk},
                           {"ROLE has room for N bytes", set_room},
                           {NULL, NULL}};
