#include "stop.h"

#include <stdlib.h>

const StopQuestion stop_questions[STOP_QUESTIONS] = {
    {SST_WANT_CLIENT_HELLO, false, 112},
    {SST_WANT_CERTIFICATE, false, 40},
    {SST_WANT_PRIVATE_KEY_OPERATION, false, 80},
    {SST_WANT_CERTIFICATE_VERIFY, true, 46},
    {SST_WANT_CERTIFICATE, true, 40},
    {SST_WANT_PRIVATE_KEY_OPERATION, true, 80},
    {SST_WANT_CERTIFICATE_VERIFY, false, 46},
};

void stop_begin(Stop *stop, uint16_t version, const StopQuestion *question) {
  test_note("%s of the %s", sst_status_name(question->want), question->client ? "client" : "server");
  stop->version = version;
  stop->question = question;
  stop->pair =
      pair_new(.client = {.max_version = version, .suspend = ASK_ALL},
               .server = {.suspend = ASK_ALL, .credential = "", .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE});
  stop->answers = (Answers){
      .client = {.credential = answer_credential("client-p256", 0x0403), .key = "client-p256"},
      .server = {.credential = answer_credential("server-p256", 0x0403), .key = "server-p256"},
  };
  stop->answers.server.config = stop->pair.server.config;
  stop->subject = question->client ? &stop->pair.client : &stop->pair.server;
  stop->peer = question->client ? &stop->pair.server : &stop->pair.client;
  stop->subject_answers = question->client ? &stop->answers.client : &stop->answers.server;
  for (;;) {
    REQUIRE(pair_handshake(&stop->pair) >= SST_WANT_CLIENT_HELLO);
    if (stop->subject->status == question->want) break;
    const bool client_asks = stop->pair.client.status >= SST_WANT_CLIENT_HELLO;
    answer(client_asks ? &stop->pair.client : &stop->pair.server,
           client_asks ? &stop->answers.client : &stop->answers.server);
  }
  EXPECT_EQ(sst_stream_state(stop->subject->stream), SST_STATE_HANDSHAKE | SST_STATE_SUSPENDED);
}

void stop_answer(Stop *stop) {
  stop->subject->status = stop->question->want;
  answer(stop->subject, stop->subject_answers);
  EXPECT_EQ(sst_stream_state(stop->subject->stream), SST_STATE_HANDSHAKE);
}

void stop_finish(Stop *stop) {
  stop_answer(stop);
  EXPECT_STATUS(answer_handshake(&stop->pair, &stop->answers), SST_OK);
  EXPECT_EQ(sst_stream_state(stop->subject->stream), SST_STATE_OPEN);
  pair_echo(&stop->pair, 100);
}

void stop_hears(Stop *stop, int32_t alert) {
  EXPECT_STATUS(side_flush(stop->subject), SST_OK);
  if (stop->peer->status == SST_OK) {
    EXPECT_STATUS(side_receive(stop->peer), SST_ERR_ALERT_RECEIVED - alert);
  } else {
    /* What of our flight was ready goes before the alert, and may be asked about. */
    SideAnswers *answers = stop->question->client ? &stop->answers.server : &stop->answers.client;
    while (side_handshake(stop->peer) >= SST_WANT_CLIENT_HELLO)
      answer(stop->peer, answers);
    EXPECT_STATUS(stop->peer->status, SST_ERR_ALERT_RECEIVED - alert);
  }
  EXPECT_EQ(error_of(stop->peer).alert_received, alert);
}

void stop_end(Stop *stop) {
  const uint64_t before = sst_live_objects();
  sst_credential_free(stop->answers.client.credential);
  sst_credential_free(stop->answers.server.credential);
  stop->pair.objects += 2 - (before - sst_live_objects()); /* streams may have them still */
  pair_free(&stop->pair);
  test_note(NULL);
}

void stop_each(uint16_t version, void (*body)(Stop *stop)) {
  for (int i = 0; i < STOP_QUESTIONS; i++) {
    Stop stop;
    stop_begin(&stop, version, &stop_questions[i]);
    body(&stop);
    stop_end(&stop);
  }
}
