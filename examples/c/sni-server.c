/*
 * sni-server: gives back what its clients send, with a certificate for each host name.
 *
 *     sni-server FOLDER [PORT]
 *
 * FOLDER/NAME.pem has chain and key of NAME, FOLDER/default.pem those of all other names. Replace a file (by rename), and
 * the next connection has the new one: nobody is told, nothing is stopped.
 *
 * One thread serves all clients and never waits for a file. Streams are made without a config, and stop with
 * SST_WANT_CLIENT_HELLO when the client has said which host it wants. The connection then goes to a second thread, which
 * reads files, answers, and sends it back. Both ways are pipes of pointers: writing one is atomic.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hosts.h"
#include "loop.h"
#include "setup.h"

typedef struct server {
  loop loop;
  hosts *hosts;    /* of the second thread alone */
  int asked[2];    /* to the second thread */
  int answered[2]; /* and back */
} server;

static void ask(void *context, connection *c) {
  const server *s = context;
  if (write(s->asked[1], &c, sizeof c) != sizeof c) perror("sni-server: write");
}

static void take(void *context) {
  server *s = context;
  connection *c;
  if (read(s->answered[0], &c, sizeof c) == sizeof c) loop_answered(&s->loop, c);
}

/* The answer. Facts and answers of a stream are for any thread. */
static void answer(hosts *h, sst_stream *stream) {
  char name[256];
  size_t len = 0;
  if (sst_stream_server_name(stream, (uint8_t *)name, sizeof name, &len) != SST_OK) len = 0;
  sst_config *config = hosts_find(h, name, len);
  if (!config || sst_stream_set_config(stream, config) != SST_OK) (void)sst_stream_reject(stream, -1);
  sst_config_free(config); /* the stream has a reference of its own */
}

static void *answer_all(void *context) {
  server *s = context;
  connection *c;
  while (read(s->asked[0], &c, sizeof c) == sizeof c) {
    answer(s->hosts, c->stream);
    if (write(s->answered[1], &c, sizeof c) != sizeof c) break;
  }
  return NULL;
}

static bool start(server *s, const char *folder, const char *port) {
  const char *why = "";
  char name[NET_NAME];
  s->hosts = hosts_open(folder);
  if (!s->hosts || pipe(s->asked) != 0 || pipe(s->answered) != 0) {
    perror("sni-server");
    return false;
  }
  s->loop.answers = s->answered[0];
  s->loop.listener = net_listen("127.0.0.1", port, &why);
  if (s->loop.listener < 0) {
    fprintf(stderr, "sni-server: port %s: %s\n", port, why);
    return false;
  }
  net_local_name(s->loop.listener, name);
  printf("listening on %s\n", name);
  fflush(stdout);
  return true;
}

int main(int argc, char **argv) {
  static const options o = {.mode = MODE_ECHO, .timeout_ms = 30000};
  static server s = {.loop = {.options = &o, .ask = ask, .take = take, .context = &s}};
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: sni-server FOLDER [PORT]\n");
    return 1;
  }
  setup_standard_files();
  signal(SIGPIPE, SIG_IGN);
  pthread_t reader;
  if (!start(&s, argv[1], argc > 2 ? argv[2] : "0")) return 1;
  if (pthread_create(&reader, NULL, answer_all, &s) != 0) return 1;
  loop_run(&s.loop);
  return 1;
}
