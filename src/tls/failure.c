/* Why a call of BoringSSL failed, in our codes. */
#include "tls/internal.h"

#include <openssl/err.h>
#include <openssl/evp_errors.h>
#include <stdio.h>

#include "memory.h"

typedef struct mapping {
  int reason;
  sst_status code;
} mapping;

static const mapping mappings[] = {
    {SSL_R_UNSUPPORTED_PROTOCOL, SST_ERR_NO_SHARED_VERSION},
    {SSL_R_WRONG_SSL_VERSION, SST_ERR_NO_SHARED_VERSION},
    {SSL_R_NO_SUPPORTED_VERSIONS_ENABLED, SST_ERR_NO_SHARED_VERSION},
    {SSL_R_WRONG_VERSION_ON_EARLY_DATA, SST_ERR_NO_SHARED_VERSION},
    {SSL_R_HTTP_REQUEST, SST_ERR_NOT_TLS},
    {SSL_R_HTTPS_PROXY_REQUEST, SST_ERR_NOT_TLS},
    {SSL_R_NO_SHARED_CIPHER, SST_ERR_NO_SHARED_SUITE},
    {SSL_R_NO_SHARED_GROUP, SST_ERR_NO_SHARED_GROUP},
    {SSL_R_NO_COMMON_SIGNATURE_ALGORITHMS, SST_ERR_NO_COMMON_SCHEME},
    {SSL_R_NO_APPLICATION_PROTOCOL, SST_ERR_NO_APPLICATION_PROTOCOL},
    {SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, SST_ERR_PEER_CERT_REQUIRED},
    {SSL_R_NO_RENEGOTIATION, SST_ERR_RENEGOTIATION},
    {SSL_R_RENEGOTIATION_MISMATCH, SST_ERR_RENEGOTIATION},
    {SSL_R_RENEGOTIATION_ENCODING_ERR, SST_ERR_RENEGOTIATION},
    {SSL_R_RESUMED_EMS_SESSION_WITHOUT_EMS_EXTENSION, SST_ERR_NO_EXTENDED_MASTER_SECRET},
    {SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, SST_ERR_BAD_RECORD_MAC},
    {SSL_R_DECRYPTION_FAILED, SST_ERR_BAD_RECORD_MAC},
    {SSL_R_BAD_PACKET_LENGTH, SST_ERR_BAD_RECORD_MAC}, /* shorter than a tag: a plain alert where a sealed one is due */
    {SSL_R_ENCRYPTED_LENGTH_TOO_LONG, SST_ERR_RECORD_OVERFLOW},
    {SSL_R_DATA_LENGTH_TOO_LONG, SST_ERR_RECORD_OVERFLOW},
    {SSL_R_TOO_MANY_EMPTY_FRAGMENTS, SST_ERR_FLOOD},
    {SSL_R_TOO_MANY_WARNING_ALERTS, SST_ERR_FLOOD},
    {SSL_R_TOO_MANY_KEY_UPDATES, SST_ERR_FLOOD},
    {SSL_R_TOO_MUCH_SKIPPED_EARLY_DATA, SST_ERR_FLOOD},
    {SSL_R_EXCESSIVE_MESSAGE_SIZE, SST_ERR_MESSAGE_TOO_LARGE},
    {SSL_R_UNCOMPRESSED_CERT_TOO_LARGE, SST_ERR_MESSAGE_TOO_LARGE},
    {SSL_R_KEY_USAGE_BIT_INCORRECT, SST_ERR_KEY_USAGE},
    {SSL_R_PRIVATE_KEY_OPERATION_FAILED, SST_ERR_PRIVATE_KEY_OPERATION},
    {SSL_R_ECH_REJECTED, SST_ERR_ECH_REJECTED},
    {SSL_R_CANNOT_PARSE_LEAF_CERT, SST_ERR_CERT_MALFORMED},

    {SSL_R_UNEXPECTED_MESSAGE, SST_ERR_UNEXPECTED_MESSAGE},
    {SSL_R_UNEXPECTED_RECORD, SST_ERR_UNEXPECTED_MESSAGE},
    {SSL_R_EXCESS_HANDSHAKE_DATA, SST_ERR_UNEXPECTED_MESSAGE},
    {SSL_R_BAD_CHANGE_CIPHER_SPEC, SST_ERR_UNEXPECTED_MESSAGE},
    {SSL_R_BAD_HELLO_REQUEST, SST_ERR_UNEXPECTED_MESSAGE},
    {SSL_R_BAD_HANDSHAKE_RECORD, SST_ERR_UNEXPECTED_MESSAGE},
    {SSL_R_INVALID_OUTER_RECORD_TYPE, SST_ERR_UNEXPECTED_MESSAGE},
    {SSL_R_UNEXPECTED_COMPATIBILITY_MODE, SST_ERR_UNEXPECTED_MESSAGE},
    {SSL_R_TOO_MUCH_READ_EARLY_DATA, SST_ERR_UNEXPECTED_MESSAGE},

    {SSL_R_DECODE_ERROR, SST_ERR_DECODE},
    {SSL_R_BAD_ALERT, SST_ERR_DECODE},
    {SSL_R_LENGTH_MISMATCH, SST_ERR_DECODE},
    {SSL_R_BAD_LENGTH, SST_ERR_DECODE},
    {SSL_R_RECORD_LENGTH_MISMATCH, SST_ERR_DECODE},
    {SSL_R_CLIENTHELLO_PARSE_FAILED, SST_ERR_DECODE},
    {SSL_R_CLIENTHELLO_TLSEXT, SST_ERR_DECODE},
    {SSL_R_PARSE_TLSEXT, SST_ERR_DECODE},
    {SSL_R_ERROR_PARSING_EXTENSION, SST_ERR_DECODE},
    {SSL_R_ERROR_IN_RECEIVED_CIPHER_LIST, SST_ERR_DECODE},
    {SSL_R_EXTRA_DATA_IN_MESSAGE, SST_ERR_DECODE},
    {SSL_R_INVALID_MESSAGE, SST_ERR_DECODE},
    {SSL_R_CERT_LENGTH_MISMATCH, SST_ERR_DECODE},
    {SSL_R_CA_DN_TOO_LONG, SST_ERR_DECODE},
    {SSL_R_CERT_DECOMPRESSION_FAILED, SST_ERR_DECODE},

    {SSL_R_UNKNOWN_ALERT_TYPE, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_INVALID_ALPN_PROTOCOL, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_TLS13_DOWNGRADE, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_DUPLICATE_EXTENSION, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_DUPLICATE_KEY_SHARE, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_UNEXPECTED_EXTENSION, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_MISSING_EXTENSION, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_MISSING_KEY_SHARE, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_WRONG_CIPHER_RETURNED, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_UNSUPPORTED_COMPRESSION_ALGORITHM, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_INVALID_COMPRESSION_LIST, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_SECOND_SERVERHELLO_VERSION_MISMATCH, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_SERVER_ECHOED_INVALID_SESSION_ID, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_EMPTY_HELLO_RETRY_REQUEST, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_BAD_ECPOINT, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_WRONG_CURVE, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_WRONG_SIGNATURE_TYPE, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_WRONG_CERTIFICATE_TYPE, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_UNKNOWN_CERTIFICATE_TYPE, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_SSL3_EXT_INVALID_SERVERNAME, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_PRE_SHARED_KEY_MUST_BE_LAST, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_UNSUPPORTED_ELLIPTIC_CURVE, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_BAD_ECC_CERT, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_UNKNOWN_CERT_COMPRESSION_ALG, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_PSK_IDENTITY_NOT_FOUND, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_PSK_IDENTITY_BINDER_COUNT_MISMATCH, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_OLD_SESSION_VERSION_NOT_RETURNED, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_OLD_SESSION_CIPHER_NOT_RETURNED, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_OLD_SESSION_PRF_HASH_MISMATCH, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_CIPHER_MISMATCH_ON_EARLY_DATA, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_ALPN_MISMATCH_ON_EARLY_DATA, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_UNEXPECTED_EXTENSION_ON_EARLY_DATA, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_INVALID_CLIENT_HELLO_INNER, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_INVALID_OUTER_EXTENSION, SST_ERR_ILLEGAL_PARAMETER},
    {SSL_R_INCONSISTENT_ECH_NEGOTIATION, SST_ERR_ILLEGAL_PARAMETER},

    {SSL_R_BAD_SIGNATURE, SST_ERR_PROTOCOL},
    {SSL_R_DIGEST_CHECK_FAILED, SST_ERR_PROTOCOL},
    {SSL_R_INAPPROPRIATE_FALLBACK, SST_ERR_PROTOCOL},
    {SSL_R_PEER_ERROR_UNSUPPORTED_CERTIFICATE_TYPE, SST_ERR_PROTOCOL},
    {SSL_R_UNSUPPORTED_CERTIFICATE, SST_ERR_PROTOCOL},
    {SSL_R_RESUMED_NON_EMS_SESSION_WITH_EMS_EXTENSION, SST_ERR_PROTOCOL},
};

