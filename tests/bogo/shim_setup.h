/*
 * shim_setup.h - configs of the library from the runner's flags.
 */
#ifndef SST_SHIM_SETUP_H
#define SST_SHIM_SETUP_H

#include <securestream.h>

#include "shim_flags.h"

typedef struct Setup {
  sst_config *config;
  sst_credential *credentials[FLAG_CREDENTIALS]; /* as in Flags; NULL: not given */
} Setup;

enum { STORE_SESSIONS = 64 };

/* What lives as long as a server: its ticket keys and its sessions by id. */
typedef struct Store {
  sst_ticket_keys *keys;
  size_t count;
  struct {
    uint8_t id[64];
    size_t id_len;
    sst_session *session;
  } at[STORE_SESSIONS];
} Store;

/* setup_make fills setup. What the library cannot do ends the program with 89, what fails with 1. */
void setup_make(Setup *setup, const Flags *flags, Store *store);
void setup_free(Setup *setup);

/* read_file reads a file whole, or ends the program. To be freed. */
Bytes read_file(const char *path);

/* hex_name reads one hexadecimal name of a list with commas, and moves *list behind it. To be freed. */
Bytes hex_name(const char **list);

#endif
