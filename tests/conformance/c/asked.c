/* Steps under then about questions: what a stream stops for, and the facts that it offers (section 7). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "world.h"

enum { MOST_NUMBERS = 256, MOST_BYTES = 20000 };

static sst_stream *stream_of(World *world, const Match *match) {
  return end_of_role(world, match)->side.stream;
}

static void stops_for(World *world, const Match *match) {
  Side *side = &end_of_role(world, match)->side;
  uint16_t question = 0;
  REQUIRE(question_of_name(place_text(match, 1)->text, &question));
  REQUIRE((sst_stream_state(side->stream) & SST_STATE_SUSPENDED) != 0);
  REQUIRE_STATUS(side_call(side, CALL_HANDSHAKE, wire_head(side->in), wire_waiting(side->in), 65536), question);
  EXPECT_EQ(side->progress.consumed, 0);
  EXPECT_EQ(side->progress.produced, 0);
}

/* Lists of numbers */

typedef struct Listed {
  uint16_t list[MOST_NUMBERS];
  size_t count;
} Listed;

static Listed hello_list(const sst_stream *stream, int32_t which) {
  Listed listed;
  REQUIRE_STATUS(sst_stream_client_hello_list(stream, which, listed.list, MOST_NUMBERS, &listed.count), SST_OK);
  return listed;
}

static void expect_numbers(const Listed *got, const Match *match, size_t place,
                           bool (*find)(const char *name, uint16_t *number)) {
  const Numbers wanted = place_numbers(match, place, find);
  EXPECT_BYTES(got->list, got->count * sizeof *got->list, wanted.list, wanted.count * sizeof *wanted.list);
}

/* What a hello without a list of versions begins with (RFC 8446, 4.1.2); returns how many there are. */
static size_t legacy_version(const sst_stream *stream, uint16_t *version) {
  uint8_t hello[MOST_BYTES];
  size_t len = 0;
  REQUIRE_STATUS(sst_stream_client_hello(stream, hello, sizeof hello, &len), SST_OK);
  if (len < 2) return 0;
  *version = (uint16_t)(hello[0] << 8 | hello[1]);
  return 1;
}

static void lists_versions(World *world, const Match *match) {
  Listed got = hello_list(stream_of(world, match), SST_HELLO_VERSIONS);
  if (got.count == 0) got.count = legacy_version(stream_of(world, match), got.list);
  expect_numbers(&got, match, 1, version_of_name);
}

static void lists_suites(World *world, const Match *match) {
  const Listed got = hello_list(stream_of(world, match), SST_HELLO_SUITES);
  expect_numbers(&got, match, 1, suite_of_name);
}

static void lists_groups(World *world, const Match *match) {
  const Listed got = hello_list(stream_of(world, match), SST_HELLO_GROUPS);
  expect_numbers(&got, match, 1, group_of_name);
}

static void lists_schemes(World *world, const Match *match) {
  const Listed got = hello_list(stream_of(world, match), SST_HELLO_SCHEMES);
  expect_numbers(&got, match, 1, scheme_of_name);
}

static void accepts_schemes(World *world, const Match *match) {
  Listed got;
  REQUIRE_STATUS(sst_stream_accepted_schemes(stream_of(world, match), got.list, MOST_NUMBERS, &got.count), SST_OK);
  expect_numbers(&got, match, 1, scheme_of_name);
}

/* ALPN, extensions, and the message */

static size_t hello_protocol(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap) {
  size_t len = 0;
  REQUIRE_STATUS(sst_stream_client_hello_alpn(stream, index, out, out_cap, &len), SST_OK);
  return len;
}

static size_t num_protocols(const sst_stream *stream) {
  uint8_t name[256];
  size_t count = 0;
  while (hello_protocol(stream, count, name, sizeof name) > 0)
    count++;
  return count;
}

typedef struct Protocols {
  const sst_stream *stream;
  size_t count;
} Protocols;

static sst_status expect_protocol(void *context, const Token *name) {
  Protocols *seen = context;
  uint8_t got[256];
  const size_t len = hello_protocol(seen->stream, seen->count++, got, sizeof got);
  EXPECT_BYTES(got, len, name->text, name->len);
  return SST_OK;
}

static void lists_protocols(World *world, const Match *match) {
  Protocols seen = {.stream = stream_of(world, match)};
  place_list(match, 1, expect_protocol, &seen);
  EXPECT_EQ(num_protocols(seen.stream), seen.count);
}

static void lists_many_protocols(World *world, const Match *match) {
  EXPECT_EQ(num_protocols(stream_of(world, match)), place_number(match, 1));
}

static size_t extension(World *world, const Match *match, unsigned long type, uint8_t *out, size_t out_cap) {
  size_t len = 0;
  REQUIRE_STATUS(sst_stream_client_hello_extension(stream_of(world, match), (uint16_t)type, out, out_cap, &len),
                 SST_OK);
  return len;
}

