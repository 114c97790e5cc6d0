/* Certificates, keys and trust anchors for credential.c, trust.c and config.c, which see no BoringSSL type. */
#ifndef SST_CERTIFICATES_H
#define SST_CERTIFICATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "securestream.h"

/* A chain and its private key: what a credential holds. */
typedef struct sst__identity sst__identity;

sst__identity *sst__identity_new(void);
void sst__identity_free(sst__identity *identity);
/* The manual is sst_credential_load_pem's. After a failure identity is as before and record says why. */
sst_status sst__identity_load_pem(sst__identity *identity, const uint8_t *pem, size_t pem_len, const char *password,
                                  size_t password_len, sst_error *record);
sst_status sst__identity_load_der(sst__identity *identity, const uint8_t *der, size_t der_len, const uint8_t *key,
                                  size_t key_len, sst_error *record);
sst_status sst__identity_load_pkcs12(sst__identity *identity, const uint8_t *pfx, size_t pfx_len, const char *password,
                                     size_t password_len, sst_error *record);
/* The caller signs, with these schemes: known, none twice, at least one. */
sst_status sst__identity_set_caller_signs(sst__identity *identity, const uint16_t *schemes, size_t num_schemes,
                                          sst_error *record);
/* True if it holds a private key. */
bool sst__identity_has_private_key(const sst__identity *identity);
/* What is sent beside the chain; empty: nothing. PARSE, LIST_TOO_LONG, NO_MEMORY change nothing. */
sst_status sst__identity_set_ocsp_response(sst__identity *identity, const uint8_t *response, size_t response_len,
                                           sst_error *record);
sst_status sst__identity_set_scts(sst__identity *identity, const uint8_t *scts, size_t scts_len, sst_error *record);
/* True once it has a chain and a key. */
bool sst__identity_is_complete(const sst__identity *identity);
/* The size of its RSA key; 0: its key is of another kind, or missing. */
uint32_t sst__identity_rsa_bits(const sst__identity *identity);
/* Certificate index in DER, borrowed; false: out of range. */
bool sst__identity_certificate(const sst__identity *identity, size_t index, const uint8_t **der, size_t *der_len);

/* Trust anchors and revocation lists, parsed. */
typedef struct sst__anchors sst__anchors;

sst__anchors *sst__anchors_new(void);
void sst__anchors_free(sst__anchors *anchors);
sst_status sst__anchors_load_pem(sst__anchors *anchors, const uint8_t *pem, size_t pem_len, sst_error *record);
sst_status sst__anchors_load_der(sst__anchors *anchors, const uint8_t *der, size_t der_len, sst_error *record);
/* Adds what parses of a bundle and steps over the rest; only NO_MEMORY and LIST_TOO_LONG fail. */
sst_status sst__anchors_load_what_parses(sst__anchors *anchors, const uint8_t *pem, size_t pem_len, sst_error *record);
/* Adds those of from, all or nothing. */
sst_status sst__anchors_add_all(sst__anchors *anchors, const sst__anchors *from, sst_error *record);
sst_status sst__anchors_load_crl(sst__anchors *anchors, const uint8_t *crl, size_t crl_len, sst_error *record);
void sst__anchors_set_partial_chain(sst__anchors *anchors, bool allow);
size_t sst__anchors_count(const sst__anchors *anchors);

/* Reads the issuer names out of what sst_config_add_client_ca takes, as a list of DER names, each behind two length
   bytes (RFC 8446, 4.2.4). *names is the caller's to free (sst__free). */
sst_status sst__read_ca_names(const uint8_t *ca, size_t ca_len, uint8_t **names, size_t *names_len, sst_error *record);

#endif
