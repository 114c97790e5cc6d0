/*
 * measure.h - a case of cases.txt and how an op of it is repeated and measured (tests/performance/README.md).
 */
#ifndef SST_MEASURE_H
#define SST_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Work Work;

typedef enum { OVER_MEMORY, OVER_PIPE, OVER_IPV4, OVER_IPV6 } Over;

typedef struct Case {
  char name[64];
  char leaf[64], client[64]; /* client "": none */
  uint16_t version;
  uint16_t groups[8];   /* ends at 0 */
  uint32_t minimum_rsa; /* 0: the library's */
  size_t size, rounds, total;
  Over over;
  bool fresh_configs, is_long;
  size_t threads, streams;
  const struct Kind *kind;
} Case;

typedef struct Result {
  double ns, ns_median;
  uint64_t ops;
  /* NAN: not counted. */
  double allocations, bytes;
  double per_client, per_server, peak_rss;
} Result;

typedef struct Kind {
  const char *name;
  /* Makes what the ops need; frees it. */
  Work *(*begin)(const Case *what);
  void (*end)(Work *work);
  /* A pass of n ops; checks what was read. */
  void (*pass)(Work *work, uint64_t n);
  /* Bytes of plaintext in an op, handshakes or echoes in an op; NULL: none. */
  uint64_t (*bytes)(const Case *what);
  uint64_t (*things)(const Case *what);
  /* Not NULL: there is one pass, with an op for each two streams; weigh then tells what they hold. */
  void (*weigh)(Work *work, Result *result);
} Kind;

extern const Kind kind_write_read, kind_read_write, kind_concurrent, kind_transfer, kind_handshake, kind_resumed,
    kind_early, kind_echo, kind_idle;

Case *cases_read(const char *path, size_t *count);
Result measure(const Case *what, unsigned ms);

/* Calls of malloc and its kin, by all threads, and what they asked for, while counting is on. */
typedef struct Allocations {
  uint64_t calls, bytes;
} Allocations;
void allocations_start(void);
Allocations allocations_stop(void);

#endif
