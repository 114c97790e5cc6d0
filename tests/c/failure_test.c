/* White-box: what becomes of BoringSSL's reasons that no peer of these tests can bring about. */
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/rsa.h>
#include <stdlib.h>
#include <string.h>

#include "pair.h"
#include "stream.h"
#include "tls/internal.h"

static SSL *ssl_of(const Side *side) {
  return ((const sst__tls *)side->stream->engine)->ssl; /* base is its first member */
}

typedef struct Entry {
  int library, reason;
} Entry;

static Entry queue[4]; /* what the callback leaves; ends at library 0 */

static enum ssl_verify_result_t leaves_entries(SSL *ssl, uint8_t *out_alert) {
  (void)ssl;
  for (const Entry *entry = queue; entry->library != 0; entry++)
    ERR_put_error(entry->library, 0, entry->reason, __FILE__, __LINE__);
  *out_alert = SSL_AD_INTERNAL_ERROR;
  return ssl_verify_invalid;
}

/* A client whose verification fails inside BoringSSL, with these entries as the oldest ones. */
static sst_error failed_with(const Entry *entries, size_t count) {
  memset(queue, 0, sizeof queue);
  memcpy(queue, entries, count * sizeof *entries);
  Pair pair = pair_new();
  SSL_set_custom_verify(ssl_of(&pair.client), SSL_VERIFY_PEER, leaves_entries);
  EXPECT(pair_handshake(&pair) < 0);
  const sst_error error = error_of(&pair.client);
  EXPECT_EQ(error.alert_sent, 80);
  EXPECT_EQ(error_of(&pair.server).alert_received, 80);
  EXPECT_EQ(ERR_peek_error(), 0);
  pair_free(&pair);
  return error;
}

/* A reason that nobody can meet is a fault of ours, and the one who meets it can say which. */
TEST(failure, reason_without_a_code_is_internal_and_named) {
  const sst_error error = failed_with(&(Entry){ERR_LIB_SSL, SSL_R_READ_TIMEOUT_EXPIRED}, 1);
  EXPECT_STATUS(error.code, SST_ERR_INTERNAL);
  EXPECT_CONTAINS(error.message, "READ_TIMEOUT_EXPIRED");
  EXPECT_EQ(error.reasons, 0);
}

/* The oldest entry of the SSL library wins, whatever stands before and behind it. */
TEST(failure, oldest_reason_of_the_ssl_library_is_told) {
  const Entry entries[] = {
      {ERR_LIB_CIPHER, 101}, {ERR_LIB_SSL, SSL_R_BAD_SIGNATURE}, {ERR_LIB_SSL, SSL_R_DECODE_ERROR}};
  const sst_error error = failed_with(entries, 3);
  EXPECT_STATUS(error.code, SST_ERR_PROTOCOL);
  EXPECT_CONTAINS(error.message, "BAD_SIGNATURE");
}

/* ---- a key that cannot sign ---- */

static enum ssl_private_key_result_t cannot_sign(SSL *ssl, uint8_t *out, size_t *out_len, size_t max_out,
                                                 uint16_t scheme, const uint8_t *in, size_t in_len) {
  (void)ssl, (void)out, (void)out_len, (void)max_out, (void)scheme, (void)in, (void)in_len;
  return ssl_private_key_failure;
}

static const SSL_PRIVATE_KEY_METHOD broken_key = {.sign = cannot_sign};

static sst_error failed_signer(uint16_t version) {
  Pair pair = pair_new(.client = {.max_version = version});
  SSL *ssl = ssl_of(&pair.server);
  CRYPTO_BUFFER *chain[2];
  for (size_t i = 0; i < 2; i++) {
    const Data certificate = data_certificate("server-p256", i);
    chain[i] = CRYPTO_BUFFER_new(certificate.bytes, certificate.len, NULL);
    free(certificate.bytes);
  }
  SSL_CREDENTIAL *broken = SSL_CREDENTIAL_new_x509();
  REQUIRE(chain[0] != NULL && chain[1] != NULL && broken != NULL);
  REQUIRE(SSL_CREDENTIAL_set1_cert_chain(broken, chain, 2) == 1);
  REQUIRE(SSL_CREDENTIAL_set_private_key_method(broken, &broken_key) == 1);
  SSL_certs_clear(ssl);
  REQUIRE(SSL_add1_credential(ssl, broken) == 1);
  EXPECT(pair_handshake(&pair) < 0);
  const sst_error error = error_of(&pair.server);
  EXPECT_STATUS(error_of(&pair.client).code, SST_ERR_ALERT_RECEIVED - 80);
  EXPECT_EQ(error_of(&pair.client).alert_received, error.alert_sent);
  SSL_CREDENTIAL_free(broken);
  CRYPTO_BUFFER_free(chain[0]);
  CRYPTO_BUFFER_free(chain[1]);
  pair_free(&pair);
  return error;
}

/* BoringSSL says nothing to the peer then: the alert is ours. */
TEST_VERSIONS(failure, key_that_cannot_sign_is_told_to_both) {
  const sst_error error = failed_signer(version);
  EXPECT_STATUS(error.code, SST_ERR_PRIVATE_KEY_OPERATION);
  EXPECT_EQ(error.alert_sent, 80);
  EXPECT_CONTAINS(error.message, "PRIVATE_KEY_OPERATION_FAILED");
}

/* A fault of memory in an RSA key: the wrong signature, which would give the key away, is held back, and the SSL library
   has no reason of its own for it. */
TEST_VERSIONS(failure, rsa_key_that_miscalculates_is_told_to_both) {
  Pair pair = pair_new(.client = {.max_version = version}, .server = {.credential = "server-rsa2048"});
  const sst__tls *tls = (const sst__tls *)pair.server.stream->engine;
  const RSA *rsa = EVP_PKEY_get0_RSA(tls->context->parts.identities[0]->key);
  REQUIRE(rsa != NULL);
  REQUIRE(BN_add_word((BIGNUM *)RSA_get0_dmp1(rsa), 2) == 1);
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_PRIVATE_KEY_OPERATION);
  EXPECT_STATUS(error_of(&pair.client).code, SST_ERR_ALERT_RECEIVED - 80);
  pair_free(&pair);
}
