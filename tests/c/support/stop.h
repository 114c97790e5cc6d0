/*
 * stop.h - a pair of which one side, the subject, waits for the answer to a question.
 *
 *     Stop stop;
 *     stop_begin(&stop, SST_TLS1_3, &stop_questions[i]);
 *     EXPECT_STATUS(sst_stream_reject(stop.subject->stream, -1), SST_OK);
 *     stop_end(&stop);
 */
#ifndef SST_STOP_H
#define SST_STOP_H

#include "answer.h"

typedef struct StopQuestion {
  sst_status want;
  bool client; /* is asked; else the server */
  int32_t usual_alert;
} StopQuestion;

enum { STOP_QUESTIONS = 7 };
extern const StopQuestion stop_questions[STOP_QUESTIONS];

typedef struct Stop {
  Pair pair;
  Answers answers;
  Side *subject, *peer;
  SideAnswers *subject_answers;
  const StopQuestion *question;
  uint16_t version;
} Stop;

/* Both sides ask all there is, and have keys elsewhere. The sides point into stop, which must not move. */
void stop_begin(Stop *stop, uint16_t version, const StopQuestion *question);
/* Gives the answer; and goes on to the end, which must be good. */
void stop_answer(Stop *stop);
void stop_finish(Stop *stop);
/* The peer has heard the fatal alert, after its end of the handshake too. */
void stop_hears(Stop *stop, int32_t alert);
void stop_end(Stop *stop);

/* Runs body at each question. */
void stop_each(uint16_t version, void (*body)(Stop *stop));

#endif
