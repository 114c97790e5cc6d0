/* White-box: the AEAD reads the caller's slices where they lie, and writes to the caller's room: no plaintext is copied
   in between, but where a copy costs less (few bytes, or more slices than it takes at once). */
#include <stdlib.h>

#include "aead_input.h"
#include "pair.h"
#include "tls/internal.h"

enum { MOST_SLICES = 40, LEN = 12000, WIRE = SST_RECORD_MAX, FEW = 256, MOST_GATHERED = 32 };

typedef struct Gather {
  Pair pair;
  uint8_t data[LEN], wire[WIRE];
  sst_slice slices[2 * MOST_SLICES]; /* every other one is empty */
  size_t content;                    /* pieces behind the data: the content type of TLS 1.3 */
} Gather;

static Gather *gather_new(uint16_t version) {
  if (sst__keeps_ssl()) SKIP("BoringSSL takes one piece");
  Gather *gather = test_allocate(sizeof *gather);
  gather->pair = pair_open(.client = {.max_version = version});
  gather->content = version == SST_TLS1_3 ? 1 : 0;
  pattern_fill(gather->data, LEN, 5);
  return gather;
}

static void gather_free(Gather *gather) {
  pair_free(&gather->pair);
  free(gather);
}

static void expect_arrived(Gather *gather, size_t produced, size_t len) {
  wire_write(gather->pair.client.out, gather->wire, produced);
  EXPECT_STATUS(side_receive(&gather->pair.server), SST_NEED_INPUT);
  EXPECT_RECEIVED(&gather->pair.server, gather->data, len);
}

/* One record of len bytes in count slices, and empty ones between them. */
static void encrypt_slices(Gather *gather, size_t count, size_t len) {
  sst_progress done;
  for (size_t i = 0; i < count; i++) {
    const size_t begin = i * len / count, end = (i + 1) * len / count;
    gather->slices[2 * i] = (sst_slice){gather->data + begin, end - begin};
    gather->slices[2 * i + 1] = (sst_slice){NULL, 0};
  }
  aead_input_forget();
  EXPECT_STATUS(sst_stream_encryptv(gather->pair.client.stream, gather->slices, 2 * count, gather->wire, WIRE, &done),
                SST_OK);
  EXPECT_EQ(aead_input()->calls, 1);
  expect_arrived(gather, done.produced, len);
}

TEST_VERSIONS(record_gather, slices_are_sealed_from_where_they_lie) {
  static const size_t counts[] = {1, 2, 3, 7, 31, MOST_GATHERED};
  Gather *gather = gather_new(version);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    for (size_t len = FEW + 1; len <= LEN; len = len < LEN ? (len * 6 < LEN ? len * 6 : LEN) : LEN + 1) {
      test_note("%zu bytes in %zu slices", len, counts[i]);
      encrypt_slices(gather, counts[i], len);
      REQUIRE_EQ(aead_input()->num, counts[i] + gather->content);
      const uint8_t *out = aead_input()->piece[0].out;
      EXPECT(out > gather->wire && out < gather->wire + 16);
      for (size_t k = 0; k < counts[i]; k++) {
        EXPECT(aead_input()->piece[k].in == gather->slices[2 * k].data);
        EXPECT(aead_input()->piece[k].out == out);
        EXPECT_EQ(aead_input()->piece[k].len, gather->slices[2 * k].length);
        out += gather->slices[2 * k].length;
      }
    }
  }
  gather_free(gather);
}

/* Data in one piece, head and body, and a call that makes several records. */
TEST_VERSIONS(record_gather, plain_data_is_sealed_from_where_it_lies) {
  Gather *gather = gather_new(version);
  sst_stream *stream = gather->pair.client.stream;
  sst_progress done;
  aead_input_forget();
  EXPECT_STATUS(sst_stream_encrypt(stream, gather->data, LEN, gather->wire, WIRE, &done), SST_OK);
  EXPECT_EQ(aead_input()->num, 1 + gather->content);
  EXPECT(aead_input()->piece[0].in == gather->data);
  expect_arrived(gather, done.produced, LEN);
  EXPECT_STATUS(sst_stream_encrypt2(stream, gather->data, 9, gather->data + 9, LEN - 9, gather->wire, WIRE, &done),
                SST_OK);
  EXPECT_EQ(aead_input()->num, 2 + gather->content);
  EXPECT(aead_input()->piece[0].in == gather->data);
  EXPECT(aead_input()->piece[1].in == gather->data + 9);
  expect_arrived(gather, done.produced, LEN);
  EXPECT_EQ(aead_input()->calls, 2);
  gather_free(gather);
}

/* What is joined lies in the room already, with the content type behind it, and is sealed in place. */
TEST_VERSIONS(record_gather, few_bytes_and_many_slices_are_joined_in_the_room) {
  static const size_t counts[] = {1, 3, MOST_GATHERED + 1, MOST_SLICES}, lens[] = {FEW, FEW, LEN, FEW + 1};
  Gather *gather = gather_new(version);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    test_note("%zu bytes in %zu slices", lens[i], counts[i]);
    encrypt_slices(gather, counts[i], lens[i]);
    EXPECT_EQ(aead_input()->num, 1);
    EXPECT(aead_input()->piece[0].in == aead_input()->piece[0].out);
    EXPECT_EQ(aead_input()->piece[0].len, lens[i] + gather->content);
    EXPECT(aead_input()->piece[0].in > gather->wire && aead_input()->piece[0].in < gather->wire + 16);
  }
  gather_free(gather);
}
