/*
 * bare.h - a client and a server over buffers of a fixed size: no allocation but the library's own, and no time but its
 * own. For tests that count memory or time; pair.h checks more.
 */
#ifndef SST_BARE_H
#define SST_BARE_H

#include "securestream.h"
#include "test.h"

enum { BARE_CAP = 40000 };

typedef struct BareSide {
  sst_stream *stream;
  sst_status status;     /* of the last call */
  uint8_t out[BARE_CAP]; /* what the other side has not taken */
  size_t out_len;
} BareSide;

typedef struct Bare {
  BareSide client, server;
} Bare;

/* bare_new makes both streams in a Bare that may hold anything; SST_OK, or why one of them could not be made. What is
   made must be freed by bare_end in both cases. */
sst_status bare_new(Bare *bare, sst_config *client, sst_config *server);
void bare_end(Bare *bare);

/* Runs both sides until neither moves; SST_OK if both have finished, else the first failure. */
sst_status bare_handshake(Bare *bare);
/* Encrypts len bytes at from and decrypts them at to, into out of the same size. SST_OK, or the first failure;
   SST_ERR_INTERNAL if other bytes came than were sent. */
sst_status bare_move(BareSide *from, BareSide *to, const uint8_t *data, size_t len, uint8_t *out);
/* Both ways. */
sst_status bare_echo(Bare *bare, const uint8_t *data, size_t len, uint8_t *out);
/* Closes both ways: both sides read close_notify. */
sst_status bare_close(Bare *bare);

#endif
