/*
 * WANT_CERTIFICATE_VERIFY: the verdict that is offered is the one that the library would give, and the caller's answer
 * is the last word. Both roles, both versions.
 */
#include "answer.h"

#include <stdlib.h>
#include <string.h>

#define VERIFY ASK(SST_WANT_CERTIFICATE_VERIFY)
#define DAY INT64_C(86400)

typedef struct Chain {
  const char *name, *trust; /* trust NULL: that of the PKI; "": none */
  const char *host;         /* that is expected; NULL: server.test */
  int32_t alert;
  sst_status code;
} Chain;

static const Chain chains[] = {
    {"refused/expired", NULL, NULL, 45, SST_ERR_CERT_EXPIRED},
    {"refused/not-yet-valid", NULL, NULL, 45, SST_ERR_CERT_NOT_YET_VALID},
    {"refused/expired-other", NULL, NULL, 45, SST_ERR_CERT_EXPIRED},
    {"refused/self-signed", NULL, NULL, 48, SST_ERR_CERT_SELF_SIGNED},
    {"refused/issuer-missing", NULL, NULL, 48, SST_ERR_CERT_ISSUER_NOT_FOUND},
    {"refused/weak-digest", NULL, NULL, -1, SST_ERR_CERT_WEAK_DIGEST},
    {"refused/weak-key", NULL, NULL, -1, SST_ERR_CERT_WEAK_KEY},
    {"refused/weak-key-expired", NULL, NULL, -1, SST_ERR_CERT_WEAK_KEY},
    {"refused/not-ca", NULL, NULL, -1, 0},
    {"refused/too-long", NULL, NULL, -1, 0},
    {"refused/critical", NULL, NULL, -1, 0},
    {"refused/code", NULL, NULL, -1, 0},
    {"refused/bad-signature", NULL, NULL, -1, 0},
    {"refused/name-constraint", NULL, NULL, -1, 0},
    {"refused/far-too-long", NULL, NULL, -1, 0},
    {"refused/all", NULL, NULL, -1, 0},
    {"eku-both", NULL, "other.test", -1, SST_ERR_CERT_NAME_MISMATCH},
    {"eku-both", "untrusted-root", NULL, 48, SST_ERR_CERT_ISSUER_NOT_FOUND},
};
enum { CHAINS = sizeof chains / sizeof chains[0] };

/* A pair in which client or server judges the other's chain. */
typedef struct Court {
  Pair pair;
  Side *judge, *judged;
} Court;

/* The sides point into the court, which must not move. */
static void court_begin(Court *court, uint16_t version, bool client_judges, const Chain *chain, SideOptions rules) {
  SideOptions presenter = {.max_version = version, .credential = chain->name, .minimum_rsa = 1024};
  if (!client_judges) rules.client_certificate = SST_CLIENT_CERTIFICATE_REQUIRE;
  rules.trust = chain->trust == NULL ? "root" : chain->trust;
  rules.verify_name = chain->host == NULL ? "server.test" : chain->host;
  court->pair = pair_make(
      &(PairOptions){.client = client_judges ? rules : presenter, .server = client_judges ? presenter : rules});
  court->judge = client_judges ? &court->pair.client : &court->pair.server;
  court->judged = client_judges ? &court->pair.server : &court->pair.client;
}

static void court_asks(Court *court) {
  EXPECT_STATUS(pair_handshake(&court->pair), SST_WANT_CERTIFICATE_VERIFY);
  EXPECT_STATUS(court->judge->status, SST_WANT_CERTIFICATE_VERIFY);
}

static sst_error verdict_of(const Court *court) {
  sst_error verdict = {.size = sizeof verdict};
  EXPECT_STATUS(sst_stream_verdict(court->judge->stream, &verdict), SST_OK);
  return verdict;
}

static bool is_verified(const Court *court) {
  return (info_of(court->judge).flags & SST_INFO_VERIFIED) != 0;
}

static size_t length_of(const Court *court,
                        sst_status (*get)(const sst_stream *, size_t, uint8_t *, size_t, size_t *)) {
  uint8_t der[8192];
  size_t num = 0, len = 0;
  do {
    EXPECT_STATUS(get(court->judge->stream, num, der, sizeof der, &len), SST_OK);
  } while (len > 0 && ++num > 0);
  return num;
}

/* The judged side hears the alert, after its own end of the handshake too. */
static void hears(Court *court, int32_t alert) {
  if (court->judged->status == SST_OK) EXPECT_STATUS(side_receive(court->judged), SST_ERR_ALERT_RECEIVED - alert);
  EXPECT_EQ(error_of(court->judged).alert_received, alert);
  EXPECT_EQ(error_of(court->judge).alert_sent, alert);
}

