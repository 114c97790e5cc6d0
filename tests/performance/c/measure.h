/*
 * measure.h - a case of cases.txt and how an op of it is repeated and measured (tests/performance/README.md).
 */
#ifndef SST_MEASURE_H
#define SST_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Work Work;

typedef struct Case {
  char name[64];
  char leaf[64], client[64]; /* client "": none */
  uint16_t version;
  uint16_t groups[8];   /* ends at 0 */
  uint32_t minimum_rsa; /* 0: the library's */
  size_t size, rounds, total;
  const struct Kind *kind;
} Case;

typedef struct Kind {
  const char *name;
  /* Makes what the ops need; frees it. */
  Work *(*begin)(const Case *what);
  void (*end)(Work *work);
  /* A pass of n ops; checks what was read. */
  void (*pass)(Work *work, uint64_t n);
  /* Bytes of plaintext in an op; 0: a handshake. */
  uint64_t (*bytes)(const Case *what);
} Kind;

extern const Kind kind_write_read, kind_read_write, kind_concurrent, kind_transfer, kind_handshake;

typedef struct Result {
  double ns, ns_median;
  uint64_t ops;
  double allocations, bytes;
} Result;

Case *cases_read(const char *path, size_t *count);
Result measure(const Case *what, unsigned ms);

/* Calls of malloc and its kin, by all threads, and what they asked for, while counting is on. */
typedef struct Allocations {
  uint64_t calls, bytes;
} Allocations;
void allocations_start(void);
Allocations allocations_stop(void);

#endif
