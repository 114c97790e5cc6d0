/* An issuer that is there but must not be one. BoringSSL passes over a certificate whose keyUsage lacks keyCertSign as
   if it had another name, and then finds no issuer: who looks at the chain sees one. */
#include "tls/verify.h"

#include <openssl/x509.h>

/* Signatures cost. */
enum { MOST_CANDIDATES = 4 };

static X509 *barred_in(const STACK_OF(X509) * list, const X509 *certificate) {
  int left = MOST_CANDIDATES;
  for (size_t i = 0; i < sk_X509_num(list) && left > 0; i++) {
    X509 *issuer = sk_X509_value(list, i);
    if (X509_check_issued(issuer, certificate) != X509_V_ERR_KEYUSAGE_NO_CERTSIGN) continue;
    EVP_PKEY *key = X509_get0_pubkey(issuer);
    left--;
    if (key != NULL && X509_verify(certificate, key) == 1) return issuer;
  }
  return NULL;
}

X509 *sst__barred_issuer(const sst__verification *verification, const X509 *certificate) {
  X509 *issuer = barred_in(verification->untrusted, certificate);
  return issuer != NULL ? issuer : barred_in(verification->request->anchors->list, certificate);
}

/* What is wrong above the issuer: it is judged as if it were the leaf, but for what only a leaf must be. */
static void judge_issuer(const sst__verification *verification, X509 *issuer, sst__verdict *verdict) {
  sst__verify_request request = *verification->request;
  request.name = NULL;
  const sst__verification above = {.request = &request, .leaf = issuer, .untrusted = verification->untrusted};
  sst__try_path(&above, request.anchors->list, above.untrusted, verdict);
  if (verdict->reasons != 0) sst__search_paths(&above, verdict);
}

void sst__add_barred_issuer(const sst__verification *verification, X509 *issuer, sst__verdict *verdict) {
  const size_t below = sk_X509_num(verdict->path);
  sst__verdict above;
  judge_issuer(verification, issuer, &above);
  for (size_t i = 0; i < sk_X509_num(above.path); i++) {
    X509 *certificate = sk_X509_value(above.path, i);
    if (!sk_X509_push(verdict->path, certificate)) break;
    (void)X509_up_ref(certificate);
  }
  for (int code = SST_ERR_CERT_ISSUER_NOT_FOUND; code >= SST_ERR_CERT_OTHER; code--) {
    if ((above.reasons & sst__reason_bit((sst_status)code)) == 0 || code == SST_ERR_CERT_PURPOSE) continue;
    const bool is_first = code == (int)above.code;
    const sst_status here = code == SST_ERR_CERT_SELF_SIGNED ? SST_ERR_CERT_ISSUER_NOT_FOUND : (sst_status)code;
    sst__verdict_add(verdict, here, is_first ? above.x509_error : 0, below + (is_first ? above.depth : 0));
  }
  sst__verdict_clear(&above);
}

void sst__look_for_barred_issuer(sst__verification *verification, sst__verdict *verdict) {
  STACK_OF(X509) *path = verdict->path != NULL ? X509_chain_up_ref(verdict->path) : NULL;
  if (path == NULL) return;
  X509_free(sk_X509_shift(path)); /* the leaf */
  sst__verdict again;
  verification->names_barred_issuer = true;
  sst__try_path(verification, verification->request->anchors->list, path, &again);
  verification->names_barred_issuer = false;
  sk_X509_pop_free(path, X509_free);
  if (again.reasons != 0) {
    const sst__verdict old = *verdict;
    *verdict = again;
    again = old;
  }
  sst__verdict_clear(&again);
}
