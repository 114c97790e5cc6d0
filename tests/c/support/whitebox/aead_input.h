/*
 * aead_input.h - what the AEAD was given to seal: where the plaintext of the last record lay, piece by piece.
 *
 *     aead_input_forget();
 *     sst_stream_encrypt(...);
 *     const AeadInput *input = aead_input();
 *
 * Of the calling thread.
 */
#ifndef SST_AEAD_INPUT_H
#define SST_AEAD_INPUT_H

#include <stddef.h>
#include <stdint.h>

enum { AEAD_INPUT_MOST = 64 };

typedef struct AeadInput {
  size_t calls; /* since it was forgotten */
  size_t num;   /* pieces of the last */
  struct {
    const uint8_t *in, *out;
    size_t len;
  } piece[AEAD_INPUT_MOST];
} AeadInput;

void aead_input_forget(void);
const AeadInput *aead_input(void);

#endif
