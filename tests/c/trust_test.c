/*
 * Trust anchors: what is loaded, and that a failed load adds nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "test.h"

static sst_status load(sst_trust *trust, const char *name, const char *extension) {
  const Data text = data_read(name, extension);
  const sst_status status = sst_trust_load_pem(trust, text.bytes, text.len);
  free(text.bytes);
  return status;
}

static sst_status load_text(sst_trust *trust, const char *text) {
  return sst_trust_load_pem(trust, (const uint8_t *)text, strlen(text));
}

static sst_error error_of(const sst_trust *trust) {
  sst_error error = {.size = sizeof error};
  EXPECT_STATUS(sst_trust_last_error(trust, &error), SST_OK);
  return error;
}

TEST(trust, new_one_is_empty_and_counted) {
  const uint64_t before = sst_live_objects();
  sst_trust *trust = sst_trust_new();
  EXPECT_EQ(sst_trust_num_anchors(trust), 0);
  EXPECT_STATUS(error_of(trust).code, SST_OK);
  EXPECT(sst_trust_ref(trust) == trust);
  sst_trust_free(trust);
  EXPECT_EQ(sst_live_objects(), before + 1);
  sst_trust_free(trust);
  EXPECT_EQ(sst_live_objects(), before);
  EXPECT(sst_trust_ref(NULL) == NULL);
  sst_trust_free(NULL);
  EXPECT_EQ(sst_trust_num_anchors(NULL), 0);
}

TEST(trust, loads_add_up) {
  sst_trust *trust = sst_trust_new();
  EXPECT_STATUS(load(trust, "root", "pem"), SST_OK);
  EXPECT_STATUS(load(trust, "client-root", "pem"), SST_OK);
  EXPECT_EQ(sst_trust_num_anchors(trust), 2);
  EXPECT_STATUS(load(trust, "server-chain", "pem"), SST_OK); /* every certificate of a bundle */
  EXPECT_EQ(sst_trust_num_anchors(trust), 5);
  sst_trust_free(trust);
}

TEST(trust, certificate_that_is_there_is_not_added_again) {
  sst_trust *trust = sst_trust_new();
  const Data root = data_read("root", "pem");
  Data twice = {test_allocate(2 * root.len), 2 * root.len};
  memcpy(twice.bytes, root.bytes, root.len);
  memcpy(twice.bytes + root.len, root.bytes, root.len);
  EXPECT_STATUS(sst_trust_load_pem(trust, twice.bytes, twice.len), SST_OK);
  EXPECT_EQ(sst_trust_num_anchors(trust), 1);
  EXPECT_STATUS(load(trust, "root", "pem"), SST_OK);
  EXPECT_EQ(sst_trust_num_anchors(trust), 1);
  free(root.bytes);
  free(twice.bytes);
  sst_trust_free(trust);
}

TEST(trust, text_without_a_certificate_is_no_certificate) {
  sst_trust *trust = sst_trust_new();
  EXPECT_STATUS(load_text(trust, ""), SST_ERR_NO_CERTIFICATE);
  EXPECT_STATUS(load(trust, "root", "key"), SST_ERR_NO_CERTIFICATE);
  EXPECT_STRING(error_of(trust).message, "no certificate in the input");
  EXPECT_EQ(sst_trust_num_anchors(trust), 0);
  sst_trust_free(trust);
}

