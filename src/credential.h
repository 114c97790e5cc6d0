/* The credential: a counted object around an identity. */
#ifndef SST_CREDENTIAL_H
#define SST_CREDENTIAL_H

#include "securestream.h"
#include "tls/certificates.h"

/* Borrowed: lives as long as credential. */
sst__identity *sst__credential_identity(sst_credential *credential);
/* Forbids changes from now on: a config has it. */
void sst__credential_freeze(sst_credential *credential);

#endif
