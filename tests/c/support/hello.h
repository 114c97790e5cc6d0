/*
 * hello.h - a ClientHello, as it stands on the wire (RFC 8446, 4.1.2).
 */
#ifndef SST_HELLO_H
#define SST_HELLO_H

#include "data.h"
#include "wire.h"

enum {
  EXTENSION_SERVER_NAME = 0,
  EXTENSION_SUPPORTED_GROUPS = 10,
  EXTENSION_SIGNATURE_ALGORITHMS = 13,
  EXTENSION_ALPN = 16,
  EXTENSION_EXTENDED_MASTER_SECRET = 23,
  EXTENSION_SESSION_TICKET = 35,
  EXTENSION_SUPPORTED_VERSIONS = 43,
  EXTENSION_KEY_SHARE = 51
};

typedef struct Hello {
  Data message; /* with its 4-byte header; all else points into it */
  const uint8_t *random;
  const uint8_t *suites;
  size_t suites_len;
  const uint8_t *extensions;
  size_t extensions_len;
} Hello;

/* hello_read joins the handshake records at the begin of bytes and parses the message; the case ends if it cannot. */
Hello hello_read(const uint8_t *bytes, size_t len);
void hello_free(Hello *hello);

/* hello_extension finds the body of an extension; NULL: it is not there. */
const uint8_t *hello_extension(const Hello *hello, uint16_t type, size_t *len);
/* hello_server_name copies the host name of the server name extension as text; false: there is no such extension. */
bool hello_server_name(const Hello *hello, char *name, size_t cap);
/* hello_list copies a list of numbers: cipher suites (type -1), or those of an extension. Returns how many. */
size_t hello_list(const Hello *hello, int type, uint16_t *list, size_t cap);

/* reframe cuts the payload of handshake records anew, into records of at most payload bytes. */
Data reframe(const uint8_t *bytes, size_t len, size_t payload);

#endif
