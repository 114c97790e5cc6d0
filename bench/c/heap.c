/*
 * libbench_heap.so, loaded with LD_PRELOAD: counts every call of malloc and its kin in the process, and the bytes that
 * are live, as the allocator rounds them, by the side whose call it was. Programs find it with dlsym.
 */
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);
void bench_heap_now(uint64_t *all_calls, int64_t *bytes);
void bench_heap_side(int side);

static _Atomic uint64_t calls;
static _Atomic int64_t live[3];
static _Thread_local int whose __attribute__((tls_model("initial-exec"))) = 2;

static void measure(void *memory, int sign) {
  if (memory == NULL) return;
  atomic_fetch_add_explicit(&live[whose], sign * (int64_t)malloc_usable_size(memory), memory_order_relaxed);
}

static void *came(void *memory) {
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  measure(memory, 1);
  return memory;
}

void *malloc(size_t size) {
  return came(__libc_malloc(size));
}

void *calloc(size_t number, size_t size) {
  return came(__libc_calloc(number, size));
}

void *realloc(void *memory, size_t size) {
  measure(memory, -1);
  return came(__libc_realloc(memory, size));
}

void *memalign(size_t alignment, size_t size) {
  return came(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size) {
  return came(__libc_memalign(alignment, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  *memory = came(__libc_memalign(alignment, size));
  return *memory != NULL ? 0 : ENOMEM;
}

void free(void *memory) {
  measure(memory, -1);
  __libc_free(memory);
}

void bench_heap_now(uint64_t *all_calls, int64_t *bytes) {
  *all_calls = atomic_load(&calls);
  for (int i = 0; i < 3; i++)
    bytes[i] = atomic_load(&live[i]);
}

void bench_heap_side(int side) {
  whose = side;
}
