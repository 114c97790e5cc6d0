/* Verification of the peer's chain: BoringSSL builds and checks a path, all faults are collected, own rules are
   added. */
#include "tls/verify.h"

#include <arpa/inet.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/nid.h>
#include <openssl/pool.h>
#include <openssl/x509.h>

#include "memory.h"

enum { MOST_RSA_BITS = 8192 };

bool sst__is_self_signed(const X509 *certificate) {
  if ((X509_get_extension_flags(certificate) & EXFLAG_SS) != 0) return true;
  if (X509_NAME_cmp(X509_get_subject_name(certificate), X509_get_issuer_name(certificate)) != 0) return false;
  EVP_PKEY *key = X509_get0_pubkey(certificate);
  return key != NULL && X509_verify(certificate, key) == 1;
}

/* Notes every fault and goes on. X509_verify_cert then succeeds, and its last error is not the first: only what is
   noted here counts. */
static int collect(int ok, X509_STORE_CTX *ctx) {
  if (ok) return 1;
  const int error = X509_STORE_CTX_get_error(ctx);
  const size_t depth = (size_t)X509_STORE_CTX_get_error_depth(ctx);
  sst_status code = sst__code_of_x509_error(error);
  /* Nobody vouches for an anchor but its owner: its own revocation is not looked at. */
  if (code == SST_ERR_CERT_CRL || code == SST_ERR_CERT_REVOKED) {
    if (depth > 0 && depth + 1 == sk_X509_num(X509_STORE_CTX_get0_chain(ctx))) return 1;
  }
  /* Where BoringSSL's own limit stops the search for an issuer, it says that there is none. */
  if (code == SST_ERR_CERT_ISSUER_NOT_FOUND && depth >= SST__MAX_PATH) code = SST_ERR_CERT_CHAIN_TOO_LONG;
  if (code == SST_ERR_CERT_ISSUER_NOT_FOUND && depth == 0 &&
      sst__is_self_signed(X509_STORE_CTX_get_current_cert(ctx))) {
    code = SST_ERR_CERT_SELF_SIGNED;
  }
  /* An issuer that is no authority has no purpose either. */
  if (code == SST_ERR_CERT_PURPOSE && depth > 0 && !X509_check_ca(X509_STORE_CTX_get_current_cert(ctx))) return 1;
  sst__verdict_add(X509_STORE_CTX_get_app_data(ctx), code, error, depth);
  return 1;
}

static bool set_name(X509_VERIFY_PARAM *param, const sst__verify_request *request) {
  if (request->name == NULL) return true;
  if (!request->name_is_ip) {
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    return X509_VERIFY_PARAM_set1_host(param, request->name, strlen(request->name)) == 1;
  }
  uint8_t address[16];
  if (inet_pton(AF_INET, request->name, address) == 1) return X509_VERIFY_PARAM_set1_ip(param, address, 4) == 1;
  if (inet_pton(AF_INET6, request->name, address) == 1) return X509_VERIFY_PARAM_set1_ip(param, address, 16) == 1;
  return false;
}

/* BoringSSL subtracts times: what lies far outside of what a certificate can say must not overflow. */
static int64_t bounded(int64_t unix_s) {
  const int64_t most = INT64_C(1) << 40;
  if (unix_s > most) return most;
  return unix_s < -most ? -most : unix_s;
}

static int purpose_of(const sst__verify_request *request) {
  return request->peer_is_server ? X509_PURPOSE_SSL_SERVER : X509_PURPOSE_SSL_CLIENT;
}

static bool set_up(X509_STORE_CTX *ctx, const sst__verification *verification, STACK_OF(X509) * trusted,
                   STACK_OF(X509) * untrusted, sst__verdict *verdict) {
  const sst__verify_request *request = verification->request;
  if (!X509_STORE_CTX_init(ctx, request->anchors->store, verification->leaf, untrusted)) return false;
  X509_STORE_CTX_set0_trusted_stack(ctx, trusted);
  X509_STORE_CTX_set_verify_cb(ctx, collect);
  if (!X509_STORE_CTX_set_app_data(ctx, verdict)) return false;

  X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(ctx);
  /* The depth counts neither leaf nor anchor: one certificate too many is built, and seen. */
  X509_VERIFY_PARAM_set_depth(param, SST__MAX_PATH - 1);
  X509_VERIFY_PARAM_set_time_posix(param, bounded(request->unix_s));
  /* A self-signed leaf that is trusted itself needs no authority above it. */
  const bool leaf_is_anchor = sk_X509_num(trusted) == 1 && sst__is_self_signed(verification->leaf) &&
                              X509_cmp(sk_X509_value(trusted, 0), verification->leaf) == 0;
  const bool partial_chain = request->anchors->partial_chain || leaf_is_anchor;
  if (partial_chain && !X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_PARTIAL_CHAIN)) return false;
  if (request->anchors->crls != NULL) {
    X509_STORE_CTX_set0_crls(ctx, request->anchors->crls);
    const unsigned long check = X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL;
    if (!X509_VERIFY_PARAM_set_flags(param, check)) return false;
  }
  return X509_VERIFY_PARAM_set_purpose(param, purpose_of(request)) && set_name(param, request);
}

