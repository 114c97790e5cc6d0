/*
 * wire.h - one direction of the transport between two sides: what was sent, in which pieces, as which records.
 *
 * A wire never forgets: bytes[0, taken) have been consumed by the receiver, bytes[taken, len) wait for it.
 */
#ifndef SST_WIRE_H
#define SST_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Wire {
  uint8_t *bytes;
  size_t len, cap;
  size_t taken;
  size_t *pieces; /* the length of each piece, as one call produced it */
  size_t num_pieces;
  /* May change the bytes of a piece on their way; offset is their place in the whole stream. */
  void (*in_flight)(uint8_t *bytes, size_t len, size_t offset, void *context);
  void *context;
} Wire;

typedef struct Record {
  uint8_t type;
  uint16_t version;
  uint16_t length; /* of the payload */
  size_t offset;   /* of the header in the bytes that were parsed */
} Record;

enum {
  RECORD_HEADER = 5,
  RECORD_CHANGE_CIPHER_SPEC = 20,
  RECORD_ALERT = 21,
  RECORD_HANDSHAKE = 22,
  RECORD_APPLICATION_DATA = 23
};

Wire *wire_new(void);
void wire_free(Wire *wire);

/* wire_write sends a piece; wire_insert puts bytes of the test's own behind it, past the hook. */
void wire_write(Wire *wire, const uint8_t *bytes, size_t len);
void wire_insert(Wire *wire, const void *bytes, size_t len);
size_t wire_waiting(const Wire *wire);
const uint8_t *wire_head(const Wire *wire);
/* wire_drop loses what waits; wire_cut only what is behind the first len bytes that wait. */
void wire_drop(Wire *wire);
void wire_cut(Wire *wire, size_t len);

/* records_parse lists the whole records in bytes, at most cap of them, and returns how many there are. */
size_t records_parse(const uint8_t *bytes, size_t len, Record *records, size_t cap);
/* records_count returns how many whole records the wire carried since byte from, of a type or (0) of any. */
size_t records_count(const Wire *wire, size_t from, uint8_t type);

#endif
