#include "workers.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Start {
  void (*run)(void *context);
  void *context;
} Start;

static void *begin(void *context) {
  const Start *start = context;
  start->run(start->context);
  return NULL;
}

/* The others cannot be left behind: what goes wrong here ends the program. */
static void need(int error, const char *call) {
  if (error == 0) return;
  fprintf(stderr, "%s: error %d\n", call, error);
  exit(1);
}

void workers_run(size_t num, void (*run)(void *context), void *contexts, size_t size) {
  pthread_t threads[MOST_THREADS];
  Start starts[MOST_THREADS];
  for (size_t i = 1; i < num; i++) {
    starts[i] = (Start){run, (uint8_t *)contexts + i * size};
    need(pthread_create(&threads[i], NULL, begin, &starts[i]), "pthread_create");
  }
  run(contexts);
  for (size_t i = 1; i < num; i++)
    need(pthread_join(threads[i], NULL), "pthread_join");
}
