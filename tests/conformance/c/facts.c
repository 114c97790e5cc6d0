/* Steps under then about what a stream says of itself (section 7). */
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "world.h"

static const Side *side_of(World *world, const Match *match) {
  return &end_of_role(world, match)->side;
}

static sst_status add_state(void *state, const Token *name) {
  uint32_t bit = 0;
  if (!state_of_name(name->text, &bit)) FAIL("'%s' is no state", name->text);
  *(uint32_t *)state |= bit;
  return SST_OK;
}

static void state_is(World *world, const Match *match) {
  uint32_t state = 0;
  place_list(match, 1, add_state, &state);
  EXPECT_EQ(sst_stream_state(side_of(world, match)->stream), state);
}

static void uses_suite(World *world, const Match *match) {
  EXPECT_STRING(sst_suite_name(info_of(side_of(world, match)).suite), place_text(match, 1)->text);
}

static void uses_group(World *world, const Match *match) {
  EXPECT_STRING(sst_group_name(info_of(side_of(world, match)).group), place_text(match, 1)->text);
}

static const char *scheme_name(uint16_t scheme) {
  return scheme == 0 ? "none" : sst_scheme_name(scheme);
}

static void signs_by(World *world, const Match *match) {
  EXPECT_STRING(scheme_name(info_of(side_of(world, match)).local_scheme), place_text(match, 1)->text);
}

static void is_shown_signature(World *world, const Match *match) {
  EXPECT_STRING(scheme_name(info_of(side_of(world, match)).peer_scheme), place_text(match, 1)->text);
}

static void expect_getter(const Side *side, Getter getter, const void *bytes, size_t len) {
  uint8_t got[1024];
  size_t got_len = 0;
  REQUIRE_STATUS(getter(side->stream, got, sizeof got, &got_len), SST_OK);
  EXPECT_BYTES(got, got_len, bytes, len);
}

static void uses_protocol(World *world, const Match *match) {
  expect_getter(side_of(world, match), sst_stream_alpn, place_text(match, 1)->text, place_text(match, 1)->len);
}

static void uses_no_protocol(World *world, const Match *match) {
  expect_getter(side_of(world, match), sst_stream_alpn, "", 0);
}

static void knows_server_name(World *world, const Match *match) {
  expect_getter(side_of(world, match), sst_stream_server_name, place_text(match, 1)->text, place_text(match, 1)->len);
}

static void knows_no_server_name(World *world, const Match *match) {
  expect_getter(side_of(world, match), sst_stream_server_name, "", 0);
}

/* Certificates */

static void has_peer_certificates(World *world, const Match *match) {
  EXPECT_EQ(sst_stream_num_peer_certificates(side_of(world, match)->stream), place_number(match, 1));
}

typedef sst_status (*CertificateGetter)(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap,
                                        size_t *out_len);

/* places: N ROLE LEAF */
static void expect_certificate(World *world, const Match *match, CertificateGetter getter) {
  uint8_t der[8192];
  size_t len = 0;
  REQUIRE_STATUS(getter(side_of(world, match)->stream, place_number(match, 0), der, sizeof der, &len), SST_OK);
  const Data expected = data_certificate(place_text(match, 2)->text, 0);
  const bool same = EXPECT_BYTES(der, len, expected.bytes, expected.len);
  free(expected.bytes);
  test_require(same);
}

static void peer_certificate_is(World *world, const Match *match) {
  expect_certificate(world, match, sst_stream_peer_certificate);
}

static void sent_certificate_is(World *world, const Match *match) {
  expect_certificate(world, match, sst_stream_local_certificate);
}

static void refused_certificate_is(World *world, const Match *match) {
  expect_certificate(world, match, sst_stream_refused_certificate);
}

static void verified_certificate_is(World *world, const Match *match) {
  expect_certificate(world, match, sst_stream_verified_certificate);
}

/* places: ROLE N */
static void expect_count(World *world, const Match *match, CertificateGetter getter) {
  uint8_t der[8192];
  size_t count = 0, len = 1;
  for (; len > 0; count++)
    REQUIRE_STATUS(getter(side_of(world, match)->stream, count, der, sizeof der, &len), SST_OK);
  EXPECT_EQ(count - 1, place_number(match, 1));
}

static void has_refused(World *world, const Match *match) {
  expect_count(world, match, sst_stream_refused_certificate);
}

static void has_verified_chain(World *world, const Match *match) {
  expect_count(world, match, sst_stream_verified_certificate);
}

static void has_sent_certificates(World *world, const Match *match) {
  expect_count(world, match, sst_stream_local_certificate);
}

static bool has_flag(World *world, const Match *match, uint32_t flag) {
  return (info_of(side_of(world, match)).flags & flag) != 0;
}

static void has_verified(World *world, const Match *match) {
  EXPECT(has_flag(world, match, SST_INFO_VERIFIED));
}

