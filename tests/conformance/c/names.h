/*
 * names.h - what a scenario calls by name and the library by number.
 */
#ifndef SST_NAMES_H
#define SST_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Each finds the number of a name; false: there is none. */
bool group_of_name(const char *name, uint16_t *group);
bool suite_of_name(const char *name, uint16_t *suite);
bool scheme_of_name(const char *name, uint16_t *scheme);
bool state_of_name(const char *name, uint32_t *bit);
/* SST_WANT_x of a question; SST_TLSx of a version. */
bool question_of_name(const char *name, uint16_t *status);
bool version_of_name(const char *name, uint16_t *version);
bool type_of_name(const char *name, uint8_t *type);

#endif
