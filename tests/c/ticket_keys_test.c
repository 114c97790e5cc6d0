/*
 * Ticket keys: rings of the caller and of the library, and tickets that cannot be honoured.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "resume.h"

enum { ENTRY = 88, NEVER = 0 };

static void put_entry(uint8_t *at, uint8_t number, uint64_t expiry) {
  memset(at, number, 16);
  memset(at + 16, number + 100, 64);
  for (int i = 0; i < 8; i++)
    at[80 + i] = (uint8_t)(expiry >> (56 - 8 * i));
}

/* Numbers of keys, the sealing one first, ended by 0; a negative one has expired. */
static sst_status set_ring(sst_ticket_keys *keys, const int *numbers) {
  uint8_t ring[8 * ENTRY];
  size_t count = 0;
  for (; numbers[count] != 0; count++) {
    const uint64_t expiry = numbers[count] < 0 ? (uint64_t)time(NULL) - 1 : NEVER;
    put_entry(ring + count * ENTRY, (uint8_t)abs(numbers[count]), expiry);
  }
  return sst_ticket_keys_replace(keys, ring, count * ENTRY);
}

#define SET_RING(keys, ...) EXPECT_STATUS(set_ring((keys), (const int[]){__VA_ARGS__, 0}), SST_OK)

/* ---- what is a ring ---- */

