/* sst_scenarios: runs the scenarios of tests/conformance from C (README.md, section 9). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "scenario.h"
#include "world.h"

/* A step with the form that it has. */
typedef struct Step {
  const Line *line;
  Tokens tokens;
  Match match;
  const Form *form;
} Step;

typedef struct Case {
  const Scenario *scenario;
  size_t number;
  Step *steps;
  World world;
  uint64_t first_bytes; /* allocated after the first run */
} Case;

static const Form *form_in(const Form *forms, const Tokens *tokens, Match *match) {
  for (; forms->pattern != NULL; forms++) {
    size_t at = 0;
    if (form_match(forms->pattern, tokens, &at, match) && at == tokens->count) return forms;
  }
  return NULL;
}

static const Form *form_of(Verb verb, const Tokens *tokens, Match *match) {
  const Form *form = form_in(verb == VERB_GIVEN  ? given_forms
                             : verb == VERB_WHEN ? when_forms
                                                 : then_forms,
                             tokens, match);
  if (form == NULL && verb == VERB_WHEN) form = form_in(wire_forms, tokens, match);
  if (form == NULL && verb == VERB_THEN) form = form_in(fact_forms, tokens, match);
  if (form == NULL && verb == VERB_THEN) form = form_in(question_forms, tokens, match);
  if (form == NULL && verb == VERB_THEN) form = form_in(session_forms, tokens, match);
  if (form == NULL && verb == VERB_WHEN) form = form_in(resuming_forms, tokens, match);
  return form;
}

/* Every step is understood before the first is taken. */
static void read_steps(Case *run) {
  const Scenario *scenario = run->scenario;
  for (size_t i = 0; i < scenario->num_lines; i++) {
    Step *step = &run->steps[i];
    step->line = &scenario->lines[i];
    harness_at(scenario->name, step->line->number);
    char *sentence = scenario_sentence(scenario, run->number, step->line);
    if (sentence == NULL) FAIL("a <name> that no variants line has: %s", step->line->sentence);
    const char *fault = tokens_cut(sentence, &step->tokens);
    if (fault == NULL) step->form = form_of(step->line->verb, &step->tokens, &step->match);
    if (step->form == NULL) FAIL("%s: %s", fault == NULL ? "unknown step" : fault, sentence);
    free(sentence);
  }
}

static void run_steps(Case *run) {
  const Scenario *scenario = run->scenario;
  world_begin(&run->world, scenario_value(scenario, run->number, "version"),
              scenario_value(scenario, run->number, "chunk"), scenario_value(scenario, run->number, "room"));
  for (size_t i = 0; i < scenario->num_lines && harness_failures() == 0; i++) {
    const Step *step = &run->steps[i];
    harness_at(scenario->name, step->line->number);
    if (step->line->verb != VERB_GIVEN) world_make(&run->world);
    step->form->perform(&run->world, &step->match);
    events_take(&run->world, &run->world.client);
    events_take(&run->world, &run->world.server);
  }
  world_end(&run->world);
}

static void run_case(void *context) {
  Case *run = context;
  const uint64_t objects = sst_live_objects();
  read_steps(run);
  for (unsigned long i = 0; i < run->scenario->repeat && harness_failures() == 0; i++) {
    run_steps(run);
    if (i == 0) run->first_bytes = sst_allocated_bytes();
  }
  if (harness_failures() > 0) return;
  EXPECT_EQ(sst_live_objects(), objects);
  EXPECT_AT_MOST(sst_allocated_bytes(), run->first_bytes);
}

static bool run_one(const Scenario *scenario, size_t number) {
  Case run = {.scenario = scenario, .number = number};
  run.steps = calloc(scenario->num_lines, sizeof *run.steps);
  const bool passed = harness_run(run_case, &run);
  for (size_t i = 0; i < scenario->num_lines; i++)
    tokens_free(&run.steps[i].tokens);
  free(run.steps);
  return passed;
}

