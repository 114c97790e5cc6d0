#include "lane.h"

#include <stdlib.h>
#include <string.h>

#include "pair.h"

Lane lane_new(sst_stream *from, sst_stream *to, size_t len) {
  Lane lane = {.from = from, .to = to, .len = len};
  lane.wire_cap = sst_stream_encrypted_size(from, len);
  lane.read_cap = len + SST_RECORD_MAX;
  lane.plain = test_allocate(len);
  lane.wire = test_allocate(lane.wire_cap);
  lane.read = test_allocate(lane.read_cap);
  pattern_fill(lane.plain, len, 1);
  return lane;
}

void lane_free(Lane *lane) {
  free(lane->plain);
  free(lane->wire);
  free(lane->read);
}

static bool failed(Lane *lane, const char *call, sst_status status) {
  lane->call = call;
  lane->status = status;
  return false;
}

bool lane_move(Lane *lane) {
  sst_progress done;
  sst_status status = sst_stream_encrypt(lane->from, lane->plain, lane->len, lane->wire, lane->wire_cap, &done);
  if (status != SST_OK) return failed(lane, "encrypt", status);
  status = sst_stream_decrypt(lane->to, lane->wire, done.produced, lane->read, lane->read_cap, &done);
  return (status == SST_NEED_INPUT && done.produced == lane->len) || failed(lane, "decrypt", status);
}

bool lane_read_nothing(Lane *lane) {
  sst_progress done;
  const sst_status status = sst_stream_decrypt(lane->to, NULL, 0, lane->read, lane->read_cap, &done);
  return status == SST_NEED_INPUT || failed(lane, "decrypt", status);
}

void lane_fail(const Lane *lane) {
  FAIL("%s gave %s", lane->call, sst_status_name(lane->status));
}

void lane_check(Lane *lane) {
  REQUIRE(memcmp(lane->plain, lane->read, lane->len) == 0);
  memset(lane->read, 0, lane->len);
}
