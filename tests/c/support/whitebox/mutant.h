/*
 * mutant.h - damaged input for the loaders: each gets it into an object that holds something already.
 *
 * What is true of every load is checked with each: SST_OK, or an error of those that the header names for that call,
 * with a record of that code and a message; no half-loaded object: what it held before a failure it holds afterwards;
 * at most two seconds of the thread's own time, but for what the rounds of a password may take by the header.
 */
#ifndef SST_MUTANT_H
#define SST_MUTANT_H

#include "data.h"
#include "test.h"

typedef enum Way {
  WAY_CREDENTIAL_PEM,
  WAY_CREDENTIAL_DER,
  WAY_CREDENTIAL_KEY_DER, /* the bytes as key_der, beside no certificate */
  WAY_CREDENTIAL_PKCS12,
  WAY_TRUST_PEM,
  WAY_TRUST_DER,
  WAY_TRUST_CRL,
  WAY_CLIENT_CA,
  NUM_WAYS
} Way;

typedef struct Mutants {
  struct Target *target;
  uint64_t count;
  uint64_t by_code[400]; /* at -status */
  uint64_t longest_ns;
  char longest[80];
} Mutants;

/* What the credential holds before each load: a chain with its key, or a key alone, which any other may replace. */
typedef enum Held { HELD_CHAIN, HELD_KEY } Held;
Mutants mutants_new(Held held);
/* mutants_load gives bytes to a loader in a buffer of exactly that size. name: of what they were made of. */
sst_status mutants_load(Mutants *mutants, Way way, const char *name, const void *bytes, size_t len,
                        const char *password);
/* Prints how many came to what, and frees. */
void mutants_end(Mutants *mutants, const char *title);

/* The calling thread's processor time in nanoseconds. */
uint64_t thread_time(void);

#endif
