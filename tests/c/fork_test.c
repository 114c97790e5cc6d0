/*
 * Fork (T04): a stream belongs to the process that made it. Whatever a child does with its copy, not a byte of it goes
 * to the wire, and the parent's connection goes on; and no two processes share their random numbers.
 */
#include "met.h"
#include "pair.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MESSAGES = 10, RANDOMS = 1000, RANDOM_LEN = 32, CHILD_FAILED = 9 };

/* Client and server with a socket pair between them, so that bytes of the child would be seen by the parent. */
typedef struct Connection {
  Pair pair;
  int client_fd, server_fd;
} Connection;

static Connection connect_pair(uint16_t version) {
  int fds[2];
  REQUIRE_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  Connection connection = {
      .pair = pair_open(.client = {.max_version = version}), .client_fd = fds[0], .server_fd = fds[1]};
  return connection;
}

static void disconnect(Connection *connection) {
  close(connection->client_fd);
  close(connection->server_fd);
  pair_free(&connection->pair);
}

/* What waits on the wire of a side goes through the sockets to the other. */
static void carry(Wire *wire, int from, int to) {
  uint8_t bytes[4096];
  const size_t len = wire_waiting(wire);
  REQUIRE(len <= sizeof bytes);
  REQUIRE_EQ(write(from, wire_head(wire), len), (ssize_t)len);
  wire_drop(wire);
  REQUIRE_EQ(read(to, bytes, sizeof bytes), (ssize_t)len);
  wire_insert(wire, bytes, len);
}

static void parent_echoes(Connection *connection) {
  Pair *pair = &connection->pair;
  for (int i = 0; i < MESSAGES; i++) {
    uint8_t text[100];
    pattern_fill(text, sizeof text, (uint32_t)i);
    EXPECT_STATUS(side_send(&pair->client, text, sizeof text), SST_OK);
    carry(pair->client.out, connection->client_fd, connection->server_fd);
    EXPECT_STATUS(side_receive(&pair->server), SST_NEED_INPUT);
    EXPECT_RECEIVED(&pair->server, text, sizeof text);
    EXPECT_STATUS(side_send(&pair->server, text, sizeof text), SST_OK);
    carry(pair->server.out, connection->server_fd, connection->client_fd);
    EXPECT_STATUS(side_receive(&pair->client), SST_NEED_INPUT);
    EXPECT_RECEIVED(&pair->client, text, sizeof text);
  }
}

/* The child's part; 0, or the number of the expectation that failed. */
typedef int (*Child)(Connection *connection);

/* A child leaves without destructors and without the parent's buffered output. */
static void in_child(Child child, Connection *connection) {
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    const int result = child(connection);
    met_end("fork.child");
    _exit(result);
  }
  int state = 0;
  REQUIRE_EQ(waitpid(pid, &state, 0), pid);
  EXPECT(WIFEXITED(state));
  EXPECT_EQ(WEXITSTATUS(state), 0);
}

static void with_child(uint16_t version, Child child) {
  Connection connection = connect_pair(version);
  in_child(child, &connection);
  uint8_t byte;
  EXPECT_EQ(recv(connection.client_fd, &byte, 1, MSG_DONTWAIT), -1); /* nothing is there, and nobody has hung up */
  EXPECT_EQ(recv(connection.server_fd, &byte, 1, MSG_DONTWAIT), -1);
  parent_echoes(&connection);
  disconnect(&connection);
}

/* (a) */
static int leaves(Connection *connection) {
  (void)connection;
  return 0;
}

TEST_VERSIONS(fork, child_that_exits_changes_nothing) {
  with_child(version, leaves);
}

/* (b) */
static int frees(Connection *connection) {
  const uint64_t objects = sst_live_objects();
  sst_stream_free(connection->pair.client.stream);
  sst_stream_free(connection->pair.server.stream);
  return sst_live_objects() == objects - 2 ? 0 : 1;
}

TEST_VERSIONS(fork, child_that_frees_its_copy_changes_nothing) {
  with_child(version, frees);
}

/* (c) What a call in the child gives: FORKED, an empty progress, and nothing for the wire. */
static bool is_refused(sst_status status, const sst_progress *done) {
  met_status(status);
  return status == SST_ERR_FORKED && done->consumed == 0 && done->produced == 0 && done->flags == 0;
}

static int calls_all(Connection *connection) {
  sst_stream *stream = connection->pair.client.stream;
  uint8_t in[100] = {23, 3, 3, 0, 50}, out[1000];
  sst_range range;
  size_t used = 0;
  sst_progress done;
  if (!is_refused(sst_stream_encrypt(stream, in, 10, out, sizeof out, &done), &done)) return 1;
  if (!is_refused(sst_stream_encrypt2(stream, in, 10, in, 10, out, sizeof out, &done), &done)) return 2;
  if (!is_refused(sst_stream_encryptv(stream, NULL, 0, out, sizeof out, &done), &done)) return 3;
  if (!is_refused(sst_stream_decrypt(stream, in, sizeof in, out, sizeof out, &done), &done)) return 4;
  if (!is_refused(sst_stream_decrypt_in_place(stream, in, sizeof in, &range, 1, &used, &done), &done)) return 5;
  if (!is_refused(sst_stream_flush(stream, out, sizeof out, &done), &done)) return 6;
  if (!is_refused(sst_stream_close(stream, out, sizeof out, &done), &done)) return 7;
  if (!is_refused(sst_stream_handshake(stream, in, sizeof in, out, sizeof out, &done), &done)) return 8;
  if (sst_stream_abort(stream, 90) != SST_ERR_FORKED) return 10;
  if (sst_stream_input_eof(stream) != SST_ERR_FORKED) return 11;
  if (sst_stream_key_update(stream, 0) != SST_ERR_FORKED) return 12;
  if (sst_stream_set_options(stream, 0) != SST_ERR_FORKED) return 13;
  if (sst_stream_set_server_name(stream, "a.test", 6) != SST_ERR_FORKED) return 14;
  if (sst_stream_set_max_fragment(stream, 600) != SST_ERR_FORKED) return 15;
  /* Getters go on. */
  sst_stream_info info = {.size = sizeof info};
  sst_error error = {.size = sizeof error};
  if (sst_stream_state(stream) != SST_STATE_OPEN || sst_stream_get_info(stream, &info) != SST_OK) return 16;
  if (info.version == 0 || sst_stream_last_error(stream, &error) != SST_OK || error.code != SST_OK) return 17;
  return frees(connection);
}

