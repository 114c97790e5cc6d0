/*
 * mutate.h - damaged copies of bytes, by the numbers of test_random.
 *
 *     const Data mutant = mutate_der(original.bytes, original.len);
 *     ...
 *     free(mutant.bytes);
 *
 * Each is one to three changes. Once in a while they come to nothing and the copy is equal: who must know compares.
 */
#ifndef SST_MUTATE_H
#define SST_MUTATE_H

#include "data.h"

/* Knows nothing of what it changes: a bit turned, a byte set, pieces cut off, cut out, put in, doubled, exchanged. */
Data mutate_bytes(const uint8_t *bytes, size_t len);

/* Knows DER: changes a tag, a length, the value of an element; drops, doubles, exchanges and empties elements, wraps
   them, puts INTEGERs in of odd values. Mostly the lengths around it are mended, so that what is inside is reached. */
Data mutate_der(const uint8_t *der, size_t len);

/* mutate_splice is a copy of der in which cut bytes at offset at are replaced and the lengths of all elements around
   them are mended. */
Data mutate_splice(const uint8_t *der, size_t len, size_t at, size_t cut, const uint8_t *put, size_t put_len);

#endif
