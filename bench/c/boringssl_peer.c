/*
 * BoringSSL by SSL_read and SSL_write, as a user would write it by hand: a BIO over the caller's buffers, certificates
 * as buffers, X509 for the verification of chain and name.
 */
#include <openssl/err.h>
#include <openssl/pool.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#include "boringssl_peers.h"

typedef struct Configs {
  SSL_CTX *ctx[2];
  BIO_METHOD *method;
  X509_STORE *trust;
  Use use;
  SSL_SESSION *session; /* the newest; NULL: none yet */
} Configs;

/* The buffers of the call that runs. */
typedef struct Window {
  const uint8_t *in;
  size_t in_len;
  uint8_t *out;
  size_t out_used, out_cap;
} Window;

typedef struct Pair {
  SSL *ssl[2];
  Window window[2];
} Pair;

static int window_write(BIO *bio, const char *data, int len) {
  Window *window = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  REQUIRE(len >= 0 && (size_t)len <= window->out_cap - window->out_used);
  memcpy(window->out + window->out_used, data, (size_t)len);
  window->out_used += (size_t)len;
  return len;
}

static int window_read(BIO *bio, char *out, int len) {
  Window *window = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (window->in_len == 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const size_t size = window->in_len < (size_t)len ? window->in_len : (size_t)len;
  memcpy(out, window->in, size);
  window->in += size;
  window->in_len -= size;
  return (int)size;
}

static long window_control(BIO *bio, int command, long number, void *pointer) {
  (void)bio, (void)number, (void)pointer;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

static X509 *certificate(const STACK_OF(CRYPTO_BUFFER) * chain, size_t index) {
  X509 *x509 = X509_parse_from_buffer(sk_CRYPTO_BUFFER_value(chain, index));
  REQUIRE(x509 != NULL);
  return x509;
}

static enum ssl_verify_result_t verify(SSL *ssl, uint8_t *alert) {
  const Configs *configs = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
  const STACK_OF(CRYPTO_BUFFER) *chain = SSL_get0_peer_certificates(ssl);
  X509 *leaf = certificate(chain, 0);
  STACK_OF(X509) *others = sk_X509_new_null();
  for (size_t i = 1; i < sk_CRYPTO_BUFFER_num(chain); i++)
    REQUIRE(sk_X509_push(others, certificate(chain, i)) > 0);
  X509_STORE_CTX *ctx = X509_STORE_CTX_new();
  REQUIRE(ctx != NULL && X509_STORE_CTX_init(ctx, configs->trust, leaf, others) == 1);
  REQUIRE(X509_STORE_CTX_set_default(ctx, "ssl_server") == 1);
  X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(ctx);
  X509_VERIFY_PARAM_set_time_posix(param, CLOCK);
  REQUIRE(X509_VERIFY_PARAM_set1_host(param, "server.test", 11) == 1);
  const bool good = X509_verify_cert(ctx) == 1;
  X509_STORE_CTX_free(ctx);
  sk_X509_pop_free(others, X509_free);
  X509_free(leaf);
  *alert = SSL_AD_BAD_CERTIFICATE;
  return good ? ssl_verify_ok : ssl_verify_invalid;
}

/* Owns the session from now on. */
static int new_session(SSL *ssl, SSL_SESSION *session) {
  Configs *configs = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
  SSL_SESSION_free(configs->session);
  configs->session = session;
  return 1;
}

/* One ticket, or none. A client that resumes verifies the chain in its session, unless it is not to. */
static void set_use(const Configs *configs) {
  SSL_CTX *client = configs->ctx[CLIENT], *server = configs->ctx[SERVER];
  if (configs->use == FULL) {
    SSL_CTX_set_options(client, SSL_OP_NO_TICKET);
    SSL_CTX_set_options(server, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(server, 0);
    return;
  }
  SSL_CTX_set_num_tickets(server, 1);
  SSL_CTX_set_session_cache_mode(client, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(client, new_session);
  SSL_CTX_set_reverify_on_resume(client, configs->use != UNVERIFIED);
  if (configs->use != EARLY) return;
  SSL_CTX_set_early_data_enabled(client, 1);
  SSL_CTX_set_early_data_enabled(server, 1);
}

static SSL_CTX *context_new(Configs *configs) {
  static const uint16_t groups[] = {SSL_GROUP_X25519};
  SSL_CTX *ctx = SSL_CTX_new(TLS_with_buffers_method());
  REQUIRE(ctx != NULL);
  REQUIRE(SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) == 1);
  REQUIRE(SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) == 1);
  REQUIRE(SSL_CTX_set1_group_ids(ctx, groups, 1) == 1);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_app_data(ctx, configs);
  return ctx;
}

static void *configs_new(const char *leaf, Use use) {
  Configs *configs = allocate(sizeof *configs);
  configs->use = use;
  configs->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "window");
  REQUIRE(configs->method != NULL);
  BIO_meth_set_write(configs->method, window_write);
  BIO_meth_set_read(configs->method, window_read);
  BIO_meth_set_ctrl(configs->method, window_control);
  configs->trust = X509_STORE_new();
  REQUIRE(X509_STORE_load_locations(configs->trust, data_path("root", "pem"), NULL) == 1);
  for (int side = CLIENT; side <= SERVER; side++)
    configs->ctx[side] = context_new(configs);
  set_use(configs);
  SSL_CTX_set_custom_verify(configs->ctx[CLIENT], SSL_VERIFY_PEER, verify);
  REQUIRE(SSL_CTX_use_certificate_chain_file(configs->ctx[SERVER], data_path(leaf, "pem")) == 1);
  REQUIRE(SSL_CTX_use_PrivateKey_file(configs->ctx[SERVER], data_path(leaf, "key"), SSL_FILETYPE_PEM) == 1);
  return configs;
}

static void configs_free(void *context) {
  Configs *configs = context;
  SSL_CTX_free(configs->ctx[CLIENT]);
  SSL_CTX_free(configs->ctx[SERVER]);
  X509_STORE_free(configs->trust);
  SSL_SESSION_free(configs->session);
  BIO_meth_free(configs->method);
  free(configs);
}

static SSL *ssl_new(const Configs *configs, Side side, Window *window) {
  SSL *ssl = SSL_new(configs->ctx[side]);
  BIO *bio = BIO_new(configs->method);
  REQUIRE(ssl != NULL && bio != NULL);
  BIO_set_data(bio, window);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl, bio, bio);
  return ssl;
}

