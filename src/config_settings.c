/* The setters of a config: each checks, then changes all of it or nothing. */
#include <string.h>

#include "config_internal.h"
#include "credential.h"
#include "error.h"
#include "memory.h"
#include "numbers.h"
#include "ticket_keys.h"
#include "trust.h"

enum { MAX_ALPN = 8192, MAX_LIST = 65535 };
enum { MIN_RSA_BITS = 1024, MAX_RSA_BITS = 8192 };

static sst_status may_set(const sst_config *config) {
  if (config == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return sst__frozen(&config->object) ? sst__refuse(SST_ERR_FROZEN) : SST_OK;
}

/* The body of setters of one number with a range; member is looked at only where config is not NULL. */
#define SET(config, member, value, least, most)                                              \
  do {                                                                                       \
    const sst_status allowed = may_set(config);                                              \
    if (allowed != SST_OK) return allowed;                                                   \
    if ((value) < (least) || (value) > (most)) return sst__refuse(SST_ERR_INVALID_ARGUMENT); \
    (config)->settings.member = (value);                                                     \
    return SST_OK;                                                                           \
  } while (0)

sst_status sst_config_set_profile(sst_config *config, int32_t profile) {
  SET(config, profile, profile, SST_PROFILE_DEFAULT, SST_PROFILE_COMPAT);
}

sst_status sst_config_set_alpn_lenient(sst_config *config, int32_t on) {
  SET(config, alpn_lenient, on, 0, 1);
}

sst_status sst_config_set_verify(sst_config *config, int32_t mode) {
  SET(config, verify, mode, SST_VERIFY_FULL, SST_VERIFY_NONE);
}

sst_status sst_config_set_client_certificate(sst_config *config, int32_t mode) {
  SET(config, client_certificate, mode, SST_CLIENT_CERTIFICATE_NONE, SST_CLIENT_CERTIFICATE_REQUIRE);
}

sst_status sst_config_set_minimum_key(sst_config *config, uint32_t rsa_bits) {
  SET(config, minimum_rsa_bits, rsa_bits, MIN_RSA_BITS, MAX_RSA_BITS);
}

sst_status sst_config_set_chain_digests(sst_config *config, int32_t allow) {
  SET(config, chain_digests, allow, SST_CHAIN_DIGEST_SHA2, SST_CHAIN_DIGEST_SHA1);
}

sst_status sst_config_set_max_fragment(sst_config *config, uint32_t n) {
  SET(config, max_fragment, n, SST__MIN_FRAGMENT, SST__MAX_FRAGMENT);
}

sst_status sst_config_set_versions(sst_config *config, uint16_t min, uint16_t max) {
  const sst_status allowed = may_set(config);
  if (allowed != SST_OK) return allowed;
  if (min < SST_TLS1_2 || max > SST_TLS1_3 || min > max) {
    return sst__fail(&config->object.last, SST_ERR_BAD_VERSION,
                     "0x%04x to 0x%04x is not a range of TLS 1.2 and TLS 1.3", min, max);
  }
  config->settings.min_version = min;
  config->settings.max_version = max;
  return SST_OK;
}

/* ---- lists of numbers ---- */

static sst_status may_set_list(const sst_config *config, const uint16_t *list, size_t num) {
  const sst_status allowed = may_set(config);
  if (allowed != SST_OK) return allowed;
  const bool ok = sst__buffer_ok(list, num) && num <= (size_t)PTRDIFF_MAX / sizeof *list;
  return ok ? SST_OK : sst__refuse(SST_ERR_INVALID_ARGUMENT);
}

sst_status sst_config_set_groups(sst_config *config, const uint16_t *groups, size_t num_groups) {
  const sst_status allowed = may_set_list(config, groups, num_groups);
  if (allowed != SST_OK) return allowed;
  return sst__take_numbers(&sst__groups, groups, num_groups, config->settings.groups, &config->settings.num_groups,
                           &config->object.last);
}

sst_status sst_config_set_tls12_suites(sst_config *config, const uint16_t *suites, size_t num_suites) {
  const sst_status allowed = may_set_list(config, suites, num_suites);
  if (allowed != SST_OK) return allowed;
  return sst__take_numbers(&sst__suites, suites, num_suites, config->settings.suites, &config->settings.num_suites,
                           &config->object.last);
}

sst_status sst_config_set_signature_schemes(sst_config *config, const uint16_t *schemes, size_t num_schemes) {
  const sst_status allowed = may_set_list(config, schemes, num_schemes);
  if (allowed != SST_OK) return allowed;
  return sst__take_numbers(&sst__schemes, schemes, num_schemes, config->settings.schemes, &config->settings.num_schemes,
                           &config->object.last);
}

/* ---- lists of bytes ---- */

/* Adds head and body to a list; false: no memory, nothing changed. */
static bool append(uint8_t **list, size_t *list_len, const uint8_t *head, size_t head_len, const uint8_t *body,
                   size_t body_len) {
  uint8_t *longer = sst__alloc_unset(*list_len + head_len + body_len);
  if (longer == NULL) return false;
  if (*list_len > 0) memcpy(longer, *list, *list_len);
  if (head_len > 0) memcpy(longer + *list_len, head, head_len);
  if (body_len > 0) memcpy(longer + *list_len + head_len, body, body_len);
  sst__free(*list);
  *list = longer;
  *list_len += head_len + body_len;
  return true;
}

sst_status sst_config_add_alpn(sst_config *config, const uint8_t *protocol, size_t protocol_len) {
  const sst_status allowed = may_set(config);
  if (allowed != SST_OK) return allowed;
  if (!sst__buffer_ok(protocol, protocol_len)) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  sst__settings *settings = &config->settings;
  sst_error *record = &config->object.last;
  if (protocol_len == 0 || protocol_len > 255) {
    return sst__fail(record, SST_ERR_BAD_ALPN, "an ALPN name has 1 to 255 bytes, not %zu", protocol_len);
  }
  if (settings->alpn_len + 1 + protocol_len > MAX_ALPN) {
    return sst__fail(record, SST_ERR_LIST_TOO_LONG, "the ALPN list would be over %d bytes", MAX_ALPN);
  }
  const uint8_t length = (uint8_t)protocol_len;
  if (!append(&settings->alpn, &settings->alpn_len, &length, 1, protocol, protocol_len)) {
    return sst__fail(record, SST_ERR_NO_MEMORY, "no memory for an ALPN name");
  }
  return SST_OK;
}

sst_status sst_config_add_client_ca(sst_config *config, const uint8_t *ca, size_t ca_len) {
  const sst_status allowed = may_set(config);
  if (allowed != SST_OK) return allowed;
  if (!sst__buffer_ok(ca, ca_len)) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  sst__settings *settings = &config->settings;
  sst_error *record = &config->object.last;
  uint8_t *names = NULL;
  size_t names_len = 0;
  sst_status status = sst__read_ca_names(ca, ca_len, &names, &names_len, record);
  if (status != SST_OK) return status;
  if (settings->client_cas_len + names_len > MAX_LIST) {
    status = sst__fail(record, SST_ERR_LIST_TOO_LONG, "the names of the client CAs would be over %d bytes", MAX_LIST);
  } else if (!append(&settings->client_cas, &settings->client_cas_len, NULL, 0, names, names_len)) {
    status = sst__fail(record, SST_ERR_NO_MEMORY, "no memory for the name of a client CA");
  }
  sst__free(names);
  return status;
}

/* ---- objects ---- */

sst_status sst_config_add_credential(sst_config *config, sst_credential *credential) {
  const sst_status allowed = may_set(config);
  if (allowed != SST_OK) return allowed;
  if (credential == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  const sst__identity *identity = sst__credential_identity(credential);
  if (!sst__identity_is_complete(identity)) {
    return sst__fail(&config->object.last, SST_ERR_NO_CREDENTIAL,
                     "the credential has no certificate or no private key");
  }
  if (config->num_credentials == SST__MAX_CREDENTIALS) {
    return sst__fail(&config->object.last, SST_ERR_LIST_TOO_LONG, "a config has at most %d credentials",
                     SST__MAX_CREDENTIALS);
  }
  sst__credential_freeze(credential);
  config->identities[config->num_credentials] = identity;
  config->credentials[config->num_credentials++] = sst_credential_ref(credential);
  return SST_OK;
}

sst_status sst_config_clear_credentials(sst_config *config) {
  const sst_status allowed = may_set(config);
  if (allowed != SST_OK) return allowed;
  while (config->num_credentials > 0)
    sst_credential_free(config->credentials[--config->num_credentials]);
  return SST_OK;
}

static sst_status clear_list(sst_config *config, uint8_t **list, size_t *list_len) {
  const sst_status allowed = may_set(config);
  if (allowed != SST_OK) return allowed;
  sst__free(*list);
  *list = NULL;
  *list_len = 0;
  return SST_OK;
}

sst_status sst_config_clear_alpn(sst_config *config) {
  if (config == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return clear_list(config, &config->settings.alpn, &config->settings.alpn_len);
}

sst_status sst_config_clear_client_cas(sst_config *config) {
  if (config == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return clear_list(config, &config->settings.client_cas, &config->settings.client_cas_len);
}

sst_status sst_config_set_trust(sst_config *config, sst_trust *trust) {
  const sst_status allowed = may_set(config);
  if (allowed != SST_OK) return allowed;
  if (trust != NULL) sst__trust_freeze(trust);
  sst_trust_ref(trust);
  sst_trust_free(config->trust);
  config->trust = trust;
  return SST_OK;
}

/* ---- sessions ---- */

/* 0 to most. */
static sst_status set_number(sst_config *config, uint32_t *member, uint32_t value, uint32_t most) {
  const sst_status allowed = may_set(config);
  if (allowed != SST_OK) return allowed;
  if (value > most) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  *member = value;
  return SST_OK;
}

sst_status sst_config_set_ticket_count(sst_config *config, uint32_t n) {
  if (config == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return set_number(config, &config->settings.ticket_count, n, SST__MOST_TICKETS);
}

sst_status sst_config_set_session_lifetime(sst_config *config, uint32_t lifetime_s) {
  if (config == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return set_number(config, &config->settings.session_lifetime_s, lifetime_s, SST__MOST_LIFETIME_S);
}

sst_status sst_config_set_ticket_keys(sst_config *config, sst_ticket_keys *keys) {
  const sst_status allowed = may_set(config);
  if (allowed != SST_OK) return allowed;
  sst_ticket_keys *next = keys == NULL ? sst__ticket_keys_own() : sst_ticket_keys_ref(keys);
  if (next == NULL) return sst__fail(&config->object.last, SST_ERR_NO_MEMORY, "no memory for a ring of ticket keys");
  sst_ticket_keys_free(config->ticket_keys);
  config->ticket_keys = next;
  return SST_OK;
}

/* ---- events; and what later versions bring ---- */

sst_status sst_config_report(sst_config *config, uint32_t event_mask) {
  enum { KNOWN = (1 << (SST_EVENT_EARLY_DATA + 1)) - 1 };
  const sst_status allowed = may_set(config);
  if (allowed != SST_OK) return allowed;
  if ((event_mask & ~(uint32_t)KNOWN) != 0) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  config->settings.report = event_mask;
  return SST_OK;
}

sst_status sst_config_suspend_on(sst_config *config, uint32_t mask) {
  enum { KNOWN = (1 << (SST_WANT_EARLY_DATA_RETRY - SST_WANT_CLIENT_HELLO + 1)) - 1 };
  const sst_status allowed = may_set(config);
  if (allowed != SST_OK) return allowed;
  if ((mask & ~(uint32_t)KNOWN) != 0) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  config->settings.suspend = mask;
  return SST_OK;
}

static sst_status not_built(const sst_config *config, bool arguments_ok) {
  const sst_status allowed = may_set(config);
  if (allowed != SST_OK) return allowed;
  return sst__refuse(arguments_ok ? SST_ERR_UNSUPPORTED : SST_ERR_INVALID_ARGUMENT);
}

sst_status sst_config_set_early_data(sst_config *config, int32_t on) {
  SET(config, early_data, on, 0, 1);
}

sst_status sst_config_set_key_update_limit(sst_config *config, uint64_t records) {
  const sst_status allowed = may_set(config);
  if (allowed != SST_OK) return allowed;
  if (records < SST__LEAST_RECORDS || records > SST__MOST_RECORDS) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  config->settings.key_update_limit = records;
  return SST_OK;
}

sst_status sst_config_set_ech_keys(sst_config *config, const uint8_t *keys, size_t keys_len) {
  return not_built(config, sst__buffer_ok(keys, keys_len));
}
