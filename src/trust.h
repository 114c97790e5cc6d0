/* The trust: a counted object around trust anchors. */
#ifndef SST_TRUST_H
#define SST_TRUST_H

#include "securestream.h"
#include "tls/certificates.h"

/* Borrowed: lives as long as trust. */
const sst__anchors *sst__trust_anchors(const sst_trust *trust);
/* Forbids changes from now on: a config has it. */
void sst__trust_freeze(sst_trust *trust);

#endif
