/* Clauses of given steps (section 5): what a config and a stream are made with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loads.h"
#include "names.h"

typedef enum { ON_CONFIG, ON_STREAM } Phase;

struct Clause {
  const char *pattern;
  Phase phase;
  enum { REPLACES_NOTHING, REPLACES_LEAF, REPLACES_TRUST, REPLACES_NAME, REPLACES_DAY } replaces;
  sst_status (*carry_out)(Making *making, const Match *match);
};

static sst_status nothing(Making *making, const Match *match) {
  (void)making, (void)match;
  return SST_OK;
}

static sst_status names_issuer(Making *making, const Match *match) {
  const Data data = data_read(place_text(match, 0)->text, "pem");
  const sst_status status = sst_config_add_client_ca(making->config, data.bytes, data.len);
  free(data.bytes);
  return status;
}

/* Lists */

static sst_status groups(Making *making, const Match *match) {
  const Numbers numbers = place_numbers(match, 0, group_of_name);
  return sst_config_set_groups(making->config, numbers.list, numbers.count);
}

static sst_status suites(Making *making, const Match *match) {
  const Numbers numbers = place_numbers(match, 0, suite_of_name);
  return sst_config_set_tls12_suites(making->config, numbers.list, numbers.count);
}

static sst_status schemes(Making *making, const Match *match) {
  const Numbers numbers = place_numbers(match, 0, scheme_of_name);
  return sst_config_set_signature_schemes(making->config, numbers.list, numbers.count);
}

static sst_status stops(Making *making, const Match *match) {
  const Numbers questions = place_numbers(match, 0, question_of_name);
  uint32_t mask = 0;
  for (size_t i = 0; i < questions.count; i++)
    mask |= UINT32_C(1) << (questions.list[i] - SST_WANT_CLIENT_HELLO);
  return sst_config_suspend_on(making->config, mask);
}

static sst_status add_protocol(void *config, const Token *name) {
  return sst_config_add_alpn(config, (const uint8_t *)name->text, name->len);
}

static sst_status protocols(Making *making, const Match *match) {
  return place_list(match, 0, add_protocol, making->config);
}

static sst_status many_protocols(Making *making, const Match *match) {
  sst_status status = SST_OK;
  for (unsigned long i = 0; i < place_number(match, 0) && status == SST_OK; i++) {
    char name[32];
    const int len = snprintf(name, sizeof name, "protocol-%lu", i);
    status = sst_config_add_alpn(making->config, (const uint8_t *)name, (size_t)len);
  }
  return status;
}

/* Single settings */

static sst_status one_version(Making *making, const Match *match) {
  return sst_config_set_versions(making->config, place_version(match, 0), place_version(match, 0));
}

static sst_status two_versions(Making *making, const Match *match) {
  return sst_config_set_versions(making->config, place_version(match, 0), place_version(match, 1));
}

static sst_status lenient(Making *making, const Match *match) {
  (void)match;
  return sst_config_set_alpn_lenient(making->config, 1);
}

static sst_status compat(Making *making, const Match *match) {
  (void)match;
  return sst_config_set_profile(making->config, SST_PROFILE_COMPAT);
}

static sst_status chain_only(Making *making, const Match *match) {
  (void)match;
  return sst_config_set_verify(making->config, SST_VERIFY_CHAIN_ONLY);
}

static sst_status verify_nothing(Making *making, const Match *match) {
  (void)match;
  return sst_config_set_verify(making->config, SST_VERIFY_NONE);
}

static sst_status asks(Making *making, const Match *match) {
  (void)match;
  return sst_config_set_client_certificate(making->config, SST_CLIENT_CERTIFICATE_REQUEST);
}

static sst_status
  requires(Making *making, const Match *match)
{
  (void)match;
  return sst_config_set_client_certificate(making->config, SST_CLIENT_CERTIFICATE_REQUIRE);
}

static sst_status least_key(Making *making, const Match *match) {
  return sst_config_set_minimum_key(making->config, (uint32_t)place_number(match, 0));
}

static sst_status accepts_sha1(Making *making, const Match *match) {
  (void)match;
  return sst_config_set_chain_digests(making->config, SST_CHAIN_DIGEST_SHA1);
}

static sst_status fragments(Making *making, const Match *match) {
  return sst_config_set_max_fragment(making->config, (uint32_t)place_number(match, 0));
}

static sst_status tickets(Making *making, const Match *match) {
  return sst_config_set_ticket_count(making->config, (uint32_t)place_number(match, 0));
}

