/*
 * The trust store of the system. Each case is a process of its own: settings of its environment stay with it.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "data.h"
#include "test.h"

typedef struct Folder {
  char path[64];
} Folder;

static Folder folder_new(void) {
  Folder folder;
  (void)snprintf(folder.path, sizeof folder.path, "/tmp/sst_store_%ld_%u", (long)getpid(), test_random());
  REQUIRE(mkdir(folder.path, 0700) == 0);
  return folder;
}

static void path_in(const Folder *folder, const char *name, char *out, size_t cap) {
  (void)snprintf(out, cap, "%s/%s", folder->path, name);
}

static void folder_write(const Folder *folder, const char *name, const void *bytes, size_t len) {
  char path[128];
  path_in(folder, name, path, sizeof path);
  FILE *file = fopen(path, "wb");
  REQUIRE(file != NULL);
  REQUIRE(fwrite(bytes, 1, len, file) == len);
  REQUIRE(fclose(file) == 0);
}

static void folder_add(const Folder *folder, const char *name, const char *certificate) {
  const Data pem = data_read(certificate, "pem");
  folder_write(folder, name, pem.bytes, pem.len);
  free(pem.bytes);
}

static void folder_free(const Folder *folder) {
  DIR *open = opendir(folder->path);
  for (struct dirent *entry = readdir(open); entry != NULL; entry = readdir(open)) {
    char path[400];
    (void)snprintf(path, sizeof path, "%s/%s", folder->path, entry->d_name);
    if (entry->d_name[0] != '.' || entry->d_name[1] == 'h') (void)remove(path);
  }
  closedir(open);
  EXPECT(rmdir(folder->path) == 0);
}

static void use(const char *file, const char *folders) {
  REQUIRE(setenv("SSL_CERT_FILE", file, 1) == 0);
  REQUIRE(setenv("SSL_CERT_DIR", folders, 1) == 0);
}

static void use_file(const Folder *folder, const char *name) {
  char path[128];
  path_in(folder, name, path, sizeof path);
  use(path, "");
}

static sst_error error_of(const sst_trust *trust) {
  sst_error error = {.size = sizeof error};
  EXPECT_STATUS(sst_trust_last_error(trust, &error), SST_OK);
  return error;
}

static void expect_anchors(size_t count) {
  sst_trust *trust = sst_trust_new();
  EXPECT_STATUS(sst_trust_load_system(trust), SST_OK);
  EXPECT_EQ(sst_trust_num_anchors(trust), count);
  EXPECT_STATUS(error_of(trust).code, SST_OK);
  sst_trust_free(trust);
}

static void expect_failure(sst_status code, const char *message, int64_t detail) {
  sst_trust *trust = data_trust("root");
  EXPECT_STATUS(sst_trust_load_system(trust), code);
  const sst_error error = error_of(trust);
  EXPECT_STATUS(error.code, code);
  EXPECT_CONTAINS(error.message, message);
  EXPECT_EQ(error.detail, detail);
  EXPECT_EQ(sst_trust_num_anchors(trust), 1);
  sst_trust_free(trust);
}

TEST(system_store, file_of_the_environment_is_loaded) {
  const Folder folder = folder_new();
  folder_add(&folder, "bundle.pem", "server-chain"); /* three certificates */
  use_file(&folder, "bundle.pem");
  expect_anchors(3);
  folder_free(&folder);
}

TEST(system_store, folders_of_the_environment_are_loaded) {
  const Folder one = folder_new(), two = folder_new();
  char both[200];
  folder_add(&one, "a.pem", "root");
  folder_add(&one, "12345678.0", "root"); /* as c_rehash leaves it: twice, and counted once */
  folder_add(&one, ".hidden", "untrusted-root");
  folder_write(&one, "README", "no certificate here\n", 20);
  folder_write(&one, "broken.pem", "-----BEGIN CERTIFICATE-----\nAAAA", 32);
  folder_add(&two, "b.crt", "client-root");
  (void)snprintf(both, sizeof both, ":%s::/nowhere/at/all:%s:", one.path, two.path);
  use("", both);
  expect_anchors(2);
  folder_free(&one);
  folder_free(&two);
}

