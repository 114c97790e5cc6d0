/* Trust anchors. */
#include <openssl/bytestring.h>
#include <openssl/err.h>
#include <openssl/pool.h>
#include <openssl/x509.h>

#include "memory.h"
#include "pem.h"
#include "tls/verify.h"

sst__anchors *sst__anchors_new(void) {
  sst__anchors *anchors = sst__alloc(sizeof *anchors);
  if (anchors == NULL) return NULL;
  ERR_clear_error();
  anchors->list = sk_X509_new_null();
  anchors->store = X509_STORE_new();
  anchors->known = sst__authorities_new();
  ERR_clear_error();
  if (anchors->list != NULL && anchors->store != NULL && anchors->known != NULL) return anchors;
  sst__anchors_free(anchors);
  return NULL;
}

void sst__anchors_free(sst__anchors *anchors) {
  if (anchors == NULL) return;
  sk_X509_pop_free(anchors->list, X509_free);
  sk_X509_CRL_pop_free(anchors->crls, X509_CRL_free);
  X509_STORE_free(anchors->store);
  sst__authorities_free(anchors->known);
  sst__free(anchors);
}

void sst__anchors_set_partial_chain(sst__anchors *anchors, bool allow) {
  anchors->partial_chain = allow;
}

size_t sst__anchors_count(const sst__anchors *anchors) {
  return sk_X509_num(anchors->list);
}

/* A list that takes each certificate once. What it holds is found by a table, half empty at least: comparing each with
   each takes half a minute for a trust that is full. */
typedef struct gathering {
  STACK_OF(X509) * list; /* of the caller */
  X509 **slots;
  size_t num_slots; /* a power of 2 */
} gathering;

/* Any hash will do: of the signature, by FNV-1a. */
static size_t hash(const X509 *certificate) {
  const ASN1_BIT_STRING *signature = NULL;
  X509_get0_signature(&signature, NULL, certificate);
  const uint8_t *bytes = ASN1_STRING_get0_data(signature);
  uint32_t sum = 2166136261u;
  for (int i = 0; i < ASN1_STRING_length(signature); i++)
    sum = (sum ^ bytes[i]) * 16777619u;
  return sum;
}

/* Where it is, or belongs. */
static X509 **slot_of(const gathering *in, const X509 *certificate) {
  size_t i = hash(certificate) & (in->num_slots - 1);
  while (in->slots[i] != NULL && X509_cmp(in->slots[i], certificate) != 0)
    i = (i + 1) & (in->num_slots - 1);
  return &in->slots[i];
}

static bool make_room(gathering *in) {
  const size_t count = sk_X509_num(in->list);
  size_t num_slots = in->num_slots > 0 ? in->num_slots : 64;
  while (num_slots < 2 * (count + 1))
    num_slots *= 2;
  if (num_slots == in->num_slots) return true;
  sst__free(in->slots);
  in->slots = sst__alloc(num_slots * sizeof *in->slots);
  in->num_slots = in->slots == NULL ? 0 : num_slots;
  for (size_t i = 0; in->slots != NULL && i < count; i++)
    *slot_of(in, sk_X509_value(in->list, i)) = sk_X509_value(in->list, i);
  return in->slots != NULL;
}

/* Adds the certificate, unless it is there. Takes it over. */
static sst_status add_parsed(X509 *certificate, gathering *to, sst_error *record) {
  sst_status status = SST_OK;
  X509 **slot = make_room(to) ? slot_of(to, certificate) : NULL;
  const bool is_new = slot != NULL && *slot == NULL;
  if (is_new && sk_X509_num(to->list) == SST__MOST_ANCHORS) {
    status = sst__fail(record, SST_ERR_LIST_TOO_LONG, "more than %d trust anchors", SST__MOST_ANCHORS);
  } else if (slot == NULL || (is_new && !sk_X509_push(to->list, certificate))) {
    status = sst__fail(record, SST_ERR_NO_MEMORY, "no memory for a trust anchor");
  } else if (is_new) {
    *slot = certificate;
    return SST_OK;
  }
  X509_free(certificate);
  return status;
}

/* SST_OK with *valid false: it is none. */
static sst_status add(const uint8_t *der, size_t der_len, gathering *to, bool *valid, sst_error *record) {
  CRYPTO_BUFFER *buffer = CRYPTO_BUFFER_new(der, der_len, NULL);
  X509 *certificate = buffer == NULL ? NULL : sst__parse_certificate(buffer);
  CRYPTO_BUFFER_free(buffer);
  *valid = certificate != NULL;
  return *valid ? add_parsed(certificate, to, record) : SST_OK;
}

static sst_status add_block(const sst__pem_block *block, gathering *to, sst_error *record) {
  uint8_t *der = NULL;
  size_t der_len = 0;
  bool valid = false;
  sst_status status = sst__pem_decode(block, &der, &der_len, record);
  if (status != SST_OK) return status;
  status = add(der, der_len, to, &valid, record);
  sst__free(der);
  if (status != SST_OK || valid) return status;
  char name[SST__SUBJECT_CAP];
  sst__pem_describe(block, name, sizeof name);
  return sst__fail(record, SST_ERR_PARSE, "%s: not a valid certificate, in the block at line %zu", name, block->line);
}

