/*
 * suspended.h - a handshake that stops at every question. A thread of its own answers each, after a moment, while the
 * handshake goes on asking; the private key is in the system's OpenSSL.
 */
#ifndef SST_INTEROP_SUSPENDED_H
#define SST_INTEROP_SUSPENDED_H

#include <pthread.h>

#include "link.h"
#include "options.h"

typedef struct suspended {
  const options *options;
  sst_stream *stream;
  sst_config *config;         /* the answers */
  sst_credential *credential; /* no private key */
  sst_status question;        /* the one that thread answers; 0: none */
  pthread_t thread;
  sst_status questions[16]; /* all that were asked, in their order */
  size_t num_questions;
  char server_name[256]; /* at SST_WANT_CLIENT_HELLO */
} suspended;

/* Makes config ask, and credential, which has a chain and no key, one whose caller signs. Keeps a reference to both. */
sst_status suspended_set_up(suspended *answers, const options *o, sst_config *config, sst_credential *credential);

/* As link_handshake, with the questions answered. */
sst_status suspended_handshake(suspended *answers, link_end *end);

/* Prints what was asked, as members of a JSON object that follow others. */
void suspended_print(const suspended *answers);

void suspended_release(suspended *answers);

#endif
