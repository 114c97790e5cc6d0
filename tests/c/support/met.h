/*
 * met.h - which failures the tests have met: each status below 0 that a case looked at is kept, and written at the end
 * of the case to the folder that SST_TEST_MET names. tests/library/codes_met reads them.
 */
#ifndef SST_MET_H
#define SST_MET_H

#include "securestream.h"

/* Any thread. Statuses of 0 and above, and numbers that no status has, are passed over. */
void met_status(sst_status status);
/* Forgets what the case before has met, and writes what this one has. */
void met_begin(void);
void met_end(const char *case_name);

#endif
