/*
 * securestream.h - secure streams over buffers that the caller owns.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A stream is one connection: TLS 1.2 or 1.3, or Microsoft's Negotiate stream ([MS-NNS]), client or server. The library
 * opens no socket, starts no thread and calls nobody back. The caller moves bytes between the stream and a transport of
 * its own choice. After a call returns, the library holds no pointer that the caller passed in.
 *
 * A client that says hello over a connected socket, with errors left out:
 *
 *     sst_config *config = sst_config_new();
 *     sst_trust *trust = sst_trust_new();
 *     sst_trust_load_pem(trust, ca_pem, ca_pem_len);
 *     sst_config_set_trust(config, trust);
 *
 *     sst_stream *stream = NULL;
 *     sst_stream_new(config, SST_ROLE_CLIENT, &stream);
 *     sst_stream_set_server_name(stream, "example.test", 12);
 *
 *     uint8_t in[SST_RECORD_MAX], out[SST_RECORD_MAX];
 *     size_t in_len = 0;
 *     sst_progress done;
 *     sst_status status;
 *     do {
 *       status = sst_stream_handshake(stream, in, in_len, out, sizeof out, &done);
 *       in_len -= done.consumed;
 *       memmove(in, in + done.consumed, in_len);
 *       write_all(fd, out, done.produced);
 *       if (status == SST_NEED_INPUT) in_len += read_some(fd, in + in_len, sizeof in - in_len);
 *     } while (status == SST_NEED_INPUT || status == SST_NEED_OUTPUT);
 *
 *     status = sst_stream_encrypt(stream, (const uint8_t *)"hello", 5, out, sizeof out, &done);
 *     write_all(fd, out, done.produced);
 *
 * Contents
 *    1  Conventions
 *    2  The states of a stream
 *    3  Version, memory, names of numbers
 *    4  Outcomes and errors
 *    5  Credentials
 *    6  Trust
 *    7  Ticket keys
 *    8  Configurations
 *    9  Streams: making one, and what is set before the first byte
 *   10  Streams: the calls that move bytes
 *   11  Streams: facts
 *   12  Streams: questions and their answers
 *   13  Events
 *   14  Sessions
 *   15  Negotiate
 *
 *
 * 1  CONVENTIONS
 *
 * Names. sst_<object>_<verb>[_<noun>]; the object is the first parameter. Numbers of protocol versions, cipher suites,
 * groups, signature schemes, alerts and extensions are those of IANA.
 *
 * Buffers. x, x_len is input; out, out_cap is room for output. Lengths count bytes unless the name says otherwise.
 * Every length from 0 to PTRDIFF_MAX is legal, and NULL with 0 is an empty buffer. A larger length, NULL with a
 * length, and input and output that overlap are SST_ERR_INVALID_ARGUMENT. A call may take less than it was offered and
 * says how much.
 *
 * Getters of variable size take out, out_cap, out_len. SST_OK: *out_len units were written (0 means "none").
 * SST_NEED_OUTPUT: nothing was written, and *out_len is the room needed. A unit is a byte; in lists of uint16_t it is
 * an element. Text that comes out is not terminated by NUL. Text goes in as pointer and length, in UTF-8 unless
 * something narrower is said. An index out of range is "none".
 *
 * Structs that begin with a member size are filled up to that size: set it to sizeof the struct before the call. They
 * grow at the end. sst_progress, sst_range and sst_slice never change.
 *
 * Objects. sst_credential, sst_trust, sst_ticket_keys, sst_config, sst_negotiate_config and sst_session are counted:
 * _new makes one (NULL: no memory), _ref adds a reference and returns its argument, _free drops one. _ref and _free
 * take NULL and may be called from any thread. Whatever takes such an object keeps a reference of its own, so that
 * objects may be freed in any order. A stream has one owner and no count; sst_stream_free takes NULL too. NULL for any
 * other object parameter is SST_ERR_INVALID_ARGUMENT (0, or nothing, from functions that return no status).
 *
 * Errors stay with the object (section 4). Nothing is kept per thread, so a host may continue on another thread after
 * any call. Constants and flags that this header does not name may appear later: ignore them.
 *
 * Threads. Set-up calls on one object belong to one thread until the object is shared. A frozen config, and a
 * credential or trust that is in use, may be shared by any number of threads. After the handshake of a stream one
 * thread may make calls of the sending set {encrypt, encrypt2, encryptv, flush, close, abort, key_update} while
 * another makes calls of the receiving set {decrypt, decrypt_in_place, input_eof}. Any other pair of calls on one
 * stream is caught: the second gets SST_ERR_BUSY, nothing has changed, and it may be repeated. sst_stream_state,
 * sst_stream_last_error, sst_stream_counter, sst_stream_output_size, sst_stream_plaintext_size and
 * sst_stream_next_event may be called from any thread at any time; other getters belong to the thread of the handshake
 * until it ends, and may then be called from any. sst_stream_free must be the last call. A reader that sees
 * SST_HAS_OUTPUT lets the writer flush; a writer must look at sst_stream_output_size once more after it has given up
 * its own lock, or an answer waits for the next write.
 *
 * Processes. A stream belongs to the process that made it. In a forked child it can only be freed, which sends
 * nothing; every other call but getters gives SST_ERR_FORKED. Configs may be used on in the child if no other thread
 * was inside a call on them at the fork.
 *
 * Loading and leaving. The library exports sst_ names only, needs nothing but libc, and lives in one process with
 * OpenSSL or another BoringSSL. It stays mapped after dlclose. No init and no clean-up call exists or is needed. It
 * reads no environment variable and opens no file, but for what sst_trust_load_system and Negotiate say of themselves.
 *
 * Defaults are safe: clients verify chain and name; TLS 1.3, and TLS 1.2 with ECDHE, AEAD suites and extended master
 * secret (RFC 7627) only; groups X25519MLKEM768, X25519, P-256, P-384; no renegotiation, ever, in either role; ALPN
 * strict; 0-RTT off; key log off. Secrets are wiped when they are freed.
 *
 * Not built yet in this version (these return SST_ERR_UNSUPPORTED, or "none"; section 1 says how objects behave): see
 * the list in README.md. It only shrinks.
 *
 *
 * 2  THE STATES OF A STREAM
 *
 *     (new) --handshake--> HANDSHAKE <--answer--> SUSPENDED
 *                              |  finished
 *                              v
 *                            OPEN --close--> OPEN+WE_CLOSED -----.
 *                              |                                 | peer's close_notify
 *                              +--peer's close_notify-->         v
 *                              |     OPEN+PEER_CLOSED --close--> OPEN+WE_CLOSED+PEER_CLOSED
 *                              '--input_eof without close_notify--> OPEN+TRUNCATED (sending goes on)
 *
 *     close before OPEN: ENDED_EARLY.   any failure but truncation, abort included: FAILED, for ever.
 *
 * What each call gives in each state ("code": the stream's failure, the same at every call):
 *
 *                 before, in     open       we closed   peer        both        truncated   ended       failed
 *                 handshake                             closed      closed                  early
 *   handshake     runs           OK         OK          OK          OK          OK          ERR_CLOSED  rest, code
 *   encrypt       ERR_STATE      runs       ERR_CLOSED  runs        ERR_CLOSED  runs        ERR_CLOSED  code
 *   decrypt       ERR_STATE      runs       runs        CLOSED      CLOSED      TRUNCATED   ERR_CLOSED  code
 *   flush         drains         drains     drains      drains      drains      drains      drains      drains, OK
 *   close         ends early     sends      OK          sends       OK          sends       OK          = flush
 *   abort         fails it       fails it   ERR_CLOSED  fails it    ERR_CLOSED  fails it    ERR_CLOSED  code
 *   key_update    ERR_STATE      queued     ERR_CLOSED  queued      ERR_CLOSED  queued      ERR_CLOSED  code
 *   input_eof     OK             OK         OK          OK          OK          OK          OK          OK
 *
 * Where decrypt is to give an error or SST_CLOSED, plaintext that was received before it comes first. While suspended,
 * handshake repeats the question, encrypt, decrypt and key_update give ERR_STATE, close ends the stream early. During
 * 0-RTT encrypt (client) and decrypt (server) are legal (section 10).
 */
#ifndef SECURESTREAM_H
#define SECURESTREAM_H

#include <stddef.h>
#include <stdint.h>

#ifndef SST_API
#if defined(__GNUC__)
#define SST_API __attribute__((visibility("default")))
#else
#define SST_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* An outcome (0 or more) or an error (below 0). See section 4. */
typedef int32_t sst_status;

typedef struct sst_credential sst_credential;
typedef struct sst_trust sst_trust;
typedef struct sst_ticket_keys sst_ticket_keys;
typedef struct sst_config sst_config;
typedef struct sst_negotiate_config sst_negotiate_config;
typedef struct sst_session sst_session;
typedef struct sst_stream sst_stream;

/* ===================================================================================================================
 * 3  VERSION, MEMORY, NAMES OF NUMBERS
 * ================================================================================================================ */

enum { SST_VERSION_NUMBER = 0x000100 };

/*
 * sst_version_number returns the version of the loaded library as 0xMMmmpp: major, minor, patch. SST_VERSION_NUMBER is
 * the version of this header. Since 0.1.
 */
SST_API uint32_t sst_version_number(void);

/*
 * sst_version_string returns the version of the loaded library as text, for example "0.1.0". Static. Since 0.1.
 */
SST_API const char *sst_version_string(void);

/*
 * sst_live_objects returns how many objects of all seven kinds exist in this process. A program that has freed all
 * reads 0. Any thread. Since 0.1.
 */
SST_API uint64_t sst_live_objects(void);

/*
 * sst_allocated_bytes returns the bytes of heap that the library holds at this moment, the TLS implementation inside
 * it included, as the allocator rounds them. A few tables that are made once in a process stay. Not counted: the read
 * and write buffers of a record while a call or a half received record holds them. Any thread. Since 0.1.
 */
SST_API uint64_t sst_allocated_bytes(void);

/*
 * sst_suite_name, sst_group_name, sst_scheme_name and sst_alert_name return the IANA name of a cipher suite, a group,
 * a signature scheme or an alert (TLS_AES_128_GCM_SHA256, x25519, ecdsa_secp256r1_sha256, handshake_failure), or
 * "unknown". Static; never NULL. Since 0.1.
 */
SST_API const char *sst_suite_name(uint16_t suite);
SST_API const char *sst_group_name(uint16_t group);
SST_API const char *sst_scheme_name(uint16_t scheme);
SST_API const char *sst_alert_name(int32_t alert);

/* ===================================================================================================================
 * 4  OUTCOMES AND ERRORS
 *
 * A status says what the next step needs. 0 and more are outcomes; below 0 are errors, in bands:
 *
 *   -1xx  arguments, state      -2xx  memory, system      -3xx  loading, configuration     -4xx  protocol
 *   -5xx  certificates          -7xx  Negotiate           -9xx  internal           -1000 - n  alert n was received
 *
 * Where several are true the order is: error, NEED_OUTPUT, WANT, CLOSED, OK, NEED_INPUT.
 *
 * Sticky errors end the stream: every later call gives the same code, and sst_stream_last_error the same record.
 * Marked with (*) are those that are not sticky: nothing has changed, the call may be corrected and repeated, and they
 * leave no record, since sst_status_text explains them. SST_ERR_NO_MEMORY is not sticky where nothing was consumed or
 * produced.
 *
 * A failed call on a config, credential, trust, ticket-key ring or session leaves the object as it was, and its reason
 * in the object's own last_error. SST_ERR_FROZEN leaves none, nor do the other codes with (*), nor SST_ERR_BAD_HOST on
 * a stream: where the code of last_error is not the status that a call gave, sst_status_text says all there is. New
 * codes may appear inside a band; a number is never used again.
 * ================================================================================================================ */

enum {
  SST_OK = 0,          /* done */
  SST_NEED_INPUT = 1,  /* give more input; all that was given is processed */
  SST_NEED_OUTPUT = 2, /* give more room; progress->needed bytes make progress */
  SST_CLOSED = 3,      /* the peer's close_notify was reached: the end of the data */
  SST_NONE = 4,        /* sst_stream_next_event: no event waits */

  SST_WANT_CLIENT_HELLO = 16, /* questions: section 12 */
  SST_WANT_CERTIFICATE = 17,
  SST_WANT_CERTIFICATE_VERIFY = 18,
  SST_WANT_PRIVATE_KEY_OPERATION = 19,
  SST_WANT_SESSION = 20,
  SST_WANT_TICKET_DECRYPT = 21,
  SST_WANT_EARLY_DATA_RETRY = 22
};

enum {
  SST_ERR_INVALID_ARGUMENT = -100, /* (*) NULL, a length too large, overlapping buffers, an unknown constant */
  SST_ERR_STATE = -101,            /* (*) not in this state of the object, or not in this role */
  SST_ERR_BUSY = -102,             /* (*) another thread is in a call that this one may not run beside */
  SST_ERR_FROZEN = -103,           /* (*) the object is in use and cannot be changed any more */
  SST_ERR_CLOSED = -104,           /* (*) after sst_stream_close */
  SST_ERR_UNSUPPORTED = -105,      /* (*) not built, or not possible with this protocol */
  SST_ERR_FORKED = -106,           /* the stream belongs to the parent process */

