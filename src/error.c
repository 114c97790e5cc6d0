#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NONE = SST__NO_ALERT };
enum { MAX_PRINTABLE = 200 };

typedef struct entry {
  sst_status code;
  int32_t alert;
  const char *name, *text, *hint;
} entry;

static const entry table[] = {
#define SST_ERROR(name, number, text, alert, sticky, hint) {SST_ERR_##name, alert, "ERR_" #name, text, hint},
#include "error_table.h"
#undef SST_ERROR
};

#define SST_ERROR(name, number, text, alert, sticky, hint) \
  _Static_assert(SST_ERR_##name == (number), "table and header differ: " #name);
#include "error_table.h"
#undef SST_ERROR

static const entry outcomes[] = {
    {SST_OK, NONE, "OK", "done", ""},
    {SST_NEED_INPUT, NONE, "NEED_INPUT", "all that was given is processed; more input is needed", ""},
    {SST_NEED_OUTPUT, NONE, "NEED_OUTPUT", "more room for output is needed", ""},
    {SST_CLOSED, NONE, "CLOSED", "the peer has closed: the end of the data", ""},
    {SST_NONE, NONE, "NONE", "there is nothing", ""},
    {SST_WANT_CLIENT_HELLO, NONE, "WANT_CLIENT_HELLO", "which config is for this ClientHello?", ""},
    {SST_WANT_CERTIFICATE, NONE, "WANT_CERTIFICATE", "which credential is for this peer?", ""},
    {SST_WANT_CERTIFICATE_VERIFY, NONE, "WANT_CERTIFICATE_VERIFY", "is the peer's certificate good?", ""},
    {SST_WANT_PRIVATE_KEY_OPERATION, NONE, "WANT_PRIVATE_KEY_OPERATION", "a signature is needed", ""},
    {SST_WANT_SESSION, NONE, "WANT_SESSION", "which session has this id?", ""},
    {SST_WANT_TICKET_DECRYPT, NONE, "WANT_TICKET_DECRYPT", "what is in this ticket?", ""},
    {SST_WANT_EARLY_DATA_RETRY, NONE, "WANT_EARLY_DATA_RETRY", "early data was not taken; send it again", ""},
};

static const entry received = {SST_ERR_ALERT_RECEIVED, NONE, "ERR_ALERT_RECEIVED", "the peer sent a fatal alert",
                               "look into the peer's log for why it sent this alert"};
static const entry unknown = {0, NONE, "unknown", "unknown", ""};

static const struct {
  sst_status code;
  const char *hint;
} alert_hints[] = {
#define SST_ERROR(name, number, text, alert, sticky, hint)
#define SST_ALERT_HINT(number, hint) {SST_ERR_ALERT_RECEIVED - (number), hint},
#include "error_table.h"
#undef SST_ALERT_HINT
#undef SST_ERROR
};

static const entry *find(sst_status code) {
  if (code <= SST_ERR_ALERT_RECEIVED && code >= SST_ERR_ALERT_RECEIVED - 255) return &received;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    if (table[i].code == code) return &table[i];
  }
  for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++) {
    if (outcomes[i].code == code) return &outcomes[i];
  }
  return &unknown;
}

const char *sst_status_name(sst_status status) {
  return find(status)->name;
}

const char *sst_status_text(sst_status status) {
  return find(status)->text;
}

const char *sst_status_hint(sst_status status) {
  for (size_t i = 0; i < sizeof alert_hints / sizeof alert_hints[0]; i++) {
    if (alert_hints[i].code == status) return alert_hints[i].hint;
  }
  return find(status)->hint;
}

int32_t sst__alert_of(sst_status code) {
  return find(code)->alert;
}

bool sst__is_certificate_code(sst_status code) {
  return code <= SST_ERR_CERT_ISSUER_NOT_FOUND && code >= SST_ERR_CERT_OTHER;
}

uint64_t sst__reason_bit(sst_status code) {
  return sst__is_certificate_code(code) ? UINT64_C(1) << (SST_ERR_CERT_ISSUER_NOT_FOUND - code) : 0;
}

void sst__error_clear(sst_error *record) {
  *record =
      (sst_error){.size = sizeof *record, .code = SST_OK, .alert_sent = SST__NO_ALERT, .alert_received = SST__NO_ALERT};
}

sst_status sst__fail(sst_error *record, sst_status code, const char *format, ...) {
  sst__error_clear(record);
  record->code = code;
  record->alert_sent = sst__alert_of(code);
  record->reasons = sst__reason_bit(code);
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(record->message, sizeof record->message, format, arguments);
  va_end(arguments);
  return code;
}

sst_status sst__refuse(sst_status code) {
  return code;
}

sst_status sst__fill(const void *facts, uint32_t facts_size, void *out) {
  uint32_t size = 0;
  if (out == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  memcpy(&size, out, sizeof size);
  if (size < sizeof size) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  const uint32_t known = size < facts_size ? size : facts_size;
  memcpy((char *)out + sizeof size, (const char *)facts + sizeof size, known - sizeof size);
  if (size > known) memset((char *)out + known, 0, size - known); /* members of a later header */
  return SST_OK;
}

sst_status sst__error_get(const sst_error *record, sst_error *out) {
  const sst_status filled = sst__fill(record, sizeof *record, out);
  if (filled != SST_OK || out->size <= offsetof(sst_error, message) || out->size >= sizeof *out) return filled;
  ((char *)out)[out->size - 1] = 0; /* a message cut by an earlier struct still ends */
  return SST_OK;
}

sst_status sst__give(const void *data, size_t size, uint8_t *out, size_t out_cap, size_t *out_len) {
  if (out_len == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  *out_len = 0;
  if (!sst__buffer_ok(out, out_cap)) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  *out_len = size;
  if (size > out_cap) return SST_NEED_OUTPUT;
  if (size > 0) memcpy(out, data, size);
  return SST_OK;
}

void sst__printable(const void *text, size_t text_len, char *out, size_t cap) {
  const uint8_t *bytes = text;
  size_t used = 0;
  if (cap == 0) return;
  for (size_t i = 0; i < text_len && used + 1 < cap; i++) {
    if (used == MAX_PRINTABLE - 3 && text_len - i > 3) {
      for (int dots = 0; dots < 3 && used + 1 < cap; dots++)
        out[used++] = '.';
      break;
    }
    out[used++] = (bytes[i] >= 0x20 && bytes[i] < 0x7f) ? (char)bytes[i] : '?';
  }
  out[used] = 0;
}
