/* The config's members, for config.c (life and freezing) and config_settings.c (setters). */
#ifndef SST_CONFIG_INTERNAL_H
#define SST_CONFIG_INTERNAL_H

#include <pthread.h>

#include "config.h"
#include "object.h"

enum { SST__NUM_ROLES = 2 }; /* client, server */

struct sst_config {
  sst__object object;
  sst__settings settings;
  sst_credential *credentials[SST__MAX_CREDENTIALS];
  const sst__identity *identities[SST__MAX_CREDENTIALS]; /* of the credentials */
  size_t num_credentials;
  sst_trust *trust;
  sst_ticket_keys *ticket_keys;
  pthread_mutex_t lock; /* over object.last and contexts, once the config is shared */
  sst__context *contexts[SST__NUM_ROLES];
};

#endif
