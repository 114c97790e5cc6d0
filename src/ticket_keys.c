/* Rings of ticket keys: made, counted and freed; their keys come with session tickets. */
#include "error.h"
#include "object.h"

struct sst_ticket_keys {
  sst__object object;
};

sst_ticket_keys *sst_ticket_keys_new(void) {
  return sst__object_new(sizeof(sst_ticket_keys));
}

sst_ticket_keys *sst_ticket_keys_ref(sst_ticket_keys *keys) {
  if (keys != NULL) sst__object_ref(&keys->object);
  return keys;
}

void sst_ticket_keys_free(sst_ticket_keys *keys) {
  if (keys != NULL && sst__object_unref(&keys->object)) sst__object_end(&keys->object);
}

sst_status sst_ticket_keys_replace(sst_ticket_keys *keys, const uint8_t *ring, size_t ring_len) {
  if (keys == NULL || !sst__buffer_ok(ring, ring_len)) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return sst__refuse(SST_ERR_UNSUPPORTED);
}

sst_status sst_ticket_keys_rotate(sst_ticket_keys *keys) {
  if (keys == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return sst__refuse(SST_ERR_UNSUPPORTED);
}
