#include "bare.h"

#include <string.h>

#include "data.h"

static sst_status make(BareSide *side, sst_config *config, int32_t role) {
  side->stream = NULL;
  side->status = SST_OK;
  side->out_len = 0;
  sst_status status = sst_stream_new(config, role, &side->stream);
  if (status == SST_OK) status = sst_stream_set_verify_time(side->stream, DATA_CLOCK);
  if (status != SST_OK || role == SST_ROLE_SERVER) return status;
  return sst_stream_set_server_name(side->stream, "server.test", 11);
}

sst_status bare_new(Bare *bare, sst_config *client, sst_config *server) {
  bare->server.stream = NULL;
  const sst_status status = make(&bare->client, client, SST_ROLE_CLIENT);
  return status != SST_OK ? status : make(&bare->server, server, SST_ROLE_SERVER);
}

void bare_end(Bare *bare) {
  sst_stream_free(bare->client.stream);
  sst_stream_free(bare->server.stream);
  bare->client.stream = bare->server.stream = NULL;
}

static void taken(BareSide *from, size_t len) {
  memmove(from->out, from->out + len, from->out_len - len);
  from->out_len -= len;
}

/* One handshake call at to; false: nothing moved. */
static bool step(BareSide *to, BareSide *from) {
  sst_progress done;
  to->status =
      sst_stream_handshake(to->stream, from->out, from->out_len, to->out + to->out_len, BARE_CAP - to->out_len, &done);
  taken(from, done.consumed);
  to->out_len += done.produced;
  return done.consumed > 0 || done.produced > 0;
}

static bool is_over(const BareSide *side) {
  return side->status == SST_OK || side->status < 0;
}

sst_status bare_handshake(Bare *bare) {
  bare->client.status = bare->server.status = SST_NEED_INPUT;
  bool moved = true;
  while (moved && (!is_over(&bare->client) || !is_over(&bare->server))) {
    moved = false;
    if (!is_over(&bare->client)) moved |= step(&bare->client, &bare->server) || is_over(&bare->client);
    if (!is_over(&bare->server)) moved |= step(&bare->server, &bare->client) || is_over(&bare->server);
  }
  if (bare->client.status < 0) return bare->client.status;
  return bare->server.status < 0 ? bare->server.status : bare->client.status;
}

/* All that waits from the other side, into out; *len bytes came. */
static sst_status receive(BareSide *to, BareSide *from, uint8_t *out, size_t cap, size_t *len) {
  *len = 0;
  for (;;) {
    sst_progress done;
    to->status = sst_stream_decrypt(to->stream, from->out, from->out_len, out + *len, cap - *len, &done);
    taken(from, done.consumed);
    *len += done.produced;
    if (to->status != SST_NEED_OUTPUT) return to->status;
    if (done.consumed == 0 && done.produced == 0) return SST_ERR_INTERNAL;
  }
}

sst_status bare_move(BareSide *from, BareSide *to, const uint8_t *data, size_t len, uint8_t *out) {
  size_t sent = 0, came = 0;
  while (sent < len) {
    sst_progress done;
    from->status = sst_stream_encrypt(from->stream, data + sent, len - sent, from->out + from->out_len,
                                      BARE_CAP - from->out_len, &done);
    from->out_len += done.produced;
    sent += done.consumed;
    if (from->status < 0) return from->status;
    size_t part = 0;
    if (receive(to, from, out + came, len - came, &part) < 0) return to->status;
    came += part;
  }
  return came == len && memcmp(out, data, len) == 0 ? SST_OK : SST_ERR_INTERNAL;
}

sst_status bare_echo(Bare *bare, const uint8_t *data, size_t len, uint8_t *out) {
  const sst_status status = bare_move(&bare->client, &bare->server, data, len, out);
  return status != SST_OK ? status : bare_move(&bare->server, &bare->client, data, len, out);
}

static sst_status close_one(BareSide *from, BareSide *to) {
  sst_progress done;
  uint8_t nothing[1];
  size_t len;
  from->status = sst_stream_close(from->stream, from->out + from->out_len, BARE_CAP - from->out_len, &done);
  from->out_len += done.produced;
  if (from->status != SST_OK) return from->status;
  const sst_status status = receive(to, from, nothing, sizeof nothing, &len);
  return status == SST_CLOSED ? SST_OK : status;
}

sst_status bare_close(Bare *bare) {
  const sst_status status = close_one(&bare->client, &bare->server);
  return status != SST_OK ? status : close_one(&bare->server, &bare->client);
}
