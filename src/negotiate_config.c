/* Negotiate configs: made, counted and freed; what they say comes with Negotiate streams. */
#include "error.h"
#include "object.h"

struct sst_negotiate_config {
  sst__object object;
};

sst_negotiate_config *sst_negotiate_config_new(void) {
  return sst__object_new(sizeof(sst_negotiate_config));
}

sst_negotiate_config *sst_negotiate_config_ref(sst_negotiate_config *config) {
  if (config != NULL) sst__object_ref(&config->object);
  return config;
}

void sst_negotiate_config_free(sst_negotiate_config *config) {
  if (config != NULL && sst__object_unref(&config->object)) sst__object_end(&config->object);
}

/* What is not built yet: arguments are judged as they will be. */
static sst_status not_yet(const sst_negotiate_config *config, bool arguments_ok) {
  return sst__refuse(config == NULL || !arguments_ok ? SST_ERR_INVALID_ARGUMENT : SST_ERR_UNSUPPORTED);
}

static bool in_range(int32_t value, int32_t least, int32_t most) {
  return value >= least && value <= most;
}

sst_status sst_negotiate_config_freeze(sst_negotiate_config *config, int32_t role) {
  return not_yet(config, in_range(role, SST_ROLE_CLIENT, SST_ROLE_BOTH));
}

sst_status sst_negotiate_config_set_level(sst_negotiate_config *config, int32_t wanted, int32_t minimum) {
  return not_yet(config, in_range(wanted, SST_LEVEL_NONE, SST_LEVEL_ENCRYPT_AND_SIGN) &&
                             in_range(minimum, SST_LEVEL_NONE, wanted));
}

sst_status sst_negotiate_config_set_impersonation(sst_negotiate_config *config, int32_t level) {
  return not_yet(config, in_range(level, SST_IMPERSONATION_IDENTIFICATION, SST_IMPERSONATION_DELEGATION));
}

sst_status sst_negotiate_config_set_mutual(sst_negotiate_config *config, int32_t required) {
  return not_yet(config, in_range(required, 0, 1));
}

sst_status sst_negotiate_config_set_password(sst_negotiate_config *config, const char *user, size_t user_len,
                                             const char *password, size_t password_len) {
  return not_yet(config, sst__buffer_ok(user, user_len) && sst__buffer_ok(password, password_len));
}

sst_status sst_negotiate_config_set_keytab(sst_negotiate_config *config, const char *path, size_t path_len) {
  return not_yet(config, sst__buffer_ok(path, path_len));
}

sst_status sst_negotiate_config_set_ccache(sst_negotiate_config *config, const char *name, size_t name_len) {
  return not_yet(config, sst__buffer_ok(name, name_len));
}

sst_status sst_negotiate_config_set_mechanisms(sst_negotiate_config *config, uint32_t mask) {
  const uint32_t known = SST_MECHANISM_KERBEROS | SST_MECHANISM_NTLM;
  return not_yet(config, mask != 0 && (mask & ~known) == 0);
}

sst_status sst_negotiate_config_set_binding_policy(sst_negotiate_config *config, int32_t policy) {
  return not_yet(config, in_range(policy, SST_BINDING_POLICY_NEVER, SST_BINDING_POLICY_ALWAYS));
}

sst_status sst_negotiate_config_last_error(const sst_negotiate_config *config, sst_error *error) {
  if (config == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return sst__error_get(&config->object.last, error);
}
