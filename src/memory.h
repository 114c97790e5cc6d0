/* Heap with exact accounting. All of the library's memory, BoringSSL's included (src/tls/allocator.c), goes through
   here. */
#ifndef SST_MEMORY_H
#define SST_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory, or NULL. A size of 0 gives a pointer that can be freed. */
void *sst__alloc(size_t size);
/* The same, not zeroed: for buffers that are filled at once. */
void *sst__alloc_unset(size_t size);
/* A copy of size bytes, or NULL. */
void *sst__copy(const void *data, size_t size);
/* Wipes and frees; NULL is ignored. */
void sst__free(void *memory);
/* Bytes that memory really has: what the accounting counts. */
size_t sst__usable(void *memory);

/* Overwrites in a way that the compiler keeps. */
void sst__wipe(void *memory, size_t size);

/* How often an allocation failed in this process so far. A failure during which it rose is SST_ERR_NO_MEMORY: the
   errors of the TLS implementation alone do not tell. */
uint64_t sst__failed_allocations(void);

/* An object of the public kinds came (1) or went (-1). */
void sst__count_object(int change);

#endif
