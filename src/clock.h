/* The time of day. */
#ifndef SST_CLOCK_H
#define SST_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Seconds since 1970 UTC. Not time(), which is some milliseconds behind the clock that BoringSSL reads: at the turn of a
   second a ticket would come before the handshake that it belongs to, and count as expired. */
static inline int64_t sst__unix_s(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec;
}

#endif
