/* The BIO over the caller's windows: BoringSSL reads the call's input and writes to the call's room, then to the
   queue. */
#ifndef SST_WINDOW_H
#define SST_WINDOW_H

#include "tls/internal.h"

/* Gives tls->ssl its BIO; false: no memory. */
bool sst__window_attach(sst__tls *tls);

/* Bytes that the record in progress lacks, as far as can be seen; 5 (a header) where none is in progress. */
size_t sst__window_missing(const sst__tls *tls);

#endif
