/* One certificate: what loading and judging both want of it. */
#include <openssl/bytestring.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include "memory.h"
#include "tls/internal.h"

/* What could not be allocated, the key say, would be missing in it for ever: then it does not parse. */
X509 *sst__parse_certificate(const CRYPTO_BUFFER *der) {
  const uint64_t failed = sst__failed_allocations();
  X509 *certificate = X509_parse_from_buffer(der);
  if (certificate == NULL) return NULL;
  const bool valid = (X509_get_extension_flags(certificate) & EXFLAG_INVALID) == 0;
  (void)X509_get0_pubkey(certificate); /* decoded once and kept, as well */
  if (valid && sst__failed_allocations() == failed) return certificate;
  X509_free(certificate);
  return NULL;
}

bool sst__next_der(CBS *in, CBS *element) {
  return CBS_get_asn1_element(in, element, CBS_ASN1_SEQUENCE) == 1;
}

bool sst__signs_itself(const X509 *certificate) {
  EVP_PKEY *key = X509_get0_pubkey(certificate);
  return key != NULL && X509_verify(certificate, key) == 1;
}

bool sst__is_self_signed(const X509 *certificate) {
  if ((X509_get_extension_flags(certificate) & EXFLAG_SS) != 0) return true;
  return X509_NAME_cmp(X509_get_subject_name(certificate), X509_get_issuer_name(certificate)) == 0 &&
         sst__signs_itself(certificate);
}
