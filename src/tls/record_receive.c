/* The receiving side of the record layer. One thread at a time. */
#include <string.h>

#include <openssl/err.h>

#include "memory.h"
#include "tls/record.h"

/* RFC 8446, 5.2; for TLS 1.2 less than the RFC's 2^14 + 2048, which no AEAD suite comes near. */
enum { MOST_BODY_13 = 16384 + 256, MOST_BODY_12 = 16704, MOST_EMPTY = 32 };

static size_t body_of(const uint8_t header[SST__HEADER_LEN]) {
  return (size_t)header[3] << 8 | header[4];
}

static size_t most_body(const sst__suite *suite) {
  return suite->tls13 ? MOST_BODY_13 : MOST_BODY_12;
}

/* Its header alone tells that the record is bad. */
static bool is_bad(const sst__suite *suite, const uint8_t header[SST__HEADER_LEN]) {
  return header[1] != 3 || header[2] != 3 || body_of(header) > most_body(suite);
}

/* The header of the record in progress, as far as it is there: *have bytes of it, *used of them in in. Usually it lies in
   in, whole, and is not copied. */
static const uint8_t *peek_header(const sst__receiver *receiver, const uint8_t *in, size_t in_len,
                                  uint8_t room[SST__HEADER_LEN], size_t *have, size_t *used) {
  if (receiver->header_len == 0 && in_len >= SST__HEADER_LEN) {
    *have = *used = SST__HEADER_LEN;
    return in;
  }
  *have = receiver->header_len;
  *used = 0;
  memcpy(room, receiver->header, *have);
  while (*have < SST__HEADER_LEN && *used < in_len)
    room[(*have)++] = in[(*used)++];
  return room;
}

/* A record that is begun, or not whole. Out of line: its saving of registers is for nothing where a record is whole. */
static __attribute__((noinline)) void next_part(const sst__record_engine *record, const uint8_t *in, size_t in_len,
                                                sst__frame *frame) {
  const sst__receiver *receiver = &record->receiver;
  const size_t expansion = record->base.overhead - SST__HEADER_LEN;
  *frame = (sst__frame){.begun = receiver->header_len > 0, .length = in_len};
  uint8_t room[SST__HEADER_LEN];
  size_t have = 0, used = 0;
  const uint8_t *header = peek_header(receiver, in, in_len, room, &have, &used);
  if (have < SST__HEADER_LEN) {
    frame->missing = SST__HEADER_LEN - have;
    return;
  }
  const size_t body = body_of(header);
  const size_t left = body - (receiver->record_len > SST__HEADER_LEN ? receiver->record_len - SST__HEADER_LEN : 0);
  const bool bad = is_bad(&record->suite, header);
  frame->plaintext_max = body > expansion ? body - expansion : 0;
  frame->whole = bad || in_len - used >= left; /* a bad one need not be waited for */
  if (bad && in_len - used < left) return;
  frame->length = frame->whole ? used + left : in_len;
  frame->missing = frame->whole ? 0 : left - (in_len - used);
}

void sst__record_next_frame(const sst__engine *engine, const uint8_t *in, size_t in_len, sst__frame *frame) {
  const sst__record_engine *record = (const sst__record_engine *)engine;
  const bool in_parts = record->receiver.header_len > 0 || in_len < SST__HEADER_LEN;
  if (in_parts || in_len - SST__HEADER_LEN < body_of(in)) {
    next_part(record, in, in_len, frame);
    return;
  }
  const size_t length = SST__HEADER_LEN + body_of(in);
  *frame = (sst__frame){.whole = true, .length = length};
  frame->plaintext_max = length > engine->overhead ? length - engine->overhead : 0;
}

/* ---- what was taken in ---- */

static void drop_record(sst__receiver *receiver) {
  if (receiver->header_len == 0) return;
  sst__free(receiver->record);
  receiver->record = NULL;
  receiver->record_len = 0;
  receiver->header_len = 0;
}

/* Takes all of in into the record in progress. NO_MEMORY: nothing was taken. */
static sst__step take_in(sst__receiver *receiver, sst__input *in, sst_error *error) {
  size_t used = 0;
  uint8_t header_len = receiver->header_len;
  while (header_len < SST__HEADER_LEN && used < in->len)
    receiver->header[header_len++] = in->data[used++];
  if (header_len == SST__HEADER_LEN && receiver->record == NULL && used < in->len) {
    receiver->record = sst__alloc_unset(SST__HEADER_LEN + body_of(receiver->header));
    if (receiver->record == NULL) {
      (void)sst__fail(error, SST_ERR_NO_MEMORY, "no memory for a record");
      return SST__STEP_NO_MEMORY;
    }
    memcpy(receiver->record, receiver->header, SST__HEADER_LEN);
    receiver->record_len = SST__HEADER_LEN;
  }
  receiver->header_len = header_len;
  if (used < in->len) memcpy(receiver->record + receiver->record_len, in->data + used, in->len - used);
  receiver->record_len += in->len - used;
  in->used = in->len;
  return SST__STEP_MORE;
}

