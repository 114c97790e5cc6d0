/* The TLS part of a session for session.c, which sees no BoringSSL type. */
#ifndef SST_RESUMPTION_H
#define SST_RESUMPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "securestream.h"

enum { SST__DIGEST_LEN = 32 };

/* SHA-256. */
void sst__digest(const void *data, size_t len, uint8_t out[SST__DIGEST_LEN]);

/* Leaf and trust anchor included. Public chains have 2 to 5; more only costs signature checks. */
enum { SST__MAX_PATH = 10 };

/* A path that was found good. Elements are indices: into the chain that the peer sent, or, with SST__IN_TRUST added, into
   the list of the trust. */
enum { SST__IN_TRUST = 0x8000 };
typedef struct sst__path {
  uint16_t at[SST__MAX_PATH];
  uint16_t length;               /* 0: none */
  int64_t not_before, not_after; /* when all of its certificates are valid; unix seconds, both included */
} sst__path;

/* Keys, ticket and the peer's chain; never changes once it is in a session. */
typedef struct sst__resumable sst__resumable;

void sst__resumable_free(sst__resumable *state);
/* Gives state as bytes, which are the caller's to free (sst__free); false: no memory. */
bool sst__resumable_bytes(const sst__resumable *state, uint8_t **bytes, size_t *len);
/* SST_OK, SST_ERR_BAD_SESSION, SST_ERR_NO_MEMORY. */
sst_status sst__resumable_read(const uint8_t *bytes, size_t len, sst__resumable **state);
/* Fills all of info but flags and max_early_data. */
void sst__resumable_info(const sst__resumable *state, sst_session_info *info);

#endif
