/* options.h - the command lines of secure-server and secure-client. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPTIONS_ALPN_MAX = 8 };

typedef enum server_mode { MODE_NONE, MODE_ECHO, MODE_RECEIVE, MODE_SEND } server_mode;

typedef struct options {
  /* both */
  const char *cert, *key, *ca;
  const char *alpn[OPTIONS_ALPN_MAX];
  size_t num_alpn;
  uint16_t min_version, max_version;
  int timeout_ms;
  const char *key_log;
  bool verbose;
  const char *port;

  /* secure-server */
  const char *bind;
  server_mode mode;
  const char *path; /* of MODE_RECEIVE and MODE_SEND */
  bool once;

  /* secure-client */
  const char *host, *server_name;
  const char *input, *output; /* NULL: standard input, standard output */
  bool insecure, summary;
} options;

/* Fill options, or end the program: --help with 0, a wrong command line with 1. */
void options_of_server(int argc, char **argv, options *o);
void options_of_client(int argc, char **argv, options *o);

#endif