/* Reasons of the libraries below that say more than what the SSL library adds, which is DECODE_ERROR in TLS 1.3 and
   nothing in TLS 1.2. The first two are about the key in the peer's leaf; the others come without an entry of the SSL
   library: a point in that key that is not on its curve, and a key of ours that cannot sign. 0: every reason. */
static const struct {
  int library, reason;
  sst_status code;
} lower[] = {
    {ERR_LIB_EVP, EVP_R_UNSUPPORTED_ALGORITHM, SST_ERR_UNSUPPORTED_KEY},
    {ERR_LIB_EVP, EVP_R_DECODE_ERROR, SST_ERR_CERT_MALFORMED},
    {ERR_LIB_EC, 0, SST_ERR_CERT_MALFORMED},
    {ERR_LIB_RSA, 0, SST_ERR_PRIVATE_KEY_OPERATION},
    {ERR_LIB_ECDSA, 0, SST_ERR_PRIVATE_KEY_OPERATION},
};

/* SST_OK: entry is not one of these. */
static sst_status code_of_lower(uint32_t entry) {
  for (size_t i = 0; i < sizeof lower / sizeof lower[0]; i++) {
    const bool same = lower[i].reason == 0 || lower[i].reason == ERR_GET_REASON(entry);
    if (same && lower[i].library == ERR_GET_LIB(entry)) return lower[i].code;
  }
  return SST_OK;
}

