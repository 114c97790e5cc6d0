/* Steps under then about what is received and refused (section 7). */
#include <stdlib.h>
#include <string.h>

#include "world.h"

static uint32_t state_of(const End *end) {
  return sst_stream_state(end->side.stream);
}

static bool place_ends_with(const Match *match, size_t place, const char *word) {
  const Place *at = &match->places[place];
  return at->count > 0 && token_is(&at->list[at->count - 1], word);
}

static sst_status expected_end(const Match *match, size_t place) {
  if (match->places[place].count == 0) return SST_NEED_INPUT;
  if (place_ends_with(match, place, "closed")) return SST_CLOSED;
  if (place_ends_with(match, place, "truncated")) return SST_ERR_TRUNCATED;
  return place_code(match, place);
}

/* places: ROLE DATA HOW END */
static void decrypts(World *world, const Match *match) {
  End *end = end_of_role(world, match);
  size_t len = 0;
  uint8_t *data = place_data(match, 1, &len);
  const bool in_place = match->places[2].count > 0;
  const sst_status status = in_place ? end_decrypt_in_place(end) : side_receive(&end->side);
  EXPECT_RECEIVED(&end->side, data, len);
  free(data);
  REQUIRE_STATUS(status, expected_end(match, 3));
}

static void waits(World *world, const Match *match) {
  const Wire *wire = end_of_role(world, match)->side.in;
  size_t len = 0;
  uint8_t *data = place_data(match, 0, &len);
  const bool same = EXPECT_BYTES(wire_head(wire), wire_waiting(wire), data, len);
  free(data);
  test_require(same);
}

static void records_wait(World *world, const Match *match) {
  const Wire *wire = end_of_role(world, match)->side.in;
  const size_t count = records_parse(wire_head(wire), wire_waiting(wire), NULL, 0);
  Record *records = test_allocate(count * sizeof *records);
  records_parse(wire_head(wire), wire_waiting(wire), records, count);
  const size_t end = count == 0 ? 0 : records[count - 1].offset + RECORD_HEADER + records[count - 1].length;
  free(records);
  EXPECT_EQ(wire_waiting(wire), end);
  REQUIRE_EQ(count, place_number(match, 0));
}

static void is_open(World *world, const Match *match) {
  const End *end = end_of_role(world, match);
  REQUIRE((state_of(end) & SST_STATE_OPEN) != 0);
  REQUIRE((state_of(end) & SST_STATE_FAILED) == 0);
  if (match->num_places > 1) REQUIRE_EQ(info_of(&end->side).version, place_version(match, 1));
}

/* Refused calls: the code, and nothing done */

static void refused(World *world, const Match *match, Call call, const uint8_t *in, size_t in_len, size_t code) {
  Side *side = &end_of_role(world, match)->side;
  const bool encrypts = call == CALL_ENCRYPT;
  const size_t room = encrypts ? sst_stream_encrypted_size(side->stream, in_len) : 65536;
  EXPECT_STATUS(side_call(side, call, in, in_len, room), place_code(match, code));
  if (encrypts) EXPECT_EQ(side->progress.consumed, 0);
  if (encrypts) EXPECT_EQ(side->progress.produced, 0);
}

static void encrypting_fails(World *world, const Match *match) {
  size_t len = 0;
  uint8_t *data = place_data(match, 1, &len);
  refused(world, match, CALL_ENCRYPT, data, len, 2);
  free(data);
}

static void decrypting_fails(World *world, const Match *match) {
  refused(world, match, CALL_DECRYPT, NULL, 0, 1);
}

static void shaking_hands_fails(World *world, const Match *match) {
  refused(world, match, CALL_HANDSHAKE, NULL, 0, 1);
}

static void closing_fails(World *world, const Match *match) {
  refused(world, match, CALL_CLOSE, NULL, 0, 1);
}

static void aborting_fails(World *world, const Match *match) {
  sst_stream *stream = end_of_role(world, match)->side.stream;
  EXPECT_STATUS(sst_stream_abort(stream, (int32_t)place_number(match, 1)), place_code(match, 2));
}

static void updating_fails(World *world, const Match *match) {
  EXPECT_STATUS(sst_stream_key_update(end_of_role(world, match)->side.stream, 0), place_code(match, 1));
}

/* places: ROLE [CLAUSES] CODE, and TEXT of the message */
static void is_refused(World *world, const Match *match) {
  Plan plan = {NULL, 0};
  Making making;
  REQUIRE(plan_read(&plan, &match->places[1]));
  const int32_t role = place_is_server(match, 0) ? SST_ROLE_SERVER : SST_ROLE_CLIENT;
  const sst_status status = plan_carry_out(&plan, role, world->version, &making);
  plan_free(&plan);
  sst_stream_free(making.stream);
  sst_config_free(making.config);
  EXPECT_STATUS(status, place_code(match, 2));
  if (match->num_places > 3) EXPECT_CONTAINS(making.error.message, place_text(match, 3)->text);
}

