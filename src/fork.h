/* A stream belongs to the process that made it. */
#ifndef SST_FORK_H
#define SST_FORK_H

#include <stdint.h>

/* How many forks lie between this process and the one that loaded the library: a stream compares it with the number at
   its birth. A number that the child raises costs a load; getpid at each call would be a system call. */
uint32_t sst__fork_generation(void);

#endif
