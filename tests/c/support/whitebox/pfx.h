/*
 * pfx.h - PKCS#12 in two steps, so that what stands behind the MAC can be changed: the password is "pw".
 *
 *     const Data safe = pfx_safe(NID_aes_256_cbc, -1, 2);
 *     const Data pfx = pfx_wrap(safe.bytes, safe.len);
 */
#ifndef SST_PFX_H
#define SST_PFX_H

#include "data.h"

/* The authenticated safe of judge_leaf, its issuer and its key, as BoringSSL makes it; -1: not encrypted. issue_free_all
   frees keys and certificates, the caller bytes. */
Data pfx_safe(int key_nid, int certificate_nid, int rounds);
/* A whole file around any bytes, with the MAC that fits them (SHA-1, one round). */
Data pfx_wrap(const uint8_t *safe, size_t safe_len);

#endif
