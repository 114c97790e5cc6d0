/* The BIO over the caller's windows: BoringSSL reads the call's input and writes to the call's room, then to the
   queue. */
#ifndef SST_WINDOW_H
#define SST_WINDOW_H

#include "tls/internal.h"

/* Gives tls->ssl its BIO; false: no memory. */
bool sst__window_attach(sst__tls *tls);

#endif
