/*
 * hosts.h - a folder with a config for each host name: NAME.pem has its chain and its private key, default.pem those of
 * all other names.
 */
#ifndef HOSTS_H
#define HOSTS_H

#include <securestream.h>

typedef struct hosts hosts;

/* NULL: no memory. */
hosts *hosts_open(const char *folder);

/*
 * The config for a name, with a reference for the caller; NULL: there is none. Its file is read at the first time, and
 * again when it has changed; while it cannot be used, the config before it serves on. May take its time: files are read.
 */
sst_config *hosts_find(hosts *h, const char *name, size_t name_len);

void hosts_close(hosts *h);

#endif
