#include "met.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOWEST = SST_ERR_ALERT_RECEIVED - 255 };

static atomic_bool seen[1 - LOWEST]; /* by the negated status */

void met_status(sst_status status) {
  if (status < 0 && status >= LOWEST) atomic_store(&seen[-status], true);
}

void met_begin(void) {
  for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
    atomic_store(&seen[i], false);
}

void met_end(const char *case_name) {
  const char *folder = getenv("SST_TEST_MET");
  char path[1024];
  if (folder == NULL) return;
  snprintf(path, sizeof path, "%s/codes-%ld.txt", folder, (long)getpid());
  FILE *file = fopen(path, "a");
  if (file == NULL) {
    perror(path);
    exit(1);
  }
  for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
    if (atomic_load(&seen[i])) fprintf(file, "%d\t%s\n", -(int)i, case_name);
  fclose(file);
}
