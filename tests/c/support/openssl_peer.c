#include "openssl_peer.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions of OpenSSL 3 that are needed, and the constants of its headers, which are frozen by its ABI. */
enum { BIO_CTRL_PENDING_ = 10, SSL_FILETYPE_PEM_ = 1, SSL_VERIFY_PEER_ = 1, SSL_CTRL_MIN_ = 123, SSL_CTRL_MAX_ = 124 };
enum { STATUS_CB_ = 63, STATUS_ARGUMENT_ = 64, STATUS_TYPE_ = 65, GET_STATUS_ = 70, SET_STATUS_ = 71, OCSP_ = 1 };
enum { SSL_CB_READ_ALERT_ = 0x4004, LEVEL_FATAL = 2 };
#define SSL_OP_NO_EXTENDED_MASTER_SECRET_ UINT64_C(1)
#define SSL_OP_NO_TICKET_ (UINT64_C(1) << 14)

typedef struct Library {
  void *handle;
  const void *(*TLS_method)(void);
  void *(*SSL_CTX_new)(const void *method);
  void (*SSL_CTX_free)(void *ctx);
  uint64_t (*SSL_CTX_set_options)(void *ctx, uint64_t options);
  long (*SSL_CTX_ctrl)(void *ctx, int command, long number, void *pointer);
  long (*SSL_CTX_callback_ctrl)(void *ctx, int command, void (*callback)(void));
  long (*SSL_ctrl)(void *ssl, int command, long number, void *pointer);
  int (*SSL_export_keying_material)(void *ssl, uint8_t *out, size_t out_len, const char *label, size_t label_len,
                                    const uint8_t *context, size_t context_len, int use_context);
  size_t (*SSL_get_finished)(const void *ssl, void *out, size_t out_cap);
  size_t (*SSL_get_peer_finished)(const void *ssl, void *out, size_t out_cap);
  void *(*CRYPTO_malloc)(size_t size, const char *file, int line);
  void (*SSL_CTX_set_verify)(void *ctx, int mode, int (*callback)(int, void *));
  int (*SSL_CTX_use_certificate_chain_file)(void *ctx, const char *file);
  int (*SSL_CTX_use_PrivateKey_file)(void *ctx, const char *file, int type);
  void *(*SSL_load_client_CA_file)(const char *file);
  void (*SSL_CTX_set0_CA_list)(void *ctx, void *names);
  int (*SSL_CTX_set_ciphersuites)(void *ctx, const char *names);
  int (*SSL_CTX_set_cipher_list)(void *ctx, const char *names);
  int (*SSL_key_update)(void *ssl, int type);
  int (*SSL_shutdown)(void *ssl);
  void *(*SSL_get1_session)(void *ssl);
  int (*SSL_set_session)(void *ssl, void *session);
  int (*SSL_session_reused)(const void *ssl);
  void (*SSL_SESSION_free)(void *session);
  void *(*SSL_new)(void *ctx);
  void (*SSL_free)(void *ssl);
  void (*SSL_set_bio)(void *ssl, void *in, void *out);
  void (*SSL_set_accept_state)(void *ssl);
  void (*SSL_set_connect_state)(void *ssl);
  int (*SSL_do_handshake)(void *ssl);
  int (*SSL_is_init_finished)(const void *ssl);
  int (*SSL_read)(void *ssl, void *data, int cap);
  int (*SSL_write)(void *ssl, const void *data, int len);
  void (*SSL_set_info_callback)(void *ssl, void (*callback)(const void *ssl, int type, int value));
  int (*SSL_set_ex_data)(void *ssl, int index, void *data);
  void *(*SSL_get_ex_data)(const void *ssl, int index);
  void *(*BIO_new)(const void *method);
  const void *(*BIO_s_mem)(void);
  int (*BIO_read)(void *bio, void *data, int cap);
  int (*BIO_write)(void *bio, const void *data, int len);
  void (*ERR_clear_error)(void);
} Library;

struct OpensslPeer {
  Library lib;
  void *ctx, *ssl, *in_bio, *out_bio;
  Wire *in, *out;
  int alert;
  bool is_server;
  const uint8_t *ocsp_response;
  size_t ocsp_response_len;
};

static void load(Library *lib) {
  lib->handle = dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL);
  if (lib->handle == NULL) SKIP("there is no libssl.so.3 (Debian: libssl3)");
