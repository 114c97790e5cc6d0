#include "shim_flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum Kind { ON, NUMBER, NUMBER64, TEXT, RAW, BASE64, LIST, NEW_KEY } Kind;

typedef struct Known {
  const char *name;
  Kind kind;
  size_t offset;
  bool of_key; /* offset is in a KeyFlags: of the default credential, or of the newest */
} Known;

#define FIELD(name, kind, field) {(name), (kind), offsetof(Flags, field), false}
#define KEY_FIELD(name, kind, field) {(name), (kind), offsetof(KeyFlags, field), true}

static const Known known[] = {
    FIELD("-port", NUMBER, port),
    FIELD("-shim-id", NUMBER64, shim_id),
    FIELD("-ipv6", ON, ipv6),
    FIELD("-server", ON, server),
    FIELD("-resume-count", NUMBER, resume_count),
    FIELD("-async", ON, async),
    FIELD("-is-handshaker-supported", ON, is_handshaker_supported),
    FIELD("-new-x509-credential", NEW_KEY, num_credentials),
    KEY_FIELD("-cert-file", TEXT, cert_file),
    KEY_FIELD("-key-file", TEXT, key_file),
    KEY_FIELD("-signing-prefs", LIST, signing_prefs),
    KEY_FIELD("-ocsp-response", BASE64, ocsp_response),
    KEY_FIELD("-signed-cert-timestamps", BASE64, scts),
    FIELD("-curves", LIST, curves),
    FIELD("-verify-prefs", LIST, verify_prefs),
    FIELD("-cipher", TEXT, cipher),
    FIELD("-host-name", TEXT, host_name),
    FIELD("-trust-cert", TEXT, trust_cert),
    FIELD("-min-version", NUMBER, min_version),
    FIELD("-max-version", NUMBER, max_version),
    FIELD("-max-send-fragment", NUMBER, max_send_fragment),
    FIELD("-read-size", NUMBER, read_size),
    FIELD("-no-tls12", ON, no_tls12),
    FIELD("-no-tls13", ON, no_tls13),
    FIELD("-no-ticket", ON, no_ticket),
    FIELD("-enable-early-data", ON, enable_early_data),
    FIELD("-decline-alpn", ON, decline_alpn),
    FIELD("-reject-alpn", ON, reject_alpn),
    FIELD("-advertise-alpn", RAW, advertise_alpn),
    FIELD("-select-alpn", RAW, select_alpn),
    FIELD("-use-client-ca-list", TEXT, use_client_ca_list),
    FIELD("-require-any-client-certificate", ON, require_any_client_certificate),
    FIELD("-verify-peer", ON, verify_peer),
    FIELD("-verify-fail", ON, verify_fail),
    FIELD("-use-custom-verify-callback", ON, use_custom_verify_callback),
    FIELD("-use-ocsp-callback", ON, use_ocsp_callback),
    FIELD("-set-ocsp-in-callback", ON, set_ocsp_in_callback),
    FIELD("-decline-ocsp-callback", ON, decline_ocsp_callback),
    FIELD("-fail-ocsp-callback", ON, fail_ocsp_callback),
    FIELD("-expect-verify-result", ON, expect_verify_result),
    FIELD("-use-early-callback", ON, use_early_callback),
    FIELD("-fail-early-callback", ON, fail_early_callback),
    FIELD("-install-ddos-callback", ON, install_ddos_callback),
    FIELD("-fail-ddos-callback", ON, fail_ddos_callback),
    FIELD("-fail-cert-callback", ON, fail_cert_callback),
    FIELD("-fail-cert-callback-alert", NUMBER, fail_cert_callback_alert),
    FIELD("-use-old-client-cert-callback", ON, use_old_client_cert_callback),
    FIELD("-shim-writes-first", ON, shim_writes_first),
    FIELD("-shim-shuts-down", ON, shim_shuts_down),
    FIELD("-check-close-notify", ON, check_close_notify),
    FIELD("-send-alert", ON, send_alert),
    FIELD("-write-different-record-sizes", ON, write_different_record_sizes),
    FIELD("-read-with-unfinished-write", ON, read_with_unfinished_write),
    FIELD("-key-update", ON, key_update),
    FIELD("-key-update-before-read", ON, key_update_before_read),
    FIELD("-handshake-twice", ON, handshake_twice),
    FIELD("-no-op-extra-handshake", ON, handshake_twice),
    FIELD("-implicit-handshake", ON, implicit_handshake),
    FIELD("-shim-initial-write", TEXT, shim_initial_write),
    FIELD("-repeat-shim-initial-write", NUMBER, repeat_shim_initial_write),
    FIELD("-export-keying-material", NUMBER, export_keying_material),
    FIELD("-export-label", RAW, export_label),
    FIELD("-export-context", RAW, export_context),
    FIELD("-use-export-context", ON, use_export_context),
    FIELD("-export-traffic-secrets", ON, export_traffic_secrets),
    FIELD("-tls-unique", ON, tls_unique),
    FIELD("-expect-version", NUMBER, expect_version),
    FIELD("-expect-curve-id", NUMBER, expect_curve_id),
    FIELD("-expect-peer-signature-algorithm", NUMBER, expect_peer_signature_algorithm),
    FIELD("-expect-peer-verify-pref", LIST, expect_peer_verify_pref),
    FIELD("-expect-cipher", NUMBER, expect_cipher),
    FIELD("-expect-cipher-aes", NUMBER, expect_cipher_aes),
    FIELD("-expect-cipher-no-aes", NUMBER, expect_cipher_no_aes),
    FIELD("-expect-selected-credential", NUMBER, expect_selected_credential),
    FIELD("-expect-hrr", ON, expect_hrr),
    FIELD("-expect-no-hrr", ON, expect_no_hrr),
    FIELD("-expect-extended-master-secret", ON, expect_extended_master_secret),
    FIELD("-expect-session-miss", ON, expect_session_miss),
    FIELD("-expect-no-session", ON, expect_no_session),
    FIELD("-expect-ticket-renewal", ON, expect_ticket_renewal),
    FIELD("-expect-ticket-supports-early-data", ON, expect_ticket_supports_early_data),
    FIELD("-expect-accept-early-data", ON, expect_accept_early_data),
    FIELD("-expect-reject-early-data", ON, expect_reject_early_data),
    FIELD("-expect-no-offer-early-data", ON, expect_no_offer_early_data),
    FIELD("-expect-early-data-reason", TEXT, expect_early_data_reason),
    FIELD("-expect-session-id", ON, expect_session_id),
    FIELD("-expect-no-session-id", ON, expect_no_session_id),
    FIELD("-expect-no-peer-cert", ON, expect_no_peer_cert),
    FIELD("-expect-no-server-name", ON, expect_no_server_name),
    FIELD("-expect-server-name", TEXT, expect_server_name),
    FIELD("-expect-peer-cert-file", TEXT, expect_peer_cert_file),
    FIELD("-expect-client-ca-list", TEXT, expect_client_ca_list),
    FIELD("-expect-alpn", RAW, expect_alpn),
    FIELD("-expect-advertised-alpn", RAW, expect_advertised_alpn),
    FIELD("-expect-ocsp-response", BASE64, expect_ocsp_response),
    FIELD("-expect-signed-cert-timestamps", BASE64, expect_scts),
    /* A server's order always wins, and no server answers to a name; a client always asks for both staples, and sends
       what the issuers fit; no write is cut; TLS 1.0 and 1.1 are not there. */
    FIELD("-server-preference", ON, accepted),
    FIELD("-enable-ocsp-stapling", ON, accepted),
    FIELD("-enable-signed-cert-timestamps", ON, accepted),
    FIELD("-partial-write", ON, accepted),
    FIELD("-must-match-issuer", ON, must_match_issuer),
    FIELD("-reverify-on-resume", ON, reverify_on_resume),
    FIELD("-no-server-name-ack", ON, accepted),
    FIELD("-no-tls1", ON, accepted),
    FIELD("-no-tls11", ON, accepted),
};

