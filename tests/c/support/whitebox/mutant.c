#include "mutant.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config.h"
#include "credential.h"
#include "tls/internal.h"
#include "trust.h"

enum { MOST_NS = 2000000000, NS_PER_ROUND = 3000 };

/* The objects, and what they hold. */
typedef struct Target {
  sst_credential *credential;
  sst_trust *trust;
  sst_config *config;
  Held held;
  Data chain; /* the certificates of credential, one behind the other */
  const void *key;
  const void *anchors, *crls;
  size_t names_len;
} Target;

uint64_t thread_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- what the objects hold ---- */

static Data read_chain(const sst_credential *credential) {
  Data chain = {test_allocate(1), 0};
  size_t len = 1;
  for (size_t i = 0; len > 0; i++, chain.len += len) {
    EXPECT(sst_credential_certificate(credential, i, NULL, 0, &len) >= 0);
    if (len == 0) break;
    chain.bytes = test_reallocate(chain.bytes, chain.len + len);
    EXPECT_STATUS(sst_credential_certificate(credential, i, chain.bytes + chain.len, len, &len), SST_OK);
  }
  return chain;
}

static void renew_credential(Target *target) {
  const Data pem = data_read("client-p256", "pem"), key = data_read("client-p256", "key");
  sst_credential_free(target->credential);
  free(target->chain.bytes);
  target->credential = sst_credential_new();
  if (target->held == HELD_CHAIN)
    EXPECT_STATUS(sst_credential_load_pem(target->credential, pem.bytes, pem.len, NULL, 0), SST_OK);
  EXPECT_STATUS(sst_credential_load_pem(target->credential, key.bytes, key.len, NULL, 0), SST_OK);
  target->chain = read_chain(target->credential);
  target->key = sst__credential_identity(target->credential)->key;
  EXPECT(target->key != NULL);
  free(pem.bytes);
  free(key.bytes);
}

static void renew_trust(Target *target) {
  const Data pem = data_read("client-root", "pem");
  sst_trust_free(target->trust);
  target->trust = sst_trust_new();
  EXPECT_STATUS(sst_trust_load_pem(target->trust, pem.bytes, pem.len), SST_OK);
  target->anchors = sst__trust_anchors(target->trust)->list;
  target->crls = sst__trust_anchors(target->trust)->crls;
  free(pem.bytes);
}

static void renew_config(Target *target) {
  const Data pem = data_read("client-root", "pem");
  sst_config_free(target->config);
  target->config = sst_config_new();
  EXPECT_STATUS(sst_config_add_client_ca(target->config, pem.bytes, pem.len), SST_OK);
  target->names_len = sst__config_settings(target->config)->client_cas_len;
  free(pem.bytes);
}

/* A failed load leaves the list in place that was there: a new one takes its place only whole. */
static void expect_unchanged(const Target *target) {
  const Data chain = read_chain(target->credential);
  EXPECT_BYTES(chain.bytes, chain.len, target->chain.bytes, target->chain.len);
  free(chain.bytes);
  EXPECT(sst__credential_identity(target->credential)->key == target->key);
  EXPECT_EQ(sst__identity_is_complete(sst__credential_identity(target->credential)), target->held == HELD_CHAIN);
  EXPECT(sst__trust_anchors(target->trust)->list == target->anchors);
  EXPECT(sst__trust_anchors(target->trust)->crls == target->crls);
  EXPECT_EQ(sst_trust_num_anchors(target->trust), 1);
  EXPECT_EQ(sst__config_settings(target->config)->client_cas_len, target->names_len);
}

/* ---- loading ---- */

static sst_status load(const Target *target, Way way, const uint8_t *bytes, size_t len, const char *password) {
  const size_t password_len = strlen(password);
  switch (way) {
    case WAY_CREDENTIAL_PEM:
      return sst_credential_load_pem(target->credential, bytes, len, password, password_len);
    case WAY_CREDENTIAL_DER:
      return sst_credential_load_der(target->credential, bytes, len, NULL, 0);
    case WAY_CREDENTIAL_KEY_DER:
      return sst_credential_load_der(target->credential, NULL, 0, bytes, len);
    case WAY_CREDENTIAL_PKCS12:
      return sst_credential_load_pkcs12(target->credential, bytes, len, password, password_len);
    case WAY_TRUST_PEM:
      return sst_trust_load_pem(target->trust, bytes, len);
    case WAY_TRUST_DER:
      return sst_trust_load_der(target->trust, bytes, len);
    case WAY_TRUST_CRL:
      return sst_trust_load_crl(target->trust, bytes, len);
    default:
      return sst_config_add_client_ca(target->config, bytes, len);
  }
}

