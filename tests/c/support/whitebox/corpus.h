/*
 * corpus.h - every file of tests/data with one of some endings, in the order of their names.
 *
 *     static Corpus corpus;
 *     corpus_read(&corpus, (const char *const[]){".pem", NULL});
 *     for (size_t i = 0; i < corpus.count; i++) ... corpus.list[i].name, .data
 *     corpus_free(&corpus);
 */
#ifndef SST_CORPUS_H
#define SST_CORPUS_H

#include "data.h"

enum { CORPUS_MOST = 800, CORPUS_NAME = 80 };

typedef struct CorpusItem {
  char name[CORPUS_NAME]; /* with its ending; of a block of a PEM file also its number: "root.pem#0" */
  Data data;
} CorpusItem;

typedef struct Corpus {
  CorpusItem list[CORPUS_MOST];
  size_t count;
} Corpus;

/* Adds to corpus, which is too large for a stack and begins as zero. Endings end with NULL. */
void corpus_read(Corpus *corpus, const char *const *endings);
/* The blocks of those files whose label ends so ("CERTIFICATE", "CRL", "PRIVATE KEY"), in DER, encrypted ones too. */
void corpus_read_blocks(Corpus *corpus, const char *const *endings, const char *label);
void corpus_free(Corpus *corpus);

/* The password that opens it (see the README there); "": none is needed. */
const char *corpus_password(const char *name);

#endif
