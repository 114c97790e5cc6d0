#include "shim_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim_answers.h"

typedef sst_status Getter(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len);

static bool unequal(const char *what, int got, int want) {
  fprintf(stderr, "%s: %d (0x%04x), wanted %d (0x%04x)\n", what, got, (unsigned)got, want, (unsigned)want);
  return false;
}

static bool number(const char *what, int got, int want) {
  return want == 0 || got == want || unequal(what, got, want);
}

static bool bytes(const Link *link, const char *what, Getter *get, const uint8_t *want, size_t want_len) {
  uint8_t got[4096];
  size_t len = 0;
  const sst_status status = get(link->stream, got, sizeof got, &len);
  if (status == SST_OK && len == want_len && (len == 0 || memcmp(got, want, len) == 0)) return true;
  fprintf(stderr, "%s: not what was expected (%zu bytes, wanted %zu)\n", what, len, want_len);
  return false;
}

static bool check_numbers(const Link *link, const sst_stream_info *info) {
  const Flags *flags = link->flags;
  const bool aes = __builtin_cpu_supports("aes") != 0;
  return number("version", info->version, flags->expect_version) &&
         number("group", info->group, flags->expect_curve_id) &&
         number("peer's scheme", info->peer_scheme, flags->expect_peer_signature_algorithm) &&
         number("suite", info->suite, flags->expect_cipher) &&
         number("suite", info->suite, aes ? flags->expect_cipher_aes : flags->expect_cipher_no_aes);
}

static bool flag(const char *what, bool got, bool want) {
  if (got != want) fprintf(stderr, "%s: %s, wanted the opposite\n", what, got ? "yes" : "no");
  return got == want;
}

static bool check_facts(const Link *link, const sst_stream_info *info, bool is_early) {
  const Flags *flags = link->flags;
  const bool resumes = link->is_resume && !flags->expect_session_miss;
  /* While a client sends early data it does not know yet. */
  const bool known = !is_early || flags->server;
  bool good = !known || flag("resumed", (info->flags & SST_INFO_RESUMED) != 0, resumes);
  if (flags->expect_hrr || flags->expect_no_hrr)
    good = good && flag("HelloRetryRequest", (info->flags & SST_INFO_HELLO_RETRY) != 0, flags->expect_hrr);
  if (flags->expect_extended_master_secret)
    good = good && flag("extended master secret", (info->flags & SST_INFO_EXTENDED_MASTER_SECRET) != 0, true);
  if (is_early) return good;
  if (flags->expect_verify_result && !flags->verify_fail && flags->trust_cert != NULL &&
      sst_stream_num_peer_certificates(link->stream) > 0)
    good = good && flag("peer verified", (info->flags & SST_INFO_VERIFIED) != 0, true);
  const bool accepted = (info->flags & SST_INFO_EARLY_DATA_ACCEPTED) != 0;
  if (flags->expect_accept_early_data) good = good && flag("early data accepted", accepted, true);
  if (flags->expect_reject_early_data) good = good && flag("early data accepted", accepted, false);
  /* Why it was not is for logs; what can be told is whether it was. */
  const char *reason = flags->expect_early_data_reason;
  if (reason != NULL) good = good && flag("early data accepted", accepted, strncmp(reason, "accept", 6) == 0);
  return good;
}

static bool check_names(const Link *link) {
  const Flags *flags = link->flags;
  const Bytes *alpn = flags->server ? &flags->select_alpn : &flags->expect_alpn;
  const char *name = flags->expect_server_name;
  const Bytes *ocsp = &flags->expect_ocsp_response, *scts = &flags->expect_scts;
  return bytes(link, "ALPN", sst_stream_alpn, alpn->data, alpn->len) &&
         (name == NULL || bytes(link, "server name", sst_stream_server_name, (const uint8_t *)name, strlen(name))) &&
         (ocsp->data == NULL || bytes(link, "OCSP response", sst_stream_ocsp_response, ocsp->data, ocsp->len)) &&
         (scts->data == NULL || bytes(link, "SCTs", sst_stream_scts, scts->data, scts->len));
}

