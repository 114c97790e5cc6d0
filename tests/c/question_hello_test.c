/*
 * WANT_CLIENT_HELLO: what it shows is what stands in the message, however the message came in (H02); what is no
 * ClientHello is refused as by a stream with a config.
 */
#include "answer.h"
#include "hello.h"
#include "trace.h"

#include <stdlib.h>
#include <string.h>

enum { CAP = 20000, HEADER = 4 };

/* ---- facts ---- */

typedef sst_status (*Indexed)(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap, size_t *out_len);

static sst_status hello(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap, size_t *out_len) {
  (void)index;
  return sst_stream_client_hello(stream, out, out_cap, out_len);
}

static sst_status extension(const sst_stream *stream, size_t index, uint8_t *out, size_t out_cap, size_t *out_len) {
  return sst_stream_client_hello_extension(stream, (uint16_t)index, out, out_cap, out_len);
}

/* The getter gives these bytes, and with less room their length and nothing else. */
static void gives(const Side *side, Indexed get, size_t index, const void *bytes, size_t len) {
  static uint8_t out[CAP];
  size_t out_len = CAP;
  EXPECT_STATUS(get(side->stream, index, out, CAP, &out_len), SST_OK);
  EXPECT_BYTES(out, out_len, bytes, len);
  EXPECT_STATUS(get(side->stream, index, out, len, &out_len), SST_OK);
  if (len == 0) return;
  for (int i = 0; i < 2; i++) {
    out[0] = (uint8_t) ~(*(const uint8_t *)bytes);
    out_len = 0;
    EXPECT_STATUS(get(side->stream, index, i == 0 ? NULL : out, i == 0 ? 0 : len - 1, &out_len), SST_NEED_OUTPUT);
    EXPECT_EQ(out_len, len);
    EXPECT_EQ(out[0], (uint8_t) ~(*(const uint8_t *)bytes));
  }
}

static const int lists[][2] = {{SST_HELLO_SUITES, -1},
                               {SST_HELLO_GROUPS, EXTENSION_SUPPORTED_GROUPS},
                               {SST_HELLO_SCHEMES, EXTENSION_SIGNATURE_ALGORITHMS},
                               {SST_HELLO_VERSIONS, EXTENSION_SUPPORTED_VERSIONS}};

static void gives_lists(const Side *side, const Hello *sent) {
  for (size_t i = 0; i < 4; i++) {
    uint16_t expected[64], got[64];
    size_t len = 99;
    const size_t num = hello_list(sent, lists[i][1], expected, 64);
    EXPECT_STATUS(sst_stream_client_hello_list(side->stream, lists[i][0], got, 64, &len), SST_OK);
    EXPECT_BYTES(got, 2 * len, expected, 2 * num);
    EXPECT_STATUS(sst_stream_client_hello_list(side->stream, lists[i][0], got, num, &len), SST_OK);
    if (num == 0) continue;
    got[0] = 0x1a1a;
    EXPECT_STATUS(sst_stream_client_hello_list(side->stream, lists[i][0], got, num - 1, &len), SST_NEED_OUTPUT);
    EXPECT_EQ(len, num);
    EXPECT_EQ(got[0], 0x1a1a);
    EXPECT_STATUS(sst_stream_client_hello_list(side->stream, lists[i][0], NULL, 0, &len), SST_NEED_OUTPUT);
    EXPECT_EQ(len, num);
  }
}

static void gives_extensions(const Side *side, const Hello *sent) {
  size_t count = 0;
  for (unsigned type = 0; type <= UINT16_MAX; type++) {
    size_t len = 0;
    const uint8_t *body = hello_extension(sent, (uint16_t)type, &len);
    if (body == NULL && type % 97 != 0) continue;
    gives(side, extension, type, body, len);
    count += body != NULL;
  }
  EXPECT_AT_LEAST(count, 5);
}

