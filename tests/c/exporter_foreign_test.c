/*
 * Exporters and channel bindings against OpenSSL, in both roles.
 */
#include "openssl_peer.h"

#include <string.h>

static void is_the_same(const Foreign *foreign, const char *label, const uint8_t *context, size_t context_len,
                        size_t len) {
  uint8_t ours[512], theirs[512];
  EXPECT_STATUS(sst_stream_export_key(foreign->side.stream, label, strlen(label), context, context_len, ours, len),
                SST_OK);
  REQUIRE(openssl_export(foreign->peer, label, context, context_len, theirs, len));
  EXPECT_BYTES(ours, len, theirs, len);
}

static void exporters_agree(int32_t role, uint16_t version, const char *suites) {
  Foreign foreign = foreign_new(role, &(SideOptions){.max_version = version},
                                &(OpensslOptions){.version = version, .suites = suites});
  REQUIRE_STATUS(openssl_handshake(foreign.peer, &foreign.side), SST_OK);
  is_the_same(&foreign, "EXPERIMENTAL test", NULL, 0, 32);
  is_the_same(&foreign, "EXPERIMENTAL test", (const uint8_t *)"", 0, 32);
  is_the_same(&foreign, "EXPERIMENTAL test", (const uint8_t *)"context", 7, 1);
  is_the_same(&foreign, "EXPORTER-Channel-Binding", (const uint8_t *)"", 0, 32);
  is_the_same(&foreign, "l", (const uint8_t *)"context", 7, 512);
  foreign_free(&foreign);
}

static void exporters_agree_in_both_roles(uint16_t version, const char *suites) {
  exporters_agree(SST_ROLE_CLIENT, version, suites);
  exporters_agree(SST_ROLE_SERVER, version, suites);
}

TEST(exporter_foreign, openssl_exports_the_same_with_sha256_tls13) {
  exporters_agree_in_both_roles(SST_TLS1_3, "TLS_AES_128_GCM_SHA256");
}

TEST(exporter_foreign, openssl_exports_the_same_with_sha384_tls13) {
  exporters_agree_in_both_roles(SST_TLS1_3, "TLS_AES_256_GCM_SHA384");
}

TEST(exporter_foreign, openssl_exports_the_same_with_sha256_tls12) {
  exporters_agree_in_both_roles(SST_TLS1_2, "ECDHE-ECDSA-AES128-GCM-SHA256");
}

TEST(exporter_foreign, openssl_exports_the_same_with_sha384_tls12) {
  exporters_agree_in_both_roles(SST_TLS1_2, "ECDHE-ECDSA-AES256-GCM-SHA384");
}

static sst_status binding(const Foreign *foreign, int32_t kind, uint8_t *out, size_t *len) {
  return sst_stream_channel_binding(foreign->side.stream, kind, out, 64, len);
}

static void unique_agrees(int32_t role) {
  uint8_t ours[64], theirs[64];
  size_t len = 0;
  Foreign foreign =
      foreign_new(role, &(SideOptions){.max_version = SST_TLS1_2}, &(OpensslOptions){.version = SST_TLS1_2});
  REQUIRE_STATUS(openssl_handshake(foreign.peer, &foreign.side), SST_OK);
  EXPECT_STATUS(binding(&foreign, SST_BINDING_TLS_UNIQUE, ours, &len), SST_OK);
  EXPECT_BYTES(ours, len, theirs, openssl_client_finished(foreign.peer, theirs, sizeof theirs));
  foreign_free(&foreign);
}

TEST(exporter_foreign, openssl_has_the_same_tls_unique_tls12) {
  unique_agrees(SST_ROLE_CLIENT);
  unique_agrees(SST_ROLE_SERVER);
}

/* RFC 7627, 5.4: such a connection can be bound to another one; the certificate is what it is. */
static void only_the_certificate_binds(int32_t role) {
  uint8_t out[64];
  size_t len = 7;
  Foreign foreign = foreign_new(role, &(SideOptions){.max_version = SST_TLS1_2, .profile = SST_PROFILE_COMPAT},
                                &(OpensslOptions){.version = SST_TLS1_2, .no_extended_master_secret = true});
  REQUIRE_STATUS(openssl_handshake(foreign.peer, &foreign.side), SST_OK);
  EXPECT_STATUS(sst_stream_export_key(foreign.side.stream, "l", 1, NULL, 0, out, sizeof out), SST_ERR_UNSUPPORTED);
  EXPECT_STATUS(binding(&foreign, SST_BINDING_TLS_UNIQUE, out, &len), SST_ERR_UNSUPPORTED);
  EXPECT_EQ(len, 0);
  EXPECT_STATUS(binding(&foreign, SST_BINDING_TLS_EXPORTER, out, &len), SST_ERR_UNSUPPORTED);
  EXPECT_STATUS(binding(&foreign, SST_BINDING_TLS_SERVER_END_POINT, out, &len), SST_OK);
  EXPECT_EQ(len, 32);
  foreign_free(&foreign);
}

TEST(exporter_foreign, without_extended_master_secret_only_the_certificate_binds_tls12) {
  only_the_certificate_binds(SST_ROLE_CLIENT);
  only_the_certificate_binds(SST_ROLE_SERVER);
}