sst_status making_report(Making *making, uint32_t kind) {
  making->events |= 1u << kind;
  return sst_config_report(making->config, making->events);
}

static sst_status key_log(Making *making, const Match *match) {
  (void)match;
  return making_report(making, SST_EVENT_KEY_LOG);
}

static sst_status alerts(Making *making, const Match *match) {
  (void)match;
  return making_report(making, SST_EVENT_ALERT_RECEIVED);
}

static sst_status key_updates(Making *making, const Match *match) {
  (void)match;
  return making_report(making, SST_EVENT_KEYS_UPDATED);
}

static sst_status early_data_reports(Making *making, const Match *match) {
  (void)match;
  return making_report(making, SST_EVENT_EARLY_DATA);
}

static sst_status wants_sessions(Making *making, const Match *match) {
  (void)match;
  return making_report(making, SST_EVENT_SESSION);
}

/* The stream */

static sst_status expects(Making *making, const Match *match) {
  return sst_stream_set_server_name(making->stream, place_text(match, 0)->text, place_text(match, 0)->len);
}

static sst_status checks_name(Making *making, const Match *match) {
  return sst_stream_set_verify_name(making->stream, place_text(match, 0)->text, place_text(match, 0)->len);
}

/* Days since 1970-01-01 of the Gregorian calendar; years begin in March, so that the leap day is the last. */
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
  if (month <= 2) year--;
  const int64_t era = year / 400, in_era = year % 400;
  const int64_t in_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719468;
}

static sst_status judges(Making *making, const Match *match) {
  int year = 0, month = 0, day = 0;
  REQUIRE(sscanf(place_text(match, 0)->text, "%4d-%2d-%2d", &year, &month, &day) == 3);
  return sst_stream_set_verify_time(making->stream, days_of(year, month, day) * 86400);
}

static sst_status partial(Making *making, const Match *match) {
  (void)match;
  making->leave_partial = true;
  return sst_stream_set_options(making->stream, SST_OPTION_LEAVE_PARTIAL);
}

/* Looked for when the stream is made. */
static sst_status no_config(Making *making, const Match *match) {
  (void)making, (void)match;
  return SST_OK;
}

