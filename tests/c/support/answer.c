#include "answer.h"

#include <stdlib.h>

#include "openssl_signer.h"

void answer(Side *side, SideAnswers *answers) {
  sst_stream *stream = side->stream;
  answers->questions++;
  answers->asked |= ASK(side->status);
  switch (side->status) {
    case SST_WANT_CLIENT_HELLO:
      REQUIRE_STATUS(sst_stream_set_config(stream, answers->config), SST_OK);
      break;
    case SST_WANT_CERTIFICATE:
      REQUIRE_STATUS(sst_stream_set_credential(stream, answers->credential), SST_OK);
      break;
    case SST_WANT_CERTIFICATE_VERIFY:
      REQUIRE_STATUS(answers->accept ? sst_stream_accept(stream) : sst_stream_accept_default(stream), SST_OK);
      break;
    case SST_WANT_PRIVATE_KEY_OPERATION:
      (void)answer_signature(side, answers->key);
      break;
    default:
      FAIL("%s is no question", sst_status_name(side->status));
  }
  side->status = SST_NEED_INPUT;
}

sst_status answer_handshake(Pair *pair, Answers *answers) {
  for (;;) {
    const sst_status status = pair_handshake(pair);
    if (status < SST_WANT_CLIENT_HELLO) return status;
    if (pair->client.status >= SST_WANT_CLIENT_HELLO) {
      answer(&pair->client, &answers->client);
    } else {
      answer(&pair->server, &answers->server);
    }
  }
}

uint16_t answer_signature(const Side *side, const char *key) {
  int32_t operation = -1;
  uint16_t scheme = 0;
  uint8_t message[16384], signature[1024];
  size_t len = 0;
  REQUIRE_STATUS(sst_stream_private_key_operation(side->stream, &operation, &scheme, message, sizeof message, &len),
                 SST_OK);
  EXPECT_EQ(operation, SST_OPERATION_SIGN);
  const size_t signature_len = openssl_sign(key, scheme, message, len, signature, sizeof signature);
  EXPECT_STATUS(sst_stream_set_signature(side->stream, signature, signature_len), SST_OK);
  return scheme;
}

sst_credential *answer_credential(const char *name, uint16_t scheme) {
  static const uint16_t all[] = {0x0403, 0x0503, 0x0603, 0x0807, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601};
  sst_credential *credential = sst_credential_new();
  const Data chain = data_read(name, "pem");
  REQUIRE_STATUS(scheme != 0 ? sst_credential_set_caller_signs(credential, &scheme, 1)
                             : sst_credential_set_caller_signs(credential, all, sizeof all / sizeof all[0]),
                 SST_OK);
  REQUIRE_STATUS(sst_credential_load_pem(credential, chain.bytes, chain.len, NULL, 0), SST_OK);
  free(chain.bytes);
  return credential;
}
