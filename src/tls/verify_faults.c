/* From BoringSSL's numbers to codes, and from codes to a message that names certificate and cause. */
#include "tls/verify.h"

#include <stdio.h>

#include <openssl/evp.h>
#include <openssl/nid.h>
#include <openssl/obj.h>
#include <openssl/x509.h>

enum { WHICH_CAP = SST__SUBJECT_CAP + 64 };

/* What is not here is CERT_OTHER. */
static const struct {
  int x509_error;
  sst_status code;
} codes[] = {
    {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, SST_ERR_CERT_ISSUER_NOT_FOUND},
    {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, SST_ERR_CERT_ISSUER_NOT_FOUND},
    {X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, SST_ERR_CERT_ISSUER_NOT_FOUND},
    /* Whether the peer sends its unknown root or not changes nothing. */
    {X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, SST_ERR_CERT_ISSUER_NOT_FOUND},
    {X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, SST_ERR_CERT_SELF_SIGNED},
    {X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE, SST_ERR_CERT_BAD_SIGNATURE},
    {X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY, SST_ERR_CERT_BAD_SIGNATURE},
    {X509_V_ERR_CERT_SIGNATURE_FAILURE, SST_ERR_CERT_BAD_SIGNATURE},
    {X509_V_ERR_CERT_REVOKED, SST_ERR_CERT_REVOKED},
    {X509_V_ERR_INVALID_PURPOSE, SST_ERR_CERT_PURPOSE},
    {X509_V_ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD, SST_ERR_CERT_MALFORMED},
    {X509_V_ERR_ERROR_IN_CERT_NOT_AFTER_FIELD, SST_ERR_CERT_MALFORMED},
    {X509_V_ERR_INVALID_EXTENSION, SST_ERR_CERT_MALFORMED},
    {X509_V_ERR_INVALID_POLICY_EXTENSION, SST_ERR_CERT_MALFORMED},
    {X509_V_ERR_CERT_CHAIN_TOO_LONG, SST_ERR_CERT_CHAIN_TOO_LONG},
    {X509_V_ERR_PATH_LENGTH_EXCEEDED, SST_ERR_CERT_CHAIN_TOO_LONG},
    {X509_V_ERR_INVALID_CA, SST_ERR_CERT_NOT_CA},
    {X509_V_ERR_KEYUSAGE_NO_CERTSIGN, SST_ERR_CERT_NOT_CA},
    {X509_V_ERR_PERMITTED_VIOLATION, SST_ERR_CERT_NAME_CONSTRAINT},
    {X509_V_ERR_EXCLUDED_VIOLATION, SST_ERR_CERT_NAME_CONSTRAINT},
    {X509_V_ERR_SUBTREE_MINMAX, SST_ERR_CERT_NAME_CONSTRAINT},
    {X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, SST_ERR_CERT_NAME_CONSTRAINT},
    {X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX, SST_ERR_CERT_NAME_CONSTRAINT},
    {X509_V_ERR_UNSUPPORTED_NAME_SYNTAX, SST_ERR_CERT_NAME_CONSTRAINT},
    {X509_V_ERR_NAME_CONSTRAINTS_WITHOUT_SANS, SST_ERR_CERT_NAME_CONSTRAINT},
    {X509_V_ERR_UNABLE_TO_GET_CRL, SST_ERR_CERT_CRL},
    {X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE, SST_ERR_CERT_CRL},
    {X509_V_ERR_CRL_SIGNATURE_FAILURE, SST_ERR_CERT_CRL},
    {X509_V_ERR_CRL_NOT_YET_VALID, SST_ERR_CERT_CRL},
    {X509_V_ERR_CRL_HAS_EXPIRED, SST_ERR_CERT_CRL},
    {X509_V_ERR_ERROR_IN_CRL_LAST_UPDATE_FIELD, SST_ERR_CERT_CRL},
    {X509_V_ERR_ERROR_IN_CRL_NEXT_UPDATE_FIELD, SST_ERR_CERT_CRL},
    {X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER, SST_ERR_CERT_CRL},
    {X509_V_ERR_KEYUSAGE_NO_CRL_SIGN, SST_ERR_CERT_CRL},
    {X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION, SST_ERR_CERT_CRL},
    {X509_V_ERR_DIFFERENT_CRL_SCOPE, SST_ERR_CERT_CRL},
    {X509_V_ERR_CRL_PATH_VALIDATION_ERROR, SST_ERR_CERT_CRL},
    {X509_V_ERR_CERT_HAS_EXPIRED, SST_ERR_CERT_EXPIRED},
    {X509_V_ERR_CERT_NOT_YET_VALID, SST_ERR_CERT_NOT_YET_VALID},
    {X509_V_ERR_HOSTNAME_MISMATCH, SST_ERR_CERT_NAME_MISMATCH},
    {X509_V_ERR_EMAIL_MISMATCH, SST_ERR_CERT_NAME_MISMATCH},
    {X509_V_ERR_IP_ADDRESS_MISMATCH, SST_ERR_CERT_NAME_MISMATCH},
};

