#include "world.h"

#include "rings.h"

#include <stdlib.h>
#include <string.h>

End *end_of_role(World *world, const Match *match) {
  for (size_t i = 0; i < match->num_places; i++) {
    const Token *token = match->places[i].list;
    if (token_is(token, "client")) return &world->client;
    if (token_is(token, "server")) return &world->server;
  }
  FAIL("a form without a role");
}

End *other_end(World *world, const End *end) {
  return end == &world->client ? &world->server : &world->client;
}

size_t chunk_of(unsigned long number) {
  return number == 0 ? SIDE_NOTHING : number;
}

size_t room_of(unsigned long number) {
  return number == 0 ? SIDE_LEARN : number;
}

static size_t chunk_of_value(const char *value) {
  if (value == NULL || strcmp(value, "whole") == 0) return 0;
  return strcmp(value, "byte") == 0 ? 1 : chunk_of(strtoul(value, NULL, 10));
}

static size_t room_of_value(const char *value) {
  if (value == NULL || strcmp(value, "plenty") == 0) return 0;
  return room_of(strtoul(value, NULL, 10));
}

/* Keeps a copy of what a side has sent. */
static void keep_sent(uint8_t *bytes, size_t len, size_t offset, void *sent) {
  (void)offset;
  wire_insert(sent, bytes, len);
}

static void lay_wires(World *world) {
  Wire *to_server = wire_new(), *to_client = wire_new();
  world->client.side = (Side){.label = "client", .in = to_client, .out = to_server};
  world->server.side = (Side){.label = "server", .in = to_server, .out = to_client};
  End *const ends[] = {&world->client, &world->server};
  for (int i = 0; i < 2; i++) {
    ends[i]->sent = wire_new();
    ends[i]->side.out->in_flight = keep_sent;
    ends[i]->side.out->context = ends[i]->sent;
  }
}

void world_begin(World *world, const char *version, const char *chunk, const char *room) {
  *world = (World){.made = false};
  if (version != NULL) world->version = strcmp(version, "1.2") == 0 ? SST_TLS1_2 : SST_TLS1_3;
  lay_wires(world);
  End *const ends[] = {&world->client, &world->server};
  for (int i = 0; i < 2; i++) {
    ends[i]->side.chunk = chunk_of_value(chunk);
    ends[i]->side.room = room_of_value(room);
  }
}

static void keep_made(End *end, const Making *making) {
  end->side.config = making->config;
  end->side.stream = making->stream;
  end->side.leave_partial = making->leave_partial;
}

static void make_end(World *world, End *end, int32_t role) {
  Making making;
  REQUIRE_STATUS(plan_carry_out(&end->plan, role, world->version, &making), SST_OK);
  end->reported = making.events;
  keep_made(end, &making);
}

void world_make(World *world) {
  if (world->made) return;
  world->made = true;
  make_end(world, &world->client, SST_ROLE_CLIENT);
  make_end(world, &world->server, SST_ROLE_SERVER);
}

static void side_free(Side *side) {
  sst_stream_free(side->stream);
  sst_config_free(side->config);
  free(side->received);
  if (side->out != NULL) wire_free(side->out);
  *side = (Side){.label = NULL};
}

/* The side becomes the old one, without the config and with the wires that it has; what was seen of it is forgotten. */
static void lay_aside(End *end) {
  side_free(&end->old);
  end->old = end->side;
  end->old.config = NULL;
  end->old.out->in_flight = NULL;
  wire_free(end->sent);
  events_free(&end->events);
  end->events = (Events){.count = 0};
  end->forger = (Forger){.begun = false};
  end->opened_at = 0;
  end->handshake_over = end->open = false;
  end->num_sessions = 0;
}

void world_make_anew(World *world) {
  End *const ends[] = {&world->client, &world->server};
  const Side before[] = {ends[0]->side, ends[1]->side};
  lay_aside(ends[0]);
  lay_aside(ends[1]);
  lay_wires(world);
  for (int i = 0; i < 2; i++) {
    Side *side = &ends[i]->side;
    side->chunk = before[i].chunk;
    side->room = before[i].room;
    side->config = before[i].config;
    Making making = {.role = i == 0 ? SST_ROLE_CLIENT : SST_ROLE_SERVER, .config = side->config};
    const sst_status status = plan_make_stream(&ends[i]->plan, &making);
    keep_made(ends[i], &making);
    REQUIRE_STATUS(status, SST_OK);
  }
}

void world_reload(World *world, End *end, const Place *clauses) {
  Plan more = {NULL, 0};
  REQUIRE(plan_read(&more, clauses));
  Making making = {.role = end == &world->client ? SST_ROLE_CLIENT : SST_ROLE_SERVER, .events = end->reported};
  const sst_status status = plan_reload(&more, end->side.config, &making);
  plan_free(&more);
  REQUIRE(plan_read(&end->plan, clauses));
  sst_config_free(end->side.config);
  end->side.config = making.config;
  end->reported = making.events;
  if (status != SST_OK) FAIL("reload: %s: %s", sst_status_name(status), making.error.message);
}

static const Described *find_described(const World *world, const Token *name) {
  for (size_t i = 0; i < world->num_configs; i++)
    if (token_is(world->configs[i].name, name->text)) return &world->configs[i];
  return NULL;
}