/* Empties the queue and returns the entry that says most: the oldest of the SSL library, since those of the layers below
   it (a cipher's "bad decrypt") come first and say less; but one about the key in the leaf; without any, the oldest. */
static uint32_t first_error(bool *no_memory) {
  uint32_t oldest = 0, oldest_ssl = 0, of_leaf = 0, entry;
  while ((entry = ERR_get_error()) != 0) {
    if (oldest == 0) oldest = entry;
    if (oldest_ssl == 0 && ERR_GET_LIB(entry) == ERR_LIB_SSL) oldest_ssl = entry;
    if (of_leaf == 0 && ERR_GET_LIB(entry) == ERR_LIB_EVP && code_of_lower(entry) != SST_OK) of_leaf = entry;
    if (ERR_GET_REASON(entry) == ERR_R_MALLOC_FAILURE) *no_memory = true;
  }
  const bool point = ERR_GET_LIB(oldest) == ERR_LIB_EC && ERR_GET_REASON(oldest_ssl) == SSL_R_DECODE_ERROR;
  if (of_leaf != 0) return of_leaf;
  return oldest_ssl != 0 && !point ? oldest_ssl : oldest;
}

/* A TLS 1.2 server gives one reason for three things; the ClientHello tells them apart. */
static sst_status nothing_shared(const sst__tls *tls) {
  if (tls->no_common_suite) return sst__refuse(SST_ERR_NO_SHARED_SUITE);
  return sst__refuse(tls->no_common_group ? SST_ERR_NO_SHARED_GROUP : SST_ERR_NO_COMMON_SCHEME);
}

static sst_status code_of(const sst__tls *tls, uint32_t entry) {
  if (ERR_GET_LIB(entry) != ERR_LIB_SSL) {
    const sst_status code = code_of_lower(entry);
    return code != SST_OK ? code : sst__refuse(SST_ERR_INTERNAL);
  }
  const int reason = ERR_GET_REASON(entry);
  const bool is_server = tls->context->parts.role == SST_ROLE_SERVER;
  if (is_server && tls->in_handshake && (reason == SSL_R_NO_SHARED_CIPHER || reason == SSL_R_WRONG_CURVE)) {
    return nothing_shared(tls);
  }
  /* Before the handshake has got anywhere, a wrong record version is no TLS at all. */
  if (reason == SSL_R_WRONG_VERSION_NUMBER) {
    const bool nothing_yet = tls->in_handshake && SSL_get_current_cipher(tls->ssl) == NULL;
    return sst__refuse(nothing_yet ? SST_ERR_NOT_TLS : SST_ERR_DECODE);
  }
  for (size_t i = 0; i < sizeof mappings / sizeof mappings[0]; i++) {
    if (mappings[i].reason == reason) return mappings[i].code;
  }
  return sst__refuse(SST_ERR_INTERNAL);
}

