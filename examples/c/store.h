/*
 * store.h - a file that gets its name only when it is whole.
 *
 * A connection that is cut must not leave a file that looks complete: the bytes go to "NAME.<number>.part", which is
 * renamed when the peer has said that this was all, and removed otherwise.
 */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct store {
  int fd;      /* -1: closed */
  bool direct; /* standard output, or a target that is no regular file: written as the bytes come */
  char name[1024];
  char part[1024 + 40];
} store;

/* Opens path, or client-<number> in the folder path; NULL is standard output. false: errno. */
bool store_open(store *s, const char *path, unsigned number);
bool store_write(store *s, const uint8_t *data, size_t len);
bool store_commit(store *s);
void store_discard(store *s);

#endif
