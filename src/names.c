/* Names of IANA's numbers, for people who read logs. Numbers that no peer of today sends are left out. */
#include <stddef.h>

#include "securestream.h"

typedef struct name {
  uint16_t number;
  const char *text;
} name;

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const char *find(const name *table, size_t count, int32_t number) {
  for (size_t i = 0; i < count; i++) {
    if (table[i].number == number) return table[i].text;
  }
  return "unknown";
}

static const name suites[] = {
    {0x0001, "TLS_RSA_WITH_NULL_MD5"},
    {0x0002, "TLS_RSA_WITH_NULL_SHA"},
    {0x0004, "TLS_RSA_WITH_RC4_128_MD5"},
    {0x0005, "TLS_RSA_WITH_RC4_128_SHA"},
    {0x000a, "TLS_RSA_WITH_3DES_EDE_CBC_SHA"},
    {0x0016, "TLS_DHE_RSA_WITH_3DES_EDE_CBC_SHA"},
    {0x002f, "TLS_RSA_WITH_AES_128_CBC_SHA"},
    {0x0033, "TLS_DHE_RSA_WITH_AES_128_CBC_SHA"},
    {0x0035, "TLS_RSA_WITH_AES_256_CBC_SHA"},
    {0x0039, "TLS_DHE_RSA_WITH_AES_256_CBC_SHA"},
    {0x003c, "TLS_RSA_WITH_AES_128_CBC_SHA256"},
    {0x003d, "TLS_RSA_WITH_AES_256_CBC_SHA256"},
    {0x0041, "TLS_RSA_WITH_CAMELLIA_128_CBC_SHA"},
    {0x0067, "TLS_DHE_RSA_WITH_AES_128_CBC_SHA256"},
    {0x006b, "TLS_DHE_RSA_WITH_AES_256_CBC_SHA256"},
    {0x0084, "TLS_RSA_WITH_CAMELLIA_256_CBC_SHA"},
    {0x008c, "TLS_PSK_WITH_AES_128_CBC_SHA"},
    {0x008d, "TLS_PSK_WITH_AES_256_CBC_SHA"},
    {0x009c, "TLS_RSA_WITH_AES_128_GCM_SHA256"},
    {0x009d, "TLS_RSA_WITH_AES_256_GCM_SHA384"},
    {0x009e, "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256"},
    {0x009f, "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384"},
    {0x00a8, "TLS_PSK_WITH_AES_128_GCM_SHA256"},
    {0x00a9, "TLS_PSK_WITH_AES_256_GCM_SHA384"},
    {0x00ff, "TLS_EMPTY_RENEGOTIATION_INFO_SCSV"},
    {0x1301, "TLS_AES_128_GCM_SHA256"},
    {0x1302, "TLS_AES_256_GCM_SHA384"},
    {0x1303, "TLS_CHACHA20_POLY1305_SHA256"},
    {0x1304, "TLS_AES_128_CCM_SHA256"},
    {0x1305, "TLS_AES_128_CCM_8_SHA256"},
    {0x5600, "TLS_FALLBACK_SCSV"},
    {0xc007, "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA"},
    {0xc008, "TLS_ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA"},
    {0xc009, "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"},
    {0xc00a, "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA"},
    {0xc011, "TLS_ECDHE_RSA_WITH_RC4_128_SHA"},
    {0xc012, "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA"},
    {0xc013, "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"},
    {0xc014, "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"},
    {0xc023, "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256"},
    {0xc024, "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384"},
    {0xc027, "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256"},
    {0xc028, "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384"},
    {0xc02b, "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"},
    {0xc02c, "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"},
    {0xc02f, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"},
    {0xc030, "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"},
    {0xc035, "TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA"},
    {0xc036, "TLS_ECDHE_PSK_WITH_AES_256_CBC_SHA"},
    {0xc09c, "TLS_RSA_WITH_AES_128_CCM"},
    {0xc09d, "TLS_RSA_WITH_AES_256_CCM"},
    {0xc09e, "TLS_DHE_RSA_WITH_AES_128_CCM"},
    {0xc09f, "TLS_DHE_RSA_WITH_AES_256_CCM"},
    {0xc0ac, "TLS_ECDHE_ECDSA_WITH_AES_128_CCM"},
    {0xc0ad, "TLS_ECDHE_ECDSA_WITH_AES_256_CCM"},
    {0xc0ae, "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8"},
    {0xc0af, "TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8"},
    {0xcca8, "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"},
    {0xcca9, "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"},
    {0xccaa, "TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256"},
    {0xccab, "TLS_PSK_WITH_CHACHA20_POLY1305_SHA256"},
    {0xccac, "TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256"},
    {0xccad, "TLS_DHE_PSK_WITH_CHACHA20_POLY1305_SHA256"},
    {0xd001, "TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256"},
    {0xd002, "TLS_ECDHE_PSK_WITH_AES_256_GCM_SHA384"},
};

static const name groups[] = {
    {19, "secp192r1"},
    {21, "secp224r1"},
    {22, "secp256k1"},
    {23, "secp256r1"},
    {24, "secp384r1"},
    {25, "secp521r1"},
    {26, "brainpoolP256r1"},
    {27, "brainpoolP384r1"},
    {28, "brainpoolP512r1"},
    {29, "x25519"},
    {30, "x448"},
    {31, "brainpoolP256r1tls13"},
    {32, "brainpoolP384r1tls13"},
    {33, "brainpoolP512r1tls13"},
    {41, "curveSM2"},
    {256, "ffdhe2048"},
    {257, "ffdhe3072"},
    {258, "ffdhe4096"},
    {259, "ffdhe6144"},
    {260, "ffdhe8192"},
    {512, "MLKEM512"},
    {513, "MLKEM768"},
    {514, "MLKEM1024"},
    {4587, "SecP256r1MLKEM768"},
    {4588, "X25519MLKEM768"},
    {4589, "SecP384r1MLKEM1024"},
    {0x6399, "X25519Kyber768Draft00"},
    {0x639a, "SecP256r1Kyber768Draft00"},
};

static const name schemes[] = {
    {0x0201, "rsa_pkcs1_sha1"},
    {0x0203, "ecdsa_sha1"},
    {0x0401, "rsa_pkcs1_sha256"},
    {0x0403, "ecdsa_secp256r1_sha256"},
    {0x0420, "rsa_pkcs1_sha256_legacy"},
    {0x0501, "rsa_pkcs1_sha384"},
    {0x0503, "ecdsa_secp384r1_sha384"},
    {0x0520, "rsa_pkcs1_sha384_legacy"},
    {0x0601, "rsa_pkcs1_sha512"},
    {0x0603, "ecdsa_secp521r1_sha512"},
    {0x0620, "rsa_pkcs1_sha512_legacy"},
    {0x0708, "sm2sig_sm3"},
    {0x0804, "rsa_pss_rsae_sha256"},
    {0x0805, "rsa_pss_rsae_sha384"},
    {0x0806, "rsa_pss_rsae_sha512"},
    {0x0807, "ed25519"},
    {0x0808, "ed448"},
    {0x0809, "rsa_pss_pss_sha256"},
    {0x080a, "rsa_pss_pss_sha384"},
    {0x080b, "rsa_pss_pss_sha512"},
    {0x081a, "ecdsa_brainpoolP256r1tls13_sha256"},
    {0x081b, "ecdsa_brainpoolP384r1tls13_sha384"},
    {0x081c, "ecdsa_brainpoolP512r1tls13_sha512"},
    {0x0904, "mldsa44"},
    {0x0905, "mldsa65"},
    {0x0906, "mldsa87"},
};

static const name alerts[] = {
    {0, "close_notify"},
    {10, "unexpected_message"},
    {20, "bad_record_mac"},
    {21, "decryption_failed"},
    {22, "record_overflow"},
    {30, "decompression_failure"},
    {40, "handshake_failure"},
    {41, "no_certificate"},
    {42, "bad_certificate"},
    {43, "unsupported_certificate"},
    {44, "certificate_revoked"},
    {45, "certificate_expired"},
    {46, "certificate_unknown"},
    {47, "illegal_parameter"},
    {48, "unknown_ca"},
    {49, "access_denied"},
    {50, "decode_error"},
    {51, "decrypt_error"},
    {52, "too_many_cids_requested"},
    {60, "export_restriction"},
    {70, "protocol_version"},
    {71, "insufficient_security"},
    {80, "internal_error"},
    {86, "inappropriate_fallback"},
    {90, "user_canceled"},
    {100, "no_renegotiation"},
    {109, "missing_extension"},
    {110, "unsupported_extension"},
    {111, "certificate_unobtainable"},
    {112, "unrecognized_name"},
    {113, "bad_certificate_status_response"},
    {114, "bad_certificate_hash_value"},
    {115, "unknown_psk_identity"},
    {116, "certificate_required"},
    {117, "general_error"},
    {120, "no_application_protocol"},
    {121, "ech_required"},
};

const char *sst_suite_name(uint16_t suite) {
  return find(suites, COUNT(suites), suite);
}

const char *sst_group_name(uint16_t group) {
  return find(groups, COUNT(groups), group);
}

const char *sst_scheme_name(uint16_t scheme) {
  return find(schemes, COUNT(schemes), scheme);
}

const char *sst_alert_name(int32_t alert) {
  return find(alerts, COUNT(alerts), alert);
}
