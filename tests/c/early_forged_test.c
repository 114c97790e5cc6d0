/* White-box: what a peer without scruples sends as early data: more than it may, records that do not open, other
   messages than EndOfEarlyData, an end that anybody could have replayed. */
#include <stdlib.h>
#include <string.h>

#include "early.h"
#include "forge.h"

typedef struct Forger {
  Early early;
  Forge forge; /* sends under the client's early keys */
} Forger;

/* The server is early, and the client, which has sent nothing but its hello, is replaced. */
static Forger *forger_new(void) {
  Forger *forger = test_allocate(sizeof *forger);
  *forger = (Forger){.early = early_open(EARLY_TAKEN, .client = {.report = FORGE_EVENTS})};
  Pair *pair = &forger->early.pair;
  Secrets secrets = {.count = 0};
  EXPECT_STATUS(side_handshake(&pair->server), SST_OK);
  secrets_read(&secrets, &pair->client);
  forger->forge = (Forge){.victim = &pair->server, .send = secrets_keys(&secrets, pair, EPOCH_EARLY, SST_ROLE_CLIENT)};
  forge_send(&forger->forge, RECORD_APPLICATION_DATA, "first", 5);
  return forger;
}

/* What came before the fault is given out; the fault is told, and stays. */
static void forger_free(Forger *forger, sst_status status, int32_t alert, size_t received) {
  Side *server = &forger->early.pair.server;
  EXPECT_STATUS(side_receive(server), status);
  EXPECT_EQ(server->received_len, received);
  server->received_len = 0;
  EXPECT_EQ(error_of(server).alert_sent, alert);
  EXPECT_STATUS(side_flush(server), SST_OK);
  EXPECT_STATUS(side_receive(server), status);
  EXPECT_STATUS(side_send(server, "x", 1), status);
  EXPECT_EQ(sst_stream_state(server->stream), SST_STATE_HANDSHAKE | SST_STATE_OPEN | SST_STATE_FAILED);
  early_free(&forger->early);
  free(forger);
}

TEST(early_forged, more_than_the_ticket_allows_is_fatal_and_what_it_allows_is_given) {
  static uint8_t data[EARLY_LIMIT];
  for (int over = 0; over < 2; over++) {
    Forger *forger = forger_new();
    forge_send(&forger->forge, RECORD_APPLICATION_DATA, data, EARLY_LIMIT - 5);
    if (over) {
      forge_send(&forger->forge, RECORD_APPLICATION_DATA, data, 1);
      forger_free(forger, SST_ERR_UNEXPECTED_MESSAGE, 10, EARLY_LIMIT);
    } else {
      EXPECT_STATUS(side_receive(forger->forge.victim), SST_NEED_INPUT);
      EXPECT_EQ(forger->forge.victim->received_len, EARLY_LIMIT);
      early_free(&forger->early);
      free(forger);
    }
  }
}

TEST(early_forged, record_that_does_not_open_is_fatal) {
  static const uint8_t garbage[30] = {23, 3, 3, 0, 25};
  Forger *forger = forger_new();
  forge_send_raw(&forger->forge, garbage, sizeof garbage);
  forger_free(forger, SST_ERR_BAD_RECORD_MAC, 20, 5);

  forger = forger_new(); /* under the keys of a later epoch */
  forger->forge.send.key[0] ^= 1;
  forge_send(&forger->forge, RECORD_APPLICATION_DATA, "x", 1);
  forger_free(forger, SST_ERR_BAD_RECORD_MAC, 20, 5);

  forger = forger_new(); /* not encrypted */
  forge_send_raw(&forger->forge, "\x16\3\3\0\4\5\0\0\0", 9);
  forger_free(forger, SST_ERR_BAD_RECORD_MAC, 20, 5);
}

TEST(early_forged, flood_of_empty_records_is_fatal) {
  Forger *forger = forger_new();
  for (int i = 0; i < 33; i++)
    forge_send(&forger->forge, RECORD_APPLICATION_DATA, "", 0);
  forger_free(forger, SST_ERR_FLOOD, 10, 5);
}

TEST(early_forged, other_messages_than_end_of_early_data_are_fatal) {
  static const struct {
    const char *name, *message;
    size_t len;
    sst_status status;
    int32_t alert;
  } cases[] = {
      {"KeyUpdate", "\x18\0\0\1\0", 5, SST_ERR_UNEXPECTED_MESSAGE, 10},
      {"Finished", "\x14\0\0\1\0", 5, SST_ERR_UNEXPECTED_MESSAGE, 10},
      {"ClientHello", "\1\0\0\1\0", 5, SST_ERR_UNEXPECTED_MESSAGE, 10},
      {"EndOfEarlyData with a body", "\5\0\0\1\0", 5, SST_ERR_DECODE, 50},
      {"EndOfEarlyData and more", "\5\0\0\0\x14", 5, SST_ERR_UNEXPECTED_MESSAGE, 10},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    test_note("%s", cases[i].name);
    Forger *forger = forger_new();
    forge_send(&forger->forge, RECORD_HANDSHAKE, cases[i].message, cases[i].len);
    forger_free(forger, cases[i].status, cases[i].alert, 5);
  }
}

