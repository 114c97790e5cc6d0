/*
 * The seam between a stream and its protocol. stream.c decides what may happen in which state; an engine only moves
 * bytes. No call of an engine blocks, and none runs beside another on the same engine: stream.c holds a lock.
 */
#ifndef SST_ENGINE_H
#define SST_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "host.h"
#include "question.h"
#include "queue.h"
#include "securestream.h"

typedef struct sst__engine sst__engine;

/* For the few functions that every record passes: what they cost is calls, and arguments that stay the same. */
#define SST__INLINE static inline __attribute__((always_inline))

typedef enum sst__step {
  SST__STEP_DONE,      /* done */
  SST__STEP_MORE,      /* all input was taken; more is needed */
  SST__STEP_ROOM,      /* more room for output is needed (of an engine's ops from bring_out alone) */
  SST__STEP_CLOSED,    /* the peer has closed */
  SST__STEP_WANT,      /* a question is open (of the handshake alone): the engine's want */
  SST__STEP_EARLY,     /* 0-RTT (of the handshake alone): a client may send early data now, a server reads it by open */
  SST__STEP_NO_MEMORY, /* nothing was taken and nothing has changed: it may be tried again */
  SST__STEP_FAILED     /* the error is filled */
} sst__step;

/* What is set on a stream before the first byte; kept until the handshake ends. */
typedef struct sst__setup {
  sst__host server_name, verify_name;
  bool has_verify_name, has_verify_time, has_max_fragment;
  int64_t verify_time;
  sst_session *session; /* to resume; NULL: none */
} sst__setup;

/* What is known when the handshake has ended; never changes again. Pointers belong to the engine. */
typedef struct sst__facts {
  sst_stream_info info;
  const uint8_t *alpn;
  size_t alpn_len;
  const char *server_name;
  size_t server_name_len;
  size_t num_peer_certificates, num_local_certificates, num_verified_certificates;
  const uint8_t *ocsp_response, *scts; /* what the peer stapled */
  size_t ocsp_response_len, scts_len;
} sst__facts;

/* What keying material is exported for (RFC 5705). */
typedef struct sst__export {
  const char *label;
  size_t label_len;
  const uint8_t *context; /* NULL: none, which is not the same as an empty one in TLS 1.2 */
  size_t context_len;
} sst__export;

/* Which certificates are asked for. */
typedef enum sst__chain {
  SST__CHAIN_PEER,     /* what the peer sent */
  SST__CHAIN_LOCAL,    /* what we sent */
  SST__CHAIN_VERIFIED, /* the path from the peer's leaf to a trust anchor */
  SST__CHAIN_REFUSED   /* what the peer sent, and verification refused; only once the stream has failed */
} sst__chain;

/* What an engine tells about its open question, or inside of it. Lists are numbers of two bytes: those of a ClientHello
   as on the wire, SST__FACT_ACCEPTED_SCHEMES as numbers of this machine. */
typedef enum sst__fact {
  SST__FACT_CLIENT_HELLO,
  SST__FACT_HELLO_LIST, /* index: SST_HELLO_x */
  SST__FACT_HELLO_ALPN,
  SST__FACT_HELLO_EXTENSION, /* index: its number */
  SST__FACT_SERVER_NAME,
  SST__FACT_ACCEPTED_SCHEMES,
  SST__FACT_ACCEPTED_CA,
  SST__FACT_VERDICT,   /* an sst_error */
  SST__FACT_OPERATION, /* the message to sign; what is_for says: its scheme */
  SST__FACT_TICKET,
  SST__FACT_SESSION_ID,
  SST__FACT_OCSP_RESPONSE,
  SST__FACT_SCTS
} sst__fact;

/* Borrowed: valid while the question is open. */
typedef struct sst__view {
  const uint8_t *data;
  size_t len;
  uint16_t is_for;
} sst__view;

/* What can be seen of the record (TLS) or frame (Negotiate) that comes next. */
typedef struct sst__frame {
  bool begun;           /* a part of it was taken in by an earlier call */
  bool whole;           /* the input reaches to its end, or it is bad already */
  size_t length;        /* bytes of the input that belong to it */
  size_t missing;       /* if it is not whole: bytes that it lacks, as far as can be seen */
  size_t plaintext_max; /* the most plaintext in it */
} sst__frame;

