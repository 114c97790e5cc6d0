/* A stream's bounded queue of events, with a lock of its own. Empty queues hold little memory, and none is made for
   streams that report nothing. */
#ifndef SST_EVENT_H
#define SST_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "securestream.h"

typedef struct sst__events sst__events;

/* A queue that takes the kinds in mask, or NULL. */
sst__events *sst__events_new(uint32_t mask);
/* Takes other kinds from now on; for the thread that adds events, before any came. */
void sst__events_report(sst__events *events, uint32_t mask);
void sst__events_free(sst__events *events);

/* Adds an event if its kind was asked for; events may be NULL. Without memory the event counts as lost. */
void sst__events_add(sst__events *events, uint32_t kind, uint64_t value, const void *data, size_t size);

/* Adds the event of a session, if it was asked for, and keeps the session, whose reference it takes; NULL: there was no
   memory for it. Where too many wait, the oldest goes. */
void sst__events_add_session(sst__events *events, sst_session *session, const uint8_t *id, size_t id_len);
/* The body of sst_stream_take_session. */
sst_session *sst__events_take_session(sst__events *events);

/* The body of sst_stream_next_event. */
sst_status sst__events_take(sst__events *events, sst_event *event, uint8_t *out, size_t out_cap);

bool sst__events_waiting(const sst__events *events);
uint64_t sst__events_lost(const sst__events *events);

#endif