/* The first that matches counts: those with more words stand before those that begin with the same ones. */
static const Clause clauses[] = {
    {"leaf in PKCS#12 LEAF opened by TEXT", ON_CONFIG, REPLACES_LEAF, leaf_in_pkcs12},
    {"leaf in PKCS#12 LEAF", ON_CONFIG, REPLACES_LEAF, leaf_in_pkcs12},
    {"leaf in DER LEAF with key TEXT", ON_CONFIG, REPLACES_LEAF, leaf_in_der},
    {"leaf LEAF with its own key", ON_CONFIG, REPLACES_LEAF, leaf_with_own_key},
    {"leaf LEAF with key TEXT opened by TEXT", ON_CONFIG, REPLACES_LEAF, leaf_with_key},
    {"leaf LEAF with key TEXT", ON_CONFIG, REPLACES_LEAF, leaf_with_key},
    {"leaf LEAF whose caller signs by LIST", ON_CONFIG, REPLACES_LEAF, leaf_of_caller},
    {"leaf LEAF", ON_CONFIG, REPLACES_LEAF, leaf},
    {"no leaf", ON_CONFIG, REPLACES_LEAF, nothing},
    {"trusts nobody", ON_CONFIG, REPLACES_TRUST, trusts_nobody},
    {"trusts LIST in DER", ON_CONFIG, REPLACES_TRUST, trusts_der},
    {"trusts LIST", ON_CONFIG, REPLACES_TRUST, trusts},
    {"checks revocation by LIST in DER", ON_CONFIG, REPLACES_NOTHING, checks_lists_in_der},
    {"checks revocation by LIST", ON_CONFIG, REPLACES_NOTHING, checks_lists},
    {"accepts partial chains", ON_CONFIG, REPLACES_NOTHING, accepts_partial},
    {"speaks TLS V to V", ON_CONFIG, REPLACES_NOTHING, two_versions},
    {"speaks TLS V", ON_CONFIG, REPLACES_NOTHING, one_version},
    {"groups LIST", ON_CONFIG, REPLACES_NOTHING, groups},
    {"suites LIST", ON_CONFIG, REPLACES_NOTHING, suites},
    {"schemes LIST", ON_CONFIG, REPLACES_NOTHING, schemes},
    {"stops for LIST", ON_CONFIG, REPLACES_NOTHING, stops},
    {"protocols LIST", ON_CONFIG, REPLACES_NOTHING, protocols},
    {"N protocols", ON_CONFIG, REPLACES_NOTHING, many_protocols},
    {"is lenient about protocols", ON_CONFIG, REPLACES_NOTHING, lenient},
    {"has the compat profile", ON_CONFIG, REPLACES_NOTHING, compat},
    {"verifies the chain only", ON_CONFIG, REPLACES_NOTHING, chain_only},
    {"verifies nothing", ON_CONFIG, REPLACES_NOTHING, verify_nothing},
    {"asks for a certificate", ON_CONFIG, REPLACES_NOTHING, asks},
    {"requires a certificate", ON_CONFIG, REPLACES_NOTHING, requires},
    {"names LEAF as issuer", ON_CONFIG, REPLACES_NOTHING, names_issuer},
    {"accepts RSA keys of N bits", ON_CONFIG, REPLACES_NOTHING, least_key},
    {"accepts SHA-1 in chains", ON_CONFIG, REPLACES_NOTHING, accepts_sha1},
    {"sends fragments of at most N bytes", ON_CONFIG, REPLACES_NOTHING, fragments},
    {"sends N session tickets", ON_CONFIG, REPLACES_NOTHING, tickets},
    {"has ticket keys TEXT", ON_CONFIG, REPLACES_NOTHING, has_ring},
    {"keeps sessions for N seconds", ON_CONFIG, REPLACES_NOTHING, session_lifetime},
    {"allows early data", ON_CONFIG, REPLACES_NOTHING, early_data},
    {"wants sessions", ON_CONFIG, REPLACES_NOTHING, wants_sessions},
    {"reports early data", ON_CONFIG, REPLACES_NOTHING, early_data_reports},
    {"keeps a key log", ON_CONFIG, REPLACES_NOTHING, key_log},
    {"reports alerts", ON_CONFIG, REPLACES_NOTHING, alerts},
    {"reports key updates", ON_CONFIG, REPLACES_NOTHING, key_updates},
    {"expects no name", ON_STREAM, REPLACES_NAME, nothing},
    {"expects TEXT", ON_STREAM, REPLACES_NAME, expects},
    {"checks the name TEXT", ON_STREAM, REPLACES_NOTHING, checks_name},
    {"judges on DAY", ON_STREAM, REPLACES_DAY, judges},
    {"leaves partial records", ON_STREAM, REPLACES_NOTHING, partial},
    {"has no config", ON_STREAM, REPLACES_NOTHING, no_config},
};

static const Clause *find_clause(const Tokens *tokens, size_t *at, Match *match) {
  for (size_t i = 0; i < sizeof clauses / sizeof *clauses; i++)
    if (form_match(clauses[i].pattern, tokens, at, match)) return &clauses[i];
  return NULL;
}

static bool is_connector(const Tokens *tokens, size_t at) {
  if (at >= tokens->count) return false;
  const Token *token = &tokens->list[at];
  return token_is(token, "with") || token_is(token, "that") || token_is(token, "and");
}

bool form_clauses(const Tokens *tokens, size_t *at) {
  while (is_connector(tokens, *at)) {
    Match match;
    ++*at;
    if (find_clause(tokens, at, &match) == NULL) return false;
  }
  return true;
}

bool plan_read(Plan *plan, const Place *place) {
  const Tokens tokens = {(Token *)place->list, place->count};
  for (size_t at = 0; at < place->count;) {
    Match match;
    at++;
    const Clause *clause = find_clause(&tokens, &at, &match);
    if (clause == NULL) return false;
    plan->list = test_reallocate(plan->list, (plan->count + 1) * sizeof *plan->list);
    plan->list[plan->count].clause = clause;
    plan->list[plan->count++].match = match;
  }
  return true;
}

void plan_free(Plan *plan) {
  free(plan->list);
  *plan = (Plan){NULL, 0};
}

static bool replaces(const Plan *plan, int what) {
  for (size_t i = 0; i < plan->count; i++)
    if ((int)plan->list[i].clause->replaces == what) return true;
  return false;
}

static bool has(const Plan *plan, sst_status (*carry_out)(Making *, const Match *)) {
  for (size_t i = 0; i < plan->count; i++)
    if (plan->list[i].clause->carry_out == carry_out) return true;
  return false;
}

