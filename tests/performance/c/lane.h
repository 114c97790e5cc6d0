/*
 * lane.h - one direction between two open streams: its plaintext, its records, and what was read of them.
 */
#ifndef SST_LANE_H
#define SST_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "securestream.h"

typedef struct Lane {
  sst_stream *from, *to;
  uint8_t *plain, *wire, *read;
  size_t len, wire_cap, read_cap;
  /* What a call gave that was not expected. */
  const char *call;
  sst_status status;
} Lane;

Lane lane_new(sst_stream *from, sst_stream *to, size_t len);
void lane_free(Lane *lane);
/* Encrypts all plaintext in one call and decrypts what that produced in one; false: see call and status. Any thread. */
bool lane_move(Lane *lane);
/* Decrypts with no input. */
bool lane_read_nothing(Lane *lane);
/* These end the case. */
void lane_fail(const Lane *lane) __attribute__((noreturn));
void lane_check(Lane *lane);

#endif
