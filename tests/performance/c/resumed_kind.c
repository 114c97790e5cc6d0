/* resumed: a handshake with the session of the op before. early: the same, with data in its first flight. */
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "pair.h"
#include "party.h"

struct Work {
  Party party;
  Bare bare;
  sst_session *session; /* to be resumed by the next op */
  uint8_t *plain, *read;
  uint8_t rest[SST_RECORD_MAX];
};

/* The bytes that one side has sent are the other's now. */
static void taken(BareSide *from, size_t len) {
  memmove(from->out, from->out + len, from->out_len - len);
  from->out_len -= len;
}

static sst_status shake(BareSide *to, BareSide *from, sst_progress *done) {
  const sst_status status =
      sst_stream_handshake(to->stream, from->out, from->out_len, to->out + to->out_len, BARE_CAP - to->out_len, done);
  taken(from, done->consumed);
  to->out_len += done->produced;
  return status;
}

/* Takes all that waits; len bytes of plaintext are in it. Returns the flags of the progress. (What a call leaves in its
   room behind the plaintext is anything.) */
static uint32_t receive(BareSide *to, BareSide *from, uint8_t *out, size_t len) {
  sst_progress done;
  REQUIRE_STATUS(sst_stream_decrypt(to->stream, from->out, from->out_len, out, len + SST_RECORD_MAX, &done),
                 SST_NEED_INPUT);
  REQUIRE(done.consumed == from->out_len && done.produced == len);
  taken(from, done.consumed);
  return done.flags;
}

/* The server finishes its handshake in the call that reads the end of the early data (RFC 8446, 4.5). */
static void shake_early(Work *work) {
  BareSide *client = &work->bare.client, *server = &work->bare.server;
  const size_t len = work->party.what->size;
  sst_progress done;
  REQUIRE_STATUS(shake(client, server, &done), SST_NEED_INPUT);
  REQUIRE((done.flags & SST_EARLY_DATA) != 0);
  REQUIRE_STATUS(sst_stream_encrypt(client->stream, work->plain, len, client->out + client->out_len,
                                    BARE_CAP - client->out_len, &done),
                 SST_OK);
  client->out_len += done.produced;
  REQUIRE_STATUS(shake(server, client, &done), SST_OK);
  REQUIRE((receive(server, client, work->read, len) & SST_EARLY_DATA) != 0);
  REQUIRE_STATUS(shake(client, server, &done), SST_OK);
  REQUIRE((receive(server, client, work->rest, 0) & SST_EARLY_DATA) == 0);
}

static void check_flags(sst_stream *stream, uint32_t wanted) {
  sst_stream_info info = {.size = sizeof info};
  REQUIRE_STATUS(sst_stream_get_info(stream, &info), SST_OK);
  REQUIRE((info.flags & (SST_INFO_RESUMED | SST_INFO_EARLY_DATA_ACCEPTED)) == wanted);
}

/* TLS 1.3 sends tickets behind the handshake; in TLS 1.2 they are a part of it. */
static void keep_session(Work *work) {
  BareSide *client = &work->bare.client, *server = &work->bare.server;
  sst_progress done;
  if (work->party.what->version == SST_TLS1_3) {
    REQUIRE_STATUS(sst_stream_flush(server->stream, server->out + server->out_len, BARE_CAP - server->out_len, &done),
                   SST_OK);
    server->out_len += done.produced;
    (void)receive(client, server, work->rest, 0);
  } else if (work->session != NULL) {
    return;
  }
  sst_session_free(work->session);
  work->session = sst_stream_take_session(client->stream);
  REQUIRE(work->session != NULL);
}

static void connect_once(Work *work) {
  Bare *bare = &work->bare;
  const bool resumes = work->session != NULL, early = resumes && work->party.what->size > 0;
  REQUIRE_STATUS(bare_new(bare, work->party.config[CLIENT], work->party.config[SERVER]), SST_OK);
  if (resumes) REQUIRE_STATUS(sst_stream_set_session(bare->client.stream, work->session), SST_OK);
  if (early) {
    shake_early(work);
  } else {
    REQUIRE_STATUS(bare_handshake(bare), SST_OK);
  }
  const uint32_t flags = (resumes ? SST_INFO_RESUMED : 0u) | (early ? SST_INFO_EARLY_DATA_ACCEPTED : 0u);
  check_flags(bare->client.stream, flags);
  check_flags(bare->server.stream, flags);
  keep_session(work);
  bare_end(bare);
}

static Work *begin(const Case *what) {
  Work *work = test_allocate(sizeof *work);
  work->party = party_new(what);
  work->session = NULL;
  work->plain = test_allocate(what->size + 1);
  work->read = test_allocate(what->size + SST_RECORD_MAX);
  pattern_fill(work->plain, what->size, 1);
  connect_once(work);
  /* A TLS 1.2 server gives no new ticket for one that its newest key opens. */
  if (what->version == SST_TLS1_2) REQUIRE_STATUS(sst_session_set_reusable(work->session, 1), SST_OK);
  return work;
}

static void end(Work *work) {
  sst_session_free(work->session);
  party_free(&work->party);
  free(work->plain);
  free(work->read);
  free(work);
}

static void pass(Work *work, uint64_t n) {
  for (uint64_t i = 0; i < n; i++)
    connect_once(work);
  REQUIRE(memcmp(work->plain, work->read, work->party.what->size) == 0);
  memset(work->read, 0, work->party.what->size);
}

static uint64_t one(const Case *what) {
  (void)what;
  return 1;
}

const Kind kind_resumed = {.name = "resumed", .begin = begin, .end = end, .pass = pass, .things = one};
const Kind kind_early = {.name = "early", .begin = begin, .end = end, .pass = pass, .things = one};
