/* White-box: sessions that are made of tickets of TLS 1.3 are those that BoringSSL makes of them. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bare_ssl.h"
#include "test.h"
#include "tls/internal.h"

enum { MOST_MESSAGE = 13000 };

typedef struct Message {
  uint8_t bytes[MOST_MESSAGE];
  size_t len;
} Message;

static void put(Message *message, uint32_t number, int size) {
  for (int i = size - 1; i >= 0; i--)
    message->bytes[message->len++] = (uint8_t)(number >> (8 * i));
}

/* A whole NewSessionTicket (RFC 8446, 4.6.1); early_data 0: without that extension. */
static Message message_of(uint32_t lifetime_s, size_t nonce_len, size_t ticket_len, uint32_t early_data) {
  Message message = {.len = 4};
  put(&message, lifetime_s, 4);
  put(&message, test_random(), 4);
  put(&message, (uint32_t)nonce_len, 1);
  for (size_t i = 0; i < nonce_len; i++)
    put(&message, test_random() & 0xff, 1);
  put(&message, (uint32_t)ticket_len, 2);
  for (size_t i = 0; i < ticket_len; i++)
    put(&message, test_random() & 0xff, 1);
  put(&message, early_data > 0 ? 4 + 8 : 4, 2);
  put(&message, 0x1a1a0000, 4); /* an empty one that nobody knows */
  if (early_data > 0) {
    put(&message, 42 << 16 | 4, 4);
    put(&message, early_data, 4);
  }
  const size_t body = message.len - 4;
  message.bytes[0] = 4;
  message.bytes[1] = 0;
  message.bytes[2] = (uint8_t)(body >> 8);
  message.bytes[3] = (uint8_t)body;
  return message;
}

static void expect_same(const SSL_SESSION *got, const SSL_SESSION *expected) {
  uint8_t *got_bytes = NULL, *expected_bytes = NULL;
  size_t got_len = 0, expected_len = 0;
  REQUIRE(got != NULL && expected != NULL);
  REQUIRE(SSL_SESSION_to_bytes(got, &got_bytes, &got_len) == 1);
  REQUIRE(SSL_SESSION_to_bytes(expected, &expected_bytes, &expected_len) == 1);
  EXPECT_BYTES(got_bytes, got_len, expected_bytes, expected_len);
  OPENSSL_free(got_bytes);
  OPENSSL_free(expected_bytes);
}

static int64_t offset_s;

static void shifted_clock(const SSL *ssl, struct timeval *now) {
  (void)ssl;
  now->tv_sec = (time_t)(time(NULL) + offset_s);
  now->tv_usec = 0;
}

static void compare(const BareSsl *bare, const Message *message) {
  const SSL_SESSION *base = SSL_get_session(bare->client);
  const EVP_MD *hash = SSL_CIPHER_get_handshake_digest(SSL_get_current_cipher(bare->client));
  SSL_SESSION *expected = SSL_process_tls13_new_session_ticket(bare->client, message->bytes, message->len);
  sst__ticket ticket;
  const char *fault = NULL;
  CBS body;
  CBS_init(&body, message->bytes + 4, message->len - 4);
  REQUIRE(sst__ticket_parse(&body, &ticket, &fault));
  SSL_SESSION *got = sst__session_of_ticket(base, hash, &ticket, SSL_SESSION_get_time(expected), bare->client_ctx);
  expect_same(got, expected);
  SSL_SESSION_free(got);
  SSL_SESSION_free(expected);
}

TEST(ticket_session, session_is_byte_for_byte_that_of_boringssl) {
  static const uint32_t lifetimes[] = {0, 1, 7200, 604800, UINT32_MAX};
  static const size_t nonces[] = {0, 1, 8, 255}, tickets[] = {1, 32, 200, 12000};
  static const int64_t offsets[] = {0, 100, 7300, 200000, 700000, -100};
  BareSsl *bare = bare_ssl_open(SST_TLS1_3);
  SSL_CTX_set_current_time_cb(bare->client_ctx, shifted_clock);
  for (size_t i = 0; i < 5 * 4 * 4 * 6; i++) {
    offset_s = offsets[i % 6];
    const Message message = message_of(lifetimes[i / 6 % 5], nonces[i / 30 % 4], tickets[i / 120],
                                       i % 3 == 0   ? 0
                                       : i % 3 == 1 ? 14336
                                                    : UINT32_MAX);
    test_note("message %zu", i);
    compare(bare, &message);
    if (test_failed()) break;
  }
  bare_ssl_free(bare);
}

/* What does not parse is refused, and every cut is. */
TEST(ticket_session, cut_messages_do_not_parse) {
  const Message message = message_of(7200, 8, 40, 14336);
  for (size_t len = 0; len < message.len - 4; len++) {
    uint8_t *exact = test_allocate(len == 0 ? 1 : len);
    memcpy(exact, message.bytes + 4, len);
    sst__ticket ticket;
    const char *fault = NULL;
    CBS body;
    CBS_init(&body, exact, len);
    EXPECT(!sst__ticket_parse(&body, &ticket, &fault));
    EXPECT(fault != NULL);
    free(exact);
  }
}
