/*
 * 0-RTT in pieces: the wire is cut at every byte in either direction, calls get one byte and have room for one, and what
 * was sent comes once, early or later, whatever the server makes of it.
 */
#include "early.h"

enum { SHORT = 60 };

static size_t wire_length(EarlyKind kind, bool to_server) {
  Early early = early_open(kind, .client = {.server_name = NULL});
  early_talk(
      &early,
      &(Talk){
          .to_server = SIZE_MAX, .to_client = SIZE_MAX, .early_len = SHORT, .late_len = SHORT, .answer_len = SHORT});
  const size_t len = to_server ? early.pair.client.out->len : early.pair.server.out->len;
  early_free(&early);
  return len;
}

static void cut_everywhere(EarlyKind kind, bool to_server) {
  const size_t len = wire_length(kind, to_server);
  EXPECT_AT_LEAST(len, 500);
  Early early = early_prepare(kind, &(PairOptions){.first = 0});
  for (size_t at = 0; at <= len && !test_failed(); at++) {
    test_note("%s, cut at %zu of %zu bytes to the %s", early_name(kind), at, len, to_server ? "server" : "client");
    early_start(&early);
    early_talk(&early, &(Talk){.to_server = to_server ? at : SIZE_MAX,
                               .to_client = to_server ? SIZE_MAX : at,
                               .early_len = SHORT,
                               .late_len = SHORT,
                               .answer_len = SHORT,
                               .in_place = at % 3 == 0});
    early_stop(&early);
  }
  early_free(&early);
}

#define CUT(name, kind)                               \
  TEST(early_pieces, name##_to_server_cut_anywhere) { \
    cut_everywhere(kind, true);                       \
  }                                                   \
  TEST(early_pieces, name##_to_client_cut_anywhere) { \
    cut_everywhere(kind, false);                      \
  }

CUT(taken, EARLY_TAKEN)
CUT(refused_by_config, EARLY_OFF)
CUT(refused_by_hello_retry, EARLY_HELLO_RETRY)
CUT(refused_by_other_ticket_key, EARLY_OTHER_KEY)
CUT(refused_by_other_alpn, EARLY_OTHER_ALPN)

static void with(EarlyKind kind, const Talk *talk) {
  test_note("%s, room %zu, chunk %zu, %zu early", early_name(kind), talk->room, talk->chunk, talk->early_len);
  Early early = early_prepare(kind, &(PairOptions){.first = 0});
  early_start(&early);
  early_talk(&early, talk);
  early_free(&early);
}

TEST(early_pieces, small_rooms_and_chunks_lose_nothing) {
  static const size_t rooms[] = {0, 1, 2, 23, 64, 1000}, chunks[] = {0, 1, 7};
  for (EarlyKind kind = EARLY_TAKEN; kind < EARLY_KINDS; kind++) {
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
      for (size_t k = 0; k < sizeof chunks / sizeof chunks[0]; k++) {
        with(kind, &(Talk){.to_server = SIZE_MAX,
                           .to_client = SIZE_MAX,
                           .room = rooms[i],
                           .chunk = chunks[k],
                           .early_len = 300,
                           .late_len = 300,
                           .answer_len = 300});
      }
    }
  }
}

TEST(early_pieces, all_that_the_session_allows_with_answers_of_many_records) {
  static const size_t rooms[] = {0, 1, 1000, 20000};
  for (EarlyKind kind = EARLY_TAKEN; kind < EARLY_KINDS; kind++) {
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
      if (kind != EARLY_TAKEN && rooms[i] == 1)
        continue; /* many records: see the header, a server skips only so much */
      const Talk talk = {.to_server = SIZE_MAX,
                         .to_client = SIZE_MAX,
                         .room = rooms[i],
                         .early_len = EARLY_LIMIT,
                         .late_len = 20000,
                         .answer_len = 40000};
      with(kind, &talk);
      with(kind, &(Talk){.to_server = SIZE_MAX,
                         .to_client = SIZE_MAX,
                         .in_place = true,
                         .early_len = EARLY_LIMIT,
                         .late_len = 20000,
                         .answer_len = 40000});
    }
  }
}
