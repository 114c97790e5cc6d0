/*
 * loop.h - serves clients in one thread while somebody else answers what their handshakes stop for.
 *
 * A connection whose stream has put a question is given to ask, once. From then on it is left alone until loop_answered
 * has been called for it, which take does: it is called when answers is readable.
 */
#ifndef LOOP_H
#define LOOP_H

#include "connection.h"

enum { LOOP_CLIENTS = 256 };

typedef struct loop {
  const options *options;
  sst_config *config; /* of new streams; NULL: they stop for one */
  int listener;
  int answers;
  void (*ask)(void *context, connection *c);
  void (*take)(void *context);
  void *context;

  size_t num_clients, num_waiting;
  struct {
    connection *connection;
    bool waits; /* for its answer */
  } clients[LOOP_CLIENTS];
  unsigned num_accepted;
} loop;

/* Runs until poll fails. */
void loop_run(loop *l);
/* The answer was given: the handshake goes on. */
void loop_answered(loop *l, const connection *c);

#endif
