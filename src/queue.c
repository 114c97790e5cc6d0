#include "queue.h"

#include <string.h>

#include "memory.h"

enum { FIRST_CAP = 512 };

static void set_size(sst__queue *queue) {
  atomic_store_explicit(&queue->size, queue->end - queue->begin, memory_order_relaxed);
}

bool sst__queue_reserve(sst__queue *queue, size_t size) {
  const size_t waiting = queue->end - queue->begin;
  if (queue->cap - queue->end >= size) return true;
  if (size > (size_t)PTRDIFF_MAX / 2 - waiting) return false;

  size_t cap = queue->cap > 0 ? queue->cap : FIRST_CAP;
  while (cap < waiting + size)
    cap *= 2;
  uint8_t *data = sst__alloc_unset(cap);
  if (data == NULL) return false;
  if (waiting > 0) memcpy(data, queue->data + queue->begin, waiting);
  sst__free(queue->data);
  queue->data = data;
  queue->cap = cap;
  queue->begin = 0;
  queue->end = waiting;
  return true;
}

bool sst__queue_add(sst__queue *queue, const uint8_t *data, size_t size) {
  if (size == 0) return true;
  if (!sst__queue_reserve(queue, size)) return false;
  memcpy(queue->data + queue->end, data, size);
  queue->end += size;
  set_size(queue);
  return true;
}

size_t sst__queue_take(sst__queue *queue, uint8_t *out, size_t cap) {
  const size_t waiting = queue->end - queue->begin;
  const size_t size = waiting < cap ? waiting : cap;
  if (size == 0) return 0;
  memcpy(out, queue->data + queue->begin, size);
  queue->begin += size;
  if (queue->begin == queue->end) {
    sst__queue_free(queue);
  } else {
    set_size(queue);
  }
  return size;
}

void sst__queue_free(sst__queue *queue) {
  sst__free(queue->data);
  queue->data = NULL;
  queue->begin = queue->end = queue->cap = 0;
  set_size(queue);
}

bool sst__output_write(sst__output *out, const uint8_t *data, size_t size) {
  const size_t room = sst__output_room(out);
  const size_t now = size < room ? size : room;
  if (!sst__queue_add(out->queue, data + now, size - now)) return false;
  if (now > 0) memcpy(out->data + out->used, data, now);
  out->used += now;
  return true;
}

bool sst__output_reserve(sst__output *out, size_t size) {
  const size_t room = sst__output_room(out);
  return size <= room || sst__queue_reserve(out->queue, size - room);
}

bool sst__output_drain(sst__output *out) {
  out->used += sst__queue_take(out->queue, out->data + out->used, out->cap - out->used);
  return sst__queue_size(out->queue) == 0;
}
