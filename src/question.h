/* The question that a suspended stream has put, and its answer. Facts and answers are asked for and given from any
   thread; the handshake takes the answer in its next call. */
#ifndef SST_QUESTION_H
#define SST_QUESTION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "securestream.h"

struct sst__context;
struct sst__identity;

/* What an answer brings, by question. References and bytes belong to it. */
typedef struct sst__answer {
  bool rejected;
  bool accepted; /* WANT_CERTIFICATE_VERIFY: whatever the verdict */
  int32_t alert; /* if rejected; SST__NO_ALERT: the question's usual one */
  union {
    struct { /* WANT_CLIENT_HELLO */
      sst_config *config;
      const struct sst__context *context; /* of config */
    };
    struct {                      /* WANT_CERTIFICATE */
      sst_credential *credential; /* NULL: none */
      const struct sst__identity *identity;
    };
    struct {          /* WANT_PRIVATE_KEY_OPERATION, WANT_TICKET_DECRYPT */
      uint8_t *bytes; /* NULL: ignored */
      size_t len;
    };
    sst_session *session; /* WANT_SESSION; NULL: not known */
  };
} sst__answer;

/* answer is written under the lock by who answers, and read without it by the handshake, which has seen answered. */
typedef struct sst__question {
  pthread_mutex_t lock;
  sst_status open; /* SST_WANT_x; SST_OK: there is none */
  bool answered;
  sst__answer answer;
} sst__question;

void sst__question_init(sst__question *);
/* Frees what an answer that nobody took has brought. */
void sst__question_end(sst__question *);

/* For the thread of the handshake: puts a question; what was there before is dropped. */
void sst__question_put(sst__question *, sst_status want);
/* Closes it: facts and answers come too late from now on. */
void sst__question_drop(sst__question *);
/* The question that waits for its answer, or SST_OK. */
sst_status sst__question_waits(sst__question *);
/* The answer to want, or NULL: it has not come, or is no. */
const sst__answer *sst__question_answer(const sst__question *, sst_status want);

/* Takes the lock if want is open and not answered; false: it is not, and there is no lock. */
bool sst__question_hold(sst__question *, sst_status want);
void sst__question_release(sst__question *);
/* Gives the answer, from any thread; SST_ERR_STATE: want (SST_OK: any question) is not open, or answered already, and
   what answer brings is still the caller's. state loses SST_STATE_SUSPENDED. */
sst_status sst__question_give(sst__question *, sst_status want, const sst__answer *answer, _Atomic uint32_t *state);

#endif
