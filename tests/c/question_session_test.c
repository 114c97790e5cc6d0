/*
 * Sessions that a TLS 1.2 server keeps by their id, for a client without tickets: OpenSSL told to use none.
 */
#include <stdlib.h>

#include "openssl_peer.h"
#include "resume.h"

static const OpensslOptions theirs = {.version = SST_TLS1_2, .no_tickets = true, .credential = "client-p256"};

static SideOptions asking(void) {
  return (SideOptions){.max_version = SST_TLS1_2,
                       .tickets = TICKETS_BY_DEFAULT,
                       .report = SESSIONS,
                       .suspend = ASK(SST_WANT_SESSION),
                       .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE};
}

/* The session of a full handshake, and its id. */
static sst_session *first_session(Foreign *foreign, char *id, size_t *id_len) {
  sst_event event = {.size = sizeof event};
  EXPECT_STATUS(openssl_handshake(foreign->peer, &foreign->side), SST_OK);
  REQUIRE(side_event(&foreign->side, SST_EVENT_SESSION, &event, id, 64));
  *id_len = event.length;
  sst_session *session = sst_stream_take_session(foreign->side.stream);
  REQUIRE(session != NULL);
  return session;
}

static void ends(Foreign *foreign, bool resumed) {
  EXPECT_STATUS(openssl_handshake(foreign->peer, &foreign->side), SST_OK);
  EXPECT_EQ(openssl_resumed(foreign->peer), resumed);
  EXPECT_EQ((info_of(&foreign->side).flags & SST_INFO_RESUMED) != 0, resumed);
  EXPECT_EQ(sst_stream_num_peer_certificates(foreign->side.stream), 1);
  EXPECT(info_of(&foreign->side).flags & SST_INFO_VERIFIED);
}

TEST(question_session, session_is_asked_for_by_its_id) {
  const SideOptions ours = asking();
  Foreign foreign = foreign_new(SST_ROLE_SERVER, &ours, &theirs);
  char id[64];
  uint8_t asked[64];
  size_t id_len = 0, asked_len = 0;
  sst_session *session = first_session(&foreign, id, &id_len);
  EXPECT_EQ(id_len, 32);

  foreign_again(&foreign, SST_ROLE_SERVER, &ours);
  EXPECT_STATUS(openssl_handshake(foreign.peer, &foreign.side), SST_WANT_SESSION);
  EXPECT_STATUS(sst_stream_session_id(foreign.side.stream, asked, sizeof asked, &asked_len), SST_OK);
  EXPECT_BYTES(asked, asked_len, id, id_len);
  EXPECT_STATUS(sst_stream_answer_session(foreign.side.stream, session), SST_OK);
  ends(&foreign, true);

  /* From bytes it is as good. */
  const Data bytes = session_bytes(session);
  sst_session *loaded = session_loaded(bytes.bytes, bytes.len);
  foreign_again(&foreign, SST_ROLE_SERVER, &ours);
  EXPECT_STATUS(openssl_handshake(foreign.peer, &foreign.side), SST_WANT_SESSION);
  EXPECT_STATUS(sst_stream_answer_session(foreign.side.stream, loaded), SST_OK);
  ends(&foreign, true);
  sst_session_free(loaded);
  sst_session_free(session);
  free(bytes.bytes);
  foreign_free(&foreign);
}

TEST(question_session, session_that_is_not_known_is_a_full_handshake) {
  const SideOptions ours = asking();
  Foreign foreign = foreign_new(SST_ROLE_SERVER, &ours, &theirs);
  char id[64];
  size_t id_len = 0;
  sst_session *session = first_session(&foreign, id, &id_len), *empty = sst_session_new();
  foreign_again(&foreign, SST_ROLE_SERVER, &ours);
  EXPECT_STATUS(openssl_handshake(foreign.peer, &foreign.side), SST_WANT_SESSION);
  EXPECT_STATUS(sst_stream_answer_session(foreign.side.stream, empty), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_answer_session(foreign.side.stream, NULL), SST_OK);
  ends(&foreign, false);
  sst_session_free(empty);
  sst_session_free(session);
  foreign_free(&foreign);
}

/* A client's session, and one of another rule, resume nothing here. */
TEST(question_session, session_that_does_not_fit_is_a_full_handshake) {
  SideOptions ours = asking();
  Resume resume = resume_new(SST_TLS1_2);
  sst_session *of_client = resume_session(&resume);
  ours.alpn[0] = "h2";
  Foreign other = foreign_new(SST_ROLE_SERVER, &ours, &theirs);
  char id[64];
  size_t id_len = 0;
  sst_session *of_other = first_session(&other, id, &id_len);
  ours.alpn[0] = NULL;
  Foreign foreign = foreign_new(SST_ROLE_SERVER, &ours, &theirs);
  sst_session_free(first_session(&foreign, id, &id_len));
  sst_session *const wrong[] = {of_client, of_other};
  for (int i = 0; i < 2; i++) {
    foreign_again(&foreign, SST_ROLE_SERVER, &ours);
    EXPECT_STATUS(openssl_handshake(foreign.peer, &foreign.side), SST_WANT_SESSION);
    EXPECT_STATUS(sst_stream_answer_session(foreign.side.stream, wrong[i]), SST_OK);
    ends(&foreign, false);
  }
  foreign_free(&foreign);
  foreign_free(&other);
  sst_session_free(of_client);
  sst_session_free(of_other);
  resume_free(&resume);
}
