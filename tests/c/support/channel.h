/*
 * channel.h - bytes from one thread to another, and what threads of a test need besides. Nothing waits for ever: a wait
 * that is not answered in time fails the case.
 */
#ifndef SST_CHANNEL_H
#define SST_CHANNEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Channel {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint8_t *bytes;
  size_t begin, end;
  bool closed, stalled;
} Channel;

void channel_init(Channel *channel);
void channel_destroy(Channel *channel);
/* Waits for room where much waits already. */
void channel_put(Channel *channel, const uint8_t *bytes, size_t len);
void channel_close(Channel *channel);
/* Waits for bytes; 0: closed and empty, or stalled. */
size_t channel_take(Channel *channel, uint8_t *out, size_t cap);

/* Threads. A failure to make one ends the case. */
pthread_t thread_start(void *(*run)(void *), void *argument);
void thread_join(pthread_t thread);

/* How long a test of threads runs: 10 seconds under ThreadSanitizer, 1 elsewhere; SST_TEST_SECONDS sets it. */
double thread_seconds(void);
double seconds_now(void);

#endif
