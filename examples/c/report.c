#include "report.h"

#include <string.h>

void report_error(const char *who, const char *what, const sst_error *error) {
  const char *message = error->message[0] ? error->message : sst_status_text(error->code);
  fprintf(stderr, "%s: %s: %s\n", who, what, message);
  fprintf(stderr, "%s:   code %s (%d)\n", who, sst_status_name(error->code), (int)error->code);
  for (int bit = 0; bit < 64; bit++) {
    /* Bit n of the reasons stands for the certificate fault with the code -500 - n. */
    const sst_status reason = SST_ERR_CERT_ISSUER_NOT_FOUND - bit;
    if (error->reasons >> bit & 1)
      fprintf(stderr, "%s:   reason %s: %s\n", who, sst_status_name(reason), sst_status_text(reason));
  }
  if (error->alert_sent >= 0)
    fprintf(stderr, "%s:   alert sent: %s (%d)\n", who, sst_alert_name(error->alert_sent), (int)error->alert_sent);
  if (error->alert_received >= 0)
    fprintf(stderr, "%s:   alert received: %s (%d)\n", who, sst_alert_name(error->alert_received),
            (int)error->alert_received);
  const char *hint = sst_status_hint(error->code);
  if (hint[0]) fprintf(stderr, "%s:   what to do: %s\n", who, hint);
}

void report_stream_error(const char *who, const char *what, const sst_stream *stream) {
  sst_error error = {.size = sizeof error};
  if (sst_stream_last_error(stream, &error) == SST_OK) report_error(who, what, &error);
}

void report_negotiated(const sst_stream *stream, char *text, size_t text_cap) {
  size_t len = 0, alpn_len = 0;
  char alpn[256];
  if (sst_stream_describe(stream, (uint8_t *)text, text_cap - 1, &len) != SST_OK) len = 0;
  text[len] = 0;
  if (sst_stream_alpn(stream, (uint8_t *)alpn, sizeof alpn, &alpn_len) == SST_OK && alpn_len > 0)
    snprintf(text + len, text_cap - len, ", ALPN %.*s", (int)alpn_len, alpn);
}

void report_events(const char *who, sst_stream *stream, FILE *key_log, bool verbose) {
  sst_event event = {.size = sizeof event};
  uint8_t line[1024]; /* A key-log line has at most 215 bytes. */
  while (sst_stream_next_event(stream, &event, line, sizeof line) == SST_OK) {
    if (event.kind == SST_EVENT_KEY_LOG && key_log) {
      fprintf(key_log, "%.*s\n", (int)event.length, (const char *)line);
      fflush(key_log);
    }
    if (event.kind == SST_EVENT_ALERT_RECEIVED && verbose)
      fprintf(stderr, "%s: the peer's alert: %s\n", who, sst_alert_name((int32_t)event.value));
    if (event.kind == SST_EVENT_KEYS_UPDATED && verbose)
      fprintf(stderr, "%s: new keys for %s\n", who, event.value == SST_DIRECTION_SEND ? "sending" : "receiving");
  }
}

static const char *record_name(uint8_t type) {
  switch (type) {
    case 20:
      return "change_cipher_spec";
    case 21:
      return "alert";
    case 22:
      return "handshake";
    case 23:
      return "application_data"; /* In TLS 1.3 whatever is encrypted says so. */
    default:
      return "no record of TLS";
  }
}

void report_flight(const char *who, report_wire *wire, bool sent, const uint8_t *bytes, size_t len) {
  report_direction *direction = sent ? &wire->sent : &wire->received;
  fprintf(stderr, "%s: %s %zu bytes %s:%s", who, sent ? "->" : "<-", len, wire->stage,
          direction->left > 0 ? " (goes on)" : "");
  for (size_t at = 0; at < len;) {
    if (direction->left > 0) {
      const size_t n = direction->left < len - at ? direction->left : len - at;
      direction->left -= n;
      at += n;
      continue;
    }
    direction->header[direction->header_len++] = bytes[at++];
    if (direction->header_len < sizeof direction->header) continue;
    direction->header_len = 0;
    direction->left = (size_t)direction->header[3] << 8 | direction->header[4];
    fprintf(stderr, " %s %zu", record_name(direction->header[0]), direction->left + sizeof direction->header);
  }
  fputs("\n", stderr);
}
