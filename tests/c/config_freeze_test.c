/*
 * The life of a config: frozen for a role, copied to be changed, shared, and freed in any order.
 */
#include "pair.h"

#include <stdlib.h>
#include <string.h>

static sst_error record_of(const sst_config *config) {
  sst_error error = {.size = sizeof error};
  EXPECT_STATUS(sst_config_last_error(config, &error), SST_OK);
  return error;
}

/* freeze and stream_new must both say what is missing, leave a record, and let the config be mended. */
static void refuses(sst_config *config, int32_t role, sst_status code) {
  sst_stream *stream = (sst_stream *)(void *)config;
  EXPECT_STATUS(sst_config_freeze(config, role), code);
  EXPECT_STATUS(record_of(config).code, code);
  EXPECT(record_of(config).message[0] != '\0');
  if (role != SST_ROLE_BOTH) {
    EXPECT_STATUS(sst_stream_new(config, role, &stream), code);
    EXPECT(stream == NULL);
    EXPECT_STATUS(record_of(config).code, code);
  }
  EXPECT_STATUS(sst_config_set_versions(config, SST_TLS1_2, SST_TLS1_3), SST_OK);
}

TEST(config_freeze, server_without_credential_is_no_credential) {
  sst_config *config = sst_config_new();
  refuses(config, SST_ROLE_SERVER, SST_ERR_NO_CREDENTIAL);
  sst_trust *trust = data_trust("root");
  EXPECT_STATUS(sst_config_set_trust(config, trust), SST_OK);
  refuses(config, SST_ROLE_BOTH, SST_ERR_NO_CREDENTIAL);
  EXPECT_STATUS(sst_config_freeze(config, SST_ROLE_CLIENT), SST_OK);
  sst_trust_free(trust);
  sst_config_free(config);
}

TEST(config_freeze, client_without_trust_is_no_trust) {
  sst_config *config = sst_config_new();
  refuses(config, SST_ROLE_CLIENT, SST_ERR_NO_TRUST);
  sst_trust *empty = sst_trust_new();
  EXPECT_STATUS(sst_config_set_trust(config, empty), SST_OK);
  refuses(config, SST_ROLE_CLIENT, SST_ERR_NO_TRUST);
  EXPECT_STATUS(sst_config_set_verify(config, SST_VERIFY_CHAIN_ONLY), SST_OK);
  refuses(config, SST_ROLE_CLIENT, SST_ERR_NO_TRUST);
  EXPECT_STATUS(sst_config_set_verify(config, SST_VERIFY_NONE), SST_OK);
  EXPECT_STATUS(sst_config_freeze(config, SST_ROLE_CLIENT), SST_OK);
  sst_trust_free(empty);
  sst_config_free(config);
}

/* A server needs trust only if it asks for client certificates and judges them. */
TEST(config_freeze, server_that_asks_without_trust_is_no_trust) {
  for (int32_t mode = SST_CLIENT_CERTIFICATE_REQUEST; mode <= SST_CLIENT_CERTIFICATE_REQUIRE; mode++) {
    sst_config *config = pair_config(&(SideOptions){.client_certificate = mode, .trust = ""}, SST_ROLE_SERVER);
    refuses(config, SST_ROLE_SERVER, SST_ERR_NO_TRUST);
    EXPECT_STATUS(sst_config_set_verify(config, SST_VERIFY_NONE), SST_OK);
    EXPECT_STATUS(sst_config_freeze(config, SST_ROLE_SERVER), SST_OK);
    sst_config_free(config);
  }
  sst_config *config = pair_config(&(SideOptions){.trust = ""}, SST_ROLE_SERVER);
  EXPECT_STATUS(sst_config_freeze(config, SST_ROLE_SERVER), SST_OK);
  sst_config_free(config);
}

