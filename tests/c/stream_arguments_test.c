/*
 * Wrong arguments, for every call that moves bytes: the same answer, a progress of zeros, and a stream that goes on as
 * if nothing had been.
 */
#include "pair.h"

#include <string.h>

enum { SIZE = 256 };
#define TOO_LONG ((size_t)PTRDIFF_MAX + 1)

typedef struct Arguments {
  const uint8_t *in;
  size_t in_len;
  uint8_t *out;
  size_t out_cap;
} Arguments;

typedef sst_status (*Function)(sst_stream *stream, const Arguments *arguments, sst_progress *progress);

static sst_status handshake(sst_stream *stream, const Arguments *a, sst_progress *progress) {
  return sst_stream_handshake(stream, a->in, a->in_len, a->out, a->out_cap, progress);
}

static sst_status encrypt(sst_stream *stream, const Arguments *a, sst_progress *progress) {
  return sst_stream_encrypt(stream, a->in, a->in_len, a->out, a->out_cap, progress);
}

static sst_status encrypt2_head(sst_stream *stream, const Arguments *a, sst_progress *progress) {
  return sst_stream_encrypt2(stream, a->in, a->in_len, NULL, 0, a->out, a->out_cap, progress);
}

static sst_status encrypt2_body(sst_stream *stream, const Arguments *a, sst_progress *progress) {
  return sst_stream_encrypt2(stream, (const uint8_t *)"head", 4, a->in, a->in_len, a->out, a->out_cap, progress);
}

static sst_status encryptv(sst_stream *stream, const Arguments *a, sst_progress *progress) {
  const sst_slice slices[] = {{(const uint8_t *)"head", 4}, {NULL, 0}, {a->in, a->in_len}};
  return sst_stream_encryptv(stream, slices, 3, a->out, a->out_cap, progress);
}

static sst_status decrypt(sst_stream *stream, const Arguments *a, sst_progress *progress) {
  return sst_stream_decrypt(stream, a->in, a->in_len, a->out, a->out_cap, progress);
}

static sst_status flush(sst_stream *stream, const Arguments *a, sst_progress *progress) {
  return sst_stream_flush(stream, a->out, a->out_cap, progress);
}

static sst_status close(sst_stream *stream, const Arguments *a, sst_progress *progress) {
  return sst_stream_close(stream, a->out, a->out_cap, progress);
}

static const struct {
  const char *name;
  Function call;
  bool takes_input;
} functions[] = {{"handshake", handshake, true},
                 {"encrypt", encrypt, true},
                 {"encrypt2 head", encrypt2_head, true},
                 {"encrypt2 body", encrypt2_body, true},
                 {"encryptv", encryptv, true},
                 {"decrypt", decrypt, true},
                 {"flush", flush, false},
                 {"close", close, false}};

enum { NUM_FUNCTIONS = sizeof functions / sizeof *functions };

static void refuses(sst_stream *stream, size_t function, const char *what, Arguments arguments) {
  test_note("%s, %s", functions[function].name, what);
  const sst_progress zero = {0};
  sst_progress progress;
  memset(&progress, 0xa5, sizeof progress);
  const uint32_t state = stream == NULL ? 0 : sst_stream_state(stream);
  EXPECT_STATUS(functions[function].call(stream, &arguments, &progress), SST_ERR_INVALID_ARGUMENT);
  EXPECT_BYTES(&progress, sizeof progress, &zero, sizeof zero);
  EXPECT_EQ(sst_stream_state(stream), state);
}