sst_status sst__code_of_x509_error(int x509_error) {
  sst_status code = SST_ERR_CERT_OTHER;
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    if (codes[i].x509_error == x509_error) code = codes[i].code;
  }
  return code;
}

/* The codes of the band are numbered in the order of precedence, downwards. Of one fault at several certificates the
   one nearest to the leaf is told. */
void sst__verdict_add(sst__verdict *verdict, sst_status code, int x509_error, size_t depth) {
  if (verdict->reasons == 0 || code > verdict->code || (code == verdict->code && depth < verdict->depth)) {
    verdict->code = code;
    verdict->x509_error = x509_error;
    verdict->depth = depth;
  }
  verdict->reasons |= sst__reason_bit(code);
}

void sst__verdict_clear(sst__verdict *verdict) {
  sk_X509_pop_free(verdict->path, X509_free);
  *verdict = (sst__verdict){.reasons = 0};
}

static sst_status report_key(const X509 *certificate, const char *which, uint32_t minimum_rsa_bits, sst_error *record) {
  const EVP_PKEY *key = X509_get0_pubkey(certificate);
  if (key != NULL && EVP_PKEY_id(key) == EVP_PKEY_RSA) {
    return sst__fail(record, SST_ERR_CERT_WEAK_KEY, "%s has an RSA key of %d bits; accepted are %u to 8192", which,
                     EVP_PKEY_bits(key), minimum_rsa_bits);
  }
  return sst__fail(record, SST_ERR_CERT_WEAK_KEY, "%s has a key of a kind that is not accepted", which);
}

static sst_status report_name(const X509 *leaf, const sst__verify_request *request, sst_error *record) {
  char names[SST__NAMES_CAP];
  sst__names_text(leaf, names, sizeof names);
  return sst__fail(record, SST_ERR_CERT_NAME_MISMATCH, "%s '%s' is not in the certificate (%s)",
                   request->name_is_ip ? "address" : "host name", request->name, names);
}

static sst_status report_issuer(const X509 *certificate, const char *which, int x509_error, sst_error *record) {
  char issuer[SST__SUBJECT_CAP];
  if (x509_error == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN) {
    return sst__fail(record, SST_ERR_CERT_ISSUER_NOT_FOUND, "%s is self-signed and not in the trust", which);
  }
  sst__subject_text(X509_get_issuer_name(certificate), issuer, sizeof issuer);
  return sst__fail(record, SST_ERR_CERT_ISSUER_NOT_FOUND,
                   "the issuer of %s is neither in the chain nor in the trust: %s", which, issuer);
}

static sst_status report_length(const char *which, int x509_error, sst_error *record) {
  if (x509_error == X509_V_ERR_PATH_LENGTH_EXCEEDED) {
    return sst__fail(record, SST_ERR_CERT_CHAIN_TOO_LONG, "the chain is longer than %s allows", which);
  }
  return sst__fail(record, SST_ERR_CERT_CHAIN_TOO_LONG, "the chain has more than %d certificates", SST__MAX_PATH);
}

static sst_status report_authority(const X509 *certificate, const char *which, sst_error *record) {
  if ((X509_get_extension_flags(certificate) & EXFLAG_CA) != 0) {
    return sst__fail(record, SST_ERR_CERT_NOT_CA, "%s signed another one, but its keyUsage lacks keyCertSign", which);
  }
  return sst__fail(record, SST_ERR_CERT_NOT_CA, "%s is no certificate authority, and issued another one", which);
}

static sst_status report_time(const X509 *certificate, const char *which, sst_status code, sst_error *record) {
  char time[SST__TIME_CAP];
  if (code == SST_ERR_CERT_EXPIRED) {
    sst__time_text(X509_get0_notAfter(certificate), time, sizeof time);
    return sst__fail(record, code, "%s expired at %s", which, time);
  }
  sst__time_text(X509_get0_notBefore(certificate), time, sizeof time);
  return sst__fail(record, code, "%s is not valid before %s", which, time);
}

