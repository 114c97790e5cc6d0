/* White-box: every loader with each of its allocations failing. A failed load leaves the object as it was, and the next
   one succeeds; what was loaded while an allocation failed is as good as any: a handshake with it ends as it must. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/mem.h>
#include <openssl/nid.h>
#include <openssl/pem.h>
#include <openssl/pkcs8.h>

#include "bare.h"
#include "credential.h"
#include "data.h"
#include "faults.h"

typedef enum Kind { CREDENTIAL_PEM, CREDENTIAL_DER, CREDENTIAL_PKCS12, TRUST_PEM, TRUST_DER, TRUST_CRL, SYSTEM } Kind;

typedef struct Loading {
  Kind kind;
  Data in, key; /* key: beside certificates in DER */
  const char *password;
  sst_status handshake; /* how one with what was loaded must end */
  sst_credential *credential;
  sst_trust *trust;
} Loading;

static bool is_credential(const Loading *loading) {
  return loading->kind <= CREDENTIAL_PKCS12;
}

/* The object holds something else before: another leaf and its key, or other anchors. The one beside it is shared by all
   rounds. */
static void prepare(void *context) {
  Loading *loading = context;
  if (is_credential(loading)) {
    loading->credential = data_credential("client-p256");
    return;
  }
  loading->trust = data_trust("client-root");
  if (loading->kind != TRUST_CRL) return;
  const Data root = data_read("root", "pem");
  EXPECT_STATUS(sst_trust_load_pem(loading->trust, root.bytes, root.len), SST_OK);
  free(root.bytes);
}

static sst_status load(void *context) {
  const Loading *loading = context;
  const Data *in = &loading->in;
  const size_t password_len = loading->password == NULL ? 0 : strlen(loading->password);
  switch (loading->kind) {
    case CREDENTIAL_PEM:
      return sst_credential_load_pem(loading->credential, in->bytes, in->len, loading->password, password_len);
    case CREDENTIAL_DER:
      return sst_credential_load_der(loading->credential, in->bytes, in->len, loading->key.bytes, loading->key.len);
    case CREDENTIAL_PKCS12:
      return sst_credential_load_pkcs12(loading->credential, in->bytes, in->len, loading->password, password_len);
    case TRUST_PEM:
      return sst_trust_load_pem(loading->trust, in->bytes, in->len);
    case TRUST_DER:
      return sst_trust_load_der(loading->trust, in->bytes, in->len);
    case TRUST_CRL:
      return sst_trust_load_crl(loading->trust, in->bytes, in->len);
    case SYSTEM:
      return sst_trust_load_system(loading->trust);
  }
  return SST_ERR_INTERNAL;
}

static void shake_hands(const Loading *loading) {
  static Bare bare;
  sst_config *client = sst_config_new(), *server = sst_config_new();
  EXPECT_STATUS(sst_config_set_trust(client, loading->trust), SST_OK);
  EXPECT_STATUS(sst_config_add_credential(server, loading->credential), SST_OK);
  REQUIRE_STATUS(bare_new(&bare, client, server), SST_OK);
  EXPECT_STATUS(bare_handshake(&bare), loading->handshake);
  bare_end(&bare);
  sst_config_free(client);
  sst_config_free(server);
}

/* Still the leaf that prepare put there, and complete; or still the anchors, and no list. */
static void expect_as_it_was(const Loading *loading) {
  if (!is_credential(loading)) {
    EXPECT_EQ(sst_trust_num_anchors(loading->trust), loading->kind == TRUST_CRL ? 2 : 1);
    return;
  }
  const Data leaf = data_certificate("client-p256", 0);
  uint8_t *got = test_allocate(leaf.len);
  size_t len = 0;
  EXPECT_STATUS(sst_credential_certificate(loading->credential, 0, got, leaf.len, &len), SST_OK);
  EXPECT_BYTES(got, len, leaf.bytes, leaf.len);
  free(got);
  free(leaf.bytes);
  EXPECT(sst__identity_is_complete(sst__credential_identity(loading->credential)));
}

