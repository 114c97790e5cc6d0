/* The linker leads every call of malloc and its kin here (--wrap), and __real_x to the C library's. */
#include <stdatomic.h>

#include "measure.h"

static atomic_bool counting;
static _Atomic uint64_t calls, bytes;

void *__real_malloc(size_t size);
void *__real_calloc(size_t number, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t number, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void allocations_start(void) {
  atomic_store(&calls, 0);
  atomic_store(&bytes, 0);
  atomic_store(&counting, true);
}

Allocations allocations_stop(void) {
  atomic_store(&counting, false);
  return (Allocations){atomic_load(&calls), atomic_load(&bytes)};
}

static void count(size_t size) {
  if (!atomic_load_explicit(&counting, memory_order_relaxed)) return;
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&bytes, size, memory_order_relaxed);
}

void *__wrap_malloc(size_t size) {
  count(size);
  return __real_malloc(size);
}

void *__wrap_calloc(size_t number, size_t size) {
  count(number * size);
  return __real_calloc(number, size);
}

void *__wrap_realloc(void *memory, size_t size) {
  count(size);
  return __real_realloc(memory, size);
}
