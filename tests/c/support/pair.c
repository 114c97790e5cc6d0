#include "pair.h"

#include <stdlib.h>
#include <string.h>

static size_t list_length(const uint16_t *list, size_t cap) {
  size_t length = 0;
  while (length < cap && list[length] != 0)
    length++;
  return length;
}

#define LENGTH(list) (sizeof(list) / sizeof *(list))

static void add_credential(sst_config *config, const char *name) {
  if (name == NULL || name[0] == '\0') return;
  sst_credential *credential = data_credential(name);
  REQUIRE_STATUS(sst_config_add_credential(config, credential), SST_OK);
  sst_credential_free(credential);
}

static void set_trust(sst_config *config, const char *name) {
  if (name == NULL || name[0] == '\0') return;
  sst_trust *trust = data_trust(name);
  REQUIRE_STATUS(sst_config_set_trust(config, trust), SST_OK);
  sst_trust_free(trust);
}

static void set_lists(sst_config *config, const SideOptions *options) {
  const size_t groups = list_length(options->groups, LENGTH(options->groups));
  if (groups > 0) REQUIRE_STATUS(sst_config_set_groups(config, options->groups, groups), SST_OK);
  const size_t suites = list_length(options->suites, LENGTH(options->suites));
  if (suites > 0) REQUIRE_STATUS(sst_config_set_tls12_suites(config, options->suites, suites), SST_OK);
  const size_t schemes = list_length(options->schemes, LENGTH(options->schemes));
  if (schemes > 0) REQUIRE_STATUS(sst_config_set_signature_schemes(config, options->schemes, schemes), SST_OK);
  for (size_t i = 0; i < LENGTH(options->alpn) && options->alpn[i] != NULL; i++)
    REQUIRE_STATUS(sst_config_add_alpn(config, (const uint8_t *)options->alpn[i], strlen(options->alpn[i])), SST_OK);
}

static void set_numbers(sst_config *config, const SideOptions *options) {
  if (options->min_version != 0 || options->max_version != 0) {
    const uint16_t min = options->min_version != 0 ? options->min_version : SST_TLS1_2;
    const uint16_t max = options->max_version != 0 ? options->max_version : SST_TLS1_3;
    REQUIRE_STATUS(sst_config_set_versions(config, min, max), SST_OK);
  }
  if (options->profile != 0) REQUIRE_STATUS(sst_config_set_profile(config, options->profile), SST_OK);
  if (options->verify != 0) REQUIRE_STATUS(sst_config_set_verify(config, options->verify), SST_OK);
  if (options->minimum_rsa != 0) REQUIRE_STATUS(sst_config_set_minimum_key(config, options->minimum_rsa), SST_OK);
  if (options->alpn_lenient != 0) REQUIRE_STATUS(sst_config_set_alpn_lenient(config, options->alpn_lenient), SST_OK);
  if (options->client_certificate != 0)
    REQUIRE_STATUS(sst_config_set_client_certificate(config, options->client_certificate), SST_OK);
  if (options->report != 0) REQUIRE_STATUS(sst_config_report(config, options->report), SST_OK);
  if (options->early_data != 0) REQUIRE_STATUS(sst_config_set_early_data(config, options->early_data), SST_OK);
  if (options->suspend != 0) REQUIRE_STATUS(sst_config_suspend_on(config, options->suspend), SST_OK);
  if (options->max_fragment != 0) REQUIRE_STATUS(sst_config_set_max_fragment(config, options->max_fragment), SST_OK);
}

static void set_sessions(sst_config *config, const SideOptions *options) {
  if (options->tickets != TICKETS_BY_DEFAULT)
    REQUIRE_STATUS(sst_config_set_ticket_count(config, options->tickets), SST_OK);
  if (options->lifetime_s != 0) REQUIRE_STATUS(sst_config_set_session_lifetime(config, options->lifetime_s), SST_OK);
  if (options->ticket_keys != NULL) REQUIRE_STATUS(sst_config_set_ticket_keys(config, options->ticket_keys), SST_OK);
}

sst_config *pair_config(const SideOptions *options, int32_t role) {
  sst_config *config = sst_config_new();
  REQUIRE(config != NULL);
  const bool server = role == SST_ROLE_SERVER;
  set_numbers(config, options);
  set_lists(config, options);
  set_sessions(config, options);
  add_credential(config, options->credential == NULL && server ? "server-p256" : options->credential);
  add_credential(config, options->second_credential);
  const bool asks = options->client_certificate != SST_CLIENT_CERTIFICATE_NONE;
  set_trust(config, options->trust != NULL ? options->trust : !server ? "root" : asks ? "client-root" : NULL);
  if (options->client_ca != NULL) {
    const Data ca = data_read(options->client_ca, "pem");
    REQUIRE_STATUS(sst_config_add_client_ca(config, ca.bytes, ca.len), SST_OK);
    free(ca.bytes);
  }
  return config;
}

