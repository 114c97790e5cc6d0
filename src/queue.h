/* Bytes that wait for room: what a call could not write to the caller's buffer. Empty queues hold no memory. */
#ifndef SST_QUEUE_H
#define SST_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sst__queue {
  uint8_t *data;
  size_t begin, end, cap; /* data[begin, end) waits */
  atomic_size_t size;     /* end - begin, for readers on other threads */
} sst__queue;

static inline size_t sst__queue_size(const sst__queue *queue) {
  return atomic_load_explicit(&queue->size, memory_order_relaxed);
}

/* Adds bytes; false: no memory, nothing added. */
bool sst__queue_add(sst__queue *queue, const uint8_t *data, size_t size);
/* Makes room, so that adding so many bytes cannot fail; false: no memory. */
bool sst__queue_reserve(sst__queue *queue, size_t size);
/* Moves up to cap bytes out, in order; frees the memory with the last. */
size_t sst__queue_take(sst__queue *queue, uint8_t *out, size_t cap);
void sst__queue_free(sst__queue *queue);

/* Input: the caller's bytes and how many are used. */
typedef struct sst__input {
  const uint8_t *data;
  size_t len, used;
} sst__input;

/* Output: the caller's room first, then the queue. Bytes keep their order. */
typedef struct sst__output {
  uint8_t *data;
  size_t cap, used;
  sst__queue *queue;
} sst__output;

static inline size_t sst__output_room(const sst__output *out) {
  return sst__queue_size(out->queue) > 0 ? 0 : out->cap - out->used;
}

/* Writes all of data; false: no memory. */
bool sst__output_write(sst__output *out, const uint8_t *data, size_t size);
/* Makes sure that writing so many bytes cannot fail; false: no memory. */
bool sst__output_reserve(sst__output *out, size_t size);
/* Moves what waits into the room; true: nothing waits any more. */
bool sst__output_drain(sst__output *out);

#endif