#define LOAD(name)                                            \
  do {                                                        \
    void *symbol = dlsym(lib->handle, #name);                 \
    if (symbol == NULL) FAIL("libssl.so.3 has no %s", #name); \
    memcpy(&lib->name, &symbol, sizeof symbol);               \
  } while (0)
  LOAD(TLS_method);
  LOAD(SSL_get1_session);
  LOAD(SSL_set_session);
  LOAD(SSL_session_reused);
  LOAD(SSL_SESSION_free);
  LOAD(SSL_CTX_new);
  LOAD(SSL_CTX_free);
  LOAD(SSL_CTX_set_options);
  LOAD(SSL_CTX_ctrl);
  LOAD(SSL_CTX_callback_ctrl);
  LOAD(SSL_ctrl);
  LOAD(SSL_export_keying_material);
  LOAD(SSL_get_finished);
  LOAD(SSL_get_peer_finished);
  LOAD(CRYPTO_malloc);
  LOAD(SSL_CTX_set_verify);
  LOAD(SSL_CTX_use_certificate_chain_file);
  LOAD(SSL_CTX_use_PrivateKey_file);
  LOAD(SSL_load_client_CA_file);
  LOAD(SSL_CTX_set0_CA_list);
  LOAD(SSL_CTX_set_ciphersuites);
  LOAD(SSL_CTX_set_cipher_list);
  LOAD(SSL_key_update);
  LOAD(SSL_shutdown);
  LOAD(SSL_new);
  LOAD(SSL_free);
  LOAD(SSL_set_bio);
  LOAD(SSL_set_accept_state);
  LOAD(SSL_set_connect_state);
  LOAD(SSL_do_handshake);
  LOAD(SSL_is_init_finished);
  LOAD(SSL_read);
  LOAD(SSL_write);
  LOAD(SSL_set_info_callback);
  LOAD(SSL_set_ex_data);
  LOAD(SSL_get_ex_data);
  LOAD(BIO_new);
  LOAD(BIO_s_mem);
  LOAD(BIO_read);
  LOAD(BIO_write);
  LOAD(ERR_clear_error);
#undef LOAD
}

static void use_credential(const OpensslPeer *peer, const char *name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.pem", SST_TEST_DATA, name);
  REQUIRE_EQ(peer->lib.SSL_CTX_use_certificate_chain_file(peer->ctx, path), 1);
  snprintf(path, sizeof path, "%s/%s.key", SST_TEST_DATA, name);
  REQUIRE_EQ(peer->lib.SSL_CTX_use_PrivateKey_file(peer->ctx, path, SSL_FILETYPE_PEM_), 1);
}

static void use_issuers(const OpensslPeer *peer, const char *name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.pem", SST_TEST_DATA, name);
  void *names = peer->lib.SSL_load_client_CA_file(path);
  REQUIRE(names != NULL);
  peer->lib.SSL_CTX_set0_CA_list(peer->ctx, names);
}

static void use_suites(const OpensslPeer *peer, const OpensslOptions *options) {
  const Library *lib = &peer->lib;
  const bool tls13 = options->version == SST_TLS1_3;
  REQUIRE_EQ((tls13 ? lib->SSL_CTX_set_ciphersuites : lib->SSL_CTX_set_cipher_list)(peer->ctx, options->suites), 1);
}

static int accept_any(int ok, void *context) {
  (void)ok, (void)context;
  return 1;
}

static void *(*get_ex_data)(const void *ssl, int index);

static void see_alert(const void *ssl, int type, int value) {
  OpensslPeer *peer = get_ex_data(ssl, 0);
  if (type == SSL_CB_READ_ALERT_ && value >> 8 == LEVEL_FATAL) peer->alert = value & 0xff;
}

/* OpenSSL frees the copy. */
static int give_ocsp_response(void *ssl, void *argument) {
  const OpensslPeer *peer = argument;
  void *copy = peer->lib.CRYPTO_malloc(peer->ocsp_response_len, __FILE__, __LINE__);
  REQUIRE(copy != NULL);
  memcpy(copy, peer->ocsp_response, peer->ocsp_response_len);
  REQUIRE_EQ(peer->lib.SSL_ctrl(ssl, SET_STATUS_, (long)peer->ocsp_response_len, copy), 1);
  return 0;
}

static void staple(OpensslPeer *peer, const OpensslOptions *options) {
  peer->ocsp_response = options->ocsp_response;
  peer->ocsp_response_len = options->ocsp_response_len;
  if (peer->ocsp_response == NULL) return;
  REQUIRE_EQ(peer->lib.SSL_CTX_callback_ctrl(peer->ctx, STATUS_CB_, (void (*)(void))give_ocsp_response), 1);
  REQUIRE_EQ(peer->lib.SSL_CTX_ctrl(peer->ctx, STATUS_ARGUMENT_, 0, peer), 1);
}

/* A connection of its own with the peer's context. */
static void make_ssl(OpensslPeer *peer, int32_t role) {
  const Library *lib = &peer->lib;
  peer->ssl = lib->SSL_new(peer->ctx);
  peer->in_bio = lib->BIO_new(lib->BIO_s_mem());
  peer->out_bio = lib->BIO_new(lib->BIO_s_mem());
  REQUIRE(peer->ssl != NULL && peer->in_bio != NULL && peer->out_bio != NULL);
  lib->SSL_set_bio(peer->ssl, peer->in_bio, peer->out_bio);
  REQUIRE_EQ(lib->SSL_set_ex_data(peer->ssl, 0, peer), 1);
  lib->SSL_set_info_callback(peer->ssl, see_alert);
  if (role == SST_ROLE_SERVER) {
    lib->SSL_set_accept_state(peer->ssl);
  } else {
    lib->SSL_set_connect_state(peer->ssl);
  }
}

OpensslPeer *openssl_peer_new(const OpensslOptions *options, int32_t role, Wire *in, Wire *out) {
  Library lib = {.handle = NULL};
  load(&lib);
  OpensslPeer *peer = test_allocate(sizeof *peer);
  *peer = (OpensslPeer){.lib = lib, .in = in, .out = out, .alert = -1};
  get_ex_data = lib.SSL_get_ex_data;
  peer->ctx = lib.SSL_CTX_new(lib.TLS_method());
  REQUIRE(peer->ctx != NULL);
  REQUIRE_EQ(lib.SSL_CTX_ctrl(peer->ctx, SSL_CTRL_MIN_, options->version, NULL), 1);
  REQUIRE_EQ(lib.SSL_CTX_ctrl(peer->ctx, SSL_CTRL_MAX_, options->version, NULL), 1);
  if (options->no_extended_master_secret) lib.SSL_CTX_set_options(peer->ctx, SSL_OP_NO_EXTENDED_MASTER_SECRET_);
  if (options->no_tickets) lib.SSL_CTX_set_options(peer->ctx, SSL_OP_NO_TICKET_);
  if (options->ask_certificate) lib.SSL_CTX_set_verify(peer->ctx, SSL_VERIFY_PEER_, accept_any);
  if (options->issuers != NULL) use_issuers(peer, options->issuers);
  if (options->suites != NULL) use_suites(peer, options);
  peer->is_server = role == SST_ROLE_SERVER;
  staple(peer, options);
  const char *credential = options->credential == NULL && role == SST_ROLE_SERVER ? "server-p256" : options->credential;
  if (credential != NULL) use_credential(peer, credential);
  make_ssl(peer, role);
  if (options->ask_ocsp_response) REQUIRE_EQ(lib.SSL_ctrl(peer->ssl, STATUS_TYPE_, OCSP_, NULL), 1);
  return peer;
}

void openssl_again(OpensslPeer *peer, int32_t role, Wire *in, Wire *out) {
  void *session = role == SST_ROLE_CLIENT ? peer->lib.SSL_get1_session(peer->ssl) : NULL;
  (void)openssl_close(peer); /* else OpenSSL takes the session for a bad one */
  peer->lib.SSL_free(peer->ssl);
  make_ssl(peer, role);
  if (session != NULL) REQUIRE_EQ(peer->lib.SSL_set_session(peer->ssl, session), 1);
  peer->lib.SSL_SESSION_free(session);
  peer->in = in;
  peer->out = out;
}

bool openssl_resumed(const OpensslPeer *peer) {
  return peer->lib.SSL_session_reused(peer->ssl) == 1;
}

void openssl_peer_free(OpensslPeer *peer) {
  peer->lib.SSL_free(peer->ssl);
  peer->lib.SSL_CTX_free(peer->ctx);
  free(peer); /* the library stays loaded: its clean-up runs at exit */
}

static void bring_in(OpensslPeer *peer) {
  const size_t waiting = wire_waiting(peer->in);
  if (waiting == 0) return;
  REQUIRE_EQ(peer->lib.BIO_write(peer->in_bio, wire_head(peer->in), (int)waiting), (int)waiting);
  wire_drop(peer->in);
}

static void bring_out(OpensslPeer *peer) {
  uint8_t bytes[4096];
  for (int got; (got = peer->lib.BIO_read(peer->out_bio, bytes, sizeof bytes)) > 0;)
    wire_write(peer->out, bytes, (size_t)got);
}

static void step(OpensslPeer *peer) {
  uint8_t nothing;
  peer->lib.ERR_clear_error();
  bring_in(peer);
  if (!openssl_finished(peer)) {
    (void)peer->lib.SSL_do_handshake(peer->ssl);
  } else {
    (void)peer->lib.SSL_read(peer->ssl, &nothing, 0); /* takes an alert in */
  }
  bring_out(peer);
  peer->lib.ERR_clear_error();
}

sst_status openssl_handshake(OpensslPeer *peer, Side *side) {
  enum { MOST_TURNS = 10 };
  sst_status status = SST_NEED_INPUT;
  for (int turn = 0; turn < MOST_TURNS; turn++) {
    if (status == SST_NEED_INPUT) status = side_handshake(side);
    step(peer);
    if (status != SST_NEED_INPUT && (status < 0 || openssl_finished(peer))) return status;
  }
  return status;
}

bool openssl_finished(const OpensslPeer *peer) {
  return peer->lib.SSL_is_init_finished(peer->ssl) == 1;
}

int openssl_alert(const OpensslPeer *peer) {
  return peer->alert;
}

bool openssl_key_update(OpensslPeer *peer, bool request) {
  return peer->lib.SSL_key_update(peer->ssl, request ? 1 : 0) == 1;
}

bool openssl_close(OpensslPeer *peer) {
  const bool closed = peer->lib.SSL_shutdown(peer->ssl) >= 0;
  bring_out(peer);
  return closed;
}

bool openssl_write(OpensslPeer *peer, const void *data, int len) {
  const bool wrote = peer->lib.SSL_write(peer->ssl, data, len) == len;
  bring_out(peer);
  return wrote;
}

int openssl_read(OpensslPeer *peer, void *data, int cap) {
  bring_in(peer);
  const int got = peer->lib.SSL_read(peer->ssl, data, cap);
  bring_out(peer);
  return got;
}

bool openssl_export(OpensslPeer *peer, const char *label, const uint8_t *context, size_t context_len, uint8_t *out,
                    size_t out_len) {
  return peer->lib.SSL_export_keying_material(peer->ssl, out, out_len, label, strlen(label), context, context_len,
                                              context != NULL) == 1;
}

size_t openssl_client_finished(OpensslPeer *peer, uint8_t *out, size_t out_cap) {
  return (peer->is_server ? peer->lib.SSL_get_peer_finished : peer->lib.SSL_get_finished)(peer->ssl, out, out_cap);
}

const uint8_t *openssl_ocsp_response(OpensslPeer *peer, size_t *len) {
  uint8_t *response = NULL;
  const long got = peer->lib.SSL_ctrl(peer->ssl, GET_STATUS_, 0, &response);
  *len = got > 0 ? (size_t)got : 0;
  return response;
}

Foreign foreign_new(int32_t role, const SideOptions *ours, const OpensslOptions *theirs) {
  Wire *in = wire_new(), *out = wire_new();
  Foreign foreign = {.side = side_new(ours, role, in, out)};
  foreign.peer = openssl_peer_new(theirs, role == SST_ROLE_CLIENT ? SST_ROLE_SERVER : SST_ROLE_CLIENT, out, in);
  return foreign;
}

void foreign_again(Foreign *foreign, int32_t role, const SideOptions *options) {
  SideOptions again = *options;
  Wire *in = wire_new(), *out = wire_new();
  openssl_again(foreign->peer, role == SST_ROLE_CLIENT ? SST_ROLE_SERVER : SST_ROLE_CLIENT, out, in);
  again.config = foreign->side.config;
  const Side next = side_new(&again, role, in, out);
  sst_stream_free(foreign->side.stream);
  sst_config_free(foreign->side.config);
  free(foreign->side.received);
  wire_free(foreign->side.in);
  wire_free(foreign->side.out);
  foreign->side = next;
}

void foreign_free(Foreign *foreign) {
  openssl_peer_free(foreign->peer);
  sst_stream_free(foreign->side.stream);
  sst_config_free(foreign->side.config);
  free(foreign->side.received);
  wire_free(foreign->side.in);
  wire_free(foreign->side.out);
}
