#include <string.h>

#include <openssl/bytestring.h>
#include <openssl/cipher.h>
#include <openssl/ec_key.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/nid.h>
#include <openssl/pkcs8.h>
#include <openssl/rsa.h>

#include "memory.h"
#include "tls/internal.h"

enum { LEAST_RSA_BITS = 1024, MOST_RSA_BITS = 8192 };

/* What BoringSSL's queue says of a key that it did not take. */
typedef struct complaints {
  bool unknown_key;    /* a kind of key, a curve or a size that it does not know */
  bool unknown_cipher; /* it cannot decrypt that */
  bool bad_structure;  /* of what stands around the ciphertext */
} complaints;

static void read_complaint(complaints *found, int library, int reason) {
  if (library == ERR_LIB_EVP) found->unknown_key |= reason == EVP_R_UNSUPPORTED_ALGORITHM;
  if (library == ERR_LIB_EC) found->unknown_key |= reason == EC_R_UNKNOWN_GROUP;
  if (library == ERR_LIB_RSA) found->unknown_key |= reason == RSA_R_MODULUS_TOO_LARGE;
  if (library == ERR_LIB_CIPHER) found->bad_structure |= reason == CIPHER_R_WRONG_FINAL_BLOCK_LENGTH;
  if (library != ERR_LIB_PKCS8) return;
  switch (reason) {
    case PKCS8_R_UNKNOWN_ALGORITHM:
    case PKCS8_R_UNSUPPORTED_CIPHER:
    case PKCS8_R_UNSUPPORTED_KEY_DERIVATION_FUNCTION:
    case PKCS8_R_UNSUPPORTED_KEYLENGTH:
    case PKCS8_R_UNSUPPORTED_PRF:
    case PKCS8_R_BAD_ITERATION_COUNT:
      found->unknown_cipher = true;
      break;
    case PKCS8_R_DECODE_ERROR:
    case PKCS8_R_ERROR_SETTING_CIPHER_PARAMS:
      found->bad_structure = true;
      break;
    default:
      break;
  }
}

static complaints read_complaints(void) {
  complaints found = {.unknown_key = false};
  for (uint32_t error = ERR_get_error(); error != 0; error = ERR_get_error()) {
    read_complaint(&found, ERR_GET_LIB(error), ERR_GET_REASON(error));
  }
  return found;
}

sst_status sst__check_key_kind(const EVP_PKEY *key, const char *whose, sst_error *record) {
  const char *const accepted =
      "accepted are RSA with 2048 to 8192 bits (from 1024 on by sst_config_set_minimum_key), "
      "P-256, P-384, P-521 and Ed25519";
  switch (key == NULL ? EVP_PKEY_NONE : EVP_PKEY_id(key)) {
    case EVP_PKEY_RSA: {
      const int bits = EVP_PKEY_bits(key);
      if (bits >= LEAST_RSA_BITS && bits <= MOST_RSA_BITS) return SST_OK;
      return sst__fail(record, SST_ERR_UNSUPPORTED_KEY, "%s is RSA with %d bits; %s", whose, bits, accepted);
    }
    case EVP_PKEY_EC: {
      const int curve = EVP_PKEY_get_ec_curve_nid(key);
      if (curve == NID_X9_62_prime256v1 || curve == NID_secp384r1 || curve == NID_secp521r1) return SST_OK;
      return sst__fail(record, SST_ERR_UNSUPPORTED_KEY, "%s is on another curve; %s", whose, accepted);
    }
    case EVP_PKEY_ED25519:
      return SST_OK;
    default:
      return sst__fail(record, SST_ERR_UNSUPPORTED_KEY, "%s is of another kind; %s", whose, accepted);
  }
}

static EVP_PKEY *parse_rsa(CBS *der) {
  RSA *rsa = RSA_parse_private_key(der);
  EVP_PKEY *key = EVP_PKEY_new();
  if (rsa == NULL || key == NULL || !EVP_PKEY_assign_RSA(key, rsa)) {
    RSA_free(rsa);
    EVP_PKEY_free(key);
    return NULL;
  }
  return key;
}

static EVP_PKEY *parse_ec(CBS *der) {
  EC_KEY *ec = EC_KEY_parse_private_key(der, NULL);
  EVP_PKEY *key = EVP_PKEY_new();
  if (ec == NULL || key == NULL || !EVP_PKEY_assign_EC_KEY(key, ec)) {
    EC_KEY_free(ec);
    EVP_PKEY_free(key);
    return NULL;
  }
  return key;
}

/* A wrong password shows as bad padding or, once in 256 times, as plaintext that is no key: what is neither a fault of
   the structure around it nor a thing unknown to us is taken for that. */
static sst_status decrypt_key(const char *name, CBS *der, const char *password, size_t password_len, EVP_PKEY **key,
                              sst_error *record) {
  CBS copy = *der, outer, algorithm, ciphertext;
  if (!CBS_get_asn1(&copy, &outer, CBS_ASN1_SEQUENCE) || !CBS_get_asn1(&outer, &algorithm, CBS_ASN1_SEQUENCE) ||
      !CBS_get_asn1(&outer, &ciphertext, CBS_ASN1_OCTETSTRING) || CBS_len(&outer) != 0 || CBS_len(&copy) != 0) {
    return sst__fail(record, SST_ERR_PARSE, "%s: not an EncryptedPrivateKeyInfo", name);
  }
  if (password_len == 0) return sst__fail(record, SST_ERR_PASSWORD_REQUIRED, "%s: encrypted, and no password", name);
  if (sst__hashing_rounds(CBS_data(der), CBS_len(der)) > SST__MOST_HASHING_ROUNDS) {
    return sst__fail(record, SST_ERR_UNSUPPORTED_CIPHER, "%s: its password must be hashed more than %d times", name,
                     SST__MOST_HASHING_ROUNDS);
  }

  *key = PKCS8_parse_encrypted_private_key(der, password, password_len);
  if (*key != NULL) return SST_OK;
  const complaints found = read_complaints();
  if (found.unknown_cipher) {
    return sst__fail(record, SST_ERR_UNSUPPORTED_CIPHER,
                     "%s: encrypted in another way than PBES2 with PBKDF2 and AES-CBC, or PKCS#12's", name);
  }
  if (found.bad_structure) return sst__fail(record, SST_ERR_PARSE, "%s: bad encryption parameters", name);
  if (found.unknown_key) return sst__check_key_kind(NULL, name, record);
  return sst__fail(record, SST_ERR_BAD_PASSWORD, "%s: the password does not open it", name);
}

