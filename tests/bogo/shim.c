/*
 * The shim: what BoringSSL's TLS test runner drives in place of BoringSSL. It takes the runner's flags, connects to it
 * as often as the case says, and does with the public functions of the library what the case asks for.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim_checks.h"
#include "shim_link.h"

enum { DECOMPRESSION_FAILURE = 30, EXCHANGE_FAILED = 0, EXCHANGE_GOOD = 1, EXCHANGE_RETRY = 2 };

static bool write_keys(Link *link) {
  const Flags *flags = link->flags;
  uint8_t out[8192], receive[64], send[64];
  size_t len = 0, receive_len = 0, send_len = 0;
  if (flags->export_keying_material > 0) {
    if (flags->export_label.len == 0) unimplemented("-export-label: an empty one");
    const uint8_t *context = flags->use_export_context ? flags->export_context.data : NULL;
    const size_t context_len = flags->use_export_context ? flags->export_context.len : 0;
    const sst_status status =
        sst_stream_export_key(link->stream, (const char *)flags->export_label.data, flags->export_label.len, context,
                              context_len, out, (size_t)flags->export_keying_material);
    if (status != SST_OK) {
      fprintf(stderr, "failed to export keying material: %s\n", sst_status_name(status));
      return false;
    }
    if (!link_write(link, out, (size_t)flags->export_keying_material)) return false;
  }
  if (flags->export_traffic_secrets) {
    (void)sst_stream_traffic_secret(link->stream, SST_DIRECTION_RECEIVE, receive, sizeof receive, &receive_len);
    (void)sst_stream_traffic_secret(link->stream, SST_DIRECTION_SEND, send, sizeof send, &send_len);
    const uint8_t prefix[2] = {(uint8_t)receive_len, 0};
    if (!link_write(link, prefix, 2) || !link_write(link, receive, receive_len) || !link_write(link, send, send_len))
      return false;
  }
  if (!flags->tls_unique) return true;
  (void)sst_stream_channel_binding(link->stream, SST_BINDING_TLS_UNIQUE, out, sizeof out, &len);
  if (len == 12) return link_write(link, out, len);
  fprintf(stderr, "failed to get tls-unique\n");
  return false;
}

static bool write_first(Link *link) {
  static const size_t sizes[] = {0, 1, 255, 256, 257, 16383, 16384, 16385, 32767, 32768, 32769};
  static uint8_t data[32769];
  const Flags *flags = link->flags;
  if (flags->write_different_record_sizes) {
    memset(data, 0x42, sizeof data);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
      if (!link_write(link, data, sizes[i])) return false;
    }
    return true;
  }
  const size_t len = strlen(flags->shim_initial_write);
  if (flags->read_with_unfinished_write) return link_write_one_byte(link, flags->shim_initial_write, len);
  for (int i = 0; flags->shim_writes_first && i < flags->repeat_shim_initial_write; i++) {
    if (!link_write(link, flags->shim_initial_write, len)) return false;
  }
  return true;
}

static bool update_keys(Link *link) {
  const sst_status status = sst_stream_key_update(link->stream, 0);
  if (status != SST_OK) fprintf(stderr, "key_update: %s\n", sst_status_name(status));
  return status == SST_OK && (link->held > 0 || link_flush(link));
}

/* Sends back what comes, turned over. */
static int echo(Link *link) {
  const Flags *flags = link->flags;
  uint8_t data[16384];
  const size_t cap = flags->read_size > 0 && flags->read_size < 16384 ? (size_t)flags->read_size : 512;
  for (;;) {
    if (flags->key_update_before_read && !update_keys(link)) return EXCHANGE_FAILED;
    const int n = link_read(link, data, cap);
    if (n == READ_END) return EXCHANGE_GOOD;
    if (n == READ_RETRY) return EXCHANGE_RETRY;
    if (n == READ_FAILED) return EXCHANGE_FAILED;
    if (!link_write_rest(link)) return EXCHANGE_FAILED;
    if (flags->key_update && !update_keys(link)) return EXCHANGE_FAILED;
    for (int i = 0; i < n; i++)
      data[i] ^= 0xff;
    if (!link_write(link, data, (size_t)n)) return EXCHANGE_FAILED;
  }
}

static bool end(Link *link) {
  const Flags *flags = link->flags;
  if (!flags->check_close_notify) return true;
  if (!link_shut(link)) return false;
  if (flags->shim_shuts_down) return link_await_close(link);
  if (sst_stream_state(link->stream) & SST_STATE_PEER_CLOSED) return true;
  fprintf(stderr, "Unexpected SSL_shutdown result: -1 != 1\n");
  return false;
}