TEST_VERSIONS(fork, child_that_calls_is_refused_and_changes_nothing) {
  with_child(version, calls_all);
}

/* A stream that waits for a flush is not flushed by the child either. */
TEST(fork, output_that_waits_stays_with_the_parent_tls13) {
  Connection connection = connect_pair(SST_TLS1_3);
  REQUIRE_STATUS(sst_stream_key_update(connection.pair.client.stream, 1), SST_OK);
  in_child(calls_all, &connection);
  EXPECT_AT_LEAST(sst_stream_output_size(connection.pair.client.stream), 20);
  parent_echoes(&connection);
  disconnect(&connection);
}

/* The child's own streams work, also from a config that was frozen before, and belong to it alone. */
static int makes_its_own(Connection *connection) {
  Pair pair = pair_open(.client = {.config = connection->pair.client.config},
                        .server = {.config = connection->pair.server.config});
  pair_echo(&pair, 1000);
  const pid_t pid = fork();
  if (pid == 0) {
    sst_progress done;
    uint8_t out[100];
    if (!is_refused(sst_stream_flush(pair.client.stream, out, sizeof out, &done), &done)) _exit(1);
    if (!is_refused(sst_stream_flush(connection->pair.client.stream, out, sizeof out, &done), &done)) _exit(2);
    _exit(0);
  }
  int state = 1;
  if (pid < 0 || waitpid(pid, &state, 0) != pid || state != 0) return 1;
  pair_echo(&pair, 1000);
  pair_free(&pair);
  return 0;
}

TEST_VERSIONS(fork, child_makes_streams_of_its_own) {
  with_child(version, makes_its_own);
}

/* ---- random numbers ---- */

/* The client random of each of many new streams (RFC 8446, 4.1.2). */
static bool collect(sst_config *config, uint8_t *randoms) {
  for (size_t i = 0; i < RANDOMS; i++) {
    sst_stream *stream = NULL;
    uint8_t out[4096];
    sst_progress done;
    if (sst_stream_new(config, SST_ROLE_CLIENT, &stream) != SST_OK) return false;
    const bool good = sst_stream_set_server_name(stream, "server.test", 11) == SST_OK &&
                      sst_stream_handshake(stream, NULL, 0, out, sizeof out, &done) == SST_NEED_INPUT &&
                      done.produced > RECORD_HEADER + 6 + RANDOM_LEN;
    if (good) memcpy(randoms + i * RANDOM_LEN, out + RECORD_HEADER + 4 + 2, RANDOM_LEN);
    sst_stream_free(stream);
    if (!good) return false;
  }
  return true;
}

static int compare_randoms(const void *a, const void *b) {
  return memcmp(a, b, RANDOM_LEN);
}

static void write_all(int fd, const uint8_t *bytes, size_t len) {
  while (len > 0) {
    const ssize_t wrote = write(fd, bytes, len);
    if (wrote <= 0) _exit(CHILD_FAILED);
    bytes += wrote;
    len -= (size_t)wrote;
  }
}

static void read_all(int fd, uint8_t *bytes, size_t len) {
  for (size_t at = 0; at < len;) {
    const ssize_t got = read(fd, bytes + at, len - at);
    REQUIRE(got > 0);
    at += (size_t)got;
  }
}

TEST(fork, parent_and_child_draw_different_randoms) {
  uint8_t *randoms = test_allocate((size_t)2 * RANDOMS * RANDOM_LEN);
  sst_config *config = pair_config(&(SideOptions){.groups = {29}}, SST_ROLE_CLIENT);
  REQUIRE(collect(config, randoms)); /* the generator has been in use */
  int fds[2];
  REQUIRE_EQ(pipe(fds), 0);
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    if (!collect(config, randoms)) _exit(CHILD_FAILED);
    write_all(fds[1], randoms, (size_t)RANDOMS * RANDOM_LEN);
    _exit(0);
  }
  close(fds[1]);
  REQUIRE(collect(config, randoms));
  read_all(fds[0], randoms + (size_t)RANDOMS * RANDOM_LEN, (size_t)RANDOMS * RANDOM_LEN);
  int state = 1;
  EXPECT_EQ(waitpid(pid, &state, 0), pid);
  EXPECT_EQ(state, 0);
  qsort(randoms, (size_t)2 * RANDOMS, RANDOM_LEN, compare_randoms);
  for (size_t i = 1; i < (size_t)2 * RANDOMS; i++)
    REQUIRE(memcmp(randoms + (i - 1) * RANDOM_LEN, randoms + i * RANDOM_LEN, RANDOM_LEN) != 0);
  close(fds[0]);
  sst_config_free(config);
  free(randoms);
}