static sst_status carry_out(const Plan *plan, Phase phase, Making *making) {
  sst_status status = SST_OK;
  for (size_t i = 0; i < plan->count && status == SST_OK; i++) {
    const Clause *clause = plan->list[i].clause;
    if (clause->phase == phase) status = clause->carry_out(making, &plan->list[i].match);
  }
  return status;
}

/* What no clause has said of the trust; then the config gets it. */
static sst_status set_trust(const Plan *plan, Making *making) {
  static char root[] = "root", client_root[] = "client-root";
  const bool server = making->role == SST_ROLE_SERVER, asked = has(plan, asks) || has(plan, requires);
  sst_status status = SST_OK;
  if (!replaces(plan, REPLACES_TRUST) && (!server || asked))
    status = trusts_by_default(making, server ? client_root : root);
  if (status == SST_OK && making->trust != NULL) status = sst_config_set_trust(making->config, making->trust);
  return status;
}

static sst_status fill_config(const Plan *plan, Making *making) {
  sst_status status = SST_OK;
  if (making->version != 0) status = sst_config_set_versions(making->config, making->version, making->version);
  if (status == SST_OK) status = carry_out(plan, ON_CONFIG, making);
  if (status == SST_OK && making->role == SST_ROLE_SERVER && !replaces(plan, REPLACES_LEAF))
    status = add_leaf(making, "server-p256", "server-p256", NULL);
  return status == SST_OK ? set_trust(plan, making) : status;
}

sst_status plan_make_stream(const Plan *plan, Making *making) {
  sst_config *config = has(plan, no_config) ? NULL : making->config;
  sst_status status = sst_stream_new(config, making->role, &making->stream);
  if (status == SST_OK && !replaces(plan, REPLACES_DAY))
    status = sst_stream_set_verify_time(making->stream, DATA_CLOCK);
  if (status == SST_OK && making->role == SST_ROLE_CLIENT && !replaces(plan, REPLACES_NAME))
    status = sst_stream_set_server_name(making->stream, "server.test", 11);
  return status == SST_OK ? carry_out(plan, ON_STREAM, making) : status;
}

/* The record of the failure: the loader has left its own, else the stream or the config has it. */
static void keep_error(Making *making, sst_status status) {
  sst_error *error = &making->error;
  if (error->code != status && making->stream != NULL) sst_stream_last_error(making->stream, error);
  if (error->code != status) sst_config_last_error(making->config, error);
  if (error->code == status) return;
  error->code = status;
  snprintf(error->message, sizeof error->message, "%s", sst_status_text(status));
}

/* After a failure nothing is left but the record of it. */
static sst_status end_making(Making *making, sst_status status) {
  sst_trust_free(making->trust);
  making->trust = NULL;
  if (status == SST_OK) return SST_OK;
  keep_error(making, status);
  sst_stream_free(making->stream);
  sst_config_free(making->config);
  *making = (Making){.role = making->role, .error = making->error};
  return status;
}

static Making begin_making(int32_t role, uint16_t version) {
  const Making making = {
      .role = role, .version = version, .config = sst_config_new(), .error = {.size = sizeof(sst_error)}};
  REQUIRE(making.config != NULL);
  REQUIRE_STATUS(sst_config_set_ticket_count(making.config, 0), SST_OK);
  return making;
}

sst_status plan_carry_out(const Plan *plan, int32_t role, uint16_t version, Making *making) {
  *making = begin_making(role, version);
  sst_status status = fill_config(plan, making);
  if (status == SST_OK) status = plan_make_stream(plan, making);
  return end_making(making, status);
}

sst_status plan_make_config(const Plan *plan, uint16_t version, Making *making) {
  for (size_t i = 0; i < plan->count; i++)
    if (plan->list[i].clause->phase == ON_STREAM) FAIL("a config has no clause '%s'", plan->list[i].clause->pattern);
  *making = begin_making(SST_ROLE_SERVER, version);
  return end_making(making, fill_config(plan, making));
}

sst_status plan_reload(const Plan *more, const sst_config *config, Making *making) {
  making->config = sst_config_copy(config);
  making->reloads = true;
  making->error.size = sizeof making->error;
  REQUIRE(making->config != NULL);
  sst_status status = sst_config_clear_credentials(making->config);
  if (status == SST_OK) status = carry_out(more, ON_CONFIG, making);
  if (status == SST_OK && making->trust != NULL) status = sst_config_set_trust(making->config, making->trust);
  sst_trust_free(making->trust);
  making->trust = NULL;
  if (status != SST_OK) keep_error(making, status);
  return status;
}
