/* Lists of IANA numbers that callers give: of groups, suites, signature schemes. */
#ifndef SST_NUMBERS_H
#define SST_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "securestream.h"

/* A kind of number: those that are known, the code for a bad list, and what one is called. */
typedef struct sst__numbers {
  const uint16_t *known;
  size_t num_known;
  sst_status code;
  const char *what;
} sst__numbers;

extern const sst__numbers sst__groups, sst__suites, sst__schemes;

/* Takes a list over: known numbers, none twice, at least one; so it fits the member, which has room for all that are
   known. */
sst_status sst__take_numbers(const sst__numbers *kind, const uint16_t *list, size_t num, uint16_t *member,
                             size_t *num_member, sst_error *record);

#endif