TEST_VERSIONS(question_hello, facts_are_those_of_the_message) {
  static const char *const names[] = {"h2", "x", "http/1.1"};
  Pair pair = pair_new(.client = {.max_version = version, .alpn = {"h2", "x", "http/1.1"}}, .server = {.no_config = 1});
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CLIENT_HELLO);
  Hello sent = hello_read(pair.client.out->bytes, pair.client.out->len);
  gives(&pair.server, hello, 0, sent.message.bytes + HEADER, sent.message.len - HEADER);
  gives_lists(&pair.server, &sent);
  gives_extensions(&pair.server, &sent);
  for (size_t i = 0; i < 3; i++)
    gives(&pair.server, sst_stream_client_hello_alpn, i, names[i], strlen(names[i]));
  gives(&pair.server, sst_stream_client_hello_alpn, 3, NULL, 0);
  gives(&pair.server, sst_stream_client_hello_alpn, SIZE_MAX, NULL, 0);
  EXPECT_STRING(side_text(&pair.server, sst_stream_server_name), "server.test");
  hello_free(&sent);
  pair_free(&pair);
}

TEST_VERSIONS(question_hello, what_is_not_in_the_message_is_none) {
  Pair pair = pair_new(.client = {.max_version = version, .server_name = "", .verify = SST_VERIFY_CHAIN_ONLY},
                       .server = {.no_config = true});
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CLIENT_HELLO);
  gives(&pair.server, sst_stream_client_hello_alpn, 0, NULL, 0);
  gives(&pair.server, extension, EXTENSION_SERVER_NAME, NULL, 0);
  EXPECT_STRING(side_text(&pair.server, sst_stream_server_name), "");
  pair_free(&pair);
}

static void expect_none(const sst_stream *stream) {
  uint8_t out[100];
  uint16_t list[100];
  size_t len = 9;
  EXPECT_STATUS(sst_stream_client_hello(stream, out, sizeof out, &len), SST_OK);
  EXPECT_EQ(len, 0);
  EXPECT_STATUS(sst_stream_client_hello_list(stream, SST_HELLO_SUITES, list, 100, &len), SST_OK);
  EXPECT_EQ(len, 0);
  EXPECT_STATUS(sst_stream_client_hello_alpn(stream, len = 0, out, sizeof out, &len), SST_OK);
  EXPECT_EQ(len, 0);
  len = 9;
  EXPECT_STATUS(sst_stream_client_hello_extension(stream, EXTENSION_ALPN, out, sizeof out, &len), SST_OK);
  EXPECT_EQ(len, 0);
}

TEST_VERSIONS(question_hello, facts_are_none_outside_of_the_question) {
  sst_config *config = pair_config(&(SideOptions){.alpn = {"x"}}, SST_ROLE_SERVER);
  Pair pair = pair_new(.client = {.max_version = version, .alpn = {"x"}}, .server = {.no_config = true});
  expect_none(pair.server.stream);
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CLIENT_HELLO);
  expect_none(pair.client.stream);
  EXPECT_STATUS(sst_stream_set_config(pair.server.stream, config), SST_OK);
  expect_none(pair.server.stream);
  EXPECT_STRING(side_text(&pair.server, sst_stream_server_name), "");
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  expect_none(pair.server.stream);
  EXPECT_STRING(side_text(&pair.server, sst_stream_server_name), "server.test");
  pair_free(&pair);
  sst_config_free(config);
}

