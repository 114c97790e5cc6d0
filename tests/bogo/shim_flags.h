/*
 * shim_flags.h - what BoringSSL's TLS test runner asks of the shim, one set of flags for each connection of a case.
 */
#ifndef SST_SHIM_FLAGS_H
#define SST_SHIM_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLAG_NUMBERS = 32, FLAG_CREDENTIALS = 8 };

/* The runner takes this exit code for "the shim cannot do that", and counts the case as not implemented. */
enum { EXIT_UNIMPLEMENTED = 89 };

typedef struct Bytes {
  const uint8_t *data; /* NULL: the flag was not given */
  size_t len;
} Bytes;

typedef struct Numbers {
  int32_t at[FLAG_NUMBERS];
  size_t count;
} Numbers;

typedef struct KeyFlags {
  const char *cert_file, *key_file;
  Numbers signing_prefs;
  Bytes ocsp_response, scts;
} KeyFlags;

typedef struct Flags {
  int32_t port, resume_count;
  int64_t shim_id;
  bool ipv6, server, async, is_handshaker_supported;

  KeyFlags credentials[FLAG_CREDENTIALS]; /* 0: the default one, the others in their order */
  size_t num_credentials;                 /* besides the default one */
  Numbers curves, verify_prefs;
  const char *cipher, *host_name, *trust_cert;
  int32_t min_version, max_version, max_send_fragment, read_size;
  bool no_tls12, no_tls13, no_ticket, enable_early_data;
  bool decline_alpn, reject_alpn;
  Bytes advertise_alpn, select_alpn;
  const char *use_client_ca_list;
  bool require_any_client_certificate, verify_peer, verify_fail, use_custom_verify_callback;
  bool use_ocsp_callback, set_ocsp_in_callback, decline_ocsp_callback, fail_ocsp_callback, expect_verify_result;
  bool use_early_callback, fail_early_callback, install_ddos_callback, fail_ddos_callback;
  bool fail_cert_callback, use_old_client_cert_callback;
  bool must_match_issuer, reverify_on_resume;
  int32_t fail_cert_callback_alert;

  bool shim_writes_first, shim_shuts_down, check_close_notify, send_alert, write_different_record_sizes;
  bool read_with_unfinished_write, key_update, key_update_before_read, handshake_twice, implicit_handshake;
  bool export_traffic_secrets, tls_unique, use_export_context;
  const char *shim_initial_write;
  int32_t repeat_shim_initial_write, export_keying_material;
  Bytes export_label, export_context;

  int32_t expect_version, expect_curve_id, expect_peer_signature_algorithm, expect_cipher, expect_cipher_aes;
  int32_t expect_cipher_no_aes, expect_selected_credential;
  Numbers expect_peer_verify_pref;
  bool expect_hrr, expect_no_hrr, expect_extended_master_secret, expect_session_miss, expect_no_session;
  bool expect_ticket_renewal, expect_ticket_supports_early_data, expect_accept_early_data, expect_reject_early_data;
  bool expect_no_offer_early_data, expect_session_id, expect_no_session_id, expect_no_peer_cert, expect_no_server_name;
  const char *expect_server_name, *expect_peer_cert_file, *expect_client_ca_list, *expect_early_data_reason;
  Bytes expect_alpn, expect_advertised_alpn, expect_ocsp_response, expect_scts;

  bool accepted; /* flags that ask for what the library always does */
} Flags;

/* Three sets: for the first connection, for those that resume, and for what follows refused early data. */
typedef struct FlagSets {
  Flags initial, resume, retry;
} FlagSets;

/* flags_read fills sets. A flag that the shim does not know, or cannot obey, ends the program with 89. */
void flags_read(int argc, char **argv, FlagSets *sets);

/* unimplemented says on stderr what the shim cannot do and ends the program with 89. */
_Noreturn void unimplemented(const char *what);

/* usage_failure says what is wrong and ends the program with 1. */
_Noreturn void usage_failure(const char *what, const char *detail);

#endif
