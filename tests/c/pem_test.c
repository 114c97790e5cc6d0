/* White-box: PEM as people write it. The chain of server-p256 (leaf and intermediate) is what must come out. */
#include "pem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "memory.h"
#include "test.h"

typedef struct Text {
  char *bytes;
  size_t len;
} Text;

static Text text_of(const void *bytes, size_t len) {
  Text text = {test_allocate(len + 1), len};
  memcpy(text.bytes, bytes, len);
  text.bytes[len] = 0;
  return text;
}

static Text chain_text(void) {
  Data data = data_read("server-p256", "pem");
  Text text = text_of(data.bytes, data.len);
  free(data.bytes);
  return text;
}

/* Replaces every from in text by to. */
static void replace(Text *text, const char *from, const char *to) {
  const size_t from_len = strlen(from), to_len = strlen(to);
  char *out = test_allocate(text->len * (to_len + 1) + 1);
  size_t len = 0;
  for (size_t i = 0; i < text->len;) {
    if (text->len - i >= from_len && memcmp(text->bytes + i, from, from_len) == 0) {
      memcpy(out + len, to, to_len);
      len += to_len;
      i += from_len;
    } else {
      out[len++] = text->bytes[i++];
    }
  }
  out[len] = 0;
  free(text->bytes);
  *text = (Text){out, len};
}

static void put_in_front(Text *text, const char *front) {
  const size_t front_len = strlen(front);
  char *out = test_allocate(front_len + text->len + 1);
  memcpy(out, front, front_len);
  memcpy(out + front_len, text->bytes, text->len + 1);
  free(text->bytes);
  *text = (Text){out, front_len + text->len};
}

/* Reads text in a piece of memory of just its size. Returns the number of certificates, or -1 with error filled; each
   is compared with the chain's where those are given. */
static int read_all(const Text *text, const Data *expected, sst_error *error) {
  uint8_t *exact = test_allocate(text->len);
  memcpy(exact, text->bytes, text->len);
  sst__pem pem;
  sst__pem_block block;
  int count = 0;
  sst__pem_start(&pem, exact, text->len);
  sst_status status = sst__pem_next(&pem, &block, error);
  for (; status == SST_OK; status = status == SST_OK ? sst__pem_next(&pem, &block, error) : status) {
    if (block.kind != SST__PEM_CERTIFICATE) continue;
    uint8_t *der = NULL;
    size_t der_len = 0;
    status = sst__pem_decode(&block, &der, &der_len, error);
    if (status == SST_OK && expected != NULL) EXPECT_BYTES(der, der_len, expected[count].bytes, expected[count].len);
    if (status != SST_OK) EXPECT(der == NULL && der_len == 0);
    sst__free(der);
    count++;
  }
  free(exact);
  return status == SST_NONE ? count : -1;
}

/* The text holds the two certificates. Frees it. */
static void expect_chain(Text text) {
  const Data chain[] = {data_certificate("server-p256", 0), data_certificate("server-p256", 1)};
  sst_error error = {.message = ""};
  EXPECT_EQ(read_all(&text, chain, &error), 2);
  EXPECT_STRING(error.message, "");
  free(chain[0].bytes);
  free(chain[1].bytes);
  free(text.bytes);
}

static void expect_fault(Text text, const char *message) {
  sst_error error = {.message = ""};
  EXPECT_EQ(read_all(&text, NULL, &error), -1);
  EXPECT_STATUS(error.code, SST_ERR_PARSE);
  EXPECT_STRING(error.message, message);
  free(text.bytes);
}

TEST(pem, plain_file_is_read) {
  expect_chain(chain_text());
}

TEST(pem, text_in_front_between_and_behind_is_skipped) {
  Text text = chain_text();
  put_in_front(&text, "subject=CN = a\n\nissuer: b - c -- d ---- BEGIN e\n");
  replace(&text, "-----END CERTIFICATE-----\n", "-----END CERTIFICATE-----\n\n# next: -----\n-----\n");
  expect_chain(text);
}

TEST(pem, comment_that_quotes_a_boundary_is_text) {
  Text text = chain_text();
  put_in_front(
      &text,
      "# CA with ----BEGIN CERTIFICATE----?\n# -----BEGIN CERTIFICATE-----\n# AAAA\n# -----END CERTIFICATE-----\n"
      "----BEGIN CERTIFICATE----?\nsee -----BEGIN CERTIFICATE-----\n-----BEGINNING\n");
  expect_chain(text);
}

TEST(pem, line_ends_of_all_kinds_are_taken) {
  Text crlf = chain_text(), cr = chain_text(), blank = chain_text();
  replace(&crlf, "\n", "\r\n");
  replace(&cr, "\n", "\r");
  replace(&blank, "\n", "\n\n");
  expect_chain(crlf);
  expect_chain(cr);
  expect_chain(blank);
}

TEST(pem, blanks_around_lines_are_skipped) {
  Text trailing = chain_text(), leading = chain_text();
  replace(&trailing, "\n", " \t\n");
  replace(&leading, "\n", "\n \t ");
  put_in_front(&leading, "    ");
  expect_chain(trailing);
  expect_chain(leading);
}

