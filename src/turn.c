/* Turns: one thread may send while another receives; anything else is caught. */
#include "error.h"
#include "fork.h"
#include "stream.h"

static bool claim(sst_stream *stream, unsigned sides) {
  unsigned claimed = atomic_load_explicit(&stream->claimed, memory_order_relaxed);
  do {
    if ((claimed & sides) != 0) return false;
  } while (!atomic_compare_exchange_weak_explicit(&stream->claimed, &claimed, claimed | sides, memory_order_acquire,
                                                  memory_order_relaxed));
  return true;
}

/* A call that has both sides is alone in any case; the engine may become another one in it. */
static bool needs_lock(const sst_stream *stream, unsigned sides) {
  return sides != (SST__SENDING | SST__RECEIVING) && stream->engine->one_at_a_time;
}

sst_status sst__turn_begin(sst_stream *stream, unsigned sides, sst_progress *progress) {
  if (progress != NULL) *progress = (sst_progress){0};
  if (stream->fork_generation != sst__fork_generation()) return sst__refuse(SST_ERR_FORKED);
  if (!claim(stream, sides)) return sst__refuse(SST_ERR_BUSY);
  if (needs_lock(stream, sides)) pthread_mutex_lock(&stream->lock);
  return SST_OK;
}

sst_status sst__turn_end(sst_stream *stream, unsigned sides, sst_progress *progress, sst_status status) {
  const size_t wire = sst__queue_size(&stream->wire) + sst__due_size(&stream->due);
  const size_t kept = sst__kept_size(&stream->kept);
  if (progress != NULL) {
    progress->waiting = sides == SST__RECEIVING ? kept : wire;
    progress->flags = (wire > 0 ? SST_HAS_OUTPUT : 0u) | (kept > 0 ? SST_HAS_PLAINTEXT : 0u) |
                      (sst__events_waiting(stream->events) ? SST_HAS_EVENT : 0u);
  }
  if (needs_lock(stream, sides)) pthread_mutex_unlock(&stream->lock);
  atomic_fetch_and_explicit(&stream->claimed, ~sides, memory_order_release);
  return status;
}
