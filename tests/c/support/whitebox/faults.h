/*
 * faults.h - a step with each of its allocations failing in turn, alone and with all that follow.
 *
 * The step ends in SST_ERR_NO_MEMORY, or as it does with memory enough: the library has a reserve for small requests. It
 * leaves nothing behind: no object, no byte, no block of the heap. What the step had in hand, and all that is shared, is
 * looked at by check each time, with memory enough.
 */
#ifndef SST_FAULTS_H
#define SST_FAULTS_H

#include "test.h"

typedef struct Faults {
  const char *name;
  void *context;
  void (*prepare)(void *context);                  /* with memory enough; NULL: nothing to do */
  sst_status (*run)(void *context);                /* the step */
  void (*check)(void *context, sst_status status); /* and frees what prepare and run have made */
  sst_status expected;                             /* of the step with memory enough */
} Faults;

/* Runs all of it and prints how many allocations there were. The case is skipped where malloc is not wrapped. */
void faults_each(const Faults *faults);

#endif
