/* White-box: alerts of TLS 1.3 at levels that are not theirs. The number says what an alert is, and the level can be
   ignored (RFC 8446, 6), be it one that there is or not: every alert but close_notify and user_canceled ends the stream,
   also one that nobody knows, and is not answered. Those two end it by an error only where their level says "fatal", as
   sst_stream_abort sends user_canceled. A known difference: BoringSSL says decode_error to an error that comes as a
   warning, and illegal_parameter to levels that there are not. */
#include "forge.h"
#include "tls/internal.h"

enum { CLOSE_NOTIFY = 0, USER_CANCELED = 90, ERROR = 80, WARNING = 1, FATAL = 2 };

static const uint8_t levels[] = {0, 1, 2, 3, 255};
enum { LEVELS = sizeof levels };

static void only_on_our_path(void) {
  if (sst__keeps_ssl()) SKIP("BoringSSL looks at the level");
}

typedef void (*Check)(Forged *forged, uint8_t level);

/* Each level at a victim of each role, behind three bytes of data, which are read. */
static void each_level(uint8_t alert, Check check) {
  for (int32_t role = SST_ROLE_CLIENT; role <= SST_ROLE_SERVER; role++) {
    for (int i = 0; i < LEVELS; i++) {
      test_note("alert %d of level %d at the %s", alert, levels[i], role == SST_ROLE_CLIENT ? "client" : "server");
      const PairOptions options = {.client = {.report = 1u << SST_EVENT_ALERT_RECEIVED},
                                   .server = {.report = 1u << SST_EVENT_ALERT_RECEIVED}};
      Forged *forged = forged_open(SST_TLS1_3, role, &options);
      const uint8_t content[] = {levels[i], alert};
      forge_send(&forged->forge, RECORD_APPLICATION_DATA, "abc", 3);
      forge_send(&forged->forge, RECORD_ALERT, content, sizeof content);
      check(forged, levels[i]);
      EXPECT_RECEIVED(forged->forge.victim, "abc", 3);
      sst_event event;
      char text[64];
      REQUIRE(side_event(forged->forge.victim, SST_EVENT_ALERT_RECEIVED, &event, text, sizeof text));
      EXPECT_EQ(event.value, alert);
      forged_free(forged);
    }
  }
}

static uint8_t error_alert;

static void fails_without_an_answer(Forged *forged, uint8_t level) {
  Side *victim = forged->forge.victim;
  const bool known = !sst__keeps_ssl() || level == FATAL;
  sst_status expected = SST_ERR_ALERT_RECEIVED - error_alert;
  if (!known) expected = level == WARNING ? SST_ERR_DECODE : SST_ERR_ILLEGAL_PARAMETER;
  EXPECT_STATUS(side_receive(victim), expected);
  EXPECT_EQ(error_of(victim).alert_received, known ? error_alert : -1);
  EXPECT_EQ(error_of(victim).alert_sent, known ? -1 : level == WARNING ? 50 : 47);
  EXPECT_EQ(sst_stream_state(victim->stream), SST_STATE_OPEN | SST_STATE_FAILED);
  EXPECT_STATUS(side_send(victim, "x", 1), expected);
  EXPECT_STATUS(side_flush(victim), SST_OK);
  EXPECT_HEARD(&forged->forge, known ? "" : level == WARNING ? "alert 2 50" : "alert 2 47");
}

TEST(record_alert, error_ends_the_stream_at_every_level_tls13) {
  static const uint8_t errors[] = {1, 10, 40, 80, 89, 91, 100, 112, 200, 255}; /* some of them no alerts at all */
  for (size_t i = 0; i < sizeof errors; i++) {
    error_alert = errors[i];
    each_level(errors[i], fails_without_an_answer);
  }
}

static void ends_if_fatal(Forged *forged, uint8_t level, uint8_t alert, sst_status otherwise) {
  Side *victim = forged->forge.victim;
  const bool ends = level == FATAL;
  EXPECT_STATUS(side_receive(victim), ends ? SST_ERR_ALERT_RECEIVED - alert : otherwise);
  EXPECT_STATUS(error_of(victim).code, ends ? SST_ERR_ALERT_RECEIVED - alert : SST_OK);
  EXPECT_EQ(error_of(victim).alert_received, ends ? alert : -1);
  EXPECT_EQ(error_of(victim).alert_sent, -1);
}

static void closes(Forged *forged, uint8_t level) {
  Side *victim = forged->forge.victim;
  ends_if_fatal(forged, level, CLOSE_NOTIFY, SST_CLOSED);
  if (level == FATAL) return;
  EXPECT_EQ(sst_stream_state(victim->stream), SST_STATE_OPEN | SST_STATE_PEER_CLOSED);
  EXPECT_STATUS(side_send(victim, "still", 5), SST_OK);
  EXPECT_HEARD(&forged->forge, "data 5");
}

TEST(record_alert, close_notify_closes_at_every_level_but_fatal_tls13) {
  only_on_our_path();
  each_level(CLOSE_NOTIFY, closes);
}

/* It counts as a warning: the fifth without data is a flood. */
static void goes_on(Forged *forged, uint8_t level) {
  Side *victim = forged->forge.victim;
  const uint8_t content[] = {level, USER_CANCELED};
  ends_if_fatal(forged, level, USER_CANCELED, SST_NEED_INPUT);
  if (level == FATAL) return;
  EXPECT_EQ(sst_stream_state(victim->stream), SST_STATE_OPEN);
  for (int i = 1; i < 4; i++) {
    forge_send(&forged->forge, RECORD_ALERT, content, sizeof content);
    EXPECT_STATUS(side_receive(victim), SST_NEED_INPUT);
  }
  forge_send(&forged->forge, RECORD_ALERT, content, sizeof content);
  EXPECT_STATUS(side_receive(victim), SST_ERR_FLOOD);
  EXPECT_STATUS(side_flush(victim), SST_OK);
  EXPECT_HEARD(&forged->forge, "alert 2 10");
}

TEST(record_alert, user_canceled_is_a_warning_at_every_level_but_fatal_tls13) {
  only_on_our_path();
  each_level(USER_CANCELED, goes_on);
}

/* Inside a handshake message an error says more than that it stands there; others must not (RFC 8446, 5.1). */
static void send_inside(uint8_t level, uint8_t alert, bool told) {
  test_note("alert %d of level %d", alert, level);
  Forged *forged = forged_open(SST_TLS1_3, SST_ROLE_SERVER, &(PairOptions){.first = 0});
  const uint8_t content[] = {level, alert};
  forge_send(&forged->forge, RECORD_HANDSHAKE, "\x18\0\0", 3);
  forge_send(&forged->forge, RECORD_ALERT, content, sizeof content);
  EXPECT_STATUS(side_receive(forged->forge.victim), told ? SST_ERR_ALERT_RECEIVED - alert : SST_ERR_UNEXPECTED_MESSAGE);
  EXPECT_STATUS(side_flush(forged->forge.victim), SST_OK);
  EXPECT_HEARD(&forged->forge, told ? "" : "alert 2 10");
  forged_free(forged);
}

TEST(record_alert, inside_a_handshake_message_an_error_is_told_and_others_are_unexpected_tls13) {
  only_on_our_path();
  for (int i = 0; i < LEVELS; i++) {
    send_inside(levels[i], ERROR, true);
    send_inside(levels[i], CLOSE_NOTIFY, levels[i] == FATAL);
    send_inside(levels[i], USER_CANCELED, levels[i] == FATAL);
  }
}