TEST(config_freeze, wrong_roles_are_refused) {
  sst_config *config = pair_config(&(SideOptions){0}, SST_ROLE_CLIENT);
  const int32_t wrong[] = {0, 4, -1, INT32_MAX};
  sst_stream *stream = NULL;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    EXPECT_STATUS(sst_config_freeze(config, wrong[i]), SST_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(sst_stream_new(config, wrong[i], &stream), SST_ERR_INVALID_ARGUMENT);
  }
  EXPECT_STATUS(sst_stream_new(config, SST_ROLE_BOTH, &stream), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_new(NULL, SST_ROLE_CLIENT, &stream), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_stream_new(config, SST_ROLE_CLIENT, NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_config_freeze(NULL, SST_ROLE_CLIENT), SST_ERR_INVALID_ARGUMENT);
  EXPECT(stream == NULL);
  /* None of these has frozen it. */
  EXPECT_STATUS(sst_config_set_verify(config, SST_VERIFY_FULL), SST_OK);
  sst_config_free(config);
}

static void every_setter_is_frozen(sst_config *config) {
  static const uint16_t group = 29, suite = 0xc02b, scheme = 0x0403;
  static const uint8_t name[] = {0x30, 0};
  sst_credential *credential = data_credential("server-p256");
  sst_trust *trust = data_trust("root");
  const sst_error before = record_of(config);
  const sst_status statuses[] = {sst_config_set_profile(config, SST_PROFILE_COMPAT),
                                 sst_config_set_versions(config, SST_TLS1_2, SST_TLS1_2),
                                 sst_config_set_groups(config, &group, 1),
                                 sst_config_set_tls12_suites(config, &suite, 1),
                                 sst_config_set_signature_schemes(config, &scheme, 1),
                                 sst_config_add_alpn(config, name, 2),
                                 sst_config_set_alpn_lenient(config, 1),
                                 sst_config_set_verify(config, SST_VERIFY_NONE),
                                 sst_config_set_client_certificate(config, SST_CLIENT_CERTIFICATE_NONE),
                                 sst_config_add_client_ca(config, name, 2),
                                 sst_config_set_minimum_key(config, 1024),
                                 sst_config_set_chain_digests(config, SST_CHAIN_DIGEST_SHA1),
                                 sst_config_add_credential(config, credential),
                                 sst_config_set_trust(config, trust),
                                 sst_config_set_trust(config, NULL),
                                 sst_config_set_max_fragment(config, 512),
                                 sst_config_report(config, 0)};
  for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
    test_note("setter %zu", i);
    EXPECT_STATUS(statuses[i], SST_ERR_FROZEN);
  }
  test_note(NULL);
  /* FROZEN leaves no record; and what a config refused is not frozen by it. */
  const sst_error after = record_of(config);
  EXPECT_BYTES(&after, sizeof after, &before, sizeof before);
  const Data more = data_read("client-root", "pem");
  EXPECT_STATUS(sst_trust_load_pem(trust, more.bytes, more.len), SST_OK);
  free(more.bytes);
  sst_credential_free(credential);
  sst_trust_free(trust);
}

TEST(config_freeze, every_setter_of_a_frozen_config_is_err_frozen) {
  sst_config *config = pair_config(&(SideOptions){0}, SST_ROLE_CLIENT);
  EXPECT_STATUS(sst_config_freeze(config, SST_ROLE_CLIENT), SST_OK);
  EXPECT_STATUS(sst_config_freeze(config, SST_ROLE_CLIENT), SST_OK);
  every_setter_is_frozen(config);
  sst_config_free(config);
}

TEST(config_freeze, first_stream_freezes_the_config) {
  sst_config *config = pair_config(&(SideOptions){0}, SST_ROLE_SERVER);
  sst_stream *stream = NULL;
  EXPECT_STATUS(sst_stream_new(config, SST_ROLE_SERVER, &stream), SST_OK);
  every_setter_is_frozen(config);
  sst_stream_free(stream);
  every_setter_is_frozen(config);
  sst_config_free(config);
}

