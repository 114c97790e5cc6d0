#include "scenario.h"

#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

typedef struct Reader {
  Scenario *scenario;
  size_t number; /* of the line */
  bool verb_known;
  Verb verb;
} Reader;

static void refuse(const Reader *reader, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

static void refuse(const Reader *reader, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s.scn:%zu: ", reader->scenario->name, reader->number);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(2);
}

static char *copy(const char *text, size_t len) {
  char *made = test_allocate(len + 1);
  memcpy(made, text, len);
  made[len] = '\0';
  return made;
}

/* The next word of a line, in a static buffer, and what stands behind it. */
static const char *first_word(const char *line, const char **rest) {
  static char word[64];
  line += strspn(line, " \t");
  const size_t len = strcspn(line, " \t");
  snprintf(word, sizeof word, "%.*s", (int)len, line);
  *rest = line + len + strspn(line + len, " \t");
  return word;
}

/* The variants of a name; a second line of that name adds values. */
static Variants *variants_of(const Reader *reader, const Token *name) {
  Scenario *scenario = reader->scenario;
  for (size_t i = 0; i < scenario->num_variants; i++)
    if (strcmp(scenario->variants[i].name, name->text) == 0) return &scenario->variants[i];
  if (scenario->num_variants == SCENARIO_VARIANTS) refuse(reader, "too many lines of variants");
  Variants *variants = &scenario->variants[scenario->num_variants++];
  variants->name = copy(name->text, name->len);
  return variants;
}

/* Whether the variants of a name may have this value; of a string its bytes are meant. */
static bool can_be(const char *name, const Token *value) {
  const Token word = {TOKEN_WORD, value->text, value->len};
  unsigned long number;
  if (strcmp(name, "version") == 0) return token_is(&word, "1.2") || token_is(&word, "1.3");
  if (strcmp(name, "chunk") == 0)
    return token_is(&word, "whole") || token_is(&word, "byte") || token_number(&word, &number);
  return strcmp(name, "room") != 0 || token_is(&word, "plenty") || token_number(&word, &number);
}

static void read_variants(const Reader *reader, const char *rest) {
  Tokens tokens;
  const char *fault = tokens_cut(rest, &tokens);
  if (fault != NULL) refuse(reader, "%s", fault);
  if (tokens.count < 2 || tokens.count % 2 != 0 || tokens.list[0].kind != TOKEN_WORD)
    refuse(reader, "variants need a name and values");
  Variants *variants = variants_of(reader, &tokens.list[0]);
  for (size_t i = 1; i < tokens.count; i++) {
    if ((tokens.list[i].kind == TOKEN_COMMA) != (i % 2 == 0)) refuse(reader, "values are separated by commas");
    if (tokens.list[i].kind == TOKEN_COMMA) continue;
    if (variants->num_values == SCENARIO_VALUES) refuse(reader, "too many values");
    if (!can_be(variants->name, &tokens.list[i])) refuse(reader, "%s cannot be this", variants->name);
    variants->values[variants->num_values++] = copy(tokens.list[i].text, tokens.list[i].len);
  }
  tokens_free(&tokens);
}

static void read_repeat(const Reader *reader, const char *rest) {
  Tokens tokens;
  unsigned long *repeat = &reader->scenario->repeat;
  if (tokens_cut(rest, &tokens) != NULL || tokens.count != 1 || !token_number(tokens.list, repeat) || *repeat == 0)
    refuse(reader, "repeat: needs a number");
  tokens_free(&tokens);
}

static bool read_header(Reader *reader, const char *word, const char *rest) {
  Scenario *scenario = reader->scenario;
  const bool variants = strcmp(word, "variants:") == 0, repeat = strcmp(word, "repeat:") == 0;
  if (!variants && !repeat) return false;
  if (scenario->num_lines > 0) refuse(reader, "headers stand before the first step");
  if (variants) read_variants(reader, rest);
  if (repeat) read_repeat(reader, rest);
  return true;
}

static void read_step(Reader *reader, const char *word, const char *rest) {
  Scenario *scenario = reader->scenario;
  if (strcmp(word, "given") == 0)
    reader->verb = VERB_GIVEN;
  else if (strcmp(word, "when") == 0)
    reader->verb = VERB_WHEN;
  else if (strcmp(word, "then") == 0)
    reader->verb = VERB_THEN;
  else if (strcmp(word, "and") != 0 || !reader->verb_known)
    refuse(reader, "'%s' is no verb", word);
  if (rest[0] == '\0') refuse(reader, "a verb without a sentence");
  reader->verb_known = true;
  const size_t last = scenario->num_lines;
  if (reader->verb == VERB_GIVEN && last > 0 && scenario->lines[last - 1].verb != VERB_GIVEN)
    refuse(reader, "given stands before all other steps");
  scenario->lines = test_reallocate(scenario->lines, (last + 1) * sizeof *scenario->lines);
  scenario->lines[scenario->num_lines++] = (Line){reader->verb, reader->number, copy(rest, strlen(rest))};
}

static void refuse_equal_names(const Reader *reader) {
  const size_t count = scenario_num_cases(reader->scenario);
  for (size_t i = 0; i < count; i++) {
    char name[512];
    snprintf(name, sizeof name, "%s", scenario_variant(reader->scenario, i));
    for (size_t j = 0; j < i; j++)
      if (strcmp(name, scenario_variant(reader->scenario, j)) == 0) refuse(reader, "two cases are called %s", name);
  }
}

static void read_file(Scenario *scenario, FILE *file) {
  Reader reader = {.scenario = scenario};
  char line[1024];
  bool prose = true;
  while (fgets(line, sizeof line, file) != NULL) {
    reader.number++;
    const size_t len = strlen(line);
    if (len + 1 == sizeof line) refuse(&reader, "a line of more than %zu bytes", sizeof line - 2);
    if (len > 0 && line[len - 1] == '\n') line[len - 1] = '\0';
    const char *rest = NULL, *word = first_word(line, &rest);
    if (reader.number == 1 && word[0] == '\0') refuse(&reader, "line 1 is the title");
    if (word[0] == '\0') prose = false;
    if (prose || word[0] == '\0' || word[0] == '#') continue;
    if (!read_header(&reader, word, rest)) read_step(&reader, word, rest);
  }
  if (scenario->num_lines == 0) refuse(&reader, "there are no steps");
  refuse_equal_names(&reader);
}

static int by_name(const void *a, const void *b) {
  const Scenario *left = a, *right = b;
  return strcmp(left->name, right->name);
}

Scenario *scenarios_read(const char *folder, size_t *count) {
  Scenario *scenarios = NULL;
  *count = 0;
  DIR *directory = opendir(folder);
  const struct dirent *entry;
  while (directory != NULL && (entry = readdir(directory)) != NULL) {
    const size_t len = strlen(entry->d_name);
    if (len < 5 || strcmp(entry->d_name + len - 4, ".scn") != 0) continue;
    scenarios = test_reallocate(scenarios, (*count + 1) * sizeof *scenarios);
    scenarios[(*count)++] = (Scenario){.name = copy(entry->d_name, len - 4), .repeat = 1};
  }
  if (directory != NULL) closedir(directory);
  if (*count == 0) return NULL;
  qsort(scenarios, *count, sizeof *scenarios, by_name);
  for (size_t i = 0; i < *count; i++) {
    char path[1024];
    if (strspn(scenarios[i].name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(scenarios[i].name))
      refuse(&(Reader){.scenario = &scenarios[i]}, "a name has the characters a-z, 0-9 and _");
    snprintf(path, sizeof path, "%s/%s.scn", folder, scenarios[i].name);
    FILE *file = fopen(path, "r");
    if (file == NULL) refuse(&(Reader){.scenario = &scenarios[i]}, "cannot be opened");
    read_file(&scenarios[i], file);
    fclose(file);
  }
  return scenarios;
}

void scenarios_free(Scenario *scenarios, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (size_t v = 0; v < scenarios[i].num_variants; v++) {
      free(scenarios[i].variants[v].name);
      for (size_t j = 0; j < scenarios[i].variants[v].num_values; j++)
        free(scenarios[i].variants[v].values[j]);
    }
    for (size_t j = 0; j < scenarios[i].num_lines; j++)
      free(scenarios[i].lines[j].sentence);
    free(scenarios[i].lines);
    free(scenarios[i].name);
  }
  free(scenarios);
}

size_t scenario_num_cases(const Scenario *scenario) {
  size_t cases = 1;
  for (size_t i = 0; i < scenario->num_variants; i++)
    cases *= scenario->variants[i].num_values;
  return cases;
}

/* The value of line which in a case: the last line changes first. */
static const char *chosen(const Scenario *scenario, size_t number, size_t which) {
  for (size_t i = scenario->num_variants; i-- > which + 1;)
    number /= scenario->variants[i].num_values;
  return scenario->variants[which].values[number % scenario->variants[which].num_values];
}

const char *scenario_value(const Scenario *scenario, size_t number, const char *name) {
  for (size_t i = 0; i < scenario->num_variants; i++)
    if (strcmp(scenario->variants[i].name, name) == 0) return chosen(scenario, number, i);
  return NULL;
}

/* The part of a variant's name that stands for a value. */
static void name_value(const char *name, const char *value, char *out, size_t cap) {
  const bool digits = isdigit((unsigned char)value[0]);
  if (strcmp(name, "version") == 0)
    snprintf(out, cap, strcmp(value, "1.2") == 0 ? "tls12" : "tls13");
  else if (strcmp(name, "chunk") == 0 && strcmp(value, "byte") == 0)
    snprintf(out, cap, "bytewise");
  else if (digits && strcmp(name, "chunk") == 0)
    snprintf(out, cap, "chunk_%s", value);
  else if (digits && strcmp(name, "room") == 0)
    snprintf(out, cap, "room_%s", value);
  else {
    size_t len = 0;
    for (; *value != '\0' && len + 1 < cap; value++) {
      const bool plain = isalnum((unsigned char)*value);
      if (plain || len == 0 || out[len - 1] != '_') out[len++] = plain ? (char)tolower((unsigned char)*value) : '_';
    }
    out[len] = '\0';
  }
}

const char *scenario_variant(const Scenario *scenario, size_t number) {
  static char text[512];
  size_t len = 0;
  snprintf(text, sizeof text, "once");
  for (size_t i = 0; i < scenario->num_variants; i++) {
    char value[128];
    name_value(scenario->variants[i].name, chosen(scenario, number, i), value, sizeof value);
    len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", i == 0 ? "" : "_", value);
  }
  return text;
}

char *scenario_sentence(const Scenario *scenario, size_t number, const Line *line) {
  char *text = test_allocate(4096);
  size_t len = 0;
  for (const char *at = line->sentence; *at != '\0';) {
    const char *end = *at == '<' ? strchr(at, '>') : NULL;
    if (end == NULL) {
      text[len++] = *at++;
      continue;
    }
    char *name = copy(at + 1, (size_t)(end - at - 1));
    const char *value = scenario_value(scenario, number, name);
    free(name);
    if (value == NULL) return free(text), NULL;
    len += (size_t)snprintf(text + len, 4096 - len, "%s", value);
    at = end + 1;
  }
  text[len] = '\0';
  return text;
}
