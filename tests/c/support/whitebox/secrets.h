/*
 * secrets.h - the secrets of a pair, from its key-log events, and the record protection that follows from them: written
 * after the RFCs and with BoringSSL's AEADs alone, so that it says nothing about the code under test.
 *
 *     Secrets secrets = {0};
 *     secrets_read(&secrets, &pair.server);
 *     Keys keys = secrets_keys(&secrets, &pair, EPOCH_DATA, SST_ROLE_SERVER);
 *     const Data record = keys_seal(&keys, RECORD_ALERT, "\2\50", 2);
 */
#ifndef SST_SECRETS_H
#define SST_SECRETS_H

#include <openssl/aead.h>
#include <openssl/digest.h>

#include "data.h"
#include "pair.h"

enum { SECRET_MAX = 48, SECRETS_MAX = 8 };

typedef struct Secret {
  char label[40];
  uint8_t bytes[SECRET_MAX];
  size_t len;
} Secret;

typedef struct Secrets {
  Secret list[SECRETS_MAX];
  size_t count;
} Secrets;

/* The keys of one direction. */
typedef struct Keys {
  uint16_t version;
  const EVP_AEAD *aead;
  const EVP_MD *digest;
  uint8_t secret[SECRET_MAX]; /* of TLS 1.3 */
  uint8_t key[32], iv[12];
  size_t iv_len; /* TLS 1.2 with GCM: 4, and the rest stands in each record */
  uint64_t sequence;
} Keys;

typedef struct Opened {
  uint8_t type;
  Data plaintext; /* the caller frees bytes */
} Opened;

typedef enum Epoch {
  EPOCH_EARLY,     /* of 0-RTT, a client's alone */
  EPOCH_HANDSHAKE, /* of TLS 1.3 */
  EPOCH_DATA
} Epoch;

/* secrets_read takes all key-log events that wait at a side. */
void secrets_read(Secrets *secrets, Side *side);

/* secrets_version is the version that the server has chosen; 0: it has sent nothing yet. */
uint16_t secrets_version(const Pair *pair);

/* secrets_keys makes the keys that the side of that role writes with, at the first sequence number of the epoch.
   Version, suite and randoms are read from the hellos on the wire. */
Keys secrets_keys(const Secrets *secrets, const Pair *pair, Epoch epoch, int32_t role);

/* keys_update changes to the next generation (RFC 8446, 7.2). */
void keys_update(Keys *keys);

/* keys_seal makes a record at the next sequence number; the caller frees bytes. len may be over the limit. */
Data keys_seal(Keys *keys, uint8_t type, const void *data, size_t len);
/* keys_seal_inner seals the whole inner plaintext of TLS 1.3: data, type and padding are the caller's. */
Data keys_seal_inner(Keys *keys, const void *inner, size_t len);
/* keys_open opens one whole record; the case ends if it does not open. */
Opened keys_open(Keys *keys, const uint8_t *record, size_t len);

#endif
