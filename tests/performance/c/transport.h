/*
 * transport.h - a connected pair of blocking sockets, or none where the bytes go through memory.
 */
#ifndef SST_TRANSPORT_H
#define SST_TRANSPORT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "measure.h"

typedef struct Transport {
  Over over;
  /* TCP: who accepts, and where. Else -1. */
  int listener;
  union {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
  } address;
  socklen_t address_len;
  int fd[2]; /* by side; -1: no connection */
} Transport;

/* Makes what all connections have in common: over TCP, a listener on the loopback. These do not leave by the harness:
   where they are false, errno tells why. */
bool transport_new(Transport *transport, Over over);
void transport_free(Transport *transport);
/* A new connection, with TCP_NODELAY on both sides where it is TCP. */
bool transport_connect(Transport *transport);
void transport_close(Transport *transport);

#endif
