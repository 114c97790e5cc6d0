/*
 * sst_interop_early: our side of a test of 0-RTT against a foreign peer: two connections on 127.0.0.1, the second with
 * the session of the first, and one line of JSON for each. tests/interop/README.md has the flags.
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "link.h"
#include "options.h"

/* What came of the second connection; early data and the rest each have a file. */
typedef struct outcome {
  sst_status status;
  uint64_t early_sent, early_received, late_received;
  int asked; /* the client was asked to send again */
} outcome;

static sst_status load(const options *o, sst_config *config) {
  sst_status status = SST_OK;
  size_t len = 0;
  sst_credential *credential = sst_credential_new();
  const char *const files[] = {o->cert, o->key};
  for (size_t i = 0; status == SST_OK && i < 2; i++) {
    uint8_t *pem = files[i] ? read_file(files[i], &len) : NULL;
    if (pem) status = sst_credential_load_pem(credential, pem, len, NULL, 0);
    free(pem);
  }
  if (status == SST_OK && o->cert) status = sst_config_add_credential(config, credential);
  sst_credential_free(credential);
  sst_trust *trust = sst_trust_new();
  uint8_t *ca = o->ca ? read_file(o->ca, &len) : NULL;
  if (ca) status = sst_trust_load_pem(trust, ca, len);
  if (ca && status == SST_OK) status = sst_config_set_trust(config, trust);
  free(ca);
  sst_trust_free(trust);
  return status;
}

/* The second server of a run may take no early data, or want another group. */
static sst_config *make_config(const options *o, sst_ticket_keys *keys, bool second) {
  static const uint16_t retry[] = {24};
  sst_config *config = sst_config_new();
  sst_status status = load(o, config);
  const bool refuses = second && o->role == SST_ROLE_SERVER && o->early_mode && strcmp(o->early_mode, "refused") == 0;
  const bool retries = second && o->role == SST_ROLE_SERVER && o->early_mode && strcmp(o->early_mode, "retry") == 0;
  if (status == SST_OK) status = sst_config_set_versions(config, SST_TLS1_3, SST_TLS1_3);
  if (status == SST_OK) status = sst_config_set_early_data(config, refuses ? 0 : 1);
  if (status == SST_OK && retries) status = sst_config_set_groups(config, retry, 1);
  if (status == SST_OK && !retries && o->num_groups > 0) {
    status = sst_config_set_groups(config, o->groups, o->num_groups);
  }
  if (status == SST_OK && o->role == SST_ROLE_SERVER) status = sst_config_set_ticket_keys(config, keys);
  if (status == SST_OK) status = sst_config_report(config, UINT32_C(1) << SST_EVENT_SESSION);
  if (status == SST_OK) return config;
  fprintf(stderr, "config: %s\n", sst_status_name(status));
  sst_config_free(config);
  return NULL;
}

static int listener(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof address;
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(fd, (struct sockaddr *)&address, len) != 0 || listen(fd, 2) != 0 ||
      getsockname(fd, (struct sockaddr *)&address, &len) != 0) {
    return -1;
  }
  printf("port=%u\n", ntohs(address.sin_port));
  fflush(stdout);
  return fd;
}

