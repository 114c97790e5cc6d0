/* Sessions: what a client can resume, and what it is bound to. */
#ifndef SST_SESSION_H
#define SST_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host.h"
#include "securestream.h"
#include "tls/resumption.h"

/* What a client was when it got a session, and must be when it resumes it: whom it wanted to reach, whom it expected,
   what it could show of itself. Shared by all sessions of a stream; never changes. */
typedef struct sst__bond {
  atomic_size_t references;
  size_t len;
  uint8_t bytes[]; /* length and server name, length and verify name, digest of the credentials */
} sst__bond;

sst__bond *sst__bond_new(const sst__host *server_name, const sst__host *verify_name,
                         const uint8_t own[SST__DIGEST_LEN]);
sst__bond *sst__bond_ref(sst__bond *bond);
/* NULL is ignored. */
void sst__bond_free(sst__bond *bond);

/* What is known of a session beside its state. */
typedef struct sst__session_facts {
  bool extended_master_secret; /* or TLS 1.3 */
  uint32_t max_early_data;
  sst__path path; /* of the peer, as it was found good by this judgement; length 0: nothing is known */
  uint8_t judgement[SST__DIGEST_LEN]; /* which a session from bytes does not have */
} sst__session_facts;

/* A session with one reference that owns state and keeps bond; NULL: no memory, and state is still the caller's. */
sst_session *sst__session_new(sst__resumable *state, sst__bond *bond, const sst__session_facts *facts);
/* NULL: it is empty. */
sst__resumable *sst__session_state(const sst_session *session);
const sst__session_facts *sst__session_facts_of(const sst_session *session);
bool sst__session_is_bound_to(const sst_session *session, const sst__bond *bond);
/* True if it may be resumed now; which, unless it is reusable, no other may from now on. */
bool sst__session_claim(sst_session *session);

#endif