/* A frozen config is complete for the roles that it was checked for; another role is checked when it is asked for. */
TEST(config_freeze, frozen_for_one_role_still_checks_the_other) {
  sst_config *config = pair_config(&(SideOptions){0}, SST_ROLE_CLIENT);
  sst_stream *stream = NULL;
  EXPECT_STATUS(sst_config_freeze(config, SST_ROLE_CLIENT), SST_OK);
  EXPECT_STATUS(sst_config_freeze(config, SST_ROLE_SERVER), SST_ERR_NO_CREDENTIAL);
  EXPECT_STATUS(sst_stream_new(config, SST_ROLE_SERVER, &stream), SST_ERR_NO_CREDENTIAL);
  EXPECT(stream == NULL);
  EXPECT_STATUS(record_of(config).code, SST_ERR_NO_CREDENTIAL);
  EXPECT_STATUS(sst_config_set_verify(config, SST_VERIFY_NONE), SST_ERR_FROZEN);
  EXPECT_STATUS(sst_stream_new(config, SST_ROLE_CLIENT, &stream), SST_OK);
  sst_stream_free(stream);
  sst_config_free(config);
}

TEST(config_freeze, both_roles_serve_both_sides) {
  sst_config *config = pair_config(&(SideOptions){.trust = "root", .alpn = {"x"}}, SST_ROLE_SERVER);
  EXPECT_STATUS(sst_config_freeze(config, SST_ROLE_BOTH), SST_OK);
  Pair pair = pair_open(.client = {.config = config}, .server = {.config = config});
  EXPECT_STRING(side_text(&pair.client, sst_stream_alpn), "x");
  pair_echo(&pair, 1000);
  pair_free(&pair);
  sst_config_free(config);
}

/* A certificate is reloaded by a copy: streams of the old config live on with it. */
TEST(config_freeze, copy_is_unfrozen_and_has_the_same_settings) {
  sst_config *old = pair_config(&(SideOptions){.alpn = {"x"},
                                               .max_version = SST_TLS1_2,
                                               .groups = {23},
                                               .client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE},
                                SST_ROLE_SERVER);
  Pair first = pair_new(.server = {.config = old}, .client = {.alpn = {"y", "x"}, .credential = "client-p256"});
  sst_config *copy = sst_config_copy(old);
  REQUIRE(copy != NULL);
  EXPECT_EQ(record_of(copy).code, SST_OK);
  EXPECT_STATUS(sst_config_add_alpn(copy, (const uint8_t *)"y", 1), SST_OK);
  EXPECT_STATUS(sst_config_set_versions(copy, SST_TLS1_3, SST_TLS1_3), SST_OK);

  Pair second = pair_new(.server = {.config = copy}, .client = {.alpn = {"y"}, .credential = "client-p256"});
  EXPECT_STATUS(pair_handshake(&first), SST_OK);
  EXPECT_STATUS(pair_handshake(&second), SST_OK);
  EXPECT_STRING(side_text(&first.server, sst_stream_alpn), "x");
  EXPECT_STRING(side_text(&second.server, sst_stream_alpn), "y");
  EXPECT_EQ(info_of(&first.server).version, SST_TLS1_2);
  EXPECT_EQ(info_of(&second.server).version, SST_TLS1_3);
  EXPECT_EQ(info_of(&second.server).group, 23);
  EXPECT_EQ(sst_stream_num_peer_certificates(second.server.stream), 1);
  pair_free(&first);
  pair_free(&second);
  sst_config_free(old);
  sst_config_free(copy);
}

TEST(config_freeze, copy_of_unfrozen_and_of_null) {
  sst_config *config = pair_config(&(SideOptions){.alpn = {"x"}}, SST_ROLE_CLIENT);
  sst_config *copy = sst_config_copy(config);
  REQUIRE(copy != NULL);
  EXPECT_STATUS(sst_config_freeze(copy, SST_ROLE_CLIENT), SST_OK);
  EXPECT_STATUS(sst_config_set_verify(config, SST_VERIFY_NONE), SST_OK);
  EXPECT(sst_config_copy(NULL) == NULL);
  sst_config_free(copy);
  sst_config_free(config);
}

/* Whatever takes an object keeps it: the owner may drop its references in any order. */
static void free_one(int which, sst_credential *credential, sst_trust *trust, sst_config *config, sst_stream *stream) {
  switch (which) {
    case 0:
      sst_credential_free(credential);
      break;
    case 1:
      sst_trust_free(trust);
      break;
    case 2:
      sst_config_free(config);
      break;
    default:
      sst_stream_free(stream);
  }
}

