#include "verdict_rows.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/posix_time.h>

#include "error.h"

enum { FIELDS = 8, MOST_WORD = 128 };

static char *trimmed(char *text) {
  text += strspn(text, " ");
  size_t len = strlen(text);
  while (len > 0 && text[len - 1] == ' ')
    text[--len] = '\0';
  return text;
}

static void split(char *line, char *fields[FIELDS]) {
  for (size_t i = 0; i < FIELDS; i++) {
    char *const bar = strchr(line, '|');
    if ((bar == NULL) != (i + 1 == FIELDS)) FAIL("not %d fields: %s", FIELDS, line);
    if (bar != NULL) *bar = '\0';
    fields[i] = trimmed(line);
    if (*fields[i] == '\0') FAIL("an empty field before: %s", bar == NULL ? "the end" : bar + 1);
    if (bar != NULL) line = bar + 1;
  }
}

/* Copies the next word, which ends before one of separators, to word; false: there is none. */
static bool next_word(const char **text, const char *separators, char word[MOST_WORD]) {
  if (*text == NULL) return false;
  *text += strspn(*text, separators);
  const size_t len = strcspn(*text, separators);
  if (len == 0) return false;
  REQUIRE(len < MOST_WORD);
  memcpy(word, *text, len);
  word[len] = '\0';
  *text += len;
  return true;
}

static const char *unless_dash(const char *text) {
  return strcmp(text, "-") == 0 ? NULL : text;
}

static int64_t time_of(const char *text) {
  if (unless_dash(text) == NULL) return DATA_CLOCK;
  struct tm tm = {.tm_isdst = 0};
  int end = 0;
  const int got = sscanf(text, "%d-%d-%dT%d:%d:%dZ%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
                         &tm.tm_sec, &end);
  int64_t unix_s = 0;
  tm.tm_year -= 1900;
  tm.tm_mon -= 1;
  if (got != 6 || text[end] != '\0' || !OPENSSL_tm_to_posix(&tm, &unix_s)) FAIL("not a time: %s", text);
  return unix_s;
}

static sst_status code_of(const char *name) {
  for (int code = -1; code > -1000; code--) {
    const char *known = sst_status_name((sst_status)code);
    if (strncmp(known, "ERR_", 4) == 0 && strcmp(known + 4, name) == 0) return (sst_status)code;
  }
  FAIL("no such code: %s", name);
}

static void read_reasons(const char *text, VerdictRow *row) {
  char word[MOST_WORD];
  row->code = SST_OK;
  if (strcmp(text, "OK") == 0) return;
  while (next_word(&text, " ", word)) {
    const sst_status code = code_of(word);
    if (row->code == SST_OK) row->code = code;
    /* The codes of the band are numbered in the order of precedence, downwards. */
    if (code > row->code) FAIL("%s comes before the code", word);
    row->reasons |= sst__reason_bit(code);
  }
}

static void read_options(char *text, VerdictRow *row) {
  row->minimum_rsa_bits = 2048;
  if (unless_dash(text) == NULL) return;
  for (char *option = strtok(text, " "); option != NULL; option = strtok(NULL, " ")) {
    if (strcmp(option, "partial-chain") == 0) {
      row->partial_chain = true;
    } else if (strcmp(option, "sha1") == 0) {
      row->allow_sha1 = true;
    } else if (strcmp(option, "stapled") == 0) {
      row->stapled = true;
    } else if (strncmp(option, "crl=", 4) == 0) {
      row->crls = option + 4;
    } else if (sscanf(option, "minimum-key=%u", &row->minimum_rsa_bits) != 1) {
      FAIL("no such option: %s", option);
    }
  }
}

static VerdictRow row_of(char *line) {
  char *fields[FIELDS];
  split(line, fields);
  test_note("%s", fields[0]);
  VerdictRow row = {.name = fields[0], .trust = fields[1], .sent = fields[2]};
  row.peer_is_server = strcmp(fields[3], "server") == 0;
  if (!row.peer_is_server && strcmp(fields[3], "client") != 0) FAIL("no such role: %s", fields[3]);
  row.expected_name = unless_dash(fields[4]);
  row.unix_s = time_of(fields[5]);
  read_options(fields[6], &row);
  read_reasons(fields[7], &row);
  test_note(NULL);
  return row;
}

