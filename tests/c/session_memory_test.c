/* White-box: sessions and resumption with every allocation failing in turn, and what idle clients with sessions hold. */
#include <stdio.h>
#include <stdlib.h>

#include "allocations.h"
#include "bare.h"
#include "faults.h"
#include "resume.h"
#include "tls/internal.h"

/* ---- allocations that fail ---- */

typedef struct Scene {
  Resume resume;
  sst_session *session, *got, *loaded;
  Data bytes;
  Bare *bare;
  uint8_t data[2000], out[2000];
} Scene;

static bool lacks_memory(const BareSide *side) {
  sst_error error = {.size = sizeof error};
  return side->stream == NULL ||
         (sst_stream_last_error(side->stream, &error) == SST_OK && error.code == SST_ERR_NO_MEMORY);
}

/* A connection that offers the session and takes what comes. It may be a full one where memory lacks. */
static sst_status connect_again(void *context) {
  Scene *scene = context;
  Bare *bare = scene->bare;
  sst_status status = bare_new(bare, scene->resume.options.client.config, scene->resume.options.server.config);
  if (status == SST_OK) status = sst_stream_set_session(bare->client.stream, scene->session);
  if (status == SST_OK) status = bare_handshake(bare);
  if (status == SST_OK) status = bare_echo(bare, scene->data, sizeof scene->data, scene->out);
  if (status == SST_OK) scene->got = sst_stream_take_session(bare->client.stream);
  return status != SST_OK && (lacks_memory(&bare->client) || lacks_memory(&bare->server)) ? SST_ERR_NO_MEMORY : status;
}

static void end_connection(void *context, sst_status status) {
  Scene *scene = context;
  (void)status;
  bare_end(scene->bare);
  sst_session_free(scene->got);
  scene->got = NULL;
}

static void connections_survive(uint16_t version) {
  Scene *scene = test_allocate(sizeof *scene);
  *scene = (Scene){.resume = resume_new(version, .server = {.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE},
                                        .client = {.credential = "client-p256"})};
  scene->bare = test_allocate(sizeof *scene->bare);
  scene->session = resume_session(&scene->resume);
  EXPECT_STATUS(sst_session_set_reusable(scene->session, 1), SST_OK);
  const Faults faults = {.name = "resumption", .context = scene, .run = connect_again, .check = end_connection};
  faults_each(&faults);
  EXPECT(resume_with(&scene->resume, scene->session));
  sst_session_free(scene->session);
  resume_free(&scene->resume);
  free(scene->bare);
  free(scene);
}

TEST_VERSIONS(session_memory, resumption_survives_every_failed_allocation) {
  connections_survive(version);
}

static sst_status load_and_write(void *context) {
  Scene *scene = context;
  size_t len = 0;
  scene->loaded = sst_session_new();
  if (scene->loaded == NULL) return SST_ERR_NO_MEMORY;
  const sst_status status = sst_session_load(scene->loaded, scene->bytes.bytes, scene->bytes.len);
  return status != SST_OK ? status : sst_session_to_bytes(scene->loaded, scene->out, sizeof scene->out, &len);
}

static void end_load(void *context, sst_status status) {
  Scene *scene = context;
  (void)status;
  sst_session_free(scene->loaded);
}

TEST_VERSIONS(session_memory, load_survives_every_failed_allocation) {
  Scene *scene = test_allocate(sizeof *scene);
  Resume resume = resume_new(version);
  sst_session *session = resume_session(&resume);
  scene->bytes = session_bytes(session);
  REQUIRE(scene->bytes.len <= sizeof scene->out);
  const Faults faults = {.name = "load", .context = scene, .run = load_and_write, .check = end_load};
  faults_each(&faults);
  free(scene->bytes.bytes);
  sst_session_free(session);
  resume_free(&resume);
  free(scene);
}

static sst_status change_ring(void *context) {
  static const uint8_t ring[2 * 88] = {1};
  sst_status status = sst_ticket_keys_replace(context, ring, 88);
  if (status == SST_OK) status = sst_ticket_keys_rotate(context);
  return status == SST_OK ? sst_ticket_keys_replace(context, NULL, 0) : status;
}

static void end_ring(void *context, sst_status status) {
  (void)status;
  EXPECT_STATUS(sst_ticket_keys_replace(context, NULL, 0), SST_OK);
}