static void same_error(const sst_error *got, const sst_error *expected) {
  EXPECT_STATUS(got->code, expected->code);
  EXPECT_EQ(got->reasons, expected->reasons);
  EXPECT_STRING(got->message, expected->message);
}

/* What becomes of the chain without a question. */
static sst_error plain_failure(uint16_t version, bool client, const Chain *chain, size_t *refused) {
  Court court;
  court_begin(&court, version, client, chain, (SideOptions){0});
  const sst_status status = pair_handshake(&court.pair);
  const sst_error error = error_of(court.judge);
  EXPECT_STATUS(status, error.code);
  if (chain->code != 0) EXPECT_STATUS(error.code, chain->code);
  if (chain->alert >= 0) EXPECT_EQ(error.alert_sent, chain->alert);
  *refused = length_of(&court, sst_stream_refused_certificate);
  EXPECT_AT_LEAST(*refused, 1);
  pair_free(&court.pair);
  return error;
}

enum { ACCEPT, DEFAULT, REJECT, REJECT_WITH_200, ANSWERS };

static void give(const Court *court, int how) {
  sst_stream *stream = court->judge->stream;
  if (how == ACCEPT) EXPECT_STATUS(sst_stream_accept(stream), SST_OK);
  if (how == DEFAULT) EXPECT_STATUS(sst_stream_accept_default(stream), SST_OK);
  if (how >= REJECT) EXPECT_STATUS(sst_stream_reject(stream, how == REJECT ? -1 : 200), SST_OK);
}

/* A failure stays as it is. */
static void is_sticky(const Court *court, const sst_error *error) {
  for (int i = 0; i < 2; i++) {
    EXPECT_STATUS(side_handshake(court->judge), error->code);
    EXPECT_STATUS(sst_stream_accept(court->judge->stream), SST_ERR_STATE);
    const sst_error again = error_of(court->judge);
    EXPECT_BYTES(&again, sizeof again, error, sizeof *error);
  }
}

static void judge_bad(uint16_t version, bool client, const Chain *chain, int how) {
  size_t refused = 0;
  const sst_error plain = plain_failure(version, client, chain, &refused);
  Court court;
  court_begin(&court, version, client, chain, (SideOptions){.suspend = VERIFY});
  court_asks(&court);
  const sst_error verdict = verdict_of(&court);
  same_error(&verdict, &plain);
  EXPECT_EQ(length_of(&court, sst_stream_peer_certificate), refused);
  EXPECT_EQ(length_of(&court, sst_stream_refused_certificate), 0);
  EXPECT_EQ(length_of(&court, sst_stream_verified_certificate), 0);
  give(&court, how);
  const sst_status expected = how == ACCEPT ? SST_OK : how == DEFAULT ? plain.code : SST_ERR_REJECTED;
  EXPECT_STATUS(pair_handshake(&court.pair), expected);
  const sst_error error = error_of(court.judge);
  if (how == ACCEPT) {
    EXPECT(!is_verified(&court));
    EXPECT_EQ(length_of(&court, sst_stream_peer_certificate), refused);
    EXPECT_EQ(length_of(&court, sst_stream_verified_certificate), 0);
    EXPECT_CONTAINS(side_text(court.judge, sst_stream_describe), "peer not verified");
    pair_echo(&court.pair, 100);
  } else {
    if (how == DEFAULT) same_error(&error, &plain);
    EXPECT_EQ(error.reasons, plain.reasons);
    hears(&court, how == REJECT_WITH_200 ? 200 : plain.alert_sent);
    EXPECT_EQ(length_of(&court, sst_stream_peer_certificate), 0);
    is_sticky(&court, &error);
  }
  EXPECT_EQ(length_of(&court, sst_stream_refused_certificate), how == ACCEPT ? 0 : refused);
  pair_free(&court.pair);
}

static void judge_each(uint16_t version, int how) {
  for (size_t i = 0; i < CHAINS; i++) {
    for (int client = 0; client < 2; client++) {
      test_note("%s, %s judges", chains[i].name, client ? "client" : "server");
      judge_bad(version, client != 0, &chains[i], how);
    }
  }
}

TEST_VERSIONS(question_verify, bad_chain_is_taken_if_the_caller_accepts_it) {
  judge_each(version, ACCEPT);
}

