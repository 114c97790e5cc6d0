#include "fork.h"

#include <pthread.h>

_Atomic uint32_t sst__forks;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void in_child(void) {
  atomic_fetch_add_explicit(&sst__forks, 1, memory_order_relaxed);
}

static void install(void) {
  (void)pthread_atfork(NULL, NULL, in_child);
}

uint32_t sst__fork_birth(void) {
  pthread_once(&once, install);
  return sst__fork_generation();
}
