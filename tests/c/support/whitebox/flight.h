/*
 * flight.h - a flight of the handshake, taken off the wire as single messages, and put back as the test wants it.
 *
 *     Flight flight = flight_take(&pair, SST_ROLE_SERVER);      what the server has sent and the client not taken
 *     flight_put(&flight, 0, 2);                                the first two messages
 *     flight_insert(&flight, RECORD_ALERT, "\2\50", 2);         under the keys of that moment
 *     flight_put(&flight, 2, flight.count);
 *     flight_free(&flight);
 *
 * The sides must report the key-log events (FORGE_EVENTS).
 */
#ifndef SST_FLIGHT_H
#define SST_FLIGHT_H

#include "secrets.h"

enum { FLIGHT_MAX = 16 };

typedef struct Unit {
  uint8_t type; /* of the record */
  Data bytes;   /* of type handshake: one message with its header */
} Unit;

typedef struct Flight {
  Wire *wire;
  Unit units[FLIGHT_MAX];
  size_t count;
  uint16_t version; /* 0: a ClientHello */
  Keys keys;        /* for what is put back */
  bool sealed;
  bool server_hello_is_first; /* TLS 1.3: what stands behind it is sealed */
} Flight;

Flight flight_take(Pair *pair, int32_t sender);
/* Puts units first to last - 1 back, one record each. */
void flight_put(Flight *flight, size_t first, size_t last);
/* Puts a record of the test's own, sealed if the peer seals at this moment. */
void flight_insert(Flight *flight, uint8_t type, const void *data, size_t len);
void flight_free(Flight *flight);

#endif
