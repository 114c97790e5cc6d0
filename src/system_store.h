/* The trust anchors of the system. The only place that opens files. */
#ifndef SST_SYSTEM_STORE_H
#define SST_SYSTEM_STORE_H

#include "tls/certificates.h"

/* The manual is sst_trust_load_system's. After a failure anchors is as before. */
sst_status sst__load_system_store(sst__anchors *anchors, sst_error *record);

#endif