static void check(void *context, sst_status status) {
  Loading *loading = context;
  sst_error error = {.size = sizeof error};
  if (status != SST_OK) {
    EXPECT_STATUS(is_credential(loading) ? sst_credential_last_error(loading->credential, &error)
                                         : sst_trust_last_error(loading->trust, &error),
                  SST_OK);
    EXPECT_STATUS(error.code, status);
    EXPECT(error.message[0] != 0);
    expect_as_it_was(loading);
    EXPECT_STATUS(load(loading), SST_OK);
  } else {
    shake_hands(loading);
  }
  if (is_credential(loading)) sst_credential_free(loading->credential);
  if (!is_credential(loading)) sst_trust_free(loading->trust);
}

static void each(const char *name, Loading loading) {
  const Faults faults = {name, &loading, prepare, load, check, SST_OK};
  if (is_credential(&loading)) loading.trust = data_trust("root");
  if (!is_credential(&loading)) loading.credential = data_credential("server-p256");
  faults_each(&faults);
  if (is_credential(&loading)) sst_trust_free(loading.trust);
  if (!is_credential(&loading)) sst_credential_free(loading.credential);
  free(loading.in.bytes);
  free(loading.key.bytes);
}

/* ---- credentials ---- */

static Data joined(Data one, Data other) {
  one.bytes = test_reallocate(one.bytes, one.len + other.len);
  memcpy(one.bytes + one.len, other.bytes, other.len);
  one.len += other.len;
  free(other.bytes);
  return one;
}

static void each_pem(const char *certificates, Data key, const char *password) {
  each(certificates,
       (Loading){.kind = CREDENTIAL_PEM, .in = joined(data_read(certificates, "pem"), key), .password = password});
}

TEST(loading_faults, credential_in_pem) {
  each_pem("server-p256", data_read("server-p256", "key"), NULL);
  each_pem("server-p256", data_read("server-p256-sec1", "key"), NULL);
  each_pem("server-ed25519", data_read("server-ed25519", "key"), NULL);
}

TEST(loading_faults, credential_in_pem_with_rsa_key) {
  each_pem("server-rsa2048", data_read("server-rsa2048-pkcs1", "key"), NULL);
}

static EVP_PKEY *read_key(void) {
  const Data pem = data_read("server-p256", "key");
  BIO *bio = BIO_new_mem_buf(pem.bytes, (ossl_ssize_t)pem.len);
  EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
  REQUIRE(key != NULL);
  BIO_free(bio);
  free(pem.bytes);
  return key;
}

/* In PKCS#8 by a cipher, or NULL: before PKCS#8, as "Proc-Type: 4,ENCRYPTED". */
static Data encrypted_key(const EVP_CIPHER *cipher, int nid) {
  EVP_PKEY *key = read_key();
  BIO *bio = BIO_new(BIO_s_mem());
  if (cipher == NULL && nid == -1) {
    REQUIRE(PEM_write_bio_ECPrivateKey(bio, EVP_PKEY_get0_EC_KEY(key), EVP_aes_128_cbc(), NULL, 0, NULL, "pw"));
  } else {
    PKCS8_PRIV_KEY_INFO *info = EVP_PKEY2PKCS8(key);
    X509_SIG *sealed = PKCS8_encrypt(nid, cipher, "pw", 2, NULL, 0, 2, info);
    REQUIRE(sealed != NULL && PEM_write_bio_PKCS8(bio, sealed));
    X509_SIG_free(sealed);
    PKCS8_PRIV_KEY_INFO_free(info);
  }
  const uint8_t *bytes = NULL;
  size_t len = 0;
  REQUIRE(BIO_mem_contents(bio, &bytes, &len));
  const Data data = {test_allocate(len), len};
  memcpy(data.bytes, bytes, len);
  BIO_free(bio);
  EVP_PKEY_free(key);
  return data;
}

TEST(loading_faults, credential_in_pem_encrypted) {
  each_pem("server-p256", encrypted_key(EVP_aes_256_cbc(), -1), "pw");
  each_pem("server-p256", encrypted_key(NULL, NID_pbe_WithSHA1And3_Key_TripleDES_CBC), "pw");
  each_pem("server-p256", encrypted_key(NULL, -1), "pw");
}

static Data key_in_der(void) {
  EVP_PKEY *key = read_key();
  uint8_t *der = NULL;
  const int len = i2d_PrivateKey(key, &der);
  REQUIRE(len > 0);
  const Data data = {test_allocate((size_t)len), (size_t)len};
  memcpy(data.bytes, der, data.len);
  OPENSSL_free(der);
  EVP_PKEY_free(key);
  return data;
}

