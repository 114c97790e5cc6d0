#include "host.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

enum { MAX_LABEL = 63 };

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* Letters, digits and hyphens (RFC 1123, 2.1), and the underscore that people do use. */
static bool is_label_byte(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

static bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* A last label that is a number makes an address, or a damaged one ("256.1.1.1", "0x7f.1", "10"), which resolvers read
   in ways of their own. No top-level domain looks like that (RFC 3696, 2). */
static bool is_number(const char *label, size_t len) {
  const bool hex = len >= 2 && label[0] == '0' && (label[1] == 'x' || label[1] == 'X');
  for (size_t i = hex ? 2 : 0; i < len; i++) {
    if (hex ? !is_hex(label[i]) : !is_digit(label[i])) return false;
  }
  return true;
}

static bool is_dns_name(const char *name, size_t len) {
  size_t start = 0;
  for (size_t i = 0; i <= len; i++) {
    if (i < len && name[i] != '.') {
      if (!is_label_byte(name[i])) return false;
      continue;
    }
    if (i == start || i - start > MAX_LABEL) return false;
    if (i < len) start = i + 1;
  }
  return !is_number(name + start, len - start);
}

static bool is_address(int family, const char *text) {
  uint8_t address[16];
  return inet_pton(family, text, address) == 1;
}

bool sst__host_parse(sst__host *host, const char *name, size_t name_len) {
  sst__host parsed = {.is_ip = false};
  if (name_len == 0) {
    *host = parsed;
    return true;
  }
  const bool brackets = name_len > 2 && name[0] == '[' && name[name_len - 1] == ']';
  if (brackets) {
    name++;
    name_len -= 2;
  }
  const bool colon = memchr(name, ':', name_len) != NULL;
  if (!colon && name[name_len - 1] == '.') name_len--; /* the root: not part of the name in RFC 6066, 3 */
  if (name_len == 0 || name_len > SST__MAX_HOST || memchr(name, 0, name_len) != NULL) return false;

  memcpy(parsed.name, name, name_len);
  if (colon || brackets) {
    if (!is_address(AF_INET6, parsed.name)) return false;
    parsed.is_ip = true;
  } else if (is_address(AF_INET, parsed.name)) {
    parsed.is_ip = true;
  } else if (!is_dns_name(name, name_len)) {
    return false;
  }
  *host = parsed;
  return true;
}
