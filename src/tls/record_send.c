/* The sending side of the record layer. One thread at a time. */
#include <string.h>

#include <openssl/err.h>

#include "memory.h"
#include "tls/record.h"

enum { MOST_PIECES = 32, FEW_BYTES = 256, LEVEL_WARNING = 1, LEVEL_FATAL = 2, CLOSE_NOTIFY = 0 };
enum { KEY_UPDATE = 24, KEY_UPDATE_LEN = 5 };
enum { SMALL_CAP = SST__HEADER_LEN + SST__EXPLICIT_LEN + KEY_UPDATE_LEN + 1 + SST__TAG_LEN };

/* The plaintext of one record, in pieces. */
typedef struct pieces {
  CRYPTO_IOVEC piece[MOST_PIECES + 1]; /* the last has room for the content type of TLS 1.3 */
  size_t num;
} pieces;

/* Points pieces at size bytes of slices, behind the first skip, and out at where the ciphertext goes; false: there are
   too many. */
SST__INLINE bool gather(pieces *all, const sst_slice *slices, size_t skip, size_t size, uint8_t *out) {
  all->num = 0;
  for (size_t used = 0; used < size; slices++) {
    const size_t left = slices->length - skip;
    const size_t len = left < size - used ? left : size - used;
    if (len > 0 && all->num == MOST_PIECES) return false;
    if (len > 0) all->piece[all->num++] = (CRYPTO_IOVEC){.in = slices->data + skip, .out = out + used, .len = len};
    used += len;
    skip = 0;
  }
  return true;
}

/* Copies size bytes of slices to out: what the AEAD then encrypts in place, where there are too many pieces, or where a
   copy costs less than a second piece. */
static void join(const sst_slice *slices, size_t skip, size_t size, uint8_t *out) {
  for (size_t used = 0; used < size; slices++) {
    const size_t left = slices->length - skip;
    const size_t len = left < size - used ? left : size - used;
    if (len > 0) memcpy(out + used, slices->data + skip, len);
    used += len;
    skip = 0;
  }
}

/* Seals size bytes of slices as one record at out, which has room for it. Returns its length; 0: the AEAD refused. */
SST__INLINE size_t seal(sst__record_engine *record, uint8_t type, const sst_slice *slices, size_t skip, size_t size,
                        uint8_t *out) {
  sst__keys *keys = &record->sender.keys;
  const sst__suite *suite = &record->suite;
  const size_t explicit_len = suite->explicit_nonce ? SST__EXPLICIT_LEN : 0;
  const size_t inner_len = size + (suite->tls13 ? 1 : 0);
  const size_t body_len = explicit_len + inner_len + SST__TAG_LEN;
  uint8_t *body = out + SST__HEADER_LEN + explicit_len;
  out[0] = suite->tls13 ? SST__APPLICATION_DATA : type;
  out[1] = 3;
  out[2] = 3;
  out[3] = (uint8_t)(body_len >> 8);
  out[4] = (uint8_t)body_len;

  _Alignas(uint64_t) uint8_t nonce[SST__NONCE_LEN];
  uint8_t data[13];
  sst__keys_nonce(keys, nonce);
  if (explicit_len > 0) memcpy(out + SST__HEADER_LEN, nonce + SST__NONCE_LEN - SST__EXPLICIT_LEN, SST__EXPLICIT_LEN);
  CRYPTO_IVEC additional = {.in = out, .len = SST__HEADER_LEN};
  if (!suite->tls13) additional = (CRYPTO_IVEC){.in = data, .len = sst__additional_data(keys, type, size, data)};

  pieces all;
  if (size <= FEW_BYTES || !gather(&all, slices, skip, size, body)) {
    join(slices, skip, size, body);
    if (suite->tls13) body[size] = type;
    all.piece[0] = (CRYPTO_IOVEC){.in = body, .out = body, .len = inner_len};
    all.num = 1;
  } else if (suite->tls13) {
    all.piece[all.num++] = (CRYPTO_IOVEC){.in = &type, .out = body + size, .len = 1};
  }
  size_t tag_len = 0;
  if (EVP_AEAD_CTX_sealv(&keys->aead, all.piece, all.num, body + inner_len, &tag_len, SST__TAG_LEN, nonce, sizeof nonce,
                         &additional, 1) != 1) {
    ERR_clear_error();
    return 0;
  }
  keys->sequence++;
  return SST__HEADER_LEN + body_len;
}

void sst__record_look_at_limit(sst__record_engine *record) {
  const sst__sender *sender = &record->sender;
  const bool due = record->suite.tls13 && sender->keys.sequence >= sender->most_records - 1;
  if (due != record->base.update_due) record->base.update_due = due; /* the receiving side reads its cache line */
}

static sst__step refused(size_t size, sst_error *error) {
  (void)sst__fail(error, SST_ERR_INTERNAL, "the AEAD refused to seal %zu bytes", size);
  return SST__STEP_FAILED;
}

