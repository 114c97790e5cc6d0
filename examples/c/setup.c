#define _GNU_SOURCE /* explicit_bzero */
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

enum { FILE_FIRST = 65536, FILE_MAX = 16 << 20 };

typedef struct bytes {
  uint8_t *data;
  size_t len;
} bytes;

void setup_standard_files(void) {
  int fd;
  do
    fd = open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
}

/* Reads a whole file; pipes and process substitutions are fine. */
static bool read_file(const char *program, const char *path, bytes *b) {
  *b = (bytes){0};
  FILE *file = fopen(path, "rb");
  size_t cap = 0;
  /* The file may be a private key: no copy of it may stay in a buffer of stdio. */
  if (file) setvbuf(file, NULL, _IONBF, 0);
  while (file && b->len < FILE_MAX && !feof(file) && !ferror(file)) {
    if (b->len == cap) {
      uint8_t *grown = realloc(b->data, cap = cap ? 2 * cap : FILE_FIRST);
      if (!grown) break;
      b->data = grown;
    }
    b->len += fread(b->data + b->len, 1, cap - b->len, file);
  }
  const bool whole = file && feof(file) && !ferror(file);
  if (!whole) fprintf(stderr, "%s: %s: %s\n", program, path, errno ? strerror(errno) : "cannot be read");
  if (file) fclose(file);
  return whole;
}

static void drop(bytes *b) {
  if (b->data) explicit_bzero(b->data, b->len);
  free(b->data);
  *b = (bytes){0};
}

/* Loads a chain or a key. Credentials are small objects of their own: one may serve many configs. */
static bool load_credential(const char *program, const char *path, sst_credential *credential) {
  bytes pem;
  bool loaded = false;
  if (read_file(program, path, &pem)) {
    loaded = sst_credential_load_pem(credential, pem.data, pem.len, NULL, 0) == SST_OK;
    sst_error error = {.size = sizeof error};
    if (!loaded && sst_credential_last_error(credential, &error) == SST_OK) report_error(program, path, &error);
  }
  drop(&pem);
  return loaded;
}

static bool load_trust(const char *program, const char *path, sst_trust *trust) {
  sst_error error = {.size = sizeof error};
  if (!path) {
    if (sst_trust_load_system(trust) == SST_OK) return true;
    if (sst_trust_last_error(trust, &error) == SST_OK)
      report_error(program, "the issuers that the system trusts", &error);
    fprintf(stderr, "%s: name the issuers to trust: --ca FILE\n", program);
    return false;
  }
  bytes pem;
  bool loaded = false;
  if (read_file(program, path, &pem)) {
    loaded = sst_trust_load_pem(trust, pem.data, pem.len) == SST_OK;
    if (!loaded && sst_trust_last_error(trust, &error) == SST_OK) report_error(program, path, &error);
  }
  drop(&pem);
  return loaded;
}

/* What needs no file. Each setter leaves its reason on the config. */
static bool set_rules(const options *o, int32_t role, sst_config *config) {
  uint32_t events = 0;
  if (o->key_log) events |= 1u << SST_EVENT_KEY_LOG;
  if (o->verbose) events |= 1u << SST_EVENT_ALERT_RECEIVED | 1u << SST_EVENT_KEYS_UPDATED;
  bool good = sst_config_set_versions(config, o->min_version, o->max_version) == SST_OK &&
              sst_config_report(config, events) == SST_OK;
  for (size_t i = 0; good && i < o->num_alpn; i++)
    good = sst_config_add_alpn(config, (const uint8_t *)o->alpn[i], strlen(o->alpn[i])) == SST_OK;
  if (good && o->insecure) good = sst_config_set_verify(config, SST_VERIFY_NONE) == SST_OK;
  if (good && o->ca && role == SST_ROLE_SERVER)
    good = sst_config_set_client_certificate(config, SST_CLIENT_CERTIFICATE_REQUIRE) == SST_OK;
  return good;
}

/* Loads what the options name, and puts it into config, which keeps references of its own. */
static bool fill(const char *program, const options *o, int32_t role, sst_config *config, sst_credential *credential,
                 sst_trust *trust) {
  const bool verifies = role == SST_ROLE_CLIENT ? !o->insecure : o->ca != NULL;
  if (o->cert && !load_credential(program, o->cert, credential)) return false;
  if (o->cert && !load_credential(program, o->key, credential)) return false;
  if (verifies && !load_trust(program, o->ca, trust)) return false;

  if ((!o->cert || sst_config_add_credential(config, credential) == SST_OK) &&
      (!verifies || sst_config_set_trust(config, trust) == SST_OK) && set_rules(o, role, config) &&
      sst_config_freeze(config, role) == SST_OK) /* Now, not when the first client comes, it shows what is wrong. */
    return true;
  sst_error error = {.size = sizeof error};
  if (sst_config_last_error(config, &error) == SST_OK) report_error(program, "configuration", &error);
  return false;
}

sst_config *setup_config(const char *program, const options *o, int32_t role) {
  sst_config *config = sst_config_new();
  sst_credential *credential = sst_credential_new();
  sst_trust *trust = sst_trust_new();
  bool good = config && credential && trust;
  if (!good) fprintf(stderr, "%s: no memory\n", program);
  good = good && fill(program, o, role, config, credential, trust);
  sst_credential_free(credential);
  sst_trust_free(trust);
  if (good) return config;
  sst_config_free(config);
  return NULL;
}

bool setup_key_log(const char *program, const options *o, FILE **file) {
  *file = NULL;
  if (!o->key_log) return true;
  const int fd = open(o->key_log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd >= 0) *file = fdopen(fd, "a");
  if (!*file) fprintf(stderr, "%s: %s: %s\n", program, o->key_log, strerror(errno));
  return *file != NULL;
}
