/* White-box: tickets as the header describes them, damaged tickets, sessions of a forging client, and time. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/aead.h>
#include <openssl/digest.h>
#include <openssl/hkdf.h>

#include "config_internal.h"
#include "crafted.h"
#include "resume.h"
#include "ticket_keys.h"
#include "tls/internal.h"

enum { NAME = 16, SALT = 32, TAG = 16, ENTRY = 88 };

static sst_ticket_keys *keys_of(const uint8_t ring[ENTRY]) {
  sst_ticket_keys *keys = sst_ticket_keys_new();
  REQUIRE_STATUS(sst_ticket_keys_replace(keys, ring, ENTRY), SST_OK);
  return keys;
}

static void fill_ring(uint8_t ring[ENTRY], int factor) {
  memset(ring, 0, ENTRY);
  for (int i = 0; i < NAME + 64; i++)
    ring[i] = (uint8_t)(factor * i + 1);
}

/* Opens a ticket as section 7 of the header says, for whoever holds the secret elsewhere. */
static size_t open_ticket(const uint8_t ring[ENTRY], const uint8_t *ticket, size_t ticket_len, uint8_t *plaintext) {
  uint8_t key[32], nonce[12] = {0};
  size_t len = 0;
  REQUIRE(ticket_len > NAME + SALT + TAG);
  EXPECT_BYTES(ticket, NAME, ring, NAME);
  REQUIRE(HKDF(key, sizeof key, EVP_sha256(), ring + NAME, 64, ticket + NAME, SALT,
               (const uint8_t *)"securestream ticket", 19) == 1);
  EVP_AEAD_CTX *aead = EVP_AEAD_CTX_new(EVP_aead_aes_256_gcm(), key, sizeof key, TAG);
  EXPECT(EVP_AEAD_CTX_open(aead, plaintext, &len, ticket_len, nonce, sizeof nonce, ticket + NAME + SALT,
                           ticket_len - NAME - SALT, NULL, 0) == 1);
  EVP_AEAD_CTX_free(aead);
  return len;
}

TEST_VERSIONS(ticket_format, ticket_opens_as_the_header_says) {
  uint8_t ring[ENTRY];
  fill_ring(ring, 7);
  sst_ticket_keys *keys = keys_of(ring);
  Resume resume = resume_new(version, .server = {.ticket_keys = keys});
  sst_session *session = resume_session(&resume);
  Crafted crafted = crafted_of(session);
  uint8_t *plaintext = test_allocate(crafted.ticket_len);
  const size_t len = open_ticket(ring, crafted.ticket, crafted.ticket_len, plaintext);
  SSL_SESSION *state = SSL_SESSION_from_bytes(plaintext, len, crafted.ctx);
  EXPECT(state != NULL && SSL_SESSION_get_protocol_version(state) == version);

  SSL_SESSION_free(state);
  free(plaintext);
  crafted_free(&crafted);
  sst_session_free(session);
  resume_free(&resume);
  sst_ticket_keys_free(keys);
}

enum { OPEN_IT, IGNORE_IT, GIVE_NONSENSE };

/* The ring of the second server does not have the key; whoever is asked has. */
static void asked(uint16_t version, int answer) {
  uint8_t ring[ENTRY], other[ENTRY], ticket[SST__MOST_TICKET], plaintext[SST__MOST_TICKET];
  fill_ring(ring, 7);
  fill_ring(other, 5);
  sst_ticket_keys *keys = keys_of(ring), *other_keys = keys_of(other);
  Resume resume = resume_new(version, .server = {.ticket_keys = keys, .suspend = ASK(SST_WANT_TICKET_DECRYPT)});
  sst_session *session = resume_session(&resume); /* nothing is asked about a full handshake */
  EXPECT(resume_with(&resume, session));          /* nor about a ticket that the ring opens */
  EXPECT_STATUS(sst_session_set_reusable(session, 1), SST_OK);
  REQUIRE_STATUS(sst_ticket_keys_replace(keys, other, ENTRY), SST_OK);

  resume.options.client.session = session;
  Pair pair = pair_make(&resume.options);
  size_t ticket_len = 0;
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_TICKET_DECRYPT);
  EXPECT_STATUS(sst_stream_ticket(pair.server.stream, ticket, sizeof ticket, &ticket_len), SST_OK);
  const size_t len = open_ticket(ring, ticket, ticket_len, plaintext);
  if (answer == IGNORE_IT) EXPECT_STATUS(sst_stream_ignore_ticket(pair.server.stream), SST_OK);
  if (answer == OPEN_IT) EXPECT_STATUS(sst_stream_set_ticket_plaintext(pair.server.stream, plaintext, len), SST_OK);
  if (answer == GIVE_NONSENSE) {
    EXPECT_STATUS(sst_stream_set_ticket_plaintext(pair.server.stream, plaintext, len / 2), SST_OK);
  }
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  EXPECT_EQ(resumed(&pair), answer == OPEN_IT);
  pair_echo(&pair, 1000);
  pair_free(&pair);
  sst_session_free(session);
  resume_free(&resume);
  sst_ticket_keys_free(keys);
  sst_ticket_keys_free(other_keys);
}

