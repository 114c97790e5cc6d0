/* OpenSSL 3 with memory BIOs, as a user would write it: SSL_set1_host, SSL_VERIFY_PEER. */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>

#include "peer.h"

typedef struct Configs {
  SSL_CTX *ctx[2];
  Use use;
  SSL_SESSION *session; /* the newest; NULL: none yet */
} Configs;

typedef struct Pair {
  SSL *ssl[2];
  bool early; /* the server reads early data */
} Pair;

/* Owns the session from now on. */
static int new_session(SSL *ssl, SSL_SESSION *session) {
  Configs *configs = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
  SSL_SESSION_free(configs->session);
  configs->session = session;
  return 1;
}

/* One ticket, or none. Without a list of the tickets that have come with early data: that would keep sessions at the
   server, which the others do not do. */
static void set_use(Configs *configs) {
  SSL_CTX *client = configs->ctx[CLIENT], *server = configs->ctx[SERVER];
  SSL_CTX_set_num_tickets(server, configs->use == FULL ? 0 : 1);
  if (configs->use == FULL) {
    SSL_CTX_set_options(client, SSL_OP_NO_TICKET);
    SSL_CTX_set_options(server, SSL_OP_NO_TICKET);
    return;
  }
  SSL_CTX_set_app_data(client, configs);
  SSL_CTX_set_session_cache_mode(client, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(client, new_session);
  if (configs->use != EARLY) return;
  SSL_CTX_set_options(server, SSL_OP_NO_ANTI_REPLAY);
  REQUIRE(SSL_CTX_set_max_early_data(server, RECORD) == 1);
}

static SSL_CTX *context_new(void) {
  SSL_CTX *ctx = SSL_CTX_new(TLS_method());
  REQUIRE(ctx != NULL);
  REQUIRE(SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) == 1);
  REQUIRE(SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256") == 1);
  REQUIRE(SSL_CTX_set1_groups_list(ctx, "X25519") == 1);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
  return ctx;
}

static void *configs_new(const char *leaf, Use use) {
  Configs *configs = allocate(sizeof *configs);
  configs->use = use;
  for (int side = CLIENT; side <= SERVER; side++)
    configs->ctx[side] = context_new();
  set_use(configs);
  SSL_CTX_set_verify(configs->ctx[CLIENT], SSL_VERIFY_PEER, NULL);
  REQUIRE(SSL_CTX_load_verify_locations(configs->ctx[CLIENT], data_path("root", "pem"), NULL) == 1);
  X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(configs->ctx[CLIENT]), (time_t)CLOCK);
  REQUIRE(SSL_CTX_use_certificate_chain_file(configs->ctx[SERVER], data_path(leaf, "pem")) == 1);
  REQUIRE(SSL_CTX_use_PrivateKey_file(configs->ctx[SERVER], data_path(leaf, "key"), SSL_FILETYPE_PEM) == 1);
  return configs;
}

static void configs_free(void *context) {
  Configs *configs = context;
  SSL_CTX_free(configs->ctx[CLIENT]);
  SSL_CTX_free(configs->ctx[SERVER]);
  SSL_SESSION_free(configs->session);
  free(configs);
}

