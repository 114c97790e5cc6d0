#include "securestream.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define MAJOR 0
#define MINOR 1
#define PATCH 0

_Static_assert(SST_VERSION_NUMBER == (MAJOR << 16 | MINOR << 8 | PATCH),
               "header and library are of different versions");

uint32_t sst_version_number(void) {
  return SST_VERSION_NUMBER;
}

const char *sst_version_string(void) {
  return TEXT(MAJOR) "." TEXT(MINOR) "." TEXT(PATCH);
}