Side side_new(const SideOptions *options, int32_t role, Wire *in, Wire *out) {
  Side side = {.label = role == SST_ROLE_SERVER ? "server" : "client", .in = in, .out = out};
  if (!options->no_config) {
    side.config = options->config != NULL ? sst_config_ref(options->config) : pair_config(options, role);
  }
  REQUIRE_STATUS(sst_stream_new(side.config, role, &side.stream), SST_OK);
  const int64_t time = options->verify_time != 0 ? options->verify_time : DATA_CLOCK;
  REQUIRE_STATUS(sst_stream_set_verify_time(side.stream, time), SST_OK);
  const char *name = options->server_name == NULL && role == SST_ROLE_CLIENT ? "server.test" : options->server_name;
  if (name != NULL && name[0] != '\0')
    REQUIRE_STATUS(sst_stream_set_server_name(side.stream, name, strlen(name)), SST_OK);
  const char *verify = options->verify_name;
  if (verify != NULL) REQUIRE_STATUS(sst_stream_set_verify_name(side.stream, verify, strlen(verify)), SST_OK);
  if (options->session != NULL) REQUIRE_STATUS(sst_stream_set_session(side.stream, options->session), SST_OK);
  if (options->options != 0) REQUIRE_STATUS(sst_stream_set_options(side.stream, options->options), SST_OK);
  side.leave_partial = (options->options & SST_OPTION_LEAVE_PARTIAL) != 0;
  return side;
}

Pair pair_make(const PairOptions *options) {
  const uint64_t before = sst_live_objects();
  Wire *to_server = wire_new(), *to_client = wire_new();
  Pair pair;
  pair.client = side_new(&options->client, SST_ROLE_CLIENT, to_client, to_server);
  pair.server = side_new(&options->server, SST_ROLE_SERVER, to_server, to_client);
  pair.objects = sst_live_objects() - before;
  return pair;
}

static void side_free(Side *side) {
  sst_stream_free(side->stream);
  sst_config_free(side->config);
  free(side->received);
}

/* Sessions that nobody has taken belong to the stream, and count as objects. */
static void drop_sessions(sst_stream *stream) {
  for (sst_session *session; (session = sst_stream_take_session(stream)) != NULL;)
    sst_session_free(session);
}

void pair_free(Pair *pair) {
  drop_sessions(pair->client.stream);
  const uint64_t before = sst_live_objects();
  side_free(&pair->client);
  side_free(&pair->server);
  wire_free(pair->client.in);
  wire_free(pair->client.out);
  EXPECT_EQ(before - sst_live_objects(), pair->objects);
}

sst_status pair_handshake(Pair *pair) {
  Side *const sides[2] = {&pair->client, &pair->server};
  bool over[2] = {false, false};
  sst_status first = SST_OK;
  while (!over[0] || !over[1]) {
    bool moved = false;
    for (int i = 0; i < 2; i++) {
      if (over[i]) continue;
      Side *side = sides[i];
      const size_t taken = side->in->taken, sent = side->out->len;
      const sst_status status = side_handshake(side);
      if (status >= SST_WANT_CLIENT_HELLO) return status;
      over[i] = status == SST_OK || status < 0;
      if (status < 0 && first == SST_OK) first = status;
      moved |= over[i] || side->in->taken != taken || side->out->len != sent;
    }
    if (moved) continue;
    /* A side that failed without a byte leaves the other waiting. */
    if (first != SST_OK) return first;
    FAIL("stall: both sides wait for input (client %s, server %s)", sst_status_name(pair->client.status),
         sst_status_name(pair->server.status));
  }
  return first;
}

Pair pair_opened(const PairOptions *options) {
  Pair pair = pair_make(options);
  REQUIRE_STATUS(pair_handshake(&pair), SST_OK);
  return pair;
}

void pattern_fill(uint8_t *bytes, size_t len, uint32_t seed) {
  for (size_t i = 0; i < len; i++) {
    seed = seed * 1664525u + 1013904223u;
    bytes[i] = (uint8_t)(seed >> 24);
  }
}

static void send_and_compare(Side *from, Side *to, size_t len, uint32_t seed) {
  uint8_t *data = test_allocate(len);
  pattern_fill(data, len, seed);
  EXPECT_STATUS(side_send(from, data, len), SST_OK);
  EXPECT_STATUS(side_receive(to), SST_NEED_INPUT);
  EXPECT_RECEIVED(to, data, len);
  free(data);
}

void pair_echo(Pair *pair, size_t len) {
  send_and_compare(&pair->client, &pair->server, len, 1);
  send_and_compare(&pair->server, &pair->client, len, 2);
}
