/* White-box: 0-RTT beside the other questions: early data that stands behind a ClientHello stays with the caller until
   the server has its answer, and is then taken, or skipped. It opens tickets with BoringSSL, as a caller would. */
#include <string.h>

#include <openssl/aead.h>
#include <openssl/digest.h>
#include <openssl/hkdf.h>

#include "early.h"

enum { NAME = 16, SECRET = 64, SALT = 32, ENTRY = NAME + SECRET + 8 };

static void sends_early(Early *early, const char *text) {
  EXPECT_STATUS(side_send(&early->pair.client, text, strlen(text)), SST_OK);
}

static void reads_early(Early *early, const char *text) {
  Side *server = &early->pair.server;
  EXPECT_STATUS(side_handshake(server), SST_OK);
  EXPECT_EQ(server->progress.flags & SST_EARLY_DATA, SST_EARLY_DATA);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  EXPECT_RECEIVED(server, text, strlen(text));
  EXPECT_STATUS(side_handshake(&early->pair.client), SST_OK);
  EXPECT_STATUS(side_receive(server), SST_NEED_INPUT);
  EXPECT_EQ(sst_stream_state(server->stream), SST_STATE_OPEN);
  pair_echo(&early->pair, 1000);
}

/* Handshake calls until the side stops for something; what is left of the input is early data. */
static void stops_for(Side *side, sst_status want) {
  REQUIRE_STATUS(side_handshake(side), want);
  EXPECT_EQ(sst_stream_state(side->stream), SST_STATE_HANDSHAKE | SST_STATE_SUSPENDED);
}

TEST(early_question, config_is_chosen_while_early_data_waits_behind_the_hello) {
  for (size_t chunk = 0; chunk < 2; chunk++) {
    Early early = early_prepare(EARLY_TAKEN, &(PairOptions){.first = 0});
    sst_config *config = early.resume.options.server.config;
    early.resume.options.server.no_config = true;
    early_start(&early);
    Side *client = &early.pair.client, *server = &early.pair.server;
    const size_t hello = client->out->len;
    sends_early(&early, "early");
    server->chunk = chunk;
    stops_for(server, SST_WANT_CLIENT_HELLO);
    EXPECT_EQ(server->in->taken, hello);
    EXPECT_STATUS(side_call(server, CALL_DECRYPT, wire_head(server->in), wire_waiting(server->in), 100), SST_ERR_STATE);
    EXPECT_STATUS(sst_stream_set_config(server->stream, config), SST_OK);
    reads_early(&early, "early");
    early_free(&early);
  }
}

TEST(early_question, chosen_config_may_refuse_early_data) {
  static const EarlyKind kinds[] = {EARLY_OFF, EARLY_HELLO_RETRY, EARLY_OTHER_KEY, EARLY_OTHER_ALPN};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    test_note("%s", early_name(kinds[i]));
    Early early = early_prepare(kinds[i], &(PairOptions){.first = 0});
    sst_config *config = early.resume.options.server.config;
    early.resume.options.server.no_config = true;
    early_start(&early);
    sends_early(&early, "early");
    stops_for(&early.pair.server, SST_WANT_CLIENT_HELLO);
    EXPECT_STATUS(sst_stream_set_config(early.pair.server.stream, config), SST_OK);
    EXPECT_STATUS(pair_handshake(&early.pair), SST_WANT_EARLY_DATA_RETRY);
    EXPECT_STATUS(sst_stream_continue_without_early_data(early.pair.client.stream), SST_OK);
    EXPECT_STATUS(pair_handshake(&early.pair), SST_OK);
    EXPECT_EQ(early.pair.server.received_len, 0);
    pair_echo(&early.pair, 1000);
    early_free(&early);
  }
}

TEST(early_question, certificate_questions_come_in_the_full_handshake_that_follows_a_refusal) {
  Early early = early_prepare(EARLY_OTHER_KEY, &(PairOptions){.first = 0});
  SideOptions asking = early.resume.options.client;
  asking.config = NULL;
  asking.suspend = ASK(SST_WANT_CERTIFICATE_VERIFY);
  resume_set_config(&early.resume.options.client, pair_config(&asking, SST_ROLE_CLIENT));
  asking = early.resume.options.server;
  asking.config = NULL;
  asking.early_data = 1;
  asking.suspend = ASK(SST_WANT_CERTIFICATE);
  asking.credential = "";
  resume_set_config(&early.resume.options.server, pair_config(&asking, SST_ROLE_SERVER));
  early_start(&early);
  Side *client = &early.pair.client, *server = &early.pair.server;
  sst_credential *credential = data_credential("server-p256");
  sends_early(&early, "early");
  stops_for(server, SST_WANT_CERTIFICATE);
  EXPECT_STATUS(sst_stream_set_credential(server->stream, credential), SST_OK);
  EXPECT_STATUS(pair_handshake(&early.pair), SST_WANT_EARLY_DATA_RETRY);
  EXPECT_STATUS(sst_stream_accept(client->stream), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_continue_without_early_data(client->stream), SST_OK);
  stops_for(client, SST_WANT_CERTIFICATE_VERIFY);
  EXPECT_STATUS(sst_stream_continue_without_early_data(client->stream), SST_ERR_STATE);
  EXPECT_STATUS(sst_stream_accept_default(client->stream), SST_OK);
  EXPECT_STATUS(pair_handshake(&early.pair), SST_OK);
  EXPECT_EQ(server->received_len, 0);
  pair_echo(&early.pair, 1000);
  early_free(&early);
  sst_credential_free(credential);
}

