/*
 * early.h - connections with 0-RTT: the session that allows it, servers that take it or do not, and a conversation over
 * any pieces of the wire, of which nothing may be lost and nothing come twice.
 *
 *     Early early = early_prepare(EARLY_TAKEN, &(PairOptions){.first = 0});
 *     early_start(&early);                               the client has said hello, and may send
 *     EXPECT_STATUS(side_send(&early.pair.client, "early", 5), SST_OK);
 *     early_free(&early);
 */
#ifndef SST_EARLY_H
#define SST_EARLY_H

#include "resume.h"

enum { EARLY_LIMIT = 14336 }; /* of a server of this library */

/* What the server makes of early data. */
typedef enum EarlyKind {
  EARLY_TAKEN,
  EARLY_OFF,         /* the server's config does not allow it */
  EARLY_HELLO_RETRY, /* HelloRetryRequest */
  EARLY_OTHER_KEY,   /* the ticket was sealed by another ring: no resumption */
  EARLY_OTHER_ALPN,  /* another protocol than the session's is chosen */
  EARLY_KINDS
} EarlyKind;
const char *early_name(EarlyKind kind);

typedef struct Early {
  EarlyKind kind;
  Resume resume;
  sst_session *session, *offered; /* the first, and what the client of the pair was given: one of the same bytes */
  Pair pair;                      /* once it has been started */
  bool started;
} Early;

/* A session of a first connection, and a server of a kind for the next ones. */
Early early_prepare(EarlyKind kind, const PairOptions *options);
/* Makes the pair; the client's hello is on the wire, and it may send early data. May be called again. */
void early_start(Early *early);
void early_stop(Early *early);
void early_free(Early *early);

#define early_open(kind, ...) early_opened((kind), &(PairOptions){.first = 0, __VA_ARGS__})
Early early_opened(EarlyKind kind, const PairOptions *options);

/* The value of the event of 0-RTT, 99 if there is none. */
uint64_t early_verdict(Side *side);

/*
 * A conversation. The client says hello, sends early data, and the rest when the handshake is over, early data that was
 * refused before it. The server answers as soon as it can. Each side is given what its wire has up to a gate, which is
 * lifted when nothing moves any more.
 */
typedef struct Talk {
  size_t to_server, to_client; /* gates: bytes of the wire; SIZE_MAX: none */
  size_t room;                 /* of every call; 0: plenty */
  size_t chunk;                /* bytes given to one call; 0: all */
  size_t early_len, late_len, answer_len;
  bool in_place; /* the server opens in place */
} Talk;

/* Runs it on a started pair and compares what came, and under which flag. */
void early_talk(Early *early, const Talk *talk);

#endif
