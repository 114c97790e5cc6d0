#include "pem.h"

#include <stdio.h>
#include <string.h>

#include "error.h"
#include "memory.h"

static const char begin_mark[] = "-----BEGIN", end_mark[] = "-----END", dashes[] = "-----";
enum { BEGIN_LEN = sizeof begin_mark - 1, END_LEN = sizeof end_mark - 1, DASHES_LEN = sizeof dashes - 1 };
enum { DESCRIPTION_CAP = 128 };

static bool is_blank(uint8_t c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static bool is_line_end(uint8_t c) {
  return c == '\n' || c == '\r';
}

/* One line further at LF, CRLF and CR alone. */
static size_t lines_between(const uint8_t *from, const uint8_t *to) {
  size_t lines = 0;
  for (const uint8_t *p = from; p < to; p++) {
    if (*p == '\n' || (*p == '\r' && (p + 1 == to || p[1] != '\n'))) lines++;
  }
  return lines;
}

static bool starts_with(const uint8_t *p, const uint8_t *end, const char *text, size_t len) {
  return (size_t)(end - p) >= len && memcmp(p, text, len) == 0;
}

/* BEGIN or END with something that no longer word continues. */
static bool is_mark(const uint8_t *p, const uint8_t *end, const char *mark, size_t mark_len) {
  if (!starts_with(p, end, mark, mark_len)) return false;
  return p + mark_len == end || p[mark_len] == ' ' || p[mark_len] == '-' || is_line_end(p[mark_len]);
}

/* Reads " LABEL-----" behind a mark; NULL: damaged. Else returns what follows. */
static const uint8_t *read_label(const uint8_t *p, const uint8_t *end, char label[SST__PEM_LABEL_CAP]) {
  size_t len = 0;
  if (p == end || *p != ' ') return NULL;
  for (p++; p < end && !starts_with(p, end, dashes, DASHES_LEN); p++) {
    if (*p < 0x20 || *p > 0x7e || len + 1 == SST__PEM_LABEL_CAP) return NULL;
    label[len++] = (char)*p;
  }
  if (p == end) return NULL;
  label[len] = 0;
  return p + DASHES_LEN;
}

static bool ends_with(const char *text, const char *tail) {
  const size_t text_len = strlen(text), tail_len = strlen(tail);
  return text_len >= tail_len && strcmp(text + text_len - tail_len, tail) == 0;
}

static sst__pem_kind kind_of(const char *label) {
  if (strcmp(label, "CERTIFICATE") == 0 || strcmp(label, "X509 CERTIFICATE") == 0) return SST__PEM_CERTIFICATE;
  if (strcmp(label, "X509 CRL") == 0) return SST__PEM_CRL;
  return ends_with(label, "PRIVATE KEY") ? SST__PEM_PRIVATE_KEY : SST__PEM_OTHER;
}

/* The next BEGIN or END at the start of a line, from p on; end: none. */
static const uint8_t *find_mark(const uint8_t *p, const uint8_t *end) {
  while (p < end) {
    while (p < end && is_blank(*p))
      p++;
    if (is_mark(p, end, begin_mark, BEGIN_LEN) || is_mark(p, end, end_mark, END_LEN)) return p;
    while (p < end && !is_line_end(*p))
      p++;
    if (p < end) p++;
  }
  return end;
}

static const uint8_t *find_dashes(const uint8_t *p, const uint8_t *end) {
  while (p < end && !starts_with(p, end, dashes, DASHES_LEN))
    p++;
  return p;
}

void sst__pem_describe(const sst__pem_block *block, char *out, size_t out_cap) {
  size_t index = 0, count = 0;
  for (const uint8_t *p = find_mark(block->pem->text, block->pem->end); p < block->pem->end;) {
    char label[SST__PEM_LABEL_CAP];
    const bool begin = is_mark(p, block->pem->end, begin_mark, BEGIN_LEN);
    const uint8_t *next = read_label(p + (begin ? BEGIN_LEN : END_LEN), block->pem->end, label);
    if (begin && next != NULL && kind_of(label) == block->kind) {
      count++;
      if (p <= block->begin) index++;
    }
    p = find_mark(next != NULL ? next : p + 1, block->pem->end);
  }
  switch (block->kind) {
    case SST__PEM_CERTIFICATE:
      (void)snprintf(out, out_cap, "certificate %zu of %zu", index, count);
      break;
    case SST__PEM_PRIVATE_KEY:
      if (count > 1) (void)snprintf(out, out_cap, "private key %zu of %zu", index, count);
      if (count <= 1) (void)snprintf(out, out_cap, "private key");
      break;
    case SST__PEM_CRL:
      (void)snprintf(out, out_cap, "revocation list %zu of %zu", index, count);
      break;
    case SST__PEM_OTHER:
      (void)snprintf(out, out_cap, "block \"%s\"", block->label);
      break;
  }
}

static sst_status block_fault(const sst__pem_block *block, sst_error *record, const char *what, size_t line) {
  char name[DESCRIPTION_CAP];
  sst__pem_describe(block, name, sizeof name);
  return sst__fail(record, SST_ERR_PARSE, "%s: %s %zu", name, what, line);
}

/* Notes what of a header line, which ends at end, tells of encryption. */
static void read_header(const uint8_t *line, const uint8_t *end, sst__pem_block *block) {
  static const char proc_type[] = "Proc-Type:", encrypted[] = "ENCRYPTED", dek_info[] = "DEK-Info:";
  if (starts_with(line, end, proc_type, sizeof proc_type - 1)) {
    for (const uint8_t *p = line; p < end; p++)
      block->encrypted |= starts_with(p, end, encrypted, sizeof encrypted - 1);
  }
  if (starts_with(line, end, dek_info, sizeof dek_info - 1)) {
    block->dek_info = line + sizeof dek_info - 1;
    block->dek_info_len = (size_t)(end - block->dek_info);
  }
}

/* Steps over the headers of RFC 1421, 4.4, which end at an empty line. Base64 has no colon: one tells that there are
   any. */
static sst_status skip_headers(sst__pem_block *block, sst_error *record) {
  const uint8_t *const end = block->data + block->data_len;
  const uint8_t *p = block->data;
  if (block->data_len == 0 || memchr(p, ':', block->data_len) == NULL) return SST_OK;
  while (p < end && (is_blank(*p) || is_line_end(*p)))
    p++;

  while (p < end) {
    const uint8_t *line = p;
    while (p < end && !is_line_end(*p))
      p++;
    read_header(line, p, block);
    while (line < p && is_blank(*line))
      line++;
    if (line == p && p < end) {
      block->data_line += lines_between(block->data, p);
      block->data = p;
      block->data_len = (size_t)(end - p);
      return SST_OK;
    }
    if (starts_with(p, end, "\r\n", 2)) p++;
    if (p < end) p++;
  }
  return block_fault(block, record, "headers without an empty line behind them, from line", block->data_line);
}

void sst__pem_start(sst__pem *pem, const uint8_t *text, size_t text_len) {
  static const uint8_t nothing[1], byte_order_mark[] = {0xef, 0xbb, 0xbf};
  if (text_len == 0) text = nothing; /* NULL is no base for pointer arithmetic */
  *pem = (sst__pem){.text = text, .at = text, .end = text + text_len, .line = 1};
  if (text_len >= 3 && memcmp(text, byte_order_mark, 3) == 0) pem->text = pem->at = text + 3;
}

sst_status sst__pem_next(sst__pem *pem, sst__pem_block *block, sst_error *record) {
  const uint8_t *mark = find_mark(pem->at, pem->end);
  pem->line += lines_between(pem->at, mark);
  pem->at = mark;
  if (mark == pem->end) return SST_NONE;
  if (is_mark(mark, pem->end, end_mark, END_LEN)) {
    return sst__fail(record, SST_ERR_PARSE, "END without BEGIN at line %zu", pem->line);
  }
  *block = (sst__pem_block){.line = pem->line, .data_line = pem->line, .begin = mark, .pem = pem};
  block->data = read_label(mark + BEGIN_LEN, pem->end, block->label);
  if (block->data == NULL) return sst__fail(record, SST_ERR_PARSE, "damaged BEGIN line at line %zu", pem->line);
  block->kind = kind_of(block->label);

  const uint8_t *stop = find_dashes(block->data, pem->end);
  const size_t stop_line = pem->line + lines_between(block->data, stop);
  if (stop == pem->end) return block_fault(block, record, "no END line; it begins at line", block->line);
  if (is_mark(stop, pem->end, begin_mark, BEGIN_LEN)) {
    return block_fault(block, record, "no END line before line", stop_line);
  }
  char label[SST__PEM_LABEL_CAP];
  const uint8_t *next = is_mark(stop, pem->end, end_mark, END_LEN) ? read_label(stop + END_LEN, pem->end, label) : NULL;
  if (next == NULL) return block_fault(block, record, "damaged END line at line", stop_line);
  if (strcmp(label, block->label) != 0) return block_fault(block, record, "END of another kind at line", stop_line);

  block->data_len = (size_t)(stop - block->data);
  pem->at = next;
  pem->line = stop_line;
  return skip_headers(block, record);
}

/* 1 if low <= c <= high, else 0. */
static uint32_t in_range(uint32_t c, uint32_t low, uint32_t high) {
  return ((low - 1 - c) & (c - high - 1)) >> 31;
}

/* The value of a base64 character plus 1; 0: it is none. Arithmetic, not a table: which cache lines a table touches
   would tell another process about the key that is decoded. */
static uint32_t base64_value(uint8_t c) {
  return in_range(c, 'A', 'Z') * (c - 'A' + 1u) + in_range(c, 'a', 'z') * (c - 'a' + 27u) +
         in_range(c, '0', '9') * (c - '0' + 53u) + in_range(c, '+', '+') * 63u + in_range(c, '/', '/') * 64u;
}

/* Decodes what RFC 4648, 4 and 3.5 call canonical: padded, no bits left over. Returns the byte that is wrong, or
   NULL. */
static const uint8_t *decode_base64(const uint8_t *in, const uint8_t *end, uint8_t *out, size_t *out_len) {
  uint32_t quantum = 0, digits = 0, padding = 0;
  size_t written = 0;
  for (const uint8_t *p = in; p < end; p++) {
    if (is_blank(*p) || is_line_end(*p)) continue;
    if (*p == '=') {
      padding++;
      if ((digits & 3) + padding > 4 || (digits & 3) < 2) return p;
      continue;
    }
    const uint32_t value = base64_value(*p);
    if (value == 0 || padding > 0) return p;
    quantum = (quantum << 6 | (value - 1)) & 0xffffff;
    if ((++digits & 3) != 0) continue;
    out[written++] = (uint8_t)(quantum >> 16);
    out[written++] = (uint8_t)(quantum >> 8);
    out[written++] = (uint8_t)quantum;
  }
  *out_len = written;
  if ((digits & 3) == 0) return padding == 0 ? NULL : end;
  if ((digits & 3) + padding != 4) return end;
  quantum <<= 6 * padding;
  if ((quantum & ((UINT32_C(1) << (8 * padding)) - 1)) != 0) return end;
  out[written++] = (uint8_t)(quantum >> 16);
  if (padding == 1) out[written++] = (uint8_t)(quantum >> 8);
  *out_len = written;
  return NULL;
}

sst_status sst__pem_decode(const sst__pem_block *block, uint8_t **der, size_t *der_len, sst_error *record) {
  const uint8_t *const end = block->data + block->data_len;
  uint8_t *out = sst__alloc(block->data_len / 4 * 3 + 3);
  *der = NULL;
  *der_len = 0;
  if (out == NULL) return sst__fail(record, SST_ERR_NO_MEMORY, "no memory for a PEM block");

  size_t len = 0;
  const uint8_t *wrong = decode_base64(block->data, end, out, &len);
  if (wrong != NULL || len == 0) {
    sst__free(out);
    if (wrong == NULL) return block_fault(block, record, "empty, at line", block->line);
    if (wrong == end) { /* cut short: that shows in the last line which has any */
      while (wrong > block->data && is_line_end(wrong[-1]))
        wrong--;
    }
    return block_fault(block, record, "bad base64 at line", block->data_line + lines_between(block->data, wrong));
  }
  *der = out;
  *der_len = len;
  return SST_OK;
}
