#include "fork.h"

#include <pthread.h>
#include <stdatomic.h>

static _Atomic uint32_t generation;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void in_child(void) {
  atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

static void install(void) {
  (void)pthread_atfork(NULL, NULL, in_child);
}

uint32_t sst__fork_generation(void) {
  pthread_once(&once, install);
  return atomic_load_explicit(&generation, memory_order_relaxed);
}