TEST(system_store, file_and_folders_add_up) {
  const Folder folder = folder_new();
  char path[128];
  folder_add(&folder, "a.pem", "root");
  folder_add(&folder, "b.pem", "client-root");
  path_in(&folder, "a.pem", path, sizeof path);
  use(path, folder.path);
  expect_anchors(2);
  folder_free(&folder);
}

TEST(system_store, certificate_that_does_not_parse_is_skipped) {
  const Folder folder = folder_new();
  const Data root = data_read("root", "pem"), other = data_read("client-root", "pem");
  static const char damaged[] = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
  Data all = {test_allocate(root.len + sizeof damaged + other.len), 0};
  memcpy(all.bytes, root.bytes, root.len);
  memcpy(all.bytes + root.len, damaged, sizeof damaged - 1);
  memcpy(all.bytes + root.len + sizeof damaged - 1, other.bytes, other.len);
  folder_write(&folder, "bundle.pem", all.bytes, root.len + sizeof damaged - 1 + other.len);
  use_file(&folder, "bundle.pem");
  expect_anchors(2);
  free(root.bytes);
  free(other.bytes);
  free(all.bytes);
  folder_free(&folder);
}

TEST(system_store, place_that_is_missing_is_system_with_its_name_and_errno) {
  use("/nowhere/bundle.pem", "");
  expect_failure(SST_ERR_SYSTEM, "/nowhere/bundle.pem", ENOENT);
  use("", "/nowhere/at/all");
  expect_failure(SST_ERR_SYSTEM, "/nowhere/at/all", ENOENT);
  use("", ":");
  expect_failure(SST_ERR_SYSTEM, "the last place was none", 0);
}

TEST(system_store, fifo_and_folder_in_place_of_a_file_do_not_hang) {
  const Folder folder = folder_new();
  char path[128];
  path_in(&folder, "fifo", path, sizeof path);
  REQUIRE(mkfifo(path, 0600) == 0);
  use(path, "");
  expect_failure(SST_ERR_SYSTEM, path, EINVAL);
  use(folder.path, "");
  expect_failure(SST_ERR_SYSTEM, folder.path, EINVAL);
  use("", folder.path);
  expect_failure(SST_ERR_SYSTEM, "fifo", EINVAL);
  folder_free(&folder);
}

TEST(system_store, store_without_a_certificate_is_no_certificate) {
  const Folder folder = folder_new();
  folder_write(&folder, "empty.pem", "", 0);
  use_file(&folder, "empty.pem");
  expect_failure(SST_ERR_NO_CERTIFICATE, "no certificate", 0);
  folder_free(&folder);
}

TEST(system_store, what_is_there_already_stays_once) {
  const Folder folder = folder_new();
  folder_add(&folder, "a.pem", "root");
  use_file(&folder, "a.pem");
  sst_trust *trust = data_trust("root");
  EXPECT_STATUS(sst_trust_load_system(trust), SST_OK);
  EXPECT_STATUS(sst_trust_load_system(trust), SST_OK);
  EXPECT_EQ(sst_trust_num_anchors(trust), 1);
  sst_trust_free(trust);
  folder_free(&folder);
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The real one, where the machine has one. The time is told, and held to the limit of the road with room for sanitizers
   and other work: a quadratic loader is found, a busy machine is not. */
TEST(system_store, usual_places_of_this_machine_load) {
  REQUIRE(unsetenv("SSL_CERT_FILE") == 0);
  REQUIRE(unsetenv("SSL_CERT_DIR") == 0);
  struct stat facts;
  if (stat("/etc/ssl/certs/ca-certificates.crt", &facts) != 0) SKIP("no Debian bundle on this machine");
  sst_trust *trust = sst_trust_new();
  const double before = cpu_seconds();
  EXPECT_STATUS(sst_trust_load_system(trust), SST_OK);
  const double taken = cpu_seconds() - before;
  test_note("%zu anchors in %.1f ms", sst_trust_num_anchors(trust), taken * 1000);
  EXPECT_AT_LEAST(sst_trust_num_anchors(trust), 100);
  EXPECT_AT_MOST((int64_t)(taken * 1000), 1000);
  sst_trust_free(trust);
}
