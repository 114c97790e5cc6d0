#include "config.h"

#include <pthread.h>
#include <string.h>

#include "config_internal.h"
#include "credential.h"
#include "error.h"
#include "memory.h"
#include "object.h"
#include "ticket_keys.h"
#include "trust.h"

static const sst__settings defaults = {
    .min_version = SST_TLS1_2,
    .max_version = SST_TLS1_3,
    .groups = {0x11ec, 29, 23, 24}, /* X25519MLKEM768, x25519, secp256r1, secp384r1 */
    .num_groups = 4,
    .suites = {0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8},
    .num_suites = 6,
    .schemes = {0x0403, 0x0503, 0x0603, 0x0807, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601},
    .num_schemes = 10,
    .profile = SST_PROFILE_DEFAULT,
    .verify = SST_VERIFY_FULL,
    .client_certificate = SST_CLIENT_CERTIFICATE_NONE,
    .chain_digests = SST_CHAIN_DIGEST_SHA2,
    .minimum_rsa_bits = 2048,
    .key_update_limit = SST__MOST_RECORDS,
    .max_fragment = 16384,
    /* One: each costs a server a few hundredths of a handshake, and a client that resumes gets another. */
    .ticket_count = 1,
    /* Two hours, the custom of TLS 1.2: who steals a ticket key reads the traffic of the sessions under it. */
    .session_lifetime_s = 7200,
};

/* ---- life ---- */

/* Takes over the reference to keys; NULL: there was no memory for them. */
static sst_config *make(sst_ticket_keys *keys) {
  sst_config *config = keys == NULL ? NULL : sst__object_new(sizeof *config);
  if (config == NULL) {
    sst_ticket_keys_free(keys);
    return NULL;
  }
  config->settings = defaults;
  config->ticket_keys = keys;
  pthread_mutex_init(&config->lock, NULL);
  return config;
}

sst_config *sst_config_new(void) {
  return make(sst__ticket_keys_own());
}

sst_config *sst_config_ref(sst_config *config) {
  if (config != NULL) sst__object_ref(&config->object);
  return config;
}

void sst_config_free(sst_config *config) {
  if (config == NULL || !sst__object_unref(&config->object)) return;
  for (int i = 0; i < SST__NUM_ROLES; i++)
    sst__context_free(config->contexts[i]);
  for (size_t i = 0; i < config->num_credentials; i++)
    sst_credential_free(config->credentials[i]);
  sst_trust_free(config->trust);
  sst_ticket_keys_free(config->ticket_keys);
  sst__free(config->settings.alpn);
  sst__free(config->settings.client_cas);
  pthread_mutex_destroy(&config->lock);
  sst__object_end(&config->object);
}

/* Replaces a borrowed list by a copy; false: no memory, and the list is empty. */
static bool copy_list(uint8_t **list, size_t *len) {
  if (*len == 0) return true;
  *list = sst__copy(*list, *len);
  if (*list == NULL) *len = 0;
  return *list != NULL;
}

sst_config *sst_config_copy(const sst_config *config) {
  if (config == NULL) return NULL;
  sst_config *copy = make(sst_ticket_keys_ref(config->ticket_keys));
  if (copy == NULL) return NULL;
  sst__settings settings = config->settings;
  const bool has_alpn = copy_list(&settings.alpn, &settings.alpn_len);
  const bool has_cas = copy_list(&settings.client_cas, &settings.client_cas_len);
  copy->settings = settings;
  if (!has_alpn || !has_cas) {
    sst_config_free(copy);
    return NULL;
  }
  for (size_t i = 0; i < config->num_credentials; i++) {
    copy->credentials[i] = sst_credential_ref(config->credentials[i]);
    copy->identities[i] = config->identities[i];
  }
  copy->num_credentials = config->num_credentials;
  copy->trust = sst_trust_ref(config->trust);
  return copy;
}

sst_status sst__config_fail(sst_config *config, const sst_error *error) {
  pthread_mutex_lock(&config->lock);
  config->object.last = *error;
  pthread_mutex_unlock(&config->lock);
  return error->code;
}

