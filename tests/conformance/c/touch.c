/* Steps under when that change what waits on a wire (section 6). */
#include <stdlib.h>
#include <string.h>

#include "world.h"

enum { SEALED_LIMIT = 16384 };

static Wire *wire_to(World *world, const Match *match) {
  return end_of_role(world, match)->side.in;
}

/* What was ever put on the wire to ROLE. */
static Wire *sent_to(World *world, const Match *match) {
  return other_end(world, end_of_role(world, match))->sent;
}

static void gets_data(World *world, const Match *match) {
  size_t len = 0;
  uint8_t *data = place_data(match, 1, &len);
  wire_insert(wire_to(world, match), data, len);
  wire_insert(sent_to(world, match), data, len);
  free(data);
}

static void insert_record(Wire *wire, uint8_t type, uint8_t minor, const uint8_t *payload, size_t len) {
  const uint8_t header[RECORD_HEADER] = {type, 3, minor, (uint8_t)(len >> 8), (uint8_t)len};
  wire_insert(wire, header, sizeof header);
  wire_insert(wire, payload, len);
}

static void gets_plain_record(World *world, const Match *match) {
  size_t len = 0;
  uint8_t *data = place_data(match, 2, &len);
  REQUIRE(len <= UINT16_MAX);
  insert_record(wire_to(world, match), place_type(match, 1), 3, data, len);
  insert_record(sent_to(world, match), place_type(match, 1), 3, data, len);
  free(data);
}

static void gets_sealed(World *world, const Match *match, size_t type, unsigned long count) {
  size_t len = 0;
  uint8_t *data = place_data(match, type + 1, &len);
  REQUIRE(len <= SEALED_LIMIT);
  forge(world, end_of_role(world, match), place_type(match, type), data, len, count);
  free(data);
}

static void gets_sealed_record(World *world, const Match *match) {
  gets_sealed(world, match, 1, 1);
}

static void gets_sealed_records(World *world, const Match *match) {
  gets_sealed(world, match, 2, place_number(match, 1));
}

static void loses_everything(World *world, const Match *match) {
  wire_drop(wire_to(world, match));
}

static void cut_after(World *world, const Match *match) {
  REQUIRE(place_number(match, 1) <= wire_waiting(wire_to(world, match)));
  wire_cut(wire_to(world, match), place_number(match, 1));
}

static void cut_in_half(World *world, const Match *match) {
  Wire *wire = wire_to(world, match);
  REQUIRE(wire_waiting(wire) >= 2);
  wire_cut(wire, wire_waiting(wire) / 2);
}

static void cut_last_record(World *world, const Match *match) {
  Wire *wire = wire_to(world, match);
  const size_t count = records_parse(wire_head(wire), wire_waiting(wire), NULL, 0);
  REQUIRE(count > 0);
  Record *records = test_allocate(count * sizeof *records);
  records_parse(wire_head(wire), wire_waiting(wire), records, count);
  const Record last = records[count - 1];
  free(records);
  REQUIRE(place_number(match, 1) < RECORD_HEADER + (size_t)last.length);
  wire_cut(wire, last.offset + place_number(match, 1));
}

static void change_last_byte(World *world, const Match *match) {
  Wire *wire = wire_to(world, match);
  REQUIRE(wire_waiting(wire) > 0);
  wire->bytes[wire->len - 1] ^= 1;
}

/* Puts the record at from back on the wire, in pieces if it is a handshake record. Returns its length. */
static size_t split_record(Wire *wire, const uint8_t *from, size_t len, size_t most) {
  Record record;
  REQUIRE(records_parse(from, len, &record, 1) > 0);
  const size_t whole = record.length, piece = record.type == RECORD_HANDSHAKE ? most : whole;
  for (size_t at = 0; at == 0 || at < whole; at += piece) {
    const size_t rest = whole - at;
    insert_record(wire, record.type, from[2], from + RECORD_HEADER + at, rest < piece ? rest : piece);
    if (piece == 0) break;
  }
  return RECORD_HEADER + whole;
}

static void split(World *world, const Match *match) {
  Wire *wire = wire_to(world, match);
  const size_t len = wire_waiting(wire), most = place_number(match, 1);
  REQUIRE(len > 0 && most > 0);
  uint8_t *copy = test_allocate(len);
  memcpy(copy, wire_head(wire), len);
  wire->len = wire->taken;
  for (size_t at = 0; at < len;)
    at += split_record(wire, copy + at, len - at, most);
  free(copy);
}

const Form wire_forms[] = {{"the wire to ROLE gets a plain TYPE record with DATA", gets_plain_record},
                           {"the wire to ROLE gets a sealed TYPE record with DATA", gets_sealed_record},
                           {"the wire to ROLE gets N sealed TYPE records with DATA", gets_sealed_records},
                           {"the wire to ROLE gets DATA", gets_data},
                           {"the wire to ROLE loses everything", loses_everything},
                           {"the wire to ROLE is cut after N bytes of the last record", cut_last_record},
                           {"the wire to ROLE is cut after N bytes", cut_after},
                           {"the wire to ROLE is cut in half", cut_in_half},
                           {"the last byte to ROLE is changed", change_last_byte},
                           {"the wire to ROLE is split into records of N bytes", split},
                           {NULL, NULL}};
