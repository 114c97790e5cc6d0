/* What comes in records that hold no data: alerts, KeyUpdate, session tickets, and what must not come. */
#include <string.h>

#include <openssl/bytestring.h>

#include "memory.h"
#include "tls/record.h"

enum { HELLO_REQUEST = 0, NEW_SESSION_TICKET = 4, KEY_UPDATE = 24, MESSAGE_HEADER_LEN = 4 };
enum { MOST_WARNINGS = 4, MOST_KEY_UPDATES = 32, MOST_MESSAGE = 100 * 1024, FIRST_CAP = 512 };
enum { LEVEL_WARNING = 1, LEVEL_FATAL = 2 };

static sst__step fail(sst_error *error, sst_status code, const char *text) {
  (void)sst__fail(error, code, "after the handshake: %s", text);
  return SST__STEP_FAILED;
}

static size_t length_of(const sst__content *content) {
  return content->len[0] + content->len[1];
}

static uint8_t at(const sst__content *content, size_t index) {
  return index < content->len[0] ? content->piece[0][index] : content->piece[1][index - content->len[0]];
}

/* ---- alerts ---- */

static sst__step refused_by_peer(sst_error *error, uint8_t alert) {
  (void)sst__fail(error, SST_ERR_ALERT_RECEIVED - alert, "the peer sent the fatal alert %s (%d)", sst_alert_name(alert),
                  alert);
  error->alert_received = alert;
  return SST__STEP_FAILED; /* there is nothing to say to that */
}

/* What says that it is fatal ends the stream. In TLS 1.3 each alert but the two of 6.1 does, unknown ones too, whatever
   its level, known or not (RFC 8446, 6). In TLS 1.2 the level alone decides (RFC 5246, 7.2). */
bool sst__is_error_alert(const sst__suite *suite, uint8_t level, uint8_t alert) {
  if (level == LEVEL_FATAL) return true;
  return suite->tls13 && alert != SSL_AD_CLOSE_NOTIFY && alert != SSL_AD_USER_CANCELLED;
}

sst__step sst__receive_alert(sst__record_engine *record, const sst__content *content, sst_error *error) {
  if (length_of(content) != 2) return fail(error, SST_ERR_DECODE, "an alert that is not 2 bytes long");
  const uint8_t level = at(content, 0), alert = at(content, 1);
  sst__events_add(record->base.events, SST_EVENT_ALERT_RECEIVED, alert, NULL, 0);
  if (!record->suite.tls13 && level != LEVEL_WARNING && level != LEVEL_FATAL) {
    return fail(error, SST_ERR_ILLEGAL_PARAMETER, "an alert of an unknown level");
  }
  if (sst__is_error_alert(&record->suite, level, alert)) return refused_by_peer(error, alert);
  if (alert == SSL_AD_CLOSE_NOTIFY) return SST__STEP_CLOSED;
  if (++record->receiver.warnings <= MOST_WARNINGS) return SST__STEP_MORE;
  return fail(error, SST_ERR_FLOOD, "too many warnings in a row");
}

/* ---- handshake messages ---- */

static void drop_message(sst__receiver *receiver) {
  sst__free(receiver->message);
  receiver->message = NULL;
  receiver->message_len = receiver->message_cap = 0;
}

/* Appends to the message in progress; false: no memory. */
static bool append(sst__receiver *receiver, const uint8_t *data, size_t len) {
  if (receiver->message == NULL || receiver->message_cap - receiver->message_len < len) {
    size_t cap = receiver->message_cap > 0 ? receiver->message_cap : FIRST_CAP;
    while (cap - receiver->message_len < len)
      cap *= 2;
    uint8_t *grown = sst__alloc_unset(cap);
    if (grown == NULL) return false;
    if (receiver->message_len > 0) memcpy(grown, receiver->message, receiver->message_len);
    sst__free(receiver->message);
    receiver->message = grown;
    receiver->message_cap = cap;
  }
  if (len > 0) memcpy(receiver->message + receiver->message_len, data, len);
  receiver->message_len += len;
  return true;
}

/* RFC 8446, 4.6.3. */
static sst__step receive_key_update(sst__record_engine *record, CBS *body, bool last, sst_error *error) {
  uint8_t request = 0;
  if (!CBS_get_u8(body, &request) || CBS_len(body) > 0) {
    return fail(error, SST_ERR_DECODE, "a KeyUpdate that is not 1 byte long");
  }
  if (request > 1) return fail(error, SST_ERR_ILLEGAL_PARAMETER, "a KeyUpdate of an unknown value");
  if (!last) return fail(error, SST_ERR_UNEXPECTED_MESSAGE, "bytes behind KeyUpdate under the old key");
  /* Answers that we have asked for do not count as a flood. */
  unsigned expected = atomic_load_explicit(&record->answers_expected, memory_order_relaxed);
  if (request == 0 && expected > 0) {
    atomic_fetch_sub_explicit(&record->answers_expected, 1, memory_order_relaxed);
  } else if (++record->receiver.key_updates > MOST_KEY_UPDATES) {
    return fail(error, SST_ERR_FLOOD, "too many KeyUpdates without data between");
  }
  if (!sst__keys_update(record, &record->receiver.keys)) {
    return fail(error, SST_ERR_NO_MEMORY, "no memory for new keys");
  }
  sst__count(record->base.counters, SST_COUNTER_KEY_UPDATES_RECEIVED, 1);
  sst__events_add(record->base.events, SST_EVENT_KEYS_UPDATED, SST_DIRECTION_RECEIVE, NULL, 0);
  if (request == 1 && !sst__due_ended(record->base.due)) sst__due_add(record->base.due, SST__DUE_ANSWER);
  return SST__STEP_MORE;
}

