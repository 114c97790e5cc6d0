/*
 * crafted.h - sessions with a ticket, or a bond, of the test's own, by way of their bytes.
 *
 *     Crafted crafted = crafted_of(session);
 *     crafted.ticket[3] ^= 1;
 *     sst_session *other = crafted_session(&crafted);
 *     crafted_free(&crafted);
 */
#ifndef SST_CRAFTED_H
#define SST_CRAFTED_H

#include <openssl/ssl.h>

#include "data.h"

typedef struct Crafted {
  Data bytes;      /* of the session */
  size_t bond_len; /* of its bond, which stands at CRAFTED_BOND */
  SSL_CTX *ctx;
  SSL_SESSION *state;
  uint8_t *ticket; /* a copy, which may be changed */
  size_t ticket_len;
} Crafted;

enum { CRAFTED_BOND = 12 };

Crafted crafted_of(const sst_session *session);
/* One reference for the caller; the case ends if the bytes do not load. */
sst_session *crafted_session(const Crafted *crafted);
void crafted_free(Crafted *crafted);

#endif
