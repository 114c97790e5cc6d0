/* Answers to the questions of streams (section 3). */
#include "loads.h"
#include "names.h"
#include "openssl_signer.h"
#include "rings.h"

#include <stdlib.h>

typedef struct Answer {
  const char *pattern;
  sst_status (*give)(World *world, End *end, const Match *match);
} Answer;

static sst_status with_config(World *world, End *end, const Match *match) {
  Making making;
  REQUIRE_STATUS(plan_make_config(world_described(world, place_text(match, 0)), world->version, &making), SST_OK);
  const sst_status status = sst_stream_set_config(end->side.stream, making.config);
  sst_config_free(making.config);
  return status;
}

static sst_status with_own_config(World *world, End *end, const Match *match) {
  (void)world, (void)match;
  return sst_stream_set_config(end->side.stream, end->side.config);
}

static sst_status give_credential(End *end, sst_credential *credential) {
  const sst_status status = sst_stream_set_credential(end->side.stream, credential);
  sst_credential_free(credential);
  return status;
}

static sst_status with_leaf(World *world, End *end, const Match *match) {
  (void)world;
  return give_credential(end, credential_of(place_text(match, 0)->text));
}

static sst_status with_leaf_of_caller(World *world, End *end, const Match *match) {
  (void)world;
  const Numbers schemes = place_numbers(match, 1, scheme_of_name);
  return give_credential(end, credential_of_caller(place_text(match, 0)->text, &schemes));
}

static sst_status with_no_leaf(World *world, End *end, const Match *match) {
  (void)world, (void)match;
  return sst_stream_set_credential(end->side.stream, NULL);
}

static sst_status yes(World *world, End *end, const Match *match) {
  (void)world, (void)match;
  return sst_stream_accept(end->side.stream);
}

static sst_status as_verdict_says(World *world, End *end, const Match *match) {
  (void)world, (void)match;
  return sst_stream_accept_default(end->side.stream);
}

static sst_status no(World *world, End *end, const Match *match) {
  (void)world, (void)match;
  return sst_stream_reject(end->side.stream, -1);
}

static sst_status no_with_alert(World *world, End *end, const Match *match) {
  (void)world;
  return sst_stream_reject(end->side.stream, (int32_t)place_number(match, 0));
}

/* Without an operation there is nothing to sign, and any signature must be refused. */
static sst_status with_signature_of(World *world, End *end, const Match *match) {
  (void)world;
  int32_t operation = -1;
  uint16_t scheme = 0x0403;
  uint8_t message[16384], signature[1024] = {0};
  size_t len = 0;
  const sst_status status =
      sst_stream_private_key_operation(end->side.stream, &operation, &scheme, message, sizeof message, &len);
  if (status != SST_OK) return sst_stream_set_signature(end->side.stream, signature, 1);
  REQUIRE_EQ(operation, SST_OPERATION_SIGN);
  const size_t size = openssl_sign(place_text(match, 0)->text, scheme, message, len, signature, sizeof signature);
  return sst_stream_set_signature(end->side.stream, signature, size);
}

static sst_status with_signature(World *world, End *end, const Match *match) {
  (void)world;
  size_t len = 0;
  uint8_t *signature = place_data(match, 0, &len);
  const sst_status status = sst_stream_set_signature(end->side.stream, signature, len);
  free(signature);
  return status;
}

static sst_status with_session(World *world, End *end, const Match *match) {
  (void)match;
  return sst_stream_answer_session(end->side.stream, world->session);
}

static sst_status with_no_session(World *world, End *end, const Match *match) {
  (void)world, (void)match;
  return sst_stream_answer_session(end->side.stream, NULL);
}

static sst_status ticket_is_unknown(World *world, End *end, const Match *match) {
  (void)world, (void)match;
  return sst_stream_ignore_ticket(end->side.stream);
}

/* Without a ticket there is nothing to open, and anything must be refused. */
static sst_status with_opened_ticket(World *world, End *end, const Match *match) {
  (void)world;
  uint8_t ticket[16384], plaintext[16384] = {0};
  size_t len = 0, opened = 1;
  REQUIRE_STATUS(sst_stream_ticket(end->side.stream, ticket, sizeof ticket, &len), SST_OK);
  if (len > 0) opened = ring_open_ticket(place_text(match, 0), ticket, len, plaintext, sizeof plaintext);
  return sst_stream_set_ticket_plaintext(end->side.stream, plaintext, opened);
}

static sst_status with_ticket_contents(World *world, End *end, const Match *match) {
  (void)world;
  size_t len = 0;
  uint8_t *contents = place_data(match, 0, &len);
  const sst_status status = sst_stream_set_ticket_plaintext(end->side.stream, contents, len);
  free(contents);
  return status;
}

static sst_status will_send_again(World *world, End *end, const Match *match) {
  (void)world, (void)match;
  return sst_stream_continue_without_early_data(end->side.stream);
}

/* The first that matches counts: those with more words stand before those that begin with the same ones. */
static const Answer answers[] = {{"with config TEXT", with_config},
                                 {"with its own config", with_own_config},
                                 {"with leaf LEAF whose caller signs by LIST", with_leaf_of_caller},
                                 {"with leaf LEAF", with_leaf},
                                 {"with no leaf", with_no_leaf},
                                 {"with a signature of LEAF", with_signature_of},
                                 {"with signature DATA", with_signature},
                                 {"with the session", with_session},
                                 {"with no session", with_no_session},
                                 {"that the ticket is unknown", ticket_is_unknown},
                                 {"with the ticket opened by TEXT", with_opened_ticket},
                                 {"with ticket contents DATA", with_ticket_contents},
                                 {"that it will send again", will_send_again},
                                 {"yes", yes},
                                 {"as the verdict says", as_verdict_says},
                                 {"no with alert N", no_with_alert},
                                 {"no", no}};

static const Answer *find_answer(const Tokens *tokens, size_t *at, Match *match) {
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
    if (form_match(answers[i].pattern, tokens, at, match)) return &answers[i];
  return NULL;
}

bool form_answer(const Tokens *tokens, size_t *at) {
  Match match;
  return find_answer(tokens, at, &match) != NULL;
}

static sst_status give(World *world, const Match *match) {
  const Tokens tokens = {(Token *)match->places[1].list, match->places[1].count};
  size_t at = 0;
  Match inner;
  const Answer *answer = find_answer(&tokens, &at, &inner);
  REQUIRE(answer != NULL);
  return answer->give(world, end_of_role(world, match), &inner);
}

void answer_given(World *world, const Match *match) {
  REQUIRE_STATUS(give(world, match), SST_OK);
}

void answer_refused(World *world, const Match *match) {
  EXPECT_STATUS(give(world, match), place_code(match, 2));
}
