/*
 * Questions against OpenSSL: each is asked and answered with a foreign peer, and what becomes of a bad answer is what
 * the peer says.
 */
#include "answer.h"
#include "openssl_peer.h"

#include <stdlib.h>
#include <string.h>

/* Over all questions of our side. */
static sst_status foreign_handshake(Foreign *foreign, SideAnswers *answers) {
  sst_status status;
  while ((status = openssl_handshake(foreign->peer, &foreign->side)) >= SST_WANT_CLIENT_HELLO)
    answer(&foreign->side, answers);
  return status;
}

static void foreign_echo(Foreign *foreign) {
  char text[16] = "";
  EXPECT(openssl_write(foreign->peer, "hello", 5));
  EXPECT_STATUS(side_receive(&foreign->side), SST_NEED_INPUT);
  EXPECT_RECEIVED(&foreign->side, "hello", 5);
  EXPECT_STATUS(side_send(&foreign->side, "world", 5), SST_OK);
  EXPECT_EQ(openssl_read(foreign->peer, text, sizeof text), 5);
  EXPECT_STRING(text, "world");
}

#define ASKED(x) ASK(SST_WANT_##x)

static void serves(uint16_t version, const char *name, uint16_t scheme) {
  test_note("%s", name);
  sst_config *config = pair_config(
      &(SideOptions){.credential = "", .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE, .suspend = ASK_ALL},
      SST_ROLE_SERVER);
  Foreign foreign = foreign_new(SST_ROLE_SERVER, &(SideOptions){.no_config = true},
                                &(OpensslOptions){.version = version, .credential = "client-p256"});
  SideAnswers answers = {.config = config, .credential = answer_credential(name, scheme), .key = name};
  EXPECT_STATUS(foreign_handshake(&foreign, &answers), SST_OK);
  EXPECT_EQ(answers.asked, ASK_ALL);
  EXPECT_EQ(answers.questions, 4);
  EXPECT_EQ(info_of(&foreign.side).local_scheme, scheme);
  EXPECT_EQ(info_of(&foreign.side).flags & SST_INFO_VERIFIED, SST_INFO_VERIFIED);
  foreign_echo(&foreign);
  foreign_free(&foreign);
  sst_config_free(config);
  sst_credential_free(answers.credential);
}

TEST_VERSIONS(question_foreign, openssl_client_is_served_over_all_questions) {
  serves(version, "server-p256", 0x0403);
  serves(version, "server-p384", 0x0503);
  serves(version, "server-rsa2048", 0x0804);
  serves(version, "server-rsa2048", 0x0806);
  serves(version, "server-ed25519", 0x0807);
  if (version == SST_TLS1_2) serves(version, "server-rsa2048", 0x0401);
}

static void connects(uint16_t version, const char *name, uint16_t scheme) {
  test_note("%s", name);
  Foreign foreign =
      foreign_new(SST_ROLE_CLIENT, &(SideOptions){.suspend = ASK_ALL, .groups = {29, 23, 24, 25}},
                  &(OpensslOptions){.version = version, .ask_certificate = true, .issuers = "client-root-b"});
  SideAnswers answers = {.credential = answer_credential(name, scheme), .key = name};
  EXPECT_STATUS(foreign_handshake(&foreign, &answers), SST_OK);
  EXPECT_EQ(answers.asked, ASK_ALL & ~ASKED(CLIENT_HELLO));
  EXPECT_EQ(answers.questions, 3);
  EXPECT_EQ(info_of(&foreign.side).local_scheme, scheme);
  foreign_echo(&foreign);
  foreign_free(&foreign);
  sst_credential_free(answers.credential);
}

TEST_VERSIONS(question_foreign, openssl_server_is_reached_over_all_questions) {
  connects(version, "client-p256", 0x0403);
  connects(version, "client-p384", 0x0503);
  connects(version, "client-p521", 0x0603);
  connects(version, "client-rsa2048", 0x0805);
  connects(version, "client-ed25519", 0x0807);
  if (version == SST_TLS1_2) connects(version, "client-rsa2048", 0x0601);
}

/* ---- issuers that a peer accepts ---- */

/* The subject of a certificate: in a self-signed one also its issuer, so that its bytes stand in it twice. */
static void is_subject_of(const uint8_t *name, size_t name_len, const char *certificate) {
  const Data der = data_certificate(certificate, 0);
  size_t found = 0;
  REQUIRE(name_len > 10 && name_len < der.len);
  for (size_t i = 0; i + name_len <= der.len; i++)
    found += memcmp(der.bytes + i, name, name_len) == 0;
  EXPECT_EQ(found, 2);
  free(der.bytes);
}

