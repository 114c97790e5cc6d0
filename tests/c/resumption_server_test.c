/*
 * What a server resumes: sessions of its own rule, for the same host, of clients that are good still.
 */
#include <stdlib.h>

#include "resume.h"

enum { REQUEST = SST_CLIENT_CERTIFICATE_REQUEST, REQUIRED = SST_CLIENT_CERTIFICATE_REQUIRE };

static sst_ticket_keys *shared;

static sst_config *server_config(SideOptions options) {
  options.tickets = TICKETS_BY_DEFAULT;
  options.ticket_keys = shared;
  return pair_config(&options, SST_ROLE_SERVER);
}

/* A session from a server with options first, offered to one with options second that has the same ring. */
static bool second_resumes(uint16_t version, SideOptions first, SideOptions second, SideOptions client) {
  shared = sst_ticket_keys_new();
  first.ticket_keys = shared;
  PairOptions options = {.server = first, .client = client};
  Resume resume = resume_make(version, &options);
  sst_session *session = resume_session(&resume);
  REQUIRE(session != NULL);
  resume_set_config(&resume.options.server, server_config(second));
  const bool is_resumed = resume_with(&resume, session);
  sst_session_free(session);
  resume_free(&resume);
  sst_ticket_keys_free(shared);
  return is_resumed;
}

static const SideOptions with_certificate = {.credential = "client-p256"};

TEST_VERSIONS(resumption_server, same_rule_and_another_certificate_resumes) {
  EXPECT(second_resumes(version, (SideOptions){.credential = "server-p256"},
                        (SideOptions){.credential = "server-chain"}, (SideOptions){.report = 0}));
}

/* A ticket of a host that asks for no certificate is no way into one that does. */
TEST_VERSIONS(resumption_server, ticket_without_certificate_does_not_open_a_server_that_requires_one) {
  EXPECT(!second_resumes(version, (SideOptions){.report = 0}, (SideOptions){.client_certificate = REQUIRED},
                         with_certificate));
}

TEST_VERSIONS(resumption_server, ticket_of_request_does_not_open_a_server_that_requires) {
  EXPECT(!second_resumes(version, (SideOptions){.client_certificate = REQUEST},
                         (SideOptions){.client_certificate = REQUIRED}, with_certificate));
}

TEST_VERSIONS(resumption_server, same_client_rule_resumes) {
  const SideOptions rule = {.client_certificate = REQUIRED};
  EXPECT(second_resumes(version, rule, rule, with_certificate));
}

/* One anchor more, and the client's chain is as good as before: but the rule is another one. */
TEST_VERSIONS(resumption_server, another_trust_does_not_resume) {
  shared = sst_ticket_keys_new();
  Resume resume = resume_new(version, .server = {.client_certificate = REQUIRED, .ticket_keys = shared},
                             .client = {.credential = "client-p256"});
  sst_session *session = resume_session(&resume);
  sst_config *config = server_config((SideOptions){.client_certificate = REQUIRED, .trust = ""});
  sst_trust *trust = data_trust("client-root");
  const Data more = data_read("root", "pem");
  EXPECT_STATUS(sst_trust_load_pem(trust, more.bytes, more.len), SST_OK);
  EXPECT_STATUS(sst_config_set_trust(config, trust), SST_OK);
  resume_set_config(&resume.options.server, config);
  EXPECT(!resume_with(&resume, session));
  free(more.bytes);
  sst_trust_free(trust);
  sst_session_free(session);
  resume_free(&resume);
  sst_ticket_keys_free(shared);
}

TEST_VERSIONS(resumption_server, another_minimum_key_does_not_resume) {
  EXPECT(!second_resumes(version, (SideOptions){.client_certificate = REQUIRED},
                         (SideOptions){.client_certificate = REQUIRED, .minimum_rsa = 3072}, with_certificate));
}

TEST_VERSIONS(resumption_server, other_protocols_do_not_resume) {
  EXPECT(!second_resumes(version, (SideOptions){.alpn = {"h2", "x"}}, (SideOptions){.alpn = {"x"}},
                         (SideOptions){.alpn = {"h2", "x"}}));
}