TEST(session_memory, rings_survive_every_failed_allocation) {
  sst_ticket_keys *keys = sst_ticket_keys_new();
  const Faults faults = {.name = "ring", .context = keys, .run = change_ring, .check = end_ring};
  faults_each(&faults);
  sst_ticket_keys_free(keys);
}

/* ---- idle ---- */

enum { STREAMS = 500, BUDGET = 3584, SSL_BUDGET = 8192 };

static void clients_are_small(uint16_t version) {
  if (!allocations_are_wrapped()) SKIP("malloc is not wrapped in this build");
  static sst_stream *clients[STREAMS];
  static Bare bare;
  static uint8_t data[100], out[100];
  Resume resume = resume_new(version, .server = {.tickets = 2});
  int64_t before = 0;
  for (size_t i = 0; i < STREAMS; i++) {
    if (i == 1) before = heap_now().bytes; /* what is made once is made */
    REQUIRE_STATUS(bare_new(&bare, resume.options.client.config, resume.options.server.config), SST_OK);
    REQUIRE_STATUS(bare_handshake(&bare), SST_OK);
    REQUIRE_STATUS(bare_echo(&bare, data, sizeof data, out), SST_OK);
    for (sst_session *session; (session = sst_stream_take_session(bare.client.stream)) != NULL;)
      sst_session_free(session);
    sst_event event = {.size = sizeof event};
    while (sst_stream_next_event(bare.client.stream, &event, NULL, 0) == SST_OK)
      continue;
    clients[i] = bare.client.stream;
    sst_stream_free(bare.server.stream);
  }
  const int64_t bytes = (heap_now().bytes - before) / (STREAMS - 1);
  printf("note: idle client that wants sessions, TLS 1.%d: %lld bytes\n", version - SST_TLS1_2 + 2, (long long)bytes);
  EXPECT_AT_LEAST(bytes, 1000);
  EXPECT_AT_MOST(bytes, sst__keeps_ssl() ? SSL_BUDGET : BUDGET);
  for (size_t i = 0; i < STREAMS; i++)
    sst_stream_free(clients[i]);
  resume_free(&resume);
}

TEST_VERSIONS(session_memory, idle_clients_that_want_sessions_are_small) {
  clients_are_small(version);
}

/* ---- work that is not done twice ---- */

/* Allocations of the first handshake call of a client that offers a session. */
static uint64_t allocations_of_an_offer(const Resume *resume, sst_session *session) {
  static Bare bare;
  static uint8_t out[4000];
  sst_progress done;
  REQUIRE_STATUS(bare_new(&bare, resume->options.client.config, resume->options.server.config), SST_OK);
  REQUIRE_STATUS(sst_stream_set_session(bare.client.stream, session), SST_OK);
  allocations_fail_at(0);
  EXPECT_STATUS(sst_stream_handshake(bare.client.stream, NULL, 0, out, sizeof out, &done), SST_NEED_INPUT);
  const uint64_t count = allocations_count();
  bare_end(&bare);
  return count;
}

/* A chain that was found good by the same trust and rules is not verified again; one from bytes is. */
TEST_VERSIONS(session_memory, chain_is_verified_again_only_if_the_session_comes_from_bytes) {
  if (!allocations_are_wrapped()) SKIP("malloc is not wrapped in this build");
  Resume resume = resume_new(version, .server = {.credential = "server-chain"});
  sst_session *session = resume_session(&resume);
  EXPECT_STATUS(sst_session_set_reusable(session, 1), SST_OK);
  const Data bytes = session_bytes(session);
  sst_session *loaded = session_loaded(bytes.bytes, bytes.len);
  const uint64_t known = allocations_of_an_offer(&resume, session);
  EXPECT_AT_LEAST(allocations_of_an_offer(&resume, loaded), known + 50);
  EXPECT_EQ(allocations_of_an_offer(&resume, session), known);

  SideOptions other = {.max_version = version, .report = SESSIONS, .minimum_rsa = 3072};
  resume_set_config(&resume.options.client, pair_config(&other, SST_ROLE_CLIENT));
  EXPECT_AT_LEAST(allocations_of_an_offer(&resume, session), known + 50);
  free(bytes.bytes);
  sst_session_free(loaded);
  sst_session_free(session);
  resume_free(&resume);
}
