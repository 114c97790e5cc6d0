/*
 * An encrypted key without a password is told at once: nothing is asked, read or printed, whatever stands at standard
 * input (cases.md X12).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data.h"
#include "test.h"

static const char *const names[] = {"server-p256-encrypted", "odd-encrypted-legacy", "odd-encrypted-3des"};
enum { NUM_NAMES = sizeof names / sizeof names[0], PATIENCE_S = 20 };

/* In the child: loads each key without a password. The exit code says what went wrong. */
static int load_all(void) {
  for (size_t i = 0; i < NUM_NAMES; i++) {
    const Data key = data_read(names[i], "key");
    sst_credential *credential = sst_credential_new();
    const sst_status none = sst_credential_load_pem(credential, key.bytes, key.len, NULL, 0);
    const sst_status empty = sst_credential_load_pem(credential, key.bytes, key.len, "", 0);
    if (none != SST_ERR_PASSWORD_REQUIRED || empty != SST_ERR_PASSWORD_REQUIRED) return (int)i + 1;
    sst_credential_free(credential);
    free(key.bytes);
  }
  return 0;
}

/* Runs load_all with input as standard input and output as the other two; a child that waits is killed by its alarm. */
static int run(int input, int output, const char *terminal) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    (void)alarm(PATIENCE_S);
    if (terminal != NULL) { /* it becomes the controlling terminal: what opens /dev/tty finds it */
      if (setsid() < 0) _exit(100);
      input = open(terminal, O_RDWR);
      if (input < 0 || ioctl(input, TIOCSCTTY, 0) != 0) _exit(101);
      output = input;
    }
    if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) _exit(102);
    _exit(load_all());
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) FAIL("the child was ended by signal %d: it waited", WTERMSIG(status));
  return WEXITSTATUS(status);
}

static void expect_nothing_written(int file) {
  struct pollfd look = {.fd = file, .events = POLLIN};
  (void)poll(&look, 1, 0);
  EXPECT_EQ(look.revents & POLLIN, 0);
}

TEST(credential_terminal, encrypted_key_with_a_closed_pipe_is_password_required) {
  int in[2], out[2];
  REQUIRE(pipe(in) == 0 && pipe(out) == 0);
  close(in[1]);
  EXPECT_EQ(run(in[0], out[1], NULL), 0);
  close(out[1]);
  expect_nothing_written(out[0]);
  close(in[0]);
  close(out[0]);
}

/* A password waits in the terminal: whoever read it would have it. */
TEST(credential_terminal, encrypted_key_at_a_terminal_is_password_required) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
  char name[64];
  REQUIRE(ptsname_r(master, name, sizeof name) == 0);
  const int slave = open(name, O_RDWR | O_NOCTTY);
  REQUIRE(slave >= 0);
  struct pollfd look = {.fd = master, .events = POLLIN};
  static const char typed[] = "secret\n";
  REQUIRE(write(master, typed, sizeof typed - 1) == sizeof typed - 1);
  (void)poll(&look, 1, 1000); /* the terminal's own echo of it */
  char echo[64];
  REQUIRE(read(master, echo, sizeof echo) > 0);

  EXPECT_EQ(run(-1, -1, name), 0);
  expect_nothing_written(master);
  char line[64];
  EXPECT_EQ(read(slave, line, sizeof line), (ssize_t)(sizeof typed - 1)); /* nobody has taken it */
  close(slave);
  close(master);
}
