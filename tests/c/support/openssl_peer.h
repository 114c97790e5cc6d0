/*
 * openssl_peer.h - a foreign peer: the system's OpenSSL 3, loaded at run time, over memory buffers. It brings what none
 * of our own streams does, such as TLS 1.2 without extended master secret.
 *
 *     Foreign foreign = foreign_new(SST_ROLE_CLIENT, &(SideOptions){.verify = SST_VERIFY_FULL}, &theirs);
 *     EXPECT_STATUS(openssl_handshake(foreign.peer, &foreign.side), SST_OK);
 *     foreign_free(&foreign);
 */
#ifndef SST_OPENSSL_PEER_H
#define SST_OPENSSL_PEER_H

#include "pair.h"

typedef struct OpensslOptions {
  uint16_t version;
  bool no_extended_master_secret;
  bool no_tickets;              /* of TLS 1.2: sessions are resumed by their id */
  const char *credential;       /* a name in tests/data; default: server-p256 for servers, none for clients */
  bool ask_certificate;         /* a server: request one, and take any */
  const uint8_t *ocsp_response; /* what a server staples for a client that asks */
  size_t ocsp_response_len;
  bool ask_ocsp_response; /* a client */
  const char *issuers;    /* NAME in tests/data: names of issuers to accept, sent in either role; NULL: none */
  const char *suites;     /* names in OpenSSL's writing; NULL: its default */
} OpensslOptions;

typedef struct OpensslPeer OpensslPeer;

/* Ends the case as skipped where there is no libssl.so.3. The peer does not verify. */
OpensslPeer *openssl_peer_new(const OpensslOptions *options, int32_t role, Wire *in, Wire *out);
void openssl_peer_free(OpensslPeer *peer);

/* Ends the connection and begins another one with the same keys; a client offers the session that it has. */
void openssl_again(OpensslPeer *peer, int32_t role, Wire *in, Wire *out);
bool openssl_resumed(const OpensslPeer *peer);

/* Runs the handshake of side and peer to its end, and returns the side's last status. */
sst_status openssl_handshake(OpensslPeer *peer, Side *side);
bool openssl_finished(const OpensslPeer *peer);
/* The alert that the peer has received, -1: none. */
int openssl_alert(const OpensslPeer *peer);

/* Keying material (RFC 5705); context NULL: none. */
bool openssl_export(OpensslPeer *peer, const char *label, const uint8_t *context, size_t context_len, uint8_t *out,
                    size_t out_len);
/* The client's Finished, which tls-unique is after a full handshake (RFC 5929, 3); returns its length. */
size_t openssl_client_finished(OpensslPeer *peer, uint8_t *out, size_t out_cap);
/* What was stapled for a client; NULL: nothing. */
const uint8_t *openssl_ocsp_response(OpensslPeer *peer, size_t *len);

/* One side of ours against OpenSSL in the other role. */
typedef struct Foreign {
  Side side;
  OpensslPeer *peer;
} Foreign;
Foreign foreign_new(int32_t role, const SideOptions *ours, const OpensslOptions *theirs);
/* Both begin another connection, ours with the same config, OpenSSL with its session if it is the client. */
void foreign_again(Foreign *foreign, int32_t role, const SideOptions *options);
void foreign_free(Foreign *foreign);

/* Queues a KeyUpdate (TLS 1.3) for the next write; sends close_notify. */
bool openssl_key_update(OpensslPeer *peer, bool request);
bool openssl_close(OpensslPeer *peer);
bool openssl_write(OpensslPeer *peer, const void *data, int len);
int openssl_read(OpensslPeer *peer, void *data, int cap);

#endif
