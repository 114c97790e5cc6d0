/*
 * pump.h - moves bytes between an sst_stream and a connected socket. Copy pump.h and pump.c into your program.
 *
 * The socket may be blocking: then no call returns PUMP_WANT_READ or PUMP_WANT_WRITE. Or it is non-blocking: then poll
 * for what the call asks for, and make the same call again.
 */
#ifndef PUMP_H
#define PUMP_H

#include <securestream.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* PUMP_ROOM is a buffer for pump_read that takes all that one recv can bring, so that the stream keeps no rest. */
enum { PUMP_BUFFER = 4 * SST_RECORD_MAX, PUMP_ROOM = PUMP_BUFFER + SST_RECORD_MAX };

typedef enum pump_status {
  PUMP_OK,         /* done (pump_read: data came) */
  PUMP_WANT_READ,  /* repeat when the socket is readable */
  PUMP_WANT_WRITE, /* repeat when the socket is writable */
  PUMP_END,        /* the peer's close_notify: it has said all */
  PUMP_ASKED,      /* the stream has put a question, which is in question: answer it, then repeat */
  PUMP_FAILED      /* system_error is the errno of the socket; if it is 0, sst_stream_last_error tells */
} pump_status;

typedef struct pump {
  sst_stream *stream; /* not owned */
  int fd;             /* not owned */
  int system_error;
  sst_status question; /* SST_WANT_x */

  /* NULL, or told of the bytes of each send and each recv. */
  void (*on_wire)(void *context, bool sent, const uint8_t *bytes, size_t len);
  void *context;

  size_t in_start, in_len;   /* wire bytes received, not yet taken by the stream */
  size_t out_start, out_len; /* wire bytes made, not yet taken by the socket */
  uint8_t in[PUMP_BUFFER];
  uint8_t out[PUMP_BUFFER];
} pump;

void pump_start(pump *p, sst_stream *stream, int fd);
pump_status pump_handshake(pump *p);
pump_status pump_write(pump *p, const uint8_t *data, size_t len, size_t *taken); /* *taken: may be forgotten */
pump_status pump_read(pump *p, uint8_t *data, size_t cap, size_t *got);
pump_status pump_flush(pump *p); /* sends what waits */
pump_status pump_close(pump *p); /* sends close_notify; reading goes on */
bool pump_unsent(const pump *p); /* something waits for the socket to become writable */

#endif
