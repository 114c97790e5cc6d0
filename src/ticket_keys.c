/* Rings of ticket keys. A ring is an array that never changes: whoever changes it puts another one in its place, under a
   lock that is held for the exchange of a pointer, or for the copy of one key. */
#include "ticket_keys.h"

#include <pthread.h>
#include <string.h>

#include "clock.h"
#include "error.h"
#include "memory.h"
#include "object.h"
#include "tls/tickets.h"

enum { ENTRY_LEN = SST__TICKET_NAME_LEN + SST__TICKET_SECRET_LEN + 8 };
enum { MOST_ENTRIES = 256, MOST_OWN = 32 };
/* A key that is stolen tells the traffic of all TLS 1.2 sessions in its tickets: it seals no longer than a day, and no
   longer than the sessions live; but for sessions of minutes a new key each time would only make the ring long. */
enum { LONGEST_SEALING_S = 24 * 3600, SHORTEST_SEALING_S = 3600 };

typedef struct entry {
  sst__ticket_key key;
  bool own;
  uint64_t made_unix_s; /* of own ones */
} entry;

typedef struct ring {
  size_t length;
  entry entries[];
} ring;

struct sst_ticket_keys {
  sst__object object;
  bool part_of_config;  /* not counted as an object */
  pthread_mutex_t lock; /* over what follows */
  ring *ring;           /* NULL: empty */
  bool rotates;         /* makes its own keys */
  uint32_t lifetime_s;  /* of the longest sessions */
};

/* ---- life ---- */

sst_ticket_keys *sst_ticket_keys_new(void) {
  sst_ticket_keys *keys = sst__object_new(sizeof *keys);
  if (keys == NULL) return NULL;
  pthread_mutex_init(&keys->lock, NULL);
  keys->rotates = true; /* the first key is made when it is needed */
  return keys;
}

sst_ticket_keys *sst__ticket_keys_own(void) {
  sst_ticket_keys *keys = sst_ticket_keys_new();
  if (keys == NULL) return NULL;
  keys->part_of_config = true;
  sst__count_object(-1);
  return keys;
}

sst_ticket_keys *sst_ticket_keys_ref(sst_ticket_keys *keys) {
  if (keys != NULL) sst__object_ref(&keys->object);
  return keys;
}

void sst_ticket_keys_free(sst_ticket_keys *keys) {
  if (keys == NULL || !sst__object_unref(&keys->object)) return;
  sst__free(keys->ring);
  pthread_mutex_destroy(&keys->lock);
  if (keys->part_of_config) sst__count_object(1);
  sst__object_end(&keys->object);
}

/* ---- the caller's ring ---- */

static bool has_name(const ring *of, const uint8_t *name) {
  for (size_t i = 0; i < of->length; i++) {
    if (memcmp(of->entries[i].key.name, name, SST__TICKET_NAME_LEN) == 0) return true;
  }
  return false;
}

static ring *new_ring(size_t num_entries) {
  return sst__alloc(sizeof(ring) + num_entries * sizeof(entry));
}

/* NULL: a name stands there twice. */
static ring *read_ring(ring *into, const uint8_t *bytes, size_t num_entries) {
  for (size_t i = 0; i < num_entries; i++) {
    const uint8_t *at = bytes + i * ENTRY_LEN;
    if (has_name(into, at)) return NULL;
    sst__ticket_key *key = &into->entries[into->length++].key;
    memcpy(key->name, at, sizeof key->name);
    memcpy(key->secret, at + sizeof key->name, sizeof key->secret);
    for (size_t k = ENTRY_LEN - 8; k < ENTRY_LEN; k++)
      key->expiry = key->expiry << 8 | at[k];
  }
  return into;
}

sst_status sst_ticket_keys_replace(sst_ticket_keys *keys, const uint8_t *bytes, size_t bytes_len) {
  if (keys == NULL || !sst__buffer_ok(bytes, bytes_len)) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  const size_t num_entries = bytes_len / ENTRY_LEN;
  if (bytes_len % ENTRY_LEN != 0 || num_entries > MOST_ENTRIES) return sst__refuse(SST_ERR_BAD_TICKET_KEYS);
  ring *made = new_ring(num_entries);
  if (made == NULL) return sst__refuse(SST_ERR_NO_MEMORY);
  if (read_ring(made, bytes, num_entries) == NULL) {
    sst__free(made);
    return sst__refuse(SST_ERR_BAD_TICKET_KEYS);
  }
  pthread_mutex_lock(&keys->lock);
  ring *old = keys->ring;
  keys->ring = made;
  keys->rotates = false;
  pthread_mutex_unlock(&keys->lock);
  sst__free(old);
  return SST_OK;
}

