/* setup.h - from a command line to an sst_config. */
#ifndef SETUP_H
#define SETUP_H

#include <securestream.h>
#include <stdio.h>

#include "options.h"

/* Opens /dev/null in place of standard files that are closed, or the next socket would be taken for one of them. */
void setup_standard_files(void);

/* A frozen config for role, with one reference; NULL after it has said on standard error what is wrong. */
sst_config *setup_config(const char *program, const options *o, int32_t role);

/* Opens the file of --key-log for appending, readable by its owner only. true with *file NULL: not asked for. */
bool setup_key_log(const char *program, const options *o, FILE **file);

#endif
