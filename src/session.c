/* Sessions. Once it has a state, nothing of one changes but two marks: that it was used, that it may be used again. */
#include "session.h"

#include <string.h>

#include "error.h"
#include "memory.h"
#include "object.h"

struct sst_session {
  sst__object object;
  sst__resumable *state; /* NULL: empty */
  sst__bond *bond;
  sst__session_facts facts;
  atomic_bool used, reusable;
};

/* ---- what it is bound to ---- */

static size_t put_name(uint8_t *at, const sst__host *host) {
  const size_t len = strlen(host->name);
  at[0] = (uint8_t)len;
  for (size_t i = 0; i < len; i++) {
    const char c = host->name[i]; /* host names are the same in any case (RFC 4343) */
    at[1 + i] = (uint8_t)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return 1 + len;
}

static sst__bond *new_bond(size_t len) {
  sst__bond *bond = sst__alloc(sizeof *bond + len);
  if (bond == NULL) return NULL;
  atomic_init(&bond->references, 1);
  bond->len = len;
  return bond;
}

sst__bond *sst__bond_new(const sst__host *server_name, const sst__host *verify_name,
                         const uint8_t own[SST__DIGEST_LEN]) {
  sst__bond *bond = new_bond(1 + strlen(server_name->name) + 1 + strlen(verify_name->name) + SST__DIGEST_LEN);
  if (bond == NULL) return NULL;
  uint8_t *at = bond->bytes;
  at += put_name(at, server_name);
  at += put_name(at, verify_name);
  memcpy(at, own, SST__DIGEST_LEN);
  return bond;
}

sst__bond *sst__bond_ref(sst__bond *bond) {
  atomic_fetch_add_explicit(&bond->references, 1, memory_order_relaxed);
  return bond;
}

void sst__bond_free(sst__bond *bond) {
  if (bond != NULL && atomic_fetch_sub_explicit(&bond->references, 1, memory_order_acq_rel) == 1) sst__free(bond);
}

/* ---- life ---- */

sst_session *sst_session_new(void) {
  return sst__object_new(sizeof(sst_session));
}

sst_session *sst_session_ref(sst_session *session) {
  if (session != NULL) sst__object_ref(&session->object);
  return session;
}

void sst_session_free(sst_session *session) {
  if (session == NULL || !sst__object_unref(&session->object)) return;
  sst__resumable_free(session->state);
  sst__bond_free(session->bond);
  sst__object_end(&session->object);
}

sst_session *sst__session_new(sst__resumable *state, sst__bond *bond, const sst__session_facts *facts) {
  sst_session *session = sst_session_new();
  if (session == NULL) return NULL;
  session->state = state;
  session->bond = sst__bond_ref(bond);
  session->facts = *facts;
  return session;
}

/* ---- for the handshake ---- */

sst__resumable *sst__session_state(const sst_session *session) {
  return session->state;
}

const sst__session_facts *sst__session_facts_of(const sst_session *session) {
  return &session->facts;
}

bool sst__session_is_bound_to(const sst_session *session, const sst__bond *bond) {
  return session->bond->len == bond->len && memcmp(session->bond->bytes, bond->bytes, bond->len) == 0;
}

bool sst__session_claim(sst_session *session) {
  return !atomic_exchange(&session->used, true) || atomic_load(&session->reusable);
}

/* ---- bytes ----
 *
 *   magic (4) | format (1) | flags (1) | most early data (4) | length (2), bond | length (3), state | SHA-256 (32)
 *
 * The digest is of all before it. It finds damage: a session with one bit turned in its keys would fail handshakes
 * instead of being refused. Who can write the bytes on purpose can write it as well.
 */

static const uint8_t magic[4] = {'S', 'S', 'T', 'S'};
enum { FORMAT = 1, HEAD_LEN = 10, MOST_BOND = 0xffff, MOST_STATE = 0xffffff };
enum { WAS_USED = 1, IS_REUSABLE = 2, HAS_EXTENDED_MASTER_SECRET = 4, KNOWN_FLAGS = 7 };

static uint8_t *put_number(uint8_t *at, uint64_t number, int size) {
  for (int i = size - 1; i >= 0; i--)
    *at++ = (uint8_t)(number >> (8 * i));
  return at;
}

static uint8_t *put_bytes(uint8_t *at, const uint8_t *bytes, size_t len, int length_size) {
  at = put_number(at, len, length_size);
  memcpy(at, bytes, len);
  return at + len;
}

static void write_bytes(const sst_session *session, const uint8_t *state, size_t state_len, uint8_t *out) {
  const int flags = (atomic_load(&session->used) ? WAS_USED : 0) | (atomic_load(&session->reusable) ? IS_REUSABLE : 0) |
                    (session->facts.extended_master_secret ? HAS_EXTENDED_MASTER_SECRET : 0);
  uint8_t *at = out;
  memcpy(at, magic, sizeof magic);
  at = put_number(at + sizeof magic, FORMAT, 1);
  at = put_number(at, (uint64_t)flags, 1);
  at = put_number(at, session->facts.max_early_data, 4);
  at = put_bytes(at, session->bond->bytes, session->bond->len, 2);
  at = put_bytes(at, state, state_len, 3);
  sst__digest(out, (size_t)(at - out), at);
}

sst_status sst_session_to_bytes(const sst_session *session, uint8_t *out, size_t out_cap, size_t *out_len) {
  if (out_len != NULL) *out_len = 0;
  if (session == NULL || out_len == NULL || !sst__buffer_ok(out, out_cap)) {
    return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  }
  if (session->state == NULL) return sst__refuse(SST_ERR_STATE);
  uint8_t *state = NULL;
  size_t state_len = 0;
  if (!sst__resumable_bytes(session->state, &state, &state_len)) return sst__refuse(SST_ERR_NO_MEMORY);
  *out_len = HEAD_LEN + 2 + session->bond->len + 3 + state_len + SST__DIGEST_LEN;
  const bool fits = *out_len <= out_cap;
  if (fits) write_bytes(session, state, state_len, out);
  sst__free(state);
  return fits ? SST_OK : SST_NEED_OUTPUT;
}

typedef struct reader {
  const uint8_t *data;
  size_t left;
} reader;

/* Takes what is behind a length of so many bytes; false: so much is not there. */
static bool take(reader *in, int length_size, const uint8_t **bytes, size_t *len) {
  size_t number = 0;
  if (in->left < (size_t)length_size) return false;
  for (int i = 0; i < length_size; i++)
    number = number << 8 | in->data[i];
  in->data += length_size;
  in->left -= (size_t)length_size;
  if (in->left < number) return false;
  *bytes = in->data;
  *len = number;
  in->data += number;
  in->left -= number;
  return true;
}

static bool is_bond(const uint8_t *bytes, size_t len) {
  reader in = {bytes, len};
  for (int i = 0; i < 2; i++) {
    const uint8_t *name;
    size_t name_len;
    sst__host host;
    if (!take(&in, 1, &name, &name_len)) return false;
    if (name_len > 0 && !sst__host_parse(&host, (const char *)name, name_len)) return false;
  }
  return in.left == SST__DIGEST_LEN;
}

typedef struct parts {
  uint8_t flags;
  uint32_t max_early_data;
  const uint8_t *bond, *state;
  size_t bond_len, state_len;
} parts;

static bool parse(const uint8_t *bytes, size_t len, parts *out) {
  uint8_t digest[SST__DIGEST_LEN];
  if (len < HEAD_LEN + SST__DIGEST_LEN || memcmp(bytes, magic, sizeof magic) != 0 || bytes[4] != FORMAT) return false;
  sst__digest(bytes, len - SST__DIGEST_LEN, digest);
  if (memcmp(digest, bytes + len - SST__DIGEST_LEN, SST__DIGEST_LEN) != 0) return false;
  out->flags = bytes[5];
  out->max_early_data = (uint32_t)bytes[6] << 24 | (uint32_t)bytes[7] << 16 | (uint32_t)bytes[8] << 8 | bytes[9];
  reader in = {bytes + HEAD_LEN, len - HEAD_LEN - SST__DIGEST_LEN};
  return (out->flags & ~KNOWN_FLAGS) == 0 && take(&in, 2, &out->bond, &out->bond_len) &&
         take(&in, 3, &out->state, &out->state_len) && in.left == 0 && is_bond(out->bond, out->bond_len);
}

static sst_status no_memory(sst_session *session) {
  return sst__fail(&session->object.last, SST_ERR_NO_MEMORY, "no memory for a session");
}

sst_status sst_session_load(sst_session *session, const uint8_t *bytes, size_t bytes_len) {
  if (session == NULL || !sst__buffer_ok(bytes, bytes_len)) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (session->state != NULL) return sst__refuse(SST_ERR_FROZEN);
  parts in;
  if (!parse(bytes, bytes_len, &in)) {
    return sst__fail(&session->object.last, SST_ERR_BAD_SESSION,
                     "these %zu bytes are damaged, of another version of the library, or no session", bytes_len);
  }
  sst__bond *bond = new_bond(in.bond_len);
  if (bond == NULL) return no_memory(session);
  memcpy(bond->bytes, in.bond, in.bond_len);
  sst__resumable *state = NULL;
  const sst_status status = sst__resumable_read(in.state, in.state_len, &state);
  if (status != SST_OK) {
    sst__bond_free(bond);
    if (status == SST_ERR_NO_MEMORY) return no_memory(session);
    return sst__fail(&session->object.last, status, "the session in these bytes cannot be resumed");
  }
  session->bond = bond;
  session->facts.extended_master_secret = (in.flags & HAS_EXTENDED_MASTER_SECRET) != 0;
  session->facts.max_early_data = in.max_early_data;
  atomic_store(&session->used, (in.flags & WAS_USED) != 0);
  atomic_store(&session->reusable, (in.flags & IS_REUSABLE) != 0);
  session->state = state;
  return SST_OK;
}

/* ---- facts and marks ---- */

sst_status sst_session_get_info(const sst_session *session, sst_session_info *info) {
  if (session == NULL || info == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  if (session->state == NULL) return sst__refuse(SST_ERR_STATE);
  sst_session_info facts = {.size = sizeof facts, .max_early_data = session->facts.max_early_data};
  sst__resumable_info(session->state, &facts);
  return sst__fill(&facts, sizeof facts, info);
}

sst_status sst_session_set_reusable(sst_session *session, int32_t on) {
  if (session == NULL || (on != 0 && on != 1)) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  atomic_store(&session->reusable, on == 1);
  return SST_OK;
}

sst_status sst_session_last_error(const sst_session *session, sst_error *error) {
  if (session == NULL) return sst__refuse(SST_ERR_INVALID_ARGUMENT);
  return sst__error_get(&session->object.last, error);
}
