/*
 * issue.h - certificates made in the process, for chains that no file of tests/data shows.
 *
 *     X509 *root = ISSUE(.subject = "root", .key = key_of(KEY_P256, 0), .ca = true);
 *     X509 *leaf = ISSUE(.subject = "leaf", .key = key_of(KEY_P256, 1), .issuer = root,
 *                        .issuer_key = key_of(KEY_P256, 0), .names = "DNS:a.test");
 *
 * Certificates live until issue_free_all, which every case calls last.
 */
#ifndef SST_ISSUE_H
#define SST_ISSUE_H

#include <stdbool.h>
#include <stdint.h>

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "data.h"

typedef enum KeyKind {
  KEY_P224,
  KEY_P256,
  KEY_P384,
  KEY_P521,
  KEY_ED25519,
  KEY_RSA1024,
  KEY_RSA2048,
  KEY_KINDS
} KeyKind;

/* One of four keys of a kind, made at first use and kept until issue_free_all. */
EVP_PKEY *key_of(KeyKind kind, unsigned number);

typedef struct Issue {
  const char *subject;     /* common name */
  EVP_PKEY *key;           /* the subject's */
  const X509 *issuer;      /* NULL: self-signed */
  EVP_PKEY *issuer_key;    /* NULL: key */
  int begin, end;          /* days from DATA_CLOCK; both 0: -100 and 100 */
  bool ca;                 /* basicConstraints CA:TRUE and keyUsage keyCertSign */
  const char *path_length; /* "0" ... */
  const char *names;       /* subjectAltName as in openssl's configuration, "DNS:a.test,IP:127.0.0.1"; NULL: none */
  const char *purposes;    /* extendedKeyUsage, "serverAuth,clientAuth"; NULL: none */
  const char *usage;       /* keyUsage; NULL: none, but for CAs */
  const char *constraints; /* nameConstraints, "permitted;DNS:a.test" */
  bool unknown_critical;   /* a critical extension that nobody knows */
  bool key_ids;            /* subject and authority key identifiers */
  const EVP_MD *digest;    /* NULL: SHA-256, or what the key wants */
} Issue;

#define ISSUE(...) issue(&(Issue){__VA_ARGS__})

X509 *issue(const Issue *order);
/* The same certificate with one bit of its signature turned. */
X509 *issue_damaged(const X509 *certificate);
void issue_free_all(void);

/* A PEM text of certificates, ended by NULL; the caller frees it. */
char *issue_pem(const X509 *const *certificates);

#endif
