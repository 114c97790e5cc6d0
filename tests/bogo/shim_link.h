/*
 * shim_link.h - one connection of a case: a stream, its socket, and what the case asks of it.
 */
#ifndef SST_SHIM_LINK_H
#define SST_SHIM_LINK_H

#include <securestream.h>
#include <stdbool.h>

#include "shim_flags.h"
#include "shim_setup.h"

typedef struct Link {
  const Flags *flags;
  Setup *setup;
  Store *store;
  sst_stream *stream;
  int fd;
  bool eof, is_resume, was_refused, was_asked_for_hello;
  sst_session *session; /* the newest that came */
  size_t in_start, in_len;
  uint8_t in[4 * SST_RECORD_MAX];
  size_t held; /* wire bytes of an unfinished write, in unsent */
  uint8_t unsent[4 * SST_RECORD_MAX];
} Link;

typedef enum Stage { STAGE_DONE, STAGE_EARLY, STAGE_RETRY, STAGE_FAILED } Stage;

/* link_open connects to the runner and tells it which shim this is; link_end lets the runner read all, then closes. */
bool link_open(Link *link);
void link_end(Link *link);

/* link_handshake runs to its end, or, if stop_early, until early data can be sent. STAGE_RETRY: early data was
   refused. */
Stage link_handshake(Link *link, bool stop_early);

bool link_write(Link *link, const void *data, size_t len);
bool link_write_one_byte(Link *link, const void *data, size_t len); /* the rest waits for link_write_rest */
bool link_write_rest(Link *link);
bool link_flush(Link *link);

enum { READ_END = 0, READ_FAILED = -1, READ_RETRY = -2 };
/* link_read returns how many bytes came, or READ_x. */
int link_read(Link *link, uint8_t *data, size_t cap);

/* link_shut sends close_notify; link_await_close waits for the peer's. */
bool link_shut(Link *link);
bool link_await_close(Link *link);

/* link_explain says on stderr why the stream has failed, with the names that the runner looks for. */
void link_explain(const Link *link);

/* link_collect takes the sessions that have come. */
void link_collect(Link *link);

#endif