/* The first of two is good: neither is added. */
TEST(trust, bundle_with_a_damaged_certificate_adds_nothing) {
  sst_trust *trust = sst_trust_new();
  EXPECT_STATUS(load(trust, "client-root", "pem"), SST_OK);
  Data bundle = data_read("server-p256", "pem");
  bundle.bytes = test_reallocate(bundle.bytes, bundle.len + 1);
  bundle.bytes[bundle.len] = 0;
  strstr((char *)bundle.bytes + 10, "-----BEGIN")[60] = '!';
  EXPECT_STATUS(sst_trust_load_pem(trust, bundle.bytes, bundle.len), SST_ERR_PARSE);
  EXPECT_STATUS(error_of(trust).code, SST_ERR_PARSE);
  EXPECT_STRING(error_of(trust).message, "certificate 2 of 2: bad base64 at line 14");

  EXPECT_STATUS(sst_trust_load_pem(trust, bundle.bytes, bundle.len - 5), SST_ERR_PARSE);
  EXPECT_STATUS(load_text(trust, "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"), SST_ERR_PARSE);
  EXPECT_STRING(error_of(trust).message, "certificate 1 of 1: not a valid certificate, in the block at line 1");
  EXPECT_EQ(sst_trust_num_anchors(trust), 1);
  free(bundle.bytes);
  sst_trust_free(trust);
}

/* A real bundle: as many anchors as it has certificates. */
TEST(trust, bundle_of_the_system_loads_whole) {
  FILE *file = fopen("/etc/ssl/certs/ca-certificates.crt", "rb");
  if (file == NULL) SKIP("this system has no /etc/ssl/certs/ca-certificates.crt");
  Data bundle = {NULL, 0};
  for (size_t got = 1; got > 0; bundle.len += got) {
    bundle.bytes = test_reallocate(bundle.bytes, bundle.len + 65537);
    got = fread(bundle.bytes + bundle.len, 1, 65536, file);
  }
  fclose(file);
  bundle.bytes[bundle.len] = 0;
  size_t count = 0;
  for (const char *at = (char *)bundle.bytes; (at = strstr(at, "-----BEGIN CERTIFICATE-----")) != NULL; at++)
    count++;

  sst_trust *trust = sst_trust_new();
  EXPECT_STATUS(sst_trust_load_pem(trust, bundle.bytes, bundle.len), SST_OK);
  EXPECT_STRING(error_of(trust).message, "");
  EXPECT_EQ(sst_trust_num_anchors(trust), count);
  EXPECT_AT_LEAST(count, 1);
  sst_trust_free(trust);
  free(bundle.bytes);
}

TEST(trust, wrong_arguments_change_nothing_and_leave_no_record) {
  sst_trust *trust = sst_trust_new();
  const uint8_t byte = 0;
  sst_error error = {.size = sizeof error};
  EXPECT_STATUS(sst_trust_load_pem(NULL, &byte, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_trust_load_pem(trust, NULL, 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_trust_load_pem(trust, &byte, (size_t)PTRDIFF_MAX + 1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_trust_set_partial_chain(NULL, 0), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_trust_set_partial_chain(trust, 2), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_trust_set_partial_chain(trust, -1), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_trust_last_error(NULL, &error), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(sst_trust_last_error(trust, NULL), SST_ERR_INVALID_ARGUMENT);
  EXPECT_STATUS(error_of(trust).code, SST_OK);
  sst_trust_free(trust);
}

TEST(trust, frozen_one_refuses_every_change) {
  sst_trust *trust = sst_trust_new();
  sst_config *config = sst_config_new();
  EXPECT_STATUS(load(trust, "root", "pem"), SST_OK);
  EXPECT_STATUS(sst_trust_set_partial_chain(trust, 1), SST_OK);
  EXPECT_STATUS(sst_config_set_trust(config, trust), SST_OK);

  EXPECT_STATUS(load(trust, "client-root", "pem"), SST_ERR_FROZEN);
  EXPECT_STATUS(sst_trust_set_partial_chain(trust, 0), SST_ERR_FROZEN);
  EXPECT_STATUS(sst_trust_load_der(trust, (const uint8_t *)"", 0), SST_ERR_FROZEN);
  EXPECT_EQ(sst_trust_num_anchors(trust), 1);
  EXPECT_STATUS(error_of(trust).code, SST_OK);
  sst_config_free(config);
  sst_trust_free(trust);
}
