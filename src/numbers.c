#include "numbers.h"

#include <string.h>

#include "error.h"
#include "settings.h"

static const uint16_t known_groups[] = {0x11ec, 29, 23, 24, 25, 0x0202};
static const uint16_t known_suites[] = {0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8};
static const uint16_t known_schemes[] = {0x0403, 0x0503, 0x0603, 0x0807, 0x0804,
                                         0x0805, 0x0806, 0x0401, 0x0501, 0x0601};

const sst__numbers sst__groups = {known_groups, 6, SST_ERR_BAD_GROUP, "group"};
const sst__numbers sst__suites = {known_suites, 6, SST_ERR_BAD_SUITE, "cipher suite"};
const sst__numbers sst__schemes = {known_schemes, 10, SST_ERR_BAD_SCHEME, "signature scheme"};

sst_status sst__take_numbers(const sst__numbers *kind, const uint16_t *list, size_t num, uint16_t *member,
                             size_t *num_member, sst_error *record) {
  if (num == 0) return sst__fail(record, kind->code, "the list of %ss is empty", kind->what);
  for (size_t i = 0; i < num; i++) {
    if (!sst__has_number(kind->known, kind->num_known, list[i])) {
      return sst__fail(record, kind->code, "%s 0x%04x is not known", kind->what, list[i]);
    }
    if (sst__has_number(list, i, list[i]))
      return sst__fail(record, kind->code, "%s 0x%04x is there twice", kind->what, list[i]);
  }
  memcpy(member, list, num * sizeof *list);
  *num_member = num;
  return SST_OK;
}
