#include "wire.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

Wire *wire_new(void) {
  Wire *wire = test_allocate(sizeof *wire);
  memset(wire, 0, sizeof *wire);
  return wire;
}

void wire_free(Wire *wire) {
  if (wire == NULL) return;
  free(wire->bytes);
  free(wire->pieces);
  free(wire);
}

void wire_insert(Wire *wire, const void *bytes, size_t len) {
  if (len == 0) return;
  if (wire->cap - wire->len < len) {
    wire->cap = 2 * wire->cap + len;
    wire->bytes = test_reallocate(wire->bytes, wire->cap);
  }
  memcpy(wire->bytes + wire->len, bytes, len);
  wire->len += len;
}

void wire_write(Wire *wire, const uint8_t *bytes, size_t len) {
  if (len == 0) return;
  wire_insert(wire, bytes, len);
  wire->pieces = test_reallocate(wire->pieces, (wire->num_pieces + 1) * sizeof *wire->pieces);
  wire->pieces[wire->num_pieces++] = len;
  if (wire->in_flight != NULL) wire->in_flight(wire->bytes + wire->len - len, len, wire->len - len, wire->context);
}

size_t wire_waiting(const Wire *wire) {
  return wire->len - wire->taken;
}

const uint8_t *wire_head(const Wire *wire) {
  return wire->bytes == NULL ? NULL : wire->bytes + wire->taken;
}

void wire_drop(Wire *wire) {
  wire->taken = wire->len;
}

void wire_cut(Wire *wire, size_t len) {
  if (len < wire_waiting(wire)) wire->len = wire->taken + len;
}

size_t records_parse(const uint8_t *bytes, size_t len, Record *records, size_t cap) {
  size_t count = 0;
  for (size_t at = 0; len - at >= RECORD_HEADER; count++) {
    const Record record = {bytes[at], (uint16_t)(bytes[at + 1] << 8 | bytes[at + 2]),
                           (uint16_t)(bytes[at + 3] << 8 | bytes[at + 4]), at};
    if (len - at - RECORD_HEADER < record.length) break;
    if (count < cap) records[count] = record;
    at += RECORD_HEADER + (size_t)record.length;
  }
  return count;
}

size_t records_count(const Wire *wire, size_t from, uint8_t type) {
  const size_t all = records_parse(wire->bytes + from, wire->len - from, NULL, 0);
  Record *records = test_allocate(all * sizeof *records);
  records_parse(wire->bytes + from, wire->len - from, records, all);
  size_t count = 0;
  for (size_t i = 0; i < all; i++)
    count += type == 0 || records[i].type == type;
  free(records);
  return count;
}
