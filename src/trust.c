#include "trust.h"

#include "error.h"
#include "object.h"
#include "system_store.h"

struct sst_trust {
  sst__object object;
  sst__anchors *anchors;
};

sst_trust *sst_trust_new(void) {
  sst_trust *trust = sst__object_new(sizeof *trust);
  if (trust == NULL) return NULL;
  trust->anchors = sst__anchors_new();
  if (trust->anchors == NULL) {
    sst__object_end(&trust->object);
    return NULL;
  }
  return trust;
}

sst_trust *sst_trust_ref(sst_trust *trust) {
  if (trust != NULL) sst__object_ref(&trust->object);
  return trust;
}

void sst_trust_free(sst_trust *trust) {
  if (trust == NULL || !sst__object_unref(&trust->object)) return;
  sst__anchors_free(trust->anchors);
  sst__object_end(&trust->object);
}

const sst__anchors *sst__trust_anchors(const sst_trust *trust) {
  return trust->anchors;
}

void sst__trust_freeze(sst_trust *trust) {
  sst__freeze(&trust->object);
}

sst_status sst_trust_load_pem(sst_trust *trust, const uint8_t *pem, size_t pem_len) {
  if (trust == NULL || !sst__buffer_ok(pem, pem_len)) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (sst__frozen(&trust->object)) return sst__refuse(SST_ERR_FROZEN);
  return sst__anchors_load_pem(trust->anchors, pem, pem_len, &trust->object.last);
}

sst_status sst_trust_load_der(sst_trust *trust, const uint8_t *der, size_t der_len) {
  if (trust == NULL || !sst__buffer_ok(der, der_len)) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (sst__frozen(&trust->object)) return sst__refuse(SST_ERR_FROZEN);
  return sst__anchors_load_der(trust->anchors, der, der_len, &trust->object.last);
}

sst_status sst_trust_load_system(sst_trust *trust) {
  if (trust == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (sst__frozen(&trust->object)) return sst__refuse(SST_ERR_FROZEN);
  return sst__load_system_store(trust->anchors, &trust->object.last);
}

sst_status sst_trust_load_crl(sst_trust *trust, const uint8_t *crl, size_t crl_len) {
  if (trust == NULL || !sst__buffer_ok(crl, crl_len)) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (sst__frozen(&trust->object)) return sst__refuse(SST_ERR_FROZEN);
  return sst__anchors_load_crl(trust->anchors, crl, crl_len, &trust->object.last);
}

sst_status sst_trust_set_partial_chain(sst_trust *trust, int32_t allow) {
  if (trust == NULL || (allow != 0 && allow != 1)) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (sst__frozen(&trust->object)) return sst__refuse(SST_ERR_FROZEN);
  sst__anchors_set_partial_chain(trust->anchors, allow == 1);
  return SST_OK;
}

size_t sst_trust_num_anchors(const sst_trust *trust) {
  return trust == NULL ? 0 : sst__anchors_count(trust->anchors);
}

sst_status sst_trust_last_error(const sst_trust *trust, sst_error *error) {
  if (trust == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return sst__error_get(&trust->object.last, error);
}