/* A TLS 1.3 client that refuses our certificate may tell it by an alert that is not encrypted (OpenSSL does). It cannot
   be opened, and the handshake has failed in any case: then it is told as the reason. Anybody in the middle can forge
   it, as anybody there can end the handshake. */
static bool is_plain_alert(const sst__tls *tls, uint32_t entry) {
  enum { TYPE_ALERT = 21, FATAL = 2 };
  const bool not_opened = ERR_GET_LIB(entry) == ERR_LIB_SSL && ERR_GET_REASON(entry) == SSL_R_BAD_PACKET_LENGTH;
  return tls->in_handshake && tls->context->parts.role == SST_ROLE_SERVER && not_opened &&
         tls->header[0] == TYPE_ALERT && tls->header[3] == 0 && tls->header[4] == sizeof tls->short_body &&
         tls->short_body[0] == FATAL;
}

/* What else tells the one side that reads the message where to look. */
static void fail_with_reason(const sst__tls *tls, sst_status code, const char *reason) {
  const sst__settings *settings = tls->context->parts.settings;
  const char *text = sst_status_text(code);
  if (code == SST_ERR_NO_SHARED_VERSION) {
    const int lowest = settings->min_version - SST_TLS1_2 + 2, highest = settings->max_version - SST_TLS1_2 + 2;
    (void)sst__fail(tls->error, code, "%s; this side has TLS 1.%d to TLS 1.%d (%s)", text, lowest, highest, reason);
  } else if (sst__is_certificate_code(code) || code == SST_ERR_UNSUPPORTED_KEY) {
    (void)sst__fail(tls->error, code, "certificate 1 of the peer, the leaf: %s (%s)", text, reason);
  } else {
    (void)sst__fail(tls->error, code, "%s the handshake: %s (%s)", tls->in_handshake ? "in" : "after", text, reason);
  }
}

static void explain(sst__tls *tls, int ssl_error, bool no_memory) {
  sst_error *error = tls->error;
  const uint32_t entry = first_error(&no_memory);
  if (tls->judged) return;
  if (is_plain_alert(tls, entry)) {
    tls->alert_received = tls->short_body[1];
    sst__events_add(tls->base.events, SST_EVENT_ALERT_RECEIVED, (uint64_t)tls->alert_received, NULL, 0);
  }
  if (tls->in_handshake && tls->alert_received == SSL_AD_CLOSE_NOTIFY) {
    (void)sst__fail(error, SST_ERR_HANDSHAKE_EOF, "the peer sent close_notify inside the handshake");
  } else if (tls->alert_received >= 0) {
    (void)sst__fail(error, SST_ERR_ALERT_RECEIVED - tls->alert_received, "the peer sent the fatal alert %s (%d)",
                    sst_alert_name(tls->alert_received), (int)tls->alert_received);
  } else if (no_memory || tls->no_memory) {
    (void)sst__fail(error, SST_ERR_NO_MEMORY, "no memory for %s",
                    tls->in_handshake ? "the handshake" : "a record or a message of the open stream");
  } else if (entry == 0) {
    (void)sst__fail(error, SST_ERR_INTERNAL, "the TLS implementation failed without a reason (%d)", ssl_error);
  } else {
    const char *reason = ERR_reason_error_string(entry);
    fail_with_reason(tls, code_of(tls, entry), reason == NULL ? "no reason given" : reason);
  }
  sst__observe_failure(entry, error->code);
}

sst__step sst__tls_failed(sst__tls *tls, int ssl_error, uint64_t failed_allocations) {
  sst_error *error = tls->error;
  explain(tls, ssl_error, sst__failed_allocations() != failed_allocations);
  if (sst__is_certificate_code(error->code) || error->code == SST_ERR_KEY_USAGE) sst__tls_keep_refused(tls);

  /* Nobody is left without a word: BoringSSL sends no alert for a failing signer, for a wrong key usage in TLS 1.2, and
     others. Where the failure is the peer's alert, or the peer has gone, there is nothing to say. */
  const bool silent = error->code == SST_ERR_HANDSHAKE_EOF || tls->alert_received >= 0;
  if (!silent && tls->alert_sent < 0 && error->alert_sent >= 0) {
    (void)SSL_send_fatal_alert(tls->ssl, (uint8_t)error->alert_sent);
  }
  error->alert_sent = tls->alert_sent;
  error->alert_received = tls->alert_received;
  ERR_clear_error();
  return SST__STEP_FAILED;
}
