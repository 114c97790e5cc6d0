/* What sessions are bound to, as a digest: made once for each context. */
#include <string.h>

#include <openssl/err.h>
#include <openssl/pool.h>
#include <openssl/sha2.h>

#include "tls/internal.h"

/* Lengths go in with the bytes, so that no two lists give the same. */
static void add(SHA256_CTX *digest, const void *data, size_t len) {
  const uint64_t length = len;
  (void)SHA256_Update(digest, &length, sizeof length);
  (void)SHA256_Update(digest, data, len);
}

static void add_number(SHA256_CTX *digest, uint64_t number) {
  add(digest, &number, sizeof number);
}

/* false: no memory. */
static bool add_trust(SHA256_CTX *digest, const sst__anchors *anchors) {
  uint8_t one[SST__DIGEST_LEN];
  unsigned len = 0;
  if (anchors == NULL) return true;
  add_number(digest, anchors->partial_chain ? 1 : 0);
  for (size_t i = 0; i < sk_X509_num(anchors->list); i++) {
    if (X509_digest(sk_X509_value(anchors->list, i), EVP_sha256(), one, &len) != 1) return false;
    add(digest, one, len);
  }
  for (size_t i = 0; anchors->crls != NULL && i < sk_X509_CRL_num(anchors->crls); i++) {
    if (X509_CRL_digest(sk_X509_CRL_value(anchors->crls, i), EVP_sha256(), one, &len) != 1) return false;
    add(digest, one, len);
  }
  return true;
}

static bool add_judgement(SHA256_CTX *digest, const sst__context_parts *parts) {
  const sst__settings *settings = parts->settings;
  add_number(digest, (uint64_t)settings->verify);
  add_number(digest, (uint64_t)settings->chain_digests);
  add_number(digest, settings->minimum_rsa_bits);
  return add_trust(digest, parts->anchors);
}

bool sst__judgement_digest(const sst__context_parts *parts, uint8_t out[SST__DIGEST_LEN]) {
  SHA256_CTX digest;
  SHA256_Init(&digest);
  const bool made = add_judgement(&digest, parts);
  SHA256_Final(out, &digest);
  return made;
}

/* A client that resumes is again whom it has shown itself as: with other credentials it must say so. */
static void add_credentials(SHA256_CTX *digest, const sst__context_parts *parts) {
  for (size_t i = 0; i < parts->num_identities; i++) {
    const CRYPTO_BUFFER *leaf = sk_CRYPTO_BUFFER_value(parts->identities[i]->chain, 0);
    add(digest, CRYPTO_BUFFER_data(leaf), CRYPTO_BUFFER_len(leaf));
  }
}

/* A server's ticket says that the client was judged: by this rule. The certificate of the server is no part of it, so
   that tickets live on when it is renewed. */
static bool add_rule(SHA256_CTX *digest, const sst__context_parts *parts) {
  const sst__settings *settings = parts->settings;
  add_number(digest, (uint64_t)settings->client_certificate);
  add(digest, settings->alpn, settings->alpn_len);
  add_number(digest, (uint64_t)settings->alpn_lenient);
  return settings->client_certificate == SST_CLIENT_CERTIFICATE_NONE || add_judgement(digest, parts);
}

bool sst__rule_digest(const sst__context_parts *parts, uint8_t out[SST__DIGEST_LEN]) {
  SHA256_CTX digest;
  SHA256_Init(&digest);
  bool made = true;
  if (parts->role == SST_ROLE_SERVER) {
    made = add_rule(&digest, parts);
  } else {
    add_credentials(&digest, parts);
  }
  SHA256_Final(out, &digest);
  return made;
}

bool sst__bind_to_host(SSL *ssl, const uint8_t rule[SST__DIGEST_LEN]) {
  uint8_t bytes[SST__DIGEST_LEN + SST__MAX_HOST + 3] = {0}, id[SST__DIGEST_LEN];
  memcpy(bytes, rule, SST__DIGEST_LEN);
  const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  size_t used = SST__DIGEST_LEN;
  for (size_t i = 0; name != NULL && name[i] != 0 && used < sizeof bytes; i++) {
    const bool upper = name[i] >= 'A' && name[i] <= 'Z';
    bytes[used++] = (uint8_t)(upper ? name[i] - 'A' + 'a' : name[i]);
  }
  sst__digest(bytes, used, id);
  return SSL_set_session_id_context(ssl, id, sizeof id) == 1;
}
