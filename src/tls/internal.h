/* What the files of src/tls share among themselves. With loading.h, record.h and verify.h the only headers of ours that
   name BoringSSL types. */
#ifndef SST_TLS_INTERNAL_H
#define SST_TLS_INTERNAL_H

#include <openssl/bytestring.h>
#include <openssl/pool.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "engine.h"
#include "error.h"
#include "pem.h"
#include "settings.h"
#include "tls/certificates.h"
#include "tls/context.h"
#include "tls/loading.h"
#include "tls/resumption.h"

/* ---- verify.c ---- */

typedef struct sst__verify_request {
  const STACK_OF(CRYPTO_BUFFER) * chain; /* as the peer sent it, leaf first, not empty */
  const sst__anchors *anchors;
  const char *name; /* DNS name or IP address that the leaf must have, terminated; NULL: none */
  bool name_is_ip;
  bool peer_is_server; /* else a client */
  int64_t unix_s;
  uint32_t minimum_rsa_bits;
  bool allow_sha1;
  bool stapled;    /* the server stapled an OCSP response */
  sst__path *path; /* filled if the chain is good; NULL: not wanted */
} sst__verify_request;

/* Judges a chain: SST_OK, or a code of the certificate band (or NO_MEMORY) with record filled: all reasons, the alert,
   a message that names certificate and cause. */
sst_status sst__verify_chain(const sst__verify_request *request, sst_error *record);

/* ---- context.c ---- */

struct sst__context {
  SSL_CTX *ctx;
  sst__context_parts parts;
  sst__anchors *no_anchors;           /* for verdicts without a trust; or NULL */
  uint8_t rule[SST__DIGEST_LEN];      /* what sessions are bound to: rule.c */
  uint8_t judgement[SST__DIGEST_LEN]; /* what a client's verdict on a chain depends on, beside name and time */
  bool remembers;                     /* judgement is that, and says all */
};

/* ---- exporter.c, end_point.c ---- */

enum { SST__MOST_SECRET = 48, SST__RANDOM_LEN = 32, SST__UNIQUE_LEN = 12 };

/* What TLS 1.2 needs beside the secret. */
typedef struct sst__seed {
  uint8_t randoms[2 * SST__RANDOM_LEN]; /* the client's, then the server's */
  uint8_t unique[SST__UNIQUE_LEN];      /* the first Finished (RFC 5929, 3) */
} sst__seed;

/* What keying material is made from once the SSL is gone. */
typedef struct sst__exporter {
  sst__seed *seed;                  /* NULL in TLS 1.3 */
  uint8_t secret[SST__MOST_SECRET]; /* TLS 1.3: of exporters (RFC 8446, 7.5); TLS 1.2: the master secret */
  uint8_t secret_len;
} sst__exporter;

/* Takes the secret out of a line of the key log, if it is in this one: BoringSSL gives it nowhere else. */
void sst__exporter_see(sst__exporter *exporter, const char *key_log_line);
/* Takes what else is needed from a finished handshake. false: it is not there. */
bool sst__exporter_complete(sst__exporter *exporter, const SSL *ssl);
void sst__exporter_clear(sst__exporter *exporter);

/* The ops. */
sst_status sst__tls_export_key(const sst__engine *, const sst__export *, uint8_t *out, size_t out_len);
sst_status sst__tls_channel_binding(const sst__engine *, int32_t kind, uint8_t *out, size_t out_cap, size_t *out_len);
sst_status sst__tls_traffic_secret(sst__engine *, int32_t direction, uint8_t *out, size_t out_cap, size_t *out_len);

/* The hash of a server's leaf for tls-server-end-point (RFC 5929, 4.1), as a getter of variable size. UNSUPPORTED: its
   signature has no hash function. */
sst_status sst__end_point(const CRYPTO_BUFFER *leaf, uint8_t *out, size_t out_cap, size_t *out_len);

/* ---- engine.c ---- */

enum { SST__HEADER_LEN = 5 };

