/*
 * pair.h - a client and a server of the library in one process; the test carries the bytes between them.
 *
 *     Pair pair = pair_new(.server = {.alpn = {"h2"}}, .client = {.alpn = {"h2", "x"}, .max_version = SST_TLS1_2});
 *     pair.client.room = 1;
 *     REQUIRE_STATUS(pair_handshake(&pair), SST_OK);
 *     side_send(&pair.client, "req", 3);
 *     side_receive(&pair.server);
 *     EXPECT_RECEIVED(&pair.server, "req", 3);
 *     pair_free(&pair);
 */
#ifndef SST_PAIR_H
#define SST_PAIR_H

#include "data.h"
#include "side.h"

/* What is 0 or NULL is left at the library's default, but for what is said beside it. Lists end at 0 or NULL. */
#define ASK(want) (UINT32_C(1) << ((want) - SST_WANT_CLIENT_HELLO))

typedef struct SideOptions {
  uint16_t min_version, max_version;
  uint16_t groups[8], suites[8], schemes[16];
  const char *alpn[48];
  int32_t alpn_lenient;
  int32_t profile;
  int32_t verify;
  uint32_t minimum_rsa;
  int32_t client_certificate;
  const char *credential; /* a name in tests/data; default: server-p256 for servers, none for clients; "": none */
  const char *second_credential;
  const char *trust; /* default: root for clients, client-root for servers that ask; "": none */
  const char *client_ca;
  uint32_t report;  /* mask of events */
  uint32_t suspend; /* mask of questions: ASK(SST_WANT_x) | ... */
  int32_t early_data;
  bool no_config; /* a server that asks for its config; what else is here is for pair_config */
  uint32_t max_fragment;
  uint32_t tickets; /* that a server sends, TICKETS_BY_DEFAULT for the library's own number; default: none, so that the
                         wires hold what the test sends, and no more */
  uint32_t lifetime_s; /* of sessions */
  sst_ticket_keys *ticket_keys;
  sst_session *session;    /* for a client to resume */
  const char *server_name; /* default: server.test for clients; "": none */
  const char *verify_name;
  int64_t verify_time; /* default: DATA_CLOCK */
  uint32_t options;    /* of the stream */
  sst_config *config;  /* a config of the test's own, which keeps its reference; no setting of it is changed */
} SideOptions;

enum { TICKETS_BY_DEFAULT = 99 };

typedef struct PairOptions {
  int first; /* not used; lets pair_new() go without options */
  SideOptions client, server;
} PairOptions;

typedef struct Pair {
  Side client, server;
  uint64_t objects; /* how many objects of the library belong to the pair */
} Pair;

/* Makes both streams and moves no byte. A setter that fails ends the case. */
#define pair_new(...) pair_make(&(PairOptions){.first = 0, __VA_ARGS__})
Pair pair_make(const PairOptions *options);

/* Frees both, and fails the case if anything of theirs is left. */
void pair_free(Pair *pair);

/* The config that pair_new would make; one reference for the caller. role: SST_ROLE_x. */
sst_config *pair_config(const SideOptions *options, int32_t role);
/* A side with a stream of that config; wires are given by the caller, who may replace them. */
Side side_new(const SideOptions *options, int32_t role, Wire *in, Wire *out);

/*
 * pair_handshake runs the handshake of both sides until it is over for both, and returns SST_OK, or the first failure
 * of either. A failed side has sent its alert, and the other has read it if it was in the handshake still. A WANT ends
 * it as well: call again after the answer.
 */
sst_status pair_handshake(Pair *pair);

/* pair_open is pair_new and a handshake that must succeed. */
#define pair_open(...) pair_opened(&(PairOptions){.first = 0, __VA_ARGS__})
Pair pair_opened(const PairOptions *options);

/* pair_echo sends len bytes of a pattern from each side to the other and compares them. */
void pair_echo(Pair *pair, size_t len);

/* A pattern that shows lost, doubled and swapped bytes. */
void pattern_fill(uint8_t *bytes, size_t len, uint32_t seed);

#endif
