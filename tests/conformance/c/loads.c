#include "loads.h"

#include "names.h"

#include <stdlib.h>

/* Credentials */

/* Keeps what the credential says of a failure; or the config gets it. The credential is let go. */
static sst_status use_credential(Making *making, sst_credential *credential, sst_status status) {
  if (status != SST_OK) sst_credential_last_error(credential, &making->error);
  if (status == SST_OK) status = sst_config_add_credential(making->config, credential);
  sst_credential_free(credential);
  return status;
}

static sst_credential *new_credential(void) {
  sst_credential *credential = sst_credential_new();
  REQUIRE(credential != NULL);
  return credential;
}

static sst_status load(sst_credential *credential, const char *name, const char *extension, const Token *password) {
  const Data data = data_read(name, extension);
  const char *text = password == NULL ? NULL : password->text;
  const size_t len = password == NULL ? 0 : password->len;
  const sst_status status = sst_credential_load_pem(credential, data.bytes, data.len, text, len);
  free(data.bytes);
  return status;
}

sst_status add_leaf(Making *making, const char *chain, const char *key, const Token *password) {
  sst_credential *credential = new_credential();
  sst_status status = load(credential, chain, "pem", NULL);
  if (status == SST_OK && key != NULL) status = load(credential, key, "key", password);
  return use_credential(making, credential, status);
}

sst_status leaf(Making *making, const Match *match) {
  return add_leaf(making, place_text(match, 0)->text, place_text(match, 0)->text, NULL);
}

sst_status leaf_with_key(Making *making, const Match *match) {
  const Token *password = match->num_places > 2 ? place_text(match, 2) : NULL;
  return add_leaf(making, place_text(match, 0)->text, place_text(match, 1)->text, password);
}

sst_status leaf_with_own_key(Making *making, const Match *match) {
  return add_leaf(making, place_text(match, 0)->text, NULL, NULL);
}

sst_credential *credential_of(const char *name) {
  sst_credential *credential = new_credential();
  REQUIRE_STATUS(load(credential, name, "pem", NULL), SST_OK);
  REQUIRE_STATUS(load(credential, name, "key", NULL), SST_OK);
  return credential;
}

sst_credential *credential_of_caller(const char *name, const Numbers *schemes) {
  sst_credential *credential = new_credential();
  REQUIRE_STATUS(load(credential, name, "pem", NULL), SST_OK);
  REQUIRE_STATUS(sst_credential_set_caller_signs(credential, schemes->list, schemes->count), SST_OK);
  return credential;
}

sst_status leaf_of_caller(Making *making, const Match *match) {
  const Numbers schemes = place_numbers(match, 1, scheme_of_name);
  sst_credential *credential = new_credential();
  sst_status status = load(credential, place_text(match, 0)->text, "pem", NULL);
  if (status == SST_OK) status = sst_credential_set_caller_signs(credential, schemes.list, schemes.count);
  return use_credential(making, credential, status);
}

sst_status leaf_in_der(Making *making, const Match *match) {
  sst_credential *credential = new_credential();
  const Data chain = data_read(place_text(match, 0)->text, "der"),
             key = data_read(place_text(match, 1)->text, "key.der");
  const sst_status status = sst_credential_load_der(credential, chain.bytes, chain.len, key.bytes, key.len);
  free(chain.bytes);
  free(key.bytes);
  return use_credential(making, credential, status);
}

sst_status leaf_in_pkcs12(Making *making, const Match *match) {
  sst_credential *credential = new_credential();
  const Data pfx = data_read(place_text(match, 0)->text, "p12");
  const char *password = match->num_places > 1 ? place_text(match, 1)->text : NULL;
  const size_t len = match->num_places > 1 ? place_text(match, 1)->len : 0;
  const sst_status status = sst_credential_load_pkcs12(credential, pfx.bytes, pfx.len, password, len);
  free(pfx.bytes);
  return use_credential(making, credential, status);
}

/* Trust */

typedef sst_status (*Loader)(sst_trust *trust, const uint8_t *bytes, size_t len);

typedef struct Source {
  Making *making;
  const char *extension;
  Loader load;
} Source;

static sst_status load_file(void *context, const Token *name) {
  const Source *source = context;
  const Data data = data_read(name->text, source->extension);
  const sst_status status = source->load(source->making->trust, data.bytes, data.len);
  if (status != SST_OK) sst_trust_last_error(source->making->trust, &source->making->error);
  free(data.bytes);
  return status;
}

static void begin_trust(Making *making) {
  sst_trust_free(making->trust);
  making->trust = sst_trust_new();
  REQUIRE(making->trust != NULL);
}

sst_status trusts(Making *making, const Match *match) {
  begin_trust(making);
  return place_list(match, 0, load_file, &(Source){making, "pem", sst_trust_load_pem});
}

sst_status trusts_nobody(Making *making, const Match *match) {
  (void)match;
  sst_trust_free(making->trust);
  making->trust = NULL;
  return sst_config_set_trust(making->config, NULL);
}

sst_status trusts_der(Making *making, const Match *match) {
  begin_trust(making);
  return place_list(match, 0, load_file, &(Source){making, "der", sst_trust_load_der});
}

/* A clause that adds to the trust of the clause before it, or to the default one. */
static void need_trust(Making *making) {
  if (making->trust == NULL && making->reloads) FAIL("a reload says whom it trusts first");
  if (making->trust == NULL) begin_trust(making);
}

sst_status checks_lists(Making *making, const Match *match) {
  need_trust(making);
  return place_list(match, 0, load_file, &(Source){making, "pem", sst_trust_load_crl});
}

sst_status checks_lists_in_der(Making *making, const Match *match) {
  need_trust(making);
  return place_list(match, 0, load_file, &(Source){making, "der", sst_trust_load_crl});
}

sst_status accepts_partial(Making *making, const Match *match) {
  (void)match;
  need_trust(making);
  return sst_trust_set_partial_chain(making->trust, 1);
}

sst_status trusts_by_default(Making *making, char *name) {
  need_trust(making);
  const Token anchor = {TOKEN_WORD, name, 0};
  return load_file(&(Source){making, "pem", sst_trust_load_pem}, &anchor);
}
