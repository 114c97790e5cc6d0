#include "side.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "met.h"

static const char *const call_names[] = {"handshake", "encrypt", "decrypt", "flush", "close"};

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

static bool takes_wire(Call call) {
  return call == CALL_HANDSHAKE || call == CALL_DECRYPT;
}

/* What is true of every progress, whatever the status. */
static void check_progress(const Side *side, Call call, size_t in_len, size_t room, sst_status status) {
  const sst_progress *done = &side->progress;
  EXPECT_AT_MOST(done->consumed, in_len);
  EXPECT_AT_MOST(done->produced, room);
  EXPECT_EQ(done->reserved, 0);
  if (status == SST_ERR_INVALID_ARGUMENT || status == SST_ERR_BUSY || status == SST_ERR_FORKED) return;

  const size_t output = sst_stream_output_size(side->stream), plaintext = sst_stream_plaintext_size(side->stream);
  EXPECT_EQ(done->waiting, call == CALL_DECRYPT ? plaintext : output);
  EXPECT_EQ((done->flags & SST_HAS_OUTPUT) != 0, output > 0);
  EXPECT_EQ((done->flags & SST_HAS_PLAINTEXT) != 0, plaintext > 0);
  if (status == SST_NEED_OUTPUT) EXPECT_AT_LEAST(done->needed, 1);
  if (status == SST_NEED_INPUT) {
    EXPECT(takes_wire(call));
    EXPECT_AT_LEAST(done->needed, 1);
    if (call == CALL_HANDSHAKE || !side->leave_partial) EXPECT_EQ(done->consumed, in_len);
  }
  if (status == SST_NEED_OUTPUT && !takes_wire(call) && call != CALL_ENCRYPT) EXPECT_EQ(done->needed, output);
  if (status == SST_OK) {
    EXPECT(call != CALL_DECRYPT);
    /* What waits goes out before data; session tickets wait behind the handshake. */
    if (call != CALL_HANDSHAKE && (call != CALL_ENCRYPT || in_len > 0)) EXPECT_EQ(output, 0);
    if (call == CALL_ENCRYPT) EXPECT_EQ(done->consumed, in_len);
  }
  if (status >= SST_WANT_CLIENT_HELLO) EXPECT_EQ(output, 0); /* it goes out before a question is put */
  if (call == CALL_DECRYPT && (status == SST_CLOSED || status < 0)) EXPECT_EQ(plaintext, 0);
  EXPECT(status != SST_NONE);
}

static sst_status perform(sst_stream *stream, Call call, const uint8_t *in, size_t in_len, uint8_t *out, size_t room,
                          sst_progress *progress) {
  switch (call) {
    case CALL_HANDSHAKE:
      return sst_stream_handshake(stream, in, in_len, out, room, progress);
    case CALL_ENCRYPT:
      return sst_stream_encrypt(stream, in, in_len, out, room, progress);
    case CALL_DECRYPT:
      return sst_stream_decrypt(stream, in, in_len, out, room, progress);
    case CALL_FLUSH:
      return sst_stream_flush(stream, out, room, progress);
    case CALL_CLOSE:
      return sst_stream_close(stream, out, room, progress);
  }
  FAIL("no such call");
}

static void keep_output(Side *side, Call call, const uint8_t *out, size_t len) {
  if (call != CALL_DECRYPT) {
    wire_write(side->out, out, len);
    return;
  }
  if (len == 0) return;
  side->received = test_reallocate(side->received, side->received_len + len);
  memcpy(side->received + side->received_len, out, len);
  side->received_len += len;
  if ((side->progress.flags & SST_EARLY_DATA) != 0) side->early_len += len;
}

sst_status side_call(Side *side, Call call, const uint8_t *in, size_t in_len, size_t room) {
  uint8_t *given = in_len == 0 ? NULL : test_allocate(in_len);
  uint8_t *out = room == 0 ? NULL : test_allocate(room);
  if (in_len > 0) memcpy(given, in, in_len);
  memset(&side->progress, 0xa5, sizeof side->progress);

  side->status = perform(side->stream, call, given, in_len, out, room, &side->progress);

  check_progress(side, call, in_len, room, side->status);
  keep_output(side, call, out, smaller(side->progress.produced, room));
  free(given);
  free(out);
  return side->status;
}

/* Mostly small, sometimes large: the edges of records are where faults are. */
static size_t random_size(void) {
  switch (test_random_below(4)) {
    case 0:
      return 1 + test_random_below(7);
    case 1:
      return 1 + test_random_below(100);
    case 2:
      return 1 + test_random_below(2000);
    default:
      return 1 + test_random_below(40000);
  }
}

static size_t plenty(const Side *side, Call call, size_t in_len) {
  if (call == CALL_DECRYPT) return in_len + SST_RECORD_MAX;
  if (call == CALL_ENCRYPT) return sst_stream_encrypted_size(side->stream, in_len);
  return 65536;
}

