#include "form.h"

#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "pair.h"

sst_status code_of_name(const char *name) {
  static const char prefix[] = "ERR_";
  for (sst_status code = -100; code > -1000; code--) {
    const char *full = sst_status_name(code);
    if (strncmp(full, prefix, sizeof prefix - 1) == 0 && strcmp(full + sizeof prefix - 1, name) == 0) return code;
  }
  return SST_OK;
}

static bool end_of(const Tokens *tokens, size_t at) {
  return at >= tokens->count;
}

static bool take_word(const Tokens *tokens, size_t *at, const char *word) {
  if (end_of(tokens, *at) || !token_is(&tokens->list[*at], word)) return false;
  ++*at;
  return true;
}

static bool take_number(const Tokens *tokens, size_t *at) {
  unsigned long number;
  if (end_of(tokens, *at) || !token_number(&tokens->list[*at], &number)) return false;
  ++*at;
  return true;
}

static bool take_text(const Tokens *tokens, size_t *at) {
  if (end_of(tokens, *at) || tokens->list[*at].kind == TOKEN_COMMA) return false;
  ++*at;
  return true;
}

static bool take_any_word(const Tokens *tokens, size_t *at) {
  if (end_of(tokens, *at) || tokens->list[*at].kind != TOKEN_WORD) return false;
  ++*at;
  return true;
}

static bool take_words(const Tokens *tokens, size_t *at, const char *first, const char *second, const char *third) {
  size_t next = *at;
  if (!take_word(tokens, &next, first)) return false;
  if (second != NULL && !take_word(tokens, &next, second)) return false;
  if (third != NULL && !take_word(tokens, &next, third)) return false;
  *at = next;
  return true;
}

static bool take_atom(const Tokens *tokens, size_t *at) {
  unsigned char byte;
  if (end_of(tokens, *at)) return false;
  if (tokens->list[*at].kind == TOKEN_STRING) return ++*at, true;
  if (take_word(tokens, at, "nothing")) return true;
  size_t next = *at;
  if (take_word(tokens, &next, "bytes")) {
    const size_t first = next;
    while (!end_of(tokens, next) && token_hex(&tokens->list[next], &byte))
      next++;
    *at = next;
    return next > first;
  }
  if (!take_number(tokens, &next) || !take_words(tokens, &next, "bytes", "of", "pattern")) return false;
  *at = next;
  return true;
}

static bool take_data(const Tokens *tokens, size_t *at) {
  do {
    if (!take_atom(tokens, at)) return false;
  } while (take_words(tokens, at, "followed", "by", NULL));
  return true;
}

static bool take_list(const Tokens *tokens, size_t *at) {
  for (;;) {
    if (!take_text(tokens, at)) return false;
    if (end_of(tokens, *at) || tokens->list[*at].kind != TOKEN_COMMA) return true;
    ++*at;
  }
}

static bool take_code(const Tokens *tokens, size_t *at) {
  if (take_word(tokens, at, "alert")) return take_number(tokens, at);
  if (end_of(tokens, *at) || tokens->list[*at].kind != TOKEN_WORD) return false;
  return code_of_name(tokens->list[(*at)++].text) != SST_OK;
}

static bool take_alerts(const Tokens *tokens, size_t *at) {
  do {
    if (!take_number(tokens, at)) return false;
  } while (take_word(tokens, at, "or"));
  return true;
}

static bool take_type(const Tokens *tokens, size_t *at) {
  uint8_t type;
  return !end_of(tokens, *at) && type_of_name(tokens->list[*at].text, &type) && ++*at > 0;
}

/* HOW and END may be missing. */
static bool take_how(const Tokens *tokens, size_t *at) {
  take_words(tokens, at, "in", "place", NULL);
  return true;
}

static bool take_end(const Tokens *tokens, size_t *at) {
  if (take_words(tokens, at, "and", "sees", "closed") || take_words(tokens, at, "and", "sees", "truncated"))
    return true;
  return !take_words(tokens, at, "and", "fails", "with") || take_code(tokens, at);
}

static bool take_role(const Tokens *tokens, size_t *at) {
  return take_word(tokens, at, "client") || take_word(tokens, at, "server");
}

static bool take_version(const Tokens *tokens, size_t *at) {
  return take_word(tokens, at, "1.2") || take_word(tokens, at, "1.3");
}

static bool take_question(const Tokens *tokens, size_t *at) {
  uint16_t status;
  return !end_of(tokens, *at) && question_of_name(tokens->list[*at].text, &status) && ++*at > 0;
}

static bool take_clauses(const Tokens *tokens, size_t *at) {
  const size_t begin = *at;
  return form_clauses(tokens, at) && *at > begin;
}

static const struct {
  const char *name;
  bool (*take)(const Tokens *tokens, size_t *at);
} placeholders[] = {{"ROLE", take_role},     {"N", take_number},         {"V", take_version},
                    {"TEXT", take_text},     {"LEAF", take_any_word},    {"LIST", take_list},
                    {"CODE", take_code},     {"TYPE", take_type},        {"ALERTS", take_alerts},
                    {"DATA", take_data},     {"HOW", take_how},          {"END", take_end},
                    {"DAY", take_any_word},  {"CLAUSES", take_clauses},  {"[CLAUSES]", form_clauses},
                    {"ANSWER", form_answer}, {"QUESTION", take_question}};

