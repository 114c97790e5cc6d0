#include "shim_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(sst_status status, const char *what) {
  if (status != SST_OK) usage_failure(what, sst_status_name(status));
}

/* What the library refuses to be set to is something that it does not have. */
static void or_unimplemented(sst_status status, const char *what) {
  if (status == SST_ERR_INVALID_ARGUMENT || status <= SST_ERR_PARSE) unimplemented(what);
  must(status, what);
}

Bytes read_file(const char *path) {
  enum { MOST = 1 << 20 };
  FILE *file = fopen(path, "rb");
  uint8_t *data = malloc(MOST);
  if (file == NULL || data == NULL) usage_failure("cannot read", path);
  const size_t len = fread(data, 1, MOST, file);
  (void)fclose(file);
  return (Bytes){data, len};
}

static uint8_t nibble(char digit) {
  return (uint8_t)(digit <= '9' ? digit - '0' : (digit | 32) - 'a' + 10);
}

Bytes hex_name(const char **list) {
  const size_t digits = strcspn(*list, ",");
  uint8_t *data = malloc(digits / 2 + 1);
  if (data == NULL) usage_failure("no memory", *list);
  for (size_t i = 0; i + 1 < digits; i += 2) {
    data[i / 2] = (uint8_t)(nibble((*list)[i]) << 4 | nibble((*list)[i + 1]));
  }
  *list += digits + ((*list)[digits] == ',');
  return (Bytes){data, digits / 2};
}

static size_t as_u16(const Numbers *numbers, uint16_t *out) {
  for (size_t i = 0; i < numbers->count; i++)
    out[i] = (uint16_t)numbers->at[i];
  return numbers->count;
}

/* Any scheme that a key can make: set_caller_signs takes those that fit the leaf. */
static const uint16_t all_schemes[] = {0x0403, 0x0503, 0x0603, 0x0807, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601};

static sst_credential *credential_of(const KeyFlags *key, const Flags *flags) {
  const bool async = flags->async;
  if (key->cert_file == NULL) return NULL;
  sst_credential *credential = sst_credential_new();
  const Bytes chain = read_file(key->cert_file);
  const bool caller_signs = async || key->signing_prefs.count > 0;
  or_unimplemented(sst_credential_load_pem(credential, chain.data, chain.len, NULL, 0), "this certificate");
  if (caller_signs) {
    uint16_t schemes[FLAG_NUMBERS];
    const size_t n = as_u16(&key->signing_prefs, schemes);
    or_unimplemented(
        n > 0 ? sst_credential_set_caller_signs(credential, schemes, n)
              : sst_credential_set_caller_signs(credential, all_schemes, sizeof all_schemes / sizeof all_schemes[0]),
        "-signing-prefs");
  } else if (key->key_file != NULL) {
    const Bytes pem = read_file(key->key_file);
    or_unimplemented(sst_credential_load_pem(credential, pem.data, pem.len, NULL, 0), "this private key");
    free((void *)pem.data);
  }
  if (key->ocsp_response.data != NULL && !flags->decline_ocsp_callback)
    or_unimplemented(sst_credential_set_ocsp_response(credential, key->ocsp_response.data, key->ocsp_response.len),
                     "-ocsp-response: not the shape of one");
  if (key->scts.data != NULL)
    or_unimplemented(sst_credential_set_scts(credential, key->scts.data, key->scts.len), "-signed-cert-timestamps");
  free((void *)chain.data);
  return credential;
}

static void set_versions(sst_config *config, const Flags *flags) {
  uint16_t min = SST_TLS1_2, max = SST_TLS1_3;
  if (flags->min_version > min) min = (uint16_t)flags->min_version;
  if (flags->max_version > 0 && flags->max_version < max) max = (uint16_t)flags->max_version;
  if (flags->no_tls13 && max > SST_TLS1_2) max = SST_TLS1_2;
  if (flags->no_tls12 && min < SST_TLS1_3) min = SST_TLS1_3;
  const bool old = flags->expect_version != 0 && flags->expect_version < SST_TLS1_2;
  if (max < min || old) unimplemented("TLS 1.0 and 1.1");
  or_unimplemented(sst_config_set_versions(config, min, max), "-min-version, -max-version");
}

