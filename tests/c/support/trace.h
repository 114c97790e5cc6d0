/*
 * trace.h - what a run shows, as text, so that two runs can be compared; and ways to feed a side in pieces.
 */
#ifndef SST_TRACE_H
#define SST_TRACE_H

#include "pair.h"

/* How the bytes reach the sides, and how they leave. 0 in all: at once. */
typedef struct Feed {
  size_t cut;          /* what waits is given in two parts: so many bytes, then all */
  size_t chunk;        /* or in pieces of so many bytes, or SIDE_RANDOM */
  size_t room;         /* out_cap of every call, SIDE_RANDOM or SIDE_LEARN */
  size_t decrypt_room; /* the same for decrypt alone; 0: as room */
  bool exact;          /* pieces of just what needed asks for */
  bool leave_partial, in_place;
  size_t num_ranges; /* in place: ranges of a call; 0: 16 */
} Feed;

typedef struct Trace {
  char *text;
  size_t len, cap;
} Trace;

void trace_add(Trace *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));
void trace_free(Trace *trace);
/* Fails with the first line that differs. */
void trace_compare(const Trace *got, const Trace *expected);

/* All events of a side: kinds and values, of key-log lines the label. */
void trace_events(Trace *trace, Side *side);
/* What was negotiated. */
void trace_facts(Trace *trace, const Side *side);
/* What a side received since the last time: how much, and a check sum. */
void trace_received(Trace *trace, Side *side);
/* Types and lengths of the records on a wire. */
void trace_records(Trace *trace, const char *label, const Wire *wire);

/* Like side_handshake and side_receive, with the feed. The alert of a failing handshake is out. */
sst_status feed_handshake(Side *side, const Feed *feed);
sst_status feed_receive(Side *side, const Feed *feed);

#endif
