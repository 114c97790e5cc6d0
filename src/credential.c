#include "credential.h"

#include "error.h"
#include "numbers.h"
#include "object.h"
#include "settings.h"

struct sst_credential {
  sst__object object;
  sst__identity *identity;
};

sst_credential *sst_credential_new(void) {
  sst_credential *credential = sst__object_new(sizeof *credential);
  if (credential == NULL) return NULL;
  credential->identity = sst__identity_new();
  if (credential->identity == NULL) {
    sst__object_end(&credential->object);
    return NULL;
  }
  return credential;
}

sst_credential *sst_credential_ref(sst_credential *credential) {
  if (credential != NULL) sst__object_ref(&credential->object);
  return credential;
}

void sst_credential_free(sst_credential *credential) {
  if (credential == NULL || !sst__object_unref(&credential->object)) return;
  sst__identity_free(credential->identity);
  sst__object_end(&credential->object);
}

sst__identity *sst__credential_identity(sst_credential *credential) {
  return credential->identity;
}

void sst__credential_freeze(sst_credential *credential) {
  sst__freeze(&credential->object);
}

sst_status sst_credential_load_pem(sst_credential *credential, const uint8_t *pem, size_t pem_len, const char *password,
                                   size_t password_len) {
  if (credential == NULL || !sst__buffer_ok(pem, pem_len) || !sst__buffer_ok(password, password_len)) {
    return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  }
  if (sst__frozen(&credential->object)) return sst__refuse(SST_ERR_FROZEN);
  return sst__identity_load_pem(credential->identity, pem, pem_len, password, password_len, &credential->object.last);
}

sst_status sst_credential_load_der(sst_credential *credential, const uint8_t *der, size_t der_len, const uint8_t *key,
                                   size_t key_len) {
  if (credential == NULL || !sst__buffer_ok(der, der_len) || !sst__buffer_ok(key, key_len)) {
    return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  }
  if (sst__frozen(&credential->object)) return sst__refuse(SST_ERR_FROZEN);
  return sst__identity_load_der(credential->identity, der, der_len, key, key_len, &credential->object.last);
}

sst_status sst_credential_load_pkcs12(sst_credential *credential, const uint8_t *pfx, size_t pfx_len,
                                      const char *password, size_t password_len) {
  if (credential == NULL || !sst__buffer_ok(pfx, pfx_len) || !sst__buffer_ok(password, password_len)) {
    return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  }
  if (sst__frozen(&credential->object)) return sst__refuse(SST_ERR_FROZEN);
  return sst__identity_load_pkcs12(credential->identity, pfx, pfx_len, password, password_len,
                                   &credential->object.last);
}

sst_status sst_credential_set_caller_signs(sst_credential *credential, const uint16_t *schemes, size_t num_schemes) {
  const bool ok = num_schemes <= (size_t)PTRDIFF_MAX / sizeof *schemes && (schemes != NULL || num_schemes == 0);
  if (credential == NULL || !ok) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (sst__frozen(&credential->object)) return sst__refuse(SST_ERR_FROZEN);
  if (sst__identity_has_private_key(credential->identity)) return sst__refuse(SST_ERR_STATE);
  uint16_t taken[SST__MAX_SCHEMES];
  size_t num_taken = 0;
  const sst_status status =
      sst__take_numbers(&sst__schemes, schemes, num_schemes, taken, &num_taken, &credential->object.last);
  if (status != SST_OK) return status;
  return sst__identity_set_caller_signs(credential->identity, taken, num_taken, &credential->object.last);
}

sst_status sst_credential_set_ocsp_response(sst_credential *credential, const uint8_t *response, size_t response_len) {
  if (credential == NULL || !sst__buffer_ok(response, response_len)) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (sst__frozen(&credential->object)) return sst__refuse(SST_ERR_FROZEN);
  return sst__identity_set_ocsp_response(credential->identity, response, response_len, &credential->object.last);
}

sst_status sst_credential_set_scts(sst_credential *credential, const uint8_t *scts, size_t scts_len) {
  if (credential == NULL || !sst__buffer_ok(scts, scts_len)) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (sst__frozen(&credential->object)) return sst__refuse(SST_ERR_FROZEN);
  return sst__identity_set_scts(credential->identity, scts, scts_len, &credential->object.last);
}

sst_status sst_credential_certificate(const sst_credential *credential, size_t index, uint8_t *out, size_t out_cap,
                                      size_t *out_len) {
  const uint8_t *der = NULL;
  size_t der_len = 0;
  if (credential == NULL) {
    if (out_len != NULL) *out_len = 0;
    return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  }
  if (!sst__identity_certificate(credential->identity, index, &der, &der_len)) der_len = 0; /* out of range: none */
  return sst__give(der, der_len, out, out_cap, out_len);
}

sst_status sst_credential_last_error(const sst_credential *credential, sst_error *error) {
  if (credential == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return sst__error_get(&credential->object.last, error);
}
