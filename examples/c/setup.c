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

/* Codes that are not sticky leave no record: then the code alone speaks. */
static void report(const char *program, const char *what, sst_status status, sst_error *error) {
  if (error->code == SST_OK) *error = (sst_error){.code = status, .alert_sent = -1, .alert_received = -1};
  report_error(program, what, error);
}

/* Loads a chain or a key. Credentials are small objects of their own: one may serve many configs. */
static bool load_credential(const char *program, const char *path, sst_credential *credential) {
  bytes pem;
  sst_status status = SST_ERR_SYSTEM;
  if (read_file(program, path, &pem)) {
    status = sst_credential_load_pem(credential, pem.data, pem.len, NULL, 0);
    sst_error error = {.size = sizeof error};
    (void)sst_credential_last_error(credential, &error);
    if (status != SST_OK) report(program, path, status, &error);
  }
  drop(&pem);
  return status == SST_OK;
}

static bool load_trust(const char *program, const char *path, sst_trust *trust) {
  sst_error error = {.size = sizeof error};
  if (!path) {
    const sst_status status = sst_trust_load_system(trust);
    if (status == SST_OK) return true;
    (void)sst_trust_last_error(trust, &error);
    report(program, "the issuers that the system trusts", status, &error);
    fprintf(stderr, "%s: name the issuers to trust: --ca FILE\n", program);
    return false;
  }
  bytes pem;
  sst_status status = SST_ERR_SYSTEM;
  if (read_file(program, path, &pem)) {
    status = sst_trust_load_pem(trust, pem.data, pem.len);
    (void)sst_trust_last_error(trust, &error);
    if (status != SST_OK) report(program, path, status, &error);
  }
  drop(&pem);
  return status == SST_OK;
}

/* What needs no file. */
static sst_status set_rules(const options *o, int32_t role, sst_config *config) {
  uint32_t events = 0;
  if (o->key_log) events |= 1u << SST_EVENT_KEY_LOG;
  if (o->verbose) events |= 1u << SST_EVENT_ALERT_RECEIVED | 1u << SST_EVENT_KEYS_UPDATED;
  sst_status status = sst_config_report(config, events);
  if (status == SST_OK) status = sst_config_set_versions(config, o->min_version, o->max_version);
  for (size_t i = 0; status == SST_OK && i < o->num_alpn; i++)
    status = sst_config_add_alpn(config, (const uint8_t *)o->alpn[i], strlen(o->alpn[i]));
  if (status == SST_OK && o->insecure) status = sst_config_set_verify(config, SST_VERIFY_NONE);
  if (status == SST_OK && o->ca && role == SST_ROLE_SERVER)
    status = sst_config_set_client_certificate(config, SST_CLIENT_CERTIFICATE_REQUIRE);
  return status;
}

/* Loads what the options name, and puts it into config, which keeps references of its own. */
static bool fill(const char *program, const options *o, int32_t role, sst_config *config, sst_credential *credential,
                 sst_trust *trust) {
  const bool verifies = role == SST_ROLE_CLIENT ? !o->insecure : o->ca != NULL;
  if (o->cert && !load_credential(program, o->cert, credential)) return false;
  if (o->cert && !load_credential(program, o->key, credential)) return false;
  if (verifies && !load_trust(program, o->ca, trust)) return false;

  sst_status status = set_rules(o, role, config);
  if (status == SST_OK && o->cert) status = sst_config_add_credential(config, credential);
  if (status == SST_OK && verifies) status = sst_config_set_trust(config, trust);
  /* Frozen now, the config shows what is wrong with it before the first connection does. */
  if (status == SST_OK) status = sst_config_freeze(config, role);
  if (status == SST_OK) return true;
  sst_error error = {.size = sizeof error};
  (void)sst_config_last_error(config, &error);
  report(program, "configuration", status, &error);
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