  SST_ERR_NO_MEMORY = -200, /* an allocation failed */
  SST_ERR_SYSTEM = -201,    /* a call of the system failed; detail is errno */

  SST_ERR_PARSE = -300,              /* the bytes are not what they should be; the message names the place */
  SST_ERR_NO_CERTIFICATE = -301,     /* no certificate in the input */
  SST_ERR_NO_PRIVATE_KEY = -302,     /* no private key in the input */
  SST_ERR_KEY_MISMATCH = -303,       /* the private key does not belong to the leaf certificate */
  SST_ERR_UNSUPPORTED_KEY = -304,    /* a key of a kind or size that is not accepted */
  SST_ERR_PASSWORD_REQUIRED = -305,  /* the key is encrypted and no password was given */
  SST_ERR_BAD_PASSWORD = -306,       /* the password does not open it */
  SST_ERR_UNSUPPORTED_CIPHER = -307, /* encrypted by a cipher that is not accepted */
  SST_ERR_NO_CREDENTIAL = -308,      /* a server config without a credential, or one without a key */
  SST_ERR_NO_TRUST = -309,           /* verification is on and there is no trust anchor */
  SST_ERR_BAD_HOST = -310,           /* not a host name in ASCII, nor an IP address */
  SST_ERR_NO_EXPECTED_NAME = -311,   /* a verifying client without a name; sticky */
  SST_ERR_BAD_ALPN = -312,           /* an empty protocol name, one over 255 bytes, or a list too long */
  SST_ERR_BAD_VERSION = -313,
  SST_ERR_BAD_GROUP = -314,
  SST_ERR_BAD_SUITE = -315,
  SST_ERR_BAD_SCHEME = -316,
  SST_ERR_LIST_TOO_LONG = -317,
  SST_ERR_BAD_TICKET_KEYS = -318,
  SST_ERR_BAD_SESSION = -319,

  SST_ERR_PROTOCOL = -400,                  /* the peer broke the protocol in a way without a code of its own */
  SST_ERR_BAD_RECORD_MAC = -401,            /* a record does not open: damaged, forged, or not encrypted */
  SST_ERR_DECODE = -402,                    /* a message does not parse */
  SST_ERR_UNEXPECTED_MESSAGE = -403,        /* a message that does not belong here */
  SST_ERR_RECORD_OVERFLOW = -404,           /* a record longer than the protocol allows */
  SST_ERR_NO_SHARED_VERSION = -405,         /* no protocol version in common */
  SST_ERR_NO_SHARED_SUITE = -406,           /* no cipher suite in common */
  SST_ERR_NO_SHARED_GROUP = -407,           /* no key exchange group in common */
  SST_ERR_NO_COMMON_SCHEME = -408,          /* no signature scheme in common */
  SST_ERR_NO_APPLICATION_PROTOCOL = -409,   /* both sides use ALPN and have no protocol in common */
  SST_ERR_PEER_CERT_REQUIRED = -410,        /* the client sent no certificate, and one is required */
  SST_ERR_RENEGOTIATION = -411,             /* the peer asked to renegotiate */
  SST_ERR_HANDSHAKE_EOF = -412,             /* the transport, or the peer, ended inside the handshake */
  SST_ERR_TRUNCATED = -413,                 /* the transport ended without close_notify; sending goes on */
  SST_ERR_NOT_TLS = -414,                   /* the peer speaks something else */
  SST_ERR_ABORTED = -415,                   /* sst_stream_abort was called */
  SST_ERR_REJECTED = -416,                  /* sst_stream_reject was called */
  SST_ERR_NO_EXTENDED_MASTER_SECRET = -417, /* a TLS 1.2 peer without RFC 7627 */
  SST_ERR_FLOOD = -418,                     /* too many records or messages that carry nothing */
  SST_ERR_KEY_USAGE = -419,                 /* the peer's leaf must not be used for this key exchange or signature */
  SST_ERR_ILLEGAL_PARAMETER = -420,         /* a message parses and says what it must not */
  SST_ERR_PRIVATE_KEY_OPERATION = -421,     /* signing failed */
  SST_ERR_KEY_EXHAUSTED = -422,             /* the limit of records under one key is reached */
  SST_ERR_ECH_REJECTED = -423,
  SST_ERR_MESSAGE_TOO_LARGE = -424, /* a handshake message over the limit */
  SST_ERR_UNRECOGNIZED_NAME = -425,

  SST_ERR_CERT_ISSUER_NOT_FOUND = -500, /* each has a bit in reasons: 1 << (-500 - code) */
  SST_ERR_CERT_SELF_SIGNED = -501,      /* a leaf; an unknown root above one is CERT_ISSUER_NOT_FOUND */
  SST_ERR_CERT_BAD_SIGNATURE = -502,
  SST_ERR_CERT_REVOKED = -503,
  SST_ERR_CERT_PURPOSE = -504,
  SST_ERR_CERT_WEAK_KEY = -505,
  SST_ERR_CERT_WEAK_DIGEST = -506,
  SST_ERR_CERT_MALFORMED = -507,
  SST_ERR_CERT_CHAIN_TOO_LONG = -508,
  SST_ERR_CERT_NOT_CA = -509,
  SST_ERR_CERT_NAME_CONSTRAINT = -510,
  SST_ERR_CERT_CRL = -511, /* a CRL is missing, expired or unusable */
  SST_ERR_CERT_EXPIRED = -520,
  SST_ERR_CERT_NOT_YET_VALID = -521,
  SST_ERR_CERT_NAME_MISMATCH = -530,
  SST_ERR_CERT_STAPLE_MISSING = -540,
  SST_ERR_CERT_OTHER = -549,

  SST_ERR_NEGOTIATE = -700,
  SST_ERR_FRAME_TOO_LARGE = -701,
  SST_ERR_TOKEN_TOO_LARGE = -702,
  SST_ERR_LEVEL_MISMATCH = -703,
  SST_ERR_HANDSHAKE_INCOMPLETE = -704,
  SST_ERR_PEER_REFUSED = -705,
  SST_ERR_NO_MECHANISM = -706,
  SST_ERR_LOGON = -707,
  SST_ERR_BINDING_MISMATCH = -708,
  SST_ERR_REPLAY = -709,

  SST_ERR_INTERNAL = -900,       /* a fault of the library: please report it with the message */
  SST_ERR_ALERT_RECEIVED = -1000 /* minus the alert's number: -1040 is handshake_failure (40) */
};

/*
 * The record of a failure. When a certificate chain has several faults, code is the first in the order chain, time,
 * name, others, and reasons has them all: a caller who forgives one sees whether there is another.
 */
typedef struct sst_error {
  uint32_t size;          /* in: sizeof(sst_error) */
  int32_t code;           /* the status; SST_OK: nothing failed */
  int32_t alert_sent;     /* the alert that this side sends for it; -1: none */
  int32_t alert_received; /* the alert that ended the stream; -1: none */
  uint64_t reasons;       /* certificate faults as a set */
  int64_t detail;         /* errno, HRESULT or GSS major status where there is one; 0: none */
  char message[512];      /* UTF-8, terminated by NUL: what failed, by name. No secrets; peer text is made printable */
} sst_error;

/*
 * sst_status_name returns the name of a status without SST_: "NEED_INPUT", "ERR_CERT_EXPIRED", "ERR_ALERT_RECEIVED".
 * sst_status_text returns one line that explains it. "unknown" for numbers that this version does not know. Static;
 * never NULL. Since 0.1.
 */
SST_API const char *sst_status_name(sst_status status);
SST_API const char *sst_status_text(sst_status status);

/*
 * sst_status_hint returns one line that says what to do about an error, for the person who reads it: "renew the
 * certificate, or correct the clock". "" where there is nothing to do, for outcomes, and for numbers that this version
 * does not know. Static; never NULL. Since 0.1.
 */
SST_API const char *sst_status_hint(sst_status status);

/* ===================================================================================================================
 * 5  CREDENTIALS
 *
 * A credential is a certificate chain and its private key, or a chain whose owner signs elsewhere. Make an empty one,
 * load into it, add it to any number of configs. Once a config has it, it is frozen.
 *
 * Key kinds, for our credentials and for peers alike: RSA 2048 to 8192 bits, ECDSA with P-256, P-384 and P-521,
 * Ed25519. P-521 works in TLS 1.2 only with secp521r1 in the config's group list. RSA from 1024 bits on can be loaded;
 * a config takes it only after sst_config_set_minimum_key.
 *
 * Certificates may be loaded in any order. The leaf is the certificate of the private key; while there is no key, the
 * first one that issued none of the others. The chain is put in the order of the wire: the leaf, its issuer, and so on
 * (RFC 8446, 4.4.2), where there are several issuers (cross-signed ones) all of them. A self-signed root is not sent,
 * nor what no path leads to from the leaf. Missing issuers are never fetched.
 * ================================================================================================================ */

/*
 * sst_credential_new returns an empty credential with one reference, or NULL without memory. sst_credential_ref adds a
 * reference and returns credential. sst_credential_free drops one; with the last, keys are wiped. Since 0.1.
 */
SST_API sst_credential *sst_credential_new(void);
SST_API sst_credential *sst_credential_ref(sst_credential *credential);
SST_API void sst_credential_free(sst_credential *credential);

/*
 * sst_credential_load_pem loads certificates, a private key, or both, from PEM text (RFC 7468).
 *
 * Text around the blocks, and blocks of other kinds, are skipped. Certificates and key may come in two calls, in either
 * order; a second call's replace the first's. Keys: PKCS#8, PKCS#1 (RSA), SEC1 (EC), encrypted as PKCS#8 (PBES2 with
 * PBKDF2 by HMAC with SHA-1 or SHA-256 and AES-CBC or 3DES, or the ways of PKCS#12) or by "Proc-Type: 4,ENCRYPTED"
 * (AES-CBC or 3DES; weak: it has no key derivation to speak of). password opens an encrypted key; it is ignored where
 * the key is plain. Nobody is ever prompted.
 *
 *   SST_OK                      loaded
 *   SST_ERR_PARSE               a block is damaged, or there is a second key; the message says which and where
 *   SST_ERR_NO_CERTIFICATE      neither a certificate nor a key in pem
 *   SST_ERR_KEY_MISMATCH        the key does not belong to any of the certificates
 *   SST_ERR_UNSUPPORTED_KEY     not one of the kinds above, or the leaf's key usage forbids signing
 *   SST_ERR_PASSWORD_REQUIRED   the key is encrypted and password_len is 0
 *   SST_ERR_BAD_PASSWORD        password does not open the key
 *   SST_ERR_UNSUPPORTED_CIPHER  the key is encrypted in another way than those above, or its password must be hashed
 *                               more than 10,000,000 times
 *   SST_ERR_LIST_TOO_LONG       more than 200 certificates
 *   SST_ERR_FROZEN              a config has the credential
 *   SST_ERR_NO_MEMORY
 *
 * A failed load leaves the credential as it was. Nothing of pem or password is kept but the parsed objects. Since 0.1.
 */
SST_API sst_status sst_credential_load_pem(sst_credential *credential, const uint8_t *pem, size_t pem_len,
                                           const char *password, size_t password_len);

/*
 * sst_credential_load_der loads certificates in DER (RFC 5280), one behind the other, and a private key in DER (PKCS#8,
 * PKCS#1 or SEC1, not encrypted). der_len 0: a key alone. key_len 0: certificates alone. Errors as for
 * sst_credential_load_pem; an encrypted key is SST_ERR_PASSWORD_REQUIRED (PEM and PKCS#12 have a password). Since 0.1.
 */
SST_API sst_status sst_credential_load_der(sst_credential *credential, const uint8_t *der, size_t der_len,
                                           const uint8_t *key, size_t key_len);

/*
 * sst_credential_load_pkcs12 loads certificates and key from a PKCS#12 file (RFC 7292), DER or BER, of any age: AES,
 * 3DES and 40-bit RC2, or not encrypted; other ciphers, 128-bit RC2 among them, are SST_ERR_UNSUPPORTED_CIPHER. The
 * password is UTF-8; none (NULL) and empty are the same, and open files made with either. A MAC is required: a file
 * without one is SST_ERR_PARSE, and so are two keys, and bytes behind the end.
 *
 * Errors as for sst_credential_load_pem, and SST_ERR_NO_PRIVATE_KEY, SST_ERR_NO_CERTIFICATE: the file has none. Where
 * the MAC does not fit: SST_ERR_PASSWORD_REQUIRED without a password, else SST_ERR_BAD_PASSWORD. Since 0.1.
 */
SST_API sst_status sst_credential_load_pkcs12(sst_credential *credential, const uint8_t *pfx, size_t pfx_len,
                                              const char *password, size_t password_len);

/*
 * sst_credential_set_caller_signs says that the private key is elsewhere: streams stop with
 * SST_WANT_PRIVATE_KEY_OPERATION and the caller signs. schemes lists the signature schemes that it can make, best
 * first. May come before or after the chain; a credential is complete once it has both. SST_ERR_BAD_SCHEME: an unknown
 * or repeated scheme, or an empty list; SST_ERR_KEY_MISMATCH: the leaf's key makes signatures of none of them;
 * SST_ERR_STATE: a private key is loaded already (and to load one later is SST_ERR_KEY_MISMATCH); SST_ERR_FROZEN,
 * SST_ERR_NO_MEMORY. Since 0.1.
 */