static bool take_placeholder(size_t which, const Tokens *tokens, size_t *at, Match *match) {
  const size_t begin = *at;
  if (!placeholders[which].take(tokens, at)) return false;
  match->places[match->num_places++] = (Place){tokens->list + begin, *at - begin};
  return true;
}

static bool take_part(const char *part, const Tokens *tokens, size_t *at, Match *match) {
  for (size_t i = 0; i < sizeof placeholders / sizeof *placeholders; i++)
    if (strcmp(placeholders[i].name, part) == 0) return take_placeholder(i, tokens, at, match);
  return take_word(tokens, at, part);
}

bool form_match(const char *pattern, const Tokens *tokens, size_t *at, Match *match) {
  size_t next = *at;
  *match = (Match){.num_places = 0};
  while (*pattern != '\0') {
    char part[32];
    const size_t len = strcspn(pattern, " ");
    memcpy(part, pattern, len);
    part[len] = '\0';
    if (!take_part(part, tokens, &next, match)) return false;
    pattern += len + strspn(pattern + len, " ");
  }
  *at = next;
  return true;
}

/* Places */

unsigned long place_number(const Match *match, size_t place) {
  unsigned long number = 0;
  token_number(match->places[place].list, &number);
  return number;
}

const Token *place_text(const Match *match, size_t place) {
  return match->places[place].list;
}

bool place_is_server(const Match *match, size_t place) {
  return token_is(match->places[place].list, "server");
}

uint16_t place_version(const Match *match, size_t place) {
  return token_is(match->places[place].list, "1.2") ? SST_TLS1_2 : SST_TLS1_3;
}

sst_status place_code(const Match *match, size_t place) {
  const Place *at = &match->places[place];
  unsigned long number = 0;
  const Token *last = &at->list[at->count - 1];
  if (token_number(last, &number)) return SST_ERR_ALERT_RECEIVED - (sst_status)number;
  return code_of_name(last->text);
}

uint8_t place_type(const Match *match, size_t place) {
  uint8_t type = 0;
  type_of_name(match->places[place].list->text, &type);
  return type;
}

static void append(uint8_t **bytes, size_t *len, const void *more, size_t more_len) {
  *bytes = test_reallocate(*bytes, *len + more_len);
  if (more_len > 0) memcpy(*bytes + *len, more, more_len);
  *len += more_len;
}

static void append_pattern(uint8_t **bytes, size_t *len, size_t more_len) {
  *bytes = test_reallocate(*bytes, *len + more_len);
  pattern_fill(*bytes + *len, more_len, 1);
  *len += more_len;
}

uint8_t *place_data(const Match *match, size_t place, size_t *len) {
  const Place *at = &match->places[place];
  uint8_t *bytes = test_allocate(0);
  unsigned long number = 0;
  unsigned char byte;
  *len = 0;
  for (size_t i = 0; i < at->count; i++) {
    const Token *token = &at->list[i];
    if (token->kind == TOKEN_STRING) append(&bytes, len, token->text, token->len);
    if (i + 1 < at->count && token_number(token, &number) && token_is(token + 1, "bytes")) {
      append_pattern(&bytes, len, number);
      i += 3;
    } else if (token_hex(token, &byte)) {
      append(&bytes, len, &byte, 1);
    }
  }
  return bytes;
}

sst_status place_list(const Match *match, size_t place, sst_status (*visit)(void *context, const Token *element),
                      void *context) {
  const Place *at = &match->places[place];
  sst_status status = SST_OK;
  for (size_t i = 0; i < at->count && status == SST_OK; i++)
    if (at->list[i].kind != TOKEN_COMMA) status = visit(context, &at->list[i]);
  return status;
}

typedef struct Search {
  Numbers found;
  bool (*find)(const char *name, uint16_t *number);
} Search;

static sst_status add_number(void *context, const Token *name) {
  Search *search = context;
  REQUIRE(search->found.count < sizeof search->found.list / sizeof *search->found.list);
  if (!search->find(name->text, &search->found.list[search->found.count++])) FAIL("unknown name '%s'", name->text);
  return SST_OK;
}

Numbers place_numbers(const Match *match, size_t place, bool (*find)(const char *name, uint16_t *number)) {
  Search search = {.find = find};
  place_list(match, place, add_number, &search);
  return search.found;
}

static sst_status add_reason(void *reasons, const Token *name) {
  const sst_status code = code_of_name(name->text);
  if (code > SST_ERR_CERT_ISSUER_NOT_FOUND || code < SST_ERR_CERT_OTHER) FAIL("'%s' is no reason", name->text);
  *(uint64_t *)reasons |= UINT64_C(1) << (SST_ERR_CERT_ISSUER_NOT_FOUND - code);
  return SST_OK;
}

uint64_t place_reasons(const Match *match, size_t place) {
  uint64_t reasons = 0;
  place_list(match, place, add_reason, &reasons);
  return reasons;
}