/* ---- opening ---- */

/* Where the plaintext of a record goes: first to out, then to spill. */
typedef struct target {
  uint8_t *out, *spill;
  size_t out_len, spill_len;
} target;

typedef struct opened {
  const uint8_t *record; /* header first */
  size_t explicit_len, plaintext_len;
} opened;

static sst__step fail(sst_error *error, sst_status code, const char *text) {
  (void)sst__fail(error, code, "after the handshake: %s", text);
  return SST__STEP_FAILED;
}

/* What can be said without the key. */
SST__INLINE sst__step check_header(const sst__suite *suite, const uint8_t *header, opened *what, sst_error *error) {
  what->record = header;
  what->explicit_len = suite->explicit_nonce ? SST__EXPLICIT_LEN : 0;
  if (header[1] != 3 || header[2] != 3) {
    (void)sst__fail(error, SST_ERR_DECODE, "after the handshake: a record of version %02x%02x", header[1], header[2]);
    error->alert_sent = SSL_AD_PROTOCOL_VERSION;
    return SST__STEP_FAILED;
  }
  const size_t body = body_of(header), least = what->explicit_len + SST__TAG_LEN;
  if (body > most_body(suite)) return fail(error, SST_ERR_RECORD_OVERFLOW, "a record is too long");
  if (suite->tls13 && header[0] == SST__CHANGE_CIPHER_SPEC) { /* RFC 8446, 5: not behind the peer's Finished */
    return fail(error, SST_ERR_UNEXPECTED_MESSAGE, "a ChangeCipherSpec");
  }
  if (body < least) return fail(error, SST_ERR_BAD_RECORD_MAC, "a record is too short to be encrypted");
  what->plaintext_len = body - least;
  return SST__STEP_DONE;
}

SST__INLINE bool decrypt(sst__record_engine *record, const opened *what, const target *to) {
  sst__keys *keys = &record->receiver.keys;
  const uint8_t *body = what->record + SST__HEADER_LEN + what->explicit_len;
  _Alignas(uint64_t) uint8_t nonce[SST__NONCE_LEN];
  uint8_t data[13];
  sst__keys_nonce(keys, nonce);
  if (what->explicit_len > 0) memcpy(nonce + 4, what->record + SST__HEADER_LEN, SST__EXPLICIT_LEN); /* as it was sent */
  CRYPTO_IVEC additional = {.in = what->record, .len = SST__HEADER_LEN};
  if (!record->suite.tls13) {
    const size_t len = sst__additional_data(keys, what->record[0], what->plaintext_len, data);
    additional = (CRYPTO_IVEC){.in = data, .len = len};
  }
  const CRYPTO_IOVEC pieces[] = {{.in = body, .out = to->out, .len = to->out_len},
                                 {.in = body + to->out_len, .out = to->spill, .len = to->spill_len}};
  const int ok = EVP_AEAD_CTX_openv_detached(&keys->aead, pieces, to->spill_len > 0 ? 2 : 1, nonce, sizeof nonce,
                                             body + what->plaintext_len, SST__TAG_LEN, &additional, 1);
  if (ok == 1) {
    keys->sequence++;
    return true;
  }
  ERR_clear_error();
  return false;
}

static uint8_t byte_at(const target *to, size_t index) {
  return index < to->out_len ? to->out[index] : to->spill[index - to->out_len];
}

/* Takes padding and content type off (RFC 8446, 5.2); 0: there is no type. */
SST__INLINE uint8_t take_type(const sst__suite *suite, const opened *what, const target *to, size_t *content_len) {
  *content_len = what->plaintext_len;
  if (!suite->tls13) return what->record[0];
  while (*content_len > 0 && byte_at(to, *content_len - 1) == 0)
    --*content_len;
  if (*content_len == 0) return 0;
  --*content_len;
  return byte_at(to, *content_len);
}

/* Counts what carries nothing: a peer must not keep us busy with it, not with warnings and empty records in turn
   either. */
static bool is_flood(sst__receiver *receiver, uint8_t type, size_t len) {
  if (len > 0) {
    if (type != SST__ALERT) receiver->warnings = 0;
    receiver->empty_records = 0;
    return false;
  }
  return ++receiver->empty_records > MOST_EMPTY;
}