sst_status sst_config_last_error(const sst_config *config, sst_error *error) {
  if (config == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  pthread_mutex_t *lock = (pthread_mutex_t *)&config->lock; /* the config is const for the caller, the lock is not */
  pthread_mutex_lock(lock);
  const sst_error record = config->object.last;
  pthread_mutex_unlock(lock);
  return sst__error_get(&record, error);
}

const sst__settings *sst__config_settings(const sst_config *config) {
  return &config->settings;
}

bool sst__config_checks_name(const sst_config *config) {
  return config->settings.verify == SST_VERIFY_FULL;
}

/* ---- freezing ---- */

/* What a CertificateRequest of TLS 1.3 has room for beside the schemes: extensions are 65,535 bytes in all. */
static size_t most_client_cas(const sst__settings *settings) {
  return 65535 - (4 + 2) - (4 + 2 + 2 * settings->num_schemes);
}

static sst_status check(const sst_config *config, int32_t role, sst_error *record) {
  const sst__settings *settings = &config->settings;
  const bool is_server = role == SST_ROLE_SERVER;
  if (is_server && config->num_credentials == 0 && !sst__suspends_on(settings, SST_WANT_CERTIFICATE)) {
    return sst__fail(record, SST_ERR_NO_CREDENTIAL, "a server needs a credential");
  }
  for (size_t i = 0; i < config->num_credentials; i++) {
    const uint32_t bits = sst__identity_rsa_bits(config->identities[i]);
    if (bits == 0 || bits >= settings->minimum_rsa_bits) continue;
    return sst__fail(record, SST_ERR_UNSUPPORTED_KEY,
                     "credential %zu of %zu has an RSA key of %u bits; this config takes %u to 8192", i + 1,
                     config->num_credentials, bits, settings->minimum_rsa_bits);
  }
  const bool judges = settings->verify != SST_VERIFY_NONE && !sst__suspends_on(settings, SST_WANT_CERTIFICATE_VERIFY) &&
                      (!is_server || settings->client_certificate != SST_CLIENT_CERTIFICATE_NONE);
  if (judges && (config->trust == NULL || sst_trust_num_anchors(config->trust) == 0)) {
    return sst__fail(record, SST_ERR_NO_TRUST, "verification is on and the config has %s",
                     config->trust == NULL ? "no trust" : "a trust without anchors");
  }
  if (is_server && settings->client_cas_len > most_client_cas(settings)) {
    return sst__fail(record, SST_ERR_LIST_TOO_LONG, "the names of the client CAs are %zu bytes, the most is %zu",
                     settings->client_cas_len, most_client_cas(settings));
  }
  return SST_OK;
}

static int index_of(int32_t role) {
  return role == SST_ROLE_SERVER ? 1 : 0;
}

/* Under the lock. */
static sst_status make_context(sst_config *config, int32_t role, sst__context **made, sst_error *record) {
  *made = NULL;
  const sst_status checked = check(config, role, record);
  if (checked != SST_OK) return checked;
  const sst__context_parts parts = {
      .settings = &config->settings,
      .identities = config->identities,
      .num_identities = config->num_credentials,
      .anchors = config->trust == NULL ? NULL : sst__trust_anchors(config->trust),
      .ticket_keys = config->ticket_keys,
      .role = role,
  };
  return sst__context_new(&parts, made, record);
}

/* Under the lock: makes what is missing for roles (a mask), all or nothing. */
static sst_status freeze(sst_config *config, int32_t roles, sst_error *record) {
  static const int32_t each[SST__NUM_ROLES] = {SST_ROLE_CLIENT, SST_ROLE_SERVER};
  sst__context *made[SST__NUM_ROLES] = {NULL, NULL};
  for (int i = 0; i < SST__NUM_ROLES; i++) {
    if ((roles & each[i]) == 0 || config->contexts[i] != NULL) continue;
    const sst_status status = make_context(config, each[i], &made[i], record);
    if (status == SST_OK) continue;
    for (int k = 0; k < i; k++)
      sst__context_free(made[k]);
    return status;
  }
  for (int i = 0; i < SST__NUM_ROLES; i++) {
    if (made[i] != NULL) config->contexts[i] = made[i];
  }
  sst__freeze(&config->object);
  return SST_OK;
}

sst_status sst_config_freeze(sst_config *config, int32_t role) {
  if (config == NULL || role < SST_ROLE_CLIENT || role > SST_ROLE_BOTH) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  sst_error record;
  pthread_mutex_lock(&config->lock);
  const sst_status status = freeze(config, role, &record);
  if (status != SST_OK) config->object.last = record;
  pthread_mutex_unlock(&config->lock);
  return status;
}

sst_status sst__config_context(sst_config *config, int32_t role, const sst__context **context) {
  const sst_status status = sst_config_freeze(config, role);
  if (status != SST_OK) return status;
  pthread_mutex_lock(&config->lock);
  *context = config->contexts[index_of(role)];
  pthread_mutex_unlock(&config->lock);
  return SST_OK;
}
