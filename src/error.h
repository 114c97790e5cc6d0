/* One place makes every error: sst__fail for failures that leave a record, sst__refuse for calls that change
   nothing. */
#ifndef SST_ERROR_H
#define SST_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "securestream.h"

/* No alert, in the fields of sst_error. */
enum { SST__NO_ALERT = -1 };

/* Fills record with code, its usual alert and a message, and returns code. record is whole (its size is set here). */
sst_status sst__fail(sst_error *record, sst_status code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Returns code, which leaves no record: the place for a breakpoint on argument, state and busy errors. */
sst_status sst__refuse(sst_status code);

/* The alert that a failing stream sends for code; SST__NO_ALERT: none. */
int32_t sst__alert_of(sst_status code);

/* True for codes of certificate faults, each of which has a bit in reasons. */
bool sst__is_certificate_code(sst_status code);
uint64_t sst__reason_bit(sst_status code);

void sst__error_clear(sst_error *record);

/* Copies record to a caller's struct, as far as its size says. The body of every last_error. */
sst_status sst__error_get(const sst_error *record, sst_error *out);

/* The body of every getter of a sized struct: fills no more than out's size member says. */
sst_status sst__fill(const void *facts, uint32_t facts_size, void *out);

/* The body of every getter of variable size in bytes. */
sst_status sst__give(const void *data, size_t size, uint8_t *out, size_t out_cap, size_t *out_len);

/* Writes text to out (cap bytes, terminated), what is not printable ASCII replaced, at most 200 bytes of it. */
void sst__printable(const void *text, size_t text_len, char *out, size_t cap);

/* Arguments: a buffer is NULL only if it is empty, and no longer than PTRDIFF_MAX. */
static inline bool sst__buffer_ok(const void *data, size_t size) {
  return size <= (size_t)PTRDIFF_MAX && (data != NULL || size == 0);
}

#endif