static sst__content content_of(const target *to, size_t len) {
  const size_t first = len < to->out_len ? len : to->out_len;
  return (sst__content){.piece = {to->out, to->spill}, .len = {first, len - first}};
}

/* No other record may stand inside a handshake message (RFC 8446, 5.1). An alert of an error ends it, and says more. */
static bool is_in_between(const sst__record_engine *record, uint8_t type, const target *to, size_t len) {
  if (record->receiver.message == NULL || type == SST__HANDSHAKE) return false;
  return type != SST__ALERT || len != 2 || !sst__is_error_alert(&record->suite, byte_at(to, 0), byte_at(to, 1));
}

/* What an opened record says that is not data alone. */
static sst__step receive_other(sst__record_engine *record, uint8_t type, const target *to, size_t len,
                               sst_error *error) {
  if (is_in_between(record, type, to, len)) {
    return fail(error, SST_ERR_UNEXPECTED_MESSAGE, "another record inside a handshake message");
  }
  if (is_flood(&record->receiver, type, len)) {
    return fail(error, SST_ERR_FLOOD, "too many empty records in a row");
  }
  const sst__content content = content_of(to, len);
  switch (type) {
    case SST__APPLICATION_DATA: /* of no bytes */
      return SST__STEP_MORE;
    case SST__HANDSHAKE:
      return sst__receive_handshake(record, &content, error);
    case SST__ALERT:
      return sst__receive_alert(record, &content, error);
    default:
      return fail(error, SST_ERR_UNEXPECTED_MESSAGE, "a record of a type that does not belong here");
  }
}

/* DONE: it is data, of *len bytes. */
SST__INLINE sst__step receive(sst__record_engine *record, const opened *what, const target *to, size_t *len,
                              sst_error *error) {
  sst__receiver *receiver = &record->receiver;
  const uint8_t type = take_type(&record->suite, what, to, len);
  if (what->plaintext_len > SST__MOST_PLAINTEXT + (record->suite.tls13 ? 1u : 0u)) {
    return fail(error, SST_ERR_RECORD_OVERFLOW, "a record has too much plaintext");
  }
  if (type != SST__APPLICATION_DATA || *len == 0 || receiver->message != NULL) {
    return receive_other(record, type, to, *len, error);
  }
  receiver->empty_records = receiver->warnings = receiver->key_updates = 0;
  return SST__STEP_DONE;
}

/* Opens the record what->record points at. The caller has made the target; *len: bytes of data. */
SST__INLINE sst__step open_record(sst__record_engine *record, const opened *what, const target *to, size_t *len,
                                  sst_error *error) {
  *len = 0;
  if (record->suite.tls13 && what->record[0] != SST__APPLICATION_DATA) {
    return fail(error, SST_ERR_BAD_RECORD_MAC, "a record that is not encrypted");
  }
  if (record->receiver.keys.sequence == UINT64_MAX) { /* RFC 8446, 5.3: they must not wrap */
    return fail(error, SST_ERR_KEY_EXHAUSTED, "the peer has used up its sequence numbers");
  }
  if (!decrypt(record, what, to)) return fail(error, SST_ERR_BAD_RECORD_MAC, "a record does not open");
  return receive(record, what, to, len, error);
}

/* The whole record: in the caller's buffer, or in ours, with its rest taken in. */
static sst__step find_record(sst__record_engine *record, sst__input *in, const uint8_t **found, sst_error *error) {
  sst__receiver *receiver = &record->receiver;
  *found = in->data;
  if (receiver->header_len == 0) {
    in->used = in->len;
    return SST__STEP_DONE;
  }
  const sst__step step = take_in(receiver, in, error);
  *found = receiver->record != NULL ? receiver->record : receiver->header; /* a body of no bytes */
  return step == SST__STEP_MORE ? SST__STEP_DONE : step;
}

/* The last byte of TLS 1.3 is padding, or the type of a record that fills the room exactly, and needs no memory. */
SST__INLINE bool make_target(const sst__suite *suite, const opened *what, uint8_t *out, size_t cap, uint8_t *type,
                             target *to) {
  *to = (target){.out = out, .out_len = what->plaintext_len < cap ? what->plaintext_len : cap};
  to->spill_len = what->plaintext_len - to->out_len;
  to->spill = to->spill_len <= (suite->tls13 ? 1u : 0u) ? type : sst__alloc_unset(to->spill_len);
  return to->spill != NULL;
}

