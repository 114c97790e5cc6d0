/*
 * form.h - forms of sentences: words that must stand there, and placeholders (tests/conformance/README.md, section 3).
 *
 *     {"when", "ROLE encrypts DATA", encrypt}
 *
 * matches `client encrypts "req"`, and encrypt gets a Match whose places are the tokens of ROLE and of DATA.
 */
#ifndef SST_FORM_H
#define SST_FORM_H

#include <stdint.h>

#include "securestream.h"
#include "token.h"

enum { FORM_PLACES = 6 };

/* The tokens that one placeholder has matched. */
typedef struct Place {
  const Token *list;
  size_t count;
} Place;

typedef struct Numbers {
  uint16_t list[40];
  size_t count;
} Numbers;

typedef struct Match {
  Place places[FORM_PLACES];
  size_t num_places;
} Match;

/*
 * form_match compares a pattern with the tokens from *at on, and moves *at behind what it has matched. Whether anything
 * follows is for the caller to see.
 */
bool form_match(const char *pattern, const Tokens *tokens, size_t *at, Match *match);

/* What an ANSWER is told by: form_answer moves *at behind one; false: there is none. */
bool form_answer(const Tokens *tokens, size_t *at);

/* In a pattern CLAUSES is one clause or more, [CLAUSES] may be none (section 5). */

/* form_clauses moves *at behind a (possibly empty) sequence of clauses; false: a connector without a clause. */
bool form_clauses(const Tokens *tokens, size_t *at);

/* What a place says. */
unsigned long place_number(const Match *match, size_t place);
const Token *place_text(const Match *match, size_t place);
bool place_is_server(const Match *match, size_t place);
uint16_t place_version(const Match *match, size_t place);
sst_status place_code(const Match *match, size_t place);
uint8_t place_type(const Match *match, size_t place);
/* The bytes of DATA; the caller frees them. */
uint8_t *place_data(const Match *match, size_t place, size_t *len);
/* A LIST: calls visit with each element. A visit that returns an error ends it. */
sst_status place_list(const Match *match, size_t place, sst_status (*visit)(void *context, const Token *element),
                      void *context);
/* A LIST of names of numbers; one that find does not know ends the case. */
Numbers place_numbers(const Match *match, size_t place, bool (*find)(const char *name, uint16_t *number));
/* A LIST of CODEs of certificate faults, as a set. */
uint64_t place_reasons(const Match *match, size_t place);
/* The code of a name without prefix; SST_OK: there is none. */
sst_status code_of_name(const char *name);

#endif
