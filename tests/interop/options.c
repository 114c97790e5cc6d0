#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "securestream.h"

static bool parse_groups(options *o, const char *text) {
  for (o->num_groups = 0; o->num_groups < sizeof o->groups / sizeof *o->groups; text++) {
    char *end;
    o->groups[o->num_groups++] = (uint16_t)strtoul(text, &end, 10);
    if (*end != ',') return *end == 0;
    text = end;
  }
  return false;
}

static bool parse_version(uint16_t *version, const char *text) {
  *version = strcmp(text, "1.2") == 0 ? SST_TLS1_2 : SST_TLS1_3;
  return strcmp(text, "1.2") == 0 || strcmp(text, "1.3") == 0;
}

static bool parse_request(int32_t *mode, const char *text) {
  static const char *const names[] = {"none", "request", "require"};
  for (int32_t i = 0; i < 3; i++) {
    if (strcmp(text, names[i]) != 0) continue;
    *mode = i; /* SST_CLIENT_CERTIFICATE_NONE, _REQUEST, _REQUIRE */
    return true;
  }
  return false;
}

static bool parse_text(options *o, const char *flag, const char *value) {
  const struct {
    const char *flag;
    const char **place;
  } texts[] = {{"--port", &o->port},
               {"--name", &o->name},
               {"--cert", &o->cert},
               {"--key", &o->key},
               {"--ca", &o->ca},
               {"--client-ca", &o->client_ca},
               {"--alpn", &o->alpn},
               {"--send", &o->send},
               {"--receive", &o->receive},
               {"--until", &o->until},
               {"--steps", &o->steps},
               {"--early", &o->early},
               {"--early-mode", &o->early_mode},
               {"--port2", &o->port2}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (strcmp(flag, texts[i].flag) != 0) continue;
    *texts[i].place = value;
    return true;
  }
  return false;
}

static bool parse_one(options *o, const char *flag, const char *value) {
  if (strcmp(flag, "--min") == 0) return parse_version(&o->min_version, value);
  if (strcmp(flag, "--max") == 0) return parse_version(&o->max_version, value);
  if (strcmp(flag, "--client-auth") == 0) return parse_request(&o->client_certificate, value);
  if (strcmp(flag, "--groups") == 0) return parse_groups(o, value);
  if (strcmp(flag, "--now") == 0) return (o->now = strtoll(value, NULL, 10)) > 0;
  if (strcmp(flag, "--expect") == 0) return (o->expect = strtoull(value, NULL, 10)) > 0;
  if (strcmp(flag, "--suspend") == 0) return (o->suspend_ms = (unsigned)strtoul(value, NULL, 10)) > 0;
  if (strcmp(flag, "--limit") == 0) return (o->limit_s = (unsigned)strtoul(value, NULL, 10)) > 0;
  return parse_text(o, flag, value);
}

bool options_parse(options *o, int argc, char **argv) {
  *o = (options){.min_version = SST_TLS1_2,
                 .max_version = SST_TLS1_3,
                 .expect = UINT64_MAX,
                 .steps = "send,close,drain",
                 .limit_s = 20};
  if (argc > 1 && strcmp(argv[1], "client") == 0) o->role = SST_ROLE_CLIENT;
  if (argc > 1 && strcmp(argv[1], "server") == 0) o->role = SST_ROLE_SERVER;
  bool good = o->role != 0 && argc % 2 == 0;
  for (int i = 2; good && i < argc; i += 2) {
    good = parse_one(o, argv[i], argv[i + 1]);
    if (!good) fprintf(stderr, "sst_interop: wrong: %s %s\n", argv[i], argv[i + 1]);
  }
  good = good && o->receive && (o->role == SST_ROLE_SERVER || o->port);
  if (!good) fprintf(stderr, "sst_interop: client|server [--flag value]...; --receive, and --port of a client\n");
  return good;
}

uint8_t *read_file(const char *path, size_t *len) {
  FILE *file = fopen(path, "rb");
  long size = -1;
  if (file && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
  uint8_t *bytes = size >= 0 ? malloc((size_t)size + 1) : NULL;
  if (bytes) {
    rewind(file);
    *len = fread(bytes, 1, (size_t)size, file);
  }
  if (!bytes || *len != (size_t)size) {
    perror(path);
    free(bytes);
    bytes = NULL;
  }
  if (file) fclose(file);
  return bytes;
}