static void *pair_new(void *context) {
  const Configs *configs = context;
  Pair *pair = allocate(sizeof *pair);
  for (int side = SERVER; side >= CLIENT; side--) {
    heap_side(side);
    pair->ssl[side] = SSL_new(configs->ctx[side]);
    REQUIRE(pair->ssl[side] != NULL);
    SSL_set_bio(pair->ssl[side], BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  }
  SSL_set_connect_state(pair->ssl[CLIENT]);
  SSL_set_accept_state(pair->ssl[SERVER]);
  REQUIRE(SSL_set_tlsext_host_name(pair->ssl[CLIENT], "server.test") == 1);
  REQUIRE(SSL_set1_host(pair->ssl[CLIENT], "server.test") == 1);
  if (configs->use >= RESUMED && configs->session != NULL)
    REQUIRE(SSL_set_session(pair->ssl[CLIENT], configs->session) == 1);
  return pair;
}

static void pair_free(void *context) {
  Pair *pair = context;
  /* As if both had closed: OpenSSL gives up the session of a connection that ended otherwise. */
  SSL_set_shutdown(pair->ssl[CLIENT], SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  SSL_free(pair->ssl[CLIENT]);
  SSL_free(pair->ssl[SERVER]);
  free(pair);
}

static size_t take_output(SSL *ssl, uint8_t *out, size_t cap) {
  size_t used = 0;
  while (BIO_pending(SSL_get_wbio(ssl)) > 0) {
    const int came = BIO_read(SSL_get_wbio(ssl), out + used, (int)(cap - used));
    REQUIRE(came > 0);
    used += (size_t)came;
  }
  return used;
}

static size_t handshake(void *context, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap, bool *open) {
  const Pair *pair = context;
  SSL *ssl = pair->ssl[side];
  if (len > 0) REQUIRE(BIO_write(SSL_get_rbio(ssl), in, (int)len) == (int)len);
  if (side == SERVER && pair->early) {
    uint8_t nothing[1];
    size_t none;
    REQUIRE(SSL_read_early_data(ssl, nothing, sizeof nothing, &none) == SSL_READ_EARLY_DATA_FINISH && none == 0);
  }
  const int result = SSL_do_handshake(ssl);
  if (result != 1 && SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ) {
    ERR_print_errors_fp(stderr);
    die("openssl: the handshake failed");
  }
  *open = result == 1;
  return take_output(ssl, out, cap);
}

static size_t seal(void *context, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap) {
  SSL *ssl = ((Pair *)context)->ssl[side];
  REQUIRE(SSL_write(ssl, in, (int)len) == (int)len);
  return take_output(ssl, out, cap);
}

static size_t open_records(void *context, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap) {
  SSL *ssl = ((Pair *)context)->ssl[side];
  REQUIRE(BIO_write(SSL_get_rbio(ssl), in, (int)len) == (int)len);
  size_t produced = 0;
  do {
    const int came = SSL_read(ssl, out + produced, (int)(cap - produced));
    REQUIRE(came > 0);
    produced += (size_t)came;
  } while (BIO_pending(SSL_get_rbio(ssl)) > 0 || SSL_pending(ssl) > 0);
  return produced;
}

static void keep_session(void *context, void *context_of_pair, const uint8_t *in, size_t len, bool resumed) {
  const Configs *configs = context;
  const Pair *pair = context_of_pair;
  for (int side = CLIENT; side <= SERVER; side++)
    REQUIRE((SSL_session_reused(pair->ssl[side]) == 1) == resumed);
  uint8_t nothing[1];
  SSL *ssl = pair->ssl[CLIENT];
  if (len > 0) REQUIRE(BIO_write(SSL_get_rbio(ssl), in, (int)len) == (int)len);
  const int result = SSL_read(ssl, nothing, sizeof nothing);
  REQUIRE(result < 0 && SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ);
  REQUIRE(BIO_pending(SSL_get_rbio(ssl)) == 0 && configs->session != NULL);
}

static size_t early_seal(void *context, const uint8_t *data, size_t len, uint8_t *out, size_t cap) {
  SSL *ssl = ((Pair *)context)->ssl[CLIENT];
  size_t written = 0;
  REQUIRE(SSL_write_early_data(ssl, data, len, &written) == 1 && written == len);
  return take_output(ssl, out, cap);
}

static size_t early_open(void *context, const uint8_t *in, size_t len, uint8_t *out, size_t cap, uint8_t *read,
                         size_t *read_len) {
  Pair *pair = context;
  SSL *ssl = pair->ssl[SERVER];
  REQUIRE(BIO_write(SSL_get_rbio(ssl), in, (int)len) == (int)len);
  REQUIRE(SSL_read_early_data(ssl, read, RECORD_ROOM, read_len) == SSL_READ_EARLY_DATA_SUCCESS);
  pair->early = true;
  return take_output(ssl, out, cap);
}

static const Peer openssl_peer = {.name = "openssl",
                                  .configs_new = configs_new,
                                  .configs_free = configs_free,
                                  .pair_new = pair_new,
                                  .pair_free = pair_free,
                                  .handshake = handshake,
                                  .seal = seal,
                                  .open = open_records,
                                  .keep_session = keep_session,
                                  .early_seal = early_seal,
                                  .early_open = early_open};

const Peer *const peers[] = {&openssl_peer, NULL};