TEST_VERSIONS(ticket_format, ticket_that_no_key_opens_is_a_question) {
  asked(version, OPEN_IT);
  asked(version, IGNORE_IT);
  asked(version, GIVE_NONSENSE);
}

static void is_full(Resume *resume, const Crafted *crafted) {
  sst_session *session = crafted_session(crafted);
  EXPECT(!resume_with(resume, session));
  sst_session_free(session);
}

/* S03 (d). */
TEST_VERSIONS(ticket_format, damaged_ticket_is_a_full_handshake) {
  Resume resume = resume_new(version);
  sst_session *session = resume_session(&resume);
  Crafted crafted = crafted_of(session);
  const size_t whole = crafted.ticket_len;
  for (size_t i = 0; i < whole && !test_failed(); i += i < NAME + SALT + 4 ? 5 : 23) {
    test_note("bit turned in byte %zu of %zu", i, whole);
    crafted.ticket[i] ^= 1;
    is_full(&resume, &crafted);
    crafted.ticket[i] ^= 1;
  }
  for (size_t len = 1; len < whole && !test_failed(); len += len < 70 ? 7 : 31) {
    test_note("cut to %zu of %zu bytes", len, whole);
    crafted.ticket_len = len;
    is_full(&resume, &crafted);
  }
  test_note(NULL);
  crafted.ticket_len = whole;
  sst_session *again = crafted_session(&crafted);
  EXPECT(resume_with(&resume, again)); /* whole, it is as good as before */
  for (size_t i = NAME; i < whole; i++)
    crafted.ticket[i] = (uint8_t)test_random();
  is_full(&resume, &crafted);
  sst_session_free(again);
  crafted_free(&crafted);
  sst_session_free(session);
  resume_free(&resume);
}

/* A ClientHello has no room for it: whoever offered it could not connect. */
TEST_VERSIONS(ticket_format, ticket_that_is_too_long_is_not_offered) {
  Resume resume = resume_new(version);
  sst_session *session = resume_session(&resume);
  Crafted crafted = crafted_of(session);
  free(crafted.ticket);
  crafted.ticket_len = SST__MOST_TICKET;
  crafted.ticket = test_allocate(crafted.ticket_len);
  memset(crafted.ticket, 1, crafted.ticket_len);
  is_full(&resume, &crafted); /* the longest that is offered */
  crafted_free(&crafted);
  sst_session_free(session);
  resume_free(&resume);
}

/* The client's bond forged: what holds then is the server's own (RFC 6066, 3). */
TEST_VERSIONS(ticket_format, server_does_not_resume_with_another_name) {
  Resume resume = resume_new(version, .client = {.verify = SST_VERIFY_CHAIN_ONLY, .server_name = "a.test"});
  sst_session *session = resume_session(&resume);
  Crafted crafted = crafted_of(session);
  EXPECT_BYTES(crafted.bytes.bytes + CRAFTED_BOND, 14, "\6a.test\6a.test", 14);
  crafted.bytes.bytes[CRAFTED_BOND + 1] = 'b';
  crafted.bytes.bytes[CRAFTED_BOND + 8] = 'b';
  resume.options.client.server_name = "b.test";
  is_full(&resume, &crafted);
  crafted_free(&crafted);
  sst_session_free(session);
  resume_free(&resume);
}

/* ---- time ---- */

