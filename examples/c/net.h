/* net.h - TCP sockets of the examples: listen, accept, connect, names, time. All sockets are non-blocking. */
#ifndef NET_H
#define NET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { NET_NAME = 80 };

/* A socket that listens on a numeric address and port ("0": any). -1: *why is a text. */
int net_listen(const char *address, const char *port, const char **why);

/* A new connection and its name ("127.0.0.1:4711"); -1: errno. */
int net_accept(int listener, char name[NET_NAME]);

/* A connection to the first address of host that answers; all attempts together take at most timeout_ms. */
int net_connect(const char *host, const char *port, int timeout_ms, char name[NET_NAME], const char **why);

/* The name of this side of a socket. */
void net_local_name(int fd, char name[NET_NAME]);

/* Half-closes fd and reads what still comes, for at most timeout_ms. Closing a socket that holds unread bytes resets
   the connection, and a reset can take an alert that we have just sent out of the peer's hands. */
void net_linger(int fd, int timeout_ms);

/* Milliseconds of a clock that never goes back. */
int64_t net_now_ms(void);

#endif