sst__step sst__record_seal(sst__engine *engine, const sst_slice *slices, size_t skip, size_t size, sst__output *wire,
                           sst_error *error) {
  sst__record_engine *record = sst__record_of(engine);
  const sst__sender *sender = &record->sender;
  if (!record->suite.tls13 && sender->keys.sequence >= sender->most_records) {
    (void)sst__fail(error, SST_ERR_KEY_EXHAUSTED, "%llu records under one key, which TLS 1.2 cannot change",
                    (unsigned long long)sender->keys.sequence);
    return SST__STEP_FAILED;
  }
  const size_t sealed = seal(record, SST__APPLICATION_DATA, slices, skip, size, wire->data + wire->used);
  if (sealed == 0) return refused(size, error);
  wire->used += sealed;
  sst__record_look_at_limit(record);
  return SST__STEP_DONE;
}

/* A record that is no data: sealed apart, since it may have to wait in the queue. That there is memory for this is made
   sure of first: a record that is sealed and lost would be the last that the peer can open. */
static sst__step send_small(sst__record_engine *record, uint8_t type, const uint8_t *content, size_t len,
                            sst__output *wire, sst_error *error) {
  uint8_t out[SMALL_CAP];
  const sst_slice slice = {.data = content, .length = len};
  if (!sst__output_reserve(wire, record->base.overhead + len)) {
    (void)sst__fail(error, SST_ERR_NO_MEMORY, "no memory for a record that waits");
    return SST__STEP_NO_MEMORY;
  }
  const size_t sealed = seal(record, type, &slice, 0, len, out);
  if (sealed == 0) return refused(len, error);
  (void)sst__output_write(wire, out, sealed);
  return SST__STEP_DONE;
}

static sst__step send_alert(sst__record_engine *record, uint8_t level, uint8_t alert, sst__output *wire,
                            sst_error *error) {
  const uint8_t content[] = {level, alert};
  return send_small(record, SST__ALERT, content, sizeof content, wire, error);
}

/* KeyUpdate under the old key, then the new one (RFC 8446, 4.6.3). */
sst__step sst__record_key_update(sst__engine *engine, bool request_peer, sst__output *wire, sst_error *error) {
  sst__record_engine *record = sst__record_of(engine);
  const uint8_t content[KEY_UPDATE_LEN] = {KEY_UPDATE, 0, 0, 1, request_peer ? 1 : 0};
  const sst__step step = send_small(record, SST__HANDSHAKE, content, sizeof content, wire, error);
  if (step != SST__STEP_DONE) return step;
  if (request_peer) atomic_fetch_add_explicit(&record->answers_expected, 1, memory_order_relaxed);
  if (!sst__keys_update(record, &record->sender.keys)) {
    (void)sst__fail(error, SST_ERR_NO_MEMORY, "no memory for new keys");
    error->alert_sent = SST__NO_ALERT; /* there is no key that it could be sealed with */
    return SST__STEP_FAILED;
  }
  sst__record_look_at_limit(record);
  sst__count(record->base.counters, SST_COUNTER_KEY_UPDATES_SENT, 1);
  sst__events_add(record->base.events, SST_EVENT_KEYS_UPDATED, SST_DIRECTION_SEND, NULL, 0);
  return SST__STEP_DONE;
}

/* An answer and a KeyUpdate of our own are the same message: one serves for both. An alert is the last word, of a stream
   that has failed already. */
sst__step sst__record_bring_out(sst__engine *engine, bool before_data, sst__output *wire, sst_error *error) {
  sst__record_engine *record = sst__record_of(engine);
  sst__due *owed = record->base.due;
  const unsigned due = sst__due_take(owed);
  sst__step step = SST__STEP_DONE;
  if ((due & SST__DUE_ALERT) != 0) {
    const sst_error *end = atomic_load_explicit(&owed->end, memory_order_relaxed); /* read behind what says so */
    step = send_alert(record, LEVEL_FATAL, (uint8_t)end->alert_sent, wire, error);
    if (step == SST__STEP_FAILED) return SST__STEP_DONE;
  } else if ((due != 0 || (before_data && record->base.update_due)) && !sst__due_ended(owed)) {
    step = sst__record_key_update(engine, false, wire, error);
  }
  if (step != SST__STEP_NO_MEMORY) return step;
  sst__due_add(owed, due);
  return SST__STEP_ROOM;
}

sst__step sst__record_close(sst__engine *engine, sst__output *wire, sst_error *error) {
  sst__record_engine *record = sst__record_of(engine);
  if (!sst__output_reserve(wire, record->base.due->alert_size)) {
    (void)sst__fail(error, SST_ERR_NO_MEMORY, "no memory for close_notify");
    return SST__STEP_NO_MEMORY;
  }
  if (!sst__due_end(record->base.due, &sst__closed))
    return SST__STEP_DONE; /* the receiving side has just failed: its alert is last */
  return send_alert(record, LEVEL_WARNING, CLOSE_NOTIFY, wire, error);
}