static int64_t offset_s;

static void shifted_clock(const SSL *ssl, struct timeval *now) {
  (void)ssl;
  now->tv_sec = (time_t)(time(NULL) + offset_s);
  now->tv_usec = 0;
}

static void shift_clock(sst_config *config, int32_t role) {
  const sst__context *context = NULL;
  REQUIRE_STATUS(sst__config_context(config, role, &context), SST_OK);
  SSL_CTX_set_current_time_cb(context->ctx, shifted_clock);
}

static void expires(uint16_t version, int32_t role) {
  Resume resume = resume_new(version, .server = {.lifetime_s = 1000}, .client = {.lifetime_s = 1000});
  sst_session *session = resume_session(&resume);
  EXPECT_STATUS(sst_session_set_reusable(session, 1), SST_OK);
  shift_clock(role == SST_ROLE_SERVER ? resume.options.server.config : resume.options.client.config, role);
  offset_s = 900; /* a loaded machine has time to spare */
  EXPECT(resume_with(&resume, session));
  offset_s = 1001;
  EXPECT(!resume_with(&resume, session));
  offset_s = -100; /* of the future */
  EXPECT(!resume_with(&resume, session));
  sst_session_free(session);
  resume_free(&resume);
}

TEST_VERSIONS(ticket_format, client_offers_no_expired_session) {
  expires(version, SST_ROLE_CLIENT);
}

TEST_VERSIONS(ticket_format, server_resumes_no_expired_session) {
  expires(version, SST_ROLE_SERVER);
}

/* ---- the ring that makes its own keys ---- */

static sst__ticket_key sealing_at(sst_ticket_keys *keys, uint64_t unix_s) {
  sst__ticket_key key;
  REQUIRE(sst__ticket_keys_sealing(keys, unix_s, &key));
  return key;
}

static bool opens_at(sst_ticket_keys *keys, const sst__ticket_key *key, uint64_t unix_s) {
  sst__ticket_key found;
  bool newest;
  if (!sst__ticket_keys_opening(keys, key->name, unix_s, &found, &newest)) return false;
  EXPECT_BYTES(found.secret, sizeof found.secret, key->secret, sizeof key->secret);
  return true;
}

static bool same(const sst__ticket_key *a, const sst__ticket_key *b) {
  return memcmp(a->name, b->name, sizeof a->name) == 0;
}

/* A key seals for the period of its ring, and opens as long as what it sealed last can live. */
static void rotates(uint32_t lifetime_s, uint32_t period_s) {
  const uint64_t start = 1000000;
  sst_ticket_keys *keys = sst_ticket_keys_new();
  sst__ticket_keys_cover(keys, lifetime_s);
  sst__ticket_keys_cover(keys, 1); /* the longest counts */
  const sst__ticket_key first = sealing_at(keys, start), still = sealing_at(keys, start + period_s - 1);
  EXPECT(same(&first, &still));
  const sst__ticket_key second = sealing_at(keys, start + period_s);
  EXPECT(!same(&first, &second));
  EXPECT(memcmp(first.secret, second.secret, sizeof first.secret) != 0);
  EXPECT(opens_at(keys, &first, start + period_s + lifetime_s - 1));
  EXPECT(!opens_at(keys, &first, start + period_s + lifetime_s));
  EXPECT(opens_at(keys, &second, start + period_s + lifetime_s));
  const sst__ticket_key back = sealing_at(keys, start); /* a clock that was set back */
  EXPECT(same(&second, &back));
  sst_ticket_keys_free(keys);
}

TEST(ticket_format, own_keys_change_by_the_lifetime_of_sessions) {
  rotates(60, 3600);
  rotates(7200, 7200);
  rotates(86400, 86400);
  rotates(604800, 86400);
}

/* The caller's ring is the caller's: nothing changes in it by itself. */
TEST(ticket_format, ring_of_the_caller_does_not_rotate_by_itself) {
  uint8_t ring[ENTRY] = {1};
  sst_ticket_keys *keys = keys_of(ring);
  sst__ticket_keys_cover(keys, 60);
  const sst__ticket_key first = sealing_at(keys, 1000), later = sealing_at(keys, UINT64_C(1) << 40);
  EXPECT(same(&first, &later));
  sst_ticket_keys_free(keys);
}
