/*
 * A stream over a blocking socket, one step at a time: what the examples do in a loop is cut into the steps that the
 * interop tests put together.
 */
#ifndef SST_INTEROP_LINK_H
#define SST_INTEROP_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "securestream.h"

typedef struct link_end {
  sst_stream *stream;
  int fd;
  bool transport_ended; /* recv gave 0, or an error that means the same */
  int system_error;     /* errno of the last call of the socket that failed; 0: none */
  size_t in_start;
  size_t in_len;
  uint64_t sent;     /* application data */
  uint64_t received; /* application data */
  uint8_t in[4 * SST_RECORD_MAX];
  uint8_t out[4 * SST_RECORD_MAX];
} link_end;

/* Each returns SST_OK, SST_CLOSED or the error of the stream. SST_ERR_SYSTEM: the socket failed (system_error). */

sst_status link_handshake(link_end *end);
/* The handshake, with early data as much as the session allows (early NULL: none); sent: how much that was. SST_OK, or
   SST_WANT_EARLY_DATA_RETRY. */
sst_status link_early(link_end *end, const uint8_t *early, size_t early_len, size_t *sent);
/* Reads until a session has come. */
sst_status link_session(link_end *end, sst_session **session);
/* Takes limit bytes, or all until close_notify: what is early goes to one file, the rest to the other. */
sst_status link_receive_early(link_end *end, FILE *early, FILE *late, uint64_t limit);
sst_status link_send(link_end *end, const uint8_t *data, size_t data_len);
sst_status link_close(link_end *end);

/*
 * Appends what comes to target: up to limit bytes, to the text until at the end of the data (NULL: none), or to
 * close_notify (SST_CLOSED).
 */
sst_status link_receive(link_end *end, FILE *target, uint64_t limit, const char *until);

/* Sends what waits (an alert), ends our side of TCP and waits for the peer to end, so that no reset eats the alert. */
void link_linger(link_end *end);

#endif
