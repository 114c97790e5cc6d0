#define _GNU_SOURCE /* secure_getenv */
#include "system_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "memory.h"

enum { MOST_BYTES = 64 << 20 }; /* of one file: bundles are some 200 KB */

static const char *const bundles[] = {
    "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Ubuntu, Arch, Gentoo */
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora, RHEL */
    "/etc/pki/tls/certs/ca-bundle.crt",                  /* older ones of them */
    "/etc/ssl/ca-bundle.pem",                            /* SUSE */
    "/etc/ssl/cert.pem",                                 /* Alpine, the BSDs */
    "/etc/pki/tls/cacert.pem",
};
static const char folders[] = "/etc/ssl/certs:/etc/pki/tls/certs";

/* What became of the places that were looked at. */
typedef struct search {
  sst__anchors *anchors;
  sst_error *record;
  bool any_read;
  int last_errno;
  char last_place[256];
} search;

static sst_status not_read(search *state, const char *path, int error) {
  state->last_errno = error;
  (void)snprintf(state->last_place, sizeof state->last_place, "%.255s", path);
  return SST_NONE;
}

static size_t read_all(int file, uint8_t *data, size_t cap) {
  size_t used = 0;
  while (used < cap) {
    const ssize_t got = read(file, data + used, cap - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    used += (size_t)got;
  }
  return used;
}

/* SST_OK: it was read. SST_NONE: it was not. An error: no memory. */
static sst_status load_file(search *state, const char *path) {
  struct stat facts;
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hang */
  if (file < 0) return not_read(state, path, errno);
  if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size > MOST_BYTES) {
    close(file);
    return not_read(state, path, EINVAL);
  }
  const size_t size = (size_t)facts.st_size;
  uint8_t *data = sst__alloc_unset(size);
  if (data == NULL) {
    close(file);
    return sst__fail(state->record, SST_ERR_NO_MEMORY, "no memory to load trust anchors");
  }
  const size_t used = read_all(file, data, size);
  close(file);
  state->any_read = true;
  const sst_status status = sst__anchors_load_what_parses(state->anchors, data, used, state->record);
  sst__free(data);
  return status;
}

static bool is_worth_reading(const char *name) {
  return name[0] != '.' && strlen(name) < 256;
}

static sst_status load_folder(search *state, const char *path) {
  DIR *folder = opendir(path);
  if (folder == NULL) return not_read(state, path, errno);
  sst_status status = SST_OK;
  for (const struct dirent *entry = readdir(folder); entry != NULL && status >= 0; entry = readdir(folder)) {
    char file[4096 + 256];
    if (!is_worth_reading(entry->d_name)) continue;
    (void)snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
    status = load_file(state, file);
  }
  closedir(folder);
  return status < 0 ? status : SST_OK;
}

/* folders: names separated by ":". */
static sst_status load_folders(search *state, const char *list) {
  while (*list != 0) {
    const size_t len = strcspn(list, ":");
    char path[4096];
    if (len > 0 && len < sizeof path) {
      memcpy(path, list, len);
      path[len] = 0;
      const sst_status status = load_folder(state, path);
      if (status < 0) return status;
    }
    list += len + (list[len] == ':');
  }
  return SST_OK;
}

static sst_status load_usual_places(search *state) {
  for (size_t i = 0; i < sizeof bundles / sizeof bundles[0]; i++) {
    const sst_status status = load_file(state, bundles[i]);
    if (status < 0 || (status == SST_OK && sst__anchors_count(state->anchors) > 0)) return status;
  }
  return load_folders(state, folders);
}

static const char *setting(const char *name) {
  const char *value = secure_getenv(name);
  return value != NULL && value[0] != 0 ? value : NULL;
}

static sst_status load(search *state) {
  const char *file = setting("SSL_CERT_FILE"), *list = setting("SSL_CERT_DIR");
  sst_status status = SST_OK;
  if (file == NULL && list == NULL) return load_usual_places(state);
  if (file != NULL) status = load_file(state, file);
  if (status >= 0 && list != NULL) status = load_folders(state, list);
  return status;
}

static sst_status judge(const search *state, sst_status status, sst_error *record) {
  if (status < 0) return status;
  if (!state->any_read) {
    char why[128];
    status = sst__fail(record, SST_ERR_SYSTEM, "no trust anchors of the system can be read; the last place was %s (%s)",
                       state->last_place[0] != 0 ? state->last_place : "none",
                       strerror_r(state->last_errno, why, sizeof why));
    record->detail = state->last_errno;
    return status;
  }
  if (sst__anchors_count(state->anchors) > 0) return SST_OK;
  return sst__fail(record, SST_ERR_NO_CERTIFICATE, "what holds the trust anchors of the system has no certificate");
}

sst_status sst__load_system_store(sst__anchors *anchors, sst_error *record) {
  sst_error last; /* what was stepped over writes there too */
  search state = {.anchors = sst__anchors_new(), .record = &last};
  if (state.anchors == NULL) return sst__fail(record, SST_ERR_NO_MEMORY, "no memory to load trust anchors");
  sst_status status = judge(&state, load(&state), &last);
  if (status == SST_OK) status = sst__anchors_add_all(anchors, state.anchors, &last);
  sst__anchors_free(state.anchors);
  if (status != SST_OK) *record = last;
  return status;
}