static void has_extension(World *world, const Match *match) {
  uint8_t body[MOST_BYTES];
  EXPECT_AT_LEAST(extension(world, match, place_number(match, 1), body, sizeof body), 1);
}

static void has_no_extension(World *world, const Match *match) {
  uint8_t body[MOST_BYTES];
  EXPECT_EQ(extension(world, match, place_number(match, 1), body, sizeof body), 0);
}

static void extension_is(World *world, const Match *match) {
  uint8_t body[MOST_BYTES];
  const size_t len = extension(world, match, place_number(match, 0), body, sizeof body);
  size_t wanted_len = 0;
  uint8_t *wanted = place_data(match, 2, &wanted_len);
  const bool same = EXPECT_BYTES(body, len, wanted, wanted_len);
  free(wanted);
  test_require(same);
}

/* The payloads of the handshake records at the head of what was sent, one behind the other. */
static size_t join_payloads(const Wire *sent, uint8_t *out, size_t out_cap) {
  const size_t count = records_parse(sent->bytes, sent->len, NULL, 0);
  Record *records = test_allocate(count * sizeof *records);
  records_parse(sent->bytes, sent->len, records, count);
  size_t len = 0;
  for (size_t i = 0; i < count && records[i].type == RECORD_HANDSHAKE; i++) {
    if (records[i].length > out_cap - len) break;
    memcpy(out + len, sent->bytes + records[i].offset + RECORD_HEADER, records[i].length);
    len += records[i].length;
  }
  free(records);
  return len;
}

static void is_what_was_sent(World *world, const Match *match) {
  End *end = end_of_role(world, match);
  uint8_t got[MOST_BYTES], sent[MOST_BYTES];
  size_t got_len = 0;
  REQUIRE_STATUS(sst_stream_client_hello(end->side.stream, got, sizeof got, &got_len), SST_OK);
  const size_t sent_len = join_payloads(other_end(world, end)->sent, sent, sizeof sent);
  REQUIRE(sent_len > 4);
  const size_t body_len = (size_t)sent[1] << 16 | (size_t)sent[2] << 8 | sent[3];
  REQUIRE(sent_len >= body_len + 4);
  EXPECT_BYTES(got, got_len, sent + 4, body_len);
}

static void is_gone(World *world, const Match *match) {
  const sst_stream *stream = stream_of(world, match);
  uint8_t got[MOST_BYTES];
  size_t len = 1;
  EXPECT_STATUS(sst_stream_client_hello(stream, got, sizeof got, &len), SST_OK);
  EXPECT_EQ(len, 0);
  EXPECT_EQ(num_protocols(stream), 0);
  for (int32_t which = SST_HELLO_SUITES; which <= SST_HELLO_VERSIONS; which++)
    EXPECT_EQ(hello_list(stream, which).count, 0);
}

/* Issuers */

/* Moves behind the tag and the length of an element of DER, and returns how long its content is. */
static size_t der_enter(const uint8_t *der, size_t *at) {
  const uint8_t first = der[*at + 1];
  size_t len = first & 0x7f;
  *at += 2;
  if (first < 0x80) return len;
  const size_t octets = len;
  len = 0;
  for (size_t i = 0; i < octets; i++)
    len = len << 8 | der[*at + i];
  *at += octets;
  return len;
}

static void der_skip(const uint8_t *der, size_t *at) {
  const size_t len = der_enter(der, at);
  *at += len;
}

/* The subject of a certificate: behind version, serial number, algorithm, issuer and validity (RFC 5280, 4.1). */
static const uint8_t *subject_of(const Data *certificate, size_t *len) {
  size_t at = 0;
  der_enter(certificate->bytes, &at);
  der_enter(certificate->bytes, &at);
  for (int behind = 0; behind < 5; behind++)
    der_skip(certificate->bytes, &at);
  const size_t begin = at;
  der_skip(certificate->bytes, &at);
  *len = at - begin;
  return certificate->bytes + begin;
}

static size_t accepted_ca(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap) {
  size_t len = 0;
  REQUIRE_STATUS(sst_stream_accepted_ca(stream, index, out, out_cap, &len), SST_OK);
  return len;
}

static sst_status expect_issuer(void *context, const Token *name) {
  Protocols *seen = context;
  uint8_t got[1024];
  const size_t len = accepted_ca(seen->stream, seen->count++, got, sizeof got);
  const Data certificate = data_certificate(name->text, 0);
  size_t wanted_len = 0;
  const uint8_t *wanted = subject_of(&certificate, &wanted_len);
  const bool same = EXPECT_BYTES(got, len, wanted, wanted_len);
  free(certificate.bytes);
  test_require(same);
  return SST_OK;
}

