#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

Data data_read(const char *name, const char *extension) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.%s", SST_TEST_DATA, name, extension);
  FILE *file = fopen(path, "rb");
  if (file == NULL) FAIL("cannot open %s", path);
  Data data = {NULL, 0};
  for (size_t got = 1; got > 0; data.len += got) {
    data.bytes = test_reallocate(data.bytes, data.len + 4096);
    got = fread(data.bytes + data.len, 1, 4096, file);
  }
  fclose(file);
  /* No byte behind the end: what reads over it is found. */
  data.bytes = test_reallocate(data.bytes, data.len);
  return data;
}

static int base64_digit(int c) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *at = c == 0 ? NULL : strchr(digits, c);
  return at == NULL ? -1 : (int)(at - digits);
}

static Data base64_decode(const char *from, const char *end) {
  Data out = {test_allocate((size_t)(end - from)), 0};
  uint32_t bits = 0;
  int have = 0;
  for (; from < end; from++) {
    const int digit = base64_digit(*from);
    if (digit < 0) continue;
    bits = bits << 6 | (uint32_t)digit;
    have += 6;
    if (have >= 8) {
      have -= 8;
      out.bytes[out.len++] = (uint8_t)(bits >> have);
    }
  }
  return out;
}

Data data_certificate(const char *name, size_t index) {
  static const char begin[] = "-----BEGIN CERTIFICATE-----\n", end[] = "-----END CERTIFICATE-----";
  Data pem = data_read(name, "pem");
  pem.bytes = test_reallocate(pem.bytes, pem.len + 1);
  pem.bytes[pem.len] = '\0';
  const char *at = (const char *)pem.bytes, *stop = NULL;
  for (size_t i = 0; i <= index; i++) {
    at = strstr(i == 0 ? at : stop, begin);
    stop = at == NULL ? NULL : strstr(at, end);
    if (stop == NULL) FAIL("%s.pem has no certificate %zu", name, index);
    at += sizeof begin - 1;
  }
  const Data der = base64_decode(at, stop);
  free(pem.bytes);
  return der;
}

sst_credential *data_credential(const char *name) {
  sst_credential *credential = sst_credential_new();
  REQUIRE(credential != NULL);
  const Data chain = data_read(name, "pem"), key = data_read(name, "key");
  REQUIRE_STATUS(sst_credential_load_pem(credential, chain.bytes, chain.len, NULL, 0), SST_OK);
  REQUIRE_STATUS(sst_credential_load_pem(credential, key.bytes, key.len, NULL, 0), SST_OK);
  free(chain.bytes);
  free(key.bytes);
  return credential;
}

sst_trust *data_trust(const char *name) {
  sst_trust *trust = sst_trust_new();
  REQUIRE(trust != NULL);
  const Data anchors = data_read(name, "pem");
  REQUIRE_STATUS(sst_trust_load_pem(trust, anchors.bytes, anchors.len), SST_OK);
  free(anchors.bytes);
  return trust;
}
