/* TLS settings made ready for one role, for config.c and the makers of streams, which see no BoringSSL type. */
#ifndef SST_CONTEXT_H
#define SST_CONTEXT_H

#include "engine.h"
#include "settings.h"
#include "tls/certificates.h"

/* One for each config and role, never for each stream: it is what makes streams cheap. Safe from any thread. */
typedef struct sst__context sst__context;

/* What a context is made of. All of it outlives the context. */
typedef struct sst__context_parts {
  const sst__settings *settings;
  const sst__identity *const *identities;
  size_t num_identities;
  const sst__anchors *anchors;  /* NULL: none */
  sst_ticket_keys *ticket_keys; /* of a server */
  int32_t role;
} sst__context_parts;

/* SST_OK, or the code of sst_config_freeze with record filled. */
sst_status sst__context_new(const sst__context_parts *parts, sst__context **context, sst_error *record);
void sst__context_free(sst__context *context);

/* The context of a server stream that has no config yet: it stops with WANT_CLIENT_HELLO. It lives as long as the
   process. NULL: no memory. */
const sst__context *sst__context_of_none(void);

/* An engine for one stream, or NULL without memory. context outlives it. */
sst__engine *sst__context_engine(const sst__context *context, sst__due *due, sst__events *events,
                                 sst__counters *counters, sst__question *question);

#endif
