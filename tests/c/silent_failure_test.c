/*
 * Failures after which the TLS implementation inside says nothing: our own alert tells the peer. The known one is a
 * leaf whose keyUsage forbids the signature (X03), which our own streams refuse to load: the peer is OpenSSL.
 */
#include "openssl_peer.h"

#include <stdlib.h>

typedef struct Usage {
  const char *credential; /* in tests/data */
  bool allowed;
} Usage;

static const Usage usages[] = {
    {"ku-none", true}, {"ku-signature", true}, {"ku-encipherment", false}, {"ku-certsign", false}};

static void expect_refused(Foreign *foreign, const char *credential) {
  const sst_error error = error_of(&foreign->side);
  EXPECT_STATUS(error.code, SST_ERR_KEY_USAGE);
  EXPECT(error.alert_sent == 42 || error.alert_sent == 43 || error.alert_sent == 47);
  EXPECT_EQ(openssl_alert(foreign->peer), error.alert_sent);
  EXPECT_EQ(sst_stream_num_peer_certificates(foreign->side.stream), 0);

  const Data leaf = data_certificate(credential, 0);
  uint8_t out[4096];
  size_t len = 0;
  EXPECT_STATUS(sst_stream_refused_certificate(foreign->side.stream, 0, out, sizeof out, &len), SST_OK);
  EXPECT_BYTES(out, len, leaf.bytes, leaf.len);
  free(leaf.bytes);
}

static void presented_to(int32_t role, uint16_t version, int32_t verify) {
  for (size_t i = 0; i < sizeof usages / sizeof *usages; i++) {
    test_note("%s, verify %d", usages[i].credential, verify);
    const bool client = role == SST_ROLE_CLIENT;
    const SideOptions ours = {.max_version = version,
                              .verify = verify,
                              .trust = "root",
                              .client_certificate = client ? 0 : SST_CLIENT_CERTIFICATE_REQUIRE};
    const OpensslOptions theirs = {.version = version, .credential = usages[i].credential};
    Foreign foreign = foreign_new(role, &ours, &theirs);
    const sst_status status = openssl_handshake(foreign.peer, &foreign.side);
    EXPECT_STATUS(status, usages[i].allowed ? SST_OK : SST_ERR_KEY_USAGE);
    if (!usages[i].allowed) expect_refused(&foreign, usages[i].credential);
    foreign_free(&foreign);
  }
}

/* Key usage is a rule of the protocol: verification on or off makes no difference. */
TEST_VERSIONS(silent_failure, wrong_key_usage_of_a_server_sends_an_alert) {
  presented_to(SST_ROLE_CLIENT, version, SST_VERIFY_NONE);
}

TEST_VERSIONS(silent_failure, wrong_key_usage_of_a_verified_server_sends_an_alert) {
  presented_to(SST_ROLE_CLIENT, version, SST_VERIFY_FULL);
}

TEST_VERSIONS(silent_failure, wrong_key_usage_of_a_client_sends_an_alert) {
  presented_to(SST_ROLE_SERVER, version, SST_VERIFY_NONE);
}

/* The alert comes out in pieces where the room is short, and once. */
TEST(silent_failure, alert_is_whole_in_a_room_of_one_byte_tls12) {
  const SideOptions ours = {.max_version = SST_TLS1_2, .verify = SST_VERIFY_NONE};
  const OpensslOptions theirs = {.version = SST_TLS1_2, .credential = "ku-encipherment"};
  Foreign foreign = foreign_new(SST_ROLE_CLIENT, &ours, &theirs);
  foreign.side.room = 1;
  EXPECT_STATUS(openssl_handshake(foreign.peer, &foreign.side), SST_ERR_KEY_USAGE);
  EXPECT_EQ(openssl_alert(foreign.peer), 47);
  EXPECT_EQ(records_count(foreign.side.out, 0, RECORD_ALERT), 1);
  EXPECT_STATUS(side_flush(&foreign.side), SST_OK);
  EXPECT_EQ(records_count(foreign.side.out, 0, RECORD_ALERT), 1);
  foreign_free(&foreign);
}

/* The library's own credentials cannot come to that: such a leaf is refused when it is loaded. */
TEST(silent_failure, credential_of_wrong_key_usage_is_not_loaded) {
  for (size_t i = 0; i < sizeof usages / sizeof *usages; i++) {
    test_note("%s", usages[i].credential);
    sst_credential *credential = sst_credential_new();
    const Data chain = data_read(usages[i].credential, "pem"), key = data_read(usages[i].credential, "key");
    const sst_status first = sst_credential_load_pem(credential, chain.bytes, chain.len, NULL, 0);
    const sst_status second = sst_credential_load_pem(credential, key.bytes, key.len, NULL, 0);
    EXPECT(usages[i].allowed == (first == SST_OK && second == SST_OK));
    if (!usages[i].allowed) EXPECT(first == SST_ERR_UNSUPPORTED_KEY || second == SST_ERR_UNSUPPORTED_KEY);
    free(chain.bytes);
    free(key.bytes);
    sst_credential_free(credential);
  }
}