static void refuses_all(sst_stream *stream, size_t function) {
  static uint8_t buffer[2 * SIZE], other[SIZE];
  if (functions[function].takes_input) {
    refuses(stream, function, "NULL in", (Arguments){NULL, 1, other, SIZE});
    refuses(stream, function, "in too long", (Arguments){buffer, TOO_LONG, other, SIZE});
    refuses(stream, function, "in far too long", (Arguments){buffer, SIZE_MAX, other, SIZE});
    refuses(stream, function, "in too long by one bit", (Arguments){buffer, SIZE_MAX - 1, other, SIZE});
    refuses(stream, function, "in is out", (Arguments){buffer, SIZE, buffer, SIZE});
    refuses(stream, function, "in begins in out", (Arguments){buffer + SIZE - 1, SIZE, buffer, SIZE});
    refuses(stream, function, "out begins in in", (Arguments){buffer, SIZE, buffer + SIZE - 1, SIZE});
    refuses(stream, function, "in lies in out", (Arguments){buffer + 10, 1, buffer, SIZE});
    refuses(stream, function, "out lies in in", (Arguments){buffer, SIZE, buffer + 10, 1});
  }
  refuses(stream, function, "NULL out", (Arguments){NULL, 0, NULL, 1});
  refuses(stream, function, "out too long", (Arguments){NULL, 0, other, TOO_LONG});
  refuses(stream, function, "out far too long", (Arguments){NULL, 0, other, SIZE_MAX});
  refuses(NULL, function, "NULL stream", (Arguments){NULL, 0, other, SIZE});
  test_note("%s, NULL progress", functions[function].name);
  EXPECT_STATUS(functions[function].call(stream, &(Arguments){NULL, 0, other, SIZE}, NULL), SST_ERR_INVALID_ARGUMENT);
}

/* Before the first byte, and in an open stream: arguments are looked at before the state. */
TEST_VERSIONS(stream_arguments, wrong_ones_are_refused_in_every_state) {
  Pair pair = pair_new(.client = {.max_version = version});
  for (size_t i = 0; i < NUM_FUNCTIONS; i++)
    refuses_all(pair.client.stream, i);
  test_note(NULL);
  REQUIRE_STATUS(pair_handshake(&pair), SST_OK);
  for (size_t i = 0; i < NUM_FUNCTIONS; i++) {
    refuses_all(pair.client.stream, i);
    refuses_all(pair.server.stream, i);
  }
  test_note(NULL);
  pair_echo(&pair, 1000);
  pair_free(&pair);
}

/* Buffers that touch, and empty ones anywhere, do not overlap. */
TEST_VERSIONS(stream_arguments, touching_and_empty_buffers_are_fine) {
  Pair pair = pair_open(.client = {.max_version = version});
  uint8_t buffer[2 * SIZE] = {0};
  sst_progress done;
  sst_stream *stream = pair.client.stream;
  EXPECT_STATUS(sst_stream_encrypt(stream, buffer, 100, buffer + 100, SIZE, &done), SST_OK);
  wire_write(pair.client.out, buffer + 100, done.produced);
  EXPECT_STATUS(sst_stream_encrypt(stream, buffer + SIZE, 100, buffer, SIZE, &done), SST_OK);
  wire_write(pair.client.out, buffer, done.produced);
  EXPECT_STATUS(sst_stream_encrypt(stream, buffer + 10, 0, buffer, SIZE, &done), SST_OK);
  EXPECT_EQ(done.produced, 0);
  EXPECT_STATUS(side_receive(&pair.server), SST_NEED_INPUT);
  EXPECT_EQ(pair.server.received_len, 200);
  pair_free(&pair);
}

/* NULL with 0 is an empty buffer for every call, and asks for nothing where there is nothing. */
TEST_VERSIONS(stream_arguments, null_with_zero_is_an_empty_buffer) {
  Pair pair = pair_open(.client = {.max_version = version});
  const sst_status expected[NUM_FUNCTIONS] = {SST_OK,          SST_OK,         SST_OK, SST_NEED_OUTPUT,
                                              SST_NEED_OUTPUT, SST_NEED_INPUT, SST_OK, SST_NEED_OUTPUT};
  for (size_t i = 0; i < NUM_FUNCTIONS; i++) {
    test_note("%s", functions[i].name);
    sst_progress done;
    const Arguments empty = {NULL, 0, NULL, 0};
    EXPECT_STATUS(functions[i].call(pair.client.stream, &empty, &done), expected[i]);
    EXPECT_EQ(done.consumed, 0);
    EXPECT_EQ(done.produced, 0);
  }
  pair_free(&pair);
}