static size_t next_room(Side *side, Call call, size_t in_len) {
  const size_t asked = side->asked;
  side->asked = 0;
  if (asked > 0) return asked;
  if (side->room == 0) return plenty(side, call, in_len);
  if (side->room == SIDE_LEARN) return 0;
  return side->room == SIDE_RANDOM ? random_size() : side->room;
}

static size_t next_chunk(const Side *side) {
  const size_t waiting = wire_waiting(side->in);
  if (side->chunk == 0) return waiting;
  if (side->chunk == SIDE_NOTHING) return smaller(waiting, side->held);
  return smaller(waiting, side->held + (side->chunk == SIDE_RANDOM ? random_size() : side->chunk));
}

/* One call with the chunk and the room of the side; false: it cannot go on. */
static bool advance(Side *side, Call call, const uint8_t *data, size_t data_len) {
  const bool wire = takes_wire(call);
  const size_t in_len = wire ? next_chunk(side) : data_len;
  const size_t held = side->held, room = next_room(side, call, in_len);
  const sst_status status = side_call(side, call, wire ? wire_head(side->in) : data, in_len, room);
  const sst_progress *done = &side->progress;
  if (wire) {
    side->in->taken += smaller(done->consumed, in_len);
    side->held = in_len - smaller(done->consumed, in_len);
  }
  /* Plenty is what the header calls enough. */
  if (side->room == 0) EXPECT(status != SST_NEED_OUTPUT);
  if (status == SST_NEED_OUTPUT && done->consumed == 0 && done->produced == 0) {
    if (done->needed <= room)
      FAIL("stall: %s gives NEED_OUTPUT with room %zu, needed %zu", call_names[call], room, done->needed);
    side->asked = done->needed;
  }
  if (status == SST_NEED_OUTPUT) return true;
  if (status == SST_NEED_INPUT) {
    const bool more = wire_waiting(side->in) > side->held;
    if (more && done->consumed == 0 && done->produced == 0 && side->held <= held)
      FAIL("stall: %s takes nothing of %zu bytes", call_names[call], in_len);
    return more;
  }
  return false;
}

sst_status side_handshake(Side *side) {
  while (advance(side, CALL_HANDSHAKE, NULL, 0))
    continue;
  side->held = 0;
  /* The rest of the alert comes by repeats, and each says the same. */
  const sst_status status = side->status;
  while (status < 0 && (side->progress.flags & SST_HAS_OUTPUT) != 0) {
    const size_t room = next_room(side, CALL_HANDSHAKE, 0);
    EXPECT_STATUS(side_call(side, CALL_HANDSHAKE, NULL, 0, room), status);
    if (side->progress.produced == 0 && room > 0) FAIL("stall: the rest of the alert does not come");
    if (side->room == SIDE_LEARN && room == 0) side->asked = side->progress.waiting;
  }
  return status;
}

sst_status side_send(Side *side, const void *data, size_t len) {
  const uint8_t *at = data;
  while (advance(side, CALL_ENCRYPT, at, len)) {
    at = at == NULL ? NULL : at + side->progress.consumed;
    len -= side->progress.consumed;
  }
  return side->status;
}

sst_status side_receive(Side *side) {
  while (advance(side, CALL_DECRYPT, NULL, 0))
    continue;
  side->held = 0;
  return side->status;
}

sst_status side_flush(Side *side) {
  while (advance(side, CALL_FLUSH, NULL, 0))
    continue;
  return side->status;
}

sst_status side_close(Side *side) {
  while (advance(side, CALL_CLOSE, NULL, 0))
    continue;
  return side->status;
}

sst_error error_of(const Side *side) {
  sst_error error = {.size = sizeof error};
  EXPECT_STATUS(sst_stream_last_error(side->stream, &error), SST_OK);
  met_status(error.code);
  return error;
}

sst_stream_info info_of(const Side *side) {
  sst_stream_info info = {.size = sizeof info};
  EXPECT_STATUS(sst_stream_get_info(side->stream, &info), SST_OK);
  return info;
}

const char *side_text(const Side *side, Getter getter) {
  static char texts[4][1024];
  static size_t turn;
  char *text = texts[turn++ % 4];
  size_t len = 0;
  EXPECT_STATUS(getter(side->stream, (uint8_t *)text, sizeof texts[0] - 1, &len), SST_OK);
  text[smaller(len, sizeof texts[0] - 1)] = '\0';
  return text;
}

bool side_event(Side *side, uint32_t kind, sst_event *event, char *text, size_t text_cap) {
  for (;;) {
    *event = (sst_event){.size = sizeof *event};
    const sst_status status = sst_stream_next_event(side->stream, event, (uint8_t *)text, text_cap - 1);
    if (status == SST_NONE) return false;
    if (!EXPECT_STATUS(status, SST_OK)) return false;
    text[smaller(event->length, text_cap - 1)] = '\0';
    if (event->kind == kind) return true;
  }
}