/* ---- tickets ---- */

static sst_ticket_keys *known_ring(uint8_t entry[ENTRY]) {
  memset(entry, 7, NAME + SECRET);
  memset(entry + NAME + SECRET, 0, 8);
  entry[NAME + SECRET + 3] = 1; /* in a hundred years */
  sst_ticket_keys *keys = sst_ticket_keys_new();
  REQUIRE_STATUS(sst_ticket_keys_replace(keys, entry, ENTRY), SST_OK);
  return keys;
}

/* Section 7 of the header: name, salt, AES-256-GCM under a key of HKDF-SHA256. */
static size_t open_ticket(const uint8_t *entry, const uint8_t *ticket, size_t len, uint8_t *out, size_t cap) {
  static const char label[] = "securestream ticket";
  static const uint8_t nonce[12];
  uint8_t key[32];
  size_t out_len = 0;
  EVP_AEAD_CTX aead;
  EVP_AEAD_CTX_zero(&aead);
  REQUIRE(HKDF(key, sizeof key, EVP_sha256(), entry + NAME, SECRET, ticket + NAME, SALT, (const uint8_t *)label,
               sizeof label - 1) == 1);
  REQUIRE(EVP_AEAD_CTX_init(&aead, EVP_aead_aes_256_gcm(), key, sizeof key, 16, NULL) == 1);
  REQUIRE(EVP_AEAD_CTX_open(&aead, out, &out_len, cap, nonce, sizeof nonce, ticket + NAME + SALT, len - NAME - SALT,
                            NULL, 0) == 1);
  EVP_AEAD_CTX_cleanup(&aead);
  return out_len;
}

static Early at_ticket(uint8_t entry[ENTRY]) {
  sst_ticket_keys *keys = known_ring(entry);
  Early early = early_prepare(EARLY_OTHER_KEY,
                              &(PairOptions){.server = {.ticket_keys = keys, .suspend = ASK(SST_WANT_TICKET_DECRYPT)}});
  sst_ticket_keys_free(keys);
  early_start(&early);
  sends_early(&early, "early");
  stops_for(&early.pair.server, SST_WANT_TICKET_DECRYPT);
  return early;
}

TEST(early_question, ticket_that_the_caller_opens_brings_its_early_data) {
  uint8_t entry[ENTRY], ticket[4096], plaintext[4096];
  size_t len = 0;
  Early early = at_ticket(entry);
  sst_stream *server = early.pair.server.stream;
  REQUIRE_STATUS(sst_stream_ticket(server, ticket, sizeof ticket, &len), SST_OK);
  const size_t plaintext_len = open_ticket(entry, ticket, len, plaintext, sizeof plaintext);
  EXPECT_STATUS(sst_stream_set_ticket_plaintext(server, plaintext, plaintext_len), SST_OK);
  reads_early(&early, "early");
  early_free(&early);
}

TEST(early_question, ticket_that_is_ignored_or_is_no_session_refuses_it) {
  for (int ignored = 0; ignored < 2; ignored++) {
    uint8_t entry[ENTRY];
    Early early = at_ticket(entry);
    sst_stream *server = early.pair.server.stream;
    EXPECT_STATUS(ignored ? sst_stream_ignore_ticket(server) : sst_stream_set_ticket_plaintext(server, entry, 20),
                  SST_OK);
    EXPECT_STATUS(pair_handshake(&early.pair), SST_WANT_EARLY_DATA_RETRY);
    EXPECT_STATUS(sst_stream_continue_without_early_data(early.pair.client.stream), SST_OK);
    EXPECT_STATUS(pair_handshake(&early.pair), SST_OK);
    EXPECT_EQ(early.pair.server.received_len, 0);
    pair_echo(&early.pair, 1000);
    early_free(&early);
  }
}
