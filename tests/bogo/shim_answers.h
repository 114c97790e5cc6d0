/*
 * shim_answers.h - what the shim answers to the questions of a handshake.
 */
#ifndef SST_SHIM_ANSWERS_H
#define SST_SHIM_ANSWERS_H

#include "shim_link.h"

/* answer answers SST_WANT_x as the flags want it. */
void answer(Link *link, sst_status question);

/* credential_index returns which of the flags' credentials the stream shows: 0 the default one, 1 and on the others;
   -1: none. */
int credential_index(const Link *link);

#endif