static void accepts_issuers(World *world, const Match *match) {
  Protocols seen = {.stream = stream_of(world, match)};
  uint8_t name[1024];
  place_list(match, 1, expect_issuer, &seen);
  EXPECT_EQ(accepted_ca(seen.stream, seen.count, name, sizeof name), 0);
}

static void accepts_any_issuer(World *world, const Match *match) {
  uint8_t name[1024];
  EXPECT_EQ(accepted_ca(stream_of(world, match), 0, name, sizeof name), 0);
}

/* The verdict */

static sst_error verdict_of(World *world, const Match *match) {
  sst_error verdict = {.size = sizeof verdict};
  REQUIRE_STATUS(sst_stream_verdict(stream_of(world, match), &verdict), SST_OK);
  return verdict;
}

static void verdict_is_good(World *world, const Match *match) {
  const sst_error verdict = verdict_of(world, match);
  EXPECT_STATUS(verdict.code, SST_OK);
  EXPECT_EQ(verdict.reasons, 0);
}

static void verdict_is(World *world, const Match *match) {
  EXPECT_STATUS(verdict_of(world, match).code, place_code(match, 1));
}

static void verdict_reasons(World *world, const Match *match) {
  EXPECT_EQ(verdict_of(world, match).reasons, place_reasons(match, 1));
}

static void verdict_says(World *world, const Match *match) {
  EXPECT_CONTAINS(verdict_of(world, match).message, place_text(match, 1)->text);
}

static void has_no_verdict(World *world, const Match *match) {
  sst_error verdict = {.size = sizeof verdict};
  EXPECT_STATUS(sst_stream_verdict(stream_of(world, match), &verdict), SST_ERR_STATE);
}

/* The private key */

typedef struct Operation {
  int32_t kind;
  uint16_t scheme;
  uint8_t message[MOST_BYTES];
  size_t len;
} Operation;

static sst_status operation_of(World *world, const Match *match, Operation *operation) {
  operation->kind = -1;
  return sst_stream_private_key_operation(stream_of(world, match), &operation->kind, &operation->scheme,
                                          operation->message, sizeof operation->message, &operation->len);
}

static void signs_by(World *world, const Match *match) {
  Operation operation;
  REQUIRE_STATUS(operation_of(world, match, &operation), SST_OK);
  EXPECT_EQ(operation.kind, SST_OPERATION_SIGN);
  EXPECT_STRING(sst_scheme_name(operation.scheme), place_text(match, 1)->text);
}

static void signs_bytes(World *world, const Match *match) {
  Operation operation;
  REQUIRE_STATUS(operation_of(world, match, &operation), SST_OK);
  EXPECT_EQ(operation.len, place_number(match, 1));
}

static void message_begins(World *world, const Match *match) {
  Operation operation;
  REQUIRE_STATUS(operation_of(world, match, &operation), SST_OK);
  size_t len = 0;
  uint8_t *head = place_data(match, 1, &len);
  const bool same = EXPECT_BYTES(operation.message, operation.len < len ? operation.len : len, head, len);
  free(head);
  test_require(same);
}

static void signs_nothing(World *world, const Match *match) {
  Operation operation;
  EXPECT_STATUS(operation_of(world, match, &operation), SST_ERR_STATE);
}

const Form question_forms[] = {{"ROLE stops for QUESTION", stops_for},
                               {"ROLE answering ANSWER fails with CODE", answer_refused},
                               {"hello of ROLE lists versions LIST", lists_versions},
                               {"hello of ROLE lists suites LIST", lists_suites},
                               {"hello of ROLE lists groups LIST", lists_groups},
                               {"hello of ROLE lists schemes LIST", lists_schemes},
                               {"hello of ROLE lists protocols LIST", lists_protocols},
                               {"hello of ROLE lists N protocols", lists_many_protocols},
                               {"hello of ROLE has extension N", has_extension},
                               {"hello of ROLE has no extension N", has_no_extension},
                               {"extension N in hello of ROLE is DATA", extension_is},
                               {"hello of ROLE is what was sent", is_what_was_sent},
                               {"hello of ROLE is gone", is_gone},
                               {"peer of ROLE accepts schemes LIST", accepts_schemes},
                               {"peer of ROLE accepts issuers LIST", accepts_issuers},
                               {"peer of ROLE accepts any issuer", accepts_any_issuer},
                               {"verdict of ROLE is good", verdict_is_good},
                               {"verdict of ROLE is CODE", verdict_is},
                               {"reasons of the verdict of ROLE are LIST", verdict_reasons},
                               {"verdict of ROLE says TEXT", verdict_says},
                               {"ROLE has no verdict", has_no_verdict},
                               {"ROLE is to sign by TEXT", signs_by},
                               {"ROLE is to sign N bytes", signs_bytes},
                               {"what ROLE is to sign begins with DATA", message_begins},
                               {"ROLE is to sign nothing", signs_nothing},
                               {NULL, NULL}};