VerdictRows verdict_rows_read(void) {
  const Data file = data_read("verdicts", "txt");
  VerdictRows rows = {.text = test_reallocate(file.bytes, file.len + 1)};
  rows.text[file.len] = '\0';
  for (char *line = rows.text; *line != '\0';) {
    char *const end = line + strcspn(line, "\n");
    char *const next = *end == '\0' ? end : end + 1;
    *end = '\0';
    if (*line != '#' && *line != '\0') {
      rows.rows = test_reallocate(rows.rows, (rows.count + 1) * sizeof *rows.rows);
      rows.rows[rows.count] = row_of(line);
      rows.count++;
    }
    line = next;
  }
  return rows;
}

void verdict_rows_free(VerdictRows *rows) {
  free(rows->rows);
  free(rows->text);
}

/* The file of a word: NAME is NAME.pem. *is_der: it is NAME.der. */
static Data file_of(char *word, bool *is_der) {
  char *const end = strstr(word, ".der");
  *is_der = end != NULL;
  if (end != NULL) *end = '\0';
  return data_read(word, end != NULL ? "der" : "pem");
}

static void load_trust(const VerdictRow *row, Judge *judge) {
  char word[MOST_WORD];
  bool is_der = false;
  for (const char *at = row->trust; next_word(&at, " ", word);) {
    const Data file = file_of(word, &is_der);
    const sst_status status = is_der ? sst__anchors_load_der(judge->anchors, file.bytes, file.len, &judge->error)
                                     : sst__anchors_load_pem(judge->anchors, file.bytes, file.len, &judge->error);
    REQUIRE_STATUS(status, SST_OK);
    free(file.bytes);
  }
  for (const char *at = row->crls; next_word(&at, ",", word);) {
    const Data file = file_of(word, &is_der);
    REQUIRE_STATUS(sst__anchors_load_crl(judge->anchors, file.bytes, file.len, &judge->error), SST_OK);
    free(file.bytes);
  }
}

static size_t count_certificates(Data pem) {
  static const char begin[] = "-----BEGIN CERTIFICATE-----";
  size_t count = 0;
  for (size_t i = 0; i + sizeof begin <= pem.len; i++)
    count += memcmp(pem.bytes + i, begin, sizeof begin - 1) == 0;
  return count;
}

static void send_chain(const VerdictRow *row, Judge *judge) {
  char word[MOST_WORD];
  bool is_der = false;
  for (const char *at = row->sent; next_word(&at, " ", word);) {
    const Data file = file_of(word, &is_der);
    const size_t count = is_der ? 0 : count_certificates(file);
    if (is_der) judge_is_sent_bytes(judge, file.bytes, file.len);
    for (size_t i = 0; i < count; i++) {
      const Data certificate = data_certificate(word, i);
      judge_is_sent_bytes(judge, certificate.bytes, certificate.len);
      free(certificate.bytes);
    }
    REQUIRE(is_der || count > 0);
    free(file.bytes);
  }
}

static bool is_address(const char *name) {
  uint8_t address[16];
  return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

Judge verdict_row_judge(const VerdictRow *row) {
  Judge judge = judge_new();
  load_trust(row, &judge);
  send_chain(row, &judge);
  sst__anchors_set_partial_chain(judge.anchors, row->partial_chain);
  judge.request.name = row->expected_name;
  judge.request.name_is_ip = row->expected_name != NULL && is_address(row->expected_name);
  judge.request.peer_is_server = row->peer_is_server;
  judge.request.unix_s = row->unix_s;
  judge.request.minimum_rsa_bits = row->minimum_rsa_bits;
  judge.request.allow_sha1 = row->allow_sha1;
  judge.request.stapled = row->stapled;
  return judge;
}