static bool key_is_strong(const X509 *certificate, uint32_t minimum_rsa_bits) {
  const EVP_PKEY *key = X509_get0_pubkey(certificate);
  switch (key == NULL ? EVP_PKEY_NONE : EVP_PKEY_id(key)) {
    case EVP_PKEY_RSA: {
      const int bits = EVP_PKEY_bits(key);
      return bits >= 0 && (uint32_t)bits >= minimum_rsa_bits && bits <= MOST_RSA_BITS;
    }
    case EVP_PKEY_EC: {
      const int curve = EVP_PKEY_get_ec_curve_nid(key);
      return curve == NID_X9_62_prime256v1 || curve == NID_secp384r1 || curve == NID_secp521r1;
    }
    case EVP_PKEY_ED25519:
      return true;
    default:
      return false;
  }
}

static bool digest_is_strong(const X509 *certificate, bool allow_sha1) {
  switch (X509_get_signature_nid(certificate)) {
    case NID_sha224WithRSAEncryption:
    case NID_sha256WithRSAEncryption:
    case NID_sha384WithRSAEncryption:
    case NID_sha512WithRSAEncryption:
    case NID_rsassaPss: /* BoringSSL takes it with SHA-2 only */
    case NID_ecdsa_with_SHA224:
    case NID_ecdsa_with_SHA256:
    case NID_ecdsa_with_SHA384:
    case NID_ecdsa_with_SHA512:
    case NID_ED25519:
      return true;
    case NID_sha1WithRSAEncryption:
    case NID_sha1WithRSA:
    case NID_ecdsa_with_SHA1:
      return allow_sha1;
    default:
      return false;
  }
}

/* What BoringSSL does not look at: the strength of keys and digests, whether an anchor that issued something is an
   authority, and the purpose of a leaf that is trusted itself. */
static void add_own_checks(const sst__verification *verification, sst__verdict *verdict) {
  const sst__verify_request *request = verification->request;
  const size_t count = sk_X509_num(verdict->path);
  const uint64_t no_anchor =
      sst__reason_bit(SST_ERR_CERT_ISSUER_NOT_FOUND) | sst__reason_bit(SST_ERR_CERT_CHAIN_TOO_LONG);
  const bool anchored = (verdict->reasons & no_anchor) == 0;

  if (count > SST__MAX_PATH) sst__verdict_add(verdict, SST_ERR_CERT_CHAIN_TOO_LONG, 0, count - 1);
  if (X509_check_purpose(verification->leaf, purpose_of(request), 0) != 1) {
    sst__verdict_add(verdict, SST_ERR_CERT_PURPOSE, 0, 0);
  }
  for (size_t i = 0; i < count; i++) {
    const X509 *certificate = sk_X509_value(verdict->path, i);
    if (!key_is_strong(certificate, request->minimum_rsa_bits)) sst__verdict_add(verdict, SST_ERR_CERT_WEAK_KEY, 0, i);
    if (i > 0 && !X509_check_ca(certificate)) sst__verdict_add(verdict, SST_ERR_CERT_NOT_CA, 0, i);
    /* Nothing rests on the signature of an anchor, nor on a self-signature. */
    const bool self_signed = sst__is_self_signed(certificate);
    if (i + 1 == count && (anchored || self_signed)) continue;
    if (!digest_is_strong(certificate, request->allow_sha1)) sst__verdict_add(verdict, SST_ERR_CERT_WEAK_DIGEST, 0, i);
  }
}

void sst__try_path(const sst__verification *verification, STACK_OF(X509) * trusted, STACK_OF(X509) * untrusted,
                   sst__verdict *verdict) {
  *verdict = (sst__verdict){.reasons = 0};
  X509_STORE_CTX *ctx = X509_STORE_CTX_new();
  if (ctx == NULL || !set_up(ctx, verification, trusted, untrusted, verdict)) {
    sst__verdict_add(verdict, SST_ERR_CERT_OTHER, X509_V_ERR_UNSPECIFIED, 0);
    goto done;
  }
  /* Faults that forbid to go on do not come to the callback. */
  if (X509_verify_cert(ctx) != 1) {
    const int error = X509_STORE_CTX_get_error(ctx);
    sst__verdict_add(verdict, sst__code_of_x509_error(error), error, 0);
  }
  verdict->path = X509_STORE_CTX_get1_chain(ctx);
  if (verdict->path == NULL) sst__verdict_add(verdict, SST_ERR_CERT_OTHER, X509_V_ERR_UNSPECIFIED, 0);
  add_own_checks(verification, verdict);
done:
  X509_STORE_CTX_free(ctx);
}

