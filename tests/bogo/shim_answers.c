#include "shim_answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim_signer.h"

/* The runner sees a non-empty stderr as a failure of a case that should pass. */
static void reject(Link *link, int32_t alert, const char *why) {
  fprintf(stderr, "%s\n", why);
  (void)sst_stream_reject(link->stream, alert);
}

static void about_hello(Link *link) {
  const Flags *flags = link->flags;
  uint8_t bytes[1024];
  size_t len = 0;
  link->was_asked_for_hello = true;
  if (flags->fail_early_callback) {
    reject(link, 40, ":CONNECTION_REJECTED:");
    return;
  }
  if (flags->fail_ddos_callback) {
    reject(link, 80, ":CONNECTION_REJECTED:");
    return;
  }
  if (flags->expect_advertised_alpn.data != NULL) {
    const sst_status status = sst_stream_client_hello_extension(link->stream, 16, bytes, sizeof bytes, &len);
    const Bytes *want = &flags->expect_advertised_alpn;
    if (status != SST_OK || len != want->len + 2 || memcmp(bytes + 2, want->data, want->len) != 0)
      fprintf(stderr, "another ALPN list than expected\n");
  }
  if (flags->expect_no_server_name) {
    (void)sst_stream_server_name(link->stream, bytes, sizeof bytes, &len);
    if (len > 0) fprintf(stderr, "there is a server name\n");
  }
  const sst_status status = sst_stream_set_config(link->stream, link->setup->config);
  if (status != SST_OK) reject(link, 80, sst_status_name(status));
}

static void check_schemes(const Link *link) {
  const Numbers *want = &link->flags->expect_peer_verify_pref;
  uint16_t schemes[64];
  size_t n = 0;
  if (want->count == 0) return;
  (void)sst_stream_accepted_schemes(link->stream, schemes, 64, &n);
  bool same = n == want->count;
  for (size_t i = 0; same && i < n; i++)
    same = schemes[i] == (uint16_t)want->at[i];
  if (!same) fprintf(stderr, "other signature schemes of the peer than expected\n");
}

static void check_issuers(const Link *link) {
  const char *list = link->flags->expect_client_ca_list;
  if (list == NULL) return;
  if (list[0] == '<') list = "";
  for (size_t i = 0;; i++) {
    uint8_t name[2048];
    size_t len = 0;
    (void)sst_stream_accepted_ca(link->stream, i, name, sizeof name, &len);
    if (len == 0 && *list == 0) return;
    const Bytes want = *list == 0 ? (Bytes){NULL, 0} : hex_name(&list);
    const bool same = want.len == len && len > 0 && memcmp(want.data, name, len) == 0;
    free((void *)want.data);
    if (same) continue;
    fprintf(stderr, "other issuers than expected\n");
    return;
  }
}

static void about_certificate(Link *link) {
  const Flags *flags = link->flags;
  check_schemes(link);
  check_issuers(link);
  if (flags->fail_cert_callback) {
    reject(link, flags->fail_cert_callback_alert > 0 ? flags->fail_cert_callback_alert : 80, ":CERT_CB_ERROR:");
    return;
  }
  if (flags->server && flags->fail_ocsp_callback) {
    reject(link, 80, ":OCSP_CB_ERROR:");
    return;
  }
  sst_credential *credential = link->setup->credentials[0];
  for (size_t i = 1; credential == NULL && i < FLAG_CREDENTIALS; i++)
    credential = link->setup->credentials[i];
  const sst_status status = sst_stream_set_credential(link->stream, credential);
  if (status != SST_OK) reject(link, -1, sst_status_name(status));
}

static void about_peer(Link *link) {
  const Flags *flags = link->flags;
  const bool judged = flags->verify_peer || flags->require_any_client_certificate;
  if (flags->fail_ocsp_callback) {
    reject(link, 113, ":OCSP_CB_ERROR:");
    return;
  }
  /* What BoringSSL's older callback has for it is handshake_failure. */
  const int32_t alert = flags->use_custom_verify_callback ? -1 : 40;
  if (flags->verify_fail && judged)
    reject(link, alert, ":CERTIFICATE_VERIFY_FAILED:");
  else
    (void)sst_stream_accept(link->stream);
}

int credential_index(const Link *link) {
  uint8_t ours[8192], of[8192];
  size_t ours_len = 0, of_len = 0;
  (void)sst_stream_local_certificate(link->stream, 0, ours, sizeof ours, &ours_len);
  if (ours_len == 0) return -1;
  for (int i = FLAG_CREDENTIALS - 1; i >= 0; i--) {
    const sst_credential *credential = link->setup->credentials[i];
    if (credential == NULL) continue;
    (void)sst_credential_certificate(credential, 0, of, sizeof of, &of_len);
    if (of_len == ours_len && memcmp(ours, of, of_len) == 0) return i;
  }
  return -1;
}

static void about_signature(Link *link) {
  const int index = credential_index(link);
  const char *path = index < 0 ? NULL : link->flags->credentials[index].key_file;
  uint8_t *message = malloc(1 << 20), signature[1024];
  size_t len = 0, signature_len = 0;
  int32_t operation;
  uint16_t scheme;
  if (message == NULL || path == NULL) usage_failure("no key", "to sign with");
  const sst_status status = sst_stream_private_key_operation(link->stream, &operation, &scheme, message, 1 << 20, &len);
  if (status == SST_OK) {
    const Bytes pem = read_file(path);
    signature_len = shim_sign(pem.data, pem.len, scheme, message, len, signature, sizeof signature);
    free((void *)pem.data);
  }
  free(message);
  if (signature_len == 0)
    reject(link, -1, "cannot sign");
  else
    (void)sst_stream_set_signature(link->stream, signature, signature_len);
}

static void about_session(Link *link) {
  uint8_t id[64];
  size_t len = 0;
  sst_session *session = NULL;
  (void)sst_stream_session_id(link->stream, id, sizeof id, &len);
  for (size_t i = 0; i < link->store->count; i++) {
    if (link->store->at[i].id_len == len && memcmp(link->store->at[i].id, id, len) == 0)
      session = link->store->at[i].session;
  }
  (void)sst_stream_answer_session(link->stream, session);
}

void answer(Link *link, sst_status question) {
  switch (question) {
    case SST_WANT_CLIENT_HELLO:
      about_hello(link);
      break;
    case SST_WANT_CERTIFICATE:
      about_certificate(link);
      break;
    case SST_WANT_CERTIFICATE_VERIFY:
      about_peer(link);
      break;
    case SST_WANT_PRIVATE_KEY_OPERATION:
      about_signature(link);
      break;
    case SST_WANT_SESSION:
      about_session(link);
      break;
    default:
      reject(link, -1, "a question that the shim does not know");
      break;
  }
}
