#include "token.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static Token *add(Tokens *tokens, TokenKind kind, size_t room) {
  tokens->list = test_reallocate(tokens->list, (tokens->count + 1) * sizeof *tokens->list);
  Token *token = &tokens->list[tokens->count++];
  *token = (Token){kind, test_allocate(room + 1), 0};
  token->text[0] = '\0';
  return token;
}

static void put(Token *token, char c) {
  token->text[token->len++] = c;
  token->text[token->len] = '\0';
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* Reads the escape behind a backslash; NULL: there is no such. */
static const char *escape(const char *at, Token *token) {
  static const char names[] = "\"\\rnt", bytes[] = "\"\\\r\n\t";
  if (at[0] == 'x' && hex_digit(at[1]) >= 0 && hex_digit(at[2]) >= 0) {
    put(token, (char)(hex_digit(at[1]) * 16 + hex_digit(at[2])));
    return at + 3;
  }
  const char *name = at[0] == '\0' ? NULL : strchr(names, at[0]);
  if (name == NULL) return NULL;
  put(token, bytes[name - names]);
  return at + 1;
}

static const char *cut_string(const char **line, Tokens *tokens) {
  const char *at = *line + 1;
  Token *token = add(tokens, TOKEN_STRING, strlen(at));
  while (*at != '"') {
    if (*at == '\0') return "a string without its closing quote";
    if (*at != '\\') {
      put(token, *at++);
      continue;
    }
    at = escape(at + 1, token);
    if (at == NULL) return "an unknown escape in a string";
  }
  *line = at + 1;
  return NULL;
}

const char *tokens_cut(const char *line, Tokens *tokens) {
  *tokens = (Tokens){NULL, 0};
  while (*line != '\0') {
    if (isspace((unsigned char)*line)) {
      line++;
    } else if (*line == ',') {
      put(add(tokens, TOKEN_COMMA, 1), *line++);
    } else if (*line == '"') {
      const char *fault = cut_string(&line, tokens);
      if (fault != NULL) return fault;
    } else {
      Token *token = add(tokens, TOKEN_WORD, strlen(line));
      while (*line != '\0' && !isspace((unsigned char)*line) && *line != ',' && *line != '"')
        put(token, *line++);
    }
  }
  return NULL;
}

void tokens_free(Tokens *tokens) {
  for (size_t i = 0; i < tokens->count; i++)
    free(tokens->list[i].text);
  free(tokens->list);
  *tokens = (Tokens){NULL, 0};
}

bool token_is(const Token *token, const char *word) {
  return token->kind == TOKEN_WORD && strcmp(token->text, word) == 0;
}

bool token_number(const Token *token, unsigned long *number) {
  if (token->kind != TOKEN_WORD || token->len == 0 || token->len > 9) return false;
  if (strspn(token->text, "0123456789") != token->len) return false;
  *number = strtoul(token->text, NULL, 10);
  return true;
}

bool token_hex(const Token *token, unsigned char *byte) {
  if (token->kind != TOKEN_WORD || token->len != 2) return false;
  const int high = hex_digit(token->text[0]), low = hex_digit(token->text[1]);
  if (high < 0 || low < 0) return false;
  *byte = (unsigned char)(high * 16 + low);
  return true;
}
