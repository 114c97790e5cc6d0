#include "transport.h"

#include <netinet/tcp.h>
#include <unistd.h>

#include "party.h"

static bool is_tcp(Over over) {
  return over == OVER_IPV4 || over == OVER_IPV6;
}

static int domain(Over over) {
  return over == OVER_IPV4 ? AF_INET : AF_INET6;
}

bool transport_new(Transport *transport, Over over) {
  *transport = (Transport){.over = over, .listener = -1, .fd = {-1, -1}};
  if (!is_tcp(over)) return true;
  if (over == OVER_IPV4) {
    transport->address.four = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    transport->address_len = sizeof transport->address.four;
  } else {
    transport->address.six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    transport->address_len = sizeof transport->address.six;
  }
  transport->listener = socket(domain(over), SOCK_STREAM, 0);
  return transport->listener >= 0 && bind(transport->listener, &transport->address.any, transport->address_len) == 0 &&
         listen(transport->listener, 1) == 0 &&
         getsockname(transport->listener, &transport->address.any, &transport->address_len) == 0;
}

void transport_free(Transport *transport) {
  transport_close(transport);
  if (transport->listener >= 0) close(transport->listener);
}

static bool connect_tcp(Transport *transport) {
  const int on = 1;
  transport->fd[CLIENT] = socket(domain(transport->over), SOCK_STREAM, 0);
  if (transport->fd[CLIENT] < 0 || connect(transport->fd[CLIENT], &transport->address.any, transport->address_len) != 0)
    return false;
  transport->fd[SERVER] = accept(transport->listener, NULL, NULL);
  if (transport->fd[SERVER] < 0) return false;
  for (int side = CLIENT; side <= SERVER; side++)
    if (setsockopt(transport->fd[side], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) return false;
  return true;
}

bool transport_connect(Transport *transport) {
  if (is_tcp(transport->over)) return connect_tcp(transport);
  return transport->over == OVER_MEMORY || socketpair(AF_UNIX, SOCK_STREAM, 0, transport->fd) == 0;
}

void transport_close(Transport *transport) {
  for (int side = CLIENT; side <= SERVER; side++) {
    if (transport->fd[side] >= 0) close(transport->fd[side]);
    transport->fd[side] = -1;
  }
}
