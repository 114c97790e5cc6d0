#ifndef SST_INTEROP_OPTIONS_H
#define SST_INTEROP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct options {
  int32_t role; /* SST_ROLE_x */
  const char *port;
  const char *name; /* what a client expects */
  const char *cert; /* files */
  const char *key;
  const char *ca;
  const char *client_ca; /* the list of issuers in a server's request */
  const char *alpn;
  int32_t client_certificate; /* SST_CLIENT_CERTIFICATE_x */
  uint16_t min_version;
  uint16_t max_version;
  uint16_t groups[8];
  size_t num_groups;
  int64_t now;
  const char *send;       /* the file that the step "send" sends */
  const char *receive;    /* the file for what comes */
  uint64_t expect;        /* bytes that the step "take" takes */
  const char *until;      /* or the text that it ends at */
  const char *steps;      /* "send,close,drain" */
  const char *early;      /* sst_interop_early: the file that a client sends early, */
  const char *early_mode; /* what a server makes of it, */
  const char *port2;      /* and where a client connects to for the second time */
  unsigned suspend_ms;    /* every question is asked, and answered so much later; 0: none is asked */
  unsigned limit_s;
} options;

/* False: says on stderr what is wrong. */
bool options_parse(options *options, int argc, char **argv);

/* The whole of a file, to be freed; NULL: says on stderr what is wrong. */
uint8_t *read_file(const char *path, size_t *len);

#endif
