/* White-box: no call of an open stream takes the stream's lock on our own record path: another thread holds it all the
   while. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "channel.h"
#include "pair.h"
#include "stream.h"
#include "tls/internal.h"

enum { LEN = 300, PATIENCE_S = 20 };

typedef struct Calls {
  Pair pair;
  uint16_t version;
  const char *_Atomic doing; /* NULL: all is done */
} Calls;

static void decrypt_in_place(Side *side) {
  sst_range range;
  size_t used = 0;
  sst_progress done;
  uint8_t *wire = test_allocate(wire_waiting(side->in));
  for (size_t i = 0; i < wire_waiting(side->in); i++)
    wire[i] = wire_head(side->in)[i];
  EXPECT_STATUS(sst_stream_decrypt_in_place(side->stream, wire, wire_waiting(side->in), &range, 1, &used, &done),
                SST_NEED_INPUT);
  EXPECT_EQ(range.length, LEN);
  side->in->taken += done.consumed;
  free(wire);
}

/* Each call there is of an open stream, and both ways to its end. */
static void *run_calls(void *argument) {
  Calls *calls = argument;
  Side *client = &calls->pair.client, *server = &calls->pair.server;
  uint8_t data[LEN];
  pattern_fill(data, LEN, 7);
  atomic_store(&calls->doing, "encrypt");
  EXPECT_STATUS(side_call(client, CALL_ENCRYPT, data, LEN, 2 * LEN), SST_OK);
  atomic_store(&calls->doing, "decrypt");
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  EXPECT_RECEIVED(server, data, LEN);
  EXPECT_STATUS(side_call(server, CALL_ENCRYPT, data, LEN, 2 * LEN), SST_OK);
  atomic_store(&calls->doing, "decrypt_in_place");
  decrypt_in_place(client);
  atomic_store(&calls->doing, "key_update");
  EXPECT_STATUS(sst_stream_key_update(client->stream, 1), calls->version == SST_TLS1_3 ? SST_OK : SST_ERR_UNSUPPORTED);
  atomic_store(&calls->doing, "flush");
  EXPECT_STATUS(side_flush(client), SST_OK);
  atomic_store(&calls->doing, "close");
  EXPECT_STATUS(side_close(client), SST_OK);
  EXPECT_STATUS(side_receive(server), SST_CLOSED);
  atomic_store(&calls->doing, "input_eof");
  EXPECT_STATUS(sst_stream_input_eof(server->stream), SST_OK);
  atomic_store(&calls->doing, "abort");
  EXPECT_STATUS(sst_stream_abort(server->stream, 80), SST_OK);
  EXPECT_STATUS(side_flush(server), SST_OK);
  EXPECT_STATUS(side_receive(client), SST_ERR_ALERT_RECEIVED - 80);
  atomic_store(&calls->doing, NULL);
  return NULL;
}

TEST_VERSIONS(record_lock, every_call_is_done_while_another_thread_holds_the_lock) {
  if (sst__keeps_ssl()) SKIP("BoringSSL's SSL needs the lock");
  Calls calls = {.pair = pair_open(.client = {.max_version = version}), .version = version, .doing = "nothing yet"};
  sst_stream *streams[] = {calls.pair.client.stream, calls.pair.server.stream};
  for (int i = 0; i < 2; i++)
    pthread_mutex_lock(&streams[i]->lock);
  pthread_t thread = thread_start(run_calls, &calls);
  const double until = seconds_now() + PATIENCE_S;
  const char *doing;
  while ((doing = atomic_load(&calls.doing)) != NULL && seconds_now() < until)
    sched_yield();
  if (doing != NULL) printf("it waits for the lock in %s\n", doing);
  EXPECT(doing == NULL);
  for (int i = 0; i < 2; i++)
    pthread_mutex_unlock(&streams[i]->lock);
  thread_join(thread);
  pair_free(&calls.pair);
}
