/* Names of IANA's numbers. The expected ones are those of the registries. */
#include <string.h>

#include "test.h"

TEST(names, suites_of_the_library_have_their_names) {
  EXPECT_STRING(sst_suite_name(0x1301), "TLS_AES_128_GCM_SHA256");
  EXPECT_STRING(sst_suite_name(0x1302), "TLS_AES_256_GCM_SHA384");
  EXPECT_STRING(sst_suite_name(0x1303), "TLS_CHACHA20_POLY1305_SHA256");
  EXPECT_STRING(sst_suite_name(0xc02b), "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256");
  EXPECT_STRING(sst_suite_name(0xc02f), "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256");
  EXPECT_STRING(sst_suite_name(0xc02c), "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384");
  EXPECT_STRING(sst_suite_name(0xc030), "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384");
  EXPECT_STRING(sst_suite_name(0xcca9), "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256");
  EXPECT_STRING(sst_suite_name(0xcca8), "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256");
}

TEST(names, groups_have_their_names) {
  EXPECT_STRING(sst_group_name(29), "x25519");
  EXPECT_STRING(sst_group_name(23), "secp256r1");
  EXPECT_STRING(sst_group_name(24), "secp384r1");
  EXPECT_STRING(sst_group_name(25), "secp521r1");
  EXPECT_STRING(sst_group_name(30), "x448");
  EXPECT_STRING(sst_group_name(256), "ffdhe2048");
  EXPECT_STRING(sst_group_name(260), "ffdhe8192");
  EXPECT_STRING(sst_group_name(512), "MLKEM512");
  EXPECT_STRING(sst_group_name(514), "MLKEM1024");
  EXPECT_STRING(sst_group_name(4587), "SecP256r1MLKEM768");
  EXPECT_STRING(sst_group_name(4588), "X25519MLKEM768");
  EXPECT_STRING(sst_group_name(4589), "SecP384r1MLKEM1024");
}

TEST(names, schemes_have_their_names) {
  EXPECT_STRING(sst_scheme_name(0x0403), "ecdsa_secp256r1_sha256");
  EXPECT_STRING(sst_scheme_name(0x0503), "ecdsa_secp384r1_sha384");
  EXPECT_STRING(sst_scheme_name(0x0603), "ecdsa_secp521r1_sha512");
  EXPECT_STRING(sst_scheme_name(0x0807), "ed25519");
  EXPECT_STRING(sst_scheme_name(0x0808), "ed448");
  EXPECT_STRING(sst_scheme_name(0x0804), "rsa_pss_rsae_sha256");
  EXPECT_STRING(sst_scheme_name(0x0806), "rsa_pss_rsae_sha512");
  EXPECT_STRING(sst_scheme_name(0x0401), "rsa_pkcs1_sha256");
  EXPECT_STRING(sst_scheme_name(0x0601), "rsa_pkcs1_sha512");
  EXPECT_STRING(sst_scheme_name(0x0904), "mldsa44");
  EXPECT_STRING(sst_scheme_name(0x0906), "mldsa87");
}

TEST(names, alerts_have_their_names) {
  EXPECT_STRING(sst_alert_name(0), "close_notify");
  EXPECT_STRING(sst_alert_name(10), "unexpected_message");
  EXPECT_STRING(sst_alert_name(20), "bad_record_mac");
  EXPECT_STRING(sst_alert_name(40), "handshake_failure");
  EXPECT_STRING(sst_alert_name(48), "unknown_ca");
  EXPECT_STRING(sst_alert_name(70), "protocol_version");
  EXPECT_STRING(sst_alert_name(112), "unrecognized_name");
  EXPECT_STRING(sst_alert_name(116), "certificate_required");
  EXPECT_STRING(sst_alert_name(120), "no_application_protocol");
  EXPECT_STRING(sst_alert_name(121), "ech_required");
}

TEST(names, unknown_numbers_are_unknown) {
  EXPECT_STRING(sst_suite_name(0), "unknown");
  EXPECT_STRING(sst_suite_name(0x0a0a), "unknown");
  EXPECT_STRING(sst_group_name(0), "unknown");
  EXPECT_STRING(sst_group_name(0xffff), "unknown");
  EXPECT_STRING(sst_scheme_name(0), "unknown");
  EXPECT_STRING(sst_alert_name(-1), "unknown");
  EXPECT_STRING(sst_alert_name(255), "unknown");
  EXPECT_STRING(sst_alert_name(INT32_MIN), "unknown");
  EXPECT_STRING(sst_alert_name(65536 + 40), "unknown");
}

TEST(names, every_number_has_a_name_that_is_not_null) {
  for (int32_t number = 0; number <= 0xffff; number++) {
    EXPECT(sst_suite_name((uint16_t)number) != NULL && sst_group_name((uint16_t)number) != NULL &&
           sst_scheme_name((uint16_t)number) != NULL && sst_alert_name(number) != NULL);
  }
}

TEST(version, library_is_of_the_version_of_the_header) {
  EXPECT_EQ(sst_version_number(), SST_VERSION_NUMBER);
  EXPECT_STRING(sst_version_string(), "0.1.0");
}
