/*
 * Resumption against OpenSSL, in both roles.
 */
#include "openssl_peer.h"
#include "resume.h"

static void both_resumed(Foreign *foreign) {
  uint8_t out[16];
  EXPECT_STATUS(openssl_handshake(foreign->peer, &foreign->side), SST_OK);
  EXPECT(info_of(&foreign->side).flags & SST_INFO_RESUMED);
  EXPECT(openssl_resumed(foreign->peer));
  EXPECT(openssl_write(foreign->peer, "response", 8));
  EXPECT_STATUS(side_receive(&foreign->side), SST_NEED_INPUT);
  EXPECT_RECEIVED(&foreign->side, "response", 8);
  EXPECT_STATUS(side_send(&foreign->side, "request", 7), SST_OK);
  EXPECT_EQ(openssl_read(foreign->peer, out, sizeof out), 7);
}

static void our_client(uint16_t version, const char *suites) {
  const OpensslOptions theirs = {.version = version, .suites = suites};
  SideOptions ours = {.report = SESSIONS, .max_version = version};
  Foreign foreign = foreign_new(SST_ROLE_CLIENT, &ours, &theirs);
  EXPECT_STATUS(openssl_handshake(foreign.peer, &foreign.side), SST_OK);
  EXPECT(!openssl_resumed(foreign.peer));
  EXPECT(openssl_write(foreign.peer, "x", 1));
  EXPECT_STATUS(side_receive(&foreign.side), SST_NEED_INPUT);
  sst_session *session = sst_stream_take_session(foreign.side.stream);
  REQUIRE(session != NULL);

  ours.session = session;
  foreign_again(&foreign, SST_ROLE_CLIENT, &ours);

  both_resumed(&foreign);
  sst_session_free(session);
  foreign_free(&foreign);
}

TEST(resumption_foreign, our_client_resumes_at_openssl_tls12) {
  our_client(SST_TLS1_2, "ECDHE-ECDSA-AES128-GCM-SHA256");
  our_client(SST_TLS1_2, "ECDHE-ECDSA-AES256-GCM-SHA384");
}

TEST(resumption_foreign, our_client_resumes_at_openssl_tls13) {
  our_client(SST_TLS1_3, "TLS_AES_128_GCM_SHA256");
  our_client(SST_TLS1_3, "TLS_AES_256_GCM_SHA384");
  our_client(SST_TLS1_3, "TLS_CHACHA20_POLY1305_SHA256");
}

static void our_server(uint16_t version, const char *suites) {
  const OpensslOptions theirs = {.version = version, .suites = suites};
  const SideOptions ours = {.tickets = TICKETS_BY_DEFAULT};
  uint8_t out[16];
  Foreign foreign = foreign_new(SST_ROLE_SERVER, &ours, &theirs);
  EXPECT_STATUS(openssl_handshake(foreign.peer, &foreign.side), SST_OK);
  EXPECT(!openssl_resumed(foreign.peer));
  EXPECT_STATUS(side_send(&foreign.side, "x", 1), SST_OK);
  EXPECT_EQ(openssl_read(foreign.peer, out, sizeof out), 1);

  foreign_again(&foreign, SST_ROLE_SERVER, &ours);

  both_resumed(&foreign);
  foreign_free(&foreign);
}

TEST(resumption_foreign, openssl_resumes_at_our_server_tls12) {
  our_server(SST_TLS1_2, "ECDHE-ECDSA-AES128-GCM-SHA256");
  our_server(SST_TLS1_2, "ECDHE-ECDSA-AES256-GCM-SHA384");
}

TEST(resumption_foreign, openssl_resumes_at_our_server_tls13) {
  our_server(SST_TLS1_3, "TLS_AES_128_GCM_SHA256");
  our_server(SST_TLS1_3, "TLS_AES_256_GCM_SHA384");
  our_server(SST_TLS1_3, "TLS_CHACHA20_POLY1305_SHA256");
}
