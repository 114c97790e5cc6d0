/* tls-server-end-point: the hash of the server's certificate (RFC 5929, 4.1). */
#include <openssl/bytestring.h>
#include <openssl/digest.h>
#include <openssl/err.h>
#include <openssl/nid.h>
#include <openssl/obj.h>
#include <openssl/pool.h>

#include "tls/internal.h"

/* The hash function of RSASSA-PSS-params (RFC 4055, 3.1), whose default is SHA-1. */
static const EVP_MD *hash_of_pss(CBS *algorithm) {
  const CBS_ASN1_TAG tag = CBS_ASN1_CONSTRUCTED | CBS_ASN1_CONTEXT_SPECIFIC | 0;
  CBS params, hash;
  int present = 0;
  if (!CBS_get_asn1(algorithm, &params, CBS_ASN1_SEQUENCE) || !CBS_get_optional_asn1(&params, &hash, &present, tag)) {
    return NULL;
  }
  return present ? EVP_parse_digest_algorithm(&hash) : EVP_sha1();
}

/* The hash function of the signature on a certificate, which is not parsed as a whole (RFC 5280, 4.1). NULL: it has
   none of its own, as EdDSA. */
static const EVP_MD *hash_of(const CRYPTO_BUFFER *certificate) {
  CBS cbs, outer, algorithm, identifier;
  int digest = NID_undef;
  CRYPTO_BUFFER_init_CBS(certificate, &cbs);
  if (!CBS_get_asn1(&cbs, &outer, CBS_ASN1_SEQUENCE) || !CBS_get_asn1(&outer, NULL, CBS_ASN1_SEQUENCE) ||
      !CBS_get_asn1(&outer, &algorithm, CBS_ASN1_SEQUENCE) || !CBS_get_asn1(&algorithm, &identifier, CBS_ASN1_OBJECT)) {
    return NULL;
  }
  const int signature = OBJ_cbs2nid(&identifier);
  if (signature == NID_rsassaPss) return hash_of_pss(&algorithm);
  if (!OBJ_find_sigid_algs(signature, &digest, NULL) || digest == NID_undef) return NULL;
  return EVP_get_digestbynid(digest);
}

sst_status sst__end_point(const CRYPTO_BUFFER *leaf, uint8_t *out, size_t out_cap, size_t *out_len) {
  uint8_t digest[EVP_MAX_MD_SIZE];
  unsigned digest_len = 0;
  const EVP_MD *hash = leaf != NULL ? hash_of(leaf) : NULL;
  ERR_clear_error();
  if (hash == NULL) return sst__refuse(SST_ERR_UNSUPPORTED);
  if (EVP_MD_type(hash) == NID_md5 || EVP_MD_type(hash) == NID_sha1) hash = EVP_sha256();
  if (EVP_Digest(CRYPTO_BUFFER_data(leaf), CRYPTO_BUFFER_len(leaf), digest, &digest_len, hash, NULL) != 1) {
    ERR_clear_error();
    return sst__refuse(SST_ERR_NO_MEMORY);
  }
  return sst__give(digest, digest_len, out, out_cap, out_len);
}