/* Slices: an array that is not there, a slice that is not there, and lengths that are too long in all. */
TEST(stream_arguments, slices_are_checked_one_by_one_and_in_sum) {
  Pair pair = pair_open();
  sst_stream *stream = pair.client.stream;
  uint8_t buffer[SIZE + 64] = {0}, *out = buffer, *bytes = buffer + SIZE; /* no length from bytes on reaches out */
  sst_progress done;
  EXPECT_STATUS(sst_stream_encryptv(stream, NULL, 1, out, SIZE, &done), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_encryptv(stream, NULL, 0, out, SIZE, &done), SST_OK);
  const sst_slice missing[] = {{bytes, 1}, {NULL, 1}};
  EXPECT_STATUS(sst_stream_encryptv(stream, missing, 2, out, SIZE, &done), SST_ERR_INVALID_ARGUMENT);
  const sst_slice sum[] = {{bytes, PTRDIFF_MAX}, {bytes, PTRDIFF_MAX}, {bytes, 3}};
  EXPECT_STATUS(sst_stream_encryptv(stream, sum, 3, out, SIZE, &done), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_encrypt2(stream, bytes, PTRDIFF_MAX, bytes, PTRDIFF_MAX, out, SIZE, &done),
                SST_ERR_INVALID_ARGUMENT);
  const sst_slice inside[] = {{bytes, 1}, {out + 10, 1}};
  EXPECT_STATUS(sst_stream_encryptv(stream, inside, 2, out, SIZE, &done), SST_ERR_INVALID_ARGUMENT);
  pair_echo(&pair, 100);
  pair_free(&pair);
}

static sst_status in_place(sst_stream *stream, uint8_t *buf, size_t len, sst_range *ranges, size_t num, size_t *used,
                           sst_progress *done) {
  return sst_stream_decrypt_in_place(stream, buf, len, ranges, num, used, done);
}

TEST_VERSIONS(stream_arguments, decrypt_in_place_refuses_wrong_ones) {
  Pair pair = pair_open(.client = {.max_version = version});
  sst_stream *stream = pair.client.stream;
  uint8_t buf[64] = {0};
  sst_range ranges[4];
  size_t used = 7;
  sst_progress done;
  EXPECT_STATUS(in_place(NULL, buf, 0, ranges, 4, &used, &done), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(in_place(stream, NULL, 1, ranges, 4, &used, &done), SST_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(used, 0);
  EXPECT_STATUS(in_place(stream, buf, TOO_LONG, ranges, 4, &used, &done), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(in_place(stream, buf, 0, NULL, 4, &used, &done), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(in_place(stream, buf, 0, ranges, 4, NULL, &done), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(in_place(stream, buf, 0, ranges, 4, &used, NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(in_place(stream, NULL, 0, NULL, 0, &used, &done), SST_NEED_INPUT);
  EXPECT_EQ(used, 0);
  pair_echo(&pair, 100);
  pair_free(&pair);
}

/* What is set before the first byte is refused later, in every state. */
TEST_VERSIONS(stream_arguments, setters_after_the_first_byte_are_err_state) {
  Pair pair = pair_new(.client = {.max_version = version});
  side_handshake(&pair.client);
  for (int round = 0; round < 2; round++) {
    sst_stream *stream = pair.client.stream;
    EXPECT_STATUS(sst_stream_set_options(stream, SST_OPTION_LEAVE_PARTIAL), SST_ERR_STATE);
    EXPECT_STATUS(sst_stream_set_server_name(stream, "a.test", 6), SST_ERR_STATE);
    EXPECT_STATUS(sst_stream_set_verify_name(stream, "a.test", 6), SST_ERR_STATE);
    EXPECT_STATUS(sst_stream_set_verify_time(stream, 0), SST_ERR_STATE);
    EXPECT_STATUS(sst_stream_set_max_fragment(stream, 512), SST_ERR_STATE);
    if (round == 0) EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  }
  pair_free(&pair);
}

TEST(stream_arguments, setters_refuse_wrong_values) {
  Pair pair = pair_new();
  sst_stream *stream = pair.client.stream;
  EXPECT_STATUS(sst_stream_set_options(stream, 2), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_options(stream, UINT32_MAX), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_options(stream, 0), SST_OK);
  EXPECT_STATUS(sst_stream_set_max_fragment(stream, 511), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_max_fragment(stream, 16385), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_max_fragment(stream, 512), SST_OK);
  EXPECT_STATUS(sst_stream_set_max_fragment(stream, 16384), SST_OK);
  EXPECT_STATUS(sst_stream_set_server_name(stream, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_verify_name(stream, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_server_name(stream, "x", TOO_LONG), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_options(NULL, 0), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_verify_time(NULL, 0), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_max_fragment(NULL, 512), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_server_name(NULL, "x", 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_set_verify_name(NULL, "x", 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_input_eof(NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  pair_free(&pair);
}