TEST(config_freeze, objects_may_be_freed_in_any_order) {
  const uint64_t before = sst_live_objects();
  for (int order = 0; order < 256; order++) {
    const int places[4] = {order & 3, order >> 2 & 3, order >> 4 & 3, order >> 6};
    if ((1 << places[0] | 1 << places[1] | 1 << places[2] | 1 << places[3]) != 15) continue;
    sst_credential *credential = data_credential("server-p256");
    sst_trust *trust = data_trust("root");
    sst_config *config = sst_config_new();
    sst_stream *stream = NULL;
    EXPECT_STATUS(sst_config_add_credential(config, credential), SST_OK);
    EXPECT_STATUS(sst_config_set_trust(config, trust), SST_OK);
    EXPECT_STATUS(sst_stream_new(config, SST_ROLE_SERVER, &stream), SST_OK);
    EXPECT_EQ(sst_live_objects(), before + 4);
    for (int i = 0; i < 4; i++)
      free_one(places[i], credential, trust, config, stream);
    EXPECT_EQ(sst_live_objects(), before);
  }
}

/* A stream is the last to hold its config, credential and trust, and works with them. */
TEST_VERSIONS(config_freeze, stream_keeps_what_it_needs_alive) {
  sst_config *client = pair_config(&(SideOptions){.max_version = version}, SST_ROLE_CLIENT);
  sst_config *server = pair_config(&(SideOptions){0}, SST_ROLE_SERVER);
  Pair pair = pair_new(.client = {.config = client}, .server = {.config = server});
  sst_config_free(client);
  sst_config_free(server);
  sst_config_free(pair.client.config);
  sst_config_free(pair.server.config);
  pair.client.config = pair.server.config = NULL;
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  pair_echo(&pair, 1000);
  /* The pair counted the configs as kept by the test: now each goes with its stream, and so do trust and credential. */
  pair.objects += 4;
  pair_free(&pair);
}

TEST(config_freeze, references_are_counted) {
  const uint64_t before = sst_live_objects();
  sst_config *config = sst_config_new();
  sst_credential *credential = sst_credential_new();
  sst_trust *trust = sst_trust_new();
  EXPECT_EQ(sst_live_objects(), before + 3);
  EXPECT(sst_config_ref(config) == config);
  EXPECT(sst_credential_ref(credential) == credential);
  EXPECT(sst_trust_ref(trust) == trust);
  EXPECT_EQ(sst_live_objects(), before + 3);
  for (int left = 3; left >= 0; left -= 3) {
    sst_config_free(config);
    sst_credential_free(credential);
    sst_trust_free(trust);
    EXPECT_EQ(sst_live_objects(), before + (uint64_t)left);
  }
  EXPECT(sst_config_ref(NULL) == NULL);
  EXPECT(sst_credential_ref(NULL) == NULL);
  EXPECT(sst_trust_ref(NULL) == NULL);
  sst_config_free(NULL);
  sst_credential_free(NULL);
  sst_trust_free(NULL);
  sst_stream_free(NULL);
}

/* Many streams of one config: memory grows by streams only, and all of it comes back. */
TEST(config_freeze, freed_streams_leave_no_bytes) {
  sst_config *client = pair_config(&(SideOptions){0}, SST_ROLE_CLIENT);
  sst_config *server = pair_config(&(SideOptions){0}, SST_ROLE_SERVER);
  uint64_t bytes = 0;
  for (int round = 0; round < 20; round++) {
    Pair pair = pair_open(.client = {.config = client}, .server = {.config = server});
    pair_echo(&pair, 20000);
    pair_free(&pair);
    if (round == 4) bytes = sst_allocated_bytes();
  }
  EXPECT_EQ(sst_allocated_bytes(), bytes);
  sst_config_free(client);
  sst_config_free(server);
}

static void expect_leaf_of_peer(const sst_stream *stream, const char *name) {
  uint8_t der[4096];
  size_t len = 0;
  const Data expected = data_certificate(name, 0);
  EXPECT_STATUS(sst_stream_peer_certificate(stream, 0, der, sizeof der, &len), SST_OK);
  EXPECT(len == expected.len && memcmp(der, expected.bytes, len) == 0);
  free(expected.bytes);
}

/* The way to another certificate without a stop: streams made before, and those under way, have the old one to their
   end. */
