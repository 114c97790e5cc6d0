/*
 * shim_signer.h - the private key of an asynchronous case: the system's OpenSSL 3, loaded at run time, signs.
 */
#ifndef SST_SHIM_SIGNER_H
#define SST_SHIM_SIGNER_H

#include <stddef.h>
#include <stdint.h>

/* shim_sign signs message with the key (PEM) under a TLS signature scheme, and returns the length of the signature; 0:
   failed. */
size_t shim_sign(const uint8_t *pem, size_t pem_len, uint16_t scheme, const uint8_t *message, size_t message_len,
                 uint8_t *out, size_t out_cap);

#endif
