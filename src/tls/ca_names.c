/* The names of issuers that a server asks for. */
#include <openssl/bytestring.h>
#include <openssl/err.h>
#include <openssl/pool.h>
#include <openssl/x509.h>

#include "memory.h"
#include "tls/internal.h"

static sst_status add_name(CBB *names, const uint8_t *der, size_t der_len, sst_error *record) {
  CBB name;
  if (der_len > UINT16_MAX)
    return sst__fail(record, SST_ERR_LIST_TOO_LONG, "a name of an issuer has %zu bytes, the most is 65535", der_len);
  if (CBB_add_u16_length_prefixed(names, &name) && CBB_add_bytes(&name, der, der_len) && CBB_flush(names))
    return SST_OK;
  return sst__fail(record, SST_ERR_NO_MEMORY, "no memory for names of issuers");
}

static sst_status add_subject(CBB *names, const X509 *certificate, size_t number, sst_error *record) {
  const X509_NAME *subject = X509_get_subject_name(certificate);
  const uint8_t *der = NULL;
  size_t der_len = 0;
  if (X509_NAME_entry_count(subject) <= 0 || !X509_NAME_get0_der(subject, &der, &der_len)) {
    return sst__fail(record, SST_ERR_PARSE, "certificate %zu: it has no subject, and so is no issuer", number);
  }
  return add_name(names, der, der_len, record);
}

static sst_status names_of_pem(const uint8_t *pem, size_t pem_len, CBB *names, sst_error *record) {
  STACK_OF(X509) *list = sk_X509_new_null();
  if (list == NULL) return sst__fail(record, SST_ERR_NO_MEMORY, "no memory for names of issuers");
  sst_status status = sst__read_certificates(pem, pem_len, false, list, record);
  if (status == SST_ERR_NO_CERTIFICATE) {
    status = sst__fail(record, SST_ERR_PARSE, "neither a certificate (PEM or DER) nor an X.501 Name in DER");
  }
  for (size_t i = 0; status == SST_OK && i < sk_X509_num(list); i++) {
    status = add_subject(names, sk_X509_value(list, i), i + 1, record);
  }
  sk_X509_pop_free(list, X509_free);
  return status;
}

/* Both begin as SEQUENCE. In a certificate another SEQUENCE follows (the part that is signed), in a name a SET. */
static bool is_name(const uint8_t *der, size_t der_len) {
  CBS cbs, inside;
  CBS_init(&cbs, der, der_len);
  return CBS_get_asn1(&cbs, &inside, CBS_ASN1_SEQUENCE) && CBS_peek_asn1_tag(&inside, CBS_ASN1_SET);
}

static sst_status name_of_der(const uint8_t *der, size_t der_len, CBB *names, sst_error *record) {
  if (!is_name(der, der_len)) {
    CRYPTO_BUFFER *buffer = CRYPTO_BUFFER_new(der, der_len, NULL);
    X509 *certificate = buffer == NULL ? NULL : sst__parse_certificate(buffer);
    CRYPTO_BUFFER_free(buffer);
    const sst_status status = certificate != NULL ? add_subject(names, certificate, 1, record)
                                                  : sst__fail(record, SST_ERR_PARSE, "not a valid certificate in DER");
    X509_free(certificate);
    return status;
  }
  const uint8_t *parsed = der;
  X509_NAME *name = der_len <= UINT16_MAX ? d2i_X509_NAME(NULL, &parsed, (long)der_len) : NULL;
  X509_NAME_free(name);
  if (name == NULL) return sst__fail(record, SST_ERR_PARSE, "not a valid X.501 Name in DER, of %zu bytes", der_len);
  return add_name(names, der, der_len, record);
}

sst_status sst__read_ca_names(const uint8_t *ca, size_t ca_len, uint8_t **names, size_t *names_len, sst_error *record) {
  const uint64_t failed = sst__failed_allocations();
  CBB cbb;
  CBS cbs, element;
  *names = NULL;
  *names_len = 0;
  ERR_clear_error();
  CBS_init(&cbs, ca, ca_len);
  CBB_zero(&cbb);
  sst_status status = SST_OK;
  if (!CBB_init(&cbb, 256)) {
    status = sst__fail(record, SST_ERR_NO_MEMORY, "no memory for names of issuers");
  } else if (CBS_get_asn1_element(&cbs, &element, CBS_ASN1_SEQUENCE) && CBS_len(&cbs) == 0) {
    status = name_of_der(ca, ca_len, &cbb, record);
  } else {
    status = names_of_pem(ca, ca_len, &cbb, record);
  }
  if (status == SST_OK) {
    *names = sst__copy(CBB_data(&cbb), CBB_len(&cbb));
    *names_len = CBB_len(&cbb);
    if (*names == NULL) status = sst__fail(record, SST_ERR_NO_MEMORY, "no memory for names of issuers");
  }
  CBB_cleanup(&cbb);
  ERR_clear_error();
  if (status != SST_OK && sst__failed_allocations() != failed) {
    return sst__fail(record, SST_ERR_NO_MEMORY, "no memory for names of issuers");
  }
  return status;
}
