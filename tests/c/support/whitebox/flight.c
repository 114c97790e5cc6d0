#include "flight.h"

#include <stdlib.h>
#include <string.h>

enum { SERVER_HELLO = 2, HANDSHAKE_HEADER = 4 };

static void add_unit(Flight *flight, uint8_t type, const uint8_t *bytes, size_t len) {
  REQUIRE(flight->count < FLIGHT_MAX);
  Unit *unit = &flight->units[flight->count++];
  *unit = (Unit){type, {test_allocate(len), len}};
  memcpy(unit->bytes.bytes, bytes, len);
}

/* Our flights hold whole messages in each record. */
static void add_messages(Flight *flight, uint8_t type, const uint8_t *bytes, size_t len) {
  if (type != RECORD_HANDSHAKE) {
    add_unit(flight, type, bytes, len);
    return;
  }
  for (size_t at = 0; at < len;) {
    const size_t body = (size_t)bytes[at + 1] << 16 | (size_t)bytes[at + 2] << 8 | bytes[at + 3];
    if (len - at < HANDSHAKE_HEADER + body) FAIL("a message that is cut by a record");
    add_unit(flight, type, bytes + at, HANDSHAKE_HEADER + body);
    at += HANDSHAKE_HEADER + body;
  }
}

static void add_record(Flight *flight, Keys *keys, bool sealed, const uint8_t *record, size_t len) {
  if (!sealed) {
    add_messages(flight, record[0], record + RECORD_HEADER, len - RECORD_HEADER);
    return;
  }
  const Opened opened = keys_open(keys, record, len);
  add_messages(flight, opened.type, opened.plaintext.bytes, opened.plaintext.len);
  free(opened.plaintext.bytes);
}

static void take_keys(Flight *flight, Pair *pair, int32_t sender) {
  Secrets secrets = {.count = 0};
  secrets_read(&secrets, &pair->server); /* it knows the secrets first */
  if (secrets.count == 0) secrets_read(&secrets, &pair->client);
  if (secrets.count == 0) return;
  flight->keys = secrets_keys(&secrets, pair, EPOCH_HANDSHAKE, sender);
  if (flight->keys.version == SST_TLS1_2) flight->keys.sequence = 0;
}

Flight flight_take(Pair *pair, int32_t sender) {
  Wire *wire = sender == SST_ROLE_SERVER ? pair->server.out : pair->client.out;
  Flight flight = {.wire = wire, .version = secrets_version(pair)};
  take_keys(&flight, pair, sender);
  Keys keys = flight.keys;
  bool changed = false; /* TLS 1.2: ChangeCipherSpec was seen */
  Record record;
  while (records_parse(wire_head(wire), wire_waiting(wire), &record, 1) > 0) {
    const size_t len = RECORD_HEADER + (size_t)record.length;
    const bool sealed = record.type == RECORD_APPLICATION_DATA || (flight.version == SST_TLS1_2 && changed);
    add_record(&flight, &keys, sealed, wire_head(wire), len);
    changed |= record.type == RECORD_CHANGE_CIPHER_SPEC;
    wire->taken += len;
  }
  EXPECT_EQ(wire_waiting(wire), 0);
  const Unit *first = &flight.units[0];
  flight.server_hello_is_first =
      flight.count > 0 && first->type == RECORD_HANDSHAKE && first->bytes.bytes[0] == SERVER_HELLO;
  /* A TLS 1.3 client's second flight is sealed from its begin, ChangeCipherSpec apart (RFC 8446, D.4). */
  flight.sealed = flight.version == SST_TLS1_3 && !flight.server_hello_is_first;
  return flight;
}

static void put(Flight *flight, uint8_t type, const void *data, size_t len) {
  if (flight->sealed && (flight->version == SST_TLS1_2 || type != RECORD_CHANGE_CIPHER_SPEC)) {
    const Data record = keys_seal(&flight->keys, type, data, len);
    wire_insert(flight->wire, record.bytes, record.len);
    free(record.bytes);
    return;
  }
  const uint8_t header[RECORD_HEADER] = {type, 3, 3, (uint8_t)(len >> 8), (uint8_t)len};
  wire_insert(flight->wire, header, sizeof header);
  wire_insert(flight->wire, data, len);
}

void flight_put(Flight *flight, size_t first, size_t last) {
  for (size_t i = first; i < last; i++) {
    const Unit *unit = &flight->units[i];
    put(flight, unit->type, unit->bytes.bytes, unit->bytes.len);
    if (flight->version == SST_TLS1_3) flight->sealed |= i == 0 && flight->server_hello_is_first;
    if (flight->version == SST_TLS1_2) flight->sealed |= unit->type == RECORD_CHANGE_CIPHER_SPEC;
  }
}

void flight_insert(Flight *flight, uint8_t type, const void *data, size_t len) {
  put(flight, type, data, len);
}

void flight_free(Flight *flight) {
  for (size_t i = 0; i < flight->count; i++)
    free(flight->units[i].bytes.bytes);
}