TEST(pem, byte_order_mark_is_skipped) {
  Text text = chain_text();
  put_in_front(&text, "\xef\xbb\xbf");
  expect_chain(text);
}

TEST(pem, last_line_needs_no_end) {
  Text text = chain_text();
  text.len -= 1;
  expect_chain(text);
}

TEST(pem, two_blocks_with_nothing_between_are_two) {
  Text text = chain_text();
  replace(&text, "-----END CERTIFICATE-----\n-----BEGIN", "-----END CERTIFICATE----------BEGIN");
  expect_chain(text);
}

TEST(pem, everything_in_one_line_is_read) {
  Text text = chain_text();
  replace(&text, "\n", "");
  expect_chain(text);
}

TEST(pem, one_character_a_line_is_read) {
  Text text = chain_text();
  replace(&text, "A", "\nA\n");
  replace(&text, "CERTIFIC\nA\nTE", "CERTIFICATE");
  expect_chain(text);
}

TEST(pem, old_label_of_certificates_is_known) {
  Text text = chain_text();
  replace(&text, "CERTIFICATE", "X509 CERTIFICATE");
  expect_chain(text);
}

TEST(pem, headers_are_stepped_over) {
  Text text = chain_text();
  replace(&text, "-----BEGIN CERTIFICATE-----\n",
          "-----BEGIN CERTIFICATE-----\nName: value\n more of it\nOther: x\n\n");
  expect_chain(text);
}

TEST(pem, nul_outside_of_a_block_is_text) {
  Text text = chain_text();
  put_in_front(&text, "??\n");
  text.bytes[0] = text.bytes[1] = 0;
  expect_chain(text);
  Text tail = chain_text();
  tail.len += 1; /* the NUL that ends a C string */
  expect_chain(tail);
}

TEST(pem, nul_inside_of_a_block_is_bad_base64) {
  Text text = chain_text();
  char *begin = strstr(text.bytes, "\n") + 10;
  *begin = 0;
  expect_fault(text, "certificate 1 of 2: bad base64 at line 2");
}

TEST(pem, block_of_another_kind_is_not_decoded) {
  Text text = chain_text();
  put_in_front(&text, "-----BEGIN PGP MESSAGE-----\nVersion: 1\n\n!!!!\n=crc\n-----END PGP MESSAGE-----\n");
  expect_chain(text);
}

TEST(pem, nothing_and_text_alone_hold_no_block) {
  sst_error error;
  const char *const texts[] = {"", "\n", "-", "-----", "hello", "\xef\xbb\xbf", "----- BEGIN"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    Text text = text_of(texts[i], strlen(texts[i]));
    EXPECT_EQ(read_all(&text, NULL, &error), 0);
    free(text.bytes);
  }
  sst__pem pem;
  sst__pem_block block;
  sst__pem_start(&pem, NULL, 0);
  EXPECT_STATUS(sst__pem_next(&pem, &block, &error), SST_NONE);
}

TEST(pem, missing_end_line_names_the_block) {
  Text text = chain_text();
  *strrchr(text.bytes, 'E') = 0; /* within the last "END CERTIFICATE" */
  text.len = strlen(text.bytes);
  expect_fault(text, "certificate 2 of 2: damaged END line at line 23");

  Text cut = chain_text();
  cut.len = (size_t)(strstr(cut.bytes, "-----END CERTIFICATE-----\n-----BEGIN") - cut.bytes);
  expect_fault(cut, "certificate 1 of 1: no END line; it begins at line 1");
}

TEST(pem, missing_end_line_before_another_block_names_the_block) {
  Text text = chain_text();
  char *end = strstr(text.bytes, "-----END");
  memset(end, '\n', strlen("-----END CERTIFICATE-----"));
  EXPECT(end > text.bytes);
  sst_error error = {.message = ""};
  EXPECT_EQ(read_all(&text, NULL, &error), -1);
  EXPECT_CONTAINS(error.message, "certificate 1 of 2: no END line before line ");
  free(text.bytes);
}

TEST(pem, bad_base64_names_block_and_line) {
  const char bad[] = {'!', '-', '_', '=', '\\', (char)0x80, (char)0xff, '@', '[', '`', '{', ':' + 1, '*', '.'};
  for (size_t i = 0; i < sizeof bad; i++) {
    test_note("'%c'", bad[i]);
    Text text = chain_text();
    char *second = strstr(text.bytes + 10, "-----BEGIN");
    second = strchr(second, '\n') + 1;
    second = strchr(second, '\n') + 5; /* the second line of the second certificate */
    int line = 1;
    for (const char *p = text.bytes; p < second; p++)
      line += *p == '\n';
    *second = bad[i];
    char message[80];
    snprintf(message, sizeof message, "certificate 2 of 2: bad base64 at line %d", line);
    expect_fault(text, message);
  }
}

