/*
 * judge.h - a chain, a trust and what verification says of them.
 *
 *     Judge judge = judge_new();
 *     judge_trusts(&judge, root, NULL);
 *     judge_is_sent(&judge, leaf, intermediate, NULL);
 *     EXPECT_STATUS(judge_verdict(&judge), SST_ERR_CERT_EXPIRED);
 *     EXPECT_EQ(judge.error.alert_sent, 45);
 *     judge_free(&judge);
 */
#ifndef SST_JUDGE_H
#define SST_JUDGE_H

#include "issue.h"
#include "test.h"
#include "tls/internal.h"

typedef struct Judge {
  sst__anchors *anchors;
  STACK_OF(CRYPTO_BUFFER) * chain;
  sst__verify_request request; /* a server for server.test, at DATA_CLOCK, RSA from 2048 bits, no SHA-1 */
  sst_error error;
} Judge;

Judge judge_new(void);
/* Frees certificates and keys of issue.h as well. */
void judge_free(Judge *judge);

/* Lists end with NULL. */
void judge_trusts(Judge *judge, ...);
void judge_is_sent(Judge *judge, ...);
void judge_is_sent_bytes(Judge *judge, const void *bytes, size_t len);

/* Judges; the record is in error, all zero if the chain is good. */
sst_status judge_verdict(Judge *judge);
/* The bits of codes, ended by 0. */
uint64_t judge_reasons(sst_status code, ...);

/* The common cast: keys of P-256, number 0 the root's, 1 the intermediate's, 2 the leaf's. */
X509 *judge_root(void);
X509 *judge_intermediate(const X509 *root);
/* A leaf for server.test, *.wild.test, 127.0.0.1 and ::1. */
X509 *judge_leaf(const X509 *intermediate);

#endif
