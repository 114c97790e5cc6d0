#include "object.h"

void *sst__object_new(size_t size) {
  sst__object *object = sst__alloc(size);
  if (object == NULL) return NULL;
  atomic_init(&object->references, 1);
  sst__error_clear(&object->last);
  sst__count_object(1);
  return object;
}

void sst__object_ref(sst__object *object) {
  atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
}

bool sst__object_unref(sst__object *object) {
  return atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) == 1;
}

void sst__object_end(sst__object *object) {
  sst__count_object(-1);
  sst__free(object);
}
