/*
 * rings.h - the rings of ticket keys of a case, by their names, and the keys that scenarios name (section 3).
 */
#ifndef SST_RINGS_H
#define SST_RINGS_H

#include "world.h"

/* The ring of that name; made when it is first named. The case keeps its reference until rings_free. */
sst_ticket_keys *ring_of(const Token *name);
void rings_free(void);

sst_status ring_replace(sst_ticket_keys *ring, const Match *match, size_t keys);

/* Opens a ticket by a key, as section 7 of the header says; the length of what was in it. */
size_t ring_open_ticket(const Token *key, const uint8_t *ticket, size_t ticket_len, uint8_t *plaintext, size_t cap);

#endif
