/* What the counted objects have in common: a count, a mark that forbids changes, the record of the last failure. */
#ifndef SST_OBJECT_H
#define SST_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "memory.h"
#include "securestream.h"

typedef struct sst__object {
  atomic_size_t references;
  atomic_bool frozen;
  sst_error last; /* code SST_OK: none */
} sst__object;

/* Zeroed memory of size bytes that begins with an sst__object with one reference, or NULL. */
void *sst__object_new(size_t size);
void sst__object_ref(sst__object *object);
/* True if this was the last reference: the caller then frees what the object owns and calls sst__object_end. */
bool sst__object_unref(sst__object *object);
void sst__object_end(sst__object *object);

static inline void sst__freeze(sst__object *object) {
  atomic_store_explicit(&object->frozen, true, memory_order_release);
}
static inline bool sst__frozen(const sst__object *object) {
  return atomic_load_explicit(&object->frozen, memory_order_acquire);
}

#endif
