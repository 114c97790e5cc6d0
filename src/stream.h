/* One connection: the state table of the public header, section 2, over an engine. */
#ifndef SST_STREAM_H
#define SST_STREAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "config.h"
#include "engine.h"
#include "securestream.h"

struct sst_stream {
  sst__engine *engine;
  sst_config *config;         /* NULL: none yet */
  sst_credential *credential; /* the answer to WANT_CERTIFICATE */
  sst__setup *setup;          /* NULL once the handshake has ended */
  int32_t role;
  uint32_t options, max_fragment, fork_generation;
  bool established; /* the engine has finished; the last flight may still wait */

  _Atomic uint32_t state; /* SST_STATE_x */
  atomic_bool eof;        /* the transport has ended */
  pthread_mutex_t lock;   /* held for one call, where both sides go through one SSL */

  sst__queue wire; /* bytes to the peer that wait for room */
  sst__due due;    /* what the sending side has to write for the receiving one, and the failure */
  sst__kept kept;  /* plaintext that waits for room */
  sst__events *events;
  sst__question question;
  sst__facts facts;

  /* What is above changes seldom once the stream is open; what is below is written at every call, by its side alone. */
  uint8_t apart[SST__CACHE_LINE];
  atomic_bool sending;    /* a call of the sending side runs: turn.h */
  sst__counters counters; /* the sending side's first */
  atomic_bool receiving;  /* a call of the receiving side runs */
};

/* ---- stream.c: the calls that move bytes. Arguments are checked by the caller (src/api). ---- */

typedef struct sst__room {
  uint8_t *data;
  size_t cap;
} sst__room;

sst_status sst__stream_handshake(sst_stream *, const uint8_t *in, size_t in_len, sst__room out, sst_progress *);
sst_status sst__stream_encrypt(sst_stream *, const sst_slice *slices, size_t num_slices, sst__room out, sst_progress *);
sst_status sst__stream_decrypt(sst_stream *, const uint8_t *in, size_t in_len, sst__room out, sst_progress *);
sst_status sst__stream_flush(sst_stream *, sst__room out, sst_progress *);
sst_status sst__stream_close(sst_stream *, sst__room out, sst_progress *);
sst_status sst__stream_abort(sst_stream *, int32_t alert);
sst_status sst__stream_key_update(sst_stream *, bool request_peer);
sst_status sst__stream_input_eof(sst_stream *);
void sst__stream_free_failure(sst_stream *);

/* Notes the failure that ends the stream, and returns the code of the one that did. */
sst_status sst__publish(sst_stream *, const sst_error *error);

static inline void sst__set_state(sst_stream *stream, uint32_t bits) {
  atomic_fetch_or_explicit(&stream->state, bits, memory_order_release);
}
static inline void sst__end_state(sst_stream *stream, uint32_t bits) {
  atomic_fetch_and_explicit(&stream->state, ~bits, memory_order_release);
}

/* ---- handshake.c ---- */

/* The body of sst_stream_handshake, once nothing waits for room. */
sst_status sst__run_handshake(sst_stream *, sst__input *in, sst__output *out, sst_progress *progress);

/* ---- stream.c ---- */

/* A receive buffer that is opened in place, and where the plaintexts in it are listed. */
typedef struct sst__in_place {
  uint8_t *data;
  size_t len;
  sst_range *ranges;
  size_t num_ranges;
  size_t *ranges_used;
} sst__in_place;

sst_status sst__stream_decrypt_in_place(sst_stream *, const sst__in_place *, sst_progress *);

static inline uint32_t sst__state(const sst_stream *stream) {
  return atomic_load_explicit(&stream->state, memory_order_acquire);
}

#endif
