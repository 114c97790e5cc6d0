/* Turns: one thread may send while another receives; anything else is caught. Inline, since every call begins and ends
   here, and says by a constant which sides it takes: what is left is an exchange, a few loads and a store. */
#ifndef SST_TURN_H
#define SST_TURN_H

#include "error.h"
#include "fork.h"
#include "stream.h"

enum { SST__SENDING = 1, SST__RECEIVING = 2 };

/* A flag for each side: letting one go is then a store, where bits of one word would cost a second locked instruction. */
SST__INLINE void sst__turn_release(sst_stream *stream, unsigned sides) {
  if ((sides & SST__SENDING) != 0) atomic_store_explicit(&stream->sending, false, memory_order_release);
  if ((sides & SST__RECEIVING) != 0) atomic_store_explicit(&stream->receiving, false, memory_order_release);
}

SST__INLINE bool sst__turn_claim(sst_stream *stream, unsigned sides) {
  const bool both = sides == (SST__SENDING | SST__RECEIVING);
  atomic_bool *first = (sides & SST__SENDING) != 0 ? &stream->sending : &stream->receiving;
  if (atomic_exchange_explicit(first, true, memory_order_acquire)) return false;
  if (!both || !atomic_exchange_explicit(&stream->receiving, true, memory_order_acquire)) return true;
  sst__turn_release(stream, SST__SENDING);
  return false;
}

/* A call that has both sides is alone in any case; the engine may become another one in it. */
SST__INLINE bool sst__turn_needs_lock(const sst_stream *stream, unsigned sides) {
  return sides != (SST__SENDING | SST__RECEIVING) && stream->engine->one_at_a_time;
}

/* Takes sides for one call and the lock; progress (may be NULL) is zeroed. SST_OK, FORKED or BUSY. */
SST__INLINE sst_status sst__turn_begin(sst_stream *stream, unsigned sides, sst_progress *progress) {
  if (progress != NULL) *progress = (sst_progress){0};
  if (stream->fork_generation != sst__fork_generation()) return sst__refuse(SST_ERR_FORKED);
  if (sst__is_early(stream)) return sst__early_claim(stream) ? SST_OK : sst__refuse(SST_ERR_BUSY);
  if (!sst__turn_claim(stream, sides)) return sst__refuse(SST_ERR_BUSY);
  /* 0-RTT begins in a call that has both sides: who has one of them now sees whether it has begun meanwhile. */
  if (sides != (SST__SENDING | SST__RECEIVING) && sst__is_early(stream)) {
    sst__turn_release(stream, sides);
    return sst__refuse(SST_ERR_BUSY);
  }
  if (sst__turn_needs_lock(stream, sides)) pthread_mutex_lock(&stream->lock);
  return SST_OK;
}

/* Gives them back, having filled flags and waiting, and returns status. */
SST__INLINE sst_status sst__turn_end(sst_stream *stream, unsigned sides, sst_progress *progress, sst_status status) {
  if (progress != NULL) {
    const size_t wire = sst__queue_size(&stream->wire) + sst__due_size(&stream->due);
    const size_t kept = sst__kept_size(&stream->kept);
    progress->waiting = sides == SST__RECEIVING ? kept : wire;
    progress->flags = (wire > 0 ? SST_HAS_OUTPUT : 0u) | (kept > 0 ? SST_HAS_PLAINTEXT : 0u) |
                      (stream->events != NULL && sst__events_waiting(stream->events) ? SST_HAS_EVENT : 0u);
  }
  if (stream->early_has_turn) {
    sst__early_release(stream, progress);
    return status;
  }
  if (sides == (SST__SENDING | SST__RECEIVING) && progress != NULL && sst__is_early(stream)) {
    progress->flags |= SST_EARLY_DATA; /* 0-RTT has begun in this call */
  }
  if (sst__turn_needs_lock(stream, sides)) pthread_mutex_unlock(&stream->lock);
  sst__turn_release(stream, sides);
  return status;
}

#endif
