/* GnuTLS with push and pull functions over the caller's buffers. */
#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "peer.h"

#define PRIORITY "NONE:+VERS-TLS1.3:+AES-128-GCM:+AEAD:+GROUP-X25519:+SIGN-ALL:+CTYPE-X509:%DISABLE_TLS13_COMPAT_MODE"

typedef struct Configs {
  gnutls_certificate_credentials_t credentials[2];
  gnutls_priority_t priority;
} Configs;

/* The buffers of the call that runs. */
typedef struct Window {
  const uint8_t *in;
  size_t in_len;
  uint8_t *out;
  size_t out_used, out_cap;
} Window;

typedef struct Pair {
  gnutls_session_t session[2];
  Window window[2];
} Pair;

static time_t clock_of_tests(time_t *out) {
  if (out != NULL) *out = (time_t)CLOCK;
  return (time_t)CLOCK;
}

static void good(int result) {
  if (result < 0) die("gnutls: %s", gnutls_strerror(result));
}

static ssize_t push(gnutls_transport_ptr_t context, const void *data, size_t len) {
  Window *window = context;
  REQUIRE(len <= window->out_cap - window->out_used);
  memcpy(window->out + window->out_used, data, len);
  window->out_used += len;
  return (ssize_t)len;
}

static ssize_t pull(gnutls_transport_ptr_t context, void *out, size_t len) {
  Window *window = context;
  if (window->in_len == 0) {
    errno = EAGAIN;
    return -1;
  }
  const size_t size = window->in_len < len ? window->in_len : len;
  memcpy(out, window->in, size);
  window->in += size;
  window->in_len -= size;
  return (ssize_t)size;
}

static void *configs_new(const char *leaf) {
  char chain[1024];
  Configs *configs = allocate(sizeof *configs);
  gnutls_global_set_time_function(clock_of_tests);
  for (int side = CLIENT; side <= SERVER; side++)
    good(gnutls_certificate_allocate_credentials(&configs->credentials[side]));
  good(gnutls_certificate_set_x509_trust_file(configs->credentials[CLIENT], data_path("root", "pem"),
                                              GNUTLS_X509_FMT_PEM));
  strcpy(chain, data_path(leaf, "pem"));
  good(gnutls_certificate_set_x509_key_file(configs->credentials[SERVER], chain, data_path(leaf, "key"),
                                            GNUTLS_X509_FMT_PEM));
  good(gnutls_priority_init(&configs->priority, PRIORITY, NULL));
  return configs;
}

static void configs_free(void *context) {
  Configs *configs = context;
  gnutls_certificate_free_credentials(configs->credentials[CLIENT]);
  gnutls_certificate_free_credentials(configs->credentials[SERVER]);
  gnutls_priority_deinit(configs->priority);
  free(configs);
}

static void *pair_new(void *context) {
  const Configs *configs = context;
  Pair *pair = allocate(sizeof *pair);
  for (int side = SERVER; side >= CLIENT; side--) {
    heap_side(side);
    gnutls_session_t *session = &pair->session[side];
    good(gnutls_init(session, (side == CLIENT ? GNUTLS_CLIENT : GNUTLS_SERVER) | GNUTLS_NO_TICKETS | GNUTLS_NONBLOCK));
    good(gnutls_priority_set(*session, configs->priority));
    good(gnutls_credentials_set(*session, GNUTLS_CRD_CERTIFICATE, configs->credentials[side]));
    gnutls_transport_set_ptr(*session, &pair->window[side]);
    gnutls_transport_set_push_function(*session, push);
    gnutls_transport_set_pull_function(*session, pull);
  }
  good(gnutls_server_name_set(pair->session[CLIENT], GNUTLS_NAME_DNS, "server.test", 11));
  gnutls_session_set_verify_cert(pair->session[CLIENT], "server.test", 0);
  return pair;
}

static void pair_free(void *context) {
  Pair *pair = context;
  gnutls_deinit(pair->session[CLIENT]);
  gnutls_deinit(pair->session[SERVER]);
  free(pair);
}

static size_t handshake(void *context, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap, bool *open) {
  Pair *pair = context;
  Window *window = &pair->window[side];
  *window = (Window){.in = in, .in_len = len, .out = out, .out_cap = cap};
  const int result = gnutls_handshake(pair->session[side]);
  if (result != GNUTLS_E_AGAIN) good(result);
  REQUIRE(window->in_len == 0);
  *open = result == GNUTLS_E_SUCCESS;
  return window->out_used;
}

static size_t seal(void *context, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap) {
  Pair *pair = context;
  pair->window[side] = (Window){.out = out, .out_cap = cap};
  for (size_t sent = 0; sent < len;) {
    const ssize_t took = gnutls_record_send(pair->session[side], in + sent, len - sent);
    good((int)took);
    sent += (size_t)took;
  }
  return pair->window[side].out_used;
}

static size_t open_records(void *context, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap) {
  Pair *pair = context;
  Window *window = &pair->window[side];
  *window = (Window){.in = in, .in_len = len};
  size_t produced = 0;
  do {
    const ssize_t came = gnutls_record_recv(pair->session[side], out + produced, cap - produced);
    good((int)came);
    produced += (size_t)came;
  } while (window->in_len > 0 || gnutls_record_check_pending(pair->session[side]) > 0);
  return produced;
}

static const Peer gnutls_peer = {.name = "gnutls",
                                 .configs_new = configs_new,
                                 .configs_free = configs_free,
                                 .pair_new = pair_new,
                                 .pair_free = pair_free,
                                 .handshake = handshake,
                                 .seal = seal,
                                 .open = open_records};

const Peer *const peers[] = {&gnutls_peer, NULL};
