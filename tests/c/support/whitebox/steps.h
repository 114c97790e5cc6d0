/*
 * steps.h - a call, one machine instruction at a time: what others can see at every moment of it.
 *
 *     if (!steps_run(call, between, &context)) SKIP("...");
 *
 * between runs behind every instruction, inside of a signal: it reads what is atomic, and neither allocates nor prints.
 * Expectations that could fail belong behind the call.
 */
#ifndef SST_STEPS_H
#define SST_STEPS_H

#include <stdbool.h>

/* Runs call(context). False: not done, since this build or machine has no single steps. One thread at a time. */
bool steps_run(void (*call)(void *context), void (*between)(void *context), void *context);

#endif
