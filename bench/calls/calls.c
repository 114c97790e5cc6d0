/*
 * What one call costs in C, in CPU time. calls.py is the same from Python.
 *
 * usage: calls FOLDER      with server-p256.pem and server-p256.key: tests/data
 *
 * cc -O2 -Iabi bench/calls/calls.c build/release/libsecurestream.a -lstdc++ -lpthread -o calls
 */
#define _POSIX_C_SOURCE 200809L
#include <securestream.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 7, ROOM = 70000, RANGES = 64 };

typedef struct bench {
  sst_stream *client, *server;
  uint8_t room[ROOM], back[ROOM], data[16384];
  size_t size;
  sst_progress done;
} bench;

static void die(const char *what) {
  fprintf(stderr, "calls: %s\n", what);
  exit(1);
}

static void load(sst_credential *credential, const char *folder, const char *name) {
  char path[1024];
  uint8_t text[32768];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  const size_t len = file ? fread(text, 1, sizeof text, file) : 0;
  if (file) fclose(file);
  if (sst_credential_load_pem(credential, text, len, NULL, 0) != SST_OK) die(path);
}

/* One flight: handshake of one side takes what the other has left in wire. */
static sst_status step(sst_stream *stream, uint8_t *wire, size_t *len) {
  static uint8_t out[ROOM];
  sst_progress done;
  const sst_status status = sst_stream_handshake(stream, wire, *len, out, sizeof out, &done);
  if (status < 0 || done.consumed != *len) die("the handshake fails");
  for (size_t i = 0; i < done.produced; i++)
    wire[i] = out[i];
  *len = done.produced;
  return status;
}

static void start(bench *b, const char *folder) {
  sst_credential *credential = sst_credential_new();
  sst_config *client = sst_config_new(), *server = sst_config_new();
  load(credential, folder, "server-p256.pem");
  load(credential, folder, "server-p256.key");
  if (sst_config_add_credential(server, credential) != SST_OK ||
      sst_config_set_verify(client, SST_VERIFY_NONE) != SST_OK ||
      sst_stream_new(client, SST_ROLE_CLIENT, &b->client) != SST_OK ||
      sst_stream_new(server, SST_ROLE_SERVER, &b->server) != SST_OK)
    die("no streams");
  size_t len = 0;
  do {
    (void)step(b->client, b->room, &len);
  } while (step(b->server, b->room, &len) != SST_OK);
  sst_credential_free(credential);
  sst_config_free(client);
  sst_config_free(server);
}

static void call_state(bench *b) {
  (void)sst_stream_state(b->client);
}
static void call_output_size(bench *b) {
  (void)sst_stream_output_size(b->client);
}
static void call_flush(bench *b) {
  (void)sst_stream_flush(b->client, b->room, ROOM, &b->done);
}
static void call_encrypt(bench *b) {
  (void)sst_stream_encrypt(b->client, NULL, 0, b->room, ROOM, &b->done);
}
static void call_decrypt(bench *b) {
  (void)sst_stream_decrypt(b->server, NULL, 0, b->back, ROOM, &b->done);
}
static void call_info(bench *b) {
  sst_stream_info info = {.size = sizeof info};
  (void)sst_stream_get_info(b->client, &info);
}
static void call_alpn(bench *b) {
  size_t len;
  (void)sst_stream_alpn(b->client, b->back, ROOM, &len);
}
static void call_twice(bench *b) {
  (void)sst_stream_encrypt(b->client, b->data, b->size, b->room, ROOM, &b->done);
  if (sst_stream_decrypt(b->server, b->room, b->done.produced, b->back, ROOM, &b->done) != SST_NEED_INPUT)
    die("decrypt");
}
static void call_in_place(bench *b) {
  sst_range ranges[RANGES];
  size_t used;
  (void)sst_stream_encrypt(b->client, b->data, b->size, b->room, ROOM, &b->done);
  if (sst_stream_decrypt_in_place(b->server, b->room, b->done.produced, ranges, RANGES, &used, &b->done) !=
      SST_NEED_INPUT)
    die("decrypt in place");
}

static void show(bench *b, const char *what, void (*call)(bench *), int count) {
  double best = 1e18;
  for (int round = 0; round < ROUNDS; round++) {
    struct timespec began, ended;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began);
    for (int i = 0; i < count; i++)
      call(b);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
    const double ns = (double)(ended.tv_sec - began.tv_sec) * 1e9 + (double)(ended.tv_nsec - began.tv_nsec);
    if (ns < best) best = ns;
  }
  printf("%-44s%10.0f ns\n", what, best / count);
}

int main(int argc, char **argv) {
  static bench b;
  if (argc != 2) die("usage: calls FOLDER");
  start(&b, argv[1]);
  show(&b, "sst_stream_state", call_state, 1000000);
  show(&b, "sst_stream_output_size", call_output_size, 1000000);
  show(&b, "sst_stream_flush, nothing waits", call_flush, 1000000);
  show(&b, "sst_stream_encrypt, 0 bytes", call_encrypt, 1000000);
  show(&b, "sst_stream_decrypt, 0 bytes", call_decrypt, 1000000);
  show(&b, "sst_stream_get_info", call_info, 1000000);
  show(&b, "sst_stream_alpn", call_alpn, 1000000);
  for (b.size = 1; b.size <= sizeof b.data; b.size = b.size == 1 ? 1400 : b.size == 1400 ? 16384 : 100000) {
    char what[64];
    snprintf(what, sizeof what, "encrypt and decrypt, %zu bytes", b.size);
    show(&b, what, call_twice, 50000);
    snprintf(what, sizeof what, "encrypt and decrypt in place, %zu bytes", b.size);
    show(&b, what, call_in_place, 50000);
  }
  sst_stream_free(b.client);
  sst_stream_free(b.server);
  return 0;
}
