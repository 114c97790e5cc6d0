/*
 * A certificate is reloaded by a copy of the config while other threads shake hands: none of them notices, and who comes
 * afterwards gets the new one.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bare.h"
#include "channel.h"
#include "pair.h"

enum { RELOADS = 50, LOAD_THREADS = 4, HANDSHAKES_BETWEEN = 8 };

/* What a server keeps: the config of the next connection. */
typedef struct Site {
  pthread_mutex_t lock;
  sst_config *server; /* one reference, changed under the lock */
  sst_config *client;
  atomic_int handshakes, failures;
  atomic_bool stop;
} Site;

static sst_config *site_config(Site *site) {
  pthread_mutex_lock(&site->lock);
  sst_config *config = sst_config_ref(site->server);
  pthread_mutex_unlock(&site->lock);
  return config;
}

static void site_replace(Site *site, sst_config *config) {
  pthread_mutex_lock(&site->lock);
  sst_config *old = site->server;
  site->server = config;
  pthread_mutex_unlock(&site->lock);
  sst_config_free(old);
}

/* A connection that was there before the reloads goes on; others come and go. */
static void *run_load(void *argument) {
  Site *site = argument;
  uint8_t data[500] = {1}, out[500];
  Bare *old = test_allocate(sizeof *old), *bare = test_allocate(sizeof *bare);
  sst_config *server = site_config(site);
  EXPECT_STATUS(bare_new(old, site->client, server), SST_OK);
  EXPECT_STATUS(bare_handshake(old), SST_OK);
  sst_config_free(server);
  while (!atomic_load(&site->stop)) {
    server = site_config(site);
    sst_status status = bare_new(bare, site->client, server);
    sst_config_free(server); /* the stream keeps it */
    if (status == SST_OK) status = bare_handshake(bare);
    if (status == SST_OK) status = bare_echo(bare, data, sizeof data, out);
    if (status == SST_OK) status = bare_close(bare);
    if (status != SST_OK) atomic_fetch_add(&site->failures, 1);
    bare_end(bare);
    if (bare_echo(old, data, sizeof data, out) != SST_OK) atomic_fetch_add(&site->failures, 1);
    atomic_fetch_add(&site->handshakes, 1);
  }
  bare_end(old);
  free(old);
  free(bare);
  return NULL;
}

/* What a reload is: a copy, without the old credentials, with the new one, frozen before anybody sees it. */
static void reload(Site *site, const char *name) {
  sst_config *old = site_config(site);
  sst_config *copy = sst_config_copy(old);
  sst_credential *credential = data_credential(name);
  EXPECT_STATUS(sst_config_clear_credentials(copy), SST_OK);
  EXPECT_STATUS(sst_config_add_credential(copy, credential), SST_OK);
  EXPECT_STATUS(sst_config_freeze(copy, SST_ROLE_SERVER), SST_OK);
  site_replace(site, copy);
  sst_credential_free(credential);
  sst_config_free(old);
}

static void expect_served(Site *site, const char *name, Bare *bare) {
  const Data leaf = data_certificate(name, 0);
  uint8_t out[4096];
  size_t len = 0;
  sst_config *server = site_config(site);
  EXPECT_STATUS(bare_new(bare, site->client, server), SST_OK);
  sst_config_free(server);
  EXPECT_STATUS(bare_handshake(bare), SST_OK);
  EXPECT_STATUS(sst_stream_peer_certificate(bare->client.stream, 0, out, sizeof out, &len), SST_OK);
  EXPECT_BYTES(out, len, leaf.bytes, leaf.len);
  bare_end(bare);
  free(leaf.bytes);
}

static void wait_for_load(Site *site) {
  const int seen = atomic_load(&site->handshakes);
  const double until = seconds_now() + 60;
  while (atomic_load(&site->handshakes) < seen + HANDSHAKES_BETWEEN && seconds_now() < until)
    sched_yield();
  REQUIRE(atomic_load(&site->handshakes) >= seen + HANDSHAKES_BETWEEN);
}

TEST_VERSIONS(thread_reload, fifty_reloads_under_load_fail_no_handshake) {
  static const char *const names[] = {"server-p256", "server-ed25519", "server-p384"};
  const uint64_t objects = sst_live_objects();
  Site site = {.client = pair_config(&(SideOptions){.max_version = version}, SST_ROLE_CLIENT),
               .server = pair_config(&(SideOptions){.credential = "server-p256"}, SST_ROLE_SERVER)};
  pthread_mutex_init(&site.lock, NULL);
  Bare *bare = test_allocate(sizeof *bare);
  pthread_t threads[LOAD_THREADS];
  for (int i = 0; i < LOAD_THREADS; i++)
    threads[i] = thread_start(run_load, &site);
  for (int i = 1; i <= RELOADS; i++) {
    const char *name = names[i % 3];
    wait_for_load(&site);
    reload(&site, name);
    expect_served(&site, name, bare);
  }
  atomic_store(&site.stop, true);
  for (int i = 0; i < LOAD_THREADS; i++)
    thread_join(threads[i]);
  EXPECT_EQ(atomic_load(&site.failures), 0);
  EXPECT_AT_LEAST(atomic_load(&site.handshakes), RELOADS * HANDSHAKES_BETWEEN);
  free(bare);
  sst_config_free(site.client);
  sst_config_free(site.server);
  pthread_mutex_destroy(&site.lock);
  EXPECT_EQ(sst_live_objects(), objects);
}

/* A test that could not see a failure would be none: a certificate for another host does fail. */
TEST(thread_reload, reload_of_a_wrong_certificate_is_seen) {
  Site site = {.client = pair_config(&(SideOptions){.max_version = SST_TLS1_3}, SST_ROLE_CLIENT),
               .server = pair_config(&(SideOptions){.credential = "server-p256"}, SST_ROLE_SERVER)};
  pthread_mutex_init(&site.lock, NULL);
  Bare *bare = test_allocate(sizeof *bare);
  reload(&site, "server-other");
  EXPECT_STATUS(bare_new(bare, site.client, site.server), SST_OK);
  EXPECT_STATUS(bare_handshake(bare), SST_ERR_CERT_NAME_MISMATCH);
  bare_end(bare);
  free(bare);
  sst_config_free(site.client);
  sst_config_free(site.server);
  pthread_mutex_destroy(&site.lock);
}
