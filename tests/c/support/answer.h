/*
 * answer.h - answers to the questions of suspended streams.
 *
 *     Answers answers = {.server = {.config = config}, .client = {.accept = true}};
 *     REQUIRE_STATUS(answer_handshake(&pair, &answers), SST_OK);
 *     EXPECT_EQ(answers.server.asked, ASK(SST_WANT_CLIENT_HELLO));
 */
#ifndef SST_ANSWER_H
#define SST_ANSWER_H

#include "pair.h"

#define ASK_ALL                                                                                \
  (ASK(SST_WANT_CLIENT_HELLO) | ASK(SST_WANT_CERTIFICATE) | ASK(SST_WANT_CERTIFICATE_VERIFY) | \
   ASK(SST_WANT_PRIVATE_KEY_OPERATION))

typedef struct SideAnswers {
  sst_config *config;         /* to WANT_CLIENT_HELLO */
  sst_credential *credential; /* to WANT_CERTIFICATE; NULL: none */
  bool accept;                /* to WANT_CERTIFICATE_VERIFY; false: accept_default */
  const char *key;            /* a name in tests/data that signs, to WANT_PRIVATE_KEY_OPERATION */
  uint32_t asked;             /* which questions came: ASK(x) | ... */
  size_t questions;           /* how many */
} SideAnswers;

typedef struct Answers {
  SideAnswers client, server;
} Answers;

/* Answers the question that is the side's last status. */
void answer(Side *side, SideAnswers *answers);
/* pair_handshake to its end, over all questions. */
sst_status answer_handshake(Pair *pair, Answers *answers);

/* The key tests/data/KEY.key signs what the side asks for; returns the scheme. */
uint16_t answer_signature(const Side *side, const char *key);

/* NAME.pem, whose caller signs with scheme; 0: with every scheme that there is. One reference for the caller. */
sst_credential *answer_credential(const char *name, uint16_t scheme);

#endif