static void keep(sst__kept *kept, target *to, size_t len) {
  kept->data = to->spill;
  kept->begin = 0;
  kept->end = len;
  atomic_store_explicit(&kept->size, len, memory_order_relaxed);
  to->spill = NULL;
}

static sst__step no_memory(sst_error *error) {
  (void)sst__fail(error, SST_ERR_NO_MEMORY, "no memory for the rest of a record");
  return SST__STEP_NO_MEMORY;
}

/* Gives out what fits; the rest is kept. */
static size_t give(target *to, size_t len, sst__kept *kept) {
  const size_t produced = len < to->out_len ? len : to->out_len;
  if (len > produced) keep(kept, to, len - produced);
  return produced;
}

/* A record that lies in in, whole, and has a good header: nearly every one. */
SST__INLINE sst__step open_whole(sst__record_engine *record, sst__input *in, opened *what, uint8_t *out, size_t cap,
                                 size_t *produced, sst__kept *kept, sst_error *error) {
  uint8_t type = 0;
  size_t len = 0;
  target to;
  if (!make_target(&record->suite, what, out, cap, &type, &to)) return no_memory(error);
  in->used = in->len;
  const sst__step step = open_record(record, what, &to, &len, error);
  if (step == SST__STEP_DONE) *produced = give(&to, len, kept);
  if (to.spill != &type) sst__free(to.spill);
  return step;
}

/* A record that comes in parts, or has a bad header. */
static sst__step open_parts(sst__record_engine *record, sst__input *in, uint8_t *out, size_t cap, size_t *produced,
                            sst__kept *kept, sst_error *error) {
  sst__receiver *receiver = &record->receiver;
  uint8_t room[SST__HEADER_LEN];
  size_t header_have = 0, header_used = 0;
  opened what = {.record = NULL};
  const uint8_t *header = peek_header(receiver, in->data, in->len, room, &header_have, &header_used);
  if (header_have < SST__HEADER_LEN) return take_in(receiver, in, error);
  sst__step step = check_header(&record->suite, header, &what, error);
  if (step != SST__STEP_DONE && is_bad(&record->suite, header)) { /* its body is not waited for */
    in->used = header_used;
    return step;
  }
  const size_t have = receiver->record_len > SST__HEADER_LEN ? receiver->record_len - SST__HEADER_LEN : 0;
  if (in->len - header_used < body_of(header) - have) return take_in(receiver, in, error);
  if (step != SST__STEP_DONE) {
    in->used = in->len;
    drop_record(receiver);
    return step;
  }

  target to;
  uint8_t type = 0;
  size_t len = 0;
  if (!make_target(&record->suite, &what, out, cap, &type, &to)) return no_memory(error);
  step = find_record(record, in, &what.record, error);
  if (step == SST__STEP_DONE) step = open_record(record, &what, &to, &len, error);
  if (step == SST__STEP_DONE) *produced = give(&to, len, kept);
  if (to.spill != &type) sst__free(to.spill);
  if (step != SST__STEP_NO_MEMORY) drop_record(receiver);
  return step;
}

sst__step sst__record_open(sst__engine *engine, sst__input *in, uint8_t *out, size_t cap, size_t *produced,
                           sst__kept *kept, sst__output *answers, sst_error *error) {
  (void)answers; /* what is due is noted; the sending side writes it */
  sst__record_engine *record = sst__record_of(engine);
  opened what;
  *produced = 0;
  const bool in_parts =
      record->receiver.header_len > 0 || in->len < SST__HEADER_LEN || in->len - SST__HEADER_LEN < body_of(in->data);
  if (!in_parts && check_header(&record->suite, in->data, &what, error) == SST__STEP_DONE) {
    return open_whole(record, in, &what, out, cap, produced, kept, error);
  }
  return open_parts(record, in, out, cap, produced, kept, error);
}

sst__step sst__record_open_in_place(sst__engine *engine, uint8_t *data, size_t len, size_t *offset, size_t *produced,
                                    sst__output *answers, sst_error *error) {
  (void)answers;
  sst__record_engine *record = sst__record_of(engine);
  opened what;
  *produced = *offset = 0;
  if (len < SST__HEADER_LEN) return fail(error, SST_ERR_INTERNAL, "a record without a header");
  const sst__step checked = check_header(&record->suite, data, &what, error);
  if (checked != SST__STEP_DONE) return checked;
  *offset = SST__HEADER_LEN + what.explicit_len;
  const target to = {.out = data + *offset, .out_len = what.plaintext_len};
  size_t content_len = 0;
  const sst__step step = open_record(record, &what, &to, &content_len, error);
  if (step == SST__STEP_DONE) *produced = content_len;
  return step;
}
