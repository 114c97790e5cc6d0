/* What many streams share. */
#ifndef SST_CONFIG_H
#define SST_CONFIG_H

#include <stdbool.h>

#include "securestream.h"
#include "settings.h"
#include "tls/context.h"

/* Freezes config for one role and gives the context of that role, which lives as long as config. */
sst_status sst__config_context(sst_config *config, int32_t role, const sst__context **context);
/* Leaves a failure of sst_stream_new on config. */
sst_status sst__config_fail(sst_config *config, const sst_error *error);

const sst__settings *sst__config_settings(const sst_config *config);
/* True if a client must know which name it expects. */
bool sst__config_checks_name(const sst_config *config);

#endif
