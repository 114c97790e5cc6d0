/*
 * remote-key-server: gives back what its clients send. Its private key is in another process, key-signer.
 *
 *     remote-key-server CHAIN SOCKET [PORT]
 *
 * CHAIN has the certificates, in PEM; SOCKET is where key-signer listens. A handshake that needs a signature stops with
 * SST_WANT_PRIVATE_KEY_OPERATION; the message goes to the signer, and the thread goes on with other clients until the
 * answer is there. So any number of handshakes can wait for a slow token, in one thread.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "loop.h"
#include "setup.h"

enum { HEADER = 6, MESSAGE_MAX = 1024, SIGNATURE_MAX = 2048 };

typedef struct server {
  loop loop;
  connection *waiting[LOOP_CLIENTS]; /* in the order of their requests, which is that of the answers */
  size_t first, num;
} server;

static void say_waiting(const server *s) {
  fprintf(stderr, "remote-key-server: %zu handshakes wait for a signature\n", s->num);
}

/* Nobody signs any more: all who wait are told, by an alert. */
static void lose_signer(server *s) {
  fprintf(stderr, "remote-key-server: the signer has gone\n");
  for (; s->num > 0; s->num--, s->first++) {
    connection *c = s->waiting[s->first % LOOP_CLIENTS];
    (void)sst_stream_reject(c->stream, -1);
    loop_answered(&s->loop, c);
  }
  if (s->loop.answers >= 0) close(s->loop.answers);
  s->loop.answers = -1;
}

static void ask(void *context, connection *c) {
  server *s = context;
  uint8_t request[HEADER + MESSAGE_MAX];
  int32_t operation;
  uint16_t scheme = 0;
  size_t len = 0;
  s->waiting[(s->first + s->num++) % LOOP_CLIENTS] = c;
  say_waiting(s);
  const sst_status status =
      sst_stream_private_key_operation(c->stream, &operation, &scheme, request + HEADER, MESSAGE_MAX, &len);
  memcpy(request, (uint8_t[HEADER]){(uint8_t)(scheme >> 8), (uint8_t)scheme, 0, 0, (uint8_t)(len >> 8), (uint8_t)len},
         HEADER);
  /* 152 bytes at most: the socket takes those of all clients without making us wait. */
  const bool sent = status == SST_OK && s->loop.answers >= 0 &&
                    send(s->loop.answers, request, HEADER + len, MSG_NOSIGNAL) == (ssize_t)(HEADER + len);
  if (!sent) lose_signer(s);
}

/* One answer; the signer sends each in one piece. */
static void take(void *context) {
  server *s = context;
  uint8_t head[4], signature[SIGNATURE_MAX];
  const ssize_t got = recv(s->loop.answers, head, sizeof head, MSG_WAITALL);
  const size_t len = got == sizeof head ? (size_t)head[2] << 8 | head[3] : sizeof signature + 1;
  if (s->num == 0 || len > sizeof signature || recv(s->loop.answers, signature, len, MSG_WAITALL) != (ssize_t)len) {
    lose_signer(s);
    return;
  }
  connection *c = s->waiting[s->first++ % LOOP_CLIENTS];
  s->num--;
  if (len == 0)
    (void)sst_stream_reject(c->stream, -1);
  else
    (void)sst_stream_set_signature(c->stream, signature, len);
  loop_answered(&s->loop, c);
}

/* A config whose only credential has no private key. */
static sst_config *make_config(const char *chain) {
  static const uint16_t schemes[] = {0x0403, 0x0503, 0x0603, 0x0807, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601};
  static uint8_t pem[1 << 20];
  FILE *file = fopen(chain, "rb");
  const size_t len = file ? fread(pem, 1, sizeof pem, file) : 0;
  if (file) fclose(file);
  sst_config *config = sst_config_new();
  sst_credential *credential = sst_credential_new();
  sst_status status = sst_credential_set_caller_signs(credential, schemes, sizeof schemes / sizeof *schemes);
  if (status == SST_OK) status = sst_credential_load_pem(credential, pem, len, NULL, 0);
  if (status == SST_OK) status = sst_config_add_credential(config, credential);
  if (status == SST_OK) status = sst_config_freeze(config, SST_ROLE_SERVER);
  sst_credential_free(credential);
  if (status == SST_OK) return config;
  fprintf(stderr, "remote-key-server: %s: %s\n", chain, sst_status_text(status));
  sst_config_free(config);
  return NULL;
}

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
  fprintf(stderr, "remote-key-server: %s: %s\n", path, strerror(errno));
  return -1;
}

int main(int argc, char **argv) {
  static const options o = {.mode = MODE_ECHO, .timeout_ms = 30000};
  static server s = {.loop = {.options = &o, .ask = ask, .take = take, .context = &s}};
  const char *why = "";
  char name[NET_NAME];
  if (argc < 3 || argc > 4) {
    fprintf(stderr, "usage: remote-key-server CHAIN SOCKET [PORT]\n");
    return 1;
  }
  setup_standard_files();
  signal(SIGPIPE, SIG_IGN);
  s.loop.config = make_config(argv[1]);
  s.loop.answers = s.loop.config ? connect_to(argv[2]) : -1;
  if (s.loop.answers < 0) return 1;
  s.loop.listener = net_listen("127.0.0.1", argc > 3 ? argv[3] : "0", &why);
  if (s.loop.listener < 0) {
    fprintf(stderr, "remote-key-server: %s\n", why);
    return 1;
  }
  net_local_name(s.loop.listener, name);
  printf("listening on %s\n", name);
  fflush(stdout);
  loop_run(&s.loop);
  return 1;
}
