/* GnuTLS with push and pull functions over the caller's buffers. */
#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "peer.h"

#define PRIORITY \
  "NONE:+VERS-TLS1.3:+AES-128-GCM:+AEAD:+GROUP-X25519:+SIGN-ALL:+CTYPE-X509:+ECDHE-PSK:%DISABLE_TLS13_COMPAT_MODE"

typedef struct Configs {
  gnutls_certificate_credentials_t credentials[2];
  gnutls_priority_t priority;
  Use use;
  gnutls_anti_replay_t anti_replay;
  gnutls_datum_t key, session; /* of tickets; the newest, empty: none yet */
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

enum { WINDOW_MS = 24 * 3600 * 1000 };

/* GnuTLS takes early data only from what says whether a hello is new: each is. The others keep no list either. */
static int is_new(void *context, time_t expires, const gnutls_datum_t *key, const gnutls_datum_t *data) {
  (void)context, (void)expires, (void)key, (void)data;
  return 0;
}

/* A list lasts for a window, and refuses tickets that are older than itself. Ages are told in milliseconds: a ticket that
   is as old as the list may seem to be older. */
static void begin_replay_list(Configs *configs) {
  good(gnutls_anti_replay_init(&configs->anti_replay));
  gnutls_anti_replay_set_add_function(configs->anti_replay, is_new);
  gnutls_anti_replay_set_window(configs->anti_replay, WINDOW_MS);
  if (configs->use == EARLY) nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void *configs_new(const char *leaf, Use use) {
  char chain[1024];
  Configs *configs = allocate(sizeof *configs);
  configs->use = use;
  good(gnutls_session_ticket_key_generate(&configs->key));
  begin_replay_list(configs);
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
  gnutls_anti_replay_deinit(configs->anti_replay);
  gnutls_free(configs->key.data);
  gnutls_free(configs->session.data);
  free(configs);
}

static unsigned flags(const Configs *configs, int side) {
  return (side == CLIENT ? GNUTLS_CLIENT : GNUTLS_SERVER) | GNUTLS_NONBLOCK |
         (configs->use == FULL ? GNUTLS_NO_TICKETS : GNUTLS_NO_AUTO_SEND_TICKET) |
         (configs->use == EARLY ? GNUTLS_ENABLE_EARLY_DATA : 0u);
}

/* Before the first byte. */
static void set_use(const Configs *configs, const Pair *pair) {
  if (configs->use == FULL) return;
  good(gnutls_session_ticket_enable_server(pair->session[SERVER], &configs->key));
  if (configs->use == EARLY) {
    gnutls_anti_replay_enable(pair->session[SERVER], configs->anti_replay);
    good(gnutls_record_set_max_early_data_size(pair->session[SERVER], RECORD));
  }
  if (configs->use >= RESUMED && configs->session.data != NULL)
    good(gnutls_session_set_data(pair->session[CLIENT], configs->session.data, configs->session.size));
}

static void *pair_new(void *context) {
  const Configs *configs = context;
  Pair *pair = allocate(sizeof *pair);
  for (int side = SERVER; side >= CLIENT; side--) {
    heap_side(side);
    gnutls_session_t *session = &pair->session[side];
    good(gnutls_init(session, flags(configs, side)));
    good(gnutls_priority_set(*session, configs->priority));
    good(gnutls_credentials_set(*session, GNUTLS_CRD_CERTIFICATE, configs->credentials[side]));
    gnutls_transport_set_ptr(*session, &pair->window[side]);
    gnutls_transport_set_push_function(*session, push);
    gnutls_transport_set_pull_function(*session, pull);
  }
  good(gnutls_server_name_set(pair->session[CLIENT], GNUTLS_NAME_DNS, "server.test", 11));
  gnutls_session_set_verify_cert(pair->session[CLIENT], "server.test", 0);
  set_use(configs, pair);
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

/* One ticket: of its own accord it would send two. */
static size_t tickets(void *context, uint8_t *out, size_t cap) {
  Pair *pair = context;
  pair->window[SERVER] = (Window){.out = out, .out_cap = cap};
  good(gnutls_session_ticket_send(pair->session[SERVER], 1, 0));
  return pair->window[SERVER].out_used;
}

static void keep_session(void *context, void *context_of_pair, const uint8_t *in, size_t len, bool resumed) {
  Configs *configs = context;
  Pair *pair = context_of_pair;
  uint8_t nothing[1];
  for (int side = CLIENT; side <= SERVER; side++)
    REQUIRE((gnutls_session_is_resumed(pair->session[side]) != 0) == resumed);
  if (resumed) { /* GnuTLS sends no tickets then: the first session is used again */
    REQUIRE(len == 0);
    return;
  }
  pair->window[CLIENT] = (Window){.in = in, .in_len = len};
  REQUIRE(gnutls_record_recv(pair->session[CLIENT], nothing, sizeof nothing) == GNUTLS_E_AGAIN);
  REQUIRE(pair->window[CLIENT].in_len == 0);
  REQUIRE((gnutls_session_get_flags(pair->session[CLIENT]) & GNUTLS_SFLAGS_SESSION_TICKET) != 0);
  gnutls_free(configs->session.data);
  good(gnutls_session_get_data2(pair->session[CLIENT], &configs->session));
}

static size_t early_seal(void *context, const uint8_t *data, size_t len, uint8_t *out, size_t cap) {
  bool open;
  const Pair *pair = context;
  REQUIRE(gnutls_record_send_early_data(pair->session[CLIENT], data, len) == GNUTLS_E_SUCCESS);
  return handshake(context, CLIENT, NULL, 0, out, cap, &open);
}

static size_t early_open(void *context, const uint8_t *in, size_t len, uint8_t *out, size_t cap, uint8_t *read,
                         size_t *read_len) {
  bool open;
  const Pair *pair = context;
  const size_t answer = handshake(context, SERVER, in, len, out, cap, &open);
  const ssize_t came = gnutls_record_recv_early_data(pair->session[SERVER], read, RECORD_ROOM);
  good((int)came);
  *read_len = (size_t)came;
  return answer;
}

static const Peer gnutls_peer = {.name = "gnutls",
                                 .configs_new = configs_new,
                                 .configs_free = configs_free,
                                 .pair_new = pair_new,
                                 .pair_free = pair_free,
                                 .handshake = handshake,
                                 .seal = seal,
                                 .open = open_records,
                                 .tickets = tickets,
                                 .keep_session = keep_session,
                                 .early_seal = early_seal,
                                 .early_open = early_open};

const Peer *const peers[] = {&gnutls_peer, NULL};
