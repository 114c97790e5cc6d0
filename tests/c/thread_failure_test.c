/*
 * The record of a failure, read by one thread while another fails the stream.
 */
#include "pair.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ROUNDS = 2000 };

typedef struct Watch {
  sst_stream *_Atomic stream;
  atomic_int seen; /* rounds whose end the watcher has seen */
  sst_error last;
} Watch;

static void *watch(void *argument) {
  Watch *all = argument;
  for (int round = 0; round < ROUNDS; round++) {
    sst_stream *stream = NULL;
    while ((stream = atomic_load(&all->stream)) == NULL) {
    }
    sst_error error = {.size = sizeof error};
    do {
      EXPECT_STATUS(sst_stream_last_error(stream, &error), SST_OK);
    } while (error.code == SST_OK);
    all->last = error;
    atomic_store(&all->stream, NULL);
    atomic_fetch_add(&all->seen, 1);
  }
  return NULL;
}

/* A reader sees no failure, or this one: never the state of the one with the record of another. */
TEST(thread, failure_is_seen_with_its_own_record) {
  sst_config *config = sst_config_new();
  REQUIRE(config != NULL);
  EXPECT_STATUS(sst_config_set_verify(config, SST_VERIFY_NONE), SST_OK);
  static Watch all;
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, watch, &all) == 0);
  int wrong = 0;
  for (int round = 0; round < ROUNDS; round++) {
    sst_stream *stream = NULL;
    EXPECT_STATUS(sst_stream_new(config, SST_ROLE_CLIENT, &stream), SST_OK);
    atomic_store(&all.stream, stream);
    EXPECT_STATUS(sst_stream_abort(stream, 80), SST_OK);
    while (atomic_load(&all.seen) <= round) {
    }
    if (all.last.code != SST_ERR_ABORTED || all.last.alert_sent != 80) wrong++;
    sst_stream_free(stream);
  }
  EXPECT_EQ(wrong, 0);
  pthread_join(thread, NULL);
  sst_config_free(config);
}
