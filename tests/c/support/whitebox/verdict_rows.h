/*
 * verdict_rows.h - the rows of tests/data/verdicts.txt; its head says what they mean.
 *
 *     VerdictRows rows = verdict_rows_read();
 *     for (size_t i = 0; i < rows.count; i++)
 *       rows.rows[i].name ...
 *     verdict_rows_free(&rows);
 */
#ifndef SST_VERDICT_ROWS_H
#define SST_VERDICT_ROWS_H

#include "judge.h"

/* Texts are lists of words, as in the file; NULL where that has "-". */
typedef struct VerdictRow {
  const char *name, *trust, *sent, *crls;
  const char *expected_name;
  bool peer_is_server, partial_chain, allow_sha1, stapled;
  int64_t unix_s;
  uint32_t minimum_rsa_bits;
  sst_status code;  /* SST_OK: good */
  uint64_t reasons; /* 0: none, or KEY_USAGE alone */
} VerdictRow;

typedef struct VerdictRows {
  char *text;
  VerdictRow *rows;
  size_t count;
} VerdictRows;

/* A row that is not as the head of the file says fails the case. */
VerdictRows verdict_rows_read(void);
void verdict_rows_free(VerdictRows *rows);

/* A judge with the trust, the chain and the request of a row; judge_free frees it. */
Judge verdict_row_judge(const VerdictRow *row);

#endif
