#include "allocations.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

static _Thread_local uint64_t count, fail_at;
static _Thread_local bool hit, later_too;
static _Atomic int64_t live_bytes, live_blocks;
static atomic_bool measures; /* from the first heap_now on: the tests that measure time are not to pay for it */

void allocations_fail_at(uint64_t n) {
  count = 0;
  fail_at = n;
  hit = later_too = false;
}

void allocations_fail_from(uint64_t n) {
  allocations_fail_at(n);
  later_too = true;
}

bool allocations_hit(void) {
  fail_at = 0;
  return hit;
}

uint64_t allocations_count(void) {
  return count;
}

Heap heap_now(void) {
  atomic_store(&measures, true);
  return (Heap){atomic_load(&live_bytes), atomic_load(&live_blocks)};
}

#ifdef SST_TEST_WRAPS_MALLOC

bool allocations_are_wrapped(void) {
  return true;
}

/* The linker leads every call of malloc and its kin here (--wrap), and __real_x to the C library's. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t number, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t number, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);

static bool fails(void) {
  count++;
  if (fail_at == 0 || count < fail_at || (count > fail_at && !later_too)) return false;
  hit = true;
  return true;
}

static bool measuring(void) {
  return atomic_load_explicit(&measures, memory_order_relaxed);
}

static void measure(int64_t bytes, int64_t blocks) {
  atomic_fetch_add_explicit(&live_bytes, bytes, memory_order_relaxed);
  atomic_fetch_add_explicit(&live_blocks, blocks, memory_order_relaxed);
}

static void *came(void *memory) {
  if (memory != NULL && measuring()) measure((int64_t)malloc_usable_size(memory), 1);
  return memory;
}

void *__wrap_malloc(size_t size) {
  return fails() ? NULL : came(__real_malloc(size));
}

void *__wrap_calloc(size_t number, size_t size) {
  return fails() ? NULL : came(__real_calloc(number, size));
}

void *__wrap_realloc(void *memory, size_t size) {
  if (fails()) return NULL;
  const int64_t before = memory == NULL ? 0 : (int64_t)malloc_usable_size(memory);
  void *moved = __real_realloc(memory, size);
  if (moved != NULL && memory != NULL && measuring()) measure(-before, -1);
  return came(moved);
}

void __wrap_free(void *memory) {
  if (memory != NULL && measuring()) measure(-(int64_t)malloc_usable_size(memory), -1);
  __real_free(memory);
}

#else

bool allocations_are_wrapped(void) {
  return false;
}

#endif