/* The engine of one TLS stream. */
typedef struct sst__tls {
  sst__engine base;
  SSL *ssl;
  const sst__context *context;
  const sst__setup *setup; /* until the handshake has ended */

  /* For the time of one call. */
  sst__input *in;
  sst__output *wire;
  sst_error *error;

  uint8_t header[SST__HEADER_LEN]; /* of the record in progress */
  uint8_t header_len;
  size_t body_left; /* > 0: the header is whole, and so many bytes of the body are missing */

  uint8_t short_body[2]; /* the body of a record of two bytes: an alert that is not encrypted */

  int32_t alert_sent, alert_received; /* fatal ones, or close_notify inside the handshake */
  const sst__identity *local;         /* what we sent; NULL: nothing */
  uint16_t local_scheme;
  uint16_t version; /* once the handshake has ended */
  size_t expansion; /* bytes that a record's body is longer than its plaintext */
  bool in_handshake;
  bool first_byte_seen;                  /* of the peer */
  bool judged;                           /* error is filled already: by verification, or by a rule of ours */
  bool no_memory;                        /* the queue could not grow */
  bool verified;                         /* the peer's certificate was judged good */
  bool no_common_suite, no_common_group; /* what a server saw in the ClientHello */
  bool answer_due;                       /* a KeyUpdate request was taken in */
  bool closed;                           /* our close_notify is out */
  bool stored_good;                      /* the chain in the session that is offered was judged good, */
  sst__path stored_path;                 /* with this path */
  uint32_t ticket_early_data;            /* of the last NewSessionTicket that came */
  struct sst__bond *bond;                /* of a client that wants or offers sessions; or NULL */
  sst__path path;                        /* of the verified peer */
  uint8_t *hello;                        /* body of the ClientHello that a config is wanted for; or NULL */
  size_t hello_len;
  uint8_t *taken; /* wire bytes that came before the config, and how many the next SSL has read again */
  size_t taken_len, taken_used;
  bool reads_again;
  uint8_t *accepted_cas; /* of a ClientHello: a list of names, each behind two length bytes */
  size_t accepted_cas_len;
  uint8_t *ticket; /* that no key of the ring opens, while it is the question; or NULL */
  size_t ticket_len;
  uint8_t session_id[SSL_MAX_SSL_SESSION_ID_LENGTH]; /* that is asked for */
  size_t session_id_len;
  size_t most_early_data; /* of the session that a client offers */
  bool early_data_offered, early_data_sent, early_data_told;
  bool certificate_chosen;     /* by the caller: */
  const sst__identity *chosen; /* NULL: none */
  uint8_t *message;            /* to sign; or NULL */
  size_t message_len;
  uint16_t message_scheme;
  sst_error verdict;                 /* on the peer's chain, while that is the question */
  STACK_OF(CRYPTO_BUFFER) * refused; /* what the peer sent, if it was refused; or NULL */
  sst__exporter exporter;            /* as far as it is known */
  const uint8_t *certificate;        /* for the time of one call: the body of the peer's Certificate, */
  size_t certificate_len;            /* while it is the last message that came */
} sst__tls;

/* Makes the SSL of tls, for its context; false: no memory. */
bool sst__tls_make_ssl(sst__tls *tls);

static inline sst__tls *sst__tls_of(const SSL *ssl) {
  return SSL_get_app_data(ssl);
}

/* Fails the call in progress with a rule of ours: BoringSSL's own reason is then not looked at. */
#define sst__judge(tls, code, ...) ((tls)->judged = true, sst__fail((tls)->error, (code), __VA_ARGS__))

/* Judges a chain of the peer by the config and the setup of the stream; path is filled if it is good. */
sst_status sst__judge_chain(const sst__tls *tls, const STACK_OF(CRYPTO_BUFFER) * chain, sst__path *path,
                            sst_error *error);

/* The time at which the stream judges certificates. */
int64_t sst__judging_time(const sst__tls *tls);

/* ---- early_handshake.c ---- */

/* Reports what became of early data, once. */
void sst__tls_tell_early_data(sst__tls *tls, bool accepted);
/* A resumed handshake: what was judged is the chain in the session. */
void sst__tls_take_stored_verdict(sst__tls *tls);
sst__step sst__tls_begin_early(sst__tls *tls);
/* Early data was refused. true: nobody need be asked, and the handshake goes on. */
bool sst__tls_goes_on_without(sst__tls *tls);

/* ---- client_hello.c ---- */

bool sst__has_no_config(const sst__tls *tls);

/* The op. */
bool sst__tls_adopt(sst__engine *engine, const sst__context *context);
/* Shows a fact about the ClientHello; false: none. */
bool sst__hello_fact(const sst__tls *tls, sst__fact fact, size_t index, sst__view *view);
/* Keeps the issuer names that a client accepts; false: no memory. */
bool sst__keep_accepted_cas(sst__tls *tls, const SSL_CLIENT_HELLO *hello);
/* Keeps wire bytes that were read without a config; false: no memory. */
bool sst__keep_taken(sst__tls *tls, const uint8_t *data, size_t len);

/* ---- questions.c ---- */

/* The question behind an error code of SSL_get_error, or SST_OK. */
sst_status sst__want_of(int ssl_error);
/* True if streams of this context stop for want. */
bool sst__asks(const sst__tls *tls, sst_status want);
/* The answer to want, or NULL. */
const sst__answer *sst__tls_answer(const sst__tls *tls, sst_status want);
/* The op. */
bool sst__tls_fact(const sst__engine *engine, sst__fact fact, size_t index, sst__view *view);
/* What BoringSSL calls for a credential whose caller signs. */
const SSL_PRIVATE_KEY_METHOD *sst__caller_signs(void);

/* ---- rule.c ---- */

/* The digest of what the verdict on a chain depends on; false: no memory. */
bool sst__judgement_digest(const sst__context_parts *parts, uint8_t out[SST__DIGEST_LEN]);
/* The digest of what a server's sessions are bound to, or of the credentials of a client; false: no memory. */
bool sst__rule_digest(const sst__context_parts *parts, uint8_t out[SST__DIGEST_LEN]);
/* Binds the sessions of a server's handshake to its rule and to the name that the client asks for (RFC 6066, 3: none
   is resumed with another name); false: no memory. */