/* Names of IANA and nothing else: OpenSSL's language of cipher strings is not spoken here. */
static void set_suites(sst_config *config, const char *text) {
  static const uint16_t have[] = {0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8};
  uint16_t suites[FLAG_NUMBERS];
  size_t n = 0;
  while (*text != 0) {
    const size_t len = strcspn(text, ":");
    size_t i = 0;
    while (i < 6 && (strlen(sst_suite_name(have[i])) != len || strncmp(sst_suite_name(have[i]), text, len) != 0))
      i++;
    if (i == 6 || n == FLAG_NUMBERS) unimplemented("-cipher");
    suites[n++] = have[i];
    text += len + (text[len] == ':');
  }
  or_unimplemented(sst_config_set_tls12_suites(config, suites, n), "-cipher");
}

static void set_alpn(sst_config *config, const Flags *flags) {
  const Bytes *list = &flags->advertise_alpn;
  for (size_t at = 0; !flags->server && at < list->len; at += 1u + list->data[at]) {
    if (at + 1 + list->data[at] > list->len) unimplemented("-advertise-alpn: a damaged list");
    or_unimplemented(sst_config_add_alpn(config, list->data + at + 1, list->data[at]), "-advertise-alpn");
  }
  if (!flags->server) return;
  if (flags->select_alpn.len > 0)
    or_unimplemented(sst_config_add_alpn(config, flags->select_alpn.data, flags->select_alpn.len), "-select-alpn");
  if (flags->reject_alpn) must(sst_config_add_alpn(config, (const uint8_t *)"nobody has this", 15), "-reject-alpn");
}

static void set_client_cas(sst_config *config, const char *list) {
  if (list == NULL || list[0] == '<') return;
  while (*list != 0) {
    const Bytes name = hex_name(&list);
    or_unimplemented(sst_config_add_client_ca(config, name.data, name.len), "-use-client-ca-list");
    free((void *)name.data);
  }
}

static void set_questions(sst_config *config, const Flags *flags) {
  uint32_t mask = 0;
  const bool judged = flags->verify_peer || flags->require_any_client_certificate;
  const bool about_hello = flags->async || flags->use_early_callback || flags->fail_early_callback ||
                           flags->install_ddos_callback || flags->expect_advertised_alpn.data != NULL ||
                           flags->expect_no_server_name;
  const bool one_key = flags->num_credentials == 0; /* of several the library chooses one */
  const bool about_certificate = (flags->async && one_key) || flags->fail_cert_callback ||
                                 (flags->server && flags->fail_ocsp_callback) || flags->use_old_client_cert_callback ||
                                 flags->expect_peer_verify_pref.count > 0 || flags->expect_client_ca_list != NULL;
  if (flags->server && about_hello) mask |= 1u << (SST_WANT_CLIENT_HELLO - 16);
  if (about_certificate) mask |= 1u << (SST_WANT_CERTIFICATE - 16);
  if (flags->async || flags->use_custom_verify_callback || (flags->verify_fail && judged) ||
      flags->expect_verify_result || flags->fail_ocsp_callback)
    mask |= 1u << (SST_WANT_CERTIFICATE_VERIFY - 16);
  if (flags->server) mask |= 1u << (SST_WANT_SESSION - 16);
  must(sst_config_suspend_on(config, mask), "suspend_on");
}

static void set_numbers(sst_config *config, const Flags *flags) {
  uint16_t numbers[FLAG_NUMBERS];
  if (flags->curves.count > 0)
    or_unimplemented(sst_config_set_groups(config, numbers, as_u16(&flags->curves, numbers)), "-curves");
  if (flags->verify_prefs.count > 0)
    or_unimplemented(sst_config_set_signature_schemes(config, numbers, as_u16(&flags->verify_prefs, numbers)),
                     "-verify-prefs");
  if (flags->cipher != NULL) set_suites(config, flags->cipher);
  if (flags->max_send_fragment > 0)
    or_unimplemented(sst_config_set_max_fragment(config, (uint32_t)flags->max_send_fragment), "-max-send-fragment");
}

