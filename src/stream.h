/* One connection: the state table of the public header, section 2, over an engine. */
#ifndef SST_STREAM_H
#define SST_STREAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "config.h"
#include "engine.h"
#include "memory.h"
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
  atomic_bool early;        /* 0-RTT: the handshake is not confirmed yet, and one thread has both sides */
  bool early_has_turn;      /* the call that runs has both sides for that reason */
  bool early_given;         /* it gave out early data, and 0-RTT has ended in it */
  atomic_size_t early_left; /* bytes that a client may still send early */
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

/* The engine has finished, and hands over to the one that protects data. false: error is filled. */
bool sst__hand_over(sst_stream *, sst_error *error);

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

/* Forgets what was set before the first byte. */
static inline void sst__setup_free(sst_stream *stream) {
  if (stream->setup != NULL) sst_session_free(stream->setup->session);
  sst__free(stream->setup);
  stream->setup = NULL;
}

/* ---- early_data.c: 0-RTT ---- */

static inline bool sst__is_early(const sst_stream *stream) {
  return atomic_load_explicit(&stream->early, memory_order_relaxed);
}

/* The engine has said EARLY. */
void sst__early_begin(sst_stream *);
/* So much early data was encrypted. */
void sst__early_sent(sst_stream *, size_t size);
/* The transport of a server ended before its handshake was confirmed. */
sst_status sst__early_eof(sst_stream *);
/* The handshake is over: no more of it. */
void sst__early_end(sst_stream *);
/* A client's early data was refused, or its stream has ended: no more of it, and the facts of the session are gone. */
void sst__early_over(sst_stream *);
/* Behind a frame of a server: hands over once the handshake is confirmed. false: that failed, and error is filled. */
bool sst__early_confirm(sst_stream *, sst_error *error);
/* A turn takes both sides while 0-RTT goes on, for whatever call; true: it has them. */
bool sst__early_claim(sst_stream *);
/* The end of such a turn: progress may be NULL. */
void sst__early_release(sst_stream *, sst_progress *progress);

static inline uint32_t sst__state(const sst_stream *stream) {
  return atomic_load_explicit(&stream->state, memory_order_acquire);
}

#endif
