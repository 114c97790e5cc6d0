/*
 * peer.h - what a TLS library must do to be measured: a client and a server in one process, over buffers of the caller.
 *
 * All peers: TLS 1.3, TLS_AES_128_GCM_SHA256, X25519. The server has a credential of tests/data with its chain; the
 * client trusts root.pem and verifies chain and name (server.test) at CLOCK. A call that gives something else than was
 * expected ends the program.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 2026-01-01T00:00:00Z, the clock of tests/data. */
#define CLOCK INT64_C(1767225600)

enum { RECORD = 16384, RECORD_ROOM = 16384 + 512, EARLY_SIZE = 1024 };
typedef enum Side { CLIENT, SERVER } Side;

/* What configs are for. FULL: there are no tickets. SESSIONS: the server sends one ticket a handshake, and the configs
   keep the newest session of their clients. RESUMED: and each new pair offers it. UNVERIFIED: and a client that resumes
   verifies nothing again. EARLY: as RESUMED, and allows 0-RTT. */
typedef enum Use { FULL, SESSIONS, RESUMED, UNVERIFIED, EARLY } Use;

typedef struct Peer {
  const char *name;
  /* What a user makes once. leaf: a name in tests/data. */
  void *(*configs_new)(const char *leaf, Use use);
  void (*configs_free)(void *configs);
  /* A client and a server that have not begun. */
  void *(*pair_new)(void *configs);
  void (*pair_free)(void *pair);
  /* Gives one side all of in, and returns what it answers. *open: its handshake has finished. NULL: has none. */
  size_t (*handshake)(void *pair, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap, bool *open);
  /* Returns the bytes written to out. */
  size_t (*seal)(void *pair, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap);
  size_t (*open)(void *pair, Side side, const uint8_t *in, size_t len, uint8_t *out, size_t cap);
  /* Returns the bytes of plaintext, which are in data; NULL: cannot. */
  size_t (*open_in_place)(void *pair, Side side, uint8_t *data, size_t len);

  /* What follows is NULL where the peer cannot resume, or has no 0-RTT. */
  /* What the server sends behind its handshake; NULL: it does that within. */
  size_t (*tickets)(void *pair, uint8_t *out, size_t cap);
  /* The client reads what came behind its handshake, and configs keep its session. Both sides must say that the pair
     was resumed, or was not. */
  void (*keep_session)(void *configs, void *pair, const uint8_t *in, size_t len, bool resumed);
  /* The session is turned into bytes and back. */
  void (*reload_session)(void *configs);
  /* The client's first flight, with data. */
  size_t (*early_seal)(void *pair, const uint8_t *data, size_t len, uint8_t *out, size_t cap);
  /* The server takes all of it. Returns what it answers; the data goes to read, *read_len bytes. */
  size_t (*early_open)(void *pair, const uint8_t *in, size_t len, uint8_t *out, size_t cap, uint8_t *read,
                       size_t *read_len);
} Peer;

/* The peers of this program, ended by NULL. */
extern const Peer *const peers[];

void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
#define REQUIRE(true_) ((true_) ? (void)0 : die("%s:%d: not so: %s", __FILE__, __LINE__, #true_))

/* For heap counts: whose calls follow on this thread. 2: nobody's. */
void heap_side(int side);

/* Zeroed memory, or the end. */
void *allocate(size_t size);
/* The path of NAME.EXTENSION in tests/data; static, one per thread. */
const char *data_path(const char *name, const char *extension);
/* That file; the caller frees it. A NUL stands behind it. */
uint8_t *data_read(const char *name, const char *extension, size_t *len);

#endif
