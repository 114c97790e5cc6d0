#define _POSIX_C_SOURCE 200809L
#include "hosts.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "setup.h"

enum { NAME_MAX_LEN = 253, PATH_MAX_LEN = 1024 };

typedef struct host {
  struct host *next;
  char name[NAME_MAX_LEN + 1];
  struct stat seen; /* the file that config was made from, or could not be */
  sst_config *config;
} host;

struct hosts {
  char folder[PATH_MAX_LEN];
  host *first;
};

hosts *hosts_open(const char *folder) {
  hosts *h = calloc(1, sizeof *h);
  if (h) snprintf(h->folder, sizeof h->folder, "%s", folder);
  return h;
}

void hosts_close(hosts *h) {
  if (!h) return;
  for (host *at = h->first, *next; at; at = next) {
    next = at->next;
    sst_config_free(at->config);
    free(at);
  }
  free(h);
}

/* Small letters. false: what a client has sent is no name that a file may have. */
static bool take_name(const char *name, size_t len, char *taken) {
  if (len == 0 || len > NAME_MAX_LEN || name[0] == '.') return false;
  for (size_t i = 0; i < len; i++) {
    const int c = tolower((unsigned char)name[i]);
    if (!isalnum(c) && c != '-' && c != '.') return false;
    taken[i] = (char)c;
  }
  taken[len] = 0;
  return true;
}

static bool same_file(const struct stat *a, const struct stat *b) {
  return a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
         a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static host *find(hosts *h, const char *name) {
  for (host *at = h->first; at; at = at->next)
    if (strcmp(at->name, name) == 0) return at;
  host *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  snprintf(made->name, sizeof made->name, "%s", name);
  made->next = h->first;
  return h->first = made;
}

/* Only names that have a file are kept: a client could ask for any number of others. */
static sst_config *config_of(hosts *h, const char *name) {
  char path[PATH_MAX_LEN + NAME_MAX_LEN + 8];
  struct stat now;
  snprintf(path, sizeof path, "%s/%s.pem", h->folder, name);
  if (stat(path, &now) != 0) return NULL;
  host *found = find(h, name);
  if (!found || same_file(&found->seen, &now)) return found ? found->config : NULL;
  found->seen = now; /* from before it is read: what comes in between is seen next time */
  const options o = {.cert = path, .key = path, .min_version = SST_TLS1_2, .max_version = SST_TLS1_3};
  sst_config *config = setup_config("sni-server", &o, SST_ROLE_SERVER);
  fprintf(stderr, "sni-server: %s %s\n", name, config ? "loaded" : "cannot be used: the one before it serves on");
  if (!config) return found->config;
  sst_config_free(found->config); /* its streams keep it */
  return found->config = config;
}

sst_config *hosts_find(hosts *h, const char *name, size_t name_len) {
  char taken[NAME_MAX_LEN + 1];
  sst_config *config = take_name(name, name_len, taken) ? config_of(h, taken) : NULL;
  return sst_config_ref(config ? config : config_of(h, "default"));
}
