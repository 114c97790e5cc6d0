#include "faults.h"

#include <inttypes.h>
#include <stdio.h>

#include "allocations.h"

typedef struct Held {
  uint64_t objects, bytes;
  int64_t blocks;
} Held;

static Held held_now(void) {
  return (Held){sst_live_objects(), sst_allocated_bytes(), heap_now().blocks};
}

static void expect_nothing_left(const Held *before) {
  const Held after = held_now();
  EXPECT_EQ(after.objects, before->objects);
  EXPECT_EQ(after.bytes, before->bytes);
  REQUIRE_EQ(after.blocks, before->blocks);
}

/* n 0: none fails. Returns whether the n-th was reached. */
static bool run_once(const Faults *faults, uint64_t n, bool later_too, uint64_t *refused) {
  test_note("%s, allocation %" PRIu64 "%s", faults->name, n, later_too ? " and all later ones" : "");
  const Held before = held_now();
  if (faults->prepare != NULL) faults->prepare(faults->context);
  if (later_too) {
    allocations_fail_from(n);
  } else {
    allocations_fail_at(n);
  }
  const sst_status status = faults->run(faults->context);
  const bool hit = allocations_hit();
  if (status == SST_ERR_NO_MEMORY) {
    EXPECT(hit);
    ++*refused;
  } else {
    EXPECT_STATUS(status, faults->expected);
  }
  faults->check(faults->context, status);
  expect_nothing_left(&before);
  return hit;
}

void faults_each(const Faults *faults) {
  if (!allocations_are_wrapped()) SKIP("malloc is not wrapped in this build");
  uint64_t refused[2] = {0, 0}, count = 0, none = 0;
  faults->prepare != NULL ? faults->prepare(faults->context) : (void)0;
  faults->check(faults->context, faults->run(faults->context)); /* what is made once in a process is made here */
  (void)run_once(faults, 0, false, &none);
  for (int later_too = 0; later_too < 2; later_too++) {
    for (count = 1; run_once(faults, count, later_too != 0, &refused[later_too]); count++)
      continue;
    EXPECT_AT_LEAST(refused[later_too], 1);
  }
  EXPECT_EQ(none, 0);
  test_note(NULL);
  printf("%s: %" PRIu64 " allocations; no memory at %" PRIu64 " of them, from %" PRIu64 " of them on\n", faults->name,
         count - 1, refused[0], refused[1]);
}
