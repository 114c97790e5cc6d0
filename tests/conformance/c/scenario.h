/*
 * scenario.h - scenario files and the cases that they make (tests/conformance/README.md, sections 1 and 2).
 */
#ifndef SST_SCENARIO_H
#define SST_SCENARIO_H

#include "token.h"

enum { SCENARIO_VARIANTS = 6, SCENARIO_VALUES = 80 };

typedef enum { VERB_GIVEN, VERB_WHEN, VERB_THEN } Verb;

typedef struct Line {
  Verb verb;
  size_t number;  /* in the file */
  char *sentence; /* behind the verb, as it stands there */
} Line;

typedef struct Variants {
  char *name;
  char *values[SCENARIO_VALUES];
  size_t num_values;
} Variants;

typedef struct Scenario {
  char *name; /* of the file, without .scn */
  Variants variants[SCENARIO_VARIANTS];
  size_t num_variants;
  unsigned long repeat;
  Line *lines;
  size_t num_lines;
} Scenario;

/* Reads every .scn of a folder, sorted by name. A file that does not parse ends the program with a message. */
Scenario *scenarios_read(const char *folder, size_t *count);
void scenarios_free(Scenario *scenarios, size_t count);

size_t scenario_num_cases(const Scenario *scenario);
/* The variant's name of case number, in a static buffer. */
const char *scenario_variant(const Scenario *scenario, size_t number);
/* The value that name has in case number; NULL: no line has that name. */
const char *scenario_value(const Scenario *scenario, size_t number, const char *name);
/* The sentence of a line in case number, with values in place of <name>; NULL: a name that no line has. The caller frees
   it. */
char *scenario_sentence(const Scenario *scenario, size_t number, const Line *line);

#endif