void unimplemented(const char *what) {
  fprintf(stderr, "not implemented: %s\n", what);
  exit(EXIT_UNIMPLEMENTED);
}

void usage_failure(const char *what, const char *detail) {
  fprintf(stderr, "%s: %s\n", what, detail);
  exit(1);
}

static uint8_t value_of(char digit) {
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *at = strchr(alphabet, digit);
  if (at == NULL || digit == 0) usage_failure("not base64", "a flag's value");
  return (uint8_t)(at - alphabet);
}

static Bytes base64(const char *text) {
  static uint8_t room[1 << 16]; /* of all values, to the end of the program */
  static size_t used;
  size_t len = strlen(text), n = 0;
  uint8_t *data = room + used;
  if (len > sizeof room - used) unimplemented("values of more than 64 KiB");
  while (len > 0 && text[len - 1] == '=')
    len--;
  uint32_t bits = 0, held = 0;
  for (size_t i = 0; i < len; i++) {
    bits = bits << 6 | value_of(text[i]);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    data[n++] = (uint8_t)(bits >> held);
  }
  used += n;
  return (Bytes){data, n};
}

static void append(Numbers *list, const char *text) {
  if (list->count == FLAG_NUMBERS) unimplemented("a list of more than 32 numbers");
  list->at[list->count++] = (int32_t)strtol(text, NULL, 0);
}

