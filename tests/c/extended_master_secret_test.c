/*
 * Extended master secret (RFC 7627): a TLS 1.2 peer without it is refused in both roles, unless the profile says
 * otherwise. Two kinds of peers: ours with the extension taken off the wire, and OpenSSL with it turned off.
 */
#include "hello.h"
#include "openssl_peer.h"

#include <stdlib.h>
#include <string.h>

enum { SERVER_HELLO = 2, HANDSHAKE_HEADER = 4, EXTENSION_LEN = 4, UNKNOWN_EXTENSION = 0x5a5a };

/* Renames the extension in the ClientHello on its way: its length stays, and the server sees an unknown one. */
static void rename_in_client_hello(uint8_t *bytes, size_t len, size_t offset, void *context) {
  bool *done = context;
  if (offset > 0) return;
  Hello hello = hello_read(bytes, len);
  size_t body_len = 1;
  const uint8_t *body = hello_extension(&hello, EXTENSION_EXTENDED_MASTER_SECRET, &body_len);
  REQUIRE(body != NULL && body_len == 0);
  /* The hello is one record, so that its bytes lie at the same place on the wire. */
  uint8_t *type = bytes + RECORD_HEADER + (body - hello.message.bytes) - EXTENSION_LEN;
  type[0] = UNKNOWN_EXTENSION >> 8;
  type[1] = UNKNOWN_EXTENSION & 0xff;
  hello_free(&hello);
  *done = true;
}

static Pair pair_without_in_client_hello(int32_t profile, bool *done) {
  Pair pair = pair_new(.client = {.max_version = SST_TLS1_2, .profile = profile}, .server = {.profile = profile});
  pair.client.out->in_flight = rename_in_client_hello;
  pair.client.out->context = done;
  return pair;
}

/* The server looks at the hello, before it has sent anything. */
TEST(extended_master_secret, server_refuses_a_hello_without_it) {
  bool done = false;
  Pair pair = pair_without_in_client_hello(SST_PROFILE_DEFAULT, &done);
  EXPECT_STATUS(pair_handshake(&pair), SST_ERR_NO_EXTENDED_MASTER_SECRET);
  EXPECT(done);
  EXPECT_STATUS(error_of(&pair.server).code, SST_ERR_NO_EXTENDED_MASTER_SECRET);
  EXPECT_EQ(error_of(&pair.server).alert_sent, 40);
  EXPECT_CONTAINS(error_of(&pair.server).message, "SST_PROFILE_COMPAT");
  EXPECT_STATUS(error_of(&pair.client).code, SST_ERR_ALERT_RECEIVED - 40);
  EXPECT_EQ(records_count(pair.server.out, 0, 0), 1); /* the alert and nothing before it */
  pair_free(&pair);
}

/* A compatible server takes the hello and answers; that the client then finds its hello changed is another matter. */
TEST(extended_master_secret, compatible_server_answers_a_hello_without_it) {
  bool done = false;
  Pair pair = pair_without_in_client_hello(SST_PROFILE_COMPAT, &done);
  side_handshake(&pair.client);
  EXPECT_STATUS(side_handshake(&pair.server), SST_NEED_INPUT);
  EXPECT(done);
  EXPECT_AT_LEAST(records_count(pair.server.out, 0, RECORD_HANDSHAKE), 1);
  EXPECT_EQ(records_count(pair.server.out, 0, RECORD_ALERT), 0);
  pair_free(&pair);
}

static size_t read_number(const uint8_t *at, size_t bytes) {
  size_t value = 0;
  for (size_t i = 0; i < bytes; i++)
    value = value << 8 | at[i];
  return value;
}

