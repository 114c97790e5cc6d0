#include "crafted.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/sha2.h>

#include "resume.h"

enum { STATE_LENGTH = 3, DIGEST = 32 };

Crafted crafted_of(const sst_session *session) {
  Crafted crafted = {.bytes = session_bytes(session)};
  const uint8_t *bytes = crafted.bytes.bytes;
  crafted.bond_len = (size_t)bytes[10] << 8 | bytes[11];
  const size_t at = CRAFTED_BOND + crafted.bond_len + STATE_LENGTH;
  crafted.ctx = SSL_CTX_new(TLS_with_buffers_method());
  crafted.state = SSL_SESSION_from_bytes(bytes + at, crafted.bytes.len - at - DIGEST, crafted.ctx);
  REQUIRE(crafted.state != NULL);
  const uint8_t *ticket = NULL;
  SSL_SESSION_get0_ticket(crafted.state, &ticket, &crafted.ticket_len);
  crafted.ticket = test_allocate(crafted.ticket_len);
  memcpy(crafted.ticket, ticket, crafted.ticket_len);
  return crafted;
}

sst_session *crafted_session(const Crafted *crafted) {
  uint8_t *state = NULL;
  size_t state_len = 0;
  REQUIRE(SSL_SESSION_set_ticket(crafted->state, crafted->ticket, crafted->ticket_len) == 1);
  REQUIRE(SSL_SESSION_to_bytes(crafted->state, &state, &state_len) == 1);
  const size_t head = CRAFTED_BOND + crafted->bond_len;
  const size_t len = head + STATE_LENGTH + state_len;
  uint8_t *bytes = test_allocate(len + DIGEST);
  memcpy(bytes, crafted->bytes.bytes, head);
  for (size_t i = 0; i < STATE_LENGTH; i++)
    bytes[head + i] = (uint8_t)(state_len >> (16 - 8 * i));
  memcpy(bytes + head + STATE_LENGTH, state, state_len);
  SHA256(bytes, len, bytes + len);
  OPENSSL_free(state);
  sst_session *session = session_loaded(bytes, len + DIGEST);
  free(bytes);
  return session;
}

void crafted_free(Crafted *crafted) {
  SSL_SESSION_free(crafted->state);
  SSL_CTX_free(crafted->ctx);
  free(crafted->ticket);
  free(crafted->bytes.bytes);
}
