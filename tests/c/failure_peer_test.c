/* White-box: peers at fault, and the code, the alert and the reason by which they are told (docs/errors.md). */
#include <stdlib.h>
#include <string.h>

#include "flight.h"
#include "forge.h"
#include "hello.h"

enum { CERTIFICATE = 11, COMPRESSED_CERTIFICATE = 25, SERVER_KEY_EXCHANGE = 12, MESSAGE_HEADER = 4 };

static void expect_told(const Side *side, sst_status code, int32_t alert, const char *reason) {
  const sst_error error = error_of(side);
  EXPECT_STATUS(error.code, code);
  EXPECT_EQ(error.alert_sent, alert);
  EXPECT_CONTAINS(error.message, reason);
}

static Unit *message_of(Flight *flight, uint8_t type) {
  for (size_t i = 0; i < flight->count; i++)
    if (flight->units[i].type == RECORD_HANDSHAKE && flight->units[i].bytes.bytes[0] == type) return &flight->units[i];
  FAIL("the flight has no message %d", type);
}

/* ---- the server's flight ---- */

typedef void (*Change)(Unit *message);

typedef struct Fault {
  uint16_t version;
  uint8_t message;
  Change change;
  sst_status code;
  int32_t alert;
  const char *reason;
} Fault;

static uint8_t *find(Unit *message, const char *bytes, size_t len) {
  for (size_t i = 0; i + len <= message->bytes.len; i++)
    if (memcmp(message->bytes.bytes + i, bytes, len) == 0) return message->bytes.bytes + i;
  FAIL("the message does not have these bytes");
}

static void end_of_signature(Unit *message) {
  message->bytes.bytes[message->bytes.len - 1] ^= 1;
}

/* id-ecPublicKey (RFC 5480) becomes an algorithm that nobody has. */
static void algorithm_of_key(Unit *message) {
  find(message, "\x06\x07\x2a\x86\x48\xce\x3d\x02\x01", 9)[8] ^= 0x40;
}

/* The BIT STRING with the uncompressed point of P-256. */
static void point_of_key(Unit *message) {
  find(message, "\x03\x42\x00\x04", 4)[20] ^= 1;
}

static void form_of_point(Unit *message) {
  find(message, "\x03\x42\x00\x04", 4)[3] = 9;
}

static void certificate_itself(Unit *message) {
  find(message, "\x30\x82", 2)[0] = 0x31;
}

/* CompressedCertificate (RFC 8879), which no ClientHello of ours allows. */
static void compressed(Unit *message, uint32_t length) {
  const uint8_t body[] = {COMPRESSED_CERTIFICATE, 0, 0, 9, 0, 2, (uint8_t)(length >> 16), (uint8_t)(length >> 8),
                          (uint8_t)length,        0, 0, 1, 0};
  message->bytes.bytes = test_reallocate(message->bytes.bytes, sizeof body);
  memcpy(message->bytes.bytes, body, sizeof body);
  message->bytes.len = sizeof body;
}

static void compressed_certificate(Unit *message) {
  compressed(message, 1000);
}

static void compressed_bomb(Unit *message) {
  compressed(message, 0xffffff);
}

static const Fault faults[] = {
    {SST_TLS1_2, SERVER_KEY_EXCHANGE, end_of_signature, SST_ERR_PROTOCOL, 51, "BAD_SIGNATURE"},
    {SST_TLS1_3, 15, end_of_signature, SST_ERR_PROTOCOL, 51, "BAD_SIGNATURE"},
    {SST_TLS1_2, CERTIFICATE, algorithm_of_key, SST_ERR_UNSUPPORTED_KEY, 50, "leaf"},
    {SST_TLS1_3, CERTIFICATE, algorithm_of_key, SST_ERR_UNSUPPORTED_KEY, 50, "UNSUPPORTED_ALGORITHM"},
    {SST_TLS1_2, CERTIFICATE, point_of_key, SST_ERR_CERT_MALFORMED, 50, "leaf"},
    {SST_TLS1_3, CERTIFICATE, point_of_key, SST_ERR_CERT_MALFORMED, 50, "leaf"},
    {SST_TLS1_2, CERTIFICATE, form_of_point, SST_ERR_CERT_MALFORMED, 50, "leaf"},
    {SST_TLS1_3, CERTIFICATE, form_of_point, SST_ERR_CERT_MALFORMED, 50, "leaf"},
    {SST_TLS1_2, CERTIFICATE, certificate_itself, SST_ERR_CERT_MALFORMED, 50, "CANNOT_PARSE_LEAF_CERT"},
    {SST_TLS1_3, CERTIFICATE, certificate_itself, SST_ERR_CERT_MALFORMED, 50, "CANNOT_PARSE_LEAF_CERT"},
    {SST_TLS1_3, CERTIFICATE, compressed_certificate, SST_ERR_ILLEGAL_PARAMETER, 47, "UNKNOWN_CERT_COMPRESSION_ALG"},
    {SST_TLS1_3, CERTIFICATE, compressed_bomb, SST_ERR_MESSAGE_TOO_LARGE, 47, "UNCOMPRESSED_CERT_TOO_LARGE"},
};