/* ---- keys of our own ---- */

static bool has_expired(const sst__ticket_key *key, uint64_t unix_s) {
  return key->expiry != 0 && key->expiry <= unix_s;
}

/* Puts a new key in front. The one that has sealed until now opens for as long as its sessions live; what has expired
   goes, and the oldest of our own go when there are too many. Under the lock; false: no memory. */
static bool rotate(sst_ticket_keys *keys, uint64_t unix_s, ring **old) {
  *old = keys->ring;
  const size_t num_old = *old == NULL ? 0 : (*old)->length;
  ring *made = new_ring(num_old + 1);
  if (made == NULL) return false;
  entry *first = &made->entries[made->length++];
  first->own = true;
  first->made_unix_s = unix_s;
  sst__random(first->key.name, sizeof first->key.name);
  sst__random(first->key.secret, sizeof first->key.secret);
  size_t num_own = 1;
  for (size_t i = 0; i < num_old; i++) {
    entry kept = (*old)->entries[i];
    if (kept.own && kept.key.expiry == 0) kept.key.expiry = unix_s + keys->lifetime_s;
    const bool stays = !has_expired(&kept.key, unix_s) && (!kept.own || ++num_own <= MOST_OWN);
    if (stays) made->entries[made->length++] = kept;
    sst__wipe(&kept, sizeof kept);
  }
  keys->ring = made;
  keys->rotates = true;
  return true;
}

sst_status sst_ticket_keys_rotate(sst_ticket_keys *keys) {
  if (keys == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  ring *old = NULL;
  pthread_mutex_lock(&keys->lock);
  const bool rotated = rotate(keys, (uint64_t)sst__unix_s(), &old);
  pthread_mutex_unlock(&keys->lock);
  if (!rotated) return sst__refuse(SST_ERR_NO_MEMORY);
  sst__free(old);
  return SST_OK;
}

static uint64_t sealing_period(const sst_ticket_keys *keys) {
  if (keys->lifetime_s > LONGEST_SEALING_S) return LONGEST_SEALING_S;
  return keys->lifetime_s < SHORTEST_SEALING_S ? SHORTEST_SEALING_S : keys->lifetime_s;
}

/* A clock that was set back makes no new keys. */
static bool is_time_for_another(const sst_ticket_keys *keys, uint64_t unix_s) {
  if (!keys->rotates) return false;
  if (keys->ring == NULL || keys->ring->length == 0) return true;
  const entry *first = &keys->ring->entries[0];
  return unix_s > first->made_unix_s && unix_s - first->made_unix_s >= sealing_period(keys);
}

/* ---- for the handshakes ---- */

static const sst__ticket_key *sealing(const sst_ticket_keys *keys, uint64_t unix_s) {
  for (size_t i = 0; keys->ring != NULL && i < keys->ring->length; i++) {
    if (!has_expired(&keys->ring->entries[i].key, unix_s)) return &keys->ring->entries[i].key;
  }
  return NULL;
}

bool sst__ticket_keys_sealing(sst_ticket_keys *keys, uint64_t unix_s, sst__ticket_key *key) {
  ring *old = NULL;
  pthread_mutex_lock(&keys->lock);
  /* Without memory for another one the old one goes on. */
  const bool rotated = is_time_for_another(keys, unix_s) && rotate(keys, unix_s, &old);
  const sst__ticket_key *found = sealing(keys, unix_s);
  if (found != NULL) *key = *found;
  pthread_mutex_unlock(&keys->lock);
  if (rotated) sst__free(old);
  return found != NULL;
}

bool sst__ticket_keys_opening(sst_ticket_keys *keys, const uint8_t name[SST__TICKET_NAME_LEN], uint64_t unix_s,
                              sst__ticket_key *key, bool *newest) {
  bool found = false;
  pthread_mutex_lock(&keys->lock);
  for (size_t i = 0; keys->ring != NULL && i < keys->ring->length && !found; i++) {
    const sst__ticket_key *one = &keys->ring->entries[i].key;
    if (memcmp(one->name, name, SST__TICKET_NAME_LEN) != 0 || has_expired(one, unix_s)) continue;
    found = true;
    *newest = one == sealing(keys, unix_s) && !is_time_for_another(keys, unix_s);
    *key = *one;
  }
  pthread_mutex_unlock(&keys->lock);
  return found;
}

void sst__ticket_keys_cover(sst_ticket_keys *keys, uint32_t lifetime_s) {
  pthread_mutex_lock(&keys->lock);
  if (keys->lifetime_s < lifetime_s) keys->lifetime_s = lifetime_s;
  pthread_mutex_unlock(&keys->lock);
}
