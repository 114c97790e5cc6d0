/*
 * cell.h - cells of the state table: a pair with one side, the subject, in a state of section 2 of the header.
 *
 *     CELL(encrypt, we_closed, gives_err_closed) { cell_refuses(cell, CALL_ENCRYPT, SST_ERR_CLOSED); }
 *
 * makes the cases stream_state.encrypt_in_we_closed_gives_err_closed_tls12 and _tls13. Each runs its body twice: with
 * the client and with the server as the subject.
 */
#ifndef SST_CELL_H
#define SST_CELL_H

#include "pair.h"

typedef struct Cell {
  Pair pair;
  Side *subject, *peer;
  uint16_t version;
  bool client; /* the subject is the client */
} Cell;

typedef void (*CellStep)(Cell *cell);

#define CELL(call, state, outcome)                                         \
  static void cell_##call##_##state##_##outcome(Cell *cell);               \
  TEST_VERSIONS(stream_state, call##_in_##state##_##outcome) {             \
    cell_run(version, cell_to_##state, cell_##call##_##state##_##outcome); \
  }                                                                        \
  static void cell_##call##_##state##_##outcome(Cell *cell)

void cell_run(uint16_t version, CellStep bring, CellStep body);

/* Each brings a fresh cell into a state and checks sst_stream_state. */
void cell_to_before(Cell *cell);
void cell_to_handshake(Cell *cell);
void cell_to_open(Cell *cell);
void cell_to_we_closed(Cell *cell);
void cell_to_peer_closed(Cell *cell);
void cell_to_both_closed(Cell *cell);
void cell_to_truncated(Cell *cell);
void cell_to_ended_before(Cell *cell);     /* closed before the first byte */
void cell_to_ended_handshake(Cell *cell);  /* closed in the handshake */
void cell_to_failed_handshake(Cell *cell); /* by a message that does not parse; alert 50 waits */
void cell_to_failed_open(Cell *cell);      /* by a record that does not open; alert 20 waits */

/* The call gives status, moves no byte and changes no state. */
void cell_refuses(Cell *cell, Call call, sst_status status);
/* The call gives SST_OK and moves no byte. */
void cell_does_nothing(Cell *cell, Call call);

/* What the subject sends reaches the peer, and what the peer sends the subject. */
void cell_sends(Cell *cell);
void cell_receives(Cell *cell);
/* The peer, which may be in the handshake still, fails with this alert as received; all that waits is carried over. */
void cell_alerts(Cell *cell, int32_t alert);
/* The last record that the subject sent is a fatal alert that is not encrypted. */
void cell_sent_plain_alert(const Cell *cell, int32_t alert);
/* The peer reads close_notify, and no data before it. */
void cell_closes(Cell *cell);

int32_t cell_code(const Cell *cell); /* the subject's failure, SST_OK: none */

#endif