bool sst__bind_to_host(SSL *ssl, const uint8_t rule[SST__DIGEST_LEN]);

/* ---- tickets.c ---- */

/* A ClientHello with a longer one would be over the limit that BoringSSL sets for it, 16,384 bytes. */
enum { SST__MOST_TICKET = 12288 };

/* Judges again the client whose session a server is to resume. */
bool sst__client_is_good_now(sst__tls *tls, SSL_SESSION *session);
void sst__tickets_set_up(SSL_CTX *ctx, const sst__context_parts *parts);
/* TLS 1.2: lets a client whose ticket was sealed with an older key have a new one beside the resumption, which
   BoringSSL's ticket method has no word for. */
void sst__tickets_renew(SSL *ssl, const SSL_CLIENT_HELLO *hello);

/* ---- session_ids.c ---- */

/* True for a session that a server keeps by its id. */
bool sst__is_servers(const SSL_SESSION *session);
void sst__session_ids_set_up(SSL_CTX *ctx, const sst__settings *settings);

/* ---- resumption.c ---- */

bool sst__wants_sessions(const sst__settings *settings);
void sst__resumption_set_up(SSL_CTX *ctx, const sst__settings *settings);
/* Before a client's first byte: offers the session of setup, if it fits. false: no memory. */
bool sst__resumption_start(sst__tls *tls, const sst__setup *setup);
/* ---- ticket_session.c ---- */

/* A NewSessionTicket of TLS 1.3 (RFC 8446, 4.6.1); points into the message. */
typedef struct sst__ticket {
  uint32_t lifetime_s, age_add, max_early_data;
  CBS nonce, ticket;
} sst__ticket;

/* Parses the body of the message; false: fault says what is wrong. */
bool sst__ticket_parse(CBS *body, sst__ticket *ticket, const char **fault);
/* The session of a ticket that came at unix_s on the connection of base; NULL: no memory. */
SSL_SESSION *sst__session_of_ticket(const SSL_SESSION *base, const EVP_MD *hash, const sst__ticket *ticket,
                                    uint64_t unix_s, const SSL_CTX *ctx);

/* ---- stream_certificates.c ---- */

/* Where a stream's certificates are. */
typedef struct sst__certificates {
  const sst__context *context;
  const STACK_OF(CRYPTO_BUFFER) * peer, *refused;
  const sst__path *path;
  const sst__identity *local;
} sst__certificates;

/* The leaf that the server sent, borrowed; NULL: none. */
const CRYPTO_BUFFER *sst__server_leaf(const sst__certificates *certificates);
/* Copies one, as a getter of variable size. */
sst_status sst__give_certificate(const sst__certificates *certificates, sst__chain chain, size_t index, uint8_t *out,
                                 size_t out_cap, size_t *out_len);
sst_status sst__tls_certificate(const sst__engine *engine, sst__chain chain, size_t index, uint8_t *out, size_t out_cap,
                                size_t *out_len);

/* Keeps the chain that is refused, for whoever is told of it: what BoringSSL has, or, since it has it only after its own
   checks, what stands in the peer's Certificate message. Without memory there is nothing to show. */
void sst__tls_keep_refused(sst__tls *tls);
void sst__tls_forget_refused(sst__tls *tls);

/* ---- hand_over.c ---- */

/* The op. */
sst__engine *sst__tls_hand_over(sst__engine *engine, sst__facts *facts, sst__output *later, sst_error *error);

/* True if records go on through BoringSSL's SSL, which tests alone want: an oracle for our record layer. */
#if defined(SST_RECORD_PATH_SSL)
static inline bool sst__keeps_ssl(void) {
  return true;
}
#elif defined(SST_RECORD_PATH_BOTH)
extern atomic_bool sst__record_path_is_ssl;
static inline bool sst__keeps_ssl(void) {
  return atomic_load_explicit(&sst__record_path_is_ssl, memory_order_relaxed);
}
#else
static inline bool sst__keeps_ssl(void) {
  return false;
}
#endif
/* ---- observe.c ---- */

/* Installs what watches alerts, messages and key-log lines. */
void sst__observe(SSL_CTX *ctx);

/* ---- failure.c ---- */

/* Ends a call that failed: fills tls->error from what is known, and sends an alert if the failure has one and none was
   sent or received. failed_allocations is their number before the call. */
sst__step sst__tls_failed(sst__tls *tls, int ssl_error, uint64_t failed_allocations);

/* ---- observed/failure_observer.c, in the sanitized builds alone ---- */

#ifdef SST_OBSERVE_FAILURES
void sst__observe_failure(uint32_t entry, sst_status code);
#else
static inline void sst__observe_failure(uint32_t entry, sst_status code) {
  (void)entry, (void)code;
}
#endif

#endif
