/* Trust anchors, and the names of issuers that a server asks for. */
#include <openssl/bytestring.h>
#include <openssl/err.h>
#include <openssl/pool.h>
#include <openssl/x509.h>

#include "memory.h"
#include "pem.h"
#include "tls/internal.h"

sst__anchors *sst__anchors_new(void) {
  sst__anchors *anchors = sst__alloc(sizeof *anchors);
  if (anchors == NULL) return NULL;
  ERR_clear_error();
  anchors->list = sk_X509_new_null();
  anchors->store = X509_STORE_new();
  ERR_clear_error();
  if (anchors->list != NULL && anchors->store != NULL) return anchors;
  sst__anchors_free(anchors);
  return NULL;
}

void sst__anchors_free(sst__anchors *anchors) {
  if (anchors == NULL) return;
  sk_X509_pop_free(anchors->list, X509_free);
  X509_STORE_free(anchors->store);
  sst__free(anchors);
}

void sst__anchors_set_partial_chain(sst__anchors *anchors, bool allow) {
  anchors->partial_chain = allow;
}

size_t sst__anchors_count(const sst__anchors *anchors) {
  return sk_X509_num(anchors->list);
}

/* Parses one certificate in DER; NULL: malformed, or no memory. */
static X509 *parse(const uint8_t *der, size_t der_len) {
  CRYPTO_BUFFER *buffer = CRYPTO_BUFFER_new(der, der_len, NULL);
  X509 *certificate = buffer == NULL ? NULL : sst__parse_certificate(buffer);
  CRYPTO_BUFFER_free(buffer);
  return certificate;
}

static bool holds(const STACK_OF(X509) * list, const X509 *certificate) {
  for (size_t i = 0; i < sk_X509_num(list); i++) {
    if (X509_cmp(sk_X509_value(list, i), certificate) == 0) return true;
  }
  return false;
}

/* Adds the certificate in a block to list, unless it is there. */
static sst_status add_block(const sst__pem_block *block, STACK_OF(X509) * list, sst_error *record) {
  uint8_t *der = NULL;
  size_t der_len = 0;
  const sst_status status = sst__pem_decode(block, &der, &der_len, record);
  if (status != SST_OK) return status;
  X509 *certificate = parse(der, der_len);
  sst__free(der);
  if (certificate == NULL) {
    char name[SST__SUBJECT_CAP];
    sst__pem_describe(block, name, sizeof name);
    return sst__fail(record, SST_ERR_PARSE, "%s: not a valid certificate, in the block at line %zu", name, block->line);
  }
  if (holds(list, certificate)) {
    X509_free(certificate);
    return SST_OK;
  }
  if (sk_X509_push(list, certificate)) return SST_OK;
  X509_free(certificate);
  return sst__fail(record, SST_ERR_NO_MEMORY, "no memory for a trust anchor");
}

/* Adds every certificate of pem to list, and refuses a pem that has none. */
static sst_status add_blocks(const uint8_t *pem, size_t pem_len, STACK_OF(X509) * list, sst_error *record) {
  sst__pem scanner;
  sst__pem_block block;
  bool any = false;
  sst__pem_start(&scanner, pem, pem_len);
  sst_status status = sst__pem_next(&scanner, &block, record);
  while (status == SST_OK) {
    if (block.kind == SST__PEM_CERTIFICATE) {
      any = true;
      status = add_block(&block, list, record);
    }
    if (status == SST_OK) status = sst__pem_next(&scanner, &block, record);
  }
  if (status != SST_NONE) return status;
  return any ? SST_OK : sst__fail(record, SST_ERR_NO_CERTIFICATE, "no certificate in the input");
}

sst_status sst__anchors_load_pem(sst__anchors *anchors, const uint8_t *pem, size_t pem_len, sst_error *record) {
  const uint64_t failed = sst__failed_allocations();
  ERR_clear_error();
  /* All or nothing: into a copy, which takes the list's place when everything went well. */
  STACK_OF(X509) *list = X509_chain_up_ref(anchors->list);
  sst_status status = list == NULL ? sst__fail(record, SST_ERR_NO_MEMORY, "no memory for trust anchors")
                                   : add_blocks(pem, pem_len, list, record);
  if (status == SST_OK) {
    STACK_OF(X509) *old = anchors->list;
    anchors->list = list;
    list = old;
  }
  sk_X509_pop_free(list, X509_free);
  ERR_clear_error();
  if (status != SST_OK && sst__failed_allocations() != failed) {
    return sst__fail(record, SST_ERR_NO_MEMORY, "no memory to load trust anchors");
  }
  return status;
}

/* ---- names of issuers ---- */

static sst_status add_name(CBB *names, const uint8_t *der, size_t der_len, sst_error *record) {
  CBB name;
  if (der_len > UINT16_MAX) return sst__fail(record, SST_ERR_LIST_TOO_LONG, "a name of %zu bytes", der_len);
  if (CBB_add_u16_length_prefixed(names, &name) && CBB_add_bytes(&name, der, der_len) && CBB_flush(names))
    return SST_OK;
  return sst__fail(record, SST_ERR_NO_MEMORY, "no memory for names of issuers");
}

static sst_status add_subject(CBB *names, const X509 *certificate, sst_error *record) {
  const X509_NAME *subject = X509_get_subject_name(certificate);
  const uint8_t *der = NULL;
  size_t der_len = 0;
  if (X509_NAME_entry_count(subject) <= 0 || !X509_NAME_get0_der(subject, &der, &der_len)) {
    return sst__fail(record, SST_ERR_PARSE, "a certificate without a subject is no issuer");
  }
  return add_name(names, der, der_len, record);
}

static sst_status names_of_pem(const uint8_t *pem, size_t pem_len, CBB *names, sst_error *record) {
  STACK_OF(X509) *list = sk_X509_new_null();
  if (list == NULL) return sst__fail(record, SST_ERR_NO_MEMORY, "no memory for names of issuers");
  sst_status status = add_blocks(pem, pem_len, list, record);
  if (status == SST_ERR_NO_CERTIFICATE) {
    status = sst__fail(record, SST_ERR_PARSE, "neither a certificate (PEM or DER) nor an X.501 Name in DER");
  }
  for (size_t i = 0; status == SST_OK && i < sk_X509_num(list); i++) {
    status = add_subject(names, sk_X509_value(list, i), record);
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
    X509 *certificate = parse(der, der_len);
    const sst_status status = certificate != NULL ? add_subject(names, certificate, record)
                                                  : sst__fail(record, SST_ERR_PARSE, "not a valid certificate");
    X509_free(certificate);
    return status;
  }
  const uint8_t *parsed = der;
  X509_NAME *name = der_len <= UINT16_MAX ? d2i_X509_NAME(NULL, &parsed, (long)der_len) : NULL;
  X509_NAME_free(name);
  if (name == NULL) return sst__fail(record, SST_ERR_PARSE, "not a valid X.501 Name");
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