TEST(failure_peer, faults_of_a_servers_messages_have_their_codes) {
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    const Fault *fault = &faults[i];
    test_note("fault %zu (%s)", i, fault->reason);
    Pair pair =
        pair_new(.client = {.max_version = fault->version, .report = FORGE_EVENTS}, .server = {.report = FORGE_EVENTS});
    side_handshake(&pair.client);
    side_handshake(&pair.server);
    Flight flight = flight_take(&pair, SST_ROLE_SERVER);
    fault->change(message_of(&flight, fault->message));
    flight_put(&flight, 0, flight.count);
    EXPECT_STATUS(side_handshake(&pair.client), fault->code);
    expect_told(&pair.client, fault->code, fault->alert, fault->reason);
    EXPECT_EQ((error_of(&pair.client).reasons != 0), (fault->code <= SST_ERR_CERT_ISSUER_NOT_FOUND));
    flight_free(&flight);
    pair_free(&pair);
  }
}

/* ---- the ClientHello ---- */

typedef struct Group {
  uint8_t from, to;
  bool done;
} Group;

static void change_group(uint8_t *bytes, size_t len, size_t offset, void *context) {
  Group *group = context;
  for (size_t i = 0; offset == 0 && !group->done && i + 8 <= len; i++) {
    const uint8_t extension[] = {0, EXTENSION_SUPPORTED_GROUPS, 0, 6, 0, 4, 0, 29};
    if (memcmp(bytes + i, extension, sizeof extension) != 0 || bytes[i + 9] != group->from) continue;
    bytes[i + 9] = group->to;
    group->done = true;
  }
}

/* The server is made believe that the client takes a leaf on P-256. */
TEST(failure_peer, leaf_on_a_curve_that_was_not_offered_is_an_illegal_parameter) {
  Group group = {.from = 24, .to = 23};
  Pair pair = pair_new(.client = {.max_version = SST_TLS1_2, .groups = {29, 24}});
  pair.client.out->in_flight = change_group;
  pair.client.out->context = &group;
  EXPECT(pair_handshake(&pair) < 0);
  EXPECT(group.done);
  expect_told(&pair.client, SST_ERR_ILLEGAL_PARAMETER, 47, "BAD_ECC_CERT");
  EXPECT_EQ(error_of(&pair.server).alert_received, 47);
  pair_free(&pair);
}

/* The client's hello with one more extension at its end, as a record of its own; what the client sent is dropped. */
static void put_hello_with(Pair *pair, const uint8_t *extension, size_t len) {
  Wire *wire = pair->client.out;
  Hello hello = hello_read(wire_head(wire), wire_waiting(wire));
  const size_t old = hello.message.len, body = old - MESSAGE_HEADER + len, extensions = hello.extensions_len + len;
  const size_t at = (size_t)(hello.extensions - hello.message.bytes) - 2;
  uint8_t *message = test_allocate(old + len);
  memcpy(message, hello.message.bytes, old);
  memcpy(message + old, extension, len);
  message[2] = (uint8_t)(body >> 8), message[3] = (uint8_t)body;
  message[at] = (uint8_t)(extensions >> 8), message[at + 1] = (uint8_t)extensions;
  const uint8_t header[] = {RECORD_HANDSHAKE, 3, 1, (uint8_t)((old + len) >> 8), (uint8_t)(old + len)};
  wire_drop(wire);
  wire_insert(wire, header, sizeof header);
  wire_insert(wire, message, old + len);
  free(message);
  hello_free(&hello);
}

/* A server that does not take early data passes it over, but not for ever (RFC 8446, 4.2.10). */
TEST(failure_peer, early_data_without_end_is_a_flood) {
  static const uint8_t early_data[] = {0, 42, 0, 0};
  Pair pair = pair_new();
  side_handshake(&pair.client);
  put_hello_with(&pair, early_data, sizeof early_data);
  EXPECT_STATUS(side_handshake(&pair.server), SST_NEED_INPUT);
  uint8_t record[RECORD_HEADER + 16000] = {RECORD_APPLICATION_DATA, 3, 3, 16000 >> 8, 16000 & 0xff};
  size_t records = 0;
  for (; records < 10 && pair.server.status >= 0; records++) {
    wire_insert(pair.client.out, record, sizeof record);
    side_handshake(&pair.server);
  }
  EXPECT_EQ(records, 2); /* 16384 bytes are passed over */
  expect_told(&pair.server, SST_ERR_FLOOD, 10, "TOO_MUCH_SKIPPED_EARLY_DATA");
  pair_free(&pair);
}

/* pre_shared_key (RFC 8446, 4.2.11) with one identity and two binders. */
TEST(failure_peer, more_binders_than_identities_are_an_illegal_parameter) {
  uint8_t offer[4 + 2 + 2 + 1 + 4 + 2 + 2 * 33] = {0, 41, 0, sizeof offer - 4, 0, 7, 0, 1, 'i', 0, 0, 0, 0, 0, 66, 32};
  offer[sizeof offer - 33] = 32;
  Pair pair = pair_new();
  side_handshake(&pair.client);
  put_hello_with(&pair, offer, sizeof offer);
  EXPECT_STATUS(side_handshake(&pair.server), SST_ERR_ILLEGAL_PARAMETER);
  expect_told(&pair.server, SST_ERR_ILLEGAL_PARAMETER, 47, "PSK_IDENTITY_BINDER_COUNT_MISMATCH");
  pair_free(&pair);
}
