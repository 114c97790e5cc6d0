#include "judge.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/mem.h>

#include "error.h"

Judge judge_new(void) {
  Judge judge = {.anchors = sst__anchors_new(), .chain = sk_CRYPTO_BUFFER_new_null()};
  REQUIRE(judge.anchors != NULL && judge.chain != NULL);
  judge.request = (sst__verify_request){.name = "server.test",
                                        .peer_is_server = true,
                                        .unix_s = DATA_CLOCK,
                                        .minimum_rsa_bits = 2048,
                                        .anchors = judge.anchors,
                                        .chain = judge.chain};
  return judge;
}

void judge_free(Judge *judge) {
  sst__anchors_free(judge->anchors);
  sk_CRYPTO_BUFFER_pop_free(judge->chain, CRYPTO_BUFFER_free);
  issue_free_all();
}

void judge_trusts(Judge *judge, ...) {
  va_list list;
  va_start(list, judge);
  for (const X509 *anchor = va_arg(list, X509 *); anchor != NULL; anchor = va_arg(list, X509 *)) {
    const X509 *const one[] = {anchor, NULL};
    char *pem = issue_pem(one);
    EXPECT_STATUS(sst__anchors_load_pem(judge->anchors, (const uint8_t *)pem, strlen(pem), &judge->error), SST_OK);
    free(pem);
  }
  va_end(list);
}

void judge_is_sent_bytes(Judge *judge, const void *bytes, size_t len) {
  CRYPTO_BUFFER *buffer = CRYPTO_BUFFER_new(bytes, len, NULL);
  REQUIRE(buffer != NULL && sk_CRYPTO_BUFFER_push(judge->chain, buffer));
}

void judge_is_sent(Judge *judge, ...) {
  va_list list;
  va_start(list, judge);
  for (const X509 *sent = va_arg(list, X509 *); sent != NULL; sent = va_arg(list, X509 *)) {
    uint8_t *der = NULL;
    const int len = i2d_X509(sent, &der);
    REQUIRE(len > 0);
    judge_is_sent_bytes(judge, der, (size_t)len);
    OPENSSL_free(der);
  }
  va_end(list);
}

sst_status judge_verdict(Judge *judge) {
  memset(&judge->error, 0, sizeof judge->error);
  return sst__verify_chain(&judge->request, &judge->error);
}

uint64_t judge_reasons(sst_status code, ...) {
  uint64_t reasons = 0;
  va_list list;
  va_start(list, code);
  for (; code != 0; code = va_arg(list, sst_status))
    reasons |= UINT64_C(1) << (-500 - code);
  va_end(list);
  return reasons;
}

X509 *judge_root(void) {
  return ISSUE(.subject = "Root", .key = key_of(KEY_P256, 0), .ca = true, .key_ids = true);
}

X509 *judge_intermediate(const X509 *root) {
  return ISSUE(.subject = "Intermediate", .key = key_of(KEY_P256, 1), .ca = true, .key_ids = true, .issuer = root,
               .issuer_key = key_of(KEY_P256, 0));
}

X509 *judge_leaf(const X509 *intermediate) {
  return ISSUE(.subject = "Leaf", .key = key_of(KEY_P256, 2), .key_ids = true, .issuer = intermediate,
               .issuer_key = key_of(KEY_P256, 1), .names = "DNS:server.test,DNS:*.wild.test,IP:127.0.0.1,IP:::1",
               .purposes = "serverAuth", .usage = "digitalSignature");
}