SST_API sst_status sst_credential_set_caller_signs(sst_credential *credential, const uint16_t *schemes,
                                                   size_t num_schemes);

/*
 * sst_credential_set_ocsp_response gives the OCSP response (DER, RFC 6960) that a server staples for clients who ask;
 * sst_credential_set_scts gives the SignedCertificateTimestampList (RFC 6962, 3.3). The bytes are copied; empty removes
 * them. They stay whatever certificate is loaded: set both anew with another leaf. Clients send none.
 *
 * Only their shape is checked, not what they say: whether a response is of this certificate, signed and recent is for
 * who sets it to know. To renew one: a new credential in a copy of the config.
 *
 *   SST_OK                 taken
 *   SST_ERR_PARSE          not an OCSPResponse; not a list, an empty one, or one with an empty element
 *   SST_ERR_LIST_TOO_LONG  more than 32,000 bytes: both go into the extensions of one certificate
 *   SST_ERR_FROZEN, SST_ERR_NO_MEMORY, SST_ERR_INVALID_ARGUMENT
 *
 * Since 0.1.
 */
SST_API sst_status sst_credential_set_ocsp_response(sst_credential *credential, const uint8_t *response,
                                                    size_t response_len);
SST_API sst_status sst_credential_set_scts(sst_credential *credential, const uint8_t *scts, size_t scts_len);

/*
 * sst_credential_certificate copies certificate index of the chain in DER, as it is sent: 0 is the leaf. A getter of
 * variable size (section 1). Since 0.1.
 */
SST_API sst_status sst_credential_certificate(const sst_credential *credential, size_t index, uint8_t *out,
                                              size_t out_cap, size_t *out_len);

/*
 * sst_credential_last_error copies the record of the last failed call on credential; code is SST_OK if none failed.
 * SST_OK, or SST_ERR_INVALID_ARGUMENT. Since 0.1.
 */
SST_API sst_status sst_credential_last_error(const sst_credential *credential, sst_error *error);

/* ===================================================================================================================
 * 6  TRUST
 *
 * A trust holds trust anchors and revocation lists. It is parsed once and shared by any number of configs and threads.
 * Once a config has it, it is frozen.
 * ================================================================================================================ */

/*
 * sst_trust_new returns an empty trust with one reference, or NULL without memory. sst_trust_ref adds a reference and
 * returns trust. sst_trust_free drops one. Since 0.1.
 */
SST_API sst_trust *sst_trust_new(void);
SST_API sst_trust *sst_trust_ref(sst_trust *trust);
SST_API void sst_trust_free(sst_trust *trust);

/*
 * sst_trust_load_pem adds every certificate of a PEM bundle as a trust anchor. Text around the blocks is skipped; a
 * certificate that is there already is not added again.
 *
 *   SST_OK                  added
 *   SST_ERR_PARSE           a block is damaged or no certificate; the message says which and where; nothing was added
 *   SST_ERR_NO_CERTIFICATE  no certificate in pem
 *   SST_ERR_LIST_TOO_LONG   more than 32,767 trust anchors
 *   SST_ERR_FROZEN, SST_ERR_NO_MEMORY
 *
 * Since 0.1.
 */
SST_API sst_status sst_trust_load_pem(sst_trust *trust, const uint8_t *pem, size_t pem_len);

/*
 * sst_trust_load_der adds certificates in DER, one behind the other, as trust anchors. Errors as for
 * sst_trust_load_pem. Since 0.1.
 */
SST_API sst_status sst_trust_load_der(sst_trust *trust, const uint8_t *der, size_t der_len);

/*
 * sst_trust_load_system adds the trust anchors of the system: the first bundle that exists of those of Debian, Fedora,
 * SUSE, Alpine and their kin, else the files of the folder /etc/ssl/certs or /etc/pki/tls/certs. Where SSL_CERT_FILE (a
 * bundle) or SSL_CERT_DIR (folders, separated by ":") is set and not empty, what they name takes the place of all that;
 * a program with raised privileges does not look at them. All are PEM.
 *
 * It reads files and blocks for as long as that takes. A certificate that does not parse is skipped: the owner of the
 * program cannot mend the system's store. Call it once and share the trust: it takes some 20 ms, and memory.
 *
 *   SST_ERR_SYSTEM          nothing could be read; the message names the last place, detail is errno
 *   SST_ERR_NO_CERTIFICATE  what was read holds no certificate
 *   SST_ERR_FROZEN, SST_ERR_NO_MEMORY
 *
 * Since 0.1.
 */
SST_API sst_status sst_trust_load_system(sst_trust *trust);

/*
 * sst_trust_load_crl adds certificate revocation lists (RFC 5280, 5): PEM, or DER, one behind the other.
 *
 * With a list in the trust every certificate of a path but its anchor must be covered: by a list of its issuer, signed
 * by it, that is valid at the time of verification. Where one is missing, expired, not valid yet or badly signed the
 * chain is refused with SST_ERR_CERT_CRL, a revoked certificate with SST_ERR_CERT_REVOKED. Of two lists of an issuer
 * the newer counts. Delta lists are not used. A trust is not changed while it is in use: for new lists make a new
 * trust, and a config by sst_config_copy.
 *
 *   SST_ERR_PARSE  a list is damaged, or there is none; the message says which; nothing was added
 *   SST_ERR_FROZEN, SST_ERR_NO_MEMORY
 *
 * Since 0.1.
 */
SST_API sst_status sst_trust_load_crl(sst_trust *trust, const uint8_t *crl, size_t crl_len);

/*
 * sst_trust_set_partial_chain lets a chain end at any certificate of the trust, self-signed or not (allow 1), or only
 * at a self-signed one (0, the default). SST_ERR_INVALID_ARGUMENT for other values, SST_ERR_FROZEN. Since 0.1.
 */
SST_API sst_status sst_trust_set_partial_chain(sst_trust *trust, int32_t allow);

/*
 * sst_trust_num_anchors returns how many trust anchors there are. Since 0.1.
 */
SST_API size_t sst_trust_num_anchors(const sst_trust *trust);

/*
 * sst_trust_last_error copies the record of the last failed call on trust; code is SST_OK if none failed. SST_OK, or
 * SST_ERR_INVALID_ARGUMENT. Since 0.1.
 */
SST_API sst_status sst_trust_last_error(const sst_trust *trust, sst_error *error);

/* ===================================================================================================================
 * 7  TICKET KEYS
 *
 * A ring of keys for session tickets, shared by all configs that should open one another's tickets. The newest key
 * seals, all keys open. It may be changed at any time from any thread; the change holds from the next handshake on. A
 * ticket that cannot be used is never an error: the handshake is a full one. So is one where no key is left: no ticket
 * is sent then.
 *
 * Who holds a key can resume the sessions in its tickets, and read the recorded traffic of those that are TLS 1.2: keys
 * should be changed at least daily, and never be stored beside the traffic. A ring that makes its own keys seals with
 * one for as long as the sessions of its configs live, but no less than an hour and no more than a day; a key that
 * seals no more opens until those sessions have expired. Servers that share sessions get their ring from the caller.
 *
 * A ticket is: name of the key (16 bytes), salt (32, random), the session encrypted with AES-256-GCM, the tag (16). The
 * key of that is new for each ticket: HKDF-SHA256 (RFC 5869) of the key's secret with the salt, info the 19 bytes
 * "securestream ticket", 32 bytes long; the nonce is 12 bytes 0, and there is no additional data.
 * ================================================================================================================ */

/*
 * sst_ticket_keys_new returns a ring that makes and rotates its own keys (see above), with one reference, or NULL
 * without memory.
 * sst_ticket_keys_ref adds a reference and returns keys. sst_ticket_keys_free drops one; with the last, keys are wiped.
 * Since 0.1.
 */
SST_API sst_ticket_keys *sst_ticket_keys_new(void);
SST_API sst_ticket_keys *sst_ticket_keys_ref(sst_ticket_keys *keys);
SST_API void sst_ticket_keys_free(sst_ticket_keys *keys);

/*
 * sst_ticket_keys_replace puts the caller's ring in place: entries of 88 bytes, each a name (16), a secret (64) and an
 * expiry (8: unix seconds, big-endian, 0 = never). The first that has not expired seals, all that have not open. 0
 * bytes: no ticket is made or opened. The bytes are copied, and the ring makes no keys of its own any more. A failed
 * call leaves the ring as it was. SST_ERR_BAD_TICKET_KEYS: not a multiple of 88, more than 256 entries, or a name
 * twice; SST_ERR_INVALID_ARGUMENT, SST_ERR_NO_MEMORY. Any thread, any time. Since 0.1.
 */
SST_API sst_status sst_ticket_keys_replace(sst_ticket_keys *keys, const uint8_t *ring, size_t ring_len);

/*
 * sst_ticket_keys_rotate makes a new key that seals from now on, and lets the ring make its own keys again; older keys
 * go on opening until they expire, of the ring's own the newest 32. SST_ERR_INVALID_ARGUMENT, SST_ERR_NO_MEMORY,
 * SST_ERR_SYSTEM. Any thread, any time. Since 0.1.
 */
SST_API sst_status sst_ticket_keys_rotate(sst_ticket_keys *keys);

/* ===================================================================================================================
 * 8  CONFIGURATIONS
 *
 * A config is what many streams share. It is set up by one thread, then frozen: by sst_config_freeze, or by the first
 * stream. To change something, take a copy: streams of the old config live on with it. That is how a certificate is
 * reloaded.
 *
 * All setters return SST_OK, SST_ERR_INVALID_ARGUMENT, SST_ERR_FROZEN or SST_ERR_NO_MEMORY besides what they name. A
 * failed setter changes nothing.
 * ================================================================================================================ */

enum { SST_ROLE_CLIENT = 1, SST_ROLE_SERVER = 2, SST_ROLE_BOTH = 3 };
enum { SST_TLS1_2 = 0x0303, SST_TLS1_3 = 0x0304 };
enum { SST_PROFILE_DEFAULT = 0, SST_PROFILE_COMPAT = 1 };
enum { SST_VERIFY_FULL = 0, SST_VERIFY_CHAIN_ONLY = 1, SST_VERIFY_NONE = 2 };
enum { SST_CLIENT_CERTIFICATE_NONE = 0, SST_CLIENT_CERTIFICATE_REQUEST = 1, SST_CLIENT_CERTIFICATE_REQUIRE = 2 };
enum { SST_CHAIN_DIGEST_SHA2 = 0, SST_CHAIN_DIGEST_SHA1 = 1 };

/*
 * sst_config_new returns a config with the defaults of section 1 and one reference, or NULL without memory.
 * sst_config_ref adds a reference and returns config. sst_config_free drops one. Since 0.1.
 */
SST_API sst_config *sst_config_new(void);
SST_API sst_config *sst_config_ref(sst_config *config);
SST_API void sst_config_free(sst_config *config);

/*
 * sst_config_copy returns an unfrozen copy with one reference: the same settings, credentials, trust and ticket keys.
 * NULL without memory, or if config is NULL. Any thread. Since 0.1.
 */
SST_API sst_config *sst_config_copy(const sst_config *config);

/*
 * sst_config_freeze checks that streams of role (SST_ROLE_CLIENT, SST_ROLE_SERVER or SST_ROLE_BOTH) can be made, and
 * forbids changes from then on, also to the credentials and the trust.
 *
 *   SST_OK                   frozen; freezing again is fine
 *   SST_ERR_NO_CREDENTIAL    a server has no credential, or a credential has no chain or no key
 *   SST_ERR_NO_TRUST         verification is on, and there is no trust or an empty one (a server: if it asks for client
 *                            certificates)
 *   SST_ERR_LIST_TOO_LONG    the names of the client CAs, or a chain, do not fit into a handshake message
 *   SST_ERR_BAD_SUITE        TLS 1.2 only, and no TLS 1.2 suite left
 *   SST_ERR_NO_MEMORY
 *
 * A failed freeze leaves the config unfrozen. Since 0.1.
 */
SST_API sst_status sst_config_freeze(sst_config *config, int32_t role);

/*
 * sst_config_set_profile sets several settings at once. SST_PROFILE_DEFAULT: those of section 1. SST_PROFILE_COMPAT:
 * TLS 1.2 peers without extended master secret are accepted as well. The profile gives up: such a connection can be
 * bound to another one by an attacker who holds both ends of a third (RFC 7627, 1), and has no exporters. Since 0.1.
 */
SST_API sst_status sst_config_set_profile(sst_config *config, int32_t profile);

/*
 * sst_config_set_versions sets the lowest and the highest version: SST_TLS1_2 or SST_TLS1_3. SST_ERR_BAD_VERSION:
 * another number, or min above max. Default: 1.2 to 1.3. Since 0.1.
 */
SST_API sst_status sst_config_set_versions(sst_config *config, uint16_t min, uint16_t max);

/*
 * sst_config_set_groups sets the key exchange groups, best first. Known: x25519 (29), secp256r1 (23), secp384r1 (24),
 * secp521r1 (25), X25519MLKEM768 (4588), MLKEM1024 (514). A client offers key shares for the first, and for the best
 * classical one if the first is a hybrid. SST_ERR_BAD_GROUP: an unknown or repeated group, or an empty list. Default:
 * 4588, 29, 23, 24. Since 0.1.
 */
