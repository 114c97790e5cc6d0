/*
 * harness.h - runs a case whose expectations are those of tests/c/support/test.h, and keeps what failed as text.
 */
#ifndef SST_HARNESS_H
#define SST_HARNESS_H

#include <stdbool.h>
#include <stddef.h>

/* Runs a case; true: nothing failed. */
bool harness_run(void (*run)(void *context), void *context);
/* The step that runs: failures are said to be there. */
void harness_at(const char *name, size_t line);
const char *harness_messages(void);
size_t harness_failures(void);

#endif