static void lessen(uint8_t *at, size_t bytes, size_t by) {
  const size_t value = read_number(at, bytes) - by;
  for (size_t i = 0; i < bytes; i++)
    at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

/* Takes the extension out of the ServerHello that waits for the client, lengths included (RFC 5246, 7.4.1.3). */
static void strip_from_server_hello(Wire *wire) {
  uint8_t *flight = wire->bytes + wire->taken;
  uint8_t *message = flight + RECORD_HEADER;
  REQUIRE(flight[0] == RECORD_HANDSHAKE && message[0] == SERVER_HELLO);
  uint8_t *id = message + HANDSHAKE_HEADER + 2 + 32;
  uint8_t *extensions = id + 1 + id[0] + 2 + 1, *end = extensions + 2 + read_number(extensions, 2);
  uint8_t *at = extensions + 2;
  while (at < end && read_number(at, 2) != EXTENSION_EXTENDED_MASTER_SECRET)
    at += EXTENSION_LEN + read_number(at + 2, 2);
  REQUIRE(at < end);
  memmove(at, at + EXTENSION_LEN, (size_t)(wire->bytes + wire->len - at) - EXTENSION_LEN);
  wire->len -= EXTENSION_LEN;
  lessen(flight + 3, 2, EXTENSION_LEN);
  lessen(message + 1, 3, EXTENSION_LEN);
  lessen(extensions, 2, EXTENSION_LEN);
}

TEST(extended_master_secret, client_refuses_a_server_hello_without_it) {
  Pair pair = pair_new(.client = {.max_version = SST_TLS1_2});
  side_handshake(&pair.client);
  side_handshake(&pair.server);
  strip_from_server_hello(pair.client.in);
  EXPECT_STATUS(side_handshake(&pair.client), SST_ERR_NO_EXTENDED_MASTER_SECRET);
  EXPECT_EQ(error_of(&pair.client).alert_sent, 40);
  EXPECT_STATUS(side_handshake(&pair.server), SST_ERR_ALERT_RECEIVED - 40);
  pair_free(&pair);
}

/* The check stands before verification, and does not depend on it. */
TEST(extended_master_secret, client_that_does_not_verify_refuses_too) {
  Pair pair = pair_new(.client = {.max_version = SST_TLS1_2, .verify = SST_VERIFY_NONE, .trust = ""});
  side_handshake(&pair.client);
  side_handshake(&pair.server);
  strip_from_server_hello(pair.client.in);
  EXPECT_STATUS(side_handshake(&pair.client), SST_ERR_NO_EXTENDED_MASTER_SECRET);
  EXPECT_EQ(error_of(&pair.client).alert_sent, 40);
  pair_free(&pair);
}

/* ---- OpenSSL ---- */

static void foreign_echo(Foreign *foreign) {
  char text[16];
  EXPECT_STATUS(side_send(&foreign->side, "ours", 4), SST_OK);
  EXPECT_EQ(openssl_read(foreign->peer, text, sizeof text), 4);
  EXPECT(openssl_write(foreign->peer, "theirs", 6));
  EXPECT_STATUS(side_receive(&foreign->side), SST_NEED_INPUT);
  EXPECT_RECEIVED(&foreign->side, "theirs", 6);
}

static void against_openssl(int32_t role, int32_t profile, bool without, sst_status expected) {
  const SideOptions ours = {.max_version = SST_TLS1_2, .profile = profile};
  const OpensslOptions theirs = {.version = SST_TLS1_2, .no_extended_master_secret = without};
  Foreign foreign = foreign_new(role, &ours, &theirs);
  EXPECT_STATUS(openssl_handshake(foreign.peer, &foreign.side), expected);
  EXPECT_EQ(openssl_finished(foreign.peer), expected == SST_OK);
  if (expected == SST_OK) {
    const bool has_it = (info_of(&foreign.side).flags & SST_INFO_EXTENDED_MASTER_SECRET) != 0;
    EXPECT_EQ(has_it, !without);
    foreign_echo(&foreign);
  } else {
    EXPECT_EQ(error_of(&foreign.side).alert_sent, 40);
    EXPECT_EQ(openssl_alert(foreign.peer), 40);
  }
  foreign_free(&foreign);
}

TEST(extended_master_secret, openssl_peer_with_it_is_accepted) {
  against_openssl(SST_ROLE_CLIENT, SST_PROFILE_DEFAULT, false, SST_OK);
  against_openssl(SST_ROLE_SERVER, SST_PROFILE_DEFAULT, false, SST_OK);
}

TEST(extended_master_secret, openssl_server_without_it_is_refused) {
  against_openssl(SST_ROLE_CLIENT, SST_PROFILE_DEFAULT, true, SST_ERR_NO_EXTENDED_MASTER_SECRET);
}

TEST(extended_master_secret, openssl_client_without_it_is_refused) {
  against_openssl(SST_ROLE_SERVER, SST_PROFILE_DEFAULT, true, SST_ERR_NO_EXTENDED_MASTER_SECRET);
}

TEST(extended_master_secret, openssl_peer_without_it_is_accepted_by_the_compatible_profile) {
  against_openssl(SST_ROLE_CLIENT, SST_PROFILE_COMPAT, true, SST_OK);
  against_openssl(SST_ROLE_SERVER, SST_PROFILE_COMPAT, true, SST_OK);
}
