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

/* One run over one path. */
typedef struct run {
  const sst__verification *verification;
  sst__verdict *verdict;
  X509 *barred;       /* who issued the last certificate but must not; borrowed */
  bool has_addresses; /* the leaf has a name of a kind whose constraints BoringSSL does not know: an address, mostly */
  size_t no_list_at;  /* depth + 1 of the certificate whose revocation list must not be used; 0: none */
} run;

/* Nobody vouches for an anchor but its owner: its own revocation is not looked at. */
static bool ends_at_anchor(X509_STORE_CTX *ctx, const run *of, size_t depth) {
  const STACK_OF(X509) *anchors = of->verification->request->anchors->list;
  if (depth + 1 != sk_X509_num(X509_STORE_CTX_get0_chain(ctx))) return false;
  for (size_t i = 0; i < sk_X509_num(anchors); i++) {
    if (X509_cmp(sk_X509_value(anchors, i), X509_STORE_CTX_get_current_cert(ctx)) == 0) return true;
  }
  return false;
}

/* A list that its issuer has not signed, or with a critical extension that is not understood, as delta lists have, says
   nothing of any certificate (RFC 5280, 5.2); an expired one still says what is revoked. BoringSSL goes on to look into
   it, after this fault. */
static bool forbids_list(int x509_error) {
  switch (x509_error) {
    case X509_V_ERR_KEYUSAGE_NO_CRL_SIGN:
    case X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER:
    case X509_V_ERR_CRL_SIGNATURE_FAILURE:
    case X509_V_ERR_DIFFERENT_CRL_SCOPE:
    case X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION:
      return true;
    default:
      return false;
  }
}

static sst_status code_of_revocation(X509_STORE_CTX *ctx, run *of, sst_status code, int x509_error, size_t depth) {
  if (ends_at_anchor(ctx, of, depth)) return SST_OK;
  if (forbids_list(x509_error)) of->no_list_at = depth + 1;
  return code == SST_ERR_CERT_REVOKED && of->no_list_at == depth + 1 ? SST_OK : code;
}

/* notAfter belongs to the validity (RFC 5280, 4.1.2.5): for BoringSSL it does not. */
static bool is_last_second(const X509 *certificate, int64_t unix_s) {
  int64_t last = 0;
  return ASN1_TIME_to_posix(X509_get0_notAfter(certificate), &last) && last == unix_s;
}

static sst_status code_of_no_issuer(run *of, const X509 *certificate, size_t depth) {
  sst_status code = SST_ERR_CERT_ISSUER_NOT_FOUND;
  if (depth >= SST__MAX_PATH) {
    /* Where BoringSSL's own limit stops the search for an issuer, it says that there is none. */
    code = SST_ERR_CERT_CHAIN_TOO_LONG;
  } else if (depth == 0 && sst__is_self_signed(certificate)) {
    code = SST_ERR_CERT_SELF_SIGNED;
  } else if (of->verification->names_barred_issuer) {
    of->barred = sst__barred_issuer(of->verification, certificate);
    if (of->barred != NULL) code = SST_OK;
  }
  return code;
}

static sst_status code_of_signature(const X509 *certificate, size_t depth) {
  sst_status code = SST_ERR_CERT_BAD_SIGNATURE;
  if (!digest_is_strong(certificate, true)) {
    code = SST_ERR_CERT_WEAK_DIGEST; /* BoringSSL does not know the algorithm: it has not looked at the signature */
  } else if (depth == 0 && sst__signs_itself(certificate)) {
    code = SST_ERR_CERT_SELF_SIGNED; /* an anchor of the same name is not its issuer */
  }
  return code;
}