SST_API sst_status sst_config_set_groups(sst_config *config, const uint16_t *groups, size_t num_groups);

/*
 * sst_config_set_tls12_suites sets the cipher suites of TLS 1.2, best first: those with ECDHE and AES-128-GCM (0xc02b,
 * 0xc02f), AES-256-GCM (0xc02c, 0xc030) or ChaCha20-Poly1305 (0xcca9, 0xcca8). A server's order wins. The suites of
 * TLS 1.3 are not a choice. SST_ERR_BAD_SUITE: another suite, one twice, or an empty list. Default: all, AES-128
 * first. Since 0.1.
 */
SST_API sst_status sst_config_set_tls12_suites(sst_config *config, const uint16_t *suites, size_t num_suites);

/*
 * sst_config_set_signature_schemes sets the signature schemes that are accepted from the peer, best first. Known:
 * ecdsa_secp256r1_sha256 (0x0403), ecdsa_secp384r1_sha384 (0x0503), ecdsa_secp521r1_sha512 (0x0603), ed25519 (0x0807),
 * rsa_pss_rsae_sha256, 384, 512 (0x0804, 0x0805, 0x0806) and, for TLS 1.2, rsa_pkcs1_sha256, 384, 512 (0x0401, 0x0501,
 * 0x0601). SST_ERR_BAD_SCHEME: an unknown or repeated scheme, or an empty list. Default: all, in this order. Since 0.1.
 */
SST_API sst_status sst_config_set_signature_schemes(sst_config *config, const uint16_t *schemes, size_t num_schemes);

/*
 * sst_config_add_alpn adds a protocol (1 to 255 bytes) to the ALPN list, best first (RFC 7301). A server's order wins.
 * With lists on both sides and nothing in common the handshake fails with SST_ERR_NO_APPLICATION_PROTOCOL, alert 120;
 * where only one side has a list it goes on without a protocol. SST_ERR_BAD_ALPN: an empty or longer name;
 * SST_ERR_LIST_TOO_LONG: over 8,192 bytes in all. Default: no ALPN. Since 0.1.
 */
SST_API sst_status sst_config_add_alpn(sst_config *config, const uint8_t *protocol, size_t protocol_len);

/*
 * sst_config_set_alpn_lenient lets a server go on without a protocol where nothing is in common (on 1), instead of
 * failing (0, the default). It gives up the certainty that both sides speak the same protocol: look at
 * sst_stream_alpn, and beware of attacks that bring a client to a server of another protocol. Since 0.1.
 */
SST_API sst_status sst_config_set_alpn_lenient(sst_config *config, int32_t on);

/*
 * sst_config_set_verify sets how the peer's certificate is judged.
 *
 *   SST_VERIFY_FULL        chain and, for clients, name (the default)
 *   SST_VERIFY_CHAIN_ONLY  the chain alone: any name that a trusted issuer has certified passes
 *   SST_VERIFY_NONE        nothing: anybody in the middle passes. For tests and for measuring.
 *
 * Key usage is a rule of the protocol, not of trust: a leaf whose keyUsage forbids the signature is refused always,
 * with SST_ERR_KEY_USAGE (RFC 8446, 4.4.2.2). The leaf must be allowed for its role by extendedKeyUsage, where it has
 * that extension; "any" alone is not enough (RFC 5280, 4.2.1.12). Missing issuers are never fetched. A server verifies
 * client certificates, if it asks for them, in the same way, but for the name.
 *
 * Issuers may come in any order and among others; what does not parse behind the leaf is left out. Of several paths to
 * a trust anchor any good one is enough, so that an expired issuer beside its successor does no harm. A path has at
 * most 10 certificates, leaf and anchor included, and whoever issued one of them must be an authority by its basic
 * constraints; a self-signed anchor of version 1 counts as one. What an anchor says of purposes, path length and
 * names, and critical extensions in it, counts as in any other certificate; its own signature and revocation do not.
 *
 * A server's leaf with the TLS feature status_request ("must-staple", RFC 7633) is refused with
 * SST_ERR_CERT_STAPLE_MISSING where the server stapled no OCSP response; what the response says is not looked at.
 * Features that an issuer has must be in what it issues (RFC 7633, 4.2.2), else SST_ERR_CERT_OTHER. Since 0.1.
 */
SST_API sst_status sst_config_set_verify(sst_config *config, int32_t mode);

/*
 * sst_config_set_client_certificate says whether a server asks for a client certificate: NONE (the default), REQUEST
 * (asks, and goes on without), REQUIRE (SST_ERR_PEER_CERT_REQUIRED without; alert 116 in TLS 1.3, 40 in TLS 1.2). One
 * that is sent is always verified. A TLS 1.3 client's SST_OK does not say that the server took the client certificate:
 * only data decrypted from the server does (RFC 8446, 4.4.2.4). Since 0.1.
 */
SST_API sst_status sst_config_set_client_certificate(sst_config *config, int32_t mode);

/*
 * sst_config_add_client_ca adds names to the list of issuers that a server sends with its request (RFC 8446, 4.2.4).
 * ca is one or more certificates in PEM, one certificate in DER, or one X.501 Name in DER; of certificates the subject
 * is taken. An empty list accepts any issuer: the trust alone decides, and its anchors are not put on the list.
 * SST_ERR_PARSE; SST_ERR_LIST_TOO_LONG: over 65,535 bytes in all. Since 0.1.
 */
SST_API sst_status sst_config_add_client_ca(sst_config *config, const uint8_t *ca, size_t ca_len);

/*
 * sst_config_set_minimum_key sets the least size of RSA keys, in bits: 1024 to 8192. Default: 2048. A smaller one in
 * the peer's chain is SST_ERR_CERT_WEAK_KEY; one in a credential of the config is SST_ERR_UNSUPPORTED_KEY, from
 * sst_config_freeze. Since 0.1.
 */
SST_API sst_status sst_config_set_minimum_key(sst_config *config, uint32_t rsa_bits);

/*
 * sst_config_set_chain_digests sets which digests signatures in the peer's chain may use: SST_CHAIN_DIGEST_SHA2 (the
 * default), or SST_CHAIN_DIGEST_SHA1 for SHA-1 as well. Another is SST_ERR_CERT_WEAK_DIGEST. The self-signature of an
 * anchor does not count. Since 0.1.
 */
SST_API sst_status sst_config_set_chain_digests(sst_config *config, int32_t allow);

/*
 * sst_config_add_credential adds a credential. Of several, the first that the peer supports is used. A client sends
 * one only if the server asks; a credential that the server's list of schemes or issuers does not cover is not sent:
 * an empty Certificate goes out, and the server decides. SST_ERR_NO_CREDENTIAL: it has no chain or no key;
 * SST_ERR_LIST_TOO_LONG: more than 16. The config keeps a reference, and the credential is frozen. Since 0.1.
 */
SST_API sst_status sst_config_add_credential(sst_config *config, sst_credential *credential);

/*
 * sst_config_clear_credentials, sst_config_clear_alpn and sst_config_clear_client_cas empty a list, so that a copy of a
 * config can be given another one: copy, clear, add is how a certificate is reloaded. Since 0.1.
 */
SST_API sst_status sst_config_clear_credentials(sst_config *config);
SST_API sst_status sst_config_clear_alpn(sst_config *config);
SST_API sst_status sst_config_clear_client_cas(sst_config *config);

/*
 * sst_config_set_trust sets the trust; NULL removes it. The config keeps a reference, and the trust is frozen. Since
 * 0.1.
 */
SST_API sst_status sst_config_set_trust(sst_config *config, sst_trust *trust);

/*
 * sst_config_set_ticket_count sets how many session tickets a server sends after a handshake: 0 to 16. Default: 1. Each
 * costs the server work and bytes, and a client that resumes gets as many again; more than one is for clients that open
 * several connections at once, since a session is used once. TLS 1.2 sends at most one, and after a resumption only if
 * an older key had sealed the ticket that was offered. With 0 none is sent, and tickets that are out still resume.
 *
 * sst_config_set_ticket_keys sets their ring, of which the config keeps a reference; NULL gives the config a ring of
 * its own, which is the default. A copy of a config shares the ring of the first.
 *
 * sst_config_set_session_lifetime sets how long a session can be resumed, in seconds: 0 to 604,800 (RFC 8446, 4.6.1).
 * Default: 7,200. 0: sessions are neither made nor resumed, by a server or by a client. Between a server and a client
 * the shorter one counts. TLS 1.3 lets a chain of resumptions go on, each with a new ticket, up to 604,800 seconds
 * after the last handshake with certificates; in TLS 1.2 a new ticket does not make the time longer.
 *
 * A server binds its tickets to the rule under which the client was let in: whether a certificate is asked for, trust
 * with revocation lists, verification, keys and digests, ALPN; and to the server name that the client had asked for
 * (RFC 6066, 3). Under another one the handshake is a full one. Where client certificates are asked for, the
 * certificate in the ticket is verified again, whole, at each resumption: nobody who has expired or was revoked
 * resumes. A server's own certificate is no part of that: it may be renewed. Since 0.1.
 */
SST_API sst_status sst_config_set_ticket_count(sst_config *config, uint32_t n);
SST_API sst_status sst_config_set_ticket_keys(sst_config *config, sst_ticket_keys *keys);
SST_API sst_status sst_config_set_session_lifetime(sst_config *config, uint32_t lifetime_s);

/*
 * sst_config_set_early_data lets streams of this config send or take 0-RTT data (on 1; default 0). Section 10 says how.
 *
 * Early data is weaker than what comes after the handshake (RFC 8446, 2.3, 8 and E.5): it has no forward secrecy, since
 * who gets the ticket keys can read it; and an attacker may send it again, as often as he likes, to every server with
 * the same ticket keys. The library does not detect that: it keeps no list of hellos, and a ticket is good more than
 * once. What limits replays is the session lifetime, the ticket keys, and that early data is refused where the age of
 * the ticket in the hello is more than a minute off (RFC 8446, 8.3).
 *
 * A server that turns it on must, as long as a progress has SST_EARLY_DATA:
 *   - do nothing with what it has read that must not be done twice: answer requests without side effects, and keep
 *     others until the handshake is confirmed, or refuse them (for HTTP: 425 Too Early, RFC 8470);
 *   - take the peer's identity for what it is: a client certificate was proved when the session was made, and who
 *     replays early data does not have its key;
 *   - bound what answers cost, and what can be learned of their time: each can be asked for again and again.
 * Or it keeps a list: with SST_WANT_CLIENT_HELLO it sees every hello, and gives one that it has seen in the last
 * minutes (compare the binder in pre_shared_key: RFC 8446, 8.2) a config without early data. Servers that share ticket
 * keys must share that list.
 *
 * A client sends only what may be repeated: an attacker can keep a copy of early data that is lost or refused on its
 * way, and what the client sends again is then read twice. It sends few large records rather than many small ones: a
 * server that refuses must skip them, and fails the handshake where there are too many (one of this library skips
 * 16,384 bytes, headers and tags included, where its tickets allow 14,336 bytes of data). A server that has gone back
 * to TLS 1.2 cannot skip early data: after SST_ERR_NO_SHARED_VERSION connect again without the session (RFC 8446, D.3).
 * SST_ERR_INVALID_ARGUMENT, SST_ERR_FROZEN. Since 0.1.
 */
SST_API sst_status sst_config_set_early_data(sst_config *config, int32_t on);

/*
 * sst_config_set_max_fragment sets the most plaintext in a record that is sent, in bytes: 512 to 16,384, the default.
 * Smaller records reach the peer's application sooner and cost more. Since 0.1.
 */
SST_API sst_status sst_config_set_max_fragment(sst_config *config, uint32_t n);

/*
 * sst_config_set_key_update_limit sets how many records a TLS 1.3 stream sends under one key before it changes it by
 * KeyUpdate, which is the last of them: 2 to 23,726,566 (2^24.5), the default, which is the limit of AES-GCM (RFC 8446,
 * 5.5). TLS 1.2 cannot change its key: there encrypt fails with SST_ERR_KEY_EXHAUSTED after 2^24.5 records under
 * AES-GCM, whatever is set here. SST_ERR_INVALID_ARGUMENT: another number; SST_ERR_FROZEN. Since 0.1.
 */
SST_API sst_status sst_config_set_key_update_limit(sst_config *config, uint64_t records);

/*
 * sst_config_suspend_on sets which questions streams stop for: bit 1 << (status - 16) for each status SST_WANT_x of
 * section 12. Default: none; the config's own rules answer. What the caller answers need not be in the config: with
 * SST_WANT_CERTIFICATE a server needs no credential, with SST_WANT_CERTIFICATE_VERIFY verification needs no trust.
 * SST_WANT_PRIVATE_KEY_OPERATION and SST_WANT_EARLY_DATA_RETRY need no bit, and theirs changes nothing.
 * SST_ERR_INVALID_ARGUMENT: another bit; SST_ERR_FROZEN. Since 0.1.
 */
SST_API sst_status sst_config_suspend_on(sst_config *config, uint32_t mask);

/*
 * sst_config_report sets which events streams report: bit 1 << kind for each SST_EVENT_x of section 13. Default: none.
 * A client that wants sessions must ask for SST_EVENT_SESSION: else tickets are dropped as they come, and TLS 1.2 does
 * not ask for one. Since 0.1.
 */
