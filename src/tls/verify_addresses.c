/* Name constraints on IP addresses (RFC 5280, 4.2.1.10), which BoringSSL does not know: where an issuer has some, it
   refuses every certificate with an address, at that address, and looks no further. */
#include "tls/verify.h"

#include <openssl/nid.h>
#include <openssl/x509.h>

/* Of names with constraints: BoringSSL has the same limit. */
enum { MOST_COMPARISONS = 1 << 20 };

/* Addresses of 4 and 16 bytes; a constraint has as many of a mask behind them. */
static bool is_within(const ASN1_OCTET_STRING *address, const GENERAL_SUBTREE *subtree) {
  const ASN1_OCTET_STRING *base = subtree->base->d.iPAddress;
  const int len = ASN1_STRING_length(address);
  if (ASN1_STRING_length(base) != 2 * len) return false;
  const uint8_t *bytes = ASN1_STRING_get0_data(address), *wanted = ASN1_STRING_get0_data(base), *mask = wanted + len;
  for (int i = 0; i < len; i++) {
    if (((bytes[i] ^ wanted[i]) & mask[i]) != 0) return false;
  }
  return true;
}

static bool is_of_addresses(const GENERAL_SUBTREE *subtree) {
  return subtree->base->type == GEN_IPADD;
}

/* RFC 5280 has no use for minimum and maximum. */
static bool is_well_formed(const GENERAL_SUBTREE *subtree) {
  const int len = ASN1_STRING_length(subtree->base->d.iPAddress);
  const bool has_minimum = subtree->minimum != NULL && ASN1_INTEGER_get(subtree->minimum) != 0;
  return (len == 8 || len == 32) && !has_minimum && subtree->maximum == NULL;
}

static bool address_is_allowed(const ASN1_OCTET_STRING *address, const NAME_CONSTRAINTS *constraints) {
  const int len = ASN1_STRING_length(address);
  bool constrained = false, permitted = false;
  if (len != 4 && len != 16) return false;
  for (size_t i = 0; i < sk_GENERAL_SUBTREE_num(constraints->permittedSubtrees); i++) {
    const GENERAL_SUBTREE *subtree = sk_GENERAL_SUBTREE_value(constraints->permittedSubtrees, i);
    if (!is_of_addresses(subtree)) continue;
    if (!is_well_formed(subtree)) return false;
    constrained = true;
    permitted = permitted || is_within(address, subtree);
  }
  for (size_t i = 0; i < sk_GENERAL_SUBTREE_num(constraints->excludedSubtrees); i++) {
    const GENERAL_SUBTREE *subtree = sk_GENERAL_SUBTREE_value(constraints->excludedSubtrees, i);
    if (is_of_addresses(subtree) && (!is_well_formed(subtree) || is_within(address, subtree))) return false;
  }
  return permitted || !constrained;
}

static bool addresses_are_allowed(const GENERAL_NAMES *names, const NAME_CONSTRAINTS *constraints) {
  const size_t count =
      sk_GENERAL_SUBTREE_num(constraints->permittedSubtrees) + sk_GENERAL_SUBTREE_num(constraints->excludedSubtrees);
  if (count > 0 && sk_GENERAL_NAME_num(names) > MOST_COMPARISONS / count) return false;
  for (size_t i = 0; i < sk_GENERAL_NAME_num(names); i++) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
    if (name->type == GEN_IPADD && !address_is_allowed(name->d.iPAddress, constraints)) return false;
  }
  return true;
}

static void drop_addresses(STACK_OF(GENERAL_SUBTREE) * subtrees) {
  for (size_t i = sk_GENERAL_SUBTREE_num(subtrees); i > 0; i--) {
    if (!is_of_addresses(sk_GENERAL_SUBTREE_value(subtrees, i - 1))) continue;
    GENERAL_SUBTREE_free(sk_GENERAL_SUBTREE_delete(subtrees, i - 1));
  }
}

/* The addresses by us, the other names by BoringSSL, which then sees no constraint that it does not know. */
static bool issuer_allows(const X509 *leaf, const GENERAL_NAMES *names, const X509 *issuer) {
  if (X509_get_ext_by_NID(issuer, NID_name_constraints, -1) < 0) return true;
  NAME_CONSTRAINTS *constraints = X509_get_ext_d2i(issuer, NID_name_constraints, NULL, NULL);
  bool allowed = constraints != NULL && addresses_are_allowed(names, constraints);
  if (allowed) {
    drop_addresses(constraints->permittedSubtrees);
    drop_addresses(constraints->excludedSubtrees);
    allowed = NAME_CONSTRAINTS_check(leaf, constraints) == X509_V_OK;
  }
  NAME_CONSTRAINTS_free(constraints);
  return allowed;
}

void sst__add_address_constraints(const sst__verification *verification, sst__verdict *verdict) {
  GENERAL_NAMES *names = X509_get_ext_d2i(verification->leaf, NID_subject_alt_name, NULL, NULL);
  bool allowed = names != NULL;
  for (size_t i = 1; i < sk_X509_num(verdict->path) && allowed; i++)
    allowed = issuer_allows(verification->leaf, names, sk_X509_value(verdict->path, i));
  if (!allowed) sst__verdict_add(verdict, SST_ERR_CERT_NAME_CONSTRAINT, X509_V_ERR_PERMITTED_VIOLATION, 0);
  GENERAL_NAMES_free(names);
}