static void set_sessions(sst_config *config, const Flags *flags, Store *store) {
  /* As many as BoringSSL sends, which the runner's cases count with. */
  must(sst_config_set_ticket_count(config, 2), "tickets");
  if (flags->enable_early_data) must(sst_config_set_early_data(config, 1), "early data");
  if (!flags->no_ticket) {
    must(sst_config_report(config, 1u << SST_EVENT_SESSION), "events");
    must(sst_config_set_ticket_keys(config, store->keys), "ticket keys");
    return;
  }
  if (!flags->server) return; /* a client that wants no sessions does not ask for a ticket */
  sst_ticket_keys *none = sst_ticket_keys_new();
  must(sst_ticket_keys_replace(none, NULL, 0), "ticket keys");
  must(sst_config_set_ticket_keys(config, none), "ticket keys");
  must(sst_config_set_ticket_count(config, 0), "tickets");
  must(sst_config_report(config, 1u << SST_EVENT_SESSION), "events");
  sst_ticket_keys_free(none);
}

/* The verdict is the library's own where the case asks for it; else nobody is judged, as BoringSSL's shim does it. */
static void set_trust(sst_config *config, const Flags *flags) {
  if (!flags->expect_verify_result || flags->trust_cert == NULL) {
    must(sst_config_set_verify(config, SST_VERIFY_NONE), "verify");
    return;
  }
  sst_trust *trust = sst_trust_new();
  const Bytes pem = read_file(flags->trust_cert);
  must(sst_trust_load_pem(trust, pem.data, pem.len), "-trust-cert");
  must(sst_config_set_verify(config, SST_VERIFY_CHAIN_ONLY), "verify");
  must(sst_config_set_trust(config, trust), "trust");
  sst_trust_free(trust);
  free((void *)pem.data);
}

void setup_make(Setup *setup, const Flags *flags, Store *store) {
  memset(setup, 0, sizeof *setup);
  setup->config = sst_config_new();
  sst_config *config = setup->config;
  must(sst_config_set_profile(config, SST_PROFILE_COMPAT), "profile");
  set_trust(config, flags);
  must(sst_config_set_minimum_key(config, 1024), "minimum key");
  if (flags->server && flags->must_match_issuer) unimplemented("-must-match-issuer: of a server");
  /* A server always does. A client judges the chain of a session without a question, before its first byte. */
  if (!flags->server && flags->reverify_on_resume) unimplemented("-reverify-on-resume: of a client");
  set_versions(config, flags);
  set_numbers(config, flags);
  set_alpn(config, flags);
  set_client_cas(config, flags->use_client_ca_list);
  if (flags->server && flags->verify_peer)
    must(sst_config_set_client_certificate(config, SST_CLIENT_CERTIFICATE_REQUEST), "client certificates");
  else if (flags->server && flags->require_any_client_certificate)
    must(sst_config_set_client_certificate(config, SST_CLIENT_CERTIFICATE_REQUIRE), "client certificates");
  set_questions(config, flags);
  set_sessions(config, flags, store);
  /* The default credential comes behind the others. */
  for (size_t i = 1; i <= flags->num_credentials + 1; i++) {
    const size_t at = i > flags->num_credentials ? 0 : i;
    sst_credential *credential = credential_of(&flags->credentials[at], flags);
    setup->credentials[at] = credential;
    if (credential != NULL) must(sst_config_add_credential(config, credential), "a credential");
  }
}

void setup_free(Setup *setup) {
  for (size_t i = 0; i < FLAG_CREDENTIALS; i++)
    sst_credential_free(setup->credentials[i]);
  sst_config_free(setup->config);
}