static bool check_peer_file(const Link *link, const char *path) {
  sst_credential *want = sst_credential_new();
  const Bytes pem = read_file(path);
  bool good = sst_credential_load_pem(want, pem.data, pem.len, NULL, 0) == SST_OK;
  free((void *)pem.data);
  for (size_t i = 0; good; i++) {
    uint8_t a[8192], b[8192];
    size_t a_len = 0, b_len = 0;
    (void)sst_stream_peer_certificate(link->stream, i, a, sizeof a, &a_len);
    (void)sst_credential_certificate(want, i, b, sizeof b, &b_len);
    good = a_len == b_len && memcmp(a, b, a_len) == 0;
    if (a_len == 0 || b_len == 0) break;
  }
  sst_credential_free(want);
  if (!good) fprintf(stderr, "another chain of the peer than expected\n");
  return good;
}

static bool check_peer(const Link *link) {
  const Flags *flags = link->flags;
  const bool has = sst_stream_num_peer_certificates(link->stream) > 0;
  if (flags->expect_no_peer_cert) return flag("peer's certificate", has, false);
  if (!flags->server || flags->require_any_client_certificate)
    if (!flag("peer's certificate", has, true)) return false;
  return flags->expect_peer_cert_file == NULL || check_peer_file(link, flags->expect_peer_cert_file);
}

/* The runner counts from 0 behind the default one, which is -1. */
static int shown_credential(const Link *link) {
  const int index = credential_index(link);
  return index > 0 ? index - 1 : -1;
}

/* A TLS 1.2 session comes with the handshake, one of TLS 1.3 behind it. */
static bool check_early_session(const Link *link, const sst_stream_info *info) {
  const Flags *flags = link->flags;
  const bool resumed = (info->flags & SST_INFO_RESUMED) != 0;
  if (flags->server) {
    if (link->is_resume) return true;
    if (flags->expect_session_id) return flag("a session by id", link->session != NULL, true);
    return !flags->expect_no_session_id || flag("a session by id", link->session != NULL, false);
  }
  const bool want =
      !flags->expect_no_session && (!resumed || flags->expect_ticket_renewal) && info->version < SST_TLS1_3;
  return flag("a new session", link->session != NULL, want);
}

bool check_handshake(Link *link, bool is_early) {
  const Flags *flags = link->flags;
  sst_stream_info info = {.size = sizeof info};
  link_collect(link);
  if (sst_stream_get_info(link->stream, &info) != SST_OK || info.suite == 0) return flag("a suite", false, true);
  if (flags->server && flags->use_early_callback && !flag("asked for the hello", link->was_asked_for_hello, true))
    return false;
  if (flags->expect_selected_credential != INT32_MIN && shown_credential(link) != flags->expect_selected_credential)
    return unequal("credential", shown_credential(link), flags->expect_selected_credential);
  return check_numbers(link, &info) && check_facts(link, &info, is_early) && check_names(link) && check_peer(link) &&
         (is_early || check_early_session(link, &info));
}

bool check_confirmed(Link *link) {
  sst_stream_info info = {.size = sizeof info};
  (void)sst_stream_get_info(link->stream, &info);
  return check_numbers(link, &info) && check_facts(link, &info, false) && check_names(link);
}

bool check_sessions(Link *link) {
  const Flags *flags = link->flags;
  sst_stream_info info = {.size = sizeof info};
  (void)sst_stream_get_info(link->stream, &info);
  if (flags->server || info.version < SST_TLS1_3) return true;
  const bool want = !flags->expect_no_session && !flags->shim_shuts_down;
  if (!flag("a new session", link->session != NULL, want) || !want) return link->session != NULL ? want : !want;
  sst_session_info session = {.size = sizeof session};
  (void)sst_session_get_info(link->session, &session);
  return flag("early data with the new session", session.max_early_data > 0, flags->expect_ticket_supports_early_data);
}