/* The connection before this one */

static void carries(Side *from, Side *to, const uint8_t *data, size_t len) {
  REQUIRE_STATUS(side_send(from, data, len), SST_OK);
  REQUIRE_STATUS(side_receive(to), SST_NEED_INPUT);
  EXPECT_RECEIVED(to, data, len);
}

static void old_carries(World *world, const Match *match) {
  size_t len = 0;
  REQUIRE(world->client.old.stream != NULL);
  uint8_t *data = place_data(match, 0, &len);
  carries(&world->client.old, &world->server.old, data, len);
  carries(&world->server.old, &world->client.old, data, len);
  free(data);
}

/* Failures */

/* The next call, without input, of the half that the stream is in. */
static sst_status next_call(End *end) {
  const Call call = (state_of(end) & SST_STATE_OPEN) != 0 ? CALL_DECRYPT : CALL_HANDSHAKE;
  return side_call(&end->side, call, NULL, 0, 65536);
}

static void fails_with(World *world, const Match *match) {
  End *end = end_of_role(world, match);
  REQUIRE_STATUS(error_of(&end->side).code, place_code(match, 1));
  REQUIRE_STATUS(next_call(end), place_code(match, 1));
}

static bool is_one_of(const Match *match, size_t place, int32_t alert) {
  const Place *at = &match->places[place];
  for (size_t i = 0; i < at->count; i++) {
    unsigned long number = 0;
    if (token_number(&at->list[i], &number) && number == (unsigned long)alert) return true;
  }
  return false;
}

static void alert_reaches(World *world, const Match *match) {
  End *end = end_of_role(world, match), *other = other_end(world, end);
  REQUIRE_STATUS(side_flush(&other->side), SST_OK);
  sst_status status = SST_OK;
  if ((state_of(end) & SST_STATE_OPEN) == 0) status = end_turn(end);
  if (status == SST_OK) status = side_receive(&end->side);
  EXPECT_EQ(end->side.received_len, 0);
  const sst_error error = error_of(&end->side);
  if (!is_one_of(match, 0, error.alert_received))
    FAIL("alert %d was received (%s)", error.alert_received, sst_status_name(status));
  EXPECT_STATUS(status, SST_ERR_ALERT_RECEIVED - error.alert_received);
  EXPECT_STATUS(error.code, status);
  EXPECT_EQ(error.alert_sent, -1);
  EXPECT_EQ(error_of(&other->side).alert_sent, error.alert_received);
}

static void sends_no_alert(World *world, const Match *match) {
  const End *end = end_of_role(world, match);
  EXPECT_EQ(error_of(&end->side).alert_sent, -1);
  EXPECT_EQ(sst_stream_output_size(end->side.stream), 0);
}

static void reasons_are(World *world, const Match *match) {
  EXPECT_EQ(error_of(&end_of_role(world, match)->side).reasons, place_reasons(match, 1));
}

static void has_no_reasons(World *world, const Match *match) {
  EXPECT_EQ(error_of(&end_of_role(world, match)->side).reasons, 0);
}

static void hint_contains(World *world, const Match *match) {
  const sst_error error = error_of(&end_of_role(world, match)->side);
  EXPECT_CONTAINS(sst_status_hint(error.code), place_text(match, 1)->text);
}

static void message_contains(World *world, const Match *match) {
  EXPECT_CONTAINS(error_of(&end_of_role(world, match)->side).message, place_text(match, 1)->text);
}

const Form then_forms[] = {{"ROLE decrypts DATA HOW END", decrypts},
                           {"N records wait for ROLE", records_wait},
                           {"DATA waits for ROLE", waits},
                           {"ROLE is open", is_open},
                           {"ROLE is open with TLS V", is_open},
                           {"ROLE encrypting DATA fails with CODE", encrypting_fails},
                           {"ROLE decrypting fails with CODE", decrypting_fails},
                           {"ROLE shaking hands fails with CODE", shaking_hands_fails},
                           {"ROLE closing fails with CODE", closing_fails},
                           {"ROLE aborting with alert N fails with CODE", aborting_fails},
                           {"ROLE updating its keys fails with CODE", updating_fails},
                           {"a ROLE [CLAUSES] is refused with CODE", is_refused},
                           {"a ROLE [CLAUSES] is refused with CODE and says TEXT", is_refused},
                           {"the old connection carries DATA", old_carries},
                           {"ROLE fails with CODE", fails_with},
                           {"alert ALERTS reaches ROLE", alert_reaches},
                           {"ROLE sends no alert", sends_no_alert},
                           {"reasons of ROLE are LIST", reasons_are},
                           {"ROLE has no reasons", has_no_reasons},
                           {"message of ROLE contains TEXT", message_contains},
                           {"hint of ROLE contains TEXT", hint_contains},
                           {NULL, NULL}};