TEST(loading_faults, credential_in_der) {
  each("certificates and key in DER",
       (Loading){.kind = CREDENTIAL_DER,
                 .in = joined(data_certificate("server-p256", 1), data_certificate("server-p256", 0)),
                 .key = key_in_der()});
}

static Data pfx(int key_nid, int certificate_nid) {
  const Data leaf_der = data_certificate("server-p256", 0), issuer_der = data_certificate("server-p256", 1);
  const uint8_t *at = leaf_der.bytes;
  X509 *leaf = d2i_X509(NULL, &at, (long)leaf_der.len);
  at = issuer_der.bytes;
  X509 *issuer = d2i_X509(NULL, &at, (long)issuer_der.len);
  STACK_OF(X509) *issuers = sk_X509_new_null();
  EVP_PKEY *key = read_key();
  REQUIRE(leaf != NULL && issuer != NULL && issuers != NULL && sk_X509_push(issuers, issuer));
  PKCS12 *made = PKCS12_create("pw", "name", key, leaf, issuers, key_nid, certificate_nid, 2, 2, 0);
  uint8_t *der = NULL;
  const int len = i2d_PKCS12(made, &der);
  REQUIRE(len > 0);
  const Data data = {test_allocate((size_t)len), (size_t)len};
  memcpy(data.bytes, der, data.len);
  OPENSSL_free(der);
  PKCS12_free(made);
  EVP_PKEY_free(key);
  sk_X509_pop_free(issuers, X509_free);
  X509_free(leaf);
  free(leaf_der.bytes);
  free(issuer_der.bytes);
  return data;
}

static void each_pfx(const char *name, int key_nid, int certificate_nid) {
  each(name, (Loading){.kind = CREDENTIAL_PKCS12, .in = pfx(key_nid, certificate_nid), .password = "pw"});
}

TEST(loading_faults, credential_in_pkcs12) {
  each_pfx("PKCS#12 with AES", NID_aes_256_cbc, NID_aes_256_cbc);
  each_pfx("PKCS#12 with 3DES and RC2", NID_pbe_WithSHA1And3_Key_TripleDES_CBC, NID_pbe_WithSHA1And40BitRC2_CBC);
  each_pfx("PKCS#12 not encrypted", -1, -1);
}

/* ---- trust ---- */

TEST(loading_faults, trust_in_pem) {
  each("anchors in PEM",
       (Loading){.kind = TRUST_PEM, .in = joined(data_read("root", "pem"), data_read("client-root-b", "pem"))});
}

TEST(loading_faults, trust_in_der) {
  each("anchors in DER",
       (Loading){.kind = TRUST_DER, .in = joined(data_certificate("client-root-b", 0), data_certificate("root", 0))});
}

TEST(loading_faults, trust_of_the_system) {
  char path[64];
  (void)snprintf(path, sizeof path, "/tmp/sst_faults_%ld.pem", (long)getpid());
  const Data pem = joined(data_read("root", "pem"), data_read("client-root-b", "pem"));
  FILE *file = fopen(path, "wb");
  REQUIRE(file != NULL && fwrite(pem.bytes, 1, pem.len, file) == pem.len && fclose(file) == 0);
  free(pem.bytes);
  REQUIRE(setenv("SSL_CERT_FILE", path, 1) == 0 && setenv("SSL_CERT_DIR", "", 1) == 0);
  each("the system's anchors", (Loading){.kind = SYSTEM});
  EXPECT(unlink(path) == 0);
}

static Data lists(const char *one, const char *other) {
  return joined(data_read(one, "pem"), data_read(other, "pem"));
}

TEST(loading_faults, revocation_lists_that_revoke_nothing) {
  each("revocation lists", (Loading){.kind = TRUST_CRL, .in = lists("crl-root", "crl-intermediate")});
}

TEST(loading_faults, revocation_lists_that_revoke) {
  each("revocation lists that revoke",
       (Loading){
           .kind = TRUST_CRL, .in = lists("crl-root-revokes", "crl-intermediate"), .handshake = SST_ERR_CERT_REVOKED});
}