TEST_VERSIONS(question_verify, bad_chain_is_refused_by_the_default_answer) {
  judge_each(version, DEFAULT);
}

TEST_VERSIONS(question_verify, bad_chain_is_rejected_with_the_alert_of_the_verdict) {
  judge_each(version, REJECT);
}

TEST_VERSIONS(question_verify, bad_chain_is_rejected_with_a_chosen_alert) {
  judge_each(version, REJECT_WITH_200);
}

static const Chain good = {.name = "eku-both"};

TEST_VERSIONS(question_verify, good_chain_is_verified_however_it_is_accepted) {
  for (int i = 0; i < 4; i++) {
    Court court;
    court_begin(&court, version, i < 2, &good, (SideOptions){.suspend = VERIFY});
    court_asks(&court);
    const sst_error verdict = verdict_of(&court);
    EXPECT_STATUS(verdict.code, SST_OK);
    EXPECT_EQ(verdict.reasons, 0);
    give(&court, i % 2 == 0 ? ACCEPT : DEFAULT);
    EXPECT_STATUS(pair_handshake(&court.pair), SST_OK);
    EXPECT(is_verified(&court));
    EXPECT_EQ(length_of(&court, sst_stream_verified_certificate), 3);
    EXPECT_EQ(length_of(&court, sst_stream_refused_certificate), 0);
    pair_echo(&court.pair, 100);
    pair_free(&court.pair);
  }
}

TEST_VERSIONS(question_verify, good_chain_can_be_rejected) {
  for (int i = 0; i < 4; i++) {
    Court court;
    court_begin(&court, version, i < 2, &good, (SideOptions){.suspend = VERIFY});
    court_asks(&court);
    give(&court, i % 2 == 0 ? REJECT : REJECT_WITH_200);
    EXPECT_STATUS(pair_handshake(&court.pair), SST_ERR_REJECTED);
    EXPECT_EQ(error_of(court.judge).reasons, 0);
    EXPECT_CONTAINS(error_of(court.judge).message, "WANT_CERTIFICATE_VERIFY");
    hears(&court, i % 2 == 0 ? 46 : 200);
    EXPECT_EQ(length_of(&court, sst_stream_refused_certificate), 2);
    pair_free(&court.pair);
  }
}

/* Where nothing is verified by the config's own rules, the verdict is good and the peer is not verified. */
TEST_VERSIONS(question_verify, without_verification_nobody_is_verified) {
  for (int i = 0; i < 6; i++) {
    Court court;
    const Chain *chain = i % 3 == 0 ? &good : &chains[i % 3];
    court_begin(&court, version, i < 3, chain, (SideOptions){.suspend = VERIFY, .verify = SST_VERIFY_NONE});
    court_asks(&court);
    EXPECT_STATUS(verdict_of(&court).code, SST_OK);
    EXPECT_EQ(verdict_of(&court).reasons, 0);
    give(&court, i % 2 == 0 ? ACCEPT : DEFAULT);
    EXPECT_STATUS(pair_handshake(&court.pair), SST_OK);
    EXPECT(!is_verified(&court));
    EXPECT_EQ(length_of(&court, sst_stream_verified_certificate), 0);
    pair_free(&court.pair);
  }
}

TEST_VERSIONS(question_verify, without_trust_no_issuer_is_found) {
  static const Chain untrusted = {.name = "eku-both", .trust = ""};
  for (int i = 0; i < 4; i++) {
    Court court;
    court_begin(&court, version, i < 2, &untrusted, (SideOptions){.suspend = VERIFY});
    court_asks(&court);
    EXPECT_STATUS(verdict_of(&court).code, SST_ERR_CERT_ISSUER_NOT_FOUND);
    give(&court, i % 2 == 0 ? ACCEPT : DEFAULT);
    EXPECT_STATUS(pair_handshake(&court.pair), i % 2 == 0 ? SST_OK : SST_ERR_CERT_ISSUER_NOT_FOUND);
    EXPECT(!is_verified(&court));
    pair_free(&court.pair);
  }
}

/* X07: a caller who forgives that a leaf is not yet valid, and nothing else. */
static sst_status forgives_the_future(uint16_t version, const char *credential) {
  Pair pair = pair_new(.client = {.max_version = version, .suspend = VERIFY}, .server = {.credential = credential});
  EXPECT_STATUS(pair_handshake(&pair), SST_WANT_CERTIFICATE_VERIFY);
  sst_error verdict = {.size = sizeof verdict};
  EXPECT_STATUS(sst_stream_verdict(pair.client.stream, &verdict), SST_OK);
  const uint64_t future = UINT64_C(1) << (-500 - SST_ERR_CERT_NOT_YET_VALID);
  const bool forgiven = (verdict.reasons & ~future) == 0;
  EXPECT_STATUS(forgiven ? sst_stream_accept(pair.client.stream) : sst_stream_accept_default(pair.client.stream),
                SST_OK);
  const sst_status status = pair_handshake(&pair);
  pair_free(&pair);
  return status;
}