static void accepts_one(Foreign *foreign, const char *certificate) {
  uint8_t name[500];
  size_t len = 0;
  while (openssl_handshake(foreign->peer, &foreign->side) == SST_WANT_CERTIFICATE_VERIFY)
    EXPECT_STATUS(sst_stream_accept_default(foreign->side.stream), SST_OK);
  EXPECT_STATUS(foreign->side.status, SST_WANT_CERTIFICATE);
  EXPECT_STATUS(sst_stream_accepted_ca(foreign->side.stream, 0, name, sizeof name, &len), SST_OK);
  is_subject_of(name, len, certificate);
  EXPECT_STATUS(sst_stream_accepted_ca(foreign->side.stream, 0, name, len - 1, &len), SST_NEED_OUTPUT);
  EXPECT_STATUS(sst_stream_accepted_ca(foreign->side.stream, 1, name, sizeof name, &len), SST_OK);
  EXPECT_EQ(len, 0);
}

TEST_VERSIONS(question_foreign, issuers_of_a_certificate_request_are_shown) {
  Foreign foreign =
      foreign_new(SST_ROLE_CLIENT, &(SideOptions){.suspend = ASKED(CERTIFICATE)},
                  &(OpensslOptions){.version = version, .ask_certificate = true, .issuers = "client-root-b"});
  accepts_one(&foreign, "client-root-b");
  foreign_free(&foreign);
}

/* certificate_authorities of a ClientHello (RFC 8446, 4.2.4), with the config there from the start and chosen. */
TEST(question_foreign, issuers_of_a_client_hello_are_shown) {
  sst_config *config = pair_config(&(SideOptions){.suspend = ASKED(CERTIFICATE)}, SST_ROLE_SERVER);
  for (int i = 0; i < 2; i++) {
    Foreign foreign =
        foreign_new(SST_ROLE_SERVER, i == 0 ? &(SideOptions){.config = config} : &(SideOptions){.no_config = true},
                    &(OpensslOptions){.version = SST_TLS1_3, .issuers = "root"});
    if (i == 1) {
      EXPECT_STATUS(openssl_handshake(foreign.peer, &foreign.side), SST_WANT_CLIENT_HELLO);
      EXPECT_STATUS(sst_stream_set_config(foreign.side.stream, config), SST_OK);
      foreign.side.status = SST_NEED_INPUT;
    }
    accepts_one(&foreign, "root");
    SideAnswers answers = {.credential = data_credential("server-p256")};
    answer(&foreign.side, &answers);
    EXPECT_STATUS(foreign_handshake(&foreign, &answers), SST_OK);
    foreign_echo(&foreign);
    foreign_free(&foreign);
    sst_credential_free(answers.credential);
  }
  sst_config_free(config);
}

/* ---- what is refused whatever the answer ---- */

/* Without extended master secret nobody is asked about the peer or for a credential. */
TEST(question_foreign, missing_extended_master_secret_comes_before_the_questions) {
  const OpensslOptions without = {.version = SST_TLS1_2, .no_extended_master_secret = true, .ask_certificate = true};
  Foreign client = foreign_new(SST_ROLE_CLIENT, &(SideOptions){.suspend = ASK_ALL}, &without);
  EXPECT_STATUS(openssl_handshake(client.peer, &client.side), SST_ERR_NO_EXTENDED_MASTER_SECRET);
  EXPECT_EQ(openssl_alert(client.peer), 40);
  foreign_free(&client);

  /* A server that is asked which config it is to have takes over the rule of that config. */
  for (int chosen_is_strict = 0; chosen_is_strict < 2; chosen_is_strict++) {
    const int32_t profile = chosen_is_strict ? SST_PROFILE_DEFAULT : SST_PROFILE_COMPAT;
    sst_config *config =
        pair_config(&(SideOptions){.suspend = ASKED(CERTIFICATE), .profile = profile}, SST_ROLE_SERVER);
    const SideOptions asks = {.suspend = ASK_ALL, .profile = chosen_is_strict ? SST_PROFILE_COMPAT : 0};
    Foreign server = foreign_new(SST_ROLE_SERVER, &asks, &without);
    EXPECT_STATUS(openssl_handshake(server.peer, &server.side), SST_WANT_CLIENT_HELLO);
    EXPECT_STATUS(sst_stream_set_config(server.side.stream, config), SST_OK);
    server.side.status = SST_NEED_INPUT;
    EXPECT_STATUS(openssl_handshake(server.peer, &server.side),
                  chosen_is_strict ? SST_ERR_NO_EXTENDED_MASTER_SECRET : SST_WANT_CERTIFICATE);
    foreign_free(&server);
    sst_config_free(config);
  }
}

