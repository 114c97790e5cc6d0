/*
 * A program that is not linked with the library: it loads it, uses it, unloads it, and leaves (B02), and it does so
 * beside OpenSSL in one process (B01). --list and --run CASE as the other test programs.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "openssl_pair.h"
#include "securestream.h"

enum { FAILED = 1, SKIPPED = 77, ROUNDS = 100, CAP = 20000, FILE_CAP = 8192 };

/* clang-format off */
#define FUNCTIONS(X) \
  X(sst_config_new) \
  X(sst_config_free) \
  X(sst_config_set_verify) \
  X(sst_config_add_credential) \
  X(sst_credential_new) \
  X(sst_credential_free) \
  X(sst_credential_load_pem) \
  X(sst_stream_new) \
  X(sst_stream_free) \
  X(sst_stream_handshake) \
  X(sst_stream_encrypt) \
  X(sst_stream_decrypt) \
  X(sst_live_objects)
/* clang-format on */

typedef struct Api {
  void *handle;
#define MEMBER(name) __typeof__(&name) name;
  FUNCTIONS(MEMBER)
#undef MEMBER
} Api;

static bool check(bool holds, const char *what) {
  if (!holds) printf("expected: %s\n", what);
  return holds;
}

static bool load(Api *api, int flags) {
  api->handle = dlopen(SST_TEST_LIBRARY, RTLD_NOW | flags);
  if (api->handle == NULL) {
    printf("%s\n", dlerror());
    return false;
  }
#define LOAD(name)                                   \
  do {                                               \
    void *symbol = dlsym(api->handle, #name);        \
    if (!check(symbol != NULL, #name)) return false; \
    memcpy(&api->name, &symbol, sizeof symbol);      \
  } while (0);
  FUNCTIONS(LOAD)
#undef LOAD
  return true;
}

static size_t read_file(const char *name, uint8_t *bytes) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", SST_TEST_DATA, name);
  FILE *file = fopen(path, "rb");
  if (file == NULL) return 0;
  const size_t len = fread(bytes, 1, FILE_CAP, file);
  fclose(file);
  return len;
}

/* One config for both roles; no verification, since it is the loading that is tested. */
static sst_config *make_config(const Api *api) {
  uint8_t pem[FILE_CAP];
  sst_credential *credential = api->sst_credential_new();
  sst_config *config = api->sst_config_new();
  bool good = credential != NULL && config != NULL;
  size_t len = read_file("server-p256.pem", pem);
  good = good && api->sst_credential_load_pem(credential, pem, len, NULL, 0) == SST_OK;
  len = read_file("server-p256.key", pem);
  good = good && api->sst_credential_load_pem(credential, pem, len, NULL, 0) == SST_OK;
  good = good && api->sst_config_add_credential(config, credential) == SST_OK;
  good = good && api->sst_config_set_verify(config, SST_VERIFY_NONE) == SST_OK;
  api->sst_credential_free(credential);
  if (good) return config;
  api->sst_config_free(config);
  return NULL;
}

/* What one side has written and the other not read. */
typedef struct Wire {
  uint8_t bytes[CAP];
  size_t len;
} Wire;

static sst_status step(const Api *api, sst_stream *stream, Wire *in, Wire *out) {
  sst_progress done;
  const sst_status status =
      api->sst_stream_handshake(stream, in->bytes, in->len, out->bytes + out->len, CAP - out->len, &done);
  in->len -= done.consumed;
  memmove(in->bytes, in->bytes + done.consumed, in->len);
  out->len += done.produced;
  return status;
}

static bool move(const Api *api, sst_stream *from, sst_stream *to) {
  static const uint8_t text[] = "through the library that was loaded";
  uint8_t wire[2000], out[sizeof text + SST_RECORD_MAX];
  sst_progress done;
  if (api->sst_stream_encrypt(from, text, sizeof text, wire, sizeof wire, &done) != SST_OK) return false;
  if (api->sst_stream_decrypt(to, wire, done.produced, out, sizeof out, &done) != SST_NEED_INPUT) return false;
  return done.produced == sizeof text && memcmp(out, text, sizeof text) == 0;
}

/* A handshake and an echo of the library with itself. */
static bool our_pair_echoes(const Api *api) {
  sst_config *config = make_config(api);
  sst_stream *client = NULL, *server = NULL;
  Wire *to_server = calloc(1, sizeof *to_server), *to_client = calloc(1, sizeof *to_client);
  bool good = config != NULL && api->sst_stream_new(config, SST_ROLE_CLIENT, &client) == SST_OK &&
              api->sst_stream_new(config, SST_ROLE_SERVER, &server) == SST_OK;
  sst_status status = SST_NEED_INPUT, other = SST_NEED_INPUT;
  for (int turn = 0; good && turn < 4 && (status != SST_OK || other != SST_OK); turn++) {
    status = step(api, client, to_client, to_server);
    other = step(api, server, to_server, to_client);
  }
  good = good && status == SST_OK && other == SST_OK && move(api, client, server) && move(api, server, client);
  api->sst_stream_free(client);
  api->sst_stream_free(server);
  api->sst_config_free(config);
  free(to_server);
  free(to_client);
  return check(good, "a handshake and an echo of our own pair");
}

/* ---- B02 ---- */

static bool handshake_fails(const Api *api, sst_config *config) {
  static const uint8_t garbage[] = "GET / HTTP/1.1\r\n\r\n";
  sst_stream *server = NULL;
  uint8_t out[100];
  sst_progress done;
  bool good = api->sst_stream_new(config, SST_ROLE_SERVER, &server) == SST_OK;
  good = good && api->sst_stream_handshake(server, garbage, sizeof garbage, out, sizeof out, &done) < 0;
  api->sst_stream_free(server);
  return good;
}

static void *load_and_unload(void *result) {
  Api api;
  bool good = load(&api, RTLD_LOCAL);
  if (good) {
    sst_config *config = make_config(&api);
    good = config != NULL && handshake_fails(&api, config);
    api.sst_config_free(config);
    good = good && check(api.sst_live_objects() == 0, "no object left");
    good = dlclose(api.handle) == 0 && good;
  }
  *(bool *)result = good;
  return NULL;
}

/* A thread that has used the library ends when it is unloaded already: its thread locals are destroyed then. */
static int thread_that_has_unloaded_it_ends_cleanly(void) {
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t thread;
    bool good = false;
    if (pthread_create(&thread, NULL, load_and_unload, &good) != 0) return FAILED;
    pthread_join(thread, NULL);
    if (!good) return FAILED;
  }
  return 0;
}

/* Everything is alive when the process ends; these keep it reachable. */
static Api kept_api;
static sst_config *kept_config;
static sst_stream *kept_streams[3];

static int exit_without_freeing_is_clean(void) {
  uint8_t out[4096];
  sst_progress done;
  if (!load(&kept_api, RTLD_LOCAL) || !our_pair_echoes(&kept_api)) return FAILED;
  kept_config = make_config(&kept_api);
  for (int i = 0; i < 3; i++) {
    const int32_t role = i == 2 ? SST_ROLE_SERVER : SST_ROLE_CLIENT;
    if (kept_api.sst_stream_new(kept_config, role, &kept_streams[i]) != SST_OK) return FAILED;
  }
  if (kept_api.sst_stream_handshake(kept_streams[0], NULL, 0, out, sizeof out, &done) != SST_NEED_INPUT) return FAILED;
  exit(0);
}

/* ---- B01 ---- */

static bool both_work(const Api *api, const OpensslPair *openssl) {
  return our_pair_echoes(api) && check(openssl_pair_echoes(openssl), "a handshake and an echo of OpenSSL");
}

static int beside_openssl(bool openssl_first, int flags) {
  Api api;
  OpensslPair openssl;
  if (openssl_first && !openssl_pair_load(&openssl, flags)) return SKIPPED;
  if (!load(&api, flags)) return FAILED;
  if (!openssl_first && !openssl_pair_load(&openssl, flags)) return SKIPPED;
  for (int round = 0; round < 5; round++) {
    if (!both_work(&api, &openssl)) return FAILED;
  }
  return dlclose(api.handle) == 0 ? 0 : FAILED;
}

static int loaded_before_openssl_both_work(void) {
  return beside_openssl(false, RTLD_LOCAL);
}

static int loaded_after_openssl_both_work(void) {
  return beside_openssl(true, RTLD_LOCAL);
}

/* With RTLD_GLOBAL the names of each would be taken for those of the other, if they were exported. */
static int loaded_globally_before_openssl_both_work(void) {
  return beside_openssl(false, RTLD_GLOBAL);
}

static int loaded_globally_after_openssl_both_work(void) {
  return beside_openssl(true, RTLD_GLOBAL);
}

typedef struct Worker {
  const Api *api; /* NULL: OpenSSL */
  const OpensslPair *openssl;
  bool good;
} Worker;

static void *work(void *argument) {
  Worker *worker = argument;
  worker->good = true;
  for (int round = 0; round < 50 && worker->good; round++)
    worker->good = worker->api != NULL ? our_pair_echoes(worker->api) : openssl_pair_echoes(worker->openssl);
  return NULL;
}

static int used_beside_openssl_on_two_threads(void) {
  Api api;
  OpensslPair openssl;
  if (!openssl_pair_load(&openssl, RTLD_GLOBAL)) return SKIPPED;
  if (!load(&api, RTLD_GLOBAL)) return FAILED;
  Worker workers[2] = {{&api, NULL, false}, {NULL, &openssl, false}};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) {
    if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0) return FAILED;
  }
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return check(workers[0].good && workers[1].good, "both threads work") ? 0 : FAILED;
}

/* ---- the program ---- */

typedef struct Case {
  const char *name;
  int (*run)(void);
} Case;

#define CASE(name) {"load." #name, name}
static const Case cases[] = {
    CASE(thread_that_has_unloaded_it_ends_cleanly), CASE(exit_without_freeing_is_clean),
    CASE(loaded_before_openssl_both_work),          CASE(loaded_after_openssl_both_work),
    CASE(loaded_globally_before_openssl_both_work), CASE(loaded_globally_after_openssl_both_work),
    CASE(used_beside_openssl_on_two_threads)};

int main(int argc, char **argv) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (argc == 2 && strcmp(argv[1], "--list") == 0) puts(cases[i].name);
    if (argc == 3 && strcmp(argv[1], "--run") == 0 && strcmp(argv[2], cases[i].name) == 0) return cases[i].run();
  }
  return argc == 2 ? 0 : FAILED;
}
