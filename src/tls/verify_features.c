/* TLS features that a certificate promises of its server (RFC 7633): "must-staple" is status_request among them. */
#include "tls/verify.h"

#include <string.h>

#include <openssl/asn1.h>
#include <openssl/bytestring.h>
#include <openssl/obj.h>
#include <openssl/x509.h>

enum { STATUS_REQUEST = 5, MOST_FEATURES = 16 };

/* 1.3.6.1.5.5.7.1.24 */
static const uint8_t tls_feature[] = {0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x18};

typedef struct features {
  uint64_t number[MOST_FEATURES]; /* of TLS extensions */
  size_t count;
} features;

static bool has(const features *list, uint64_t number) {
  for (size_t i = 0; i < list->count; i++) {
    if (list->number[i] == number) return true;
  }
  return false;
}

/* Features ::= SEQUENCE OF INTEGER; so many that they do not fit are malformed as well. */
static bool parse(const ASN1_OCTET_STRING *value, features *found) {
  CBS cbs, list;
  CBS_init(&cbs, ASN1_STRING_get0_data(value), (size_t)ASN1_STRING_length(value));
  if (!CBS_get_asn1(&cbs, &list, CBS_ASN1_SEQUENCE) || CBS_len(&cbs) > 0) return false;
  while (CBS_len(&list) > 0) {
    if (found->count == MOST_FEATURES || !CBS_get_asn1_uint64(&list, &found->number[found->count])) return false;
    found->count++;
  }
  return true;
}

/* false: the extension is malformed. */
static bool read_features(const X509 *certificate, features *found) {
  found->count = 0;
  for (int i = 0; i < X509_get_ext_count(certificate); i++) {
    const X509_EXTENSION *extension = X509_get_ext(certificate, i);
    const ASN1_OBJECT *name = X509_EXTENSION_get_object(extension);
    if (OBJ_length(name) != sizeof tls_feature || memcmp(OBJ_get0_data(name), tls_feature, sizeof tls_feature) != 0) {
      continue;
    }
    return parse(X509_EXTENSION_get_data(extension), found);
  }
  return true;
}

static bool has_all(const features *list, const features *wanted) {
  for (size_t i = 0; i < wanted->count; i++) {
    if (!has(list, wanted->number[i])) return false;
  }
  return true;
}

void sst__add_feature_constraints(const sst__verification *verification, sst__verdict *verdict) {
  const size_t count = sk_X509_num(verdict->path);
  features below = {.count = 0};
  if (!verification->request->peer_is_server) return;
  for (size_t i = 0; i < count; i++) {
    features here;
    if (!read_features(sk_X509_value(verdict->path, i), &here)) {
      sst__verdict_add(verdict, SST_ERR_CERT_MALFORMED, X509_V_ERR_INVALID_EXTENSION, i);
    } else if (i > 0 && !has_all(&below, &here)) {
      sst__verdict_add(verdict, SST_ERR_CERT_OTHER, SST__FEATURE_MISSING, i - 1);
    }
    below = here;
  }
}

void sst__add_missing_staple(const sst__verification *verification, sst__verdict *verdict) {
  features leaf;
  if (!verification->request->peer_is_server || verification->request->stapled) return;
  if (read_features(verification->leaf, &leaf) && has(&leaf, STATUS_REQUEST)) {
    sst__verdict_add(verdict, SST_ERR_CERT_STAPLE_MISSING, 0, 0);
  }
}