void world_describe(World *world, const Token *name, const Place *clauses) {
  if (find_described(world, name) != NULL) FAIL("there is a config '%s' already", name->text);
  world->configs = test_reallocate(world->configs, (world->num_configs + 1) * sizeof *world->configs);
  Described *described = &world->configs[world->num_configs++];
  *described = (Described){.name = name};
  REQUIRE(plan_read(&described->plan, clauses));
}

const Plan *world_described(const World *world, const Token *name) {
  const Described *described = find_described(world, name);
  if (described == NULL) FAIL("there is no config '%s'", name->text);
  return &described->plan;
}

void world_end(World *world) {
  for (size_t i = 0; i < world->num_configs; i++)
    plan_free(&world->configs[i].plan);
  free(world->configs);
  sst_session_free(world->session);
  rings_free();
  End *const ends[] = {&world->client, &world->server};
  for (int i = 0; i < 2; i++) {
    side_free(&ends[i]->side);
    side_free(&ends[i]->old);
    wire_free(ends[i]->sent);
    plan_free(&ends[i]->plan);
    events_free(&ends[i]->events);
  }
}

/* Events */

/* The newest session stands for all. */
static void take_sessions(World *world, End *end) {
  for (sst_session *session = NULL; (session = sst_stream_take_session(end->side.stream)) != NULL;) {
    end->num_sessions++;
    sst_session_free(world->session);
    world->session = session;
  }
}

static void keep_event(Events *events, const sst_event *event, const char *text) {
  if (event->kind == SST_EVENT_SESSION) return;
  if (event->kind != SST_EVENT_KEY_LOG) {
    events->list = test_reallocate(events->list, (events->count + 1) * sizeof *events->list);
    events->list[events->count++] = *event;
    return;
  }
  events->lines = test_reallocate(events->lines, (events->num_lines + 1) * sizeof *events->lines);
  char *line = test_allocate(event->length + 1);
  memcpy(line, text, event->length);
  line[event->length] = '\0';
  events->lines[events->num_lines++] = line;
}

void events_take(World *world, End *end) {
  if (end->side.stream == NULL) return;
  take_sessions(world, end);
  for (;;) {
    char text[1024];
    sst_event event = {.size = sizeof event};
    const sst_status status = sst_stream_next_event(end->side.stream, &event, (uint8_t *)text, sizeof text);
    if (status == SST_NONE) return;
    REQUIRE_STATUS(status, SST_OK);
    EXPECT_EQ(event.lost, 0);
    keep_event(&end->events, &event, text);
  }
}

void events_free(Events *events) {
  for (size_t i = 0; i < events->num_lines; i++)
    free(events->lines[i]);
  free(events->lines);
  free(events->list);
}

const sst_event *events_next(End *end) {
  Events *events = &end->events;
  return events->taken == events->count ? NULL : &events->list[events->taken++];
}

/* Steps of the receiving side */

sst_status end_turn(End *end) {
  const sst_status status = side_handshake(&end->side);
  end->handshake_over = status == SST_OK || status < 0;
  if (status == SST_OK && !end->open) {
    end->open = true;
    end->opened_at = end->sent->len;
  }
  return status;
}

static void keep_ranges(Side *side, const uint8_t *buffer, size_t len, const sst_range *ranges, size_t used) {
  for (size_t i = 0; i < used; i++) {
    REQUIRE(ranges[i].offset <= len && ranges[i].length <= len - ranges[i].offset);
    side->received = test_reallocate(side->received, side->received_len + ranges[i].length);
    memcpy(side->received + side->received_len, buffer + ranges[i].offset, ranges[i].length);
    side->received_len += ranges[i].length;
  }
}

/* One call with at most cap ranges. */
static sst_status decrypt_in_place(Side *side, size_t len, size_t cap) {
  uint8_t *buffer = test_allocate(len);
  sst_range *ranges = test_allocate(cap * sizeof *ranges);
  size_t used = 0;
  if (len > 0) memcpy(buffer, wire_head(side->in), len);
  side->status = sst_stream_decrypt_in_place(side->stream, buffer, len, ranges, cap, &used, &side->progress);
  EXPECT_AT_MOST(used, cap);
  EXPECT_AT_MOST(side->progress.consumed, len);
  keep_ranges(side, buffer, len, ranges, used);
  if ((side->progress.flags & SST_EARLY_DATA) != 0) side->early_len += side->progress.produced;
  free(buffer);
  free(ranges);
  return side->status;
}

sst_status end_decrypt_in_place(End *end) {
  Side *side = &end->side;
  const size_t cap = side->room == 0 ? 64 : side->room == SIDE_LEARN ? 0 : side->room;
  size_t held = 0;
  for (;;) {
    const size_t more = side->chunk == SIDE_NOTHING ? 0 : side->chunk;
    const size_t waiting = wire_waiting(side->in), wanted = held + more, before = held;
    const size_t len = side->chunk == 0 || waiting < wanted ? waiting : wanted;
    const sst_status status = decrypt_in_place(side, len, cap);
    side->in->taken += side->progress.consumed;
    held = len - side->progress.consumed;
    const bool moved = side->progress.consumed > 0 || held > before;
    if (status == SST_NEED_OUTPUT && !moved) FAIL("stall: NEED_OUTPUT with %zu free ranges", cap);
    if (status == SST_NEED_INPUT && wire_waiting(side->in) > held && !moved) FAIL("stall: in place takes nothing");
    if (status != SST_NEED_OUTPUT && (status != SST_NEED_INPUT || wire_waiting(side->in) <= held)) return status;
  }
}
