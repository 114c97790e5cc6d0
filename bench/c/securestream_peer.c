/* securestream: the shared library, by its public header. */
#include <stdlib.h>

#include "boringssl_peers.h"
#include "securestream.h"

enum { RANGES = 128 };

typedef struct Configs {
  sst_config *client, *server;
  Use use;
  sst_session *session; /* the newest; NULL: none yet */
} Configs;

typedef struct Pair {
  sst_stream *stream[2];
  bool early; /* the server reads early data, and its handshake ends in decrypt */
} Pair;

static sst_config *config_new(void) {
  static const uint16_t groups[] = {29}; /* x25519 */
  sst_config *config = sst_config_new();
  REQUIRE(config != NULL);
  REQUIRE(sst_config_set_versions(config, SST_TLS1_3, SST_TLS1_3) == SST_OK);
  REQUIRE(sst_config_set_groups(config, groups, 1) == SST_OK);
  return config;
}

/* A client that wants sessions, a server that sends one ticket, or none. */
static void set_use(const Configs *configs) {
  REQUIRE(sst_config_set_ticket_count(configs->server, configs->use == FULL ? 0 : 1) == SST_OK);
  if (configs->use != FULL) REQUIRE(sst_config_report(configs->client, 1u << SST_EVENT_SESSION) == SST_OK);
  if (configs->use != EARLY) return;
  REQUIRE(sst_config_set_early_data(configs->client, 1) == SST_OK);
  REQUIRE(sst_config_set_early_data(configs->server, 1) == SST_OK);
}

static void *configs_new(const char *leaf, Use use) {
  Configs *configs = allocate(sizeof *configs);
  configs->client = config_new();
  configs->server = config_new();
  configs->use = use;
  set_use(configs);
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
  sst_session_free(configs->session);
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
  if (configs->use >= RESUMED) REQUIRE(sst_stream_set_session(pair->stream[CLIENT], configs->session) == SST_OK);
  return pair;
}

static void pair_free(void *context) {
  Pair *pair = context;
  sst_stream_free(pair->stream[CLIENT]);
  sst_stream_free(pair->stream[SERVER]);
  free(pair);
}

static size_t open_records(void *pair, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap) {
  sst_progress done;
  REQUIRE(sst_stream_decrypt(((Pair *)pair)->stream[side], in, len, out, cap, &done) == SST_NEED_INPUT);
  return done.produced;
}

/* Takes tickets. */
static void read_tickets(Pair *pair, const uint8_t *in, size_t len) {
  static uint8_t nothing[RECORD_ROOM];
  if (len > 0) REQUIRE(open_records(pair, CLIENT, in, len, nothing, sizeof nothing) == 0);
}

/* Takes the end of the early data and the client's last flight. */
static size_t end_early(Pair *pair, const uint8_t *in, size_t len, bool *open) {
  static uint8_t nothing[RECORD_ROOM];
  sst_progress done;
  REQUIRE(sst_stream_decrypt(pair->stream[SERVER], in, len, nothing, sizeof nothing, &done) == SST_NEED_INPUT);
  REQUIRE(done.consumed == len && done.produced == 0);
  *open = (done.flags & SST_EARLY_DATA) == 0;
  return 0;
}

static size_t handshake(void *context, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap, bool *open) {
  Pair *pair = context;
  sst_progress done;
  if (side == SERVER && pair->early) return end_early(pair, in, len, open);
  const sst_status status = sst_stream_handshake(pair->stream[side], in, len, out, cap, &done);
  if (status != SST_OK && status != SST_NEED_INPUT) die("securestream: %s", sst_status_name(status));
  *open = status == SST_OK;
  REQUIRE(done.consumed == len || *open);
  /* Behind accepted early data, tickets come with the server's flight. */
  read_tickets(pair, in + done.consumed, len - done.consumed);
  return done.produced;
}

static size_t seal(void *pair, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap) {
  sst_progress done;
  REQUIRE(sst_stream_encrypt(((Pair *)pair)->stream[side], in, len, out, cap, &done) == SST_OK);
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

static size_t tickets(void *pair, uint8_t *out, size_t cap) {
  sst_progress done;
  REQUIRE(sst_stream_flush(((Pair *)pair)->stream[SERVER], out, cap, &done) == SST_OK);
  return done.produced;
}

static void check_resumed(sst_stream *stream, bool resumed) {
  sst_stream_info info = {.size = sizeof info};
  REQUIRE(sst_stream_get_info(stream, &info) == SST_OK);
  REQUIRE(((info.flags & SST_INFO_RESUMED) != 0) == resumed);
}

static void keep_session(void *context, void *context_of_pair, const uint8_t *in, size_t len, bool resumed) {
  Configs *configs = context;
  Pair *pair = context_of_pair;
  for (int side = CLIENT; side <= SERVER; side++)
    check_resumed(pair->stream[side], resumed);
  read_tickets(pair, in, len);
  sst_session_free(configs->session);
  configs->session = sst_stream_take_session(pair->stream[CLIENT]);
  REQUIRE(configs->session != NULL);
}

static void reload_session(void *context) {
  static uint8_t bytes[65536];
  Configs *configs = context;
  size_t len = 0;
  REQUIRE(sst_session_to_bytes(configs->session, bytes, sizeof bytes, &len) == SST_OK);
  sst_session_free(configs->session);
  configs->session = sst_session_new();
  REQUIRE(sst_session_load(configs->session, bytes, len) == SST_OK);
}

static size_t early_seal(void *context, const uint8_t *data, size_t len, uint8_t *out, size_t cap) {
  const Pair *pair = context;
  sst_progress done;
  REQUIRE(sst_stream_handshake(pair->stream[CLIENT], NULL, 0, out, cap, &done) == SST_NEED_INPUT);
  REQUIRE((done.flags & SST_EARLY_DATA) != 0);
  return done.produced + seal(context, CLIENT, data, len, out + done.produced, cap - done.produced);
}

static size_t early_open(void *context, const uint8_t *in, size_t len, uint8_t *out, size_t cap, uint8_t *read,
                         size_t *read_len) {
  Pair *pair = context;
  sst_progress done;
  REQUIRE(sst_stream_handshake(pair->stream[SERVER], in, len, out, cap, &done) == SST_OK);
  REQUIRE((done.flags & SST_EARLY_DATA) != 0);
  *read_len = open_records(context, SERVER, in + done.consumed, len - done.consumed, read, RECORD_ROOM);
  pair->early = true;
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
                                .open_in_place = open_in_place,
                                .tickets = tickets,
                                .keep_session = keep_session,
                                .reload_session = reload_session,
                                .early_seal = early_seal,
                                .early_open = early_open};
