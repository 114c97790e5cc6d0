/* Host names as callers write them. */
#ifndef SST_HOST_H
#define SST_HOST_H

#include <stdbool.h>
#include <stddef.h>

/* DNS names have at most 253 bytes; the longest IPv6 text is shorter. */
enum { SST__MAX_HOST = 253 };

typedef struct sst__host {
  char name[SST__MAX_HOST + 1]; /* terminated; empty: none. Without trailing dot or brackets */
  bool is_ip;
} sst__host;

/* Reads a name as sst_stream_set_server_name describes; false: no host name (host is then unchanged). */
bool sst__host_parse(sst__host *host, const char *name, size_t name_len);

#endif
