/* What a config says, as plain data: written by the setters in config.c, read by src/tls/context.c. */
#ifndef SST_SETTINGS_H
#define SST_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SST__MAX_GROUPS = 8, SST__MAX_SUITES = 6, SST__MAX_SCHEMES = 10, SST__MAX_CREDENTIALS = 16 };
/* Full records under one AES-GCM key (RFC 8446, 5.5: 2^24.5). */
enum { SST__LEAST_RECORDS = 2, SST__MOST_RECORDS = 23726566 };
enum { SST__MOST_TICKETS = 16, SST__MOST_LIFETIME_S = 604800 /* RFC 8446, 4.6.1 */ };
enum { SST__MIN_FRAGMENT = 512, SST__MAX_FRAGMENT = 16384 }; /* plaintext of a record that we send */

typedef struct sst__settings {
  uint16_t min_version, max_version;
  uint16_t groups[SST__MAX_GROUPS];
  uint16_t suites[SST__MAX_SUITES];
  uint16_t schemes[SST__MAX_SCHEMES];
  size_t num_groups, num_suites, num_schemes;
  int32_t profile, verify, client_certificate, chain_digests, alpn_lenient;
  uint32_t minimum_rsa_bits;
  uint32_t max_fragment;
  uint64_t key_update_limit; /* records under one key */
  uint32_t report;           /* mask of events */
  uint32_t suspend;          /* mask of questions */
  uint32_t ticket_count, session_lifetime_s;
  int32_t early_data;
  uint8_t *alpn;       /* as on the wire: each name behind one length byte (RFC 7301, 3.1) */
  uint8_t *client_cas; /* as on the wire: each DER name behind two length bytes (RFC 8446, 4.2.4) */
  size_t alpn_len, client_cas_len;
} sst__settings;

/* True if streams stop for the question want, an SST_WANT_x. */
static inline bool sst__suspends_on(const sst__settings *settings, int32_t want) {
  enum { FIRST = 16 }; /* SST_WANT_CLIENT_HELLO */
  return (settings->suspend & (UINT32_C(1) << (want - FIRST))) != 0;
}

static inline bool sst__has_number(const uint16_t *list, size_t num, uint16_t number) {
  for (size_t i = 0; i < num; i++) {
    if (list[i] == number) return true;
  }
  return false;
}

#endif