TEST(early_forged, end_of_early_data_may_be_cut_but_nothing_may_stand_inside_of_it) {
  for (size_t cut = 1; cut < 4; cut++) {
    test_note("cut at %zu", cut);
    Forger *forger = forger_new();
    Side *server = forger->forge.victim;
    forge_send(&forger->forge, RECORD_HANDSHAKE, "\5\0\0\0", cut);
    EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
    EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, SST_EARLY_DATA);
    forge_send(&forger->forge, RECORD_APPLICATION_DATA, "inside", 6);
    forger_free(forger, SST_ERR_UNEXPECTED_MESSAGE, 10, 5);

    forger = forger_new();
    server = forger->forge.victim;
    forge_send(&forger->forge, RECORD_HANDSHAKE, "\5\0\0\0", cut);
    EXPECT_STATUS(sst_stream_input_eof(server->stream), SST_OK);
    forger_free(forger, SST_ERR_HANDSHAKE_EOF, -1, 5);

    forger = forger_new();
    server = forger->forge.victim;
    forge_send(&forger->forge, RECORD_HANDSHAKE, "\5\0\0\0", cut);
    forge_send(&forger->forge, RECORD_HANDSHAKE, &"\5\0\0\0"[cut], 4 - cut);
    EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
    EXPECT_STATUS(side_send(server, "still", 5), SST_OK);
    forge_send(&forger->forge, RECORD_APPLICATION_DATA, "more", 4); /* under keys that are over */
    forger_free(forger, SST_ERR_BAD_RECORD_MAC, 20, 5);
  }
}

/* Whoever replays early data can replay its end: before the confirmation nothing has ended well. */
TEST(early_forged, close_notify_under_early_keys_is_handshake_eof) {
  for (int in_place = 0; in_place < 2; in_place++) {
    Forger *forger = forger_new();
    Side *server = forger->forge.victim;
    forge_send(&forger->forge, RECORD_ALERT, "\1\0", 2);
    if (in_place) {
      uint8_t buffer[200];
      const size_t len = wire_waiting(server->in);
      sst_range ranges[4];
      size_t used = 0;
      memcpy(buffer, wire_head(server->in), len);
      EXPECT_STATUS(sst_stream_decrypt_in_place(server->stream, buffer, len, ranges, 4, &used, &server->progress),
                    SST_ERR_HANDSHAKE_EOF);
      EXPECT_EQ(used, 1);
    }
    EXPECT_EQ(error_of(server).alert_received, in_place ? 0 : -1);
    forger_free(forger, SST_ERR_HANDSHAKE_EOF, -1, in_place ? 0 : 5);
  }
}

TEST(early_forged, fatal_alert_under_early_keys_ends_the_stream) {
  Forger *forger = forger_new();
  forge_send(&forger->forge, RECORD_ALERT, "\2\132", 2);
  forger_free(forger, SST_ERR_ALERT_RECEIVED - 90, -1, 5);
}

/* A server that refuses skips what it cannot open, but not without end. */
TEST(early_forged, garbage_before_a_refusing_server_is_skipped_up_to_a_limit) {
  static const EarlyKind kinds[] = {EARLY_OFF, EARLY_HELLO_RETRY, EARLY_OTHER_KEY, EARLY_OTHER_ALPN};
  static uint8_t garbage[16384 + 1] = {23, 3, 3, 0x3f, 0xfb};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    for (int over = 0; over < 2; over++) {
      test_note("%s, %s", early_name(kinds[i]), over ? "over" : "as much as there may be");
      Early early = early_open(kinds[i], .client = {.server_name = NULL});
      Side *server = &early.pair.server;
      wire_insert(early.pair.client.out, garbage, 16384);
      if (over) wire_insert(early.pair.client.out, "\x17\3\3\0\1x", 6);
      if (over) {
        EXPECT_STATUS(side_handshake(server), SST_ERR_FLOOD);
        EXPECT_EQ(error_of(server).alert_sent, 10);
      } else {
        EXPECT_STATUS(pair_handshake(&early.pair), SST_OK);
        pair_echo(&early.pair, 1000);
      }
      early_free(&early);
    }
  }
}