/* What section 5, 6 and 8 of the header name, but for FROZEN and NO_MEMORY. */
static bool is_documented(Way way, sst_status status) {
  static const sst_status of[NUM_WAYS][10] = {
      [WAY_CREDENTIAL_PEM] = {SST_ERR_PARSE, SST_ERR_NO_CERTIFICATE, SST_ERR_KEY_MISMATCH, SST_ERR_UNSUPPORTED_KEY,
                              SST_ERR_PASSWORD_REQUIRED, SST_ERR_BAD_PASSWORD, SST_ERR_UNSUPPORTED_CIPHER,
                              SST_ERR_LIST_TOO_LONG},
      [WAY_CREDENTIAL_DER] = {SST_ERR_PARSE, SST_ERR_NO_CERTIFICATE, SST_ERR_KEY_MISMATCH, SST_ERR_UNSUPPORTED_KEY,
                              SST_ERR_LIST_TOO_LONG},
      [WAY_CREDENTIAL_KEY_DER] = {SST_ERR_PARSE, SST_ERR_NO_CERTIFICATE, SST_ERR_KEY_MISMATCH, SST_ERR_UNSUPPORTED_KEY,
                                  SST_ERR_PASSWORD_REQUIRED},
      [WAY_CREDENTIAL_PKCS12] = {SST_ERR_PARSE, SST_ERR_NO_CERTIFICATE, SST_ERR_NO_PRIVATE_KEY, SST_ERR_KEY_MISMATCH,
                                 SST_ERR_UNSUPPORTED_KEY, SST_ERR_PASSWORD_REQUIRED, SST_ERR_BAD_PASSWORD,
                                 SST_ERR_UNSUPPORTED_CIPHER, SST_ERR_LIST_TOO_LONG},
      [WAY_TRUST_PEM] = {SST_ERR_PARSE, SST_ERR_NO_CERTIFICATE, SST_ERR_LIST_TOO_LONG},
      [WAY_TRUST_DER] = {SST_ERR_PARSE, SST_ERR_NO_CERTIFICATE, SST_ERR_LIST_TOO_LONG},
      [WAY_TRUST_CRL] = {SST_ERR_PARSE},
      [WAY_CLIENT_CA] = {SST_ERR_PARSE, SST_ERR_NO_CERTIFICATE, SST_ERR_LIST_TOO_LONG},
  };
  for (size_t i = 0; i < sizeof of[0] / sizeof of[0][0]; i++) {
    if (of[way][i] == status) return true;
  }
  return status == SST_OK;
}

static sst_error error_of(const Target *target, Way way) {
  sst_error error = {.size = sizeof error};
  const sst_status status = way == WAY_CLIENT_CA   ? sst_config_last_error(target->config, &error)
                            : way >= WAY_TRUST_PEM ? sst_trust_last_error(target->trust, &error)
                                                   : sst_credential_last_error(target->credential, &error);
  EXPECT_STATUS(status, SST_OK);
  return error;
}

static void renew(Target *target, Way way) {
  if (way < WAY_TRUST_PEM) {
    renew_credential(target);
  } else if (way < WAY_CLIENT_CA) {
    renew_trust(target);
  } else {
    renew_config(target);
  }
}

static void note_time(Mutants *mutants, Way way, const char *name, const uint8_t *bytes, size_t len, uint64_t ns) {
  const bool hashes = way <= WAY_CREDENTIAL_PKCS12;
  const uint64_t rounds = hashes && ns > MOST_NS ? sst__hashing_rounds(bytes, len) : 0;
  EXPECT_AT_MOST(ns, MOST_NS + (rounds > SST__MOST_HASHING_ROUNDS ? 0 : rounds) * NS_PER_ROUND);
  if (ns <= mutants->longest_ns) return;
  mutants->longest_ns = ns;
  (void)snprintf(mutants->longest, sizeof mutants->longest, "%s", name);
}

Mutants mutants_new(Held held) {
  Mutants mutants = {.target = test_allocate(sizeof(Target))};
  *mutants.target = (Target){.held = held};
  renew_credential(mutants.target);
  renew_trust(mutants.target);
  renew_config(mutants.target);
  return mutants;
}

sst_status mutants_load(Mutants *mutants, Way way, const char *name, const void *bytes, size_t len,
                        const char *password) {
  Target *target = mutants->target;
  uint8_t *given = len == 0 ? NULL : test_allocate(len);
  if (len > 0) memcpy(given, bytes, len);
  test_note("%s, mutant %" PRIu64, name, ++mutants->count);
  const uint64_t begin = thread_time();
  const sst_status status = load(target, way, given, len, password);
  note_time(mutants, way, name, bytes, len, thread_time() - begin);
  free(given);
  if (!is_documented(way, status)) EXPECT_STATUS(status, SST_ERR_PARSE);
  if (status < 0 && status > -400) mutants->by_code[-status]++;
  if (status == SST_OK) {
    mutants->by_code[0]++;
    renew(target, way);
    return status;
  }
  const sst_error error = error_of(target, way);
  EXPECT_EQ(error.code, status);
  EXPECT(error.message[0] != 0 && memchr(error.message, 0, sizeof error.message) != NULL);
  expect_unchanged(target);
  return status;
}

void mutants_end(Mutants *mutants, const char *title) {
  test_note(NULL);
  printf("%s: %" PRIu64 " mutants:", title, mutants->count);
  for (int code = 0; code < 400; code++) {
    if (mutants->by_code[code] > 0) printf(" %s %" PRIu64, sst_status_name(-code), mutants->by_code[code]);
  }
  printf("; the slowest took %" PRIu64 " ms (%s)\n", mutants->longest_ns / 1000000, mutants->longest);
  sst_credential_free(mutants->target->credential);
  sst_trust_free(mutants->target->trust);
  sst_config_free(mutants->target->config);
  free(mutants->target->chain.bytes);
  free(mutants->target);
}
