/* Certificate revocation lists (RFC 5280, 5). */
#include <limits.h>

#include <openssl/bytestring.h>
#include <openssl/err.h>
#include <openssl/x509.h>

#include "memory.h"
#include "pem.h"
#include "tls/internal.h"

static STACK_OF(X509_CRL) * copy_list(const STACK_OF(X509_CRL) * list) {
  STACK_OF(X509_CRL) *copy = sk_X509_CRL_new_null();
  for (size_t i = 0; copy != NULL && list != NULL && i < sk_X509_CRL_num(list); i++) {
    X509_CRL *crl = sk_X509_CRL_value(list, i);
    if (sk_X509_CRL_push(copy, crl)) {
      (void)X509_CRL_up_ref(crl);
      continue;
    }
    sk_X509_CRL_pop_free(copy, X509_CRL_free);
    copy = NULL;
  }
  return copy;
}

/* SST_OK with *valid false: it is none. What is made at first use is made here, and all of it or nothing: a list that
   lacks something for want of memory would lack it for ever. */
static sst_status add(const uint8_t *der, size_t der_len, STACK_OF(X509_CRL) * list, bool *valid, sst_error *record) {
  const uint64_t failed = sst__failed_allocations();
  const uint8_t *at = der;
  X509_CRL *crl = der_len <= LONG_MAX ? d2i_X509_CRL(NULL, &at, (long)der_len) : NULL;
  *valid = crl != NULL && at == der + der_len;
  if (*valid) (void)X509_NAME_cmp(X509_CRL_get_issuer(crl), X509_CRL_get_issuer(crl)); /* keeps the name as compared */
  if (*valid && sst__failed_allocations() == failed && sk_X509_CRL_push(list, crl)) return SST_OK;
  X509_CRL_free(crl);
  return *valid ? sst__fail(record, SST_ERR_NO_MEMORY, "no memory for a revocation list") : SST_OK;
}

static sst_status add_block(const sst__pem_block *block, STACK_OF(X509_CRL) * list, sst_error *record) {
  uint8_t *der = NULL;
  size_t der_len = 0;
  bool valid = false;
  sst_status status = sst__pem_decode(block, &der, &der_len, record);
  if (status != SST_OK) return status;
  status = add(der, der_len, list, &valid, record);
  sst__free(der);
  if (status != SST_OK || valid) return status;
  char name[SST__SUBJECT_CAP];
  sst__pem_describe(block, name, sizeof name);
  return sst__fail(record, SST_ERR_PARSE, "%s: not a valid revocation list, in the block at line %zu", name,
                   block->line);
}

static sst_status read_pem(const uint8_t *pem, size_t pem_len, STACK_OF(X509_CRL) * list, sst_error *record) {
  sst__pem scanner;
  sst__pem_block block;
  bool any = false;
  sst__pem_start(&scanner, pem, pem_len);
  sst_status status = sst__pem_next(&scanner, &block, record);
  while (status == SST_OK) {
    if (block.kind == SST__PEM_CRL) {
      any = true;
      status = add_block(&block, list, record);
    }
    if (status == SST_OK) status = sst__pem_next(&scanner, &block, record);
  }
  if (status != SST_NONE) return status;
  return any ? SST_OK : sst__fail(record, SST_ERR_PARSE, "no revocation list in the input");
}

static sst_status read_der(const uint8_t *der, size_t der_len, STACK_OF(X509_CRL) * list, sst_error *record) {
  CBS cbs, element;
  CBS_init(&cbs, der, der_len);
  for (size_t number = 1; CBS_len(&cbs) > 0; number++) {
    const size_t at = der_len - CBS_len(&cbs);
    bool valid = false;
    sst_status status = SST_OK;
    if (sst__next_der(&cbs, &element)) status = add(CBS_data(&element), CBS_len(&element), list, &valid, record);
    if (status != SST_OK) return status;
    if (!valid) {
      return sst__fail(record, SST_ERR_PARSE, "revocation list %zu: not valid in DER, at byte %zu", number, at);
    }
  }
  return SST_OK;
}

/* DER begins with the tag of SEQUENCE and a length over 127: 0x30 is a digit, the other no text. */
static bool is_der(const uint8_t *in, size_t in_len) {
  return in_len >= 2 && in[0] == 0x30 && in[1] >= 0x80;
}

sst_status sst__anchors_load_crl(sst__anchors *anchors, const uint8_t *crl, size_t crl_len, sst_error *record) {
  const uint64_t failed = sst__failed_allocations();
  ERR_clear_error();
  STACK_OF(X509_CRL) *list = copy_list(anchors->crls);
  sst_status status = SST_OK;
  if (list == NULL) {
    status = sst__fail(record, SST_ERR_NO_MEMORY, "no memory for revocation lists");
  } else {
    status = is_der(crl, crl_len) ? read_der(crl, crl_len, list, record) : read_pem(crl, crl_len, list, record);
  }
  if (status == SST_OK) {
    STACK_OF(X509_CRL) *old = anchors->crls;
    anchors->crls = list;
    list = old;
  }
  sk_X509_CRL_pop_free(list, X509_CRL_free);
  ERR_clear_error();
  if (status != SST_OK && sst__failed_allocations() != failed) {
    return sst__fail(record, SST_ERR_NO_MEMORY, "no memory to load revocation lists");
  }
  return status;
}
