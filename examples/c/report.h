/* report.h - tells a person what failed, what was negotiated, and what goes over the wire. */
#ifndef REPORT_H
#define REPORT_H

#include <securestream.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* "who: what: message", then the name of the code, all reasons, and the alerts. */
void report_error(const char *who, const char *what, const sst_error *error);

/* The same for what ended a stream. */
void report_stream_error(const char *who, const char *what, const sst_stream *stream);

/* What was negotiated, as one line of text. */
void report_negotiated(const sst_stream *stream, char *text, size_t text_cap);

/* Appends key-log lines to key_log (NULL: drops them), and with verbose shows the other events. */
void report_events(const char *who, sst_stream *stream, FILE *key_log, bool verbose);

/* Follows the records of a direction, however the transport cuts them. All zero: at the start. */
typedef struct report_direction {
  uint8_t header[5];
  size_t header_len;
  size_t left; /* of the record whose header has passed */
} report_direction;

typedef struct report_wire {
  const char *stage; /* "handshake", "data", "close" */
  report_direction sent, received;
} report_wire;

/* Shows one flight: "who: -> 517 bytes, handshake: handshake 517". */
void report_flight(const char *who, report_wire *wire, bool sent, const uint8_t *bytes, size_t len);

#endif