SST_API sst_status sst_config_report(sst_config *config, uint32_t event_mask);

/*
 * sst_config_set_ech_keys gives a server its keys for Encrypted Client Hello. SST_ERR_PARSE; SST_ERR_UNSUPPORTED in
 * this version. Since 0.1.
 */
SST_API sst_status sst_config_set_ech_keys(sst_config *config, const uint8_t *keys, size_t keys_len);

/*
 * sst_config_last_error copies the record of the last failed call on config, sst_stream_new included; code is SST_OK
 * if none failed. SST_OK, or SST_ERR_INVALID_ARGUMENT. Any thread. Since 0.1.
 */
SST_API sst_status sst_config_last_error(const sst_config *config, sst_error *error);

/* ===================================================================================================================
 * 9  STREAMS: MAKING ONE, AND WHAT IS SET BEFORE THE FIRST BYTE
 *
 * Setters of this section are for the time before the first handshake call: SST_ERR_STATE later. They return SST_OK,
 * SST_ERR_INVALID_ARGUMENT, SST_ERR_NO_MEMORY or SST_ERR_FORKED besides what they name.
 * ================================================================================================================ */

enum { SST_OPTION_LEAVE_PARTIAL = 1 };

/*
 * sst_stream_new makes a stream of role SST_ROLE_CLIENT or SST_ROLE_SERVER in *stream, and freezes config for that
 * role. The stream keeps a reference to config.
 *
 * A server stream may be made with config NULL: it stops with SST_WANT_CLIENT_HELLO for a config.
 *
 *   SST_OK                    made
 *   SST_ERR_INVALID_ARGUMENT  stream or a client's config is NULL, or another role
 *   the errors of sst_config_freeze, with their record on config
 *   SST_ERR_NO_MEMORY
 *
 * After an error *stream is NULL. Any thread. Since 0.1.
 */
SST_API sst_status sst_stream_new(sst_config *config, int32_t role, sst_stream **stream);

/*
 * sst_stream_free frees stream, in any state, and sends nothing: a peer that was not sent close_notify sees a
 * truncation. It must be the last call. NULL is ignored. Since 0.1.
 */
SST_API void sst_stream_free(sst_stream *stream);

/*
 * sst_stream_set_options sets a mask of options.
 *
 * SST_OPTION_LEAVE_PARTIAL: decrypt leaves a record that has not come whole in the caller's buffer, and
 * progress->needed says how many bytes it lacks; no ciphertext is copied or kept. The receive buffer must then hold
 * SST_RECORD_MAX bytes. SST_ERR_INVALID_ARGUMENT: an unknown option. Default: 0. Since 0.1.
 */
SST_API sst_status sst_stream_set_options(sst_stream *stream, uint32_t options);

/*
 * sst_stream_set_server_name sets the host that a client wants to reach. sst_stream_set_verify_name sets the name that
 * the peer's certificate must have; by default a client's is its server name, a server's is none.
 *
 * A name is a DNS name in ASCII, or an IPv4 or IPv6 address (brackets are dropped). The library does no IDNA
 * conversion: pass the A-label form ("xn--..."). A trailing dot is dropped. A DNS name goes out as server name
 * extension (RFC 6066, 3), an address does not, and is compared with iPAddress entries only. Names are compared with
 * the certificate's subject alternative names only, never the common name; a wildcard stands for one whole left-most
 * label of letters, digits and hyphens (RFC 9525, 6.3). An empty name removes it. A client that verifies fully and has
 * no verify name fails with SST_ERR_NO_EXPECTED_NAME before a byte goes out: set a name, or choose
 * SST_VERIFY_CHAIN_ONLY.
 *
 *   SST_ERR_BAD_HOST  bytes that no host name has (others than letters, digits, hyphen, underscore and dot), a label
 *                     of 0 or over 63 bytes, over 253 bytes, or what only resembles an address ("256.1.1.1",
 *                     "::1%eth0", a last label that is a number)
 *   SST_ERR_STATE     after the first byte; sst_stream_set_server_name on a server stream
 *
 * Since 0.1.
 */
SST_API sst_status sst_stream_set_server_name(sst_stream *stream, const char *name, size_t name_len);
SST_API sst_status sst_stream_set_verify_name(sst_stream *stream, const char *name, size_t name_len);

/*
 * sst_stream_set_session gives a client the session to resume; NULL removes it. The stream keeps a reference until the
 * handshake has ended.
 *
 * A session that does not fit is not offered, and the handshake is a full one; that is no error. It fits if it has not
 * been used (see sst_session_set_reusable) and not expired, if server name, verify name and the config's credentials
 * are those of the stream that it came from, if the config allows its version, suite and signature scheme, and if the
 * peer's chain that is stored in it is good now, which is looked at before the first byte goes out: it is verified
 * whole under the present config; only where trust and rules are those under which it was found good, the trust has no
 * revocation lists, and the session was not loaded from bytes, its times alone are compared. The server may decline it
 * still: SST_INFO_RESUMED tells.
 *
 * SST_ERR_INVALID_ARGUMENT: an empty session; SST_ERR_STATE on a server, or after the first byte. Since 0.1.
 */
SST_API sst_status sst_stream_set_session(sst_stream *stream, sst_session *session);

/*
 * sst_stream_set_verify_time sets the time at which certificates are judged, in seconds since 1970 UTC. Default: the
 * time of the handshake. Since 0.1.
 */
SST_API sst_status sst_stream_set_verify_time(sst_stream *stream, int64_t unix_s);

/*
 * sst_stream_set_max_fragment sets the most plaintext in a record that this stream sends: 512 to 16,384. Default: the
 * config's. Since 0.1.
 */
SST_API sst_status sst_stream_set_max_fragment(sst_stream *stream, uint32_t n);

/*
 * sst_stream_set_ech_config gives a client the ECHConfigList of the server. SST_ERR_PARSE; SST_ERR_STATE on a server;
 * SST_ERR_UNSUPPORTED in this version. Since 0.1.
 */
SST_API sst_status sst_stream_set_ech_config(sst_stream *stream, const uint8_t *list, size_t list_len);

/* ===================================================================================================================
 * 10  STREAMS: THE CALLS THAT MOVE BYTES
 *
 * Each takes input from the caller's buffer, writes output to the caller's room, and tells in a status what the next
 * step needs, and in a progress what was done. Progress is valid with every status, errors included; it is all zero
 * after SST_ERR_INVALID_ARGUMENT, SST_ERR_BUSY and SST_ERR_FORKED. A NULL progress is SST_ERR_INVALID_ARGUMENT.
 *
 * Allocation. In steady state the record path allocates nothing when records arrive whole (or with
 * SST_OPTION_LEAVE_PARTIAL) and out takes them; otherwise one buffer for a cut or kept record, freed when it is
 * drained. An idle stream holds no record buffer: budget 2.5 KiB of heap for an idle TLS stream (3.5 KiB for a TLS 1.3
 * client that wants sessions), its peer's certificates, which are shared, not counted.
 *
 * 0-RTT (sst_config_set_early_data; RFC 8446, 2.3). Client: with a session that allows it handshake returns
 * SST_NEED_INPUT with SST_EARLY_DATA; encrypt is legal up to sst_stream_early_data_left bytes (a longer input is
 * SST_ERR_STATE, and none of it is taken); wire input goes to handshake. Server: handshake returns SST_OK with
 * SST_EARLY_DATA once early keys exist, and the stream is open (SST_STATE_HANDSHAKE stays set); decrypt gives early
 * data and then finishes the handshake itself, encrypt may answer already. One call gives early or later data, never
 * both: with SST_EARLY_DATA in the progress of a decrypt call what it gave is early (and SST_NEED_OUTPUT says that
 * later data waits in the input). The flag stays until the handshake is confirmed. Refused early data is always
 * reported to a client that has sent some (SST_WANT_EARLY_DATA_RETRY): this server has not read it, and the caller
 * sends it again. A client that has sent none is not asked; the flag goes, and sst_stream_early_data_left is 0. The end
 * of the transport before the confirmation is SST_ERR_HANDSHAKE_EOF, and so is close_notify: whoever replays early data
 * can replay that too. A server that closes before the confirmation sends close_notify behind it: it must go on reading
 * until then, and flush. Until confirmed, one thread only: a second one gets SST_ERR_BUSY, and key_update is
 * SST_ERR_STATE.
 * ================================================================================================================ */

enum {
  SST_RECORD_MAX = 16709, /* the longest TLS record: least receive buffer with LEAVE_PARTIAL */
  SST_FRAME_MAX = 65540   /* the longest Negotiate frame */
};

/* What a call did, and what waits. The layout never changes. */
typedef struct sst_progress {
  size_t consumed;   /* bytes of in that may be forgotten; a repeat goes on behind them, from any buffer */
  size_t produced;   /* bytes written to out (decrypt_in_place: plaintext bytes in ranges) */
  size_t needed;     /* NEED_INPUT: bytes missing for the record in progress, 1 or more. NEED_OUTPUT: a room that makes
                        progress (decrypt_in_place: 0) */
  size_t waiting;    /* wire bytes to flush; after decrypt: plaintext kept */
  uint32_t flags;    /* SST_HAS_OUTPUT ...: levels, not edges */
  uint32_t reserved; /* 0 */
} sst_progress;

/* Where a piece of plaintext lies in the buffer of sst_stream_decrypt_in_place. The layout never changes. */
typedef struct sst_range {
  size_t offset;
  size_t length;
} sst_range;

/* A piece of input of sst_stream_encryptv. The layout never changes. */
typedef struct sst_slice {
  const uint8_t *data;
  size_t length;
} sst_slice;

enum {
  SST_HAS_OUTPUT = 1,    /* wire bytes wait: the next encrypt, flush, close or handshake writes them first */
  SST_HAS_PLAINTEXT = 2, /* plaintext is kept: the next decrypt gives it out first */
  SST_HAS_EVENT = 4,     /* sst_stream_next_event has something */
  SST_EARLY_DATA = 8     /* 0-RTT, see above */
};

/*
 * sst_stream_handshake performs the handshake.
 *
 * Takes wire bytes from in and writes wire bytes to out: the messages of one step lie in one piece, to be sent by one
 * write (and with TCP_NODELAY: small writes that meet delayed acknowledgements cost 40 ms and more). A client's first
 * call takes no input. It takes no byte beyond the handshake: data behind the last flight stays with the caller, for
 * decrypt.
 *
 *   SST_OK                        finished, and the last flight is written. SST_HAS_OUTPUT: a TLS 1.3 server's session
 *                                 tickets wait. They are no part of the handshake and go out first with whatever is
 *                                 sent next; send them with the first write, or when a first read would wait. A stream
 *                                 that never sends them works as well
 *   SST_NEED_INPUT                send what was produced, then give wire bytes
 *   SST_NEED_OUTPUT               out is full; needed is all that waits
 *   SST_WANT_x                    a question (section 12)
 *   SST_ERR_NO_EXPECTED_NAME      a client that verifies fully, without a name; nothing was produced, no alert is sent
 *   SST_ERR_HANDSHAKE_EOF         sst_stream_input_eof was called and more input is needed, or close_notify came
 *   SST_ERR_CLOSED                sst_stream_close was called before the handshake had finished
 *   SST_ERR_BUSY, SST_ERR_FORKED, SST_ERR_INVALID_ARGUMENT
 *   errors -4xx, -5xx, -1000 - n  the handshake failed. The alert for the peer is in out already; SST_HAS_OUTPUT says
 *                                 whether more of it waits, and a repeat (or flush) writes it.
 *
 * After the handshake: SST_OK, consumed 0. Receiving and sending set at once. RFC 8446, 4; RFC 5246, 7.3. Since 0.1.
 */
SST_API sst_status sst_stream_handshake(sst_stream *stream, const uint8_t *in, size_t in_len, uint8_t *out,
                                        size_t out_cap, sst_progress *progress);

/*
 * sst_stream_encrypt seals application data into whole records.
 *
 * Takes plaintext from in and writes records to out. What waits to be flushed is written first. Records are cut at the
 * maximal fragment and at the end of in; only the first record of a call is shortened to fit out, and no short record
 * stands behind a full one. Encrypting nothing sends nothing: no empty record goes out.
 *
 *   SST_OK            all of in is encrypted
 *   SST_NEED_OUTPUT   out has no room for the rest; needed bytes make progress. With consumed 0 no plaintext was taken,
 *                     and the next call may bring other plaintext (waiting output may have been written)
 *   SST_ERR_STATE     the handshake is not finished (but see 0-RTT above)
 *   SST_ERR_CLOSED    sst_stream_close was called
 *   SST_ERR_BUSY      another thread is sending on this stream
 *   SST_ERR_FORKED, SST_ERR_INVALID_ARGUMENT
 *   the stream's failure, the same at every call
 *
 * A TLS 1.2 peer may drop our data after its own close_notify (RFC 5246, 7.2.1). Sending set. RFC 8446, 5.1 and 5.2.
 * Since 0.1.
 */
SST_API sst_status sst_stream_encrypt(sst_stream *stream, const uint8_t *in, size_t in_len, uint8_t *out,
                                      size_t out_cap, sst_progress *progress);

/*
 * sst_stream_encrypt2 is sst_stream_encrypt over head and body as if they stood one behind the other: a header of a
 * protocol and its payload share records without being joined by the caller. sst_stream_encryptv takes any number of
 * slices. consumed counts over all pieces. Pieces must not overlap out. Otherwise as sst_stream_encrypt. Since 0.1.
 */
