/* Certificates of authorities that peers send: kept parsed, since the chains of a trust mostly go through the same few, and
   parsing one takes some 80 blocks of memory. It says nothing of a certificate that it is here: each chain is judged
   whole. */
#include <pthread.h>
#include <string.h>

#include <openssl/pool.h>
#include <openssl/x509.h>

#include "memory.h"
#include "tls/verify.h"

/* What a peer can make us keep is bounded. */
enum { MOST_AUTHORITIES = 16, MOST_BYTES = 4096 };

typedef struct authority {
  CRYPTO_BUFFER *der; /* NULL: none */
  X509 *certificate;
} authority;

struct sst__authorities {
  pthread_mutex_t lock;
  authority at[MOST_AUTHORITIES];
  size_t next; /* to be written over */
};

sst__authorities *sst__authorities_new(void) {
  sst__authorities *authorities = sst__alloc(sizeof *authorities);
  if (authorities != NULL) pthread_mutex_init(&authorities->lock, NULL);
  return authorities;
}

static void drop(const authority *one) {
  CRYPTO_BUFFER_free(one->der);
  X509_free(one->certificate);
}

void sst__authorities_free(sst__authorities *authorities) {
  if (authorities == NULL) return;
  for (size_t i = 0; i < MOST_AUTHORITIES; i++)
    drop(&authorities->at[i]);
  pthread_mutex_destroy(&authorities->lock);
  sst__free(authorities);
}

static bool is_same(const CRYPTO_BUFFER *a, const CRYPTO_BUFFER *b) {
  return a == b || (CRYPTO_BUFFER_len(a) == CRYPTO_BUFFER_len(b) &&
                    memcmp(CRYPTO_BUFFER_data(a), CRYPTO_BUFFER_data(b), CRYPTO_BUFFER_len(a)) == 0);
}

/* Under the lock. */
static X509 *find(const sst__authorities *authorities, const CRYPTO_BUFFER *der) {
  for (size_t i = 0; i < MOST_AUTHORITIES && authorities->at[i].der != NULL; i++) {
    if (is_same(authorities->at[i].der, der)) return authorities->at[i].certificate;
  }
  return NULL;
}

X509 *sst__authorities_find(sst__authorities *authorities, const CRYPTO_BUFFER *der) {
  pthread_mutex_lock(&authorities->lock);
  X509 *certificate = find(authorities, der);
  if (certificate != NULL) (void)X509_up_ref(certificate);
  pthread_mutex_unlock(&authorities->lock);
  return certificate;
}

void sst__authorities_add(sst__authorities *authorities, CRYPTO_BUFFER *der, X509 *certificate) {
  authority old = {.der = NULL};
  if (CRYPTO_BUFFER_len(der) > MOST_BYTES) return;
  pthread_mutex_lock(&authorities->lock);
  if (find(authorities, der) == NULL) {
    authority *place = &authorities->at[authorities->next];
    old = *place;
    (void)CRYPTO_BUFFER_up_ref(der);
    (void)X509_up_ref(certificate);
    *place = (authority){.der = der, .certificate = certificate};
    authorities->next = (authorities->next + 1) % MOST_AUTHORITIES;
  }
  pthread_mutex_unlock(&authorities->lock);
  drop(&old);
}