TEST(ticket_keys, rings_of_another_form_are_refused_and_change_nothing) {
  static uint8_t ring[257 * ENTRY];
  sst_ticket_keys *keys = sst_ticket_keys_new();
  for (size_t i = 0; i < 257; i++) {
    put_entry(ring + i * ENTRY, 1, NEVER);
    ring[i * ENTRY] = (uint8_t)i;
    ring[i * ENTRY + 1] = (uint8_t)(i >> 8);
  }
  EXPECT_STATUS(sst_ticket_keys_replace(keys, ring, 257 * ENTRY), SST_ERR_BAD_TICKET_KEYS);
  for (size_t len = 1; len < 2 * ENTRY; len++) {
    if (len != ENTRY) EXPECT_STATUS(sst_ticket_keys_replace(keys, ring, len), SST_ERR_BAD_TICKET_KEYS);
  }
  EXPECT_STATUS(sst_ticket_keys_replace(keys, ring, 256 * ENTRY), SST_OK);
  memcpy(ring + 200 * ENTRY, ring + 3 * ENTRY, 16);
  EXPECT_STATUS(sst_ticket_keys_replace(keys, ring, 256 * ENTRY), SST_ERR_BAD_TICKET_KEYS);
  EXPECT_STATUS(sst_ticket_keys_replace(NULL, ring, ENTRY), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_ticket_keys_replace(keys, NULL, ENTRY), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_ticket_keys_replace(keys, NULL, 0), SST_OK);
  EXPECT_STATUS(sst_ticket_keys_rotate(NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_ticket_keys_rotate(keys), SST_OK);
  EXPECT(sst_ticket_keys_ref(keys) == keys);
  sst_ticket_keys_free(keys);
  sst_ticket_keys_free(keys);
  sst_ticket_keys_free(NULL);
  EXPECT(sst_ticket_keys_ref(NULL) == NULL);
}

/* A refused ring leaves the one before in place. */
TEST_VERSIONS(ticket_keys, refused_ring_leaves_the_old_one) {
  sst_ticket_keys *keys = sst_ticket_keys_new();
  SET_RING(keys, 1);
  Resume resume = resume_new(version, .server = {.ticket_keys = keys});
  sst_session *session = resume_session(&resume);
  EXPECT_STATUS(set_ring(keys, (const int[]){2, 2, 0}), SST_ERR_BAD_TICKET_KEYS);
  EXPECT(resume_with(&resume, session));
  sst_session_free(session);
  resume_free(&resume);
  sst_ticket_keys_free(keys);
}

/* ---- S03 ---- */

TEST_VERSIONS(ticket_keys, older_key_opens_and_a_new_ticket_comes) {
  sst_ticket_keys *keys = sst_ticket_keys_new();
  SET_RING(keys, 1);
  Resume resume = resume_new(version, .server = {.ticket_keys = keys});
  sst_session *first = resume_session(&resume);
  SET_RING(keys, 2, 1);
  resume.options.client.session = first;

  Pair pair = pair_opened(&resume.options);

  EXPECT(resumed(&pair));
  resume_deliver(&pair);
  sst_session *second = sst_stream_take_session(pair.client.stream);
  pair_free(&pair);
  REQUIRE(second != NULL);
  SET_RING(keys, 2); /* the new one is of the second key, alone */
  EXPECT(resume_with(&resume, second));
  sst_session_free(first);
  sst_session_free(second);
  resume_free(&resume);
  sst_ticket_keys_free(keys);
}

TEST_VERSIONS(ticket_keys, ticket_of_a_dropped_key_is_a_full_handshake) {
  sst_ticket_keys *keys = sst_ticket_keys_new();
  SET_RING(keys, 1);
  Resume resume = resume_new(version, .server = {.ticket_keys = keys});
  sst_session *session = resume_session(&resume);
  SET_RING(keys, 3, 2);
  EXPECT(!resume_with(&resume, session));
  sst_session_free(session);
  resume_free(&resume);
  sst_ticket_keys_free(keys);
}

TEST_VERSIONS(ticket_keys, expired_key_neither_opens_nor_seals) {
  sst_ticket_keys *keys = sst_ticket_keys_new();
  SET_RING(keys, 1);
  Resume resume = resume_new(version, .server = {.ticket_keys = keys});
  sst_session *session = resume_session(&resume);
  SET_RING(keys, -1, 2);
  EXPECT(!resume_with(&resume, session));
  sst_session_free(session);
  session = resume_session(&resume); /* of the second */
  SET_RING(keys, 2);
  EXPECT(resume_with(&resume, session));
  sst_session_free(session);
  resume_free(&resume);
  sst_ticket_keys_free(keys);
}

static void gives_no_ticket(uint16_t version, sst_ticket_keys *keys) {
  Resume resume = resume_new(version, .server = {.ticket_keys = keys});
  for (int i = 0; i < 3; i++)
    EXPECT(resume_session(&resume) == NULL);
  resume.options.client.session = NULL;
  Pair pair = pair_opened(&resume.options);
  EXPECT_EQ(sst_stream_output_size(pair.server.stream), 0);
  pair_echo(&pair, 100);
  pair_free(&pair);
  resume_free(&resume);
}

TEST_VERSIONS(ticket_keys, ring_of_expired_keys_seals_no_ticket_and_fails_nothing) {
  sst_ticket_keys *keys = sst_ticket_keys_new();
  SET_RING(keys, -1, -2, -3);
  gives_no_ticket(version, keys);
  sst_ticket_keys_free(keys);
}

TEST_VERSIONS(ticket_keys, empty_ring_seals_no_ticket_and_fails_nothing) {
  sst_ticket_keys *keys = sst_ticket_keys_new();
  EXPECT_STATUS(sst_ticket_keys_replace(keys, NULL, 0), SST_OK);
  gives_no_ticket(version, keys);
  sst_ticket_keys_free(keys);
}

/* ---- whose ring ---- */

TEST_VERSIONS(ticket_keys, own_ring_is_rotated_and_older_keys_open) {
  sst_ticket_keys *keys = sst_ticket_keys_new();
  Resume resume = resume_new(version, .server = {.ticket_keys = keys});
  sst_session *session = resume_session(&resume);
  for (int i = 0; i < 3; i++)
    EXPECT_STATUS(sst_ticket_keys_rotate(keys), SST_OK);
  EXPECT(resume_with(&resume, session));
  sst_session_free(session);
  resume_free(&resume);
  sst_ticket_keys_free(keys);
}

/* A host that rotates all the time gets no ring without end. */
TEST(ticket_keys, ring_that_is_rotated_all_the_time_stays_short) {
  sst_ticket_keys *keys = sst_ticket_keys_new();
  Resume resume = resume_new(SST_TLS1_3, .server = {.ticket_keys = keys});
  sst_session *session = resume_session(&resume);
  for (int i = 0; i < 100; i++)
    EXPECT_STATUS(sst_ticket_keys_rotate(keys), SST_OK);
  const uint64_t bytes = sst_allocated_bytes();
  for (int i = 0; i < 100; i++)
    EXPECT_STATUS(sst_ticket_keys_rotate(keys), SST_OK);
  EXPECT_EQ(sst_allocated_bytes(), bytes);
  EXPECT(!resume_with(&resume, session));
  sst_session_free(session);
  resume_free(&resume);
  sst_ticket_keys_free(keys);
}

TEST_VERSIONS(ticket_keys, copy_of_a_config_opens_the_tickets_of_the_first) {
  Resume resume = resume_new(version);
  sst_session *session = resume_session(&resume);
  resume_set_config(&resume.options.server, sst_config_copy(resume.options.server.config));
  EXPECT(resume_with(&resume, session));

  sst_config *apart = sst_config_copy(resume.options.server.config);
  EXPECT_STATUS(sst_config_set_ticket_keys(apart, NULL), SST_OK);
  resume_set_config(&resume.options.server, apart);
  EXPECT_STATUS(sst_session_set_reusable(session, 1), SST_OK);
  EXPECT(!resume_with(&resume, session));
  sst_session_free(session);
  resume_free(&resume);
}

TEST_VERSIONS(ticket_keys, ticket_of_another_server_is_a_full_handshake) {
  Resume one = resume_new(version), other = resume_new(version);
  sst_session *session = resume_session(&one);
  EXPECT(!resume_with(&other, session));
  sst_session_free(session);
  resume_free(&one);
  resume_free(&other);
}

/* ---- another thread ---- */

typedef struct Changer {
  sst_ticket_keys *keys;
  atomic_bool over;
  uint64_t changes;
} Changer;

static void *change_all_the_time(void *context) {
  Changer *changer = context;
  uint8_t ring[2 * ENTRY];
  while (!atomic_load(&changer->over)) {
    put_entry(ring, (uint8_t)(changer->changes % 50 + 2), NEVER);
    put_entry(ring + ENTRY, (uint8_t)(changer->changes % 50 + 1), NEVER);
    if (changer->changes % 3 == 0 ? sst_ticket_keys_rotate(changer->keys) != SST_OK
                                  : sst_ticket_keys_replace(changer->keys, ring, sizeof ring) != SST_OK)
      break;
    changer->changes++;
  }
  return NULL;
}

static void handshakes_beside_changes(uint16_t version, int count) {
  Changer changer = {.keys = sst_ticket_keys_new()};
  Resume resume = resume_new(version, .server = {.ticket_keys = changer.keys});
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, change_all_the_time, &changer) == 0);
  sst_session *session = NULL;
  for (int i = 0; i < count && !test_failed(); i++) {
    resume.options.client.session = session;
    Pair pair = pair_opened(&resume.options); /* resumed or not: never a failure */
    resume_deliver(&pair);
    sst_session_free(session);
    session = sst_stream_take_session(pair.client.stream);
    pair_free(&pair);
  }
  atomic_store(&changer.over, true);
  pthread_join(thread, NULL);
  EXPECT_AT_LEAST(changer.changes, count / 10);
  sst_session_free(session);
  resume_free(&resume);
  sst_ticket_keys_free(changer.keys);
}

/* SST_TEST_HANDSHAKES sets another number: 10000 for the run under ThreadSanitizer that counts. */
static int number_of_handshakes(void) {
  const char *text = getenv("SST_TEST_HANDSHAKES");
  return text == NULL ? 100 : atoi(text);
}

TEST_VERSIONS(ticket_keys, ring_may_change_during_handshakes) {
  handshakes_beside_changes(version, number_of_handshakes());
}