SST_API sst_status sst_stream_encrypt2(sst_stream *stream, const uint8_t *head, size_t head_len, const uint8_t *body,
                                       size_t body_len, uint8_t *out, size_t out_cap, sst_progress *progress);
SST_API sst_status sst_stream_encryptv(sst_stream *stream, const sst_slice *slices, size_t num_slices, uint8_t *out,
                                       size_t out_cap, sst_progress *progress);

/*
 * sst_stream_decrypt opens records.
 *
 * Takes wire bytes from in and writes plaintext to out, of many records per call. A record is opened if its longest
 * possible plaintext fits the rest of out, or if nothing was produced in this call; only then may a rest be kept
 * inside, and the next call gives it out first. A record that is not whole is taken in and kept (with
 * SST_OPTION_LEAVE_PARTIAL it stays in in). Room of in_len + SST_RECORD_MAX (with LEAVE_PARTIAL: in_len + the
 * plaintext kept) never leaves a rest, plaintext kept before included. With out_cap 0 the next record is opened to
 * learn what it is. Handshake messages after the handshake and alerts are handled on the way. Nothing is consumed
 * behind close_notify: what follows belongs to the caller's next protocol.
 *
 *   SST_NEED_INPUT     all that was given is processed: the usual answer, with produced > 0 where there was data.
 *                      produced 0 is no end of the data: empty records are legal
 *   SST_NEED_OUTPUT    plaintext is kept, or the next record needs more room; needed is enough for it
 *   SST_CLOSED         the peer's close_notify was reached; comes with the plaintext before it, and again later
 *   SST_ERR_TRUNCATED  sst_stream_input_eof was called, in holds no whole record and nothing is kept. All plaintext
 *                      that was received before has been given out
 *   SST_ERR_STATE      the handshake is not finished (but see 0-RTT above)
 *   SST_ERR_CLOSED     sst_stream_close ended the stream before the handshake had finished
 *   SST_ERR_BUSY       another thread is receiving on this stream
 *   SST_ERR_FORKED, SST_ERR_INVALID_ARGUMENT
 *   errors -4xx, -1000 - n   a record was bad, or the peer sent an alert; comes when all plaintext before it has been
 *                      given out. The alert for the peer, if there is one, waits for flush
 *   the stream's failure, the same at every call
 *
 * (close_notify behind data that fills out exactly shows as SST_NEED_OUTPUT first: what it is, is not known before it
 * is opened.) Reading may make an answer that must be sent: SST_HAS_OUTPUT. Receiving set. RFC 8446, 5 and 6.1. Since
 * 0.1.
 */
SST_API sst_status sst_stream_decrypt(sst_stream *stream, const uint8_t *in, size_t in_len, uint8_t *out,
                                      size_t out_cap, sst_progress *progress);

/*
 * sst_stream_decrypt_in_place opens the whole records in buf, the caller's receive buffer, and lists in ranges where
 * their plaintexts lie in buf: at most num_ranges, *ranges_used of them valid. Bytes of buf outside the ranges and
 * before consumed are lost. A record that is not whole stays, as with SST_OPTION_LEAVE_PARTIAL.
 *
 *   SST_NEED_OUTPUT  ranges is full and another whole record stands in buf (needed is 0): it has not been opened
 *   SST_ERR_STATE    also if sst_stream_decrypt has kept plaintext or taken in a cut record: complete it there first
 *   the others as sst_stream_decrypt
 *
 * *ranges_used is set with every status. Receiving set. Since 0.1.
 */
SST_API sst_status sst_stream_decrypt_in_place(sst_stream *stream, uint8_t *buf, size_t buf_len, sst_range *ranges,
                                               size_t num_ranges, size_t *ranges_used, sst_progress *progress);

/*
 * sst_stream_flush writes the wire bytes that wait: the rest of a flight, an alert, an answer to KeyUpdate.
 *
 *   SST_OK           nothing waits any more
 *   SST_NEED_OUTPUT  out is full; needed is all that waits
 *   SST_ERR_BUSY, SST_ERR_FORKED, SST_ERR_INVALID_ARGUMENT
 *
 * In every state. Sending set. Since 0.1.
 */
SST_API sst_status sst_stream_flush(sst_stream *stream, uint8_t *out, size_t out_cap, sst_progress *progress);

/*
 * sst_stream_close ends our sending with close_notify, which is written to out behind what waits (RFC 8446, 6.1).
 *
 * It is a half-close, in TLS 1.2 as well: decrypt goes on until SST_CLOSED, and data that is in flight towards us is
 * not lost. The library never answers a close_notify by itself. Before the handshake has finished there is nothing to
 * close: no alert is made, the stream is ended, and what waits may still be flushed. Closing again is fine.
 *
 * Room of sst_stream_output_size + 64 bytes is always enough.
 *
 *   SST_OK           sent, and nothing waits
 *   SST_NEED_OUTPUT  out is full; needed is all that waits; flush or close writes it
 *   SST_ERR_BUSY, SST_ERR_FORKED, SST_ERR_INVALID_ARGUMENT, SST_ERR_NO_MEMORY
 *
 * Sending set. Since 0.1.
 */
SST_API sst_status sst_stream_close(sst_stream *stream, uint8_t *out, size_t out_cap, sst_progress *progress);

/*
 * sst_stream_abort ends the stream at once with a fatal alert of the caller's choice, 1 to 255. The alert waits for
 * flush. The stream has then failed with SST_ERR_ABORTED; plaintext that is kept can still be read.
 *
 *   SST_OK          the stream has failed, the alert waits
 *   SST_ERR_CLOSED  sst_stream_close was called: nothing may follow close_notify
 *   SST_ERR_BUSY, SST_ERR_FORKED, SST_ERR_INVALID_ARGUMENT
 *   the stream's failure, if it had failed already
 *
 * Sending set. Since 0.1.
 */
SST_API sst_status sst_stream_abort(sst_stream *stream, int32_t alert);

/*
 * sst_stream_input_eof says that the transport has ended: no wire byte will come after those that the caller holds.
 * What was received before is delivered first. A handshake that needs more then fails with SST_ERR_HANDSHAKE_EOF,
 * decrypt without close_notify ends with SST_ERR_TRUNCATED; sending goes on. SST_OK in every state; SST_ERR_BUSY,
 * SST_ERR_FORKED. Receiving set. Since 0.1.
 */
SST_API sst_status sst_stream_input_eof(sst_stream *stream);

/*
 * sst_stream_key_update changes our sending keys; with request_peer 1 it asks the peer to change its own as well (RFC
 * 8446, 4.6.3). The message waits for flush or for the next encrypt. SST_OK: queued; SST_ERR_STATE before the
 * handshake has finished; SST_ERR_CLOSED after sst_stream_close; SST_ERR_UNSUPPORTED with TLS 1.2 and Negotiate;
 * SST_ERR_INVALID_ARGUMENT, SST_ERR_BUSY, SST_ERR_FORKED; SST_ERR_NO_MEMORY, after which it may be called again; the
 * stream's failure. Sending set. Since 0.1.
 */
SST_API sst_status sst_stream_key_update(sst_stream *stream, int32_t request_peer);

/*
 * sst_stream_encrypted_size returns room that is always enough to encrypt n bytes in one call: what waits now, an
 * answer to KeyUpdate and a KeyUpdate of our own included. SIZE_MAX where it does not fit a size_t. Since 0.1.
 */
SST_API size_t sst_stream_encrypted_size(const sst_stream *stream, size_t n);

/*
 * sst_stream_early_data_left returns how many bytes of 0-RTT data a client may still encrypt: at first what the session
 * allows (sst_session_info), 0 where there is no 0-RTT, or none any more: refused, over, closed or failed. Any thread.
 * Since 0.1.
 */
SST_API size_t sst_stream_early_data_left(const sst_stream *stream);

/* ===================================================================================================================
 * 11  STREAMS: FACTS
 *
 * Facts are copied when the handshake ends; before, they are "none" or 0. During 0-RTT a server's are right already. A
 * client's version, suite, ALPN, server name and peer certificates are then those of the session: early data is sent
 * under them. If it is refused, or the stream ends, they are gone.
 * ================================================================================================================ */

enum {
  SST_STATE_HANDSHAKE = 1,
  SST_STATE_SUSPENDED = 2,
  SST_STATE_OPEN = 4,
  SST_STATE_WE_CLOSED = 8,
  SST_STATE_PEER_CLOSED = 16,
  SST_STATE_TRUNCATED = 32,
  SST_STATE_FAILED = 64,
  SST_STATE_ENDED_EARLY = 128
};

/*
 * sst_stream_state returns the state as a set of SST_STATE_x bits; 0 before the first byte. HANDSHAKE and OPEN stay
 * beside FAILED and tell how far it came. Any thread, any time. Since 0.1.
 */
SST_API uint32_t sst_stream_state(const sst_stream *stream);

enum {
  SST_INFO_RESUMED = 1,
  SST_INFO_VERIFIED = 2, /* the peer's certificate was verified: chain, and name unless opted out */
  SST_INFO_EARLY_DATA_ACCEPTED = 4,
  SST_INFO_HELLO_RETRY = 8,
  SST_INFO_ECH_ACCEPTED = 16,
  SST_INFO_EXTENDED_MASTER_SECRET = 32 /* set with TLS 1.3 too */
};

/* What was negotiated, in IANA numbers; 0: none yet, or not used (a peer without a certificate has no scheme). */
typedef struct sst_stream_info {
  uint32_t size; /* in: sizeof(sst_stream_info) */
  uint16_t version;
  uint16_t suite;
  uint16_t group;
  uint16_t peer_scheme;  /* signature scheme of the peer's certificate */
  uint16_t local_scheme; /* of ours */
  uint16_t reserved;
  uint32_t flags; /* SST_INFO_x */
} sst_stream_info;

/*
 * sst_stream_get_info fills info with what was negotiated. SST_OK, or SST_ERR_INVALID_ARGUMENT. Since 0.1.
 */
SST_API sst_status sst_stream_get_info(const sst_stream *stream, sst_stream_info *info);

/*
 * sst_stream_alpn copies the protocol that ALPN chose. sst_stream_server_name copies the DNS name of the server name
 * extension that a client sent: our own, or the peer's. sst_stream_ocsp_response (DER, RFC 6960) and sst_stream_scts
 * (SignedCertificateTimestampList, RFC 6962, 3.3) copy what the server stapled for a client, which always asks for both.
 * Nobody has checked what they say: neither signature nor time, nor whether they are of this certificate.
 * sst_stream_describe copies one line of text for logs, for example "TLS 1.3,
 * TLS_AES_128_GCM_SHA256, x25519, client, peer verified". Getters of variable size (section 1). Since 0.1.
 */
SST_API sst_status sst_stream_alpn(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len);
SST_API sst_status sst_stream_server_name(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len);
SST_API sst_status sst_stream_ocsp_response(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len);
SST_API sst_status sst_stream_scts(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len);
SST_API sst_status sst_stream_describe(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len);

/*
 * sst_stream_num_peer_certificates returns how many certificates the peer sent; 0 until the handshake has succeeded,
 * so that a chain that was not judged is never shown here, but to who is asked to judge it
 * (SST_WANT_CERTIFICATE_VERIFY). Since 0.1.
 */
SST_API size_t sst_stream_num_peer_certificates(const sst_stream *stream);

/*
 * sst_stream_peer_certificate copies certificate index of what the peer sent, in DER; 0 is the leaf.
 * sst_stream_verified_certificate copies certificate index of the path that was built from it to a trust anchor
 * (none if it was not verified). sst_stream_local_certificate copies certificate index of what we sent. Getters of
 * variable size (section 1). Since 0.1.
 */
SST_API sst_status sst_stream_peer_certificate(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap,
                                               size_t *out_len);
SST_API sst_status sst_stream_verified_certificate(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap,
                                                   size_t *out_len);
SST_API sst_status sst_stream_local_certificate(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap,
                                                size_t *out_len);

/*
 * sst_stream_refused_certificate copies certificate index of the chain that verification refused, as the peer sent it,
 * in DER; 0 is the leaf. It is there for messages and logs once the stream has failed with a code of the certificate
 * band (-5xx), SST_ERR_KEY_USAGE, or SST_ERR_REJECTED at that question, and none otherwise. Nothing in it may be trusted: anybody can send it. Any thread.
 * A getter of variable size (section 1). Since 0.1.
 */
SST_API sst_status sst_stream_refused_certificate(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap,
                                                  size_t *out_len);

enum { SST_BINDING_TLS_UNIQUE = 0, SST_BINDING_TLS_SERVER_END_POINT = 1, SST_BINDING_TLS_EXPORTER = 2 };
enum { SST_DIRECTION_SEND = 0, SST_DIRECTION_RECEIVE = 1 };