static void *pair_new(void *context) {
  const Configs *configs = context;
  Pair *pair = allocate(sizeof *pair);
  for (int side = SERVER; side >= CLIENT; side--) {
    heap_side(side);
    pair->ssl[side] = ssl_new(configs, (Side)side, &pair->window[side]);
  }
  SSL_set_connect_state(pair->ssl[CLIENT]);
  SSL_set_accept_state(pair->ssl[SERVER]);
  REQUIRE(SSL_set_tlsext_host_name(pair->ssl[CLIENT], "server.test") == 1);
  if (configs->use >= RESUMED && configs->session != NULL)
    REQUIRE(SSL_set_session(pair->ssl[CLIENT], configs->session) == 1);
  return pair;
}

static void pair_free(void *context) {
  Pair *pair = context;
  SSL_free(pair->ssl[CLIENT]);
  SSL_free(pair->ssl[SERVER]);
  free(pair);
}

/* Takes what is no data: tickets; the end of early data with what follows. */
static void read_no_data(SSL *ssl) {
  uint8_t nothing[1];
  ERR_clear_error();
  const int result = SSL_read(ssl, nothing, sizeof nothing);
  REQUIRE(result < 0 && SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ);
}

static size_t handshake(void *context, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap, bool *open) {
  Pair *pair = context;
  Window *window = &pair->window[side];
  *window = (Window){.in = in, .in_len = len, .out = out, .out_cap = cap};
  if (side == SERVER && SSL_in_early_data(pair->ssl[side])) {
    read_no_data(pair->ssl[side]);
    *open = !SSL_in_init(pair->ssl[side]);
    return window->out_used;
  }
  ERR_clear_error();
  const int result = SSL_do_handshake(pair->ssl[side]);
  if (result != 1 && SSL_get_error(pair->ssl[side], result) != SSL_ERROR_WANT_READ) {
    ERR_print_errors_fp(stderr);
    die("boringssl: the handshake failed");
  }
  /* Behind accepted early data, tickets come with the server's flight. */
  if (result == 1 && window->in_len > 0) read_no_data(pair->ssl[side]);
  REQUIRE(window->in_len == 0);
  *open = result == 1;
  return window->out_used;
}

