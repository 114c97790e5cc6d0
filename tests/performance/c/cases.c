#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "names.h"
#include "test.h"
#include "workers.h"

static const Kind *const kinds[] = {&kind_write_read, &kind_read_write, &kind_concurrent,
                                    &kind_transfer,   &kind_handshake,  &kind_resumed,
                                    &kind_early,      &kind_echo,       &kind_idle};

/* What keys can have for a value: Over in its order; shared and fresh. */
static const char *const versions[] = {"1.2", "1.3", NULL}, *const ways[] = {"memory", "pipe", "ipv4", "ipv6", NULL},
                         *const configs[] = {"shared", "fresh", NULL}, *const runs[] = {"long", NULL};

static void refuse(const char *what, const char *text) __attribute__((noreturn));

static void refuse(const char *what, const char *text) {
  fprintf(stderr, "cases.txt: %s: %s\n", what, text);
  exit(2);
}

static size_t number(const char *text) {
  char *end = NULL;
  const unsigned long value = strtoul(text, &end, 10);
  if (value == 0 || *end != '\0') refuse("not a number", text);
  return value;
}

static void set_groups(Case *what, char *list) {
  size_t count = 0;
  char *rest = NULL;
  memset(what->groups, 0, sizeof what->groups);
  for (char *name = strtok_r(list, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
    if (count == 7 || !group_of_name(name, &what->groups[count++])) refuse("unknown group", name);
}

/* The index of value in names, which end at NULL. */
static int choice(const char *value, const char *const *names) {
  for (int i = 0; names[i] != NULL; i++)
    if (strcmp(names[i], value) == 0) return i;
  refuse("unknown value", value);
}

static void set_value(Case *what, char *pair) {
  char *value = strchr(pair, '=');
  if (value == NULL) refuse("not key=value", pair);
  *value++ = '\0';
  if (strcmp(pair, "version") == 0)
    what->version = choice(value, versions) == 0 ? SST_TLS1_2 : SST_TLS1_3;
  else if (strcmp(pair, "groups") == 0)
    set_groups(what, value);
  else if (strcmp(pair, "leaf") == 0)
    snprintf(what->leaf, sizeof what->leaf, "%s", value);
  else if (strcmp(pair, "client") == 0)
    snprintf(what->client, sizeof what->client, "%s", value);
  else if (strcmp(pair, "minimum_rsa") == 0)
    what->minimum_rsa = (uint32_t)number(value);
  else if (strcmp(pair, "size") == 0)
    what->size = number(value);
  else if (strcmp(pair, "rounds") == 0)
    what->rounds = number(value);
  else if (strcmp(pair, "total") == 0)
    what->total = number(value);
  else if (strcmp(pair, "over") == 0)
    what->over = (Over)choice(value, ways);
  else if (strcmp(pair, "configs") == 0)
    what->fresh_configs = choice(value, configs) == 1;
  else if (strcmp(pair, "threads") == 0)
    what->threads = number(value);
  else if (strcmp(pair, "streams") == 0)
    what->streams = number(value);
  else if (strcmp(pair, "run") == 0)
    what->is_long = choice(value, runs) == 0;
  else
    refuse("unknown key", pair);
}

static void set_kind(Case *what, const char *name) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (name != NULL && strcmp(kinds[i]->name, name) == 0) what->kind = kinds[i];
  if (what->kind == NULL) refuse("unknown kind", name == NULL ? what->name : name);
}

/* README.md, section 1, says what goes with what. */
static void check(const Case *what) {
  const bool handshake = what->kind == &kind_handshake, echo = what->kind == &kind_echo,
             idle = what->kind == &kind_idle, resumed = what->kind == &kind_resumed, early = what->kind == &kind_early;
  if ((what->size == 0) != (handshake || idle || resumed)) refuse("size", what->name);
  if ((resumed || early) && (what->client[0] != '\0' || what->minimum_rsa > 0)) refuse("resumption", what->name);
  if (what->kind == &kind_transfer && (what->total == 0 || what->total % what->size != 0)) refuse("total", what->name);
  if (!handshake && (what->over != OVER_MEMORY || what->fresh_configs)) refuse("no handshake", what->name);
  if (what->threads > (handshake || echo ? MOST_THREADS : 1) || (what->fresh_configs && what->threads > 1))
    refuse("threads", what->name);
  if (what->streams % 2 != 0 || (what->streams > 0) > (handshake || echo || idle) || (idle && what->streams == 0))
    refuse("streams", what->name);
}

static Case read_case(const char *name, char **rest) {
  Case what = {.leaf = "server-p256", .version = SST_TLS1_3, .groups = {29, 23}, .rounds = 1, .threads = 1};
  snprintf(what.name, sizeof what.name, "%s", name);
  set_kind(&what, strtok_r(NULL, " \n", rest));
  for (char *pair = strtok_r(NULL, " \n", rest); pair != NULL; pair = strtok_r(NULL, " \n", rest))
    set_value(&what, pair);
  check(&what);
  return what;
}

Case *cases_read(const char *path, size_t *count) {
  FILE *file = fopen(path, "r");
  if (file == NULL) refuse("cannot be opened", path);
  Case *cases = NULL;
  *count = 0;
  char line[512];
  while (fgets(line, sizeof line, file) != NULL) {
    char *rest = NULL;
    const char *name = strtok_r(line, " \n", &rest);
    if (name == NULL || name[0] == '#') continue;
    cases = test_reallocate(cases, (*count + 1) * sizeof *cases);
    cases[(*count)++] = read_case(name, &rest);
  }
  fclose(file);
  return cases;
}
