/*
 * pump_test DATA: examples/c/pump.c as users copy it, on blocking sockets: a client in one thread, a server in another.
 * The programs of examples/c use the same pump on non-blocking sockets. DATA is tests/data.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pump.h"

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

enum { SIZE = 1000000 };
static const int64_t good_time_s = 1767225600; /* of the certificates in DATA */
static uint8_t pattern[SIZE];

static size_t read_file(const char *folder, const char *name, uint8_t *out, size_t cap) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  CHECK(file);
  const size_t len = fread(out, 1, cap, file);
  fclose(file);
  return len;
}

static sst_config *make_config(const char *data, bool server) {
  static uint8_t pem[65536];
  sst_config *config = sst_config_new();
  if (server) {
    sst_credential *credential = sst_credential_new();
    size_t len = read_file(data, "server-p256.pem", pem, sizeof pem);
    CHECK(sst_credential_load_pem(credential, pem, len, NULL, 0) == SST_OK);
    len = read_file(data, "server-p256.key", pem, sizeof pem);
    CHECK(sst_credential_load_pem(credential, pem, len, NULL, 0) == SST_OK);
    CHECK(sst_config_add_credential(config, credential) == SST_OK);
    sst_credential_free(credential);
  } else {
    sst_trust *trust = sst_trust_new();
    const size_t len = read_file(data, "root.pem", pem, sizeof pem);
    CHECK(sst_trust_load_pem(trust, pem, len) == SST_OK);
    CHECK(sst_config_set_trust(config, trust) == SST_OK);
    sst_trust_free(trust);
  }
  return config;
}

/* Sends the pattern, asks for new keys in the middle, and reads it back. A KeyUpdate that the peer answers while it only
   reads must come out of pump_read. */
static void *serve(void *context) {
  pump *p = context;
  size_t taken;
  static uint8_t room[PUMP_ROOM];
  CHECK(pump_handshake(p) == PUMP_OK);
  CHECK(pump_write(p, pattern, SIZE / 2, &taken) == PUMP_OK && taken == SIZE / 2);
  CHECK(sst_stream_key_update(p->stream, 1) == SST_OK);
  CHECK(pump_write(p, pattern + SIZE / 2, SIZE / 2, &taken) == PUMP_OK && taken == SIZE / 2);
  CHECK(pump_close(p) == PUMP_OK);

  size_t total = 0, got;
  pump_status status;
  while ((status = pump_read(p, room, sizeof room, &got)) == PUMP_OK) {
    CHECK(memcmp(room, pattern + total, got) == 0);
    total += got;
  }
  CHECK(status == PUMP_END && total == SIZE);
  CHECK(sst_stream_counter(p->stream, SST_COUNTER_KEY_UPDATES_RECEIVED) == 1);
  return NULL;
}

/* Reads with little room up to the end, then sends back what came. */
static void talk(pump *p) {
  static uint8_t data[SIZE];
  size_t total = 0, got, taken;
  pump_status status;
  CHECK(pump_handshake(p) == PUMP_OK);
  while ((status = pump_read(p, data + total, SIZE - total < 1000 ? SIZE - total : 1000, &got)) == PUMP_OK) {
    total += got;
    if (total == SIZE) break;
  }
  CHECK(total == SIZE && memcmp(data, pattern, SIZE) == 0);
  CHECK(pump_read(p, data, 0, &got) == PUMP_END && got == 0);
  CHECK(!pump_unsent(p));
  CHECK(pump_write(p, pattern, SIZE, &taken) == PUMP_OK && taken == SIZE);
  CHECK(pump_close(p) == PUMP_OK);
  CHECK(pump_close(p) == PUMP_OK);
}

/* The transport ends without close_notify: that is a failure, after the data. */
static void check_truncation(pump *client, pump *server) {
  uint8_t room[16];
  size_t got, taken;
  CHECK(pump_write(server, (const uint8_t *)"last", 4, &taken) == PUMP_OK);
  CHECK(shutdown(server->fd, SHUT_WR) == 0);
  CHECK(pump_read(client, room, sizeof room, &got) == PUMP_OK && got == 4);
  CHECK(pump_read(client, room, sizeof room, &got) == PUMP_FAILED && client->system_error == 0);
  sst_error error = {.size = sizeof error};
  CHECK(sst_stream_last_error(client->stream, &error) == SST_OK && error.code == SST_ERR_TRUNCATED);
  /* And a socket that fails says its errno. */
  close(server->fd);
  while (pump_write(client, pattern, SIZE, &taken) == PUMP_OK)
    continue;
  CHECK(client->system_error != 0);
}

static void *handshake(void *context) {
  CHECK(pump_handshake(context) == PUMP_OK);
  return NULL;
}

static void start_pair(sst_config *configs[2], pump *pumps[2]) {
  int fds[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
  for (int i = 0; i < 2; i++) {
    sst_stream *stream = NULL;
    CHECK(sst_stream_new(configs[i], i == 0 ? SST_ROLE_CLIENT : SST_ROLE_SERVER, &stream) == SST_OK);
    if (i == 0) CHECK(sst_stream_set_server_name(stream, "server.test", 11) == SST_OK);
    CHECK(sst_stream_set_verify_time(stream, good_time_s) == SST_OK);
    pumps[i] = malloc(sizeof *pumps[i]);
    CHECK(pumps[i]);
    pump_start(pumps[i], stream, fds[i]);
  }
}

static void free_pair(pump *pumps[2]) {
  for (int i = 0; i < 2; i++) {
    sst_stream_free(pumps[i]->stream);
    close(pumps[i]->fd);
    free(pumps[i]);
  }
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  for (size_t i = 0; i < SIZE; i++)
    pattern[i] = (uint8_t)(i * 7 + i / 251);
  sst_config *configs[2] = {make_config(argv[1], false), make_config(argv[1], true)};
  pump *pumps[2];
  pthread_t thread;

  start_pair(configs, pumps);
  CHECK(pthread_create(&thread, NULL, serve, pumps[1]) == 0);
  talk(pumps[0]);
  CHECK(pthread_join(thread, NULL) == 0);
  free_pair(pumps);

  start_pair(configs, pumps);
  CHECK(pthread_create(&thread, NULL, handshake, pumps[1]) == 0);
  handshake(pumps[0]);
  CHECK(pthread_join(thread, NULL) == 0);
  check_truncation(pumps[0], pumps[1]);
  pumps[1]->fd = -1; /* closed there */
  free_pair(pumps);

  sst_config_free(configs[0]);
  sst_config_free(configs[1]);
  CHECK(sst_live_objects() == 0);
  puts("both ways over blocking sockets, a KeyUpdate answered by the reader, a truncation seen");
  return 0;
}
