#include "party.h"

#include <stdlib.h>
#include <string.h>

#include "pair.h"

Party party_new(const Case *what) {
  const bool mutual = what->client[0] != '\0';
  Party party = {.what = what};
  party.credential[SERVER] = data_credential(what->leaf);
  party.trust[CLIENT] = data_trust("root");
  if (mutual) {
    party.credential[CLIENT] = data_credential(what->client);
    party.trust[SERVER] = data_trust("client-root");
  }
  party_renew(&party);
  return party;
}

static void free_configs(Party *party) {
  sst_config_free(party->config[CLIENT]);
  sst_config_free(party->config[SERVER]);
}

void party_free(Party *party) {
  free_configs(party);
  for (int side = CLIENT; side <= SERVER; side++) {
    sst_credential_free(party->credential[side]);
    sst_trust_free(party->trust[side]);
  }
}

static sst_config *config_new(const Party *party, int side) {
  const Case *what = party->what;
  SideOptions options = {.min_version = what->version,
                         .max_version = what->version,
                         .minimum_rsa = what->minimum_rsa,
                         .tickets = TICKETS_BY_DEFAULT,
                         .early_data = what->kind == &kind_early ? 1 : 0,
                         .credential = "",
                         .trust = ""};
  const bool wants_sessions = what->kind == &kind_resumed || what->kind == &kind_early;
  if (side == CLIENT && wants_sessions) options.report = UINT32_C(1) << SST_EVENT_SESSION;
  memcpy(options.groups, what->groups, sizeof options.groups);
  if (side == SERVER && what->client[0] != '\0') options.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE;
  sst_config *config = pair_config(&options, side == CLIENT ? SST_ROLE_CLIENT : SST_ROLE_SERVER);
  if (party->credential[side] != NULL)
    REQUIRE_STATUS(sst_config_add_credential(config, party->credential[side]), SST_OK);
  if (party->trust[side] != NULL) REQUIRE_STATUS(sst_config_set_trust(config, party->trust[side]), SST_OK);
  return config;
}

void party_renew(Party *party) {
  free_configs(party);
  for (int side = CLIENT; side <= SERVER; side++)
    party->config[side] = config_new(party, side);
}

void party_open(const Party *party, Bare *bare) {
  static uint8_t plain[16384], read[sizeof plain];
  pattern_fill(plain, sizeof plain, 1);
  REQUIRE_STATUS(bare_new(bare, party->config[CLIENT], party->config[SERVER]), SST_OK);
  REQUIRE_STATUS(bare_handshake(bare), SST_OK);
  REQUIRE_STATUS(bare_echo(bare, plain, sizeof plain, read), SST_OK);
}

Crowd crowd_new(size_t cap) {
  Crowd crowd = {.cap = cap};
  for (int side = CLIENT; side <= SERVER; side++)
    crowd.streams[side] = test_allocate(cap * sizeof *crowd.streams[side]);
  return crowd;
}

void crowd_grow(Crowd *crowd, const Party *party, size_t num) {
  static Bare bare;
  REQUIRE(num <= crowd->cap - crowd->num);
  for (size_t i = 0; i < num; i++, crowd->num++) {
    party_open(party, &bare);
    crowd->streams[CLIENT][crowd->num] = bare.client.stream;
    crowd->streams[SERVER][crowd->num] = bare.server.stream;
  }
}

double crowd_leave(Crowd *crowd, int side) {
  const uint64_t before = sst_allocated_bytes();
  for (size_t i = 0; i < crowd->num; i++) {
    sst_stream_free(crowd->streams[side][i]);
    crowd->streams[side][i] = NULL;
  }
  return (double)(before - sst_allocated_bytes()) / (double)crowd->num;
}

void crowd_free(Crowd *crowd) {
  for (int side = CLIENT; side <= SERVER; side++) {
    for (size_t i = 0; i < crowd->num; i++)
      sst_stream_free(crowd->streams[side][i]);
    free(crowd->streams[side]);
  }
}