static size_t seal(void *context, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap) {
  Pair *pair = context;
  pair->window[side] = (Window){.out = out, .out_cap = cap};
  ERR_clear_error();
  REQUIRE(SSL_write(pair->ssl[side], in, (int)len) == (int)len);
  return pair->window[side].out_used;
}

/* SSL_read gives one record at a time. */
static size_t open_records(void *context, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap) {
  Pair *pair = context;
  Window *window = &pair->window[side];
  *window = (Window){.in = in, .in_len = len};
  size_t produced = 0;
  while (window->in_len > 0) {
    ERR_clear_error();
    const int came = SSL_read(pair->ssl[side], out + produced, (int)(cap - produced));
    REQUIRE(came > 0);
    produced += (size_t)came;
  }
  return produced;
}

/* They wait for the first write. An empty one sends them alone. */
static size_t tickets(void *context, uint8_t *out, size_t cap) {
  Pair *pair = context;
  pair->window[SERVER] = (Window){.out = out, .out_cap = cap};
  ERR_clear_error();
  REQUIRE(SSL_write(pair->ssl[SERVER], "", 0) == 0);
  return pair->window[SERVER].out_used;
}

static void keep_session(void *context, void *context_of_pair, const uint8_t *in, size_t len, bool resumed) {
  const Configs *configs = context;
  Pair *pair = context_of_pair;
  for (int side = CLIENT; side <= SERVER; side++)
    REQUIRE((SSL_session_reused(pair->ssl[side]) == 1) == resumed);
  pair->window[CLIENT] = (Window){.in = in, .in_len = len};
  if (len > 0) read_no_data(pair->ssl[CLIENT]);
  REQUIRE(pair->window[CLIENT].in_len == 0 && configs->session != NULL);
}

static void reload_session(void *context) {
  Configs *configs = context;
  uint8_t *bytes;
  size_t len;
  REQUIRE(SSL_SESSION_to_bytes(configs->session, &bytes, &len) == 1);
  SSL_SESSION_free(configs->session);
  configs->session = SSL_SESSION_from_bytes(bytes, len, configs->ctx[CLIENT]);
  OPENSSL_free(bytes);
  REQUIRE(configs->session != NULL);
}

static size_t early_seal(void *context, const uint8_t *data, size_t len, uint8_t *out, size_t cap) {
  Pair *pair = context;
  Window *window = &pair->window[CLIENT];
  *window = (Window){.out = out, .out_cap = cap};
  ERR_clear_error();
  REQUIRE(SSL_do_handshake(pair->ssl[CLIENT]) == 1 && SSL_in_early_data(pair->ssl[CLIENT]));
  REQUIRE(SSL_write(pair->ssl[CLIENT], data, (int)len) == (int)len);
  return window->out_used;
}

static size_t early_open(void *context, const uint8_t *in, size_t len, uint8_t *out, size_t cap, uint8_t *read,
                         size_t *read_len) {
  Pair *pair = context;
  Window *window = &pair->window[SERVER];
  *window = (Window){.in = in, .in_len = len, .out = out, .out_cap = cap};
  ERR_clear_error();
  REQUIRE(SSL_do_handshake(pair->ssl[SERVER]) == 1 && SSL_in_early_data(pair->ssl[SERVER]));
  const int came = SSL_read(pair->ssl[SERVER], read, RECORD_ROOM);
  REQUIRE(came > 0 && window->in_len == 0);
  *read_len = (size_t)came;
  return window->out_used;
}

const Peer boringssl_peer = {.name = "boringssl",
                             .configs_new = configs_new,
                             .configs_free = configs_free,
                             .pair_new = pair_new,
                             .pair_free = pair_free,
                             .handshake = handshake,
                             .seal = seal,
                             .open = open_records,
                             .tickets = tickets,
                             .keep_session = keep_session,
                             .reload_session = reload_session,
                             .early_seal = early_seal,
                             .early_open = early_open};
