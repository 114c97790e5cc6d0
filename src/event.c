#include "event.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "error.h"
#include "memory.h"

enum { MAX_EVENTS = 32, MAX_SESSIONS = 16 };

typedef struct node {
  struct node *next;
  sst_event event;
  uint8_t data[];
} node;

typedef struct held {
  struct held *older;
  sst_session *session;
} held;

struct sst__events {
  pthread_mutex_t lock;
  uint32_t mask;
  node *first, **end;
  held *newest; /* sessions */
  atomic_size_t count;
  uint64_t lost_unseen; /* since the last event that was taken */
  _Atomic uint64_t lost_in_all;
};

sst__events *sst__events_new(uint32_t mask) {
  sst__events *events = sst__alloc(sizeof *events);
  if (events == NULL) return NULL;
  pthread_mutex_init(&events->lock, NULL);
  events->mask = mask;
  events->end = &events->first;
  return events;
}

void sst__events_report(sst__events *events, uint32_t mask) {
  if (events != NULL) events->mask = mask;
}

static void drop_first(sst__events *events) {
  node *first = events->first;
  events->first = first->next;
  if (events->first == NULL) events->end = &events->first;
  atomic_fetch_sub_explicit(&events->count, 1, memory_order_relaxed);
  sst__free(first);
}

static void drop_sessions(held **newest) {
  while (*newest != NULL) {
    held *one = *newest;
    *newest = one->older;
    sst_session_free(one->session);
    sst__free(one);
  }
}

void sst__events_free(sst__events *events) {
  if (events == NULL) return;
  while (events->first != NULL)
    drop_first(events);
  drop_sessions(&events->newest);
  pthread_mutex_destroy(&events->lock);
  sst__free(events);
}

static void count_lost(sst__events *events) {
  events->lost_unseen++;
  atomic_fetch_add_explicit(&events->lost_in_all, 1, memory_order_relaxed);
}

/* Under the lock. */
static void add(sst__events *events, node *new_node, uint32_t kind, uint64_t value, const void *data, size_t size) {
  if (new_node == NULL) {
    count_lost(events);
  } else {
    if (atomic_load_explicit(&events->count, memory_order_relaxed) == MAX_EVENTS) {
      drop_first(events);
      count_lost(events);
    }
    new_node->event = (sst_event){.size = sizeof(sst_event), .kind = kind, .value = value, .length = size};
    if (size > 0) memcpy(new_node->data, data, size);
    *events->end = new_node;
    events->end = &new_node->next;
    atomic_fetch_add_explicit(&events->count, 1, memory_order_relaxed);
  }
}

static bool wants(const sst__events *events, uint32_t kind) {
  return events != NULL && (events->mask & (UINT32_C(1) << kind)) != 0;
}

void sst__events_add(sst__events *events, uint32_t kind, uint64_t value, const void *data, size_t size) {
  if (!wants(events, kind)) return;
  node *new_node = sst__alloc(sizeof *new_node + size);
  pthread_mutex_lock(&events->lock);
  add(events, new_node, kind, value, data, size);
  pthread_mutex_unlock(&events->lock);
}

/* ---- sessions ---- */

/* Under the lock: cuts off those behind the first few. */
static held *cut_sessions(sst__events *events) {
  held **at = &events->newest;
  for (int i = 0; i < MAX_SESSIONS && *at != NULL; i++)
    at = &(*at)->older;
  held *rest = *at;
  *at = NULL;
  return rest;
}

void sst__events_add_session(sst__events *events, sst_session *session, const uint8_t *id, size_t id_len) {
  if (!wants(events, SST_EVENT_SESSION)) {
    sst_session_free(session);
    return;
  }
  held *one = session == NULL ? NULL : sst__alloc(sizeof *one);
  node *event = one == NULL ? NULL : sst__alloc(sizeof *event + id_len);
  held *dropped = NULL;
  if (event == NULL) {
    sst__free(one);
    sst_session_free(session);
  }
  pthread_mutex_lock(&events->lock);
  if (event != NULL) {
    *one = (held){.older = events->newest, .session = session};
    events->newest = one;
    dropped = cut_sessions(events);
  }
  add(events, event, SST_EVENT_SESSION, 0, id, id_len);
  pthread_mutex_unlock(&events->lock);
  drop_sessions(&dropped);
}

sst_session *sst__events_take_session(sst__events *events) {
  if (events == NULL) return NULL;
  pthread_mutex_lock(&events->lock);
  held *one = events->newest;
  if (one != NULL) events->newest = one->older;
  pthread_mutex_unlock(&events->lock);
  sst_session *session = one == NULL ? NULL : one->session;
  sst__free(one);
  return session;
}

static sst_status take(sst__events *events, sst_event *event, uint8_t *out, size_t out_cap) {
  node *first = events->first;
  if (first == NULL) return SST_NONE;
  first->event.lost = events->lost_unseen;
  const sst_status filled = sst__fill(&first->event, sizeof first->event, event);
  if (filled != SST_OK) return filled;
  if (first->event.length > out_cap) return SST_NEED_OUTPUT;
  if (first->event.length > 0) memcpy(out, first->data, first->event.length);
  events->lost_unseen = 0;
  drop_first(events);
  return SST_OK;
}

sst_status sst__events_take(sst__events *events, sst_event *event, uint8_t *out, size_t out_cap) {
  if (event == NULL || !sst__buffer_ok(out, out_cap)) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (events == NULL) return SST_NONE;
  pthread_mutex_lock(&events->lock);
  const sst_status status = take(events, event, out, out_cap);
  pthread_mutex_unlock(&events->lock);
  return status;
}

bool sst__events_waiting(const sst__events *events) {
  return events != NULL && atomic_load_explicit(&events->count, memory_order_relaxed) > 0;
}

uint64_t sst__events_lost(const sst__events *events) {
  return events == NULL ? 0 : atomic_load_explicit(&events->lost_in_all, memory_order_relaxed);
}