static void store(Flags *flags, const Known *flag, const char *value) {
  void *base = flag->of_key ? (void *)&flags->credentials[flags->num_credentials] : (void *)flags;
  void *field = (char *)base + flag->offset;
  switch (flag->kind) {
    case ON:
      *(bool *)field = true;
      break;
    case NUMBER:
      *(int32_t *)field = (int32_t)strtol(value, NULL, 0);
      break;
    case NUMBER64:
      *(int64_t *)field = (int64_t)strtoull(value, NULL, 0);
      break;
    case TEXT:
      *(const char **)field = value;
      break;
    case RAW:
      *(Bytes *)field = (Bytes){(const uint8_t *)value, strlen(value)};
      break;
    case BASE64:
      *(Bytes *)field = base64(value);
      break;
    case LIST:
      append(field, value);
      break;
    case NEW_KEY:
      if (flags->num_credentials == FLAG_CREDENTIALS - 1) unimplemented("more than 7 credentials");
      flags->num_credentials++;
      break;
  }
}

static const Known *find(const char *name) {
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strcmp(known[i].name, name) == 0) return &known[i];
  }
  unimplemented(name);
}

static bool take_prefix(const char **name, const char *prefix) {
  const size_t len = strlen(prefix);
  if (strncmp(*name, prefix, len) != 0 || (*name)[len] != '-') return false;
  *name += len;
  return true;
}

void flags_read(int argc, char **argv, FlagSets *sets) {
  memset(sets, 0, sizeof *sets);
  Flags *const all[] = {&sets->initial, &sets->resume, &sets->retry};
  for (size_t i = 0; i < 3; i++) {
    all[i]->shim_initial_write = "hello";
    all[i]->repeat_shim_initial_write = 1;
    all[i]->expect_selected_credential = INT32_MIN;
  }
  for (int i = 1; i < argc; i++) {
    const char *name = argv[i];
    if (take_prefix(&name, "-on-handshaker")) unimplemented(argv[i]);
    (void)take_prefix(&name, "-on-shim");
    Flags *only = NULL;
    if (take_prefix(&name, "-on-initial"))
      only = all[0];
    else if (take_prefix(&name, "-on-resume"))
      only = all[1];
    else if (take_prefix(&name, "-on-retry"))
      only = all[2];

    const Known *flag = find(name);
    const bool alone = flag->kind == ON || flag->kind == NEW_KEY;
    if (!alone && i + 1 == argc) usage_failure("a value is missing", name);
    const char *value = alone ? NULL : argv[++i];
    for (size_t set = 0; set < 3; set++) {
      if (only == NULL || only == all[set]) store(all[set], flag, value);
    }
  }
}
