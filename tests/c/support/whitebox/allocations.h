/*
 * allocations.h - every allocation of the program but libc's own, the library's and BoringSSL's alike: counted,
 * measured, and any one of them made to fail.
 *
 *     for (uint64_t n = 1; allocations_fail_at(n), run(), allocations_hit(); n++) ...
 *
 * Only allocations of the calling thread fail and are counted. Where the program does not wrap malloc
 * (ThreadSanitizer), allocations_are_wrapped says so and such a case is skipped.
 */
#ifndef SST_ALLOCATIONS_H
#define SST_ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

bool allocations_are_wrapped(void);
/* The n-th allocation from now on fails, once; 0: none. Starts to count anew. */
void allocations_fail_at(uint64_t n);
/* The n-th and every later one fails. */
void allocations_fail_from(uint64_t n);
/* Ends that, and tells whether the n-th was reached. */
bool allocations_hit(void);
/* Since allocations_fail_at. */
uint64_t allocations_count(void);

/* What is allocated at this moment, by all threads, counted from the first call on: only differences say something. */
typedef struct Heap {
  int64_t bytes; /* as the allocator rounds them */
  int64_t blocks;
} Heap;
Heap heap_now(void);

#endif