/* A rule of the protocol, not of trust (RFC 8446, 4.4.2.2): who accepts the chain does not change it. */
TEST_VERSIONS(question_foreign, key_usage_is_refused_though_the_chain_is_accepted) {
  Foreign foreign = foreign_new(SST_ROLE_CLIENT, &(SideOptions){.suspend = ASKED(CERTIFICATE_VERIFY)},
                                &(OpensslOptions){.version = version, .credential = "ku-encipherment"});
  SideAnswers answers = {.accept = true};
  EXPECT_STATUS(foreign_handshake(&foreign, &answers), SST_ERR_KEY_USAGE);
  uint8_t der[4096];
  size_t len = 0;
  EXPECT_STATUS(sst_stream_refused_certificate(foreign.side.stream, 0, der, sizeof der, &len), SST_OK);
  EXPECT_AT_LEAST(len, 300);
  foreign_free(&foreign);
}

/* ---- bad answers, as OpenSSL sees them ---- */

static int alert_at_openssl(uint16_t version, int32_t role, sst_status want, int32_t alert) {
  const SideOptions server = {.suspend = ASK_ALL, .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE},
                    client = {.suspend = ASK_ALL};
  Foreign foreign = foreign_new(
      role, role == SST_ROLE_SERVER ? &server : &client,
      &(OpensslOptions){
          .version = version, .ask_certificate = true, .credential = role == SST_ROLE_SERVER ? "client-p256" : NULL});
  SideAnswers answers = {
      .config = foreign.side.config, .credential = answer_credential("eku-both", 0x0403), .key = "eku-both"};
  while (openssl_handshake(foreign.peer, &foreign.side) != want && foreign.side.status >= SST_WANT_CLIENT_HELLO)
    answer(&foreign.side, &answers);
  EXPECT_STATUS(foreign.side.status, want);
  EXPECT_STATUS(sst_stream_reject(foreign.side.stream, alert), SST_OK);
  foreign.side.status = SST_NEED_INPUT;
  EXPECT_STATUS(openssl_handshake(foreign.peer, &foreign.side), SST_ERR_REJECTED);
  const int heard = openssl_alert(foreign.peer);
  foreign_free(&foreign);
  sst_credential_free(answers.credential);
  return heard;
}

TEST_VERSIONS(question_foreign, openssl_hears_every_rejection) {
  static const struct {
    int32_t role;
    sst_status want;
    int32_t usual;
  } cases[] = {
      {SST_ROLE_SERVER, SST_WANT_CLIENT_HELLO, 112},         {SST_ROLE_SERVER, SST_WANT_CERTIFICATE, 40},
      {SST_ROLE_SERVER, SST_WANT_PRIVATE_KEY_OPERATION, 80}, {SST_ROLE_SERVER, SST_WANT_CERTIFICATE_VERIFY, 46},
      {SST_ROLE_CLIENT, SST_WANT_CERTIFICATE_VERIFY, 46},    {SST_ROLE_CLIENT, SST_WANT_CERTIFICATE, 40},
      {SST_ROLE_CLIENT, SST_WANT_PRIVATE_KEY_OPERATION, 80},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    test_note("%s, role %d", sst_status_name(cases[i].want), (int)cases[i].role);
    EXPECT_EQ(alert_at_openssl(version, cases[i].role, cases[i].want, -1), cases[i].usual);
    EXPECT_EQ(alert_at_openssl(version, cases[i].role, cases[i].want, 113), 113);
  }
}

TEST_VERSIONS(question_foreign, openssl_notices_a_wrong_signature) {
  sst_config *config = pair_config(&(SideOptions){.credential = "", .suspend = ASK_ALL}, SST_ROLE_SERVER);
  Foreign foreign =
      foreign_new(SST_ROLE_SERVER, &(SideOptions){.config = config}, &(OpensslOptions){.version = version});
  SideAnswers answers = {
      .config = config, .credential = answer_credential("server-p256", 0x0403), .key = "server-p256"};
  static const uint8_t zeros[70];
  while (openssl_handshake(foreign.peer, &foreign.side) != SST_WANT_PRIVATE_KEY_OPERATION)
    answer(&foreign.side, &answers);
  EXPECT_STATUS(sst_stream_set_signature(foreign.side.stream, zeros, sizeof zeros), SST_OK);
  foreign.side.status = SST_NEED_INPUT;
  EXPECT(openssl_handshake(foreign.peer, &foreign.side) <= SST_ERR_ALERT_RECEIVED);
  EXPECT(!openssl_finished(foreign.peer));
  foreign_free(&foreign);
  sst_config_free(config);
  sst_credential_free(answers.credential);
}
