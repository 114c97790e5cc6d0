/* What the files of verification share: one candidate path and what is wrong with it. */
#ifndef SST_VERIFY_H
#define SST_VERIFY_H

#include "tls/internal.h"

typedef struct sst__verification {
  const sst__verify_request *request;
  X509 *leaf;
  STACK_OF(X509) * untrusted; /* the rest of what the peer sent, as far as it parses */
  uint16_t *positions;        /* of each of untrusted in what was sent */
  bool names_barred_issuer;   /* a path that ends for want of an issuer goes on to sst__barred_issuer */
} sst__verification;

/* All that is wrong with a path. */
typedef struct sst__verdict {
  uint64_t reasons; /* 0: nothing */
  sst_status code;  /* of the first in the order of section 4 of the header, with where it was found */
  int x509_error;   /* BoringSSL's number, 0: a check of our own */
  size_t depth;
  STACK_OF(X509) * path; /* as it was built, leaf first; NULL: it was not */
} sst__verdict;

/* ---- verify.c ---- */

/* Judges the path that BoringSSL builds from the leaf over untrusted to trusted. verdict is written over. */
void sst__try_path(const sst__verification *verification, STACK_OF(X509) * trusted, STACK_OF(X509) * untrusted,
                   sst__verdict *verdict);

/* ---- verify_search.c ---- */

/* BoringSSL builds one path, and a bad one if names lead it there: to an expired issuer that stands beside a renewed
   one, to one of the same name with another key. Any good path is enough: this tries the others, after verdict was
   found bad, and leaves there the first good one, else the one with the least wrong. */
void sst__search_paths(const sst__verification *verification, sst__verdict *verdict);

/* ---- authorities.c: safe from any thread ---- */

sst__authorities *sst__authorities_new(void);
void sst__authorities_free(sst__authorities *authorities);
/* The certificate with these bytes, for the caller to free; NULL: it is not here. */
X509 *sst__authorities_find(sst__authorities *authorities, const CRYPTO_BUFFER *der);
/* Keeps a certificate that stood in a good path, in place of one that has been here for long. */
void sst__authorities_add(sst__authorities *authorities, CRYPTO_BUFFER *der, X509 *certificate);

/* ---- verify_addresses.c ---- */

/* Judges the names of a leaf with addresses by the constraints of its issuers. */
void sst__add_address_constraints(const sst__verification *verification, sst__verdict *verdict);

/* ---- verify_features.c ---- */

/* In place of BoringSSL's number. */
enum { SST__FEATURE_MISSING = -1 };
/* Judges the TLS features of a server's path by those of its issuers (RFC 7633, 4.2.2). */
void sst__add_feature_constraints(const sst__verification *verification, sst__verdict *verdict);
/* Says so if the leaf promises a stapled OCSP response and none came. */
void sst__add_missing_staple(const sst__verification *verification, sst__verdict *verdict);

/* ---- verify_issuer.c ---- */

/* Who signed the certificate but must not sign any by its keyUsage; NULL: nobody that is known. Borrowed. */
X509 *sst__barred_issuer(const sst__verification *verification, const X509 *certificate);
/* Lets the path of verdict go on with such an issuer, and adds what is wrong above. */
void sst__add_barred_issuer(const sst__verification *verification, X509 *issuer, sst__verdict *verdict);
/* Judges a path without issuer again, to say so if there is one that must not be it. */
void sst__look_for_barred_issuer(sst__verification *verification, sst__verdict *verdict);

/* ---- verify_faults.c ---- */

sst_status sst__code_of_x509_error(int x509_error);
void sst__verdict_add(sst__verdict *verdict, sst_status code, int x509_error, size_t depth);
void sst__verdict_clear(sst__verdict *verdict);
/* Fills record from a bad verdict and returns its code. */
sst_status sst__report_verdict(const sst__verification *verification, const sst__verdict *verdict, sst_error *record);

#endif
