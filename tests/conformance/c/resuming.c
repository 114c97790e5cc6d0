/* Steps about sessions, the keys of their tickets, and 0-RTT (sections 6 and 7). */
#include "rings.h"

#include <stdlib.h>

static Side *side_of(World *world, const Match *match) {
  return &end_of_role(world, match)->side;
}

static sst_session *the_session(const World *world) {
  if (world->session == NULL) FAIL("there is no session");
  return world->session;
}

static void connect_with_session(World *world, const Match *match) {
  (void)match;
  sst_session *session = the_session(world);
  world_make_anew(world);
  REQUIRE_STATUS(sst_stream_set_session(world->client.side.stream, session), SST_OK);
}

static void connect_with_session_from_bytes(World *world, const Match *match) {
  (void)match;
  uint8_t bytes[32768];
  size_t len = 0;
  REQUIRE_STATUS(sst_session_to_bytes(the_session(world), bytes, sizeof bytes, &len), SST_OK);
  sst_session *loaded = sst_session_new();
  const sst_status status = sst_session_load(loaded, bytes, len);
  world_make_anew(world);
  const sst_status given = status == SST_OK ? sst_stream_set_session(world->client.side.stream, loaded) : status;
  sst_session_free(loaded);
  REQUIRE_STATUS(given, SST_OK);
}

static void may_be_used_again(World *world, const Match *match) {
  (void)match;
  REQUIRE_STATUS(sst_session_set_reusable(the_session(world), 1), SST_OK);
}

static void rotate_ring(World *world, const Match *match) {
  (void)world;
  REQUIRE_STATUS(sst_ticket_keys_rotate(ring_of(place_text(match, 0))), SST_OK);
}

static void replace_ring(World *world, const Match *match) {
  (void)world;
  REQUIRE_STATUS(ring_replace(ring_of(place_text(match, 0)), match, 1), SST_OK);
}

const Form resuming_forms[] = {{"both connect anew with the session", connect_with_session},
                               {"both connect anew with the session from bytes", connect_with_session_from_bytes},
                               {"the session may be used again", may_be_used_again},
                               {"ticket keys TEXT are rotated", rotate_ring},
                               {"ticket keys TEXT are replaced by LIST", replace_ring},
                               {"ticket keys TEXT are taken away", replace_ring},
                               {NULL, NULL}};

/* Facts */

static bool has_flag(World *world, const Match *match, uint32_t flag) {
  return (info_of(side_of(world, match)).flags & flag) != 0;
}

static void has_resumed(World *world, const Match *match) {
  EXPECT(has_flag(world, match, SST_INFO_RESUMED));
}

static void has_not_resumed(World *world, const Match *match) {
  EXPECT(!has_flag(world, match, SST_INFO_RESUMED));
}

static void early_data_was_accepted(World *world, const Match *match) {
  EXPECT(has_flag(world, match, SST_INFO_EARLY_DATA_ACCEPTED));
}

static void early_data_was_not_accepted(World *world, const Match *match) {
  EXPECT(!has_flag(world, match, SST_INFO_EARLY_DATA_ACCEPTED));
}

static void reports_early_data(World *world, const Match *match, uint64_t value) {
  const sst_event *event = events_next(end_of_role(world, match));
  if (event == NULL) FAIL("no event waits");
  EXPECT_EQ(event->kind, SST_EVENT_EARLY_DATA);
  EXPECT_EQ(event->value, value);
}

static void reports_accepted(World *world, const Match *match) {
  reports_early_data(world, match, 1);
}

static void reports_refused(World *world, const Match *match) {
  reports_early_data(world, match, 0);
}

static void may_encrypt_early(World *world, const Match *match) {
  EXPECT_EQ(sst_stream_early_data_left(side_of(world, match)->stream), place_number(match, 1));
}

/* places: ROLE DATA HOW */
static void decrypts_early(World *world, const Match *match) {
  End *end = end_of_role(world, match);
  const size_t before = end->side.early_len;
  size_t len = 0;
  uint8_t *data = place_data(match, 1, &len);
  const sst_status status = match->places[2].count > 0 ? end_decrypt_in_place(end) : side_receive(&end->side);
  EXPECT_RECEIVED(&end->side, data, len);
  free(data);
  EXPECT_EQ(end->side.early_len - before, len);
  REQUIRE_STATUS(status, SST_NEED_INPUT);
}

static void has_got_sessions(World *world, const Match *match) {
  EXPECT_EQ(end_of_role(world, match)->num_sessions, place_number(match, 1));
}

static sst_session_info session_info(const World *world) {
  sst_session_info info = {.size = sizeof info};
  REQUIRE_STATUS(sst_session_get_info(the_session(world), &info), SST_OK);
  return info;
}

static void session_lasts(World *world, const Match *match) {
  const sst_session_info info = session_info(world);
  enum { MAY_HAVE_PASSED = 30 };
  EXPECT_AT_MOST(info.expires_unix_s - info.created_unix_s, place_number(match, 0));
  EXPECT_AT_LEAST(info.expires_unix_s - info.created_unix_s + MAY_HAVE_PASSED, place_number(match, 0));
}

static void session_allows_early_data(World *world, const Match *match) {
  EXPECT_EQ(session_info(world).max_early_data, place_number(match, 0));
}

static void session_is_of_version(World *world, const Match *match) {
  EXPECT_EQ(session_info(world).version, place_version(match, 0));
}

static size_t ticket_size(World *world, const Match *match) {
  uint8_t ticket[32768];
  size_t len = 0;
  REQUIRE_STATUS(sst_stream_ticket(side_of(world, match)->stream, ticket, sizeof ticket, &len), SST_OK);
  return len;
}

static void has_ticket(World *world, const Match *match) {
  EXPECT(ticket_size(world, match) > 0);
}

static void has_no_ticket(World *world, const Match *match) {
  EXPECT_EQ(ticket_size(world, match), 0);
}

const Form session_forms[] = {{"ROLE has resumed", has_resumed},
                              {"ROLE has not resumed", has_not_resumed},
                              {"early data of ROLE was accepted", early_data_was_accepted},
                              {"early data of ROLE was not accepted", early_data_was_not_accepted},
                              {"ROLE reports that early data was accepted", reports_accepted},
                              {"ROLE reports that early data was refused", reports_refused},
                              {"ROLE may encrypt N bytes early", may_encrypt_early},
                              {"ROLE decrypts early DATA HOW", decrypts_early},
                              {"ROLE has got N sessions", has_got_sessions},
                              {"the session lasts N seconds", session_lasts},
                              {"the session allows N bytes of early data", session_allows_early_data},
                              {"the session is of TLS V", session_is_of_version},
                              {"ROLE has a ticket to open", has_ticket},
                              {"ROLE has no ticket to open", has_no_ticket},
                              {NULL, NULL}};
