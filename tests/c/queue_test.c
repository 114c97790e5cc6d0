/* White-box: bytes that wait for room keep their order whatever the rooms, and no memory stays behind. */
#include "queue.h"

#include <string.h>

#include "securestream.h"
#include "test.h"

enum { BYTES = 5000 };

static void fill(uint8_t *bytes, size_t size, size_t from) {
  for (size_t i = 0; i < size; i++)
    bytes[i] = (uint8_t)((from + i) * 7 + (from + i) / 256);
}

TEST(queue, bytes_come_out_in_order_in_pieces_of_any_size) {
  const uint64_t before = sst_allocated_bytes();
  for (size_t room = 1; room <= 700; room += room < 10 ? 1 : 83) {
    sst__queue queue = {.data = NULL};
    size_t in = 0, out = 0;
    for (size_t piece = 1; in < BYTES; piece = piece % 611 + 37) {
      uint8_t bytes[700], got[700], expected[700];
      const size_t size = piece < BYTES - in ? piece : BYTES - in;
      fill(bytes, size, in);
      REQUIRE(sst__queue_add(&queue, bytes, size));
      in += size;
      const size_t taken = sst__queue_take(&queue, got, room);
      fill(expected, taken, out);
      EXPECT(memcmp(got, expected, taken) == 0);
      out += taken;
      EXPECT_EQ(sst__queue_size(&queue), in - out);
    }
    uint8_t got[700], expected[700];
    for (size_t taken; (taken = sst__queue_take(&queue, got, room)) > 0; out += taken) {
      fill(expected, taken, out);
      EXPECT(memcmp(got, expected, taken) == 0);
    }
    EXPECT_EQ(out, BYTES);
    EXPECT(queue.data == NULL); /* the memory goes with the last byte */
  }
  EXPECT_EQ(sst_allocated_bytes(), before);
}

/* The caller's room comes first, but never before bytes that wait already. */
TEST(queue, output_fills_the_room_and_queues_the_rest) {
  uint8_t room[10];
  sst__queue queue = {.data = NULL};
  sst__output out = {.data = room, .cap = sizeof room, .queue = &queue};
  EXPECT(sst__output_write(&out, (const uint8_t *)"abcdef", 6));
  EXPECT_EQ(sst__output_room(&out), 4);
  EXPECT(sst__output_write(&out, (const uint8_t *)"ghijkl", 6));
  EXPECT_EQ(out.used, 10);
  EXPECT_EQ(sst__queue_size(&queue), 2);
  EXPECT(memcmp(room, "abcdefghij", 10) == 0);

  uint8_t more[3];
  sst__output next = {.data = more, .cap = sizeof more, .queue = &queue};
  EXPECT_EQ(sst__output_room(&next), 0); /* what waits goes first */
  EXPECT(sst__output_write(&next, (const uint8_t *)"mn", 2));
  EXPECT_EQ(next.used, 0);
  EXPECT(!sst__output_drain(&next));
  EXPECT(memcmp(more, "klm", 3) == 0);
  sst__output last = {.data = more, .cap = sizeof more, .queue = &queue};
  EXPECT(sst__output_drain(&last));
  EXPECT_EQ(last.used, 1);
  EXPECT_EQ(more[0], 'n');
}

TEST(queue, nothing_to_add_or_take_changes_nothing) {
  sst__queue queue = {.data = NULL};
  EXPECT(sst__queue_add(&queue, NULL, 0));
  EXPECT(queue.data == NULL);
  EXPECT_EQ(sst__queue_take(&queue, NULL, 0), 0);
  EXPECT(sst__queue_add(&queue, (const uint8_t *)"x", 1));
  EXPECT_EQ(sst__queue_take(&queue, NULL, 0), 0);
  EXPECT_EQ(sst__queue_size(&queue), 1);
  EXPECT(!sst__queue_add(&queue, (const uint8_t *)"x",
                         SIZE_MAX - 8)); /* a size that would wrap: refused before it is read */
  EXPECT_EQ(sst__queue_size(&queue), 1);
  sst__queue_free(&queue);
}
