#include "memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "securestream.h"

static _Atomic uint64_t allocated_bytes;
static _Atomic uint64_t failed_allocations;
static _Atomic int64_t live_objects;

void *sst__alloc_unset(size_t size) {
  void *memory = malloc(size > 0 ? size : 1);
  if (memory == NULL) {
    atomic_fetch_add_explicit(&failed_allocations, 1, memory_order_relaxed);
    return NULL;
  }
  atomic_fetch_add_explicit(&allocated_bytes, malloc_usable_size(memory), memory_order_relaxed);
  return memory;
}

void *sst__alloc(size_t size) {
  void *memory = sst__alloc_unset(size);
  if (memory != NULL && size > 0) memset(memory, 0, size);
  return memory;
}

void *sst__copy(const void *data, size_t size) {
  void *memory = sst__alloc_unset(size);
  if (memory != NULL && size > 0) memcpy(memory, data, size);
  return memory;
}

void sst__free(void *memory) {
  if (memory == NULL) return;
  const size_t size = malloc_usable_size(memory);
  sst__wipe(memory, size);
  atomic_fetch_sub_explicit(&allocated_bytes, size, memory_order_relaxed);
  free(memory);
}

size_t sst__usable(void *memory) {
  return malloc_usable_size(memory);
}

/* A call through a volatile pointer: the compiler cannot know that it is memset, so it cannot drop it as a dead
   store. */
static void *(*const volatile wipe)(void *, int, size_t) = memset;

void sst__wipe(void *memory, size_t size) {
  if (size > 0) wipe(memory, 0, size);
}

uint64_t sst__failed_allocations(void) {
  return atomic_load_explicit(&failed_allocations, memory_order_relaxed);
}

void sst__count_object(int change) {
  atomic_fetch_add_explicit(&live_objects, change, memory_order_relaxed);
}

uint64_t sst_live_objects(void) {
  const int64_t count = atomic_load_explicit(&live_objects, memory_order_relaxed);
  return count > 0 ? (uint64_t)count : 0;
}

uint64_t sst_allocated_bytes(void) {
  return atomic_load_explicit(&allocated_bytes, memory_order_relaxed);
}