/* The protocol is agreed on anew (RFC 7301, 3.1). */
TEST_VERSIONS(resumption_server, same_protocols_resume_and_one_is_chosen) {
  Resume resume = resume_new(version, .server = {.alpn = {"h2"}}, .client = {.alpn = {"h2"}});
  sst_session *session = resume_session(&resume);
  resume.options.client.session = session;
  Pair pair = pair_opened(&resume.options);
  EXPECT(resumed(&pair));
  EXPECT_STRING(side_text(&pair.client, sst_stream_alpn), "h2");
  EXPECT_STRING(side_text(&pair.server, sst_stream_server_name), "server.test");
  pair_free(&pair);
  sst_session_free(session);
  resume_free(&resume);
}

/* ---- clients that are good no more ---- */

static sst_config *with_list(const char *list) {
  SideOptions options = {.client_certificate = REQUIRED, .trust = ""};
  options.tickets = TICKETS_BY_DEFAULT;
  options.ticket_keys = shared;
  sst_config *config = pair_config(&options, SST_ROLE_SERVER);
  sst_trust *trust = data_trust("client-root");
  const Data crl = data_read(list, "pem");
  REQUIRE_STATUS(sst_trust_load_crl(trust, crl.bytes, crl.len), SST_OK);
  REQUIRE_STATUS(sst_config_set_trust(config, trust), SST_OK);
  free(crl.bytes);
  sst_trust_free(trust);
  return config;
}

/* The list has become another one, so that the ticket is not even opened; and the full handshake refuses. */
TEST_VERSIONS(resumption_server, revoked_client_never_resumes) {
  shared = sst_ticket_keys_new();
  Resume resume = resume_new(version, .client = {.credential = "client-p256"});
  resume_set_config(&resume.options.server, with_list("crl-client-root"));
  sst_session *session = resume_session(&resume);
  resume.options.client.session = session;
  resume_set_config(&resume.options.server, with_list("crl-client-root-revokes"));

  Pair pair = pair_make(&resume.options);
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_CERT_REVOKED);
  pair_free(&pair);
  sst_session_free(session);
  resume_free(&resume);
  sst_ticket_keys_free(shared);
}

/* The same config, and time has gone on: BoringSSL itself would resume. */
TEST_VERSIONS(resumption_server, expired_client_never_resumes) {
  Resume resume =
      resume_new(version, .server = {.client_certificate = REQUIRED}, .client = {.credential = "client-p256"});
  sst_session *session = resume_session(&resume);
  EXPECT_STATUS(sst_session_set_reusable(session, 1), SST_OK);
  EXPECT(resume_with(&resume, session));
  resume.options.client.session = session;
  resume.options.server.verify_time = DATA_CLOCK + INT64_C(400) * 365 * 86400;

  Pair pair = pair_make(&resume.options);
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_CERT_EXPIRED);
  pair_free(&pair);
  sst_session_free(session);
  resume_free(&resume);
}

/* Asked, and without a certificate: it may resume, and nobody is called verified. */
TEST_VERSIONS(resumption_server, client_without_certificate_resumes_where_it_is_asked_only) {
  Resume resume = resume_new(version, .server = {.client_certificate = REQUEST});
  sst_session *session = resume_session(&resume);
  resume.options.client.session = session;
  Pair pair = pair_opened(&resume.options);
  EXPECT(resumed(&pair));
  EXPECT((info_of(&pair.server).flags & SST_INFO_VERIFIED) == 0);
  EXPECT_EQ(sst_stream_num_peer_certificates(pair.server.stream), 0);
  pair_free(&pair);
  sst_session_free(session);
  resume_free(&resume);
}

/* A server that does not judge resumes unjudged clients, and says so. */
TEST_VERSIONS(resumption_server, unverified_client_resumes_unverified) {
  Resume resume = resume_new(version, .server = {.client_certificate = REQUIRED, .verify = SST_VERIFY_NONE},
                             .client = {.credential = "client-untrusted"});
  sst_session *session = resume_session(&resume);
  resume.options.client.session = session;
  Pair pair = pair_opened(&resume.options);
  EXPECT(resumed(&pair));
  EXPECT((info_of(&pair.server).flags & SST_INFO_VERIFIED) == 0);
  EXPECT_AT_LEAST(sst_stream_num_peer_certificates(pair.server.stream), 1);
  pair_free(&pair);
  sst_session_free(session);
  resume_free(&resume);
}
