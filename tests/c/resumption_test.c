/*
 * Resumption: who resumes what, and that all else is a full handshake and never a failure.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "resume.h"

enum { REQUIRE_CERTIFICATE = SST_CLIENT_CERTIFICATE_REQUIRE };

TEST_VERSIONS(resumption, session_of_a_connection_resumes_the_next) {
  Resume resume = resume_new(version);
  sst_session *session = resume_session(&resume);
  REQUIRE(session != NULL);

  EXPECT(resume_with(&resume, session));

  sst_session_free(session);
  resume_free(&resume);
}

/* TLS 1.3 gives a new ticket with every resumption: a client can go on so for ever. */
TEST(resumption, resumed_connection_gives_the_next_session_tls13) {
  Resume resume = resume_new(SST_TLS1_3);
  sst_session *session = resume_session(&resume);
  for (int i = 0; i < 5; i++) {
    resume.options.client.session = session;
    Pair pair = pair_opened(&resume.options);
    EXPECT(resumed(&pair));
    resume_deliver(&pair);
    sst_session_free(session);
    session = sst_stream_take_session(pair.client.stream);
    REQUIRE(session != NULL);
    pair_free(&pair);
  }
  sst_session_free(session);
  resume_free(&resume);
}

static size_t certificate_len(const Side *side,
                              sst_status (*get)(const sst_stream *, size_t, uint8_t *, size_t, size_t *), size_t index,
                              const char *file, size_t in_file) {
  uint8_t out[4096];
  size_t len = 0;
  EXPECT_STATUS(get(side->stream, index, out, sizeof out, &len), SST_OK);
  const Data der = data_certificate(file, in_file);
  EXPECT_BYTES(out, len, der.bytes, der.len);
  free(der.bytes);
  return len;
}

/* What a full handshake tells of the peer, a resumed one tells as well. */
TEST_VERSIONS(resumption, resumed_streams_have_chains_and_verdicts) {
  Resume resume =
      resume_new(version, .server = {.credential = "server-chain", .client_certificate = REQUIRE_CERTIFICATE},
                 .client = {.credential = "client-p256"});
  sst_session *session = resume_session(&resume);
  REQUIRE(session != NULL);
  resume.options.client.session = session;

  Pair pair = pair_opened(&resume.options);

  EXPECT(resumed(&pair));
  EXPECT(info_of(&pair.client).flags & SST_INFO_VERIFIED);
  EXPECT(info_of(&pair.server).flags & SST_INFO_VERIFIED);
  EXPECT(info_of(&pair.client).flags & SST_INFO_EXTENDED_MASTER_SECRET);
  EXPECT_EQ(sst_stream_num_peer_certificates(pair.client.stream), 3);
  EXPECT_EQ(sst_stream_num_peer_certificates(pair.server.stream), 1);
  certificate_len(&pair.client, sst_stream_peer_certificate, 2, "server-chain", 2);
  certificate_len(&pair.client, sst_stream_verified_certificate, 0, "server-chain", 0);
  certificate_len(&pair.client, sst_stream_verified_certificate, 3, "root", 0);
  certificate_len(&pair.server, sst_stream_peer_certificate, 0, "client-p256", 0);
  certificate_len(&pair.server, sst_stream_verified_certificate, 1, "client-root", 0);
  EXPECT_CONTAINS(side_text(&pair.client, sst_stream_describe), "peer verified");
  pair_free(&pair);
  sst_session_free(session);
  resume_free(&resume);
}

/* ---- once, unless the owner says otherwise ---- */

TEST_VERSIONS(resumption, session_is_used_once) {
  Resume resume = resume_new(version);
  sst_session *session = resume_session(&resume);

  EXPECT(resume_with(&resume, session));
  EXPECT(!resume_with(&resume, session));

  EXPECT_STATUS(sst_session_set_reusable(session, 1), SST_OK);
  EXPECT(resume_with(&resume, session));
  EXPECT(resume_with(&resume, session));
  EXPECT_STATUS(sst_session_set_reusable(session, 0), SST_OK);
  EXPECT(!resume_with(&resume, session));
  sst_session_free(session);
  resume_free(&resume);
}

/* Setting it is no use of it: a stream that never begins leaves it to another. */
TEST_VERSIONS(resumption, session_counts_as_used_when_the_handshake_begins) {
  Resume resume = resume_new(version);
  sst_session *session = resume_session(&resume);
  resume.options.client.session = session;
  Pair never = pair_make(&resume.options);
  EXPECT(resume_with(&resume, session));

  EXPECT_STATUS(pair_handshake(&never), SST_OK);

  EXPECT(!resumed(&never));
  pair_free(&never);
  sst_session_free(session);
  resume_free(&resume);
}

