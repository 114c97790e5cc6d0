/* A stream belongs to the process that made it. */
#ifndef SST_FORK_H
#define SST_FORK_H

#include <stdatomic.h>
#include <stdint.h>

extern _Atomic uint32_t sst__forks; /* fork.c alone writes it */

/* The generation that a new stream is born in; watches for forks from the first call on. */
uint32_t sst__fork_birth(void);

/* How many forks lie between this process and the first one that made a stream: a stream compares it with the number at
   its birth. A number that the child raises costs a load; getpid at each call would be a system call. */
static inline uint32_t sst__fork_generation(void) {
  return atomic_load_explicit(&sst__forks, memory_order_relaxed);
}

#endif
