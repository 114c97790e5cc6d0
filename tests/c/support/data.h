/*
 * data.h - files of tests/data (see its README) and what is made of them.
 */
#ifndef SST_DATA_H
#define SST_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "securestream.h"

/* The time at which the tests judge certificates: 2026-01-01T00:00:00Z. */
#define DATA_CLOCK INT64_C(1767225600)

typedef struct Data {
  uint8_t *bytes;
  size_t len;
} Data;

/* data_read reads tests/data/NAME.EXTENSION; the caller frees bytes. */
Data data_read(const char *name, const char *extension);
/* data_certificate is certificate index of NAME.pem in DER; the caller frees bytes. */
Data data_certificate(const char *name, size_t index);
/* NAME.pem with NAME.key, and NAME.pem as trust anchors; one reference for the caller. */
sst_credential *data_credential(const char *name);
sst_trust *data_trust(const char *name);

#endif
