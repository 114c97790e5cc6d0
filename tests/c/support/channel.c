#include "channel.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test.h"

enum { CAP = 1 << 18, PATIENCE_S = 60 };

void channel_init(Channel *channel) {
  *channel = (Channel){.bytes = test_allocate(CAP)};
  pthread_mutex_init(&channel->lock, NULL);
  pthread_cond_init(&channel->changed, NULL);
}

void channel_destroy(Channel *channel) {
  pthread_mutex_destroy(&channel->lock);
  pthread_cond_destroy(&channel->changed);
  free(channel->bytes);
}

/* Under the lock; false: nobody has moved for a long time. */
static bool wait_for_change(Channel *channel) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE_S;
  if (pthread_cond_timedwait(&channel->changed, &channel->lock, &until) == 0) return true;
  if (!channel->stalled) EXPECT(!"a thread waits for ever");
  channel->stalled = true;
  return false;
}

void channel_put(Channel *channel, const uint8_t *bytes, size_t len) {
  pthread_mutex_lock(&channel->lock);
  for (size_t put = 0; put < len && !channel->stalled;) {
    if (channel->begin == channel->end) channel->begin = channel->end = 0;
    const size_t room = CAP - channel->end, part = len - put < room ? len - put : room;
    if (part > 0) memcpy(channel->bytes + channel->end, bytes + put, part);
    channel->end += part;
    put += part;
    pthread_cond_broadcast(&channel->changed);
    if (put < len && channel->begin < channel->end) wait_for_change(channel);
  }
  pthread_mutex_unlock(&channel->lock);
}

void channel_close(Channel *channel) {
  pthread_mutex_lock(&channel->lock);
  channel->closed = true;
  pthread_cond_broadcast(&channel->changed);
  pthread_mutex_unlock(&channel->lock);
}

size_t channel_take(Channel *channel, uint8_t *out, size_t cap) {
  pthread_mutex_lock(&channel->lock);
  while (channel->begin == channel->end && !channel->closed && !channel->stalled)
    wait_for_change(channel);
  const size_t waiting = channel->end - channel->begin, len = waiting < cap ? waiting : cap;
  if (len > 0) memcpy(out, channel->bytes + channel->begin, len);
  channel->begin += len;
  pthread_cond_broadcast(&channel->changed);
  pthread_mutex_unlock(&channel->lock);
  return len;
}

pthread_t thread_start(void *(*run)(void *), void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, argument) != 0) FAIL("no thread can be made");
  return thread;
}

void thread_join(pthread_t thread) {
  REQUIRE_EQ(pthread_join(thread, NULL), 0);
}

double thread_seconds(void) {
  const char *given = getenv("SST_TEST_SECONDS");
  if (given != NULL) return strtod(given, NULL);
#ifdef __SANITIZE_THREAD__
  return 10;
#else
  return 1;
#endif
}

double seconds_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