/* What a fault that BoringSSL reports means here; SST_OK: nothing. */
static sst_status code_of_fault(X509_STORE_CTX *ctx, run *of, int x509_error, size_t depth) {
  const X509 *certificate = X509_STORE_CTX_get_current_cert(ctx);
  const sst_status code = sst__code_of_x509_error(x509_error);
  /* This is of the common name, which is never looked at. */
  if (x509_error == X509_V_ERR_NAME_CONSTRAINTS_WITHOUT_SANS) return SST_OK;
  if (x509_error == X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE && depth == 0) {
    of->has_addresses = true;
    return SST_OK;
  }
  switch (code) {
    case SST_ERR_CERT_CRL:
    case SST_ERR_CERT_REVOKED:
      return code_of_revocation(ctx, of, code, x509_error, depth);
    case SST_ERR_CERT_EXPIRED:
      return is_last_second(certificate, of->verification->request->unix_s) ? SST_OK : code;
    case SST_ERR_CERT_ISSUER_NOT_FOUND:
      return code_of_no_issuer(of, certificate, depth);
    case SST_ERR_CERT_BAD_SIGNATURE:
      return code_of_signature(certificate, depth);
    case SST_ERR_CERT_PURPOSE:
      /* An issuer that is no authority has no purpose either. */
      return depth > 0 && !X509_check_ca(certificate) ? SST_OK : code;
    default:
      return code;
  }
}

/* Notes every fault and goes on. X509_verify_cert then succeeds, and its last error is not the first: only what is
   noted here counts. */
