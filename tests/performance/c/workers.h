/*
 * workers.h - the same on several threads at once.
 */
#ifndef SST_WORKERS_H
#define SST_WORKERS_H

#include <stddef.h>

enum { MOST_THREADS = 16 };

/* Calls run for each of num contexts, which lie size bytes apart, the first on the caller's thread; returns when all
   have ended. run must not leave by the harness. */
void workers_run(size_t num, void (*run)(void *context), void *contexts, size_t size);

#endif