/* A leaf that does not parse is refused. Another certificate that does not is left out: peers send odd things behind a
   good chain, and if it was needed, the path ends without it. */
static sst_status parse_chain(sst__verification *verification, sst_error *record) {
  const STACK_OF(CRYPTO_BUFFER) *chain = verification->request->chain;
  const size_t count = sk_CRYPTO_BUFFER_num(chain);
  if (count > 0) verification->leaf = sst__parse_certificate(sk_CRYPTO_BUFFER_value(chain, 0));
  if (verification->leaf == NULL) {
    return sst__fail(record, SST_ERR_CERT_MALFORMED, "certificate 1 of %zu does not parse", count);
  }
  verification->untrusted = sk_X509_new_null();
  verification->positions = sst__alloc(count * sizeof *verification->positions);
  bool room = verification->untrusted != NULL && verification->positions != NULL;
  for (size_t i = 1; i < count && i < SST__IN_TRUST && room; i++) {
    X509 *certificate = sst__parse_certificate(sk_CRYPTO_BUFFER_value(chain, i));
    if (certificate == NULL) continue;
    verification->positions[sk_X509_num(verification->untrusted)] = (uint16_t)i;
    room = sk_X509_push(verification->untrusted, certificate) != 0;
    if (!room) X509_free(certificate);
  }
  return room ? SST_OK : sst__fail(record, SST_ERR_NO_MEMORY, "no memory to verify a certificate");
}

static bool find(const STACK_OF(X509) * list, const X509 *certificate, size_t *index) {
  for (size_t i = 0; i < sk_X509_num(list); i++) {
    *index = i;
    if (sk_X509_value(list, i) == certificate) return true;
  }
  return false;
}

/* Notes where each certificate of a good path is from. */
static void note_path(const sst__verification *verification, const sst__verdict *verdict, sst__path *path) {
  path->length = 0;
  for (size_t i = 0; i < sk_X509_num(verdict->path) && i < SST__MAX_PATH; i++) {
    const X509 *certificate = sk_X509_value(verdict->path, i);
    size_t index = 0;
    uint16_t at = 0; /* the leaf */
    if (find(verification->request->anchors->list, certificate, &index)) {
      at = (uint16_t)(SST__IN_TRUST + index);
    } else if (find(verification->untrusted, certificate, &index)) {
      at = verification->positions[index];
    }
    path->at[path->length++] = at;
  }
}

/* A rule of the protocol, not of trust, and so before all judgement: every key exchange here is signed by the leaf
   (RFC 8446, 4.4.2.2; RFC 8422, 5.3). */
static sst_status check_key_usage(const sst__verification *verification, sst_error *record) {
  if ((X509_get_key_usage(verification->leaf) & X509v3_KU_DIGITAL_SIGNATURE) != 0) return SST_OK; /* absent: all bits */
  char subject[SST__SUBJECT_CAP];
  sst__subject_text(X509_get_subject_name(verification->leaf), subject, sizeof subject);
  return sst__fail(record, SST_ERR_KEY_USAGE,
                   "the key of certificate 1 (%s) must not sign: keyUsage lacks digitalSignature", subject);
}

sst_status sst__verify_chain(const sst__verify_request *request, sst_error *record) {
  const uint64_t failed = sst__failed_allocations();
  sst__verification verification = {.request = request};
  sst__verdict verdict = {.reasons = 0};
  ERR_clear_error();
  sst_status status = parse_chain(&verification, record);
  if (status == SST_OK) status = check_key_usage(&verification, record);
  if (status == SST_OK) {
    sst__try_path(&verification, request->anchors->list, verification.untrusted, &verdict);
    if (verdict.reasons != 0) sst__search_paths(&verification, &verdict);
    if (verdict.reasons != 0) status = sst__report_verdict(&verification, &verdict, record);
    if (verdict.reasons == 0 && request->path != NULL) note_path(&verification, &verdict, request->path);
  }
  sst__verdict_clear(&verdict);
  X509_free(verification.leaf);
  sk_X509_pop_free(verification.untrusted, X509_free);
  sst__free(verification.positions);
  ERR_clear_error();
  if (status != SST_OK && sst__failed_allocations() != failed) {
    return sst__fail(record, SST_ERR_NO_MEMORY, "no memory to verify a certificate");
  }
  return status;
}