TEST(resumption, session_is_set_before_the_first_byte_of_a_client) {
  Resume resume = resume_new(SST_TLS1_3);
  sst_session *session = resume_session(&resume), *empty = sst_session_new();
  Pair pair = pair_make(&resume.options);
  EXPECT_STATUS(sst_stream_set_session(pair.server.stream, session), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_set_session(pair.client.stream, empty), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_session(pair.client.stream, session), SST_OK);
  EXPECT_STATUS(sst_stream_set_session(pair.client.stream, NULL), SST_OK);
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  EXPECT(!resumed(&pair));
  EXPECT_STATUS(sst_stream_set_session(pair.client.stream, session), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_set_session(NULL, session), SST_ERR_INVALID_ARGUMENT);
  pair_free(&pair);
  sst_session_free(empty);
  sst_session_free(session);
  resume_free(&resume);
}

/* ---- what a client does not resume ---- */

/* The server of server.test has a certificate for both names: the name alone decides. */
TEST_VERSIONS(resumption, client_never_resumes_to_another_name) {
  Resume resume = resume_new(version, .client = {.verify = SST_VERIFY_CHAIN_ONLY});
  sst_session *session = resume_session(&resume);
  REQUIRE(session != NULL);

  resume.options.client.server_name = "other.test";
  EXPECT(!resume_with(&resume, session));
  resume.options.client.server_name = "server.test";
  resume.options.client.verify_name = "other.test";
  EXPECT(!resume_with(&resume, session));
  resume.options.client.verify_name = NULL;
  resume.options.client.server_name = "";
  EXPECT(!resume_with(&resume, session));
  resume.options.client.server_name = "SERVER.test."; /* the same in any case, and with the root named */
  EXPECT(resume_with(&resume, session));

  sst_session_free(session);
  resume_free(&resume);
}

static sst_config *client_config(uint16_t version, SideOptions options) {
  options.report |= SESSIONS;
  options.max_version = version;
  return pair_config(&options, SST_ROLE_CLIENT);
}

/* Under another trust the stored chain is judged again: the session is not offered, and then the peer is refused. */
TEST_VERSIONS(resumption, stored_chain_is_judged_by_the_trust_of_now) {
  Resume resume = resume_new(version);
  sst_session *session = resume_session(&resume);
  resume_set_config(&resume.options.client, client_config(version, (SideOptions){.trust = "client-root"}));
  resume.options.client.session = session;

  Pair pair = pair_make(&resume.options);
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_CERT_ISSUER_NOT_FOUND);

  pair_free(&pair);
  /* It was not offered, and so it is not used up. */
  resume_set_config(&resume.options.client, client_config(version, (SideOptions){.trust = "root"}));
  EXPECT(resume_with(&resume, session));
  sst_session_free(session);
  resume_free(&resume);
}

TEST_VERSIONS(resumption, unverified_session_is_verified_before_it_is_resumed) {
  Resume resume = resume_new(version, .client = {.verify = SST_VERIFY_NONE});
  sst_session *session = resume_session(&resume);
  EXPECT_STATUS(sst_session_set_reusable(session, 1), SST_OK);
  resume_set_config(&resume.options.client, client_config(version, (SideOptions){.trust = "root"}));
  resume.options.client.session = session;
  Pair pair = pair_opened(&resume.options);
  EXPECT(resumed(&pair));
  EXPECT(info_of(&pair.client).flags & SST_INFO_VERIFIED);
  pair_free(&pair);

  resume_set_config(&resume.options.client, client_config(version, (SideOptions){.verify = SST_VERIFY_NONE}));
  pair = pair_opened(&resume.options);
  EXPECT(resumed(&pair));
  EXPECT((info_of(&pair.client).flags & SST_INFO_VERIFIED) == 0);
  pair_free(&pair);
  sst_session_free(session);
  resume_free(&resume);
}

TEST_VERSIONS(resumption, stored_chain_is_judged_at_the_time_of_now) {
  Resume resume = resume_new(version);
  sst_session *session = resume_session(&resume);
  resume.options.client.session = session;
  resume.options.client.verify_time = DATA_CLOCK + INT64_C(400) * 365 * 86400;

  Pair pair = pair_make(&resume.options);
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_CERT_EXPIRED);

  pair_free(&pair);
  sst_session_free(session);
  resume_free(&resume);
}

/* Who resumes is who it was: another credential would never be shown. */
TEST_VERSIONS(resumption, client_with_another_credential_shows_it) {
  Resume resume = resume_new(version, .server = {.client_certificate = REQUIRE_CERTIFICATE},
                             .client = {.credential = "client-p256"});
  sst_session *session = resume_session(&resume);
  resume_set_config(&resume.options.client, client_config(version, (SideOptions){.credential = "client-p384"}));
  resume.options.client.session = session;

  Pair pair = pair_opened(&resume.options);

  EXPECT(!resumed(&pair));
  certificate_len(&pair.server, sst_stream_peer_certificate, 0, "client-p384", 0);
  pair_free(&pair);
  sst_session_free(session);
  resume_free(&resume);
}

