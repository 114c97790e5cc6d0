#include "tls/verify.h"

#include <openssl/evp.h>
#include <openssl/x509.h>

/* Limits for chains made to cost: paths judged, and certificates looked at on the way. */
enum { MAX_PATHS = 16, MAX_STEPS = 400 };

typedef struct search {
  const sst__verification *verification;
  const sst__verdict *first; /* BoringSSL's choice: not judged again */
  sst__verdict best;
  STACK_OF(X509) * untrusted, *trusted; /* the path so far, without the leaf; borrowed */
  unsigned paths, steps;
} search;

static unsigned count_bits(uint64_t bits) {
  return (unsigned)__builtin_popcountll(bits);
}

/* How bad a verdict is: one that found no way to an anchor says less than one that did. */
static unsigned badness(const sst__verdict *verdict) {
  const uint64_t broken = sst__reason_bit(SST_ERR_CERT_ISSUER_NOT_FOUND) | sst__reason_bit(SST_ERR_CERT_SELF_SIGNED) |
                          sst__reason_bit(SST_ERR_CERT_BAD_SIGNATURE) | sst__reason_bit(SST_ERR_CERT_CHAIN_TOO_LONG);
  return count_bits(verdict->reasons & broken) * 64 + count_bits(verdict->reasons);
}

static size_t length(const search *state) {
  return 1 + sk_X509_num(state->untrusted) + sk_X509_num(state->trusted);
}

static const X509 *at(const search *state, size_t depth) {
  const size_t num_untrusted = sk_X509_num(state->untrusted);
  if (depth == 0) return state->verification->leaf;
  if (depth <= num_untrusted) return sk_X509_value(state->untrusted, depth - 1);
  return sk_X509_value(state->trusted, depth - 1 - num_untrusted);
}

static bool is_same_authority(const X509 *a, const X509 *b) {
  const EVP_PKEY *key = X509_get0_pubkey(a), *other_key = X509_get0_pubkey(b);
  return X509_NAME_cmp(X509_get_subject_name(a), X509_get_subject_name(b)) == 0 && key != NULL && other_key != NULL &&
         EVP_PKEY_cmp(key, other_key) == 1;
}

/* Whether the path has the certificate, or another one of the same authority: the way between the two can be left out, and
   ways around cost the search its limits (RFC 4158). */
static bool holds(const search *state, const X509 *certificate) {
  for (size_t i = 0; i < length(state); i++) {
    if (X509_cmp(at(state, i), certificate) == 0 || is_same_authority(at(state, i), certificate)) return true;
  }
  return false;
}

static bool is_first(const search *state) {
  const STACK_OF(X509) *path = state->first->path;
  if (sk_X509_num(path) != length(state)) return false;
  for (size_t i = 0; i < length(state); i++) {
    if (X509_cmp(at(state, i), sk_X509_value(path, i)) != 0) return false;
  }
  return true;
}

static bool is_over(const search *state) {
  return state->best.reasons == 0 || state->paths >= MAX_PATHS || state->steps >= MAX_STEPS;
}

static void try_this(search *state) {
  sst__verdict verdict;
  if (is_first(state)) return;
  state->paths++;
  sst__try_path(state->verification, state->trusted, state->untrusted, &verdict);
  if (badness(&verdict) < badness(&state->best)) {
    const sst__verdict worse = state->best;
    state->best = verdict;
    verdict = worse;
  }
  sst__verdict_clear(&verdict);
}

/* Tries every path that goes on from last, which is in the trust or not: behind an anchor only anchors follow. */
static void extend(search *state, X509 *last, bool last_is_trusted) {
  const sst__anchors *anchors = state->verification->request->anchors;
  if (sst__is_self_signed(last) || length(state) >= SST__MAX_PATH) return;

  for (size_t i = 0; i < sk_X509_num(anchors->list) && !is_over(state); i++) {
    X509 *issuer = sk_X509_value(anchors->list, i);
    if (X509_check_issued(issuer, last) != X509_V_OK || holds(state, issuer)) continue;
    state->steps++;
    if (!sk_X509_push(state->trusted, issuer)) return;
    if (sst__is_self_signed(issuer) || anchors->partial_chain) {
      try_this(state);
    } else {
      extend(state, issuer, true);
    }
    (void)sk_X509_pop(state->trusted);
  }
  for (size_t i = 0; !last_is_trusted && i < sk_X509_num(state->verification->untrusted) && !is_over(state); i++) {
    X509 *issuer = sk_X509_value(state->verification->untrusted, i);
    if (X509_check_issued(issuer, last) != X509_V_OK || holds(state, issuer)) continue;
    state->steps++;
    if (!sk_X509_push(state->untrusted, issuer)) return;
    extend(state, issuer, false);
    (void)sk_X509_pop(state->untrusted);
  }
}

/* A leaf that is in the trust itself. BoringSSL finds a self-signed one only if no other anchor of that name stands
   before it, as the old one does when a certificate was renewed. */
static void try_trusted_leaf(search *state) {
  const sst__anchors *anchors = state->verification->request->anchors;
  if (!sst__is_self_signed(state->verification->leaf) && !anchors->partial_chain) return;
  for (size_t i = 0; i < sk_X509_num(anchors->list); i++) {
    X509 *anchor = sk_X509_value(anchors->list, i);
    if (X509_cmp(anchor, state->verification->leaf) != 0 || !sk_X509_push(state->trusted, anchor)) continue;
    try_this(state);
    (void)sk_X509_pop(state->trusted);
  }
}

void sst__search_paths(const sst__verification *verification, sst__verdict *verdict) {
  sst__verdict first = *verdict;
  first.path = verdict->path != NULL ? X509_chain_up_ref(verdict->path) : NULL;
  search state = {.verification = verification, .first = &first, .best = *verdict};
  state.untrusted = sk_X509_new_null();
  state.trusted = sk_X509_new_null();
  if (state.untrusted != NULL && state.trusted != NULL) {
    try_trusted_leaf(&state);
    extend(&state, verification->leaf, false);
  }
  sk_X509_free(state.untrusted);
  sk_X509_free(state.trusted);
  sst__verdict_clear(&first);
  *verdict = state.best;
}
