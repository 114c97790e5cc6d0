/* In builds with SST_OBSERVE_FAILURES only, which are never installed: writes BoringSSL's reasons, and the codes that
   were made of them, to the folder that the test run names. tests/library/codes_met reads them. */
#include "tls/internal.h"

#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void sst__observe_failure(uint32_t entry, sst_status code) {
  const char *folder = getenv("SST_TEST_MET"); /* the one variable that tells where, as for the test programs */
  char path[1024];
  if (folder == NULL || entry == 0) return;
  const int len = snprintf(path, sizeof path, "%s/reasons-%ld.txt", folder, (long)getpid());
  FILE *file = len > 0 && (size_t)len < sizeof path ? fopen(path, "a") : NULL;
  if (file == NULL) return;
  const char *library = ERR_lib_error_string(entry), *reason = ERR_reason_error_string(entry);
  (void)fprintf(file, "%s\t%s\t%d\n", library == NULL ? "?" : library, reason == NULL ? "?" : reason, (int)code);
  (void)fclose(file);
}
