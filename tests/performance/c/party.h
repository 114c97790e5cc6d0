/*
 * party.h - what the pairs of a case are made of, and pairs that stay open and idle.
 */
#ifndef SST_PARTY_H
#define SST_PARTY_H

#include "bare.h"
#include "measure.h"

enum { CLIENT, SERVER };

/* Arrays are by side. */
typedef struct Party {
  const Case *what;
  sst_credential *credential[2]; /* or NULL */
  sst_trust *trust[2];
  sst_config *config[2];
} Party;

Party party_new(const Case *what);
void party_free(Party *party);
/* New configs in the place of the old ones; credentials and trust stay. */
void party_renew(Party *party);

/* Opens a pair of the party: handshake, and 16 KiB in each direction. The caller takes the streams out of bare. */
void party_open(const Party *party, Bare *bare);

typedef struct Crowd {
  sst_stream **streams[2];
  size_t num, cap; /* pairs */
} Crowd;

Crowd crowd_new(size_t cap);
void crowd_grow(Crowd *crowd, const Party *party, size_t num);
void crowd_free(Crowd *crowd);
/* Frees the streams of a side; returns the bytes of heap that went with each. */
double crowd_leave(Crowd *crowd, int side);

#endif