static void has_not_verified(World *world, const Match *match) {
  EXPECT(!has_flag(world, match, SST_INFO_VERIFIED));
}

static void saw_retry(World *world, const Match *match) {
  EXPECT(has_flag(world, match, SST_INFO_HELLO_RETRY));
}

static void saw_no_retry(World *world, const Match *match) {
  EXPECT(!has_flag(world, match, SST_INFO_HELLO_RETRY));
}

/* Output and counters */

static void has_output(World *world, const Match *match) {
  EXPECT_AT_LEAST(sst_stream_output_size(side_of(world, match)->stream), 1);
}

static void has_no_output(World *world, const Match *match) {
  EXPECT_EQ(sst_stream_output_size(side_of(world, match)->stream), 0);
}

static void counts(World *world, const Match *match, int32_t counter) {
  EXPECT_EQ(sst_stream_counter(side_of(world, match)->stream, counter), place_number(match, 1));
}

static void has_sent_records(World *world, const Match *match) {
  counts(world, match, SST_COUNTER_RECORDS_SENT);
}

static void has_sent_updates(World *world, const Match *match) {
  counts(world, match, SST_COUNTER_KEY_UPDATES_SENT);
}

static void has_received_updates(World *world, const Match *match) {
  counts(world, match, SST_COUNTER_KEY_UPDATES_RECEIVED);
}

/* Events */

static void reports(World *world, const Match *match, uint32_t kind, uint64_t value) {
  const sst_event *event = events_next(end_of_role(world, match));
  if (event == NULL) FAIL("no event waits");
  EXPECT_EQ(event->kind, kind);
  EXPECT_EQ(event->value, value);
}

static void reports_alert(World *world, const Match *match) {
  reports(world, match, SST_EVENT_ALERT_RECEIVED, place_number(match, 1));
}

static void reports_sending_keys(World *world, const Match *match) {
  reports(world, match, SST_EVENT_KEYS_UPDATED, SST_DIRECTION_SEND);
}

static void reports_receiving_keys(World *world, const Match *match) {
  reports(world, match, SST_EVENT_KEYS_UPDATED, SST_DIRECTION_RECEIVE);
}

static void reports_nothing(World *world, const Match *match) {
  EXPECT(events_next(end_of_role(world, match)) == NULL);
}

static void key_log_has_lines(World *world, const Match *match) {
  EXPECT_EQ(end_of_role(world, match)->events.num_lines, place_number(match, 1));
}

static void key_log_has_line(World *world, const Match *match) {
  const Events *events = &end_of_role(world, match)->events;
  const Token *label = place_text(match, 1);
  for (size_t i = 0; i < events->num_lines; i++)
    if (strncmp(events->lines[i], label->text, label->len) == 0 && events->lines[i][label->len] == ' ') return;
  FAIL("the key log has no line %s", label->text);
}

const Form fact_forms[] = {{"state of ROLE is LIST", state_is},
                           {"ROLE uses suite TEXT", uses_suite},
                           {"ROLE uses group TEXT", uses_group},
                           {"ROLE signs by TEXT", signs_by},
                           {"ROLE is shown a signature by TEXT", is_shown_signature},
                           {"ROLE uses protocol TEXT", uses_protocol},
                           {"ROLE uses no protocol", uses_no_protocol},
                           {"ROLE knows the server name TEXT", knows_server_name},
                           {"ROLE knows no server name", knows_no_server_name},
                           {"ROLE has N peer certificates", has_peer_certificates},
                           {"peer certificate N of ROLE is LEAF", peer_certificate_is},
                           {"sent certificate N of ROLE is LEAF", sent_certificate_is},
                           {"ROLE has sent N certificates", has_sent_certificates},
                           {"refused chain of ROLE has N certificates", has_refused},
                           {"refused certificate N of ROLE is LEAF", refused_certificate_is},
                           {"verified chain of ROLE has N certificates", has_verified_chain},
                           {"verified certificate N of ROLE is LEAF", verified_certificate_is},
                           {"ROLE has verified its peer", has_verified},
                           {"ROLE has not verified its peer", has_not_verified},
                           {"ROLE saw a retry", saw_retry},
                           {"ROLE saw no retry", saw_no_retry},
                           {"ROLE has output waiting", has_output},
                           {"ROLE has no output waiting", has_no_output},
                           {"ROLE has sent N records", has_sent_records},
                           {"ROLE has sent N key updates", has_sent_updates},
                           {"ROLE has received N key updates", has_received_updates},
                           {"ROLE reports alert N", reports_alert},
                           {"ROLE reports new sending keys", reports_sending_keys},
                           {"ROLE reports new receiving keys", reports_receiving_keys},
                           {"ROLE reports nothing more", reports_nothing},
                           {"key log of ROLE has N lines", key_log_has_lines},
                           {"key log of ROLE has a line TEXT", key_log_has_line},
                           {NULL, NULL}};
