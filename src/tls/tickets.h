/* What ticket_keys.c needs of the TLS implementation, which shows no type of it. */
#ifndef SST_TICKETS_H
#define SST_TICKETS_H

#include <stddef.h>
#include <stdint.h>

/* Random bytes that nobody can guess; never fails. */
void sst__random(uint8_t *out, size_t len);

#endif
