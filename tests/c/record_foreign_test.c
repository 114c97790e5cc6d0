/*
 * Records against OpenSSL: every suite of both versions in both roles, with KeyUpdates of either side, tickets and the
 * close. Our own two sides could agree on a mistake.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "openssl_peer.h"

enum { LARGE = 100000, ROUNDS = 3 };

typedef struct Suite {
  uint16_t version, number;
  const char *name, *credential;
} Suite;

static const Suite suites[] = {
    {SST_TLS1_3, 0x1301, "TLS_AES_128_GCM_SHA256", "p256"},
    {SST_TLS1_3, 0x1302, "TLS_AES_256_GCM_SHA384", "p256"},
    {SST_TLS1_3, 0x1303, "TLS_CHACHA20_POLY1305_SHA256", "p256"},
    {SST_TLS1_2, 0xc02b, "ECDHE-ECDSA-AES128-GCM-SHA256", "p256"},
    {SST_TLS1_2, 0xc02c, "ECDHE-ECDSA-AES256-GCM-SHA384", "p256"},
    {SST_TLS1_2, 0xcca9, "ECDHE-ECDSA-CHACHA20-POLY1305", "p256"},
    {SST_TLS1_2, 0xc02f, "ECDHE-RSA-AES128-GCM-SHA256", "rsa2048"},
    {SST_TLS1_2, 0xc030, "ECDHE-RSA-AES256-GCM-SHA384", "rsa2048"},
    {SST_TLS1_2, 0xcca8, "ECDHE-RSA-CHACHA20-POLY1305", "rsa2048"},
};

static void expect_from_peer(Foreign *foreign, size_t len, uint32_t seed) {
  uint8_t *data = test_allocate(len);
  pattern_fill(data, len, seed);
  for (size_t at = 0; at < len; at += 16000) /* its memory buffer takes all; ours reads what came */
    EXPECT(openssl_write(foreign->peer, data + at, (int)(len - at < 16000 ? len - at : 16000)));
  EXPECT_STATUS(side_receive(&foreign->side), SST_NEED_INPUT);
  EXPECT_RECEIVED(&foreign->side, data, len);
  free(data);
}

static void expect_at_peer(Foreign *foreign, size_t len, uint32_t seed) {
  uint8_t *data = test_allocate(len), *got = test_allocate(len);
  pattern_fill(data, len, seed);
  side_send(&foreign->side, data, len);
  size_t total = 0;
  for (int n = 1; n > 0 && total < len;) {
    n = openssl_read(foreign->peer, got + total, (int)(len - total));
    if (n > 0) total += (size_t)n;
  }
  EXPECT_BYTES(got, total, data, len);
  free(data);
  free(got);
}

static void talk(Foreign *foreign) {
  static const size_t sizes[] = {1, 1000, LARGE};
  for (size_t i = 0; i < 3; i++) {
    expect_from_peer(foreign, sizes[i], (uint32_t)i);
    expect_at_peer(foreign, sizes[i], (uint32_t)i + 7);
  }
}

/* Each side changes its key, with and without asking the other to do so. */
static void change_keys(Foreign *foreign) {
  for (int round = 0; round < ROUNDS; round++) {
    for (int32_t request = 0; request < 2; request++) {
      EXPECT(openssl_key_update(foreign->peer, request == 1));
      talk(foreign);
      EXPECT_STATUS(sst_stream_key_update(foreign->side.stream, request), SST_OK);
      talk(foreign);
    }
  }
  const sst_stream *stream = foreign->side.stream;
  EXPECT_EQ(sst_stream_counter(stream, SST_COUNTER_KEY_UPDATES_RECEIVED), 3 * ROUNDS);
  EXPECT_EQ(sst_stream_counter(stream, SST_COUNTER_KEY_UPDATES_SENT), 3 * ROUNDS);
}

static void run(const Suite *suite, int32_t role) {
  char credential[32];
  (void)snprintf(credential, sizeof credential, "server-%s", suite->credential);
  const OpensslOptions theirs = {.version = suite->version, .suites = suite->name, .credential = credential};
  Foreign foreign =
      foreign_new(role, &(SideOptions){.credential = role == SST_ROLE_SERVER ? credential : NULL}, &theirs);
  EXPECT_STATUS(openssl_handshake(foreign.peer, &foreign.side), SST_OK);
  EXPECT_EQ(info_of(&foreign.side).suite, suite->number);
  talk(&foreign);
  if (suite->version == SST_TLS1_3) change_keys(&foreign);

  uint8_t byte;
  EXPECT(openssl_close(foreign.peer));
  EXPECT_STATUS(side_receive(&foreign.side), SST_CLOSED);
  EXPECT_STATUS(side_close(&foreign.side), SST_OK);
  EXPECT_EQ(openssl_read(foreign.peer, &byte, 1), 0);
  EXPECT_EQ(openssl_alert(foreign.peer), -1);
  foreign_free(&foreign);
}

TEST(record_foreign, every_suite_as_a_client) {
  for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
    test_note("%s", suites[i].name);
    run(&suites[i], SST_ROLE_CLIENT);
  }
}

TEST(record_foreign, every_suite_as_a_server) {
  for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
    test_note("%s", suites[i].name);
    run(&suites[i], SST_ROLE_SERVER);
  }
}
