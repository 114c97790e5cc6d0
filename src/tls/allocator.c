/* BoringSSL's memory goes through ours: every byte is counted, and every failed allocation is noticed. BoringSSL
   declares these three functions as weak symbols. */
#include <openssl/base.h>

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "memory.h"

/* In one place BoringSSL uses a new object of at most 32 bytes without a look (the name cache of X509). Requests of
   that size get a cell of this reserve when malloc gives nothing, so that a failed allocation is an error and never a
   crash. The reserve is finite: 64 such requests at the same time in a process without memory. */
enum { CELL_SIZE = 32, NUM_CELLS = 64 };

typedef union cell {
  max_align_t align;
  uint8_t bytes[CELL_SIZE];
} cell;

static cell cells[NUM_CELLS];
static _Atomic uint64_t used_cells;

static void *take_cell(void) {
  uint64_t used = atomic_load(&used_cells);
  for (int i = 0; i < NUM_CELLS; i++) {
    const uint64_t bit = UINT64_C(1) << i;
    while ((used & bit) == 0) {
      if (atomic_compare_exchange_weak(&used_cells, &used, used | bit)) return &cells[i];
    }
  }
  return NULL;
}

/* The cell's number, or NUM_CELLS for other memory. */
static size_t cell_of(const void *memory) {
  const uintptr_t first = (uintptr_t)cells;
  const uintptr_t at = (uintptr_t)memory;
  return at >= first && at < first + sizeof cells ? (at - first) / sizeof cells[0] : NUM_CELLS;
}

OPENSSL_EXPORT void *OPENSSL_memory_alloc(size_t size);
OPENSSL_EXPORT void OPENSSL_memory_free(void *memory);
OPENSSL_EXPORT size_t OPENSSL_memory_get_size(void *memory);

void *OPENSSL_memory_alloc(size_t size) {
  void *memory = sst__alloc_unset(size);
  return memory != NULL || size > CELL_SIZE ? memory : take_cell();
}

void OPENSSL_memory_free(void *memory) {
  const size_t number = cell_of(memory);
  if (number == NUM_CELLS) {
    sst__free(memory);
    return;
  }
  sst__wipe(memory, CELL_SIZE);
  atomic_fetch_and(&used_cells, ~(UINT64_C(1) << number));
}

size_t OPENSSL_memory_get_size(void *memory) {
  return cell_of(memory) == NUM_CELLS ? sst__usable(memory) : CELL_SIZE;
}
