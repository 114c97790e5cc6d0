/* Rings of ticket keys for src/tls/tickets.c. Any call from any thread. */
#ifndef SST_TICKET_KEYS_H
#define SST_TICKET_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "securestream.h"

enum { SST__TICKET_NAME_LEN = 16, SST__TICKET_SECRET_LEN = 64 };

typedef struct sst__ticket_key {
  uint8_t name[SST__TICKET_NAME_LEN];
  uint8_t secret[SST__TICKET_SECRET_LEN];
  uint64_t expiry; /* unix seconds; 0: never */
} sst__ticket_key;

/* A ring of a config's own, with one reference; NULL: no memory. It counts as a part of the config, not as an object. */
sst_ticket_keys *sst__ticket_keys_own(void);

/* Copies the key that seals at unix_s, for the caller to wipe; a ring that makes its own keys makes a new one if it is
   time. false: there is none. */
bool sst__ticket_keys_sealing(sst_ticket_keys *keys, uint64_t unix_s, sst__ticket_key *key);
/* Copies the key of that name if it still opens at unix_s, for the caller to wipe; false: there is none. *newest: it is
   the one that seals. */
bool sst__ticket_keys_opening(sst_ticket_keys *keys, const uint8_t name[SST__TICKET_NAME_LEN], uint64_t unix_s,
                              sst__ticket_key *key, bool *newest);
/* Says how long the sessions of one config live: keys that the ring makes open for as long. */
void sst__ticket_keys_cover(sst_ticket_keys *keys, uint32_t lifetime_s);

#endif