/*
 * sst_stream_channel_binding copies a channel binding, which both ends have and no other connection has:
 *
 *   SST_BINDING_TLS_EXPORTER          32 bytes (RFC 9266); the one to prefer
 *   SST_BINDING_TLS_UNIQUE            12 bytes, TLS 1.2 only (RFC 5929, 3; RFC 9266, 3.1)
 *   SST_BINDING_TLS_SERVER_END_POINT  a hash of the server's leaf (RFC 5929, 4), which is the same for all connections to
 *                                     that server; a leaf signed with Ed25519 has none
 *
 * A getter of variable size (section 1). SST_ERR_STATE before the handshake has finished; SST_ERR_UNSUPPORTED where it
 * is not defined, and, but for the end point, without extended master secret (RFC 7627, 5.4); SST_ERR_NO_MEMORY. Works
 * on to the end of the stream and after it. Any thread once the handshake has finished. Since 0.1.
 */
SST_API sst_status sst_stream_channel_binding(const sst_stream *stream, int32_t kind, uint8_t *out, size_t out_cap,
                                              size_t *out_len);

/*
 * sst_stream_traffic_secret copies the TLS 1.3 traffic secret (RFC 8446, 7.2) that protects direction, SST_DIRECTION_x,
 * now: the newest after KeyUpdates. It is for a record layer outside, as the kernel's, and for analysis. Whoever has it
 * reads and writes the rest of that direction.
 *
 * Another record layer needs the number of the next record as well (RFC 8446, 5.3). For sending it is 0 after
 * sst_stream_key_update and a flush that returned SST_OK. For receiving it is SST_COUNTER_RECORDS_RECEIVED while
 * SST_COUNTER_KEY_UPDATES_RECEIVED is 0. The stream must not move bytes in a direction that was given away.
 *
 * A getter of variable size (section 1). SST_ERR_STATE before the handshake has finished; SST_ERR_UNSUPPORTED with TLS
 * 1.2, which has a block of keys instead; SST_ERR_FORKED. Any thread once the handshake has finished, also while others
 * send and receive. Since 0.1.
 */
SST_API sst_status sst_stream_traffic_secret(const sst_stream *stream, int32_t direction, uint8_t *out, size_t out_cap,
                                             size_t *out_len);

/*
 * sst_stream_export_key fills out with out_cap bytes of keying material for label and context (RFC 8446, 7.5; RFC
 * 5705): both ends get the same, and nobody else. context NULL is no context. In TLS 1.3 that is the same as an empty
 * one; in TLS 1.2 it is another key (RFC 5705, 4). Which of the two is meant is for the protocol that defines the label
 * to say.
 *
 *   SST_OK                    out is filled; out_cap 0 is fine
 *   SST_ERR_INVALID_ARGUMENT  label_len is 0 or over 249 (RFC 8446, 7.1); context_len is over 65,535; out_cap is over
 *                             8,160; label is one of TLS 1.2 itself, "client finished", "server finished", "master
 *                             secret", "extended master secret", "key expansion"
 *   SST_ERR_STATE             the handshake has not finished
 *   SST_ERR_UNSUPPORTED       there is no extended master secret (RFC 7627, 5.4)
 *   SST_ERR_NO_MEMORY
 *
 * After an error out holds no key. Works on to the end of the stream and after it. Any thread once the handshake has
 * finished. RFC 8446, 7.5; RFC 5705. Since 0.1.
 */
SST_API sst_status sst_stream_export_key(const sst_stream *stream, const char *label, size_t label_len,
                                         const uint8_t *context, size_t context_len, uint8_t *out, size_t out_cap);

enum {
  SST_COUNTER_RECORDS_SENT = 0,     /* records of application data */
  SST_COUNTER_RECORDS_RECEIVED = 1, /* records taken by decrypt, of any type */
  SST_COUNTER_BYTES_ENCRYPTED = 2,  /* application data */
  SST_COUNTER_BYTES_DECRYPTED = 3,
  SST_COUNTER_WIRE_SENT = 4, /* bytes written to the caller's room, handshake included */
  SST_COUNTER_WIRE_RECEIVED = 5,
  SST_COUNTER_KEY_UPDATES_SENT = 6,
  SST_COUNTER_KEY_UPDATES_RECEIVED = 7,
  SST_COUNTER_EVENTS_LOST = 8
};

/*
 * sst_stream_counter returns a counter of the stream; 0 for unknown ones. sst_stream_output_size returns how many wire
 * bytes wait, sst_stream_plaintext_size how many bytes of plaintext are kept. Any thread, any time. Since 0.1.
 */
SST_API uint64_t sst_stream_counter(const sst_stream *stream, int32_t which);
SST_API size_t sst_stream_output_size(const sst_stream *stream);
SST_API size_t sst_stream_plaintext_size(const sst_stream *stream);

/*
 * sst_stream_last_error copies the record of the failure that ended the stream; code is SST_OK while there is none. It
 * is written once and never changes, but that a truncation gives way to a later failure. SST_OK, or
 * SST_ERR_INVALID_ARGUMENT. Any thread, any time. Since 0.1.
 */
SST_API sst_status sst_stream_last_error(const sst_stream *stream, sst_error *error);

/* ===================================================================================================================
 * 12  STREAMS: QUESTIONS AND THEIR ANSWERS
 *
 * What other libraries ask by callback is a status here. The call returns SST_WANT_x; getters give the facts; one
 * setter posts the answer, once, from any thread, any time later, and never gets SST_ERR_BUSY; the next handshake call
 * (empty input is fine) goes on. Questions are off unless asked for (sst_config_suspend_on); then the config's own
 * rules answer. Facts stay valid until the answer. SST_ERR_STATE: that question is not open, or is answered already.
 *
 * While a question is open: handshake gives the same status and takes nothing (output that waits goes first), flush
 * works, close and abort end the stream; encrypt and decrypt are SST_ERR_STATE. A stream that was closed, has failed or
 * was freed asks nothing any more.
 *
 *   WANT_CLIENT_HELLO           which config? (always, for a server stream made with no config)
 *   WANT_CERTIFICATE            which credential?
 *   WANT_CERTIFICATE_VERIFY     is this peer good? The library's own verdict with all reasons is offered
 *   WANT_PRIVATE_KEY_OPERATION  the signature, please (always, for a credential whose caller signs)
 *   WANT_SESSION                the session of this id? (TLS 1.2 servers, for clients without tickets: such a session
 *                               comes to the server as an SST_EVENT_SESSION, and stays with it)
 *   WANT_TICKET_DECRYPT         the plaintext of this ticket? (a ticket that no key of the ring opens)
 *   WANT_EARLY_DATA_RETRY       early data was not taken: send it again (always)
 * ================================================================================================================ */

enum { SST_HELLO_SUITES = 0, SST_HELLO_GROUPS = 1, SST_HELLO_SCHEMES = 2, SST_HELLO_VERSIONS = 3 };
enum { SST_OPERATION_SIGN = 0 };

/*
 * sst_stream_client_hello copies the ClientHello message, without its 4-byte header (RFC 8446, 4.1.2).
 * sst_stream_client_hello_list copies one of its lists (SST_HELLO_x) as numbers. sst_stream_client_hello_alpn copies
 * protocol index of its ALPN list, sst_stream_client_hello_extension the body of an extension. The server name comes
 * from sst_stream_server_name, which works at every question. While SST_WANT_CLIENT_HELLO is open; none otherwise.
 * After HelloRetryRequest there is no second question. Getters of variable size (section 1). Since 0.1.
 */
SST_API sst_status sst_stream_client_hello(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len);
SST_API sst_status sst_stream_client_hello_list(const sst_stream *stream, int32_t list, uint16_t *out, size_t out_cap,
                                                size_t *out_len);
SST_API sst_status sst_stream_client_hello_alpn(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap,
                                                size_t *out_len);
SST_API sst_status sst_stream_client_hello_extension(const sst_stream *stream, uint16_t type, uint8_t *out,
                                                     size_t out_cap, size_t *out_len);

/*
 * sst_stream_accepted_schemes copies the signature schemes that the peer accepts, sst_stream_accepted_ca issuer name
 * index (DER) of those that it accepts: a server's CertificateRequest, or a client's certificate_authorities (RFC 8446,
 * 4.2.4); none: any. While SST_WANT_CERTIFICATE is open; none otherwise. Getters of variable size (section 1). Since
 * 0.1.
 */
SST_API sst_status sst_stream_accepted_schemes(const sst_stream *stream, uint16_t *out, size_t out_cap,
                                               size_t *out_len);
SST_API sst_status sst_stream_accepted_ca(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap,
                                          size_t *out_len);

/*
 * sst_stream_verdict copies the library's own verdict on the peer's chain, under the rules of the config: code is SST_OK
 * if it is good (with SST_VERIFY_NONE it always is), reasons has all faults. The chain itself comes from
 * sst_stream_peer_certificate, what is stapled from sst_stream_ocsp_response and sst_stream_scts. The peer has not
 * proved yet that it has the key. While SST_WANT_CERTIFICATE_VERIFY is open; SST_ERR_STATE otherwise. Since 0.1.
 */
SST_API sst_status sst_stream_verdict(const sst_stream *stream, sst_error *error);

/*
 * sst_stream_private_key_operation tells what the private key must do: *operation is SST_OPERATION_SIGN, *scheme the
 * signature scheme, and the whole message to sign, not hashed, is copied to out: 100 to 146 bytes, but a TLS 1.2 client
 * signs all messages of the handshake so far, of any length. The chain whose key is wanted comes from
 * sst_stream_local_certificate. While SST_WANT_PRIVATE_KEY_OPERATION is open; SST_ERR_STATE otherwise. A getter of
 * variable size (section 1). Since 0.1.
 */
SST_API sst_status sst_stream_private_key_operation(const sst_stream *stream, int32_t *operation, uint16_t *scheme,
                                                    uint8_t *out, size_t out_cap, size_t *out_len);

/*
 * sst_stream_ticket copies the ticket while SST_WANT_TICKET_DECRYPT is open; sst_stream_session_id copies the session
 * id while SST_WANT_SESSION is open. Getters of variable size (section 1). Since 0.1.
 */
SST_API sst_status sst_stream_ticket(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len);
SST_API sst_status sst_stream_session_id(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len);

/*
 * sst_stream_set_config answers SST_WANT_CLIENT_HELLO with a whole config: nothing of an earlier one stays in force.
 * The stream keeps a reference; what was set on the stream itself (options, verification time, fragment size) stays.
 * SST_WANT_CLIENT_HELLO in that config is not asked again. The errors of sst_config_freeze, with their record on config;
 * SST_ERR_STATE, SST_ERR_FORKED. Since 0.1.
 */
SST_API sst_status sst_stream_set_config(sst_stream *stream, sst_config *config);

/*
 * sst_stream_set_credential answers SST_WANT_CERTIFICATE; NULL: none: a client sends an empty Certificate, a server fails
 * with SST_ERR_NO_CREDENTIAL and handshake_failure. The stream keeps a reference, and nothing can be loaded into the
 * credential any more. It is sent whatever issuers the peer names; where it can sign with no scheme of the peer's, the
 * handshake fails with SST_ERR_NO_COMMON_SCHEME. SST_ERR_NO_CREDENTIAL: it has no chain or no key;
 * SST_ERR_UNSUPPORTED_KEY: it has an RSA key below the least size of the config (sst_config_set_minimum_key); the
 * question stays open then. SST_ERR_STATE, SST_ERR_FORKED. Since 0.1.
 */
SST_API sst_status sst_stream_set_credential(sst_stream *stream, sst_credential *credential);

/*
 * sst_stream_accept answers SST_WANT_CERTIFICATE_VERIFY with yes, whatever the verdict; SST_INFO_VERIFIED is set only if
 * that was good. sst_stream_accept_default answers it with the library's own verdict. SST_ERR_STATE, SST_ERR_FORKED.
 * Since 0.1.
 */
SST_API sst_status sst_stream_accept(sst_stream *stream);
SST_API sst_status sst_stream_accept_default(sst_stream *stream);

/*
 * sst_stream_reject answers any question with no: at the next handshake call the stream fails with SST_ERR_REJECTED,
 * and alert (1 to 255) goes to the peer. -1 is the usual one: unrecognized_name (112) for SST_WANT_CLIENT_HELLO, that
 * of the verdict, or certificate_unknown (46), for SST_WANT_CERTIFICATE_VERIFY, internal_error (80) for
 * SST_WANT_PRIVATE_KEY_OPERATION and SST_WANT_EARLY_DATA_RETRY, else handshake_failure (40). The reasons of a verdict
 * are in the record of the failure. SST_ERR_STATE, SST_ERR_INVALID_ARGUMENT, SST_ERR_FORKED. Since 0.1.
 */
SST_API sst_status sst_stream_reject(sst_stream *stream, int32_t alert);

/*
 * sst_stream_set_signature answers SST_WANT_PRIVATE_KEY_OPERATION with a signature as TLS has it (ECDSA: DER, RFC 3279).
 * The bytes are copied. One that is empty or longer than the key can make fails the handshake with
 * SST_ERR_PRIVATE_KEY_OPERATION; a wrong one is noticed by the peer alone, whose alert says so. SST_ERR_STATE,
 * SST_ERR_NO_MEMORY, SST_ERR_FORKED. Since 0.1.
 */
SST_API sst_status sst_stream_set_signature(sst_stream *stream, const uint8_t *signature, size_t signature_len);

/*
 * sst_stream_set_ticket_plaintext answers SST_WANT_TICKET_DECRYPT with the session in the ticket, as section 7 says how to
 * open one; sst_stream_ignore_ticket answers that it cannot be used: the handshake is a full one, as it is with bytes
 * that are no session, or one of another rule. SST_ERR_STATE, SST_ERR_NO_MEMORY, SST_ERR_FORKED. Since 0.1.
 */
