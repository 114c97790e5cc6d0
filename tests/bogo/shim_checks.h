/*
 * shim_checks.h - what the runner expects to have been negotiated.
 */
#ifndef SST_SHIM_CHECKS_H
#define SST_SHIM_CHECKS_H

#include "shim_link.h"

/* Compare the facts of the stream with the flags: when the handshake has ended or early data begins, when a handshake
   with early data has ended, and at the end. */
bool check_handshake(Link *link, bool is_early);
bool check_confirmed(Link *link);
bool check_sessions(Link *link);

#endif
