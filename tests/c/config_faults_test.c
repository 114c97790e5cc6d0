/* White-box: configs with each of their allocations failing. A setter or freeze that failed has changed nothing: the same
   config goes on from there, and a handshake with it succeeds. */
#include <stdlib.h>
#include <string.h>

#include "bare.h"
#include "data.h"
#include "faults.h"

typedef struct Making {
  int32_t role;
  Data pem, name;
  sst_credential *credential;
  sst_trust *trust;
  sst_config *config, *copy;
  int step; /* the next */
} Making;

static sst_status take_step(Making *making) {
  sst_config *config = making->config;
  switch (making->step) {
    case 0:
      making->config = sst_config_new();
      return making->config == NULL ? SST_ERR_NO_MEMORY : SST_OK;
    case 1:
      return sst_config_add_alpn(config, (const uint8_t *)"h2", 2);
    case 2:
      return sst_config_add_alpn(config, (const uint8_t *)"x", 1);
    case 3:
      return sst_config_add_client_ca(config, making->pem.bytes, making->pem.len);
    case 4:
      return sst_config_add_client_ca(config, making->name.bytes, making->name.len);
    case 5:
      return sst_config_set_trust(config, making->trust);
    case 6:
      return sst_config_add_credential(config, making->credential);
    case 7:
      return sst_config_freeze(config, making->role);
    case 8:
      making->copy = sst_config_copy(config);
      return making->copy == NULL ? SST_ERR_NO_MEMORY : SST_OK;
    default:
      return SST_NONE;
  }
}

static sst_status make(void *context) {
  Making *making = context;
  sst_status status;
  while ((status = take_step(making)) == SST_OK)
    making->step++;
  return status == SST_NONE ? SST_OK : status;
}

static void start(void *context) {
  Making *making = context;
  making->config = making->copy = NULL;
  making->step = 0;
}

static void shake_hands(sst_config *client, sst_config *server) {
  static Bare bare;
  uint8_t protocol[8];
  size_t len = 0;
  REQUIRE_STATUS(bare_new(&bare, client, server), SST_OK);
  EXPECT_STATUS(bare_handshake(&bare), SST_OK);
  EXPECT_STATUS(sst_stream_alpn(bare.client.stream, protocol, sizeof protocol, &len), SST_OK);
  EXPECT_TEXT(protocol, len, "h2");
  bare_end(&bare);
}

/* One side is what was made, the other its copy, which has frozen nothing. */
static void check(void *context, sst_status status) {
  Making *making = context;
  sst_error error = {.size = sizeof error};
  if (status != SST_OK && making->step > 0 && making->step < 8) {
    EXPECT_STATUS(sst_config_last_error(making->config, &error), SST_OK);
    EXPECT_STATUS(error.code, SST_ERR_NO_MEMORY);
    EXPECT(error.message[0] != 0);
  }
  EXPECT_STATUS(make(making), SST_OK);
  if (making->role != SST_ROLE_SERVER) shake_hands(making->config, making->copy);
  if (making->role != SST_ROLE_CLIENT) shake_hands(making->copy, making->config);
  sst_config_free(making->config);
  sst_config_free(making->copy);
}

static void each(const char *name, int32_t role) {
  Making making = {.role = role,
                   .pem = data_read("root", "pem"),
                   .name = data_certificate("client-root", 0),
                   .credential = data_credential("server-p256"),
                   .trust = data_trust("root")};
  const Faults faults = {name, &making, start, make, check, SST_OK};
  faults_each(&faults);
  sst_credential_free(making.credential);
  sst_trust_free(making.trust);
  free(making.pem.bytes);
  free(making.name.bytes);
}

TEST(config_faults, client_is_made_or_goes_on) {
  each("a client's config", SST_ROLE_CLIENT);
}

TEST(config_faults, server_is_made_or_goes_on) {
  each("a server's config", SST_ROLE_SERVER);
}

TEST(config_faults, both_are_made_or_go_on) {
  each("a config of both roles", SST_ROLE_BOTH);
}
