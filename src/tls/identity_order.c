/* The order of a chain on the wire: leaf, its issuer, and so on (RFC 8446, 4.4.2). */
#include <openssl/evp.h>
#include <openssl/pool.h>
#include <openssl/x509.h>

#include "memory.h"
#include "tls/internal.h"

typedef struct certificates {
  STACK_OF(X509) * parsed;
  bool *placed;
  size_t *order;
  size_t count, ordered;
} certificates;

static bool issues_by_name(const X509 *issuer, const X509 *subject) {
  return X509_check_issued((X509 *)issuer, (X509 *)subject) == X509_V_OK;
}

static bool issues(const X509 *issuer, const X509 *subject) {
  EVP_PKEY *key = X509_get0_pubkey(issuer);
  return issues_by_name(issuer, subject) && key != NULL && X509_verify(subject, key) == 1;
}

static bool find_leaf_of_key(const certificates *all, const EVP_PKEY *key, size_t *leaf) {
  for (size_t i = 0; i < all->count; i++) {
    const EVP_PKEY *public_key = X509_get0_pubkey(sk_X509_value(all->parsed, i));
    if (public_key == NULL || EVP_PKEY_eq(public_key, key) != 1) continue;
    *leaf = i;
    return true;
  }
  return false;
}

/* The first that issued none of the others. */
static size_t find_leaf(const certificates *all) {
  for (size_t i = 0; i < all->count; i++) {
    bool issued = false;
    for (size_t k = 0; k < all->count && !issued; k++) {
      const X509 *one = sk_X509_value(all->parsed, i), *other = sk_X509_value(all->parsed, k);
      issued = i != k && X509_cmp(one, other) != 0 && issues_by_name(one, other);
    }
    if (!issued) return i;
  }
  return 0;
}

static void place(certificates *all, size_t index) {
  for (size_t i = 0; i < all->count; i++) { /* its doubles go with it */
    if (X509_cmp(sk_X509_value(all->parsed, i), sk_X509_value(all->parsed, index)) == 0) all->placed[i] = true;
  }
  all->order[all->ordered++] = index;
}

/* Places what issued subject. An old key of the issuer is left out, unless no signature can be checked. */
static void place_issuers(certificates *all, const X509 *subject) {
  bool any = false;
  for (int checked = 1; checked >= 0 && !any; checked--) {
    for (size_t i = 0; i < all->count; i++) {
      const X509 *issuer = sk_X509_value(all->parsed, i);
      if (all->placed[i] || sst__is_self_signed(issuer)) continue;
      if (checked != 0 ? !issues(issuer, subject) : !issues_by_name(issuer, subject)) continue;
      place(all, i);
      any = true;
    }
  }
}

static bool parse(const STACK_OF(CRYPTO_BUFFER) * loaded, certificates *all) {
  all->count = sk_CRYPTO_BUFFER_num(loaded);
  all->parsed = sk_X509_new_null();
  all->placed = sst__alloc(all->count * sizeof *all->placed);
  all->order = sst__alloc(all->count * sizeof *all->order);
  if (all->parsed == NULL || all->placed == NULL || all->order == NULL) return false;
  for (size_t i = 0; i < all->count; i++) {
    X509 *certificate = sst__parse_certificate(sk_CRYPTO_BUFFER_value(loaded, i));
    if (certificate == NULL || !sk_X509_push(all->parsed, certificate)) {
      X509_free(certificate);
      return false;
    }
  }
  return true;
}

static STACK_OF(CRYPTO_BUFFER) * collect(const STACK_OF(CRYPTO_BUFFER) * loaded, const certificates *all) {
  STACK_OF(CRYPTO_BUFFER) *chain = sk_CRYPTO_BUFFER_new_null();
  for (size_t i = 0; chain != NULL && i < all->ordered; i++) {
    CRYPTO_BUFFER *certificate = sk_CRYPTO_BUFFER_value(loaded, all->order[i]);
    if (sk_CRYPTO_BUFFER_push(chain, certificate)) {
      (void)CRYPTO_BUFFER_up_ref(certificate);
      continue;
    }
    sk_CRYPTO_BUFFER_pop_free(chain, CRYPTO_BUFFER_free);
    chain = NULL;
  }
  return chain;
}

static sst_status refuse_key(size_t count, sst_error *record) {
  if (count == 1) {
    return sst__fail(record, SST_ERR_KEY_MISMATCH, "the private key does not belong to the certificate");
  }
  return sst__fail(record, SST_ERR_KEY_MISMATCH, "the private key does not belong to any of the %zu certificates",
                   count);
}

sst_status sst__order_chain(const STACK_OF(CRYPTO_BUFFER) * loaded, const EVP_PKEY *key,
                            STACK_OF(CRYPTO_BUFFER) * *chain, sst_error *record) {
  certificates all = {.parsed = NULL};
  sst_status status = SST_OK;
  size_t leaf = 0;
  *chain = NULL;
  if (!parse(loaded, &all)) {
    status = sst__fail(record, SST_ERR_NO_MEMORY, "no memory to order a chain"); /* they did parse, before */
  } else if (key == NULL) {
    leaf = find_leaf(&all);
  } else if (!find_leaf_of_key(&all, key, &leaf)) {
    status = refuse_key(all.count, record);
  }
  if (status == SST_OK) {
    place(&all, leaf);
    for (size_t i = 0; i < all.ordered; i++) {
      const X509 *subject = sk_X509_value(all.parsed, all.order[i]);
      if (!sst__is_self_signed(subject)) place_issuers(&all, subject);
    }
    *chain = collect(loaded, &all);
    if (*chain == NULL) status = sst__fail(record, SST_ERR_NO_MEMORY, "no memory to order a chain");
  }
  sk_X509_pop_free(all.parsed, X509_free);
  sst__free(all.placed);
  sst__free(all.order);
  return status;
}