static int exchange(Link *link, bool was_refused) {
  const Flags *flags = link->flags;
  const bool may_stop = !was_refused && !flags->server;
  const Stage stage = link_handshake(link, may_stop);
  if (stage == STAGE_FAILED) return EXCHANGE_FAILED;
  if (stage == STAGE_RETRY) return EXCHANGE_RETRY;
  const bool is_early = stage == STAGE_EARLY || (sst_stream_state(link->stream) & SST_STATE_HANDSHAKE) != 0;
  if (stage == STAGE_EARLY && flags->expect_no_offer_early_data) {
    fprintf(stderr, "early data is offered\n");
    return EXCHANGE_FAILED;
  }
  if (!flags->implicit_handshake && !check_handshake(link, is_early)) return EXCHANGE_FAILED;
  if (flags->handshake_twice && !is_early && link_handshake(link, false) != STAGE_DONE) return EXCHANGE_FAILED;
  if (!is_early && !link_flush(link)) return EXCHANGE_FAILED;
  if (!write_keys(link)) return EXCHANGE_FAILED;
  if (flags->send_alert) return sst_stream_abort(link->stream, DECOMPRESSION_FAILURE) == SST_OK && link_flush(link);
  if (!write_first(link)) return link->was_refused ? EXCHANGE_RETRY : EXCHANGE_FAILED;
  const int result = flags->shim_shuts_down ? EXCHANGE_GOOD : echo(link);
  if (result != EXCHANGE_GOOD) return result;
  const bool confirmed = (sst_stream_state(link->stream) & SST_STATE_HANDSHAKE) == 0;
  if (is_early && confirmed && !check_confirmed(link)) return EXCHANGE_FAILED;
  return check_sessions(link) && end(link);
}

static bool talk(Link *link, const Flags *retry) {
  if (!link_open(link)) {
    fprintf(stderr, "cannot connect to the runner\n");
    return false;
  }
  int result = exchange(link, false);
  if (result == EXCHANGE_RETRY) {
    if (!link->flags->expect_reject_early_data) {
      fprintf(stderr, "early data was refused\n");
      return false;
    }
    if (sst_stream_continue_without_early_data(link->stream) != SST_OK) return false;
    link->flags = retry;
    result = exchange(link, true);
  } else if (result == EXCHANGE_GOOD && link->is_resume && !link->flags->server &&
             link->flags->expect_reject_early_data) {
    fprintf(stderr, "early data was not refused\n");
    return false;
  }
  if (result != EXCHANGE_GOOD) link_explain(link);
  return result == EXCHANGE_GOOD;
}

static bool make_stream(Link *link, sst_session *session) {
  const Flags *flags = link->flags;
  const bool asks_for_config = flags->server && flags->use_early_callback;
  sst_config *config = asks_for_config ? NULL : link->setup->config;
  const sst_status status = sst_stream_new(config, flags->server ? SST_ROLE_SERVER : SST_ROLE_CLIENT, &link->stream);
  if (status == SST_ERR_NO_CREDENTIAL) unimplemented("a server without a certificate");
  if (status != SST_OK) usage_failure("sst_stream_new", sst_status_name(status));
  if (flags->host_name != NULL && !flags->server) {
    const sst_status named = sst_stream_set_server_name(link->stream, flags->host_name, strlen(flags->host_name));
    if (named != SST_OK) usage_failure("the host name", sst_status_name(named));
  }
  return session == NULL || sst_stream_set_session(link->stream, session) == SST_OK;
}

/* Takes the session of the connection before, and gives the one that came. */
static bool connection(const FlagSets *sets, bool is_resume, Store *store, sst_session **session) {
  static Link link;
  Setup setup;
  memset(&link, 0, sizeof link);
  link.flags = is_resume ? &sets->resume : &sets->initial;
  link.setup = &setup;
  link.store = store;
  link.is_resume = is_resume;
  link.fd = -1;
  setup_make(&setup, link.flags, store);
  sst_session *offered = link.flags->server ? NULL : *session;
  bool good = make_stream(&link, offered) && talk(&link, &sets->retry);
  link_end(&link);
  sst_session_free(*session);
  *session = link.session;
  sst_stream_free(link.stream);
  setup_free(&setup);
  return good;
}

static int run(const FlagSets *sets) {
  Store store = {.keys = sst_ticket_keys_new()};
  sst_session *session = NULL;
  bool good = true;
  for (int i = 0; good && i <= sets->initial.resume_count; i++) {
    if (i > 0 && !sets->initial.server && session == NULL) {
      fprintf(stderr, "there is no session to offer\n");
      good = false;
    } else {
      good = connection(sets, i > 0, &store, &session);
    }
  }
  sst_session_free(session);
  for (size_t i = 0; i < store.count; i++)
    sst_session_free(store.at[i].session);
  sst_ticket_keys_free(store.keys);
  const uint64_t left = sst_live_objects();
  if (left != 0) fprintf(stderr, "%u objects of the library are left\n", (unsigned)left);
  return good && left == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
  FlagSets sets;
  (void)signal(SIGPIPE, SIG_IGN);
  flags_read(argc, argv, &sets);
  if (sets.initial.is_handshaker_supported) {
    puts("No");
    return 0;
  }
  const int code = run(&sets);
  /* The runner takes what follows this line for the words of a sanitizer. */
  fprintf(stderr, "--- DONE ---\n");
  return code;
}
