#include "question.h"

#include <stdatomic.h>

#include "error.h"
#include "memory.h"

void sst__question_init(sst__question *question) {
  pthread_mutex_init(&question->lock, NULL);
}

static void forget_answer(sst__question *question) {
  sst__answer *answer = &question->answer;
  switch (question->open) {
    case SST_WANT_CLIENT_HELLO:
      sst_config_free(answer->config);
      break;
    case SST_WANT_CERTIFICATE:
      sst_credential_free(answer->credential);
      break;
    case SST_WANT_SESSION:
      sst_session_free(answer->session);
      break;
    case SST_WANT_PRIVATE_KEY_OPERATION:
    case SST_WANT_TICKET_DECRYPT:
      sst__free(answer->bytes);
      break;
    default: /* the others bring nothing */
      break;
  }
  question->answer = (sst__answer){.rejected = false};
  question->answered = false;
}

void sst__question_end(sst__question *question) {
  forget_answer(question);
  pthread_mutex_destroy(&question->lock);
}

void sst__question_put(sst__question *question, sst_status want) {
  pthread_mutex_lock(&question->lock);
  forget_answer(question);
  question->open = want;
  pthread_mutex_unlock(&question->lock);
}

void sst__question_drop(sst__question *question) {
  sst__question_put(question, SST_OK);
}

sst_status sst__question_waits(sst__question *question) {
  pthread_mutex_lock(&question->lock);
  const sst_status waits = question->answered ? SST_OK : question->open;
  pthread_mutex_unlock(&question->lock);
  return waits;
}

const sst__answer *sst__question_answer(const sst__question *question, sst_status want) {
  const bool given = question->open == want && question->answered && !question->answer.rejected;
  return given ? &question->answer : NULL;
}

bool sst__question_hold(sst__question *question, sst_status want) {
  pthread_mutex_lock(&question->lock);
  const bool meant = want == SST_OK || question->open == want;
  if (meant && question->open != SST_OK && !question->answered) return true;
  pthread_mutex_unlock(&question->lock);
  return false;
}

void sst__question_release(sst__question *question) {
  pthread_mutex_unlock(&question->lock);
}

sst_status sst__question_give(sst__question *question, sst_status want, const sst__answer *answer,
                              _Atomic uint32_t *state) {
  if (!sst__question_hold(question, want)) return sst__refuse(SST_ERR_STATE);
  question->answer = *answer;
  question->answered = true;
  atomic_fetch_and_explicit(state, ~(uint32_t)SST_STATE_SUSPENDED, memory_order_release);
  pthread_mutex_unlock(&question->lock);
  return SST_OK;
}
