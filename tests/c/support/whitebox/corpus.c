#include "corpus.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/mem.h>
#include <openssl/pem.h>

#include "test.h"

static bool ends_with(const char *text, const char *ending) {
  const size_t len = strlen(text), ending_len = strlen(ending);
  return len >= ending_len && strcmp(text + len - ending_len, ending) == 0;
}

static bool ends_with_one(const char *text, const char *const *endings) {
  for (; *endings != NULL; endings++) {
    if (ends_with(text, *endings)) return true;
  }
  return false;
}

static CorpusItem *add(Corpus *corpus, Data data) {
  REQUIRE(corpus->count < CORPUS_MOST);
  corpus->list[corpus->count].data = data;
  return &corpus->list[corpus->count++];
}

static Data read_named(const char *name) {
  const char *dot = strrchr(name, '.');
  char base[CORPUS_NAME];
  (void)snprintf(base, sizeof base, "%.*s", (int)(dot - name), name);
  return data_read(base, dot + 1);
}

void corpus_read(Corpus *corpus, const char *const *endings) {
  struct dirent **found = NULL;
  const int count = scandir(SST_TEST_DATA, &found, NULL, alphasort);
  REQUIRE(count > 0);
  for (int i = 0; i < count; i++) {
    if (found[i]->d_name[0] != '.' && ends_with_one(found[i]->d_name, endings)) {
      CorpusItem *item = add(corpus, read_named(found[i]->d_name));
      (void)snprintf(item->name, sizeof item->name, "%.79s", found[i]->d_name);
    }
    free(found[i]);
  }
  free(found);
  REQUIRE(corpus->count > 0);
}

static void read_blocks(Corpus *corpus, const CorpusItem *file, const char *label) {
  BIO *bio = BIO_new_mem_buf(file->data.bytes, (ossl_ssize_t)file->data.len);
  char *name = NULL, *header = NULL;
  uint8_t *bytes = NULL;
  long len = 0;
  for (int number = 0; PEM_read_bio(bio, &name, &header, &bytes, &len) == 1; number++) {
    if (ends_with(name, label) && header[0] == 0) {
      CorpusItem *item = add(corpus, (Data){test_allocate((size_t)len), (size_t)len});
      memcpy(item->data.bytes, bytes, (size_t)len);
      (void)snprintf(item->name, sizeof item->name, "%.60s#%d", file->name, number);
    }
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(bytes);
  }
  BIO_free(bio);
}

void corpus_read_blocks(Corpus *corpus, const char *const *endings, const char *label) {
  static Corpus files;
  corpus_read(&files, endings);
  for (size_t i = 0; i < files.count; i++)
    read_blocks(corpus, &files.list[i], label);
  corpus_free(&files);
  REQUIRE(corpus->count > 0);
}

void corpus_free(Corpus *corpus) {
  while (corpus->count > 0)
    free(corpus->list[--corpus->count].data.bytes);
}

const char *corpus_password(const char *name) {
  if (!ends_with(name, ".p12")) return "secret";
  if (strstr(name, "-null.") != NULL || strstr(name, "-empty.") != NULL) return "";
  return strstr(name, "-utf8.") != NULL ? "p\xc3\xa4" : "pw";
}