static void expect_base64(const char *base64, const char *decoded) {
  char pem_text[200];
  snprintf(pem_text, sizeof pem_text, "-----BEGIN X-----\n%s\n-----END X-----\n", base64);
  test_note("'%s'", base64);
  sst__pem pem;
  sst__pem_block block;
  sst_error error = {.message = ""};
  uint8_t *der = NULL;
  size_t der_len = 0;
  sst__pem_start(&pem, (const uint8_t *)pem_text, strlen(pem_text));
  REQUIRE_STATUS(sst__pem_next(&pem, &block, &error), SST_OK);
  EXPECT_STATUS(sst__pem_decode(&block, &der, &der_len, &error), decoded != NULL ? SST_OK : SST_ERR_PARSE);
  if (decoded != NULL) EXPECT_TEXT(der, der_len, decoded);
  sst__free(der);
}

/* RFC 4648, 10, and what a lax decoder takes. */
TEST(pem, base64_is_decoded_strictly) {
  expect_base64("Zg==", "f");
  expect_base64("Zm8=", "fo");
  expect_base64("Zm9v", "foo");
  expect_base64("Zm9vYg==", "foob");
  expect_base64("Zm9vYmE=", "fooba");
  expect_base64("Zm9vYmFy", "foobar");
  expect_base64("Z\ng\n=\n=\n", "f");
  expect_base64("+/+/", "\xfb\xff\xbf");
  const char *const wrong[] = {"",     " ",     "Z",        "Zg",   "Zg=",  "Zg===", "Zg==Zg==", "Zm8",  "Zm8==", "=",
                               "====", "Zm9v=", "Zm9v====", "Zh==", "Zm9=", "Zm+_",  "Zm9vYg",   "Zg=g", "Z==="};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    expect_base64(wrong[i], NULL);
}

TEST(pem, boundaries_that_are_none_are_faults) {
  const struct {
    const char *text, *message;
  } rows[] = {
      {"a\n-----BEGIN CERTIFICATE----\nAAAA\n", "damaged BEGIN line at line 2"},
      {"-----BEGIN CERTIFICATE", "damaged BEGIN line at line 1"},
      {"-----BEGIN", "damaged BEGIN line at line 1"},
      {"-----BEGIN CERT\nIFICATE-----\n", "damaged BEGIN line at line 1"},
      {"a\r\nb\rc\n-----END CERTIFICATE-----\n", "END without BEGIN at line 4"},
      {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END X-----\n", "certificate 1 of 1: END of another kind at line 3"},
      {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE---\n",
       "certificate 1 of 1: damaged END line at line 3"},
      {"-----BEGIN CERTIFICATE-----\nAAAA\n-----\n", "certificate 1 of 1: damaged END line at line 3"},
      {"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n", "certificate 1 of 1: empty, at line 1"},
      {"-----BEGIN CERTIFICATE-----\nA: b\nAAAA\n-----END CERTIFICATE-----\n",
       "certificate 1 of 1: headers without an empty line behind them, from line 1"},
      {"-----BEGIN X Y-----\n", "block \"X Y\": no END line; it begins at line 1"},
      {"-----BEGIN EC PRIVATE KEY-----\n", "private key: no END line; it begins at line 1"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    test_note("'%s'", rows[i].text);
    expect_fault(text_of(rows[i].text, strlen(rows[i].text)), rows[i].message);
  }
}

TEST(pem, encrypted_by_headers_is_seen) {
  const char *const texts[] = {
      "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n"
      "-----END RSA PRIVATE KEY-----\n",
      "-----BEGIN RSA PRIVATE KEY-----\r\nProc-Type: 4,ENCRYPTED\r\nDEK-Info: AES-128-CBC,00\r\n\r\nAAAA\r\n"
      "-----END RSA PRIVATE KEY-----\r\n",
      "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,CLEAR\n\nAAAA\n-----END RSA PRIVATE KEY-----\n"};
  for (size_t i = 0; i < 3; i++) {
    sst__pem pem;
    sst__pem_block block;
    sst_error error;
    sst__pem_start(&pem, (const uint8_t *)texts[i], strlen(texts[i]));
    REQUIRE_STATUS(sst__pem_next(&pem, &block, &error), SST_OK);
    EXPECT_EQ(block.kind, SST__PEM_PRIVATE_KEY);
    EXPECT_EQ(block.encrypted, i < 2);
    EXPECT_STRING(block.label, "RSA PRIVATE KEY");
  }
}

/* Damage of all kinds: no over-read (the text ends where its memory does), no endless loop. */
TEST(pem, random_damage_is_survived) {
  static const char *const pieces[] = {"-----", "-----BEGIN ", "-----END ", "CERTIFICATE-----", "\r", "\n", "\r\n", "=",
                                       ":",     "A",           " "};
  sst_error error;
  for (int round = 0; round < 3000; round++) {
    Text text = chain_text();
    for (uint32_t i = 1 + test_random_below(6); i > 0; i--) {
      const char *piece = pieces[test_random_below(sizeof pieces / sizeof pieces[0])];
      const size_t at = test_random_below((uint32_t)text.len), len = strlen(piece);
      if (text.len - at >= len) memcpy(text.bytes + at, piece, len);
    }
    text.len = 1 + test_random_below((uint32_t)text.len);
    EXPECT_AT_MOST(read_all(&text, NULL, &error), 2);
    free(text.bytes);
  }
}
