/*
 * Lengths above INT_MAX (R07): a length is a size_t up to PTRDIFF_MAX, and a call takes what it has room for.
 */
#include "pair.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ROOM = 65536, BODY = 81920 };

static const size_t lengths[] = {(size_t)1 << 31, ((size_t)1 << 31) + 5};

/* Zeros that cost nothing until they are touched. */
static uint8_t *lazy_zeros(size_t len) {
  void *zeros = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (zeros == MAP_FAILED) SKIP("no address space for %zu bytes", len);
  return zeros;
}

static void expect_part_taken(const sst_progress *done, size_t in_len) {
  EXPECT(done->consumed > 0 && done->consumed < in_len);
  EXPECT(done->produced > 0 && done->produced <= ROOM);
  EXPECT(done->needed > 0 && done->needed <= ROOM);
}

TEST_VERSIONS(record_large, encrypt_of_2_gib_takes_what_fits) {
  for (size_t i = 0; i < 2; i++) {
    Pair pair = pair_open(.client = {.max_version = version});
    uint8_t *zeros = lazy_zeros(lengths[i]), *out = test_allocate(ROOM);
    sst_progress done;
    EXPECT_STATUS(sst_stream_encrypt(pair.client.stream, zeros, lengths[i], out, ROOM, &done), SST_NEED_OUTPUT);
    expect_part_taken(&done, lengths[i]);

    wire_insert(pair.client.out, out, done.produced);
    EXPECT_STATUS(side_receive(&pair.server), SST_NEED_INPUT);
    EXPECT_RECEIVED(&pair.server, zeros, done.consumed);
    munmap(zeros, lengths[i]);
    free(out);
    pair_free(&pair);
  }
}

/* Records of 80 KiB of data at the begin of the region. */
static size_t put_records(Pair *pair, uint8_t *region) {
  uint8_t *body = test_allocate(BODY);
  pattern_fill(body, BODY, 3);
  const size_t from = pair->client.out->len;
  EXPECT_STATUS(side_send(&pair->client, body, BODY), SST_OK);
  const size_t len = pair->client.out->len - from;
  memcpy(region, pair->client.out->bytes + from, len);
  free(body);
  return len;
}

TEST_VERSIONS(record_large, decrypt_of_2_gib_gives_what_fits) {
  for (size_t i = 0; i < 2; i++) {
    Pair pair = pair_open(.client = {.max_version = version});
    uint8_t *region = lazy_zeros(lengths[i]), *out = test_allocate(ROOM), *body = test_allocate(BODY);
    put_records(&pair, region);
    sst_progress done;
    EXPECT_STATUS(sst_stream_decrypt(pair.server.stream, region, lengths[i], out, ROOM, &done), SST_NEED_OUTPUT);
    expect_part_taken(&done, lengths[i]);
    pattern_fill(body, BODY, 3);
    EXPECT_BYTES(out, done.produced, body, done.produced);
    munmap(region, lengths[i]);
    free(out);
    free(body);
    pair_free(&pair);
  }
}

TEST_VERSIONS(record_large, decrypt_in_place_of_2_gib_opens_what_the_ranges_take) {
  Pair pair = pair_open(.client = {.max_version = version});
  uint8_t *region = lazy_zeros(lengths[1]), *body = test_allocate(BODY);
  const size_t len = put_records(&pair, region);
  sst_range ranges[5];
  size_t used = 0, at = 0;
  sst_progress done;
  EXPECT_STATUS(sst_stream_decrypt_in_place(pair.server.stream, region, lengths[1], ranges, 5, &used, &done),
                SST_NEED_OUTPUT);
  EXPECT_EQ(used, 5);
  EXPECT_EQ(done.consumed, len);
  EXPECT_EQ(done.produced, BODY);
  pattern_fill(body, BODY, 3);
  for (size_t i = 0; i < used; at += ranges[i++].length)
    EXPECT_BYTES(region + ranges[i].offset, ranges[i].length, body + at, ranges[i].length);
  munmap(region, lengths[1]);
  free(body);
  pair_free(&pair);
}

/* The handshake takes its flight and leaves the rest of the region. */
TEST_VERSIONS(record_large, handshake_of_2_gib_takes_the_flight) {
  Pair pair = pair_new(.client = {.max_version = version});
  side_handshake(&pair.client);
  side_handshake(&pair.server);
  const size_t flight = wire_waiting(pair.client.in);
  uint8_t *region = lazy_zeros(lengths[1]), *out = test_allocate(ROOM);
  memcpy(region, wire_head(pair.client.in), flight);
  sst_progress done;
  EXPECT_STATUS(sst_stream_handshake(pair.client.stream, region, flight, out, ROOM, &done),
                version == SST_TLS1_3 ? SST_OK : SST_NEED_INPUT);
  EXPECT_EQ(done.consumed, flight);
  wire_drop(pair.client.in);
  wire_write(pair.client.out, out, done.produced);
  const size_t second = wire_waiting(pair.server.in);
  memcpy(region, wire_head(pair.server.in), second);
  EXPECT_STATUS(sst_stream_handshake(pair.server.stream, region, lengths[1], out, ROOM, &done), SST_OK);
  EXPECT_EQ(done.consumed, second);
  munmap(region, lengths[1]);
  free(out);
  pair_free(&pair);
}

/* Above PTRDIFF_MAX there is no such buffer. Nothing is touched. */
TEST_VERSIONS(record_large, length_above_ptrdiff_max_is_invalid_argument) {
  Pair pair = pair_open(.client = {.max_version = version});
  sst_stream *stream = pair.client.stream;
  uint8_t in[8] = {0}, out[8];
  const size_t too_large[] = {SIZE_MAX - 1, SIZE_MAX, (size_t)PTRDIFF_MAX + 1};
  for (size_t i = 0; i < sizeof too_large / sizeof *too_large; i++) {
    const size_t n = too_large[i];
    sst_progress done;
    sst_range range;
    size_t used = 7;
    EXPECT_STATUS(sst_stream_encrypt(stream, in, n, out, sizeof out, &done), SST_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(sst_stream_encrypt(stream, in, sizeof in, out, n, &done), SST_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(sst_stream_decrypt(stream, in, n, out, sizeof out, &done), SST_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(sst_stream_handshake(stream, in, n, out, sizeof out, &done), SST_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(sst_stream_encrypt2(stream, in, n / 2 + 1, in, n / 2 + 1, out, sizeof out, &done),
                  SST_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(sst_stream_decrypt_in_place(stream, in, n, &range, 1, &used, &done), SST_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(used, 0);
    EXPECT_EQ(done.consumed + done.produced + done.needed + done.waiting + done.flags, 0);
    EXPECT_EQ(sst_stream_encrypted_size(stream, n) >= n, true);
  }
  pair_echo(&pair, 10);
  pair_free(&pair);
}

/* The size that is always enough does not wrap. */
TEST_VERSIONS(record_large, encrypted_size_saturates) {
  Pair pair = pair_open(.client = {.max_version = version});
  EXPECT(sst_stream_encrypted_size(pair.client.stream, SIZE_MAX) == SIZE_MAX);
  size_t last = 0;
  for (size_t n = 1; n < SIZE_MAX / 2; n *= 2) {
    const size_t size = sst_stream_encrypted_size(pair.client.stream, n);
    EXPECT(size > n && size > last);
    last = size;
  }
  pair_free(&pair);
}