/* RFC 8446, 4.6.1. A stream that wants no sessions looks whether it is a ticket, and forgets it. */
static sst__step receive_ticket(sst__record_engine *record, CBS *body, sst_error *error) {
  sst__ticket ticket;
  const char *fault = NULL;
  if (!sst__ticket_parse(body, &ticket, &fault)) return fail(error, SST_ERR_DECODE, fault);
  if (record->session != NULL) sst__receive_ticket(record, &ticket);
  return SST__STEP_MORE;
}

static sst__step receive_message(sst__record_engine *record, uint8_t type, CBS *body, bool last, sst_error *error) {
  const bool is_server = record->context->parts.role == SST_ROLE_SERVER;
  if (!record->suite.tls13) {
    if (type == HELLO_REQUEST && CBS_len(body) == 0)
      return fail(error, SST_ERR_RENEGOTIATION, "the peer wants to renegotiate, which is never done");
  } else if (type == KEY_UPDATE) {
    return receive_key_update(record, body, last, error);
  } else if (type == NEW_SESSION_TICKET && !is_server) {
    return receive_ticket(record, body, error);
  }
  return fail(error, SST_ERR_UNEXPECTED_MESSAGE, "a handshake message that does not belong here");
}

/* Reads whole messages from the front of data; *used of it is read. */
static sst__step receive_messages(sst__record_engine *record, const uint8_t *data, size_t len, size_t *used,
                                  sst_error *error) {
  const size_t most = record->context->parts.role == SST_ROLE_SERVER ? 1 : MOST_MESSAGE;
  CBS cbs;
  CBS_init(&cbs, data, len);
  sst__step step = SST__STEP_MORE;
  *used = 0;
  while (step == SST__STEP_MORE && CBS_len(&cbs) >= MESSAGE_HEADER_LEN) {
    CBS message = cbs, body;
    uint8_t type = 0;
    uint32_t body_len = 0;
    (void)CBS_get_u8(&message, &type);
    (void)CBS_get_u24(&message, &body_len);
    if (!CBS_get_bytes(&message, &body, body_len)) {
      if (body_len > most) return fail(error, SST_ERR_MESSAGE_TOO_LARGE, "a handshake message is too long");
      break;
    }
    cbs = message;
    step = receive_message(record, type, &body, CBS_len(&cbs) == 0, error);
  }
  *used = len - CBS_len(&cbs);
  return step;
}

/* A message that is whole in its record is read where it lies; else it is put together. */
sst__step sst__receive_handshake(sst__record_engine *record, const sst__content *content, sst_error *error) {
  sst__receiver *receiver = &record->receiver;
  size_t used = 0;
  if (!record->suite.tls13 && record->context->parts.role == SST_ROLE_SERVER) {
    return fail(error, SST_ERR_RENEGOTIATION, "the peer wants to renegotiate, which is never done");
  }
  if (length_of(content) == 0) {
    if (!record->suite.tls13) return SST__STEP_MORE;
    return fail(error, SST_ERR_UNEXPECTED_MESSAGE, "an empty handshake record"); /* RFC 8446, 5.4 */
  }
  if (receiver->message == NULL && content->len[1] == 0) {
    const sst__step step = receive_messages(record, content->piece[0], content->len[0], &used, error);
    if (step != SST__STEP_MORE || used == content->len[0]) return step;
    if (append(receiver, content->piece[0] + used, content->len[0] - used)) return SST__STEP_MORE;
    return fail(error, SST_ERR_NO_MEMORY, "no memory for a handshake message");
  }
  for (int i = 0; i < 2; i++) {
    if (!append(receiver, content->piece[i], content->len[i])) {
      return fail(error, SST_ERR_NO_MEMORY, "no memory for a handshake message");
    }
  }
  const sst__step step = receive_messages(record, receiver->message, receiver->message_len, &used, error);
  if (step != SST__STEP_MORE) return step;
  const size_t left = receiver->message_len - used;
  if (left == 0) {
    drop_message(receiver);
  } else if (used > 0) {
    memmove(receiver->message, receiver->message + used, left);
    receiver->message_len = left;
  }
  return SST__STEP_MORE;
}