static sst_status report_crl(const X509 *certificate, const char *which, int x509_error, sst_error *record) {
  char issuer[SST__SUBJECT_CAP];
  sst__subject_text(X509_get_issuer_name(certificate), issuer, sizeof issuer);
  switch (x509_error) {
    case X509_V_ERR_UNABLE_TO_GET_CRL:
      return sst__fail(record, SST_ERR_CERT_CRL, "no revocation list of %s is in the trust, for %s", issuer, which);
    case X509_V_ERR_CRL_HAS_EXPIRED:
      return sst__fail(record, SST_ERR_CERT_CRL, "the revocation list of %s, for %s, has expired", issuer, which);
    case X509_V_ERR_CRL_NOT_YET_VALID:
      return sst__fail(record, SST_ERR_CERT_CRL, "the revocation list of %s, for %s, is not valid yet", issuer, which);
    case X509_V_ERR_CRL_SIGNATURE_FAILURE:
    case X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE:
      return sst__fail(record, SST_ERR_CERT_CRL, "the signature of the revocation list of %s, for %s, is wrong", issuer,
                       which);
    default:
      return sst__fail(record, SST_ERR_CERT_CRL, "the revocation list of %s, for %s: %s", issuer, which,
                       X509_verify_cert_error_string(x509_error));
  }
}

static sst_status report(const X509 *certificate, const char *which, const sst__verify_request *request,
                         const sst__verdict *verdict, sst_error *record) {
  switch (verdict->code) {
    case SST_ERR_CERT_ISSUER_NOT_FOUND:
      return report_issuer(certificate, which, verdict->x509_error, record);
    case SST_ERR_CERT_SELF_SIGNED:
      return sst__fail(record, verdict->code, "%s is self-signed and not in the trust", which);
    case SST_ERR_CERT_BAD_SIGNATURE:
      return sst__fail(record, verdict->code, "the signature of %s is wrong", which);
    case SST_ERR_CERT_REVOKED:
      return sst__fail(record, verdict->code, "%s is revoked", which);
    case SST_ERR_CERT_PURPOSE:
      return sst__fail(record, verdict->code, "%s is not for a TLS %s by its key usage", which,
                       request->peer_is_server ? "server" : "client");
    case SST_ERR_CERT_WEAK_KEY:
      return report_key(certificate, which, request->minimum_rsa_bits, record);
    case SST_ERR_CERT_WEAK_DIGEST:
      return sst__fail(record, verdict->code, "%s is signed with %s", which,
                       OBJ_nid2ln(X509_get_signature_nid(certificate)));
    case SST_ERR_CERT_CHAIN_TOO_LONG:
      return report_length(which, verdict->x509_error, record);
    case SST_ERR_CERT_NOT_CA:
      return report_authority(certificate, which, record);
    case SST_ERR_CERT_CRL:
      return report_crl(certificate, which, verdict->x509_error, record);
    case SST_ERR_CERT_NAME_CONSTRAINT:
      return sst__fail(record, verdict->code, "a name in %s is outside what its issuers may certify", which);
    case SST_ERR_CERT_EXPIRED:
    case SST_ERR_CERT_NOT_YET_VALID:
      return report_time(certificate, which, verdict->code, record);
    case SST_ERR_CERT_NAME_MISMATCH:
      return report_name(certificate, request, record);
    case SST_ERR_CERT_STAPLE_MISSING:
      return sst__fail(record, verdict->code, "%s demands a stapled OCSP response, and the server sent none", which);
    default:
      if (verdict->x509_error == SST__FEATURE_MISSING) {
        return sst__fail(record, verdict->code, "%s lacks a TLS feature that its issuer has", which);
      }
      return sst__fail(record, verdict->code, "%s: %s", which, X509_verify_cert_error_string(verdict->x509_error));
  }
}

sst_status sst__report_verdict(const sst__verification *verification, const sst__verdict *verdict, sst_error *record) {
  const size_t count = sk_X509_num(verdict->path);
  const X509 *certificate = verdict->depth < count ? sk_X509_value(verdict->path, verdict->depth) : verification->leaf;
  char subject[SST__SUBJECT_CAP], which[WHICH_CAP];
  sst__subject_text(X509_get_subject_name(certificate), subject, sizeof subject);
  (void)snprintf(which, sizeof which, "certificate %zu of %zu (%s)", verdict->depth + 1, count, subject);
  const sst_status status = report(certificate, which, verification->request, verdict, record);
  record->reasons = verdict->reasons;
  return status;
}
