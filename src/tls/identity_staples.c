/* What a server sends beside its chain: an OCSP response and SCTs. Their shape is checked, nothing of what they say. */
#include <openssl/bytestring.h>
#include <openssl/err.h>
#include <openssl/pool.h>

#include "tls/internal.h"

/* Both go into the extensions of one certificate, which have 2^16 - 1 bytes (RFC 8446, 4.4.2). */
enum { MOST_STAPLE = 32000 };

/* OCSPResponse (RFC 6960, 4.2.1). */
static bool is_ocsp_response(const uint8_t *der, size_t der_len) {
  const CBS_ASN1_TAG body = CBS_ASN1_CONSTRUCTED | CBS_ASN1_CONTEXT_SPECIFIC | 0;
  CBS cbs, response;
  CBS_init(&cbs, der, der_len);
  return CBS_get_asn1(&cbs, &response, CBS_ASN1_SEQUENCE) && CBS_len(&cbs) == 0 &&
         CBS_get_asn1(&response, NULL, CBS_ASN1_ENUMERATED) && CBS_get_optional_asn1(&response, NULL, NULL, body) &&
         CBS_len(&response) == 0;
}

/* SignedCertificateTimestampList (RFC 6962, 3.3): neither the list nor an element is empty. */
static bool is_sct_list(const uint8_t *bytes, size_t len) {
  CBS cbs, list, element;
  CBS_init(&cbs, bytes, len);
  if (!CBS_get_u16_length_prefixed(&cbs, &list) || CBS_len(&cbs) > 0 || CBS_len(&list) == 0) return false;
  while (CBS_len(&list) > 0) {
    if (!CBS_get_u16_length_prefixed(&list, &element) || CBS_len(&element) == 0) return false;
  }
  return true;
}

/* A credential that is complete is made anew: BoringSSL cannot take a list of SCTs out of one. */
static sst_status change(sst__identity *identity, sst_error *record) {
  if (identity->credential == NULL) return SST_OK;
  SSL_CREDENTIAL *credential = sst__make_credential(identity, identity->chain, identity->key);
  ERR_clear_error();
  if (credential == NULL) return sst__fail(record, SST_ERR_NO_MEMORY, "no memory for a credential");
  SSL_CREDENTIAL_free(identity->credential);
  identity->credential = credential;
  return SST_OK;
}

static sst_status put(sst__identity *identity, CRYPTO_BUFFER **which, const uint8_t *bytes, size_t len,
                      sst_error *record) {
  CRYPTO_BUFFER *old = *which;
  *which = NULL;
  if (len > 0) {
    *which = CRYPTO_BUFFER_new(bytes, len, NULL);
    if (*which == NULL) {
      *which = old;
      ERR_clear_error();
      return sst__fail(record, SST_ERR_NO_MEMORY, "no memory for a credential");
    }
  }
  const sst_status status = change(identity, record);
  CRYPTO_BUFFER_free(status == SST_OK ? old : *which);
  if (status != SST_OK) *which = old;
  return status;
}

sst_status sst__identity_set_ocsp_response(sst__identity *identity, const uint8_t *response, size_t response_len,
                                           sst_error *record) {
  if (response_len > 0 && !is_ocsp_response(response, response_len)) {
    return sst__fail(record, SST_ERR_PARSE, "not an OCSP response in DER");
  }
  if (response_len > MOST_STAPLE) {
    return sst__fail(record, SST_ERR_LIST_TOO_LONG, "an OCSP response of more than %d bytes", MOST_STAPLE);
  }
  return put(identity, &identity->staples.ocsp_response, response, response_len, record);
}

sst_status sst__identity_set_scts(sst__identity *identity, const uint8_t *scts, size_t scts_len, sst_error *record) {
  if (scts_len > 0 && !is_sct_list(scts, scts_len)) {
    return sst__fail(record, SST_ERR_PARSE, "not a list of signed certificate timestamps");
  }
  if (scts_len > MOST_STAPLE) {
    return sst__fail(record, SST_ERR_LIST_TOO_LONG, "signed certificate timestamps of more than %d bytes", MOST_STAPLE);
  }
  return put(identity, &identity->staples.scts, scts, scts_len, record);
}
