/*
 * token.h - the words, strings and commas of a line of a scenario (tests/conformance/README.md, section 1).
 */
#ifndef SST_TOKEN_H
#define SST_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

typedef enum { TOKEN_WORD, TOKEN_STRING, TOKEN_COMMA } TokenKind;

typedef struct Token {
  TokenKind kind;
  char *text; /* terminated by NUL, which may also stand inside a string */
  size_t len;
} Token;

typedef struct Tokens {
  Token *list;
  size_t count;
} Tokens;

/* tokens_cut returns NULL, or what is wrong with the line. The caller calls tokens_free in both cases. */
const char *tokens_cut(const char *line, Tokens *tokens);
void tokens_free(Tokens *tokens);

bool token_is(const Token *token, const char *word);
/* A decimal number, or two hexadecimal digits; false: it is something else. */
bool token_number(const Token *token, unsigned long *number);
bool token_hex(const Token *token, unsigned char *byte);

#endif
