#include "forge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Forge forge_new(Pair *pair, Side *victim) {
  Secrets secrets = {.count = 0};
  secrets_read(&secrets, &pair->client);
  if (secrets.count == 0) secrets_read(&secrets, &pair->server);
  const bool is_client = victim == &pair->client;
  const int32_t role = is_client ? SST_ROLE_CLIENT : SST_ROLE_SERVER;
  const int32_t other = is_client ? SST_ROLE_SERVER : SST_ROLE_CLIENT;
  return (Forge){.victim = victim,
                 .send = secrets_keys(&secrets, pair, EPOCH_DATA, other),
                 .hear = secrets_keys(&secrets, pair, EPOCH_DATA, role)};
}

Forged *forged_open(uint16_t version, int32_t victim, const PairOptions *options) {
  PairOptions all = *options;
  all.client.max_version = all.client.min_version = version;
  all.client.report |= FORGE_EVENTS;
  Forged *forged = test_allocate(sizeof *forged);
  forged->pair = pair_opened(&all);
  forged->forge = forge_new(&forged->pair, victim == SST_ROLE_CLIENT ? &forged->pair.client : &forged->pair.server);
  return forged;
}

void forged_free(Forged *forged) {
  pair_free(&forged->pair);
  free(forged);
}

void forge_send_raw(Forge *forge, const void *bytes, size_t len) {
  wire_insert(forge->victim->in, bytes, len);
}

void forge_send_data(Forge *forge, Data record) {
  forge_send_raw(forge, record.bytes, record.len);
  free(record.bytes);
}

void forge_send(Forge *forge, uint8_t type, const void *data, size_t len) {
  forge_send_data(forge, keys_seal(&forge->send, type, data, len));
}

static void describe(const Opened *opened, char *text, size_t cap) {
  const uint8_t *bytes = opened->plaintext.bytes;
  const size_t len = opened->plaintext.len;
  if (opened->type == RECORD_ALERT && len == 2) {
    snprintf(text, cap, "alert %u %u", bytes[0], bytes[1]);
  } else if (opened->type == RECORD_HANDSHAKE && len == 5) {
    snprintf(text, cap, "handshake %u %u", bytes[0], bytes[4]);
  } else if (opened->type == RECORD_APPLICATION_DATA) {
    snprintf(text, cap, "data %zu", len);
  } else {
    snprintf(text, cap, "type %u of %zu bytes", opened->type, len);
  }
}

void forge_hear(Forge *forge, char *text, size_t text_cap) {
  Wire *wire = forge->victim->out;
  Record record;
  text[0] = '\0';
  while (records_parse(wire_head(wire), wire_waiting(wire), &record, 1) > 0) {
    const size_t len = RECORD_HEADER + (size_t)record.length, used = strlen(text);
    const Opened opened = keys_open(&forge->hear, wire_head(wire), len);
    snprintf(text + used, text_cap - used, "%s", used > 0 ? ", " : "");
    describe(&opened, text + strlen(text), text_cap - strlen(text));
    if (opened.type == RECORD_HANDSHAKE && opened.plaintext.bytes[0] == 24) keys_update(&forge->hear);
    free(opened.plaintext.bytes);
    wire->taken += len;
  }
}