TEST(question_hello, bad_arguments_are_refused) {
  Pair pair = pair_new(.server = {.no_config = true});
  const sst_stream *stream = pair.server.stream;
  uint8_t out[10];
  uint16_t list[10];
  size_t len = 7;
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CLIENT_HELLO);
  EXPECT_STATUS(sst_stream_client_hello_list(stream, -1, list, 10, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(len, 0);
  EXPECT_STATUS(sst_stream_client_hello_list(stream, 4, list, 10, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_client_hello_list(stream, 0, NULL, 10, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_client_hello_list(stream, 0, list, SIZE_MAX / 2, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_client_hello_list(stream, 0, list, 10, NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_client_hello_list(NULL, 0, list, 10, &len), SST_ERR_INVALID_ARGUMENT);
  len = 7;
  EXPECT_STATUS(sst_stream_client_hello(NULL, out, 10, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(len, 0);
  EXPECT_STATUS(sst_stream_client_hello(stream, NULL, 10, &len), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_client_hello(stream, out, 10, NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_config(pair.server.stream, NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_config(NULL, pair.client.config), SST_ERR_INVALID_ARGUMENT);
  pair_free(&pair);
}

/* ---- H02: pieces ---- */

#define FORTY_NAMES                                                                                            \
  "protocol-00", "protocol-01", "protocol-02", "protocol-03", "protocol-04", "protocol-05", "protocol-06",     \
      "protocol-07", "protocol-08", "protocol-09", "protocol-10", "protocol-11", "protocol-12", "protocol-13", \
      "protocol-14", "protocol-15", "protocol-16", "protocol-17", "protocol-18", "protocol-19", "protocol-20", \
      "protocol-21", "protocol-22", "protocol-23", "protocol-24", "protocol-25", "protocol-26", "protocol-27", \
      "protocol-28", "protocol-29", "protocol-30", "protocol-31", "protocol-32", "protocol-33", "protocol-34", \
      "protocol-35", "protocol-36", "protocol-37", "protocol-38", "protocol-39"

static sst_config *long_client, *its_server;

static Pair long_pair(void) {
  Pair pair = pair_new(.client = {.config = long_client, .server_name = "server.test"}, .server = {.no_config = true});
  EXPECT_STATUS(side_handshake(&pair.client), SST_NEED_INPUT);
  EXPECT_AT_LEAST(pair.client.out->len, 1700);
  return pair;
}

/* The question is there, and shows all of it; the handshake goes on from it without another one. */
static void finishes(Pair *pair, bool to_the_end) {
  EXPECT_STATUS(pair->server.status, SST_WANT_CLIENT_HELLO);
  EXPECT_STRING(side_text(&pair->server, sst_stream_server_name), "server.test");
  gives(&pair->server, sst_stream_client_hello_alpn, 0, "protocol-00", 11);
  gives(&pair->server, sst_stream_client_hello_alpn, 39, "protocol-39", 11);
  EXPECT_STATUS(sst_stream_set_config(pair->server.stream, its_server), SST_OK);
  if (to_the_end) {
    EXPECT_STATUS(pair_handshake(pair), SST_OK);
    EXPECT_STRING(side_text(&pair->client, sst_stream_alpn), "protocol-20");
    pair_echo(pair, 100);
  } else {
    EXPECT_STATUS(side_handshake(&pair->server), SST_NEED_INPUT);
    EXPECT_AT_LEAST(pair->server.out->len, 500);
  }
  pair_free(pair);
}

static void begin_long(void) {
  long_client = pair_config(&(SideOptions){.alpn = {FORTY_NAMES}}, SST_ROLE_CLIENT);
  its_server = pair_config(&(SideOptions){.alpn = {"protocol-20"}}, SST_ROLE_SERVER);
}

static void end_long(void) {
  sst_config_free(long_client);
  sst_config_free(its_server);
}

TEST(question_hello, long_hello_comes_byte_by_byte) {
  begin_long();
  Pair pair = long_pair();
  pair.server.chunk = 1;
  EXPECT_STATUS(side_handshake(&pair.server), SST_WANT_CLIENT_HELLO);
  finishes(&pair, true);
  end_long();
}

TEST(question_hello, long_hello_is_cut_at_every_byte) {
  begin_long();
  size_t len = 2;
  for (size_t cut = 1; cut < len; cut++) {
    test_note("cut at %zu", cut);
    Pair pair = long_pair();
    len = pair.client.out->len;
    EXPECT_STATUS(feed_handshake(&pair.server, &(Feed){.cut = cut}), SST_WANT_CLIENT_HELLO);
    pair.server.room = 0;
    finishes(&pair, cut % 64 == 0);
  }
  end_long();
}

TEST(question_hello, long_hello_lies_in_many_records) {
  static const size_t payloads[] = {1, 2, 64};
  begin_long();
  for (int i = 0; i < 6; i++) {
    test_note("payload %zu", payloads[i / 2]);
    Pair pair = long_pair();
    Wire *wire = pair.client.out;
    const Data cut = reframe(wire->bytes, wire->len, payloads[i / 2]);
    wire_drop(wire);
    wire_insert(wire, cut.bytes, cut.len);
    free(cut.bytes);
    pair.server.chunk = i % 2 == 0 ? 0 : 1;
    EXPECT_STATUS(side_handshake(&pair.server), SST_WANT_CLIENT_HELLO);
    finishes(&pair, true);
  }
  end_long();
}

/* What stands behind the hello is not taken before there is an answer. */
TEST(question_hello, bytes_behind_it_stay_with_the_caller) {
  begin_long();
  Pair pair = long_pair();
  const size_t len = wire_waiting(pair.client.out);
  wire_insert(pair.client.out, "\x14\x03\x03\x00\x01\x01", 6); /* ChangeCipherSpec, which TLS 1.3 drops */
  EXPECT_STATUS(side_handshake(&pair.server), SST_WANT_CLIENT_HELLO);
  EXPECT_EQ(pair.client.out->taken, len);
  finishes(&pair, true);
  end_long();
}

TEST(question_hello, retry_asks_no_second_time) {
  sst_config *config = pair_config(&(SideOptions){.groups = {24}}, SST_ROLE_SERVER);
  Pair pair = pair_new(.client = {.groups = {29, 24}}, .server = {.no_config = true});
  Answers answers = {.server = {.config = config}};
  pair.server.chunk = 1;
  EXPECT_STATUS(answer_handshake(&pair, &answers), SST_OK);
  EXPECT_EQ(answers.server.questions, 1);
  EXPECT_EQ(info_of(&pair.server).group, 24);
  EXPECT_EQ(info_of(&pair.server).flags & SST_INFO_HELLO_RETRY, SST_INFO_HELLO_RETRY);
  pair_echo(&pair, 100);
  pair_free(&pair);
  sst_config_free(config);
}

/* ---- what is no ClientHello ---- */

static const struct {
  const char *bytes;
  size_t len;
} garbage[] = {
    {"GET / HTTP/1.1\r\n\r\n", 18},
    {"SSH-2.0-x\r\n", 11},
    {"\x80\x2e\x01\x03\x01", 5},                                              /* a ClientHello of SSLv2 */
    {"\x16\x03\x01\x00\x04\x02\x00\x00\x00", 9},                              /* ServerHello */
    {"\x16\x03\x01\x00\x08\x01\x00\x00\x04\x03\x03\x00\x00", 13},             /* cut in its random */
    {"\x16\x03\x01\xff\xff\x01", 6},                                          /* a record that is too long */
    {"\x16\x09\x01\x00\x04\x01\x00\x00\x00", 9},                              /* another major version */
    {"\x16\x03\x01\x00\x04\x01\xff\xff\xff", 9},                              /* a message that is too long */
    {"\x15\x03\x01\x00\x02\x02\x28", 7},                                      /* handshake_failure */
    {"\x15\x03\x01\x00\x02\x01\x00", 7},                                      /* close_notify */
    {"\x17\x03\x03\x00\x05hello", 10},                                        /* data */
    {"\x16\x03\x01\x00\x00\x16\x03\x01\x00\x00\x17\x03\x01\x00\x01\x00", 16}, /* empty records, then data */
};

static sst_error failure_by(const SideOptions *options, size_t i) {
  Wire *in = wire_new(), *out = wire_new();
  Side side = side_new(options, SST_ROLE_SERVER, in, out);
  wire_insert(in, garbage[i].bytes, garbage[i].len);
  EXPECT(side_handshake(&side) < 0);
  const sst_error error = error_of(&side);
  EXPECT_STATUS(side.status, error.code);
  EXPECT_EQ(out->len, error.alert_sent < 0 ? 0 : 7);
  if (out->len == 7) EXPECT_EQ(out->bytes[6], error.alert_sent);
  EXPECT_STATUS(sst_stream_set_config(side.stream, side.config),
                side.config ? SST_ERR_STATE : SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_reject(side.stream, -1), SST_ERR_STATE);
  sst_stream_free(side.stream);
  sst_config_free(side.config);
  wire_free(in);
  wire_free(out);
  return error;
}

TEST(question_hello, garbage_is_refused_as_with_a_config) {
  for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
    test_note("garbage %zu", i);
    const sst_error asked = failure_by(&(SideOptions){.no_config = true}, i), plain = failure_by(&(SideOptions){0}, i);
    const sst_error both = failure_by(&(SideOptions){.suspend = ASK_ALL}, i);
    EXPECT_STATUS(asked.code, plain.code);
    EXPECT_EQ(asked.alert_sent, plain.alert_sent);
    EXPECT_EQ(asked.alert_received, plain.alert_received);
    EXPECT_STRING(asked.message, plain.message);
    EXPECT_STATUS(both.code, plain.code);
  }
}

TEST(question_hello, end_of_input_before_it_is_the_end) {
  Pair pair = pair_new(.server = {.no_config = true});
  EXPECT_STATUS(side_handshake(&pair.client), SST_NEED_INPUT);
  wire_cut(pair.client.out, 100);
  EXPECT_STATUS(side_handshake(&pair.server), SST_NEED_INPUT);
  EXPECT_STATUS(sst_stream_input_eof(pair.server.stream), SST_OK);
  EXPECT_STATUS(side_handshake(&pair.server), SST_ERR_HANDSHAKE_EOF);
  EXPECT_EQ(pair.server.out->len, 0);
  pair_free(&pair);
}

/* The alert is not encrypted, and comes when a server has answered already, or seems to have. */
static sst_status given_up(uint16_t version, const SideOptions *server, sst_config *config) {
  Pair pair = pair_make(&(PairOptions){.client = {.max_version = version}, .server = *server});
  EXPECT_STATUS(side_handshake(&pair.client), SST_NEED_INPUT);
  const sst_status want = side_handshake(&pair.server);
  EXPECT_STATUS(sst_stream_abort(pair.client.stream, 90), SST_OK);
  EXPECT_STATUS(side_flush(&pair.client), SST_OK);
  if (config != NULL) {
    EXPECT_STATUS(want, SST_WANT_CLIENT_HELLO);
    EXPECT_STATUS(side_handshake(&pair.server), SST_WANT_CLIENT_HELLO);
    EXPECT_STATUS(sst_stream_set_config(pair.server.stream, config), SST_OK);
  }
  const sst_status status = side_handshake(&pair.server);
  pair_free(&pair);
  return status;
}

TEST_VERSIONS(question_hello, client_that_gives_up_meanwhile_is_heard_as_without_a_question) {
  sst_config *config = pair_config(&(SideOptions){0}, SST_ROLE_SERVER);
  const sst_status plain = given_up(version, &(SideOptions){.config = config}, NULL);
  EXPECT_STATUS(given_up(version, &(SideOptions){.no_config = true}, config), plain);
  if (version == SST_TLS1_2) EXPECT_STATUS(plain, SST_ERR_ALERT_RECEIVED - 90);
  EXPECT(plain < 0);
  sst_config_free(config);
}
