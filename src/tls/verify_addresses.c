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

static bool remove_extension(X509 *certificate, int nid) {
  const int at = X509_get_ext_by_NID(certificate, nid, -1);
  if (at < 0) return true;
  X509_EXTENSION *extension = X509_delete_ext(certificate, at);
  X509_EXTENSION_free(extension);
  return extension != NULL;
}

/* Moves all names but the addresses from one list to the other; false: no memory. */
static bool move_others(GENERAL_NAMES *from, GENERAL_NAMES *to) {
  for (GENERAL_NAME *name = sk_GENERAL_NAME_pop(from); name != NULL; name = sk_GENERAL_NAME_pop(from)) {
    if (name->type == GEN_IPADD) {
      GENERAL_NAME_free(name);
    } else if (!sk_GENERAL_NAME_push(to, name)) {
      GENERAL_NAME_free(name);
      return false;
    }
  }
  return true;
}

/* A copy of the leaf without addresses, which any issuer of a fitting name may have issued; its signature is wrong. */
static X509 *copy_without_addresses(const X509 *leaf) {
  GENERAL_NAMES *names = X509_get_ext_d2i(leaf, NID_subject_alt_name, NULL, NULL), *others = GENERAL_NAMES_new();
  X509 *copy = X509_dup(leaf);
  bool made = names != NULL && others != NULL && copy != NULL && move_others(names, others) &&
              remove_extension(copy, NID_authority_key_identifier) && remove_extension(copy, NID_subject_alt_name);
  if (made && sk_GENERAL_NAME_num(others) > 0) {
    made = X509_add1_ext_i2d(copy, NID_subject_alt_name, others, 0, 0) == 1;
  }
  GENERAL_NAMES_free(names);
  GENERAL_NAMES_free(others);
  if (made) return copy;
  X509_free(copy);
  return NULL;
}

/* Of all that is wrong with such a chain, its names alone are of interest. */
static int collect_names(int ok, X509_STORE_CTX *ctx) {
  const int error = X509_STORE_CTX_get_error(ctx);
  const bool is_of_names = sst__code_of_x509_error(error) == SST_ERR_CERT_NAME_CONSTRAINT;
  if (!ok && is_of_names && error != X509_V_ERR_NAME_CONSTRAINTS_WITHOUT_SANS) {
    *(bool *)X509_STORE_CTX_get_app_data(ctx) = false;
  }
  return 1;
}

/* BoringSSL's judgement of the other names. */
static bool others_are_allowed(const sst__anchors *anchors, X509 *copy, X509 *issuer) {
  STACK_OF(X509) *trusted = sk_X509_new_null();
  X509_STORE_CTX *ctx = X509_STORE_CTX_new();
  bool allowed = true;
  bool done = trusted != NULL && ctx != NULL && sk_X509_push(trusted, issuer) != 0 &&
              X509_set_issuer_name(copy, X509_get_subject_name(issuer)) &&
              X509_STORE_CTX_init(ctx, anchors->store, copy, NULL) && X509_STORE_CTX_set_app_data(ctx, &allowed);
  if (done) {
    X509_STORE_CTX_set0_trusted_stack(ctx, trusted);
    X509_STORE_CTX_set_verify_cb(ctx, collect_names);
    done = X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(ctx), X509_V_FLAG_PARTIAL_CHAIN) &&
           X509_verify_cert(ctx) == 1;
  }
  /* It counts only if the issuer was looked at. */
  const STACK_OF(X509) *chain = done ? X509_STORE_CTX_get0_chain(ctx) : NULL;
  done = chain != NULL && sk_X509_num(chain) >= 2 && X509_cmp(sk_X509_value(chain, 1), issuer) == 0;
  X509_STORE_CTX_free(ctx);
  sk_X509_free(trusted);
  return done && allowed;
}

static bool issuer_allows(const sst__anchors *anchors, const GENERAL_NAMES *names, X509 *copy, X509 *issuer) {
  if (X509_get_ext_by_NID(issuer, NID_name_constraints, -1) < 0) return true;
  NAME_CONSTRAINTS *constraints = X509_get_ext_d2i(issuer, NID_name_constraints, NULL, NULL);
  const bool allowed = constraints != NULL && addresses_are_allowed(names, constraints);
  NAME_CONSTRAINTS_free(constraints);
  return allowed && others_are_allowed(anchors, copy, issuer);
}

void sst__add_address_constraints(const sst__verification *verification, sst__verdict *verdict) {
  GENERAL_NAMES *names = X509_get_ext_d2i(verification->leaf, NID_subject_alt_name, NULL, NULL);
  X509 *copy = copy_without_addresses(verification->leaf);
  bool allowed = names != NULL && copy != NULL;
  for (size_t i = 1; i < sk_X509_num(verdict->path) && allowed; i++)
    allowed = issuer_allows(verification->request->anchors, names, copy, sk_X509_value(verdict->path, i));
  if (!allowed) sst__verdict_add(verdict, SST_ERR_CERT_NAME_CONSTRAINT, X509_V_ERR_PERMITTED_VIOLATION, 0);
  GENERAL_NAMES_free(names);
  X509_free(copy);
}
