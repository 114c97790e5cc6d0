#define _GNU_SOURCE /* accept4, SOCK_NONBLOCK */
#include "net.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void format_name(const struct sockaddr *address, socklen_t len, char name[NET_NAME]) {
  char host[64], port[8];
  if (getnameinfo(address, len, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    snprintf(name, NET_NAME, "(unknown)");
    return;
  }
  snprintf(name, NET_NAME, address->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

void net_local_name(int fd, char name[NET_NAME]) {
  struct sockaddr_storage address = {0};
  socklen_t len = sizeof address;
  (void)getsockname(fd, (struct sockaddr *)&address, &len);
  format_name((struct sockaddr *)&address, len, name);
}

int64_t net_now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int net_listen(const char *address, const char *port, const char **why) {
  const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, .ai_socktype = SOCK_STREAM};
  struct addrinfo *found = NULL;
  const int error = getaddrinfo(address, port, &hints, &found);
  if (error != 0) {
    *why = gai_strerror(error);
    return -1;
  }
  /* An address that connections of an earlier run still wait on may be taken again. */
  const int on = 1;
  int fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, SOMAXCONN) != 0) {
    *why = strerror(errno);
    if (fd >= 0) close(fd);
    fd = -1;
  }
  freeaddrinfo(found);
  return fd;
}

int net_accept(int listener, char name[NET_NAME]) {
  struct sockaddr_storage address = {0};
  socklen_t len = sizeof address;
  const int fd = accept4(listener, (struct sockaddr *)&address, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) format_name((struct sockaddr *)&address, len, name);
  return fd;
}

/* One attempt; 0 or errno. */
static int connect_within(int fd, const struct addrinfo *to, int64_t deadline_ms) {
  if (connect(fd, to->ai_addr, to->ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  for (;;) {
    const int64_t left = deadline_ms - net_now_ms();
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    const int n = poll(&wait, 1, left > 0 ? (int)left : 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return ETIMEDOUT;
    int error = 0;
    socklen_t len = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 ? error : errno;
  }
}

int net_connect(const char *host, const char *port, int timeout_ms, char name[NET_NAME], const char **why) {
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
  struct addrinfo *found = NULL;
  int error = getaddrinfo(host, port, &hints, &found);
  if (error != 0) {
    *why = gai_strerror(error);
    return -1;
  }
  const int64_t deadline_ms = net_now_ms() + timeout_ms;
  int fd = -1;
  for (const struct addrinfo *to = found; to && fd < 0; to = to->ai_next) {
    fd = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    error = fd < 0 ? errno : connect_within(fd, to, deadline_ms);
    if (error == 0) format_name(to->ai_addr, to->ai_addrlen, name);
    if (error != 0 && fd >= 0) {
      close(fd);
      fd = -1;
    }
  }
  if (fd < 0) *why = strerror(error);
  freeaddrinfo(found);
  return fd;
}

void net_linger(int fd, int timeout_ms) {
  const int64_t deadline_ms = net_now_ms() + timeout_ms;
  char unwanted[4096];
  (void)shutdown(fd, SHUT_WR);
  for (;;) {
    const int64_t left = deadline_ms - net_now_ms();
    const ssize_t n = left > 0 ? recv(fd, unwanted, sizeof unwanted, 0) : 0;
    if (n > 0) continue;
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) return;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (poll(&wait, 1, (int)left) < 0 && errno != EINTR) return;
  }
}