typedef enum key_form { FORM_UNKNOWN, FORM_PKCS8, FORM_ENCRYPTED, FORM_RSA, FORM_EC } key_form;

static const struct {
  key_form form;
  const char *label;
} forms[] = {{FORM_PKCS8, "PRIVATE KEY"},
             {FORM_ENCRYPTED, "ENCRYPTED PRIVATE KEY"},
             {FORM_RSA, "RSA PRIVATE KEY"},
             {FORM_EC, "EC PRIVATE KEY"}};

static key_form form_of_label(const char *label) {
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    if (strcmp(label, forms[i].label) == 0) return forms[i].form;
  }
  return FORM_UNKNOWN;
}

static const char *label_of_form(key_form form) {
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    if (forms[i].form == form) return forms[i].label;
  }
  return "key";
}

/* By what stands first: SEQUENCE in an EncryptedPrivateKeyInfo, and behind the version SEQUENCE in PKCS#8, INTEGER in
   PKCS#1, OCTET STRING in SEC1. */
static key_form form_of_der(const uint8_t *der, size_t der_len) {
  CBS cbs, inside;
  CBS_init(&cbs, der, der_len);
  if (!CBS_get_asn1(&cbs, &inside, CBS_ASN1_SEQUENCE)) return FORM_UNKNOWN;
  if (CBS_peek_asn1_tag(&inside, CBS_ASN1_SEQUENCE)) return FORM_ENCRYPTED;
  if (!CBS_get_asn1(&inside, NULL, CBS_ASN1_INTEGER)) return FORM_UNKNOWN;
  if (CBS_peek_asn1_tag(&inside, CBS_ASN1_SEQUENCE)) return FORM_PKCS8;
  if (CBS_peek_asn1_tag(&inside, CBS_ASN1_INTEGER)) return FORM_RSA;
  return CBS_peek_asn1_tag(&inside, CBS_ASN1_OCTETSTRING) ? FORM_EC : FORM_UNKNOWN;
}

static sst_status parse_key(key_form form, const char *name, CBS *der, EVP_PKEY **key, sst_error *record) {
  if (form == FORM_PKCS8) {
    *key = EVP_parse_private_key(der);
  } else if (form == FORM_RSA) {
    *key = parse_rsa(der);
  } else {
    *key = parse_ec(der);
  }
  if (*key != NULL && CBS_len(der) == 0) return SST_OK;
  const complaints found = read_complaints();
  if (*key == NULL && found.unknown_key) return sst__check_key_kind(NULL, name, record);
  return sst__fail(record, SST_ERR_PARSE, "%s: not a valid key in \"%s\"", name, label_of_form(form));
}

/* Reads a key and checks its kind. */
static sst_status read_key(key_form form, const char *name, const uint8_t *der, size_t der_len, const char *password,
                           size_t password_len, EVP_PKEY **key, sst_error *record) {
  CBS cbs;
  CBS_init(&cbs, der, der_len);
  ERR_clear_error();
  sst_status status = form == FORM_ENCRYPTED ? decrypt_key(name, &cbs, password, password_len, key, record)
                                             : parse_key(form, name, &cbs, key, record);
  ERR_clear_error();
  if (status == SST_OK) status = sst__check_key_kind(*key, name, record);
  if (status != SST_OK) {
    EVP_PKEY_free(*key);
    *key = NULL;
  }
  return status;
}

sst_status sst__read_private_key(const sst__pem_block *block, const char *password, size_t password_len, EVP_PKEY **key,
                                 sst_error *record) {
  const key_form form = form_of_label(block->label);
  char name[SST__SUBJECT_CAP];
  sst__pem_describe(block, name, sizeof name);
  *key = NULL;
  if (form == FORM_UNKNOWN) {
    return sst__fail(record, SST_ERR_UNSUPPORTED_KEY, "%s: \"%s\" is not read; use PKCS#8", name, block->label);
  }
  uint8_t *der = NULL;
  size_t der_len = 0;
  sst_status status = block->encrypted ? sst__decrypt_block(block, name, password, password_len, &der, &der_len, record)
                                       : sst__pem_decode(block, &der, &der_len, record);
  if (status != SST_OK) return status;
  status = read_key(form, name, der, der_len, password, password_len, key, record);
  sst__free(der);
  /* What came out of a wrong password looks like padding once in 256 times. */
  if (block->encrypted && status == SST_ERR_PARSE) {
    return sst__fail(record, SST_ERR_BAD_PASSWORD, "%s: the password does not open it", name);
  }
  return status;
}

sst_status sst__read_private_key_der(const uint8_t *der, size_t der_len, EVP_PKEY **key, sst_error *record) {
  const key_form form = form_of_der(der, der_len);
  *key = NULL;
  if (form != FORM_UNKNOWN) return read_key(form, "private key", der, der_len, NULL, 0, key, record);
  return sst__fail(record, SST_ERR_PARSE, "private key: neither PKCS#8 nor PKCS#1 nor SEC1 in DER");
}