/* Plaintext of an opened record that the caller had no room for. */
typedef struct sst__kept {
  uint8_t *data;
  size_t begin, end;
  atomic_size_t size; /* end - begin, for readers on other threads */
} sst__kept;

static inline size_t sst__kept_size(const sst__kept *kept) {
  return atomic_load_explicit(&kept->size, memory_order_relaxed);
}

/* What the receiving side owes the peer: noted here, written by the sending side. Belongs to the stream. */
enum { SST__DUE_ANSWER = 1, SST__DUE_ALERT = 2 };

typedef struct sst__due {
  const sst_error *_Atomic end;     /* who has the last word: NULL, nobody yet; sst__closed; or the stream's failure */
  atomic_uint what;                 /* SST__DUE_x; SST__DUE_ALERT: the alert_sent of the failure in end */
  uint16_t update_size, alert_size; /* bytes on the wire; set before the stream is open */
} sst__due;

extern const sst_error sst__closed; /* no failure: close_notify is the last word */

static inline void sst__due_add(sst__due *due, unsigned what) {
  atomic_fetch_or_explicit(&due->what, what, memory_order_release);
}
/* Nothing is due at nearly every call: that is seen without a locked instruction. What comes a moment later waits. */
static inline unsigned sst__due_take(sst__due *due) {
  if (atomic_load_explicit(&due->what, memory_order_relaxed) == 0) return 0;
  return atomic_exchange_explicit(&due->what, 0, memory_order_acquire);
}
/* True for one caller alone, of all threads: the last word is its. */
static inline bool sst__due_end(sst__due *due, const sst_error *end) {
  const sst_error *nobody = NULL;
  return atomic_compare_exchange_strong_explicit(&due->end, &nobody, end, memory_order_release, memory_order_relaxed);
}
static inline bool sst__due_ended(const sst__due *due) {
  return atomic_load_explicit(&due->end, memory_order_relaxed) != NULL;
}
static inline bool sst__due_any(const sst__due *due) {
  return atomic_load_explicit(&due->what, memory_order_relaxed) != 0;
}
static inline size_t sst__due_size(const sst__due *due) {
  const unsigned what = atomic_load_explicit(&due->what, memory_order_acquire);
  if ((what & SST__DUE_ALERT) != 0) return due->alert_size;
  return what != 0 && !sst__due_ended(due) ? due->update_size : 0;
}

enum { SST__NUM_COUNTERS = SST_COUNTER_EVENTS_LOST }; /* those that are counted in the stream itself */

/* What one thread writes at every call must not lie on a cache line that the other side's thread uses. */
enum { SST__CACHE_LINE = 64 };

/* Those of the sending side have even numbers, those of the receiving side odd ones. */
typedef struct sst__counters {
  struct {
    _Atomic uint64_t value[SST__NUM_COUNTERS / 2];
    uint8_t apart[SST__CACHE_LINE];
  } side[2];
} sst__counters;

static inline const _Atomic uint64_t *sst__counter(const sst__counters *counters, int which) {
  return &counters->side[which % 2].value[which / 2];
}

/* Each counter belongs to one side, or is counted under the stream's lock: it has one writer at a time, and needs no
   locked instruction. */
static inline void sst__count(sst__counters *counters, int which, uint64_t n) {
  _Atomic uint64_t *value = &counters->side[which % 2].value[which / 2];
  atomic_store_explicit(value, atomic_load_explicit(value, memory_order_relaxed) + n, memory_order_relaxed);
}

