#include "names.h"

#include <stdlib.h>
#include <string.h>

#include "securestream.h"

typedef struct Name {
  const char *text;
  uint32_t number;
} Name;

static bool find(const Name *names, size_t count, const char *text, uint32_t *number) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(names[i].text, text) != 0) continue;
    *number = names[i].number;
    return true;
  }
  return false;
}

#define COUNT(names) (sizeof(names) / sizeof *(names))

static bool find_narrow(const Name *names, size_t count, const char *text, uint16_t *number) {
  uint32_t wide = 0;
  if (!find(names, count, text, &wide)) return false;
  *number = (uint16_t)wide;
  return true;
}

bool group_of_name(const char *name, uint16_t *group) {
  static const Name names[] = {{"x25519", 29},    {"secp256r1", 23},        {"secp384r1", 24},
                               {"secp521r1", 25}, {"X25519MLKEM768", 4588}, {"MLKEM1024", 514}};
  return find_narrow(names, COUNT(names), name, group);
}

bool suite_of_name(const char *name, uint16_t *suite) {
  static const Name names[] = {{"TLS_AES_128_GCM_SHA256", 0x1301},
                               {"TLS_AES_256_GCM_SHA384", 0x1302},
                               {"TLS_CHACHA20_POLY1305_SHA256", 0x1303},
                               {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", 0xc02b},
                               {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", 0xc02c},
                               {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", 0xc02f},
                               {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", 0xc030},
                               {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", 0xcca8},
                               {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", 0xcca9}};
  return find_narrow(names, COUNT(names), name, suite);
}

bool scheme_of_name(const char *name, uint16_t *scheme) {
  static const Name names[] = {{"none", 0},
                               {"ecdsa_secp256r1_sha256", 0x0403},
                               {"ecdsa_secp384r1_sha384", 0x0503},
                               {"ecdsa_secp521r1_sha512", 0x0603},
                               {"ed25519", 0x0807},
                               {"rsa_pss_rsae_sha256", 0x0804},
                               {"rsa_pss_rsae_sha384", 0x0805},
                               {"rsa_pss_rsae_sha512", 0x0806},
                               {"rsa_pkcs1_sha256", 0x0401},
                               {"rsa_pkcs1_sha384", 0x0501},
                               {"rsa_pkcs1_sha512", 0x0601}};
  return find_narrow(names, COUNT(names), name, scheme);
}

bool state_of_name(const char *name, uint32_t *bit) {
  static const Name names[] = {{"new", 0},
                               {"handshake", SST_STATE_HANDSHAKE},
                               {"suspended", SST_STATE_SUSPENDED},
                               {"open", SST_STATE_OPEN},
                               {"we-closed", SST_STATE_WE_CLOSED},
                               {"peer-closed", SST_STATE_PEER_CLOSED},
                               {"truncated", SST_STATE_TRUNCATED},
                               {"failed", SST_STATE_FAILED},
                               {"ended-early", SST_STATE_ENDED_EARLY}};
  return find(names, COUNT(names), name, bit);
}

bool question_of_name(const char *name, uint16_t *status) {
  static const Name names[] = {{"client-hello", SST_WANT_CLIENT_HELLO},
                               {"certificate", SST_WANT_CERTIFICATE},
                               {"certificate-verify", SST_WANT_CERTIFICATE_VERIFY},
                               {"private-key-operation", SST_WANT_PRIVATE_KEY_OPERATION},
                               {"session", SST_WANT_SESSION},
                               {"ticket-decrypt", SST_WANT_TICKET_DECRYPT},
                               {"early-data-retry", SST_WANT_EARLY_DATA_RETRY}};
  return find_narrow(names, COUNT(names), name, status);
}

bool version_of_name(const char *name, uint16_t *version) {
  static const Name names[] = {{"1.2", SST_TLS1_2}, {"1.3", SST_TLS1_3}};
  return find_narrow(names, COUNT(names), name, version);
}

bool type_of_name(const char *name, uint8_t *type) {
  static const Name names[] = {{"change-cipher-spec", 20}, {"alert", 21}, {"handshake", 22}, {"application-data", 23}};
  uint32_t number = 0;
  if (find(names, COUNT(names), name, &number)) return *type = (uint8_t)number, true;
  char *end = NULL;
  const unsigned long value = strtoul(name, &end, 10);
  if (*name < '0' || *name > '9' || *end != '\0' || value > 255) return false;
  *type = (uint8_t)value;
  return true;
}