TEST(resumption, session_of_another_version_is_not_offered) {
  Resume resume = resume_new(SST_TLS1_2);
  sst_session *session = resume_session(&resume);
  SideOptions only13 = {.min_version = SST_TLS1_3};
  resume_set_config(&resume.options.client, client_config(SST_TLS1_3, only13));
  EXPECT(!resume_with(&resume, session));
  sst_session_free(session);
  resume_free(&resume);
}

/* A server would choose the suite of the session, which this client has not offered. */
TEST(resumption, session_of_a_suite_that_is_off_is_not_offered) {
  Resume resume = resume_new(SST_TLS1_2, .client = {.suites = {0xc02b}});
  sst_session *session = resume_session(&resume);
  resume_set_config(&resume.options.client, client_config(SST_TLS1_2, (SideOptions){.suites = {0xc02c}}));
  EXPECT(!resume_with(&resume, session));
  sst_session_free(session);
  resume_free(&resume);
}

TEST_VERSIONS(resumption, lifetime_0_turns_sessions_off) {
  Resume resume = resume_new(version);
  sst_session *session = resume_session(&resume);
  sst_config *off = sst_config_copy(resume.options.client.config);
  EXPECT_STATUS(sst_config_set_session_lifetime(off, 0), SST_OK);
  sst_config *on = sst_config_ref(resume.options.client.config);
  resume_set_config(&resume.options.client, off);
  EXPECT(!resume_with(&resume, session));
  EXPECT(resume_session(&resume) == NULL);

  resume_set_config(&resume.options.client, on);
  sst_config *server = sst_config_copy(resume.options.server.config);
  EXPECT_STATUS(sst_config_set_session_lifetime(server, 0), SST_OK);
  resume_set_config(&resume.options.server, server);
  EXPECT(!resume_with(&resume, session));
  EXPECT(resume_session(&resume) == NULL);
  sst_session_free(session);
  resume_free(&resume);
}

/* ---- what a client wants ---- */

TEST_VERSIONS(resumption, client_that_does_not_ask_gets_no_session) {
  Pair pair = pair_open(.server = {.tickets = 3}, .client = {.max_version = version});
  resume_deliver(&pair);
  EXPECT(sst_stream_take_session(pair.client.stream) == NULL);
  EXPECT(sst_stream_take_session(NULL) == NULL);
  pair_echo(&pair, 100);
  pair_free(&pair);
}

/* Somebody else may have stored it: to resume is not to ask for more. */
TEST_VERSIONS(resumption, client_that_does_not_ask_can_resume) {
  Resume resume = resume_new(version);
  sst_session *session = resume_session(&resume);
  SideOptions quiet = {.max_version = version};
  resume_set_config(&resume.options.client, pair_config(&quiet, SST_ROLE_CLIENT));
  EXPECT(resume_with(&resume, session));
  sst_session_free(session);
  resume_free(&resume);
}

TEST(resumption, retry_with_another_group_resumes_tls13) {
  Resume resume = resume_new(SST_TLS1_3, .server = {.groups = {24}}, .client = {.groups = {29, 24}});
  sst_session *session = resume_session(&resume);
  EXPECT(resume_with(&resume, session));
  sst_session_free(session);
  resume_free(&resume);
}

static void in_pieces(uint16_t version, size_t chunk, size_t room) {
  Resume resume = resume_new(version);
  sst_session *session = resume_session(&resume);
  resume.options.client.session = session;
  Pair pair = pair_make(&resume.options);
  pair.client.chunk = pair.server.chunk = chunk;
  pair.client.room = pair.server.room = room;
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  EXPECT(resumed(&pair));
  resume_deliver(&pair);
  pair_echo(&pair, 100);
  pair_free(&pair);
  sst_session_free(session);
  resume_free(&resume);
}

TEST_VERSIONS(resumption, one_byte_at_a_time_resumes) {
  in_pieces(version, 1, 1);
}

TEST_VERSIONS(resumption, random_pieces_resume) {
  for (int i = 0; i < 20; i++)
    in_pieces(version, SIDE_RANDOM, SIDE_RANDOM);
}

/* At the turn of a second too, where clocks of different kinds disagree for some milliseconds. */
TEST_VERSIONS(resumption, every_session_resumes_at_any_time_of_a_second) {
  struct timespec begin, now;
  Resume resume = resume_new(version);
  (void)clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    sst_session *session = resume_session(&resume);
    REQUIRE(session != NULL);
    EXPECT(resume_with(&resume, session));
    sst_session_free(session);
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
  } while (!test_failed() && now.tv_sec - begin.tv_sec < 3);
  resume_free(&resume);
}