static int connected(const char *port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  address.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
  for (int tries = 0; connect(fd, (struct sockaddr *)&address, sizeof address) != 0; tries++) {
    if (tries == 400) return -1;
    nanosleep(&(const struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
  }
  return fd;
}

/* The second connection of a client: sends what the server has not taken again, and then the rest. */
static sst_status client_sends(const options *o, link_end *end, outcome *result) {
  size_t early_len = 0, len = 0, sent = 0;
  uint8_t *early = read_file(o->early, &early_len), *data = read_file(o->send, &len);
  sst_status status = early && data ? link_early(end, early, early_len, &sent) : SST_ERR_SYSTEM;
  result->early_sent = sent;
  if (status == SST_WANT_EARLY_DATA_RETRY) {
    result->asked = 1;
    sent = 0;
    status = sst_stream_continue_without_early_data(end->stream);
    if (status == SST_OK) status = link_handshake(end);
  }
  if (status == SST_OK && sent < early_len) status = link_send(end, early + sent, early_len - sent);
  if (status == SST_OK) status = link_send(end, data, len);
  free(early);
  free(data);
  return status;
}

static sst_status receive(const options *o, link_end *end, outcome *result) {
  FILE *early = fopen("our.early", "wb"), *late = fopen(o->receive, "wb");
  const sst_status status = early && late ? link_receive_early(end, early, late, o->expect) : SST_ERR_SYSTEM;
  if (early) result->early_received = (uint64_t)ftell(early);
  if (late) result->late_received = (uint64_t)ftell(late);
  if (early) fclose(early);
  if (late) fclose(late);
  return status;
}

/* The first time only so much that the tickets go out, in one write: the client may leave as soon as it has them. */
static sst_status server_sends(const options *o, link_end *end, bool second) {
  size_t len = 0;
  uint8_t *data = read_file(o->send, &len);
  sst_status status = data ? link_handshake(end) : SST_ERR_SYSTEM;
  if (!second && len > 64) len = 64;
  if (status == SST_OK) status = link_send(end, data, len); /* 0.5-RTT data, if early data was taken */
  free(data);
  return status;
}

static sst_status talk(const options *o, link_end *end, bool second, sst_session **session, outcome *result) {
  sst_status status;
  if (o->role == SST_ROLE_SERVER) {
    status = server_sends(o, end, second);
    if (second && status == SST_OK) status = receive(o, end, result);
    if (!second && status == SST_OK) {
      (void)link_close(end);
      return SST_OK;
    }
  } else if (second) {
    status = client_sends(o, end, result);
    if (status == SST_OK) status = receive(o, end, result);
  } else {
    status = link_handshake(end);
    if (status == SST_OK) status = link_session(end, session);
  }
  return status == SST_OK ? link_close(end) : status;
}

static void print_result(const outcome *result, const link_end *end) {
  sst_error error = {.size = sizeof error};
  sst_stream_info info = {.size = sizeof info};
  (void)sst_stream_last_error(end->stream, &error);
  (void)sst_stream_get_info(end->stream, &info);
  printf(
      "{\"name\":\"%s\",\"code\":%d,\"resumed\":%d,\"accepted\":%d,\"retry\":%d,\"asked\":%d,\"early_sent\":%llu,"
      "\"early_received\":%llu,\"late_received\":%llu}\n",
      sst_status_name(result->status), (int)error.code, (info.flags & SST_INFO_RESUMED) != 0,
      (info.flags & SST_INFO_EARLY_DATA_ACCEPTED) != 0, (info.flags & SST_INFO_HELLO_RETRY) != 0, result->asked,
      (unsigned long long)result->early_sent, (unsigned long long)result->early_received,
      (unsigned long long)result->late_received);
  fflush(stdout);
}

/* One connection; the session that came is *session, which was offered. */
static sst_status run(const options *o, int fd, sst_config *config, bool second, sst_session **session) {
  static link_end end;
  outcome result = {.status = SST_OK};
  end = (link_end){.fd = fd};
  result.status = sst_stream_new(config, o->role, &end.stream);
  if (result.status == SST_OK && o->name) {
    result.status = sst_stream_set_server_name(end.stream, o->name, strlen(o->name));
  }
  if (result.status == SST_OK && *session) result.status = sst_stream_set_session(end.stream, *session);
  if (result.status == SST_OK) result.status = talk(o, &end, second, session, &result);
  if (end.stream) print_result(&result, &end);
  if (end.stream) link_linger(&end);
  for (sst_session *more; end.stream && (more = sst_stream_take_session(end.stream)) != NULL;)
    sst_session_free(more);
  sst_stream_free(end.stream);
  close(fd);
  return result.status;
}

int main(int argc, char **argv) {
  options o;
  if (!options_parse(&o, argc, argv) || !o.early) return 2;
  alarm(o.limit_s);
  sst_ticket_keys *keys = sst_ticket_keys_new();
  sst_session *session = NULL;
  const int listening = o.role == SST_ROLE_SERVER ? listener() : -1;
  sst_status status = SST_OK;
  for (int i = 0; i < 2 && status == SST_OK; i++) {
    sst_config *config = make_config(&o, keys, i == 1);
    const char *port = i == 1 && o.port2 ? o.port2 : o.port;
    const int fd = listening >= 0 ? accept(listening, NULL, NULL) : connected(port);
    if (fd >= 0) (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(const int){1}, sizeof(int));
    status = config && fd >= 0 ? run(&o, fd, config, i == 1, &session) : SST_ERR_SYSTEM;
    sst_config_free(config);
  }
  sst_session_free(session);
  sst_ticket_keys_free(keys);
  return sst_live_objects() == 0 ? 0 : 3;
}
