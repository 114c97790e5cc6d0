/*
 * A program with one or more peers, driven line by line over its standard input (README.md, "The line protocol").
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

static const Kind *const kinds[] = {&kind_move,     &kind_seal,  &kind_open,           &kind_place,   &kind_handshake,
                                    &kind_over,     &kind_both,  &kind_apart,          &kind_resumed, &kind_unverified,
                                    &kind_reloaded, &kind_early, &kind_two_handshakes, NULL};

typedef struct Job {
  struct Job *next;
  char name[128];
  const Kind *kind;
  void *work;
} Job;

static Job *jobs;

static const Peer *find_peer(const char *name) {
  for (size_t i = 0; peers[i] != NULL; i++)
    if (strcmp(peers[i]->name, name) == 0) return peers[i];
  die("no peer %s", name);
}

static const Kind *find_kind(const char *name) {
  for (size_t i = 0; kinds[i] != NULL; i++)
    if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
  die("no kind %s", name);
}

static Job *find_job(const char *peer, const char *kind, const char *argument) {
  char name[128];
  snprintf(name, sizeof name, "%s %s %s", peer, kind, argument);
  for (Job *job = jobs; job != NULL; job = job->next)
    if (strcmp(job->name, name) == 0) return job;
  Job *job = allocate(sizeof *job);
  memcpy(job->name, name, sizeof name);
  job->kind = find_kind(kind);
  job->work = job->kind->begin(find_peer(peer), argument);
  job->next = jobs;
  jobs = job;
  return job;
}

/* Pairs that are open and do nothing, from now on. */
static void grow(const Peer *peer, uint64_t num) {
  Party party = party_new(peer, "server-p256", FULL);
  for (uint64_t i = 0; i < num; i++)
    party_echo(&party, party_open(&party));
}

void heap_idle(const Peer *peer, const char *leaf, Use use, uint64_t num, double *client, double *server) {
  Party party = party_new(peer, leaf, use);
  void **pairs = allocate((num + 1) * sizeof *pairs);
  pairs[num] = party_open(&party); /* what is made once, is made now */
  party_echo(&party, pairs[num]);
  const Heap before = heap_now();
  for (uint64_t i = 0; i < num; i++) {
    pairs[i] = party_open(&party);
    party_echo(&party, pairs[i]);
  }
  const Heap after = heap_now();
  *client = (double)(after.bytes[CLIENT] - before.bytes[CLIENT]) / (double)num;
  *server = (double)(after.bytes[SERVER] - before.bytes[SERVER]) / (double)num;
  for (uint64_t i = 0; i <= num; i++)
    peer->pair_free(pairs[i]);
  free(pairs);
}

static void answer(char *line) {
  char verb[16], peer[32], kind[32], argument[32];
  unsigned long long n = 0;
  /* pass, count: PEER KIND ARGUMENT N. idle: PEER pair|sessions LEAF N. grow: PEER pair open N. */
  const int words = sscanf(line, "%15s %31s %31s %31s %llu", verb, peer, kind, argument, &n);
  if (words == 5 && n > 0 && strcmp(verb, "pass") == 0) {
    Job *job = find_job(peer, kind, argument);
    printf("%llu\n", (unsigned long long)job->kind->pass(job->work, n));
  } else if (words == 5 && n > 0 && strcmp(verb, "count") == 0) {
    Job *job = find_job(peer, kind, argument);
    (void)job->kind->pass(job->work, n); /* what is made once, is made now */
    const uint64_t before = heap_now().calls;
    (void)job->kind->pass(job->work, n);
    printf("%.4f\n", (double)(heap_now().calls - before) / (double)n);
  } else if (words == 5 && n > 0 && strcmp(verb, "idle") == 0) {
    double client, server;
    heap_idle(find_peer(peer), argument, strcmp(kind, "sessions") == 0 ? SESSIONS : FULL, n, &client, &server);
    printf("%.1f %.1f\n", client, server);
  } else if (words == 5 && n > 0 && strcmp(verb, "grow") == 0) {
    grow(find_peer(peer), n);
    printf("%llu\n", n);
  } else {
    die("not a request: %s", line);
  }
  fflush(stdout);
}

int main(void) {
  char line[256];
  while (fgets(line, sizeof line, stdin) != NULL)
    answer(line);
  return 0;
}