TEST_VERSIONS(config_freeze, certificate_is_reloaded_by_copy_clear_and_add) {
  sst_config *old = pair_config(&(SideOptions){.max_version = version}, SST_ROLE_SERVER);
  Pair before = pair_new(.server = {.config = old});
  sst_config *next = sst_config_copy(old);
  sst_credential *credential = data_credential("server-p384");
  REQUIRE(next != NULL && credential != NULL);
  EXPECT_STATUS(sst_config_clear_credentials(old), SST_ERR_FROZEN);
  EXPECT_STATUS(sst_config_clear_credentials(next), SST_OK);
  EXPECT_STATUS(sst_config_freeze(next, SST_ROLE_SERVER), SST_ERR_NO_CREDENTIAL);
  EXPECT_STATUS(sst_config_add_credential(next, credential), SST_OK);
  sst_credential_free(credential);

  Pair after = pair_new(.server = {.config = next});
  EXPECT_STATUS(pair_handshake(&before), SST_OK);
  EXPECT_STATUS(pair_handshake(&after), SST_OK);
  expect_leaf_of_peer(before.client.stream, "server-p256");
  expect_leaf_of_peer(after.client.stream, "server-p384");
  pair_free(&before);
  pair_free(&after);
  sst_config_free(old);
  sst_config_free(next);
}

TEST(config_freeze, lists_are_emptied_on_a_copy_alone) {
  sst_config *old = pair_config(&(SideOptions){.alpn = {"x"}}, SST_ROLE_SERVER);
  Data ca = data_read("client-root", "pem");
  EXPECT_STATUS(sst_config_add_client_ca(old, ca.bytes, ca.len), SST_OK);
  EXPECT_STATUS(sst_config_freeze(old, SST_ROLE_SERVER), SST_OK);
  EXPECT_STATUS(sst_config_clear_alpn(old), SST_ERR_FROZEN);
  EXPECT_STATUS(sst_config_clear_client_cas(old), SST_ERR_FROZEN);
  sst_config *copy = sst_config_copy(old);
  REQUIRE(copy != NULL);
  EXPECT_STATUS(sst_config_clear_alpn(copy), SST_OK);
  EXPECT_STATUS(sst_config_clear_client_cas(copy), SST_OK);
  EXPECT_STATUS(sst_config_clear_alpn(copy), SST_OK);
  EXPECT_STATUS(sst_config_clear_credentials(NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_config_clear_alpn(NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_config_clear_client_cas(NULL), SST_ERR_INVALID_ARGUMENT);

  Pair pair = pair_open(.server = {.config = copy}, .client = {.alpn = {"y"}}); /* without a list nothing is refused */
  EXPECT_STRING(side_text(&pair.server, sst_stream_alpn), "");
  Pair strict = pair_new(.server = {.config = old}, .client = {.alpn = {"y"}});
  EXPECT_STATUS(pair_handshake(&strict), SST_ERR_NO_APPLICATION_PROTOCOL);
  pair_free(&pair);
  pair_free(&strict);
  sst_config_free(old);
  sst_config_free(copy);
  free(ca.bytes);
}

/* RSA keys under 2,048 bits are for those who say so, by name, and on both sides. */
TEST(config_freeze, small_rsa_key_wants_the_minimum_lowered) {
  sst_credential *credential = data_credential("server-rsa1024");
  sst_config *config = sst_config_new();
  EXPECT_STATUS(sst_config_add_credential(config, credential), SST_OK);
  refuses(config, SST_ROLE_SERVER, SST_ERR_UNSUPPORTED_KEY);
  EXPECT_STRING(record_of(config).message,
                "credential 1 of 1 has an RSA key of 1024 bits; this config takes 2048 to 8192");
  EXPECT_STATUS(sst_config_set_minimum_key(config, 1025), SST_OK);
  refuses(config, SST_ROLE_SERVER, SST_ERR_UNSUPPORTED_KEY);
  EXPECT_STATUS(sst_config_set_minimum_key(config, 1024), SST_OK);
  EXPECT_STATUS(sst_config_freeze(config, SST_ROLE_SERVER), SST_OK);
  sst_config_free(config);
  sst_credential_free(credential);
}
