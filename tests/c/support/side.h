/*
 * side.h - one end of a connection: a stream, and the two wires between which the test moves its bytes.
 *
 * Every call gets buffers of exactly the size it is told of, which are freed behind it, so that a byte too many, or a
 * pointer that is kept, is found by the sanitizers. What section 10 of the header says of every progress is checked
 * with every call.
 */
#ifndef SST_SIDE_H
#define SST_SIDE_H

#include "test.h"
#include "wire.h"

/* Values of chunk and room beside a number of bytes; 0 is "all that waits" and "plenty". */
#define SIDE_RANDOM (SIZE_MAX)      /* another size for every call */
#define SIDE_LEARN (SIZE_MAX - 1)   /* room: 0 first, then what `needed` says */
#define SIDE_NOTHING (SIZE_MAX - 2) /* chunk: no byte */

typedef enum { CALL_HANDSHAKE, CALL_ENCRYPT, CALL_DECRYPT, CALL_FLUSH, CALL_CLOSE } Call;

typedef struct Side {
  const char *label; /* "client", "server" */
  sst_config *config;
  sst_stream *stream;
  Wire *in, *out;
  size_t chunk; /* wire bytes given to one call */
  size_t room;  /* out_cap of one call */
  bool leave_partial;
  sst_status status; /* of the last call */
  sst_progress progress;
  uint8_t *received; /* all plaintext so far */
  size_t received_len;
  size_t early_len; /* of it: what came as 0-RTT data */
  size_t asked;     /* the room that the next call must have, since the last one could do nothing; 0: none */
  size_t held;      /* wire bytes that the last call was given and has left */
} Side;

/*
 * side_call makes one call. handshake and decrypt take in, in_len instead of the wire if in is not NULL, and consume
 * nothing from the wire then; what they produce goes to the wire, or to received.
 */
sst_status side_call(Side *side, Call call, const uint8_t *in, size_t in_len, size_t room);

/*
 * These repeat a call, with side->chunk and side->room, until there is no more to be done: side_handshake and
 * side_receive until the wire is empty, the others until all is out. A call that makes no progress fails the case.
 */
sst_status side_handshake(Side *side);
sst_status side_send(Side *side, const void *data, size_t len);
sst_status side_receive(Side *side);
sst_status side_flush(Side *side);
sst_status side_close(Side *side);

/* side_expect_received compares all plaintext since the last comparison. */
#define EXPECT_RECEIVED(side, data, len)                                 \
  do {                                                                   \
    EXPECT_BYTES((side)->received, (side)->received_len, (data), (len)); \
    (side)->received_len = 0;                                            \
  } while (0)

sst_error error_of(const Side *side);
sst_stream_info info_of(const Side *side);

/* side_text returns what a getter of variable size gives, terminated by NUL, in one of a few static buffers. */
typedef sst_status (*Getter)(const sst_stream *stream, uint8_t *out, size_t out_cap, size_t *out_len);
const char *side_text(const Side *side, Getter getter);

/* side_event takes the next event of a kind, whatever stands before it, and returns whether there was one. The bytes of
   the event are text, terminated by NUL. */
bool side_event(Side *side, uint32_t kind, sst_event *event, char *text, size_t text_cap);

#endif
