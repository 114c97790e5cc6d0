/*
 * connection.h - one client of secure-server.
 *
 * A connection never waits. connection_step does what can be done now and then says, in events and deadline_ms, what it
 * waits for. So one thread serves any number of clients, and none of them can hold up another.
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "net.h"
#include "options.h"
#include "pump.h"
#include "report.h"
#include "store.h"

typedef enum connection_stage {
  STAGE_HANDSHAKE,
  STAGE_OPEN,
  STAGE_LINGER, /* failed; the alert is out, and the client gets a moment to read it */
  STAGE_DONE
} connection_stage;

typedef struct connection {
  const options *options;
  FILE *key_log;
  sst_stream *stream;
  connection_stage stage;
  char who[NET_NAME + 40];

  short events;        /* what to poll the socket for */
  bool ready;          /* there is more to do at once: do not wait */
  int64_t deadline_ms; /* when patience ends */
  bool good;           /* it ended as it should */
  bool asked;          /* its stream waits for the answer to pump.question: then there is nothing to poll for */

  bool expired;  /* the client was silent for too long */
  bool stopping; /* close_notify goes out as soon as nothing is owed */
  bool we_closed, peer_closed;
  int source;   /* MODE_SEND: the file; -1 when all was read */
  store target; /* MODE_RECEIVE */
  uint64_t received, sent;
  report_wire wire;

  size_t data_start, data_len; /* plaintext that is to be sent */
  uint8_t data[PUMP_ROOM];
  pump pump; /* Large, like data: memory that was never written to costs no page. */
} connection;

/* Takes over fd. NULL: it could not be made, fd is closed and the reason told. */
connection *connection_new(const options *o, sst_config *config, FILE *key_log, int fd, unsigned number,
                           const char *name);
void connection_step(connection *c);
/* The deadline has passed. */
void connection_expire(connection *c);
/* Asks for an end: close_notify as soon as all that is owed is sent. At deadline_ms patience ends. */
void connection_stop(connection *c, int64_t deadline_ms);
void connection_free(connection *c);

#endif
