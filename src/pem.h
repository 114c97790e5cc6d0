/*
 * PEM text (RFC 7468) as people write it: with text in front and between, any line ends, blanks at either end of a
 * line, a byte order mark, no newline at the end or between two blocks. Read in two steps: sst__pem_next finds a block,
 * and sst__pem_decode decodes it, so that a fault inside a block that nobody wants does not matter.
 *
 * A boundary counts only at the start of a line (or right behind an END): a comment that quotes one is text. What
 * begins like a boundary and is none, an END without BEGIN and a BEGIN without END are errors: a damaged certificate
 * must not vanish.
 */
#ifndef SST_PEM_H
#define SST_PEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "securestream.h"

enum { SST__PEM_LABEL_CAP = 65 };

typedef struct sst__pem {
  const uint8_t *text, *at, *end;
  size_t line; /* of at, from 1 */
} sst__pem;

typedef enum sst__pem_kind {
  SST__PEM_CERTIFICATE,
  SST__PEM_PRIVATE_KEY, /* whose label ends in PRIVATE KEY */
  SST__PEM_CRL,
  SST__PEM_OTHER
} sst__pem_kind;

/* Points into the text that it was found in. */
typedef struct sst__pem_block {
  char label[SST__PEM_LABEL_CAP]; /* between "-----BEGIN " and "-----", terminated */
  sst__pem_kind kind;
  bool encrypted;          /* by the headers of RFC 1421 that OpenSSL writes ("Proc-Type: 4,ENCRYPTED") */
  const uint8_t *dek_info; /* the value of that header, of dek_info_len bytes; NULL: it has none */
  size_t dek_info_len;
  const uint8_t *data;
  size_t data_len; /* base64 and white space */
  size_t line, data_line;
  const uint8_t *begin;
  const sst__pem *pem;
} sst__pem_block;

void sst__pem_start(sst__pem *pem, const uint8_t *text, size_t text_len);

/* SST_OK: the next block is in block. SST_NONE: there is no more. SST_ERR_PARSE, with record filled. */
sst_status sst__pem_next(sst__pem *pem, sst__pem_block *block, sst_error *record);

/* The bytes of a block, for the caller to free with sst__free. SST_ERR_PARSE, SST_ERR_NO_MEMORY. */
sst_status sst__pem_decode(const sst__pem_block *block, uint8_t **der, size_t *der_len, sst_error *record);

/* What to call a block in a message: "certificate 2 of 3", "private key". */
void sst__pem_describe(const sst__pem_block *block, char *out, size_t out_cap);

#endif
