/*
 * world.h - what a case has while its steps run: two sides with their wires, plans, events, and forged records.
 */
#ifndef SST_WORLD_H
#define SST_WORLD_H

#include "form.h"
#include "pair.h"

typedef struct Clause Clause;

/* What the given steps have said of a role. The tokens belong to the steps of the case. */
typedef struct Plan {
  struct {
    const Clause *clause;
    Match match;
  } *list;
  size_t count;
} Plan;

/* What a clause is carried out on. */
typedef struct Making {
  int32_t role;
  sst_config *config;
  sst_stream *stream;
  sst_trust *trust; /* not yet in the config; NULL: no clause has begun one */
  uint32_t events;
  uint16_t version; /* both, from the variant; 0: none */
  bool leave_partial;
  bool reloads;    /* the config is a copy */
  sst_error error; /* of the object that failed */
} Making;

typedef struct Events {
  sst_event *list; /* without key-log lines */
  size_t count, taken;
  char **lines; /* of the key log */
  size_t num_lines;
} Events;

/* Where the keys stand that forged records are sealed by. */
typedef struct Forger {
  bool begun;
  uint64_t sequence;
  uint8_t secret[64];
} Forger;

typedef struct End {
  Side side;
  Side old; /* of the connection before this one; its config is NULL */
  Plan plan;
  uint32_t reported; /* kinds of events, by the config */
  Events events;
  Forger forger;    /* of records that this side could have sealed */
  Wire *sent;       /* whatever was put on its outgoing wire, what was cut off later too */
  size_t opened_at; /* bytes of sent when its handshake gave OK */
  bool handshake_over;
  bool open;
  size_t num_sessions; /* that came */
} End;

/* A config that answers can bring. */
typedef struct Described {
  const Token *name;
  Plan plan;
} Described;

typedef struct World {
  End client, server;
  Described *configs;
  size_t num_configs;
  sst_session *session; /* the newest that came */
  uint16_t version;
  bool made;
} World;

/* One of these for each sentence; a failure is noted by EXPECT, or ends the case by REQUIRE and FAIL. */
typedef struct Form {
  const char *pattern;
  void (*perform)(World *world, const Match *match);
} Form;

/* The tables end at NULL. */
extern const Form given_forms[], when_forms[], wire_forms[], then_forms[], fact_forms[], question_forms[];
extern const Form resuming_forms[], session_forms[];

End *end_of_role(World *world, const Match *match);
End *other_end(World *world, const End *end);

/* Clauses, section 5. */
sst_status making_report(Making *making, uint32_t kind);
bool plan_read(Plan *plan, const Place *place);
void plan_free(Plan *plan);
/* Makes config and stream; after an error nothing is left but the record of it. */
sst_status plan_carry_out(const Plan *plan, int32_t role, uint16_t version, Making *making);
/* Makes a config of servers; as above. */
sst_status plan_make_config(const Plan *plan, uint16_t version, Making *making);
/* Makes another stream of making->config. */
sst_status plan_make_stream(const Plan *plan, Making *making);
/* Makes a copy of a config without credentials, and carries out on it what more says of configs. */
sst_status plan_reload(const Plan *more, const sst_config *config, Making *making);

void world_begin(World *world, const char *version, const char *chunk, const char *room);
/* Makes both streams, once. */
void world_make(World *world);
/* Makes both streams anew; those that there are become the old ones. */
void world_make_anew(World *world);
/* Gives the end another config, for streams to come. */
void world_reload(World *world, End *end, const Place *clauses);
/* Notes a config for answers; finds it again. */
void world_describe(World *world, const Token *name, const Place *clauses);
const Plan *world_described(const World *world, const Token *name);
void world_end(World *world);

/* Chunk and room of a side for a number of bytes, 0 too: no byte a call, and no room but where `needed` asks for some. */
size_t chunk_of(unsigned long number);
size_t room_of(unsigned long number);

/* Takes what events wait, after each step. */
void events_take(World *world, End *end);
void events_free(Events *events);
/* The next event that is no key-log line; NULL: none. */
const sst_event *events_next(End *end);

/* Answers the question of an end. places: ROLE ANSWER, and CODE. */
void answer_given(World *world, const Match *match);
void answer_refused(World *world, const Match *match);

/* end_turn performs the handshake as far as it goes. */
sst_status end_turn(End *end);
/* end_decrypt_in_place is side_receive by sst_stream_decrypt_in_place. */
sst_status end_decrypt_in_place(End *end);

/* Puts count records on the wire to end, sealed as its other would. */
void forge(World *world, End *to, uint8_t type, const uint8_t *payload, size_t len, unsigned long count);

#endif