static void print_json_text(const char *text) {
  putchar('"');
  for (; *text != '\0'; text++) {
    const unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      printf("\\%c", c);
    else if (c < 0x20)
      printf("\\u%04x", c);
    else
      putchar(c);
  }
  putchar('"');
}

/* Runs a case in a process of its own, so that a crash is a failure of this one alone. */
static bool run_apart(const Scenario *scenario, size_t number, char *message, size_t cap) {
  int ends[2];
  if (pipe(ends) != 0) abort();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const bool passed = run_one(scenario, number);
    const char *text = harness_messages();
    if (write(ends[1], text, strlen(text)) < 0) _exit(2);
    if (!passed) _exit(1);
    exit(0);
  }
  close(ends[1]);
  size_t len = 0;
  for (ssize_t got = 1; got > 0 && len + 1 < cap; len += (size_t)(got > 0 ? got : 0))
    got = read(ends[0], message + len, cap - 1 - len);
  message[len] = '\0';
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (len == 0 && status != 0) snprintf(message, cap, "the process ended with status %d", status);
  return status == 0;
}

static int run_all(const Scenario *scenarios, size_t count) {
  size_t failed = 0, passed = 0;
  for (size_t i = 0; i < count; i++) {
    for (size_t number = 0; number < scenario_num_cases(&scenarios[i]); number++) {
      char message[4096];
      const bool good = run_apart(&scenarios[i], number, message, sizeof message);
      printf("{\"scenario\": \"%s\", \"variant\": \"%s\", \"result\": \"%s\", \"message\": ", scenarios[i].name,
             scenario_variant(&scenarios[i], number), good ? "pass" : "fail");
      print_json_text(message);
      printf("}\n");
      fflush(stdout);
      failed += !good;
      passed += good;
    }
  }
  return failed == 0 && passed > 0 ? 0 : 1;
}

static void list(const Scenario *scenarios, size_t count) {
  for (size_t i = 0; i < count; i++)
    for (size_t number = 0; number < scenario_num_cases(&scenarios[i]); number++)
      printf("%s.%s\n", scenarios[i].name, scenario_variant(&scenarios[i], number));
}

static int run_named(const Scenario *scenarios, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    for (size_t number = 0; number < scenario_num_cases(&scenarios[i]); number++) {
      char full[512];
      snprintf(full, sizeof full, "%s.%s", scenarios[i].name, scenario_variant(&scenarios[i], number));
      if (strcmp(full, name) != 0) continue;
      if (run_one(&scenarios[i], number)) return 0;
      puts(harness_messages());
      fflush(stdout);
      /* A case that was left early has leaks, which a report at exit would only hide the reason behind. */
      _Exit(1);
    }
  }
  fprintf(stderr, "no case '%s'\n", name);
  return 1;
}

static int perform(const Scenario *scenarios, size_t count, int argc, char **argv) {
  if (argc == 1 && strcmp(argv[0], "--list") == 0) return list(scenarios, count), 0;
  if (argc == 2 && strcmp(argv[0], "--run") == 0) return run_named(scenarios, count, argv[1]);
  if (argc == 1 && (strcmp(argv[0], "--run-all") == 0 || strcmp(argv[0], "--json") == 0))
    return run_all(scenarios, count);
  fprintf(stderr, "usage: sst_scenarios [--in FOLDER] --list | --run CASE | --run-all\n");
  return 2;
}

int main(int argc, char **argv) {
  const bool elsewhere = argc > 2 && strcmp(argv[1], "--in") == 0;
  const char *folder = elsewhere ? argv[2] : SST_SCENARIOS;
  const int taken = elsewhere ? 3 : 1;
  size_t count = 0;
  Scenario *scenarios = scenarios_read(folder, &count);
  if (count == 0) {
    fprintf(stderr, "no scenarios in %s\n", folder);
    return 2;
  }
  const int result = perform(scenarios, count, argc - taken, argv + taken);
  scenarios_free(scenarios, count);
  return result;
}
