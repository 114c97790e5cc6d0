/* job.h - what is measured, of any peer. A job is begun once, and does passes until the program ends. */
#ifndef BENCH_JOB_H
#define BENCH_JOB_H

#include "peer.h"

typedef struct Kind {
  const char *name;
  void *(*begin)(const Peer *peer, const char *argument);
  /* Does n ops and returns the nanoseconds that they took in all. */
  uint64_t (*pass)(void *work, uint64_t n);
} Kind;

extern const Kind kind_move, kind_seal, kind_open, kind_place;
extern const Kind kind_handshake, kind_over, kind_resumed, kind_unverified, kind_reloaded, kind_early;
extern const Kind kind_both, kind_apart, kind_two_handshakes;

/* A peer with its configs, and an open pair of it. */
typedef struct Party {
  const Peer *peer;
  void *configs;
  Use use;
  bool reloads;     /* each session becomes bytes before it is resumed */
  bool has_session; /* the next pair resumes */
} Party;

enum { FLIGHT_ROOM = 65536 };

Party party_new(const Peer *peer, const char *leaf, Use use);
/* A pair after a handshake: a full one, or, but for the first, one that resumes the session of the pair before, and has
   sent data early. Only the pair is left allocated, and the session. */
void *party_open(Party *party);
/* 16 KiB each way. */
void party_echo(const Party *party, void *pair);

/* CPU time of the calling thread; the clock of the wall. */
uint64_t thread_ns(void);
uint64_t wall_ns(void);

/* The interposed allocator (heap.c): the program ends where it is not loaded. */
typedef struct Heap {
  uint64_t calls;
  int64_t bytes[3]; /* live, by side */
} Heap;
Heap heap_now(void);

/* Bytes per stream of num pairs after handshake and echo. */
void heap_idle(const Peer *peer, const char *leaf, Use use, uint64_t num, double *client, double *server);

#endif