TEST_VERSIONS(question_verify, one_reason_alone_can_be_forgiven) {
  EXPECT_STATUS(forgives_the_future(version, "server-not-yet-valid"), SST_OK);
  EXPECT_STATUS(forgives_the_future(version, "server-not-yet-valid-other"), SST_ERR_CERT_NOT_YET_VALID);
  EXPECT_STATUS(forgives_the_future(version, "server-expired"), SST_ERR_CERT_EXPIRED);
  EXPECT_STATUS(forgives_the_future(version, "server-p256"), SST_OK);
}

/* ---- when there is something to see ---- */

static void shows_nothing(const Side *side) {
  uint8_t out[4096];
  size_t len = 1;
  sst_error error = {.size = sizeof error};
  EXPECT_STATUS(sst_stream_verdict(side->stream, &error), SST_ERR_STATE);
  EXPECT_EQ(sst_stream_num_peer_certificates(side->stream), 0);
  EXPECT_STATUS(sst_stream_peer_certificate(side->stream, 0, out, sizeof out, &len), SST_OK);
  EXPECT_EQ(len, 0);
}

TEST_VERSIONS(question_verify, chain_is_shown_while_the_question_is_open) {
  for (int i = 0; i < 2; i++) {
    Court court;
    court_begin(&court, version, i == 0, &good, (SideOptions){.suspend = VERIFY | ASK(SST_WANT_CERTIFICATE)});
    sst_credential *credential = data_credential("server-p256");
    shows_nothing(court.judge);
    if (i == 1) {
      EXPECT_STATUS(pair_handshake(&court.pair), SST_WANT_CERTIFICATE);
      shows_nothing(court.judge); /* another question shows no chain */
      EXPECT_STATUS(sst_stream_set_credential(court.judge->stream, credential), SST_OK);
    }
    EXPECT_STATUS(pair_handshake(&court.pair), SST_WANT_CERTIFICATE_VERIFY);
    uint8_t der[4096];
    size_t len = 0;
    const Data leaf = data_certificate("eku-both", 0);
    EXPECT_STATUS(sst_stream_peer_certificate(court.judge->stream, 0, der, sizeof der, &len), SST_OK);
    EXPECT_BYTES(der, len, leaf.bytes, leaf.len);
    EXPECT_STATUS(sst_stream_peer_certificate(court.judge->stream, 0, der, 10, &len), SST_NEED_OUTPUT);
    EXPECT_EQ(len, leaf.len);
    EXPECT_EQ(sst_stream_num_peer_certificates(court.judge->stream), 2);
    EXPECT_STRING(side_text(court.judge, sst_stream_ocsp_response), "");
    EXPECT_STRING(side_text(court.judge, sst_stream_scts), "");
    EXPECT_STRING(side_text(court.judge, sst_stream_server_name), "server.test");
    EXPECT_STATUS(sst_stream_verdict(court.judge->stream, NULL), SST_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(sst_stream_verdict(NULL, &(sst_error){.size = sizeof(sst_error)}), SST_ERR_INVALID_ARGUMENT);
    give(&court, DEFAULT);
    shows_nothing(court.judge);
    EXPECT_STATUS(pair_handshake(&court.pair), SST_OK);
    EXPECT_STATUS(sst_stream_verdict(court.judge->stream, &(sst_error){.size = sizeof(sst_error)}), SST_ERR_STATE);
    EXPECT_EQ(sst_stream_num_peer_certificates(court.judge->stream), 2);
    free(leaf.bytes);
    sst_credential_free(credential);
    court.pair.objects += i == 1; /* the credential went with the stream */
    pair_free(&court.pair);
  }
}

TEST_VERSIONS(question_verify, nobody_is_judged_who_sends_nothing) {
  Pair pair = pair_new(.client = {.max_version = version},
                       .server = {.suspend = VERIFY, .client_certificate = SST_CLIENT_CERTIFICATE_REQUEST});
  EXPECT_STATUS(pair_handshake(&pair), SST_OK);
  pair_free(&pair);
}