static sst_status read_pem(const uint8_t *pem, size_t pem_len, bool lenient, gathering *to, sst_error *record) {
  sst__pem scanner;
  sst__pem_block block;
  bool any = false;
  sst__pem_start(&scanner, pem, pem_len);
  sst_status status = sst__pem_next(&scanner, &block, record);
  while (status == SST_OK) {
    if (block.kind == SST__PEM_CERTIFICATE) {
      any = true;
      status = add_block(&block, to, record);
      if (lenient && status == SST_ERR_PARSE) status = SST_OK;
    }
    if (status == SST_OK) status = sst__pem_next(&scanner, &block, record);
  }
  if (status != SST_NONE) return lenient && status == SST_ERR_PARSE ? SST_OK : status;
  if (any || lenient) return SST_OK;
  return sst__fail(record, SST_ERR_NO_CERTIFICATE, "no certificate in the input");
}

static sst_status read_der(const uint8_t *der, size_t der_len, gathering *to, sst_error *record) {
  CBS cbs, element;
  CBS_init(&cbs, der, der_len);
  if (der_len == 0) return sst__fail(record, SST_ERR_NO_CERTIFICATE, "no certificate in the input");
  for (size_t number = 1; CBS_len(&cbs) > 0; number++) {
    const size_t at = der_len - CBS_len(&cbs);
    bool valid = false;
    sst_status status = SST_OK;
    if (sst__next_der(&cbs, &element)) status = add(CBS_data(&element), CBS_len(&element), to, &valid, record);
    if (status != SST_OK) return status;
    if (!valid) {
      return sst__fail(record, SST_ERR_PARSE, "certificate %zu: not a valid certificate in DER, at byte %zu", number,
                       at);
    }
  }
  return SST_OK;
}

static sst_status add_all(const STACK_OF(X509) * from, gathering *to, sst_error *record) {
  sst_status status = SST_OK;
  for (size_t i = 0; i < sk_X509_num(from) && status == SST_OK; i++) {
    X509 *certificate = sk_X509_value(from, i);
    (void)X509_up_ref(certificate);
    status = add_parsed(certificate, to, record);
  }
  return status;
}

typedef enum form { FORM_PEM, FORM_SYSTEM, FORM_DER, FORM_PARSED } form;

/* What is loaded: bytes, or parsed already. */
typedef struct source {
  form form;
  const uint8_t *in;
  size_t in_len;
  const STACK_OF(X509) * parsed;
} source;

static sst_status read_source(const source *from, STACK_OF(X509) * list, sst_error *record) {
  gathering to = {.list = list};
  sst_status status = SST_OK;
  switch (from->form) {
    case FORM_DER:
      status = read_der(from->in, from->in_len, &to, record);
      break;
    case FORM_PARSED:
      status = add_all(from->parsed, &to, record);
      break;
    default:
      status = read_pem(from->in, from->in_len, from->form == FORM_SYSTEM, &to, record);
      break;
  }
  sst__free(to.slots);
  return status;
}

sst_status sst__read_certificates(const uint8_t *pem, size_t pem_len, bool lenient, STACK_OF(X509) * list,
                                  sst_error *record) {
  const source from = {.form = lenient ? FORM_SYSTEM : FORM_PEM, .in = pem, .in_len = pem_len};
  return read_source(&from, list, record);
}

/* All or nothing: into a copy of the list, which takes its place when everything went well. */
static sst_status load(sst__anchors *anchors, source from, sst_error *record) {
  const uint64_t failed = sst__failed_allocations();
  ERR_clear_error();
  STACK_OF(X509) *list = X509_chain_up_ref(anchors->list);
  sst_status status = list == NULL ? sst__fail(record, SST_ERR_NO_MEMORY, "no memory for trust anchors")
                                   : read_source(&from, list, record);
  const bool no_memory = sst__failed_allocations() != failed;
  if (status == SST_OK && !(no_memory && from.form == FORM_SYSTEM)) {
    STACK_OF(X509) *old = anchors->list;
    anchors->list = list;
    list = old;
  } else if (no_memory) {
    status = sst__fail(record, SST_ERR_NO_MEMORY, "no memory to load trust anchors");
  }
  sk_X509_pop_free(list, X509_free);
  ERR_clear_error();
  return status;
}

sst_status sst__anchors_load_pem(sst__anchors *anchors, const uint8_t *pem, size_t pem_len, sst_error *record) {
  return load(anchors, (source){.form = FORM_PEM, .in = pem, .in_len = pem_len}, record);
}

sst_status sst__anchors_load_what_parses(sst__anchors *anchors, const uint8_t *pem, size_t pem_len, sst_error *record) {
  return load(anchors, (source){.form = FORM_SYSTEM, .in = pem, .in_len = pem_len}, record);
}

sst_status sst__anchors_load_der(sst__anchors *anchors, const uint8_t *der, size_t der_len, sst_error *record) {
  return load(anchors, (source){.form = FORM_DER, .in = der, .in_len = der_len}, record);
}

sst_status sst__anchors_add_all(sst__anchors *anchors, const sst__anchors *from, sst_error *record) {
  return load(anchors, (source){.form = FORM_PARSED, .parsed = from->list}, record);
}