typedef struct sst__engine_ops {
  /* Before the first byte. setup stays valid until the handshake ends. false: no memory. */
  bool (*start)(sst__engine *, const sst__setup *setup, uint32_t max_fragment);
  /* Takes what it needs of in, writes a flight in one piece. DONE, MORE, WANT, EARLY or FAILED; a failure has written its
     alert. After a WANT it is called again when there is an answer. */
  sst__step (*handshake)(sst__engine *, sst__input *in, sst__output *wire, sst_error *error);
  /* A server after EARLY, behind each frame: true once the handshake is confirmed, and hand_over may follow. */
  bool (*confirmed)(sst__engine *);
  /* Goes over to another context, which outlives the engine: the answer to WANT_CLIENT_HELLO. What came so far is read
     again, and start is called again. false: no memory. */
  bool (*adopt)(sst__engine *, const struct sst__context *);
  /* Shows a fact about the open question; false: none. */
  bool (*fact)(const sst__engine *, sst__fact, size_t index, sst__view *);
  /* After DONE. */
  void (*facts)(const sst__engine *, sst__facts *);
  /* After facts, once: gives the engine that goes on from here, which may be the same, and frees itself if it is
     another. facts then points into the new one. What the protocol says behind its handshake (session tickets) goes to
     the queue of later, which has no room else. NULL: it failed, and the error is filled. */
  sst__engine *(*hand_over)(sst__engine *, sst__facts *, sst__output *later, sst_error *error);
  /* Copies certificate index of a chain as a getter of variable size; "none" out of range. */
  sst_status (*certificate)(const sst__engine *, sst__chain chain, size_t index, uint8_t *out, size_t out_cap,
                            size_t *out_len);
  /* Keying material of a finished handshake: any thread, but under the stream's lock where one_at_a_time. All NULL where
     the protocol has none. OK, UNSUPPORTED, NO_MEMORY; the last two are getters of variable size. */
  sst_status (*export_key)(const sst__engine *, const sst__export *, uint8_t *out, size_t out_len);
  sst_status (*channel_binding)(const sst__engine *, int32_t kind, uint8_t *out, size_t out_cap, size_t *out_len);
  sst_status (*traffic_secret)(sst__engine *, int32_t direction, uint8_t *out, size_t out_cap, size_t *out_len);
  /* Seals one record of size bytes out of slices, behind the first skip bytes of slices[0]. Only with room for size +
     overhead in wire. DONE or FAILED. */
  sst__step (*seal)(sst__engine *, const sst_slice *slices, size_t skip, size_t size, sst__output *wire,
                    sst_error *error);
  void (*next_frame)(const sst__engine *, const uint8_t *in, size_t in_len, sst__frame *);
  /* Opens the frame in in (frame.length bytes), or takes in a part. Plaintext goes to out (cap bytes), its rest to
     kept, which is empty before; wire bytes that it makes go to answers. DONE: plaintext came, *produced of it in out.
     MORE: there was none. CLOSED, FAILED. */
  sst__step (*open)(sst__engine *, sst__input *in, uint8_t *out, size_t cap, size_t *produced, sst__kept *kept,
                    sst__output *answers, sst_error *error);
  /* Opens the whole record in record (len bytes) where it lies: plaintext of *produced bytes at *offset. As open. */
  sst__step (*open_in_place)(sst__engine *, uint8_t *record, size_t len, size_t *offset, size_t *produced,
                             sst__output *answers, sst_error *error);
  /* Writes what is due, or what open had to hold back because output waited already, and, before data, a KeyUpdate that
     the next record needs. DONE, FAILED; ROOM: there is neither room nor memory for it, and it is due still. */
  sst__step (*bring_out)(sst__engine *, bool before_data, sst__output *wire, sst_error *error);
  /* DONE, NO_MEMORY, FAILED. */
  sst__step (*close)(sst__engine *, sst__output *wire, sst_error *error);
  sst__step (*key_update)(sst__engine *, bool request_peer, sst__output *wire, sst_error *error);
  /* A fatal alert, as well as it can be sent; not where alerts_are_due. */
  void (*alert)(sst__engine *, int32_t alert, sst__output *wire);
  void (*free)(sst__engine *);
} sst__engine_ops;

struct sst__engine {
  const sst__engine_ops *ops;
  size_t overhead;         /* bytes that a record is longer than its plaintext; right once the handshake has ended */
  size_t frame_header;     /* bytes that next_frame lacks where nothing has come; 0: it is to be asked */
  size_t key_update_size;  /* bytes of a KeyUpdate record; 0: the protocol has none */
  size_t records_per_key;  /* of data, before a KeyUpdate of our own; 0: without end */
  size_t most_early_data;  /* that a client may send, right with EARLY; 0 once it was refused */
  bool one_at_a_time;      /* sending and receiving must not run at once: stream.c holds its lock */
  bool update_due;         /* a KeyUpdate must go before the next data; for the sending side */
  bool alerts_are_due;     /* a failure only says its alert; stream.c notes it in due, and bring_out writes it */
  sst_status want;         /* the question that WANT has put */
  sst__due *due;           /* the stream's */
  sst__events *events;     /* the stream's, or NULL */
  sst__counters *counters; /* the stream's */
  sst__question *question; /* the stream's */
};

#endif
