/*
 * forge.h - the forging peer: one side of an open pair, of which the test knows the keys. It sends the other side, the
 * victim, any record that a peer without scruples could send, and reads what the victim sends.
 *
 *     Pair pair = pair_open(.server = {.report = FORGE_EVENTS});
 *     Forge forge = forge_new(&pair, &pair.client);
 *     forge_send(&forge, RECORD_HANDSHAKE, "\x18\0\0\1\1", 5);
 *     EXPECT_STATUS(side_receive(forge.victim), SST_NEED_INPUT);
 *     pair_free(&pair);
 */
#ifndef SST_FORGE_H
#define SST_FORGE_H

#include "secrets.h"

#define FORGE_EVENTS (1u << SST_EVENT_KEY_LOG)

typedef struct Forge {
  Side *victim;
  Keys send, hear; /* what the victim reads, and what it writes */
} Forge;

/* forge_new takes over the place of the victim's peer. One of the sides must report FORGE_EVENTS. */
Forge forge_new(Pair *pair, Side *victim);

/* forge_pair opens a pair of a version for forging towards the client or the server. */
typedef struct Forged {
  Pair pair;
  Forge forge;
} Forged;
/* The result must be freed by forged_free. */
Forged *forged_open(uint16_t version, int32_t victim, const PairOptions *options);
void forged_free(Forged *forged);

/* Puts one record on the victim's wire. */
void forge_send(Forge *forge, uint8_t type, const void *data, size_t len);
/* Puts bytes on it as they are. */
void forge_send_raw(Forge *forge, const void *bytes, size_t len);
void forge_send_data(Forge *forge, Data record); /* frees it */

/* Opens what the victim has sent and nobody has taken, and writes it as text: "handshake 24 0, data 3, alert 2 10". */
void forge_hear(Forge *forge, char *text, size_t text_cap);
#define EXPECT_HEARD(forge, expected)           \
  do {                                          \
    char heard_[512];                           \
    forge_hear((forge), heard_, sizeof heard_); \
    EXPECT_STRING(heard_, (expected));          \
  } while (0)

#endif
