/*
 * openssl_signer.h - a private key outside of the library: the system's OpenSSL 3, loaded at run time, signs.
 */
#ifndef SST_OPENSSL_SIGNER_H
#define SST_OPENSSL_SIGNER_H

#include <stddef.h>
#include <stdint.h>

/* Ends the case as skipped where there is no libcrypto.so.3. A case whose other threads sign calls it first. */
void openssl_signer_load(void);

/* openssl_sign signs message with tests/data/KEY.key for a TLS signature scheme, and returns the length of the signature. */
size_t openssl_sign(const char *key, uint16_t scheme, const uint8_t *message, size_t message_len, uint8_t *out,
                    size_t out_cap);

#endif