static int collect(int ok, X509_STORE_CTX *ctx) {
  if (ok) return 1;
  run *of = X509_STORE_CTX_get_app_data(ctx);
  const int error = X509_STORE_CTX_get_error(ctx);
  const size_t depth = (size_t)X509_STORE_CTX_get_error_depth(ctx);
  const sst_status code = code_of_fault(ctx, of, error, depth);
  if (code != SST_OK) sst__verdict_add(of->verdict, code, error, depth);
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
                   STACK_OF(X509) * untrusted, run *of) {
  const sst__verify_request *request = verification->request;
  if (!X509_STORE_CTX_init(ctx, request->anchors->store, verification->leaf, untrusted)) return false;
  X509_STORE_CTX_set0_trusted_stack(ctx, trusted);
  X509_STORE_CTX_set_verify_cb(ctx, collect);
  if (!X509_STORE_CTX_set_app_data(ctx, of)) return false;

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

/* BoringSSL looks at certificates that are not in the trust alone. Self-issued ones do not count (RFC 5280, 6.1.4). */
static void add_path_lengths(sst__verdict *verdict) {
  long below = 0;
  for (size_t i = 1; i < sk_X509_num(verdict->path); i++) {
    const X509 *issuer = sk_X509_value(verdict->path, i);
    const long most = X509_get_pathlen(issuer);
    if (most >= 0 && below > most) {
      sst__verdict_add(verdict, SST_ERR_CERT_CHAIN_TOO_LONG, X509_V_ERR_PATH_LENGTH_EXCEEDED, i);
    }
    if ((X509_get_extension_flags(issuer) & EXFLAG_SI) == 0) below++;
  }
}

/* BoringSSL checks these up to the last certificate that is not in the trust. */
static void add_extension_checks(const sst__verify_request *request, const X509 *certificate, size_t depth,
                                 sst__verdict *verdict) {
  if ((X509_get_extension_flags(certificate) & EXFLAG_CRITICAL) != 0) {
    sst__verdict_add(verdict, SST_ERR_CERT_OTHER, X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION, depth);
  }
  if (depth > 0 && !X509_check_ca(certificate)) {
    sst__verdict_add(verdict, SST_ERR_CERT_NOT_CA, 0, depth);
  } else if (X509_check_purpose(certificate, purpose_of(request), depth > 0) != 1) {
    sst__verdict_add(verdict, SST_ERR_CERT_PURPOSE, 0, depth);
  }
}

/* What BoringSSL does not look at, or not at every certificate. */
static void add_own_checks(const sst__verification *verification, sst__verdict *verdict) {
  const sst__verify_request *request = verification->request;
  const size_t count = sk_X509_num(verdict->path);
  const uint64_t no_anchor =
      sst__reason_bit(SST_ERR_CERT_ISSUER_NOT_FOUND) | sst__reason_bit(SST_ERR_CERT_CHAIN_TOO_LONG);
  const bool anchored = (verdict->reasons & no_anchor) == 0;

  if (count > SST__MAX_PATH) sst__verdict_add(verdict, SST_ERR_CERT_CHAIN_TOO_LONG, 0, count - 1);
  add_path_lengths(verdict);
  for (size_t i = 0; i < count; i++) {
    const X509 *certificate = sk_X509_value(verdict->path, i);
    if (!key_is_strong(certificate, request->minimum_rsa_bits)) sst__verdict_add(verdict, SST_ERR_CERT_WEAK_KEY, 0, i);
    add_extension_checks(request, certificate, i, verdict);
    /* Nothing rests on the signature of an anchor, nor on a self-signature. */
    const bool self_signed = sst__is_self_signed(certificate);
    if (i + 1 == count && (anchored || self_signed)) continue;
    if (!digest_is_strong(certificate, request->allow_sha1)) sst__verdict_add(verdict, SST_ERR_CERT_WEAK_DIGEST, 0, i);
  }
}

void sst__try_path(const sst__verification *verification, STACK_OF(X509) * trusted, STACK_OF(X509) * untrusted,
                   sst__verdict *verdict) {
  *verdict = (sst__verdict){.reasons = 0};
  run of = {.verification = verification, .verdict = verdict};
  X509_STORE_CTX *ctx = X509_STORE_CTX_new();
  if (ctx == NULL || !set_up(ctx, verification, trusted, untrusted, &of)) {
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
  if (of.has_addresses) sst__add_address_constraints(verification, verdict);
  if (of.barred != NULL && verdict->path != NULL) sst__add_barred_issuer(verification, of.barred, verdict);
  add_own_checks(verification, verdict);
  sst__add_feature_constraints(verification, verdict);
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
    const CRYPTO_BUFFER *der = sk_CRYPTO_BUFFER_value(chain, i);
    X509 *certificate = sst__authorities_find(verification->request->anchors->known, der);
    if (certificate == NULL) certificate = sst__parse_certificate(der);
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

/* Makes the time of path shorter by that of a certificate. */
static void add_validity(const X509 *certificate, sst__path *path) {
  int64_t first = INT64_MAX, last = INT64_MIN; /* what cannot be told is never valid */
  if (!ASN1_TIME_to_posix(X509_get0_notBefore(certificate), &first)) first = INT64_MAX;
  if (!ASN1_TIME_to_posix(X509_get0_notAfter(certificate), &last)) last = INT64_MIN;
  if (path->not_before < first) path->not_before = first;
  if (path->not_after > last) path->not_after = last;
}

/* Notes where each certificate of a good path is from, and when all are valid. */
static void note_path(const sst__verification *verification, const sst__verdict *verdict, sst__path *path) {
  const sst__verify_request *request = verification->request;
  *path = (sst__path){.not_before = INT64_MIN, .not_after = INT64_MAX};
  for (size_t i = 0; i < sk_X509_num(verdict->path) && i < SST__MAX_PATH; i++) {
    X509 *certificate = sk_X509_value(verdict->path, i);
    size_t index = 0;
    uint16_t at = 0; /* the leaf */
    add_validity(certificate, path);
    if (find(request->anchors->list, certificate, &index)) {
      at = (uint16_t)(SST__IN_TRUST + index);
    } else if (find(verification->untrusted, certificate, &index)) {
      at = verification->positions[index];
      sst__authorities_add(request->anchors->known, sk_CRYPTO_BUFFER_value(request->chain, at), certificate);
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
    if ((verdict.reasons & sst__reason_bit(SST_ERR_CERT_ISSUER_NOT_FOUND)) != 0) {
      sst__look_for_barred_issuer(&verification, &verdict);
    }
    sst__add_missing_staple(&verification, &verdict);
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
