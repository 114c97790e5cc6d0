/*
 * loads.h - clauses about credentials and trust (section 5). Each is carried out on a Making; what was said by the object
 * that failed is left in its error.
 */
#ifndef SST_LOADS_H
#define SST_LOADS_H

#include "world.h"

/* A credential with chain and key of a name, or with the chain alone whose caller signs. One reference for the caller. */
sst_credential *credential_of(const char *name);
sst_credential *credential_of_caller(const char *name, const Numbers *schemes);

sst_status add_leaf(Making *making, const char *chain, const char *key, const Token *password);
sst_status leaf(Making *making, const Match *match);
sst_status leaf_with_key(Making *making, const Match *match);
sst_status leaf_with_own_key(Making *making, const Match *match);
sst_status leaf_of_caller(Making *making, const Match *match);
sst_status leaf_in_der(Making *making, const Match *match);
sst_status leaf_in_pkcs12(Making *making, const Match *match);

/* Anchors go into making->trust, which the config gets when all clauses are carried out: there it is frozen. */
sst_status trusts(Making *making, const Match *match);
sst_status trusts_nobody(Making *making, const Match *match);
sst_status trusts_der(Making *making, const Match *match);
sst_status checks_lists(Making *making, const Match *match);
sst_status checks_lists_in_der(Making *making, const Match *match);
sst_status accepts_partial(Making *making, const Match *match);
/* Sessions. */
sst_status has_ring(Making *making, const Match *match);
sst_status session_lifetime(Making *making, const Match *match);
sst_status early_data(Making *making, const Match *match);

sst_status trusts_by_default(Making *making, char *name);

#endif
