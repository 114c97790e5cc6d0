/* securestream: the shared library, by its public header. */
#include <stdlib.h>

#include "boringssl_peers.h"
#include "securestream.h"

enum { RANGES = 128 };

typedef struct Configs {
  sst_config *client, *server;
} Configs;

typedef struct Pair {
  sst_stream *stream[2];
} Pair;

static sst_config *config_new(void) {
  static const uint16_t groups[] = {29}; /* x25519 */
  sst_config *config = sst_config_new();
  REQUIRE(config != NULL);
  REQUIRE(sst_config_set_versions(config, SST_TLS1_3, SST_TLS1_3) == SST_OK);
  REQUIRE(sst_config_set_groups(config, groups, 1) == SST_OK);
  return config;
}

static void *configs_new(const char *leaf) {
  Configs *configs = allocate(sizeof *configs);
  configs->client = config_new();
  configs->server = config_new();
  size_t chain_len, key_len, root_len;
  uint8_t *chain = data_read(leaf, "pem", &chain_len), *key = data_read(leaf, "key", &key_len),
          *root = data_read("root", "pem", &root_len);
  sst_credential *credential = sst_credential_new();
  sst_trust *trust = sst_trust_new();
  REQUIRE(sst_credential_load_pem(credential, chain, chain_len, NULL, 0) == SST_OK);
  REQUIRE(sst_credential_load_pem(credential, key, key_len, NULL, 0) == SST_OK);
  REQUIRE(sst_trust_load_pem(trust, root, root_len) == SST_OK);
  REQUIRE(sst_config_add_credential(configs->server, credential) == SST_OK);
  REQUIRE(sst_config_set_trust(configs->client, trust) == SST_OK);
  REQUIRE(sst_config_freeze(configs->client, SST_ROLE_CLIENT) == SST_OK);
  REQUIRE(sst_config_freeze(configs->server, SST_ROLE_SERVER) == SST_OK);
  sst_credential_free(credential);
  sst_trust_free(trust);
  free(chain);
  free(key);
  free(root);
  return configs;
}

static void configs_free(void *context) {
  Configs *configs = context;
  sst_config_free(configs->client);
  sst_config_free(configs->server);
  free(configs);
}

static void *pair_new(void *context) {
  Configs *configs = context;
  Pair *pair = allocate(sizeof *pair);
  heap_side(SERVER);
  REQUIRE(sst_stream_new(configs->server, SST_ROLE_SERVER, &pair->stream[SERVER]) == SST_OK);
  heap_side(CLIENT);
  REQUIRE(sst_stream_new(configs->client, SST_ROLE_CLIENT, &pair->stream[CLIENT]) == SST_OK);
  REQUIRE(sst_stream_set_verify_time(pair->stream[CLIENT], CLOCK) == SST_OK);
  REQUIRE(sst_stream_set_server_name(pair->stream[CLIENT], "server.test", 11) == SST_OK);
  return pair;
}

static void pair_free(void *context) {
  Pair *pair = context;
  sst_stream_free(pair->stream[CLIENT]);
  sst_stream_free(pair->stream[SERVER]);
  free(pair);
}

static size_t handshake(void *pair, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap, bool *open) {
  sst_progress done;
  const sst_status status = sst_stream_handshake(((Pair *)pair)->stream[side], in, len, out, cap, &done);
  if (status != SST_OK && status != SST_NEED_INPUT) die("securestream: %s", sst_status_name(status));
  REQUIRE(done.consumed == len);
  *open = status == SST_OK;
  return done.produced;
}

static size_t seal(void *pair, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap) {
  sst_progress done;
  REQUIRE(sst_stream_encrypt(((Pair *)pair)->stream[side], in, len, out, cap, &done) == SST_OK);
  return done.produced;
}

static size_t open_records(void *pair, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap) {
  sst_progress done;
  REQUIRE(sst_stream_decrypt(((Pair *)pair)->stream[side], in, len, out, cap, &done) == SST_NEED_INPUT);
  return done.produced;
}

static size_t open_in_place(void *pair, Side side, uint8_t *data, size_t len) {
  sst_progress done;
  sst_range ranges[RANGES];
  size_t used;
  REQUIRE(sst_stream_decrypt_in_place(((Pair *)pair)->stream[side], data, len, ranges, RANGES, &used, &done) ==
          SST_NEED_INPUT);
  return done.produced;
}

const Peer securestream_peer = {.name = "securestream",
                                .configs_new = configs_new,
                                .configs_free = configs_free,
                                .pair_new = pair_new,
                                .pair_free = pair_free,
                                .handshake = handshake,
                                .seal = seal,
                                .open = open_records,
                                .open_in_place = open_in_place};
