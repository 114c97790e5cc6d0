/*
 * How long the trust store of the system takes to load, and what it holds.
 *
 * usage: system_store      SSL_CERT_FILE and SSL_CERT_DIR as for sst_trust_load_system
 *
 * cc -O2 -Iabi bench/calls/system_store.c build/release/libsecurestream.a -lstdc++ -lpthread -o system_store
 */
#define _POSIX_C_SOURCE 200809L
#include <securestream.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 10 };

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(void) {
  for (int i = 0; i < ROUNDS; i++) {
    sst_trust *trust = sst_trust_new();
    const uint64_t bytes = sst_allocated_bytes();
    const double start = milliseconds();
    if (sst_trust_load_system(trust) != SST_OK) {
      sst_error error = {.size = sizeof error};
      sst_trust_last_error(trust, &error);
      fprintf(stderr, "system_store: %s\n", error.message);
      return 1;
    }
    printf("%zu anchors, %.1f ms, %llu bytes\n", sst_trust_num_anchors(trust), milliseconds() - start,
           (unsigned long long)(sst_allocated_bytes() - bytes));
    sst_trust_free(trust);
  }
  return 0;
}