SST_API sst_status sst_stream_set_ticket_plaintext(sst_stream *stream, const uint8_t *plaintext, size_t plaintext_len);
SST_API sst_status sst_stream_ignore_ticket(sst_stream *stream);

/*
 * sst_stream_answer_session answers SST_WANT_SESSION; NULL: not known. The stream keeps a reference. A session that does
 * not fit (expired, of another rule, of a client) is not resumed: the handshake is a full one, with a new id.
 * SST_ERR_INVALID_ARGUMENT: it is empty; SST_ERR_STATE, SST_ERR_FORKED. Since 0.1.
 */
SST_API sst_status sst_stream_answer_session(sst_stream *stream, sst_session *session);

/*
 * sst_stream_continue_without_early_data answers SST_WANT_EARLY_DATA_RETRY: early data was not taken, and the caller
 * will send it again after the handshake. SST_ERR_STATE, SST_ERR_FORKED. Since 0.1.
 */
SST_API sst_status sst_stream_continue_without_early_data(sst_stream *stream);

/* ===================================================================================================================
 * 13  EVENTS
 *
 * Facts that need no answer, off until sst_config_report asks for them. SST_HAS_EVENT says that one waits. At most 32
 * wait; then the oldest goes, and lost counts it.
 * ================================================================================================================ */

enum {
  SST_EVENT_SESSION = 0,        /* a session came: sst_stream_take_session has it. out: of a server, its id */
  SST_EVENT_KEY_LOG = 1,        /* out: one line of the NSS key log (RFC 9850), without line end. These are secrets */
  SST_EVENT_ALERT_RECEIVED = 2, /* value: the alert's number, close_notify (0) included */
  SST_EVENT_KEYS_UPDATED = 3,   /* value: SST_DIRECTION_x of the keys that changed */
  SST_EVENT_EARLY_DATA = 4      /* value: 1 accepted, 0 refused; of a client that offered it, a server that took it */
};

typedef struct sst_event {
  uint32_t size; /* in: sizeof(sst_event) */
  uint32_t kind; /* SST_EVENT_x */
  uint64_t value;
  uint64_t lost; /* events lost before this one, since the last that was taken */
  size_t length; /* bytes written to out; with NEED_OUTPUT: bytes needed */
} sst_event;

/*
 * sst_stream_next_event takes the oldest event: its numbers into event, its bytes into out.
 *
 *   SST_OK           taken
 *   SST_NONE         none waits
 *   SST_NEED_OUTPUT  out is smaller than event->length; the event stays
 *   SST_ERR_INVALID_ARGUMENT
 *
 * Any thread, any time. Since 0.1.
 */
SST_API sst_status sst_stream_next_event(sst_stream *stream, sst_event *event, uint8_t *out, size_t out_cap);

/*
 * sst_stream_take_session returns the newest session that the stream has received and not given out yet, with one
 * reference for the caller; NULL: none. Only where the config asks for SST_EVENT_SESSION: clients, and servers for
 * sessions by id (SST_WANT_SESSION). At most 16 are kept; then the oldest goes. What is not taken is freed with the stream. With TLS 1.3 sessions come with
 * what is read after the handshake: a client that never reads has none. Any thread, any time. Since 0.1.
 */
SST_API sst_session *sst_stream_take_session(sst_stream *stream);

/* ===================================================================================================================
 * 14  SESSIONS
 *
 * A session lets a client resume: a shorter handshake with the same peer. It holds secrets, the peer's chain, and whom
 * it is for: it is never resumed to another name. By default it is used once, so that observers cannot link connections
 * (RFC 8446, C.4). How it is asked for: sst_config_report; how it is used: sst_stream_set_session. A store of sessions
 * is the caller's: by name of the peer, as objects or as bytes. Sessions may be shared by threads.
 * ================================================================================================================ */

typedef struct sst_session_info {
  uint32_t size; /* in: sizeof(sst_session_info) */
  uint16_t version;
  uint16_t suite;
  uint64_t created_unix_s;
  uint64_t expires_unix_s;
  uint32_t flags;          /* 0 */
  uint32_t max_early_data; /* bytes; 0: no 0-RTT */
} sst_session_info;

/*
 * sst_session_new returns an empty session with one reference, or NULL without memory. sst_session_ref adds a
 * reference and returns session. sst_session_free drops one; with the last, secrets are wiped. Since 0.1.
 */
SST_API sst_session *sst_session_new(void);
SST_API sst_session *sst_session_ref(sst_session *session);
SST_API void sst_session_free(sst_session *session);

/*
 * sst_session_load fills an empty session from bytes of sst_session_to_bytes; it cannot be changed afterwards. The
 * bytes must come from a place that only the owner can write: damage is found, forgery is not. SST_ERR_BAD_SESSION:
 * damaged, of a version of the library that writes another form, or no session; SST_ERR_FROZEN: it is loaded already,
 * or came from a stream; SST_ERR_INVALID_ARGUMENT, SST_ERR_NO_MEMORY. Since 0.1.
 */
SST_API sst_status sst_session_load(sst_session *session, const uint8_t *bytes, size_t bytes_len);

/*
 * sst_session_to_bytes copies the session as bytes: secrets, to be kept as such. That it was used, or is reusable, is
 * in them. A getter of variable size (section 1); SST_ERR_STATE: the session is empty; SST_ERR_NO_MEMORY. Since 0.1.
 */
SST_API sst_status sst_session_to_bytes(const sst_session *session, uint8_t *out, size_t out_cap, size_t *out_len);

/*
 * sst_session_get_info fills info. SST_ERR_STATE: the session is empty; SST_ERR_INVALID_ARGUMENT. Since 0.1.
 */
SST_API sst_status sst_session_get_info(const sst_session *session, sst_session_info *info);

/*
 * sst_session_set_reusable lets a session be resumed more than once (on 1), also after its first use. By default it
 * counts as used as soon as a handshake offers it; the next stream that is given it performs a full handshake.
 * SST_ERR_INVALID_ARGUMENT. Any thread, any time. Since 0.1.
 */
SST_API sst_status sst_session_set_reusable(sst_session *session, int32_t on);

/*
 * sst_session_last_error copies the record of the last failed call on session; code is SST_OK if none failed. SST_OK,
 * or SST_ERR_INVALID_ARGUMENT. Since 0.1.
 */
SST_API sst_status sst_session_last_error(const sst_session *session, sst_error *error);

/* ===================================================================================================================
 * 15  NEGOTIATE
 *
 * [MS-NNS]: Kerberos or NTLM by SPNEGO (RFC 4178), then frames that are signed, or signed and encrypted. The stream's
 * calls are those of section 10; frames take at most 64,512 bytes of plaintext when sending and payloads up to 65,536
 * bytes when receiving ([MS-NNS] 2.2.2). sst_stream_input_eof at a frame's border gives SST_CLOSED: a cut there cannot
 * be seen. close emits nothing. A handshake may do what the system's GSS library does, sockets and files included.
 *
 * In this version: configs can be made, counted and freed; all else is SST_ERR_UNSUPPORTED.
 * ================================================================================================================ */

enum { SST_LEVEL_NONE = 0, SST_LEVEL_SIGN = 1, SST_LEVEL_ENCRYPT_AND_SIGN = 2 };
enum { SST_IMPERSONATION_IDENTIFICATION = 1, SST_IMPERSONATION_IMPERSONATION = 2, SST_IMPERSONATION_DELEGATION = 3 };
enum { SST_MECHANISM_KERBEROS = 1, SST_MECHANISM_NTLM = 2 };
enum { SST_BINDING_POLICY_NEVER = 0, SST_BINDING_POLICY_WHEN_SUPPORTED = 1, SST_BINDING_POLICY_ALWAYS = 2 };

/*
 * sst_negotiate_config_new returns a Negotiate config with one reference, or NULL without memory.
 * sst_negotiate_config_ref adds a reference and returns config. sst_negotiate_config_free drops one; with the last,
 * passwords are wiped. Since 0.1.
 */
SST_API sst_negotiate_config *sst_negotiate_config_new(void);
SST_API sst_negotiate_config *sst_negotiate_config_ref(sst_negotiate_config *config);
SST_API void sst_negotiate_config_free(sst_negotiate_config *config);

/*
 * sst_negotiate_config_freeze is to a Negotiate config what sst_config_freeze is to a config. SST_ERR_LOGON: a client's
 * credentials cannot be used; SST_ERR_UNSUPPORTED in this version. Since 0.1.
 */
SST_API sst_status sst_negotiate_config_freeze(sst_negotiate_config *config, int32_t role);

/*
 * sst_negotiate_config_set_level sets the protection that is wanted and the least that is accepted (SST_LEVEL_x); a
 * peer below is SST_ERR_LEVEL_MISMATCH before any data. sst_negotiate_config_set_impersonation sets what the server
 * may do with the client's identity. sst_negotiate_config_set_mutual says whether the server must prove itself (1, the
 * default). SST_ERR_UNSUPPORTED in this version. Since 0.1.
 */
SST_API sst_status sst_negotiate_config_set_level(sst_negotiate_config *config, int32_t wanted, int32_t minimum);
SST_API sst_status sst_negotiate_config_set_impersonation(sst_negotiate_config *config, int32_t level);
SST_API sst_status sst_negotiate_config_set_mutual(sst_negotiate_config *config, int32_t required);

/*
 * sst_negotiate_config_set_password gives a client its user name and password, sst_negotiate_config_set_keytab a
 * server its keytab (a path), sst_negotiate_config_set_ccache a client its credential cache. Default: those of the
 * system. SST_ERR_UNSUPPORTED in this version. Since 0.1.
 */
SST_API sst_status sst_negotiate_config_set_password(sst_negotiate_config *config, const char *user, size_t user_len,
                                                     const char *password, size_t password_len);
SST_API sst_status sst_negotiate_config_set_keytab(sst_negotiate_config *config, const char *path, size_t path_len);
SST_API sst_status sst_negotiate_config_set_ccache(sst_negotiate_config *config, const char *name, size_t name_len);

/*
 * sst_negotiate_config_set_mechanisms sets the mechanisms, a mask of SST_MECHANISM_x.
 * sst_negotiate_config_set_binding_policy sets whether a server demands the channel binding (SST_BINDING_POLICY_x).
 * SST_ERR_UNSUPPORTED in this version. Since 0.1.
 */
SST_API sst_status sst_negotiate_config_set_mechanisms(sst_negotiate_config *config, uint32_t mask);
SST_API sst_status sst_negotiate_config_set_binding_policy(sst_negotiate_config *config, int32_t policy);

/*
 * sst_negotiate_config_last_error copies the record of the last failed call on config; code is SST_OK if none failed.
 * SST_OK, or SST_ERR_INVALID_ARGUMENT. Since 0.1.
 */
SST_API sst_status sst_negotiate_config_last_error(const sst_negotiate_config *config, sst_error *error);

/*
 * sst_stream_new_negotiate makes a Negotiate stream in *stream. As sst_stream_new; SST_ERR_UNSUPPORTED in this
 * version. Since 0.1.
 */
SST_API sst_status sst_stream_new_negotiate(sst_negotiate_config *config, int32_t role, sst_stream **stream);

/*
 * sst_stream_set_target_name sets the service that a client wants to reach ("HTTP/host.test").
 * sst_stream_set_channel_binding gives the binding of the channel below (RFC 5929). Before the first byte:
 * SST_ERR_STATE later. SST_ERR_UNSUPPORTED on a TLS stream. Since 0.1.
 */
SST_API sst_status sst_stream_set_target_name(sst_stream *stream, const char *name, size_t name_len);
SST_API sst_status sst_stream_set_channel_binding(sst_stream *stream, const uint8_t *binding, size_t binding_len);

typedef struct sst_negotiate_info {
  uint32_t size;         /* in: sizeof(sst_negotiate_info) */
  int32_t level;         /* SST_LEVEL_x, exact */
  int32_t impersonation; /* SST_IMPERSONATION_x */
  int32_t mechanism;     /* SST_MECHANISM_x */
  uint32_t flags;        /* 0 */
  uint32_t reserved;     /* 0 */
} sst_negotiate_info;

/*
 * sst_stream_get_negotiate_info fills info. SST_ERR_UNSUPPORTED on a TLS stream; SST_ERR_INVALID_ARGUMENT. Since 0.1.
 */
SST_API sst_status sst_stream_get_negotiate_info(const sst_stream *stream, sst_negotiate_info *info);

/*
 * sst_stream_remote_name and sst_stream_local_name copy the names of the peer and of ourselves as GSS shows them.
 * Getters of variable size (section 1). SST_ERR_UNSUPPORTED on a TLS stream. Since 0.1.
 */
SST_API sst_status sst_stream_remote_name(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len);
SST_API sst_status sst_stream_local_name(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len);

/*
 * sst_stream_delegated_credential returns a new Negotiate config that acts with the credential which the peer
 * delegated, with one reference for the caller; NULL: none was delegated (always in this version). Since 0.1.
 */
SST_API sst_negotiate_config *sst_stream_delegated_credential(sst_stream *stream);

#ifdef __cplusplus
}
#endif

#endif /* SECURESTREAM_H */
