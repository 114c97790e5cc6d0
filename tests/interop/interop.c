/*
 * sst_interop: our side of a test against a foreign peer. It makes one connection on 127.0.0.1, goes through its steps
 * and prints what happened as one line of JSON. A server prints "port=N" first. tests/interop/README.md has the flags.
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
#include "suspended.h"

/* What came of it, beside what the stream knows. */
typedef struct outcome {
  const char *step;  /* the last one that was begun */
  sst_status status; /* its result */
  sst_error setup;   /* a failure before there was a stream */
} outcome;

static sst_status load(const options *o, sst_config *config, suspended *answers, outcome *result) {
  sst_status status = SST_OK;
  size_t len = 0;
  sst_credential *credential = sst_credential_new();
  const char *const files[] = {o->cert, o->suspend_ms > 0 ? NULL : o->key};
  for (size_t i = 0; status == SST_OK && i < 2; i++) {
    uint8_t *pem = files[i] ? read_file(files[i], &len) : NULL;
    if (pem) status = sst_credential_load_pem(credential, pem, len, NULL, 0);
    free(pem);
  }
  if (status != SST_OK) (void)sst_credential_last_error(credential, &result->setup);
  if (status == SST_OK && o->suspend_ms > 0) {
    status = suspended_set_up(answers, o, config, credential);
  } else if (status == SST_OK && o->cert) {
    status = sst_config_add_credential(config, credential);
  }
  sst_credential_free(credential);

  sst_trust *trust = sst_trust_new();
  uint8_t *ca = status == SST_OK && o->ca ? read_file(o->ca, &len) : NULL;
  if (ca) status = sst_trust_load_pem(trust, ca, len);
  if (ca && status == SST_OK) status = sst_config_set_trust(config, trust);
  free(ca);
  sst_trust_free(trust);

  uint8_t *issuers = status == SST_OK && o->client_ca ? read_file(o->client_ca, &len) : NULL;
  if (issuers) status = sst_config_add_client_ca(config, issuers, len);
  free(issuers);
  return status;
}

static sst_status set_up(const options *o, sst_config *config, suspended *answers, outcome *result) {
  sst_status status = load(o, config, answers, result);
  if (status == SST_OK) status = sst_config_set_versions(config, o->min_version, o->max_version);
  if (status == SST_OK && o->num_groups > 0) status = sst_config_set_groups(config, o->groups, o->num_groups);
  if (status == SST_OK && o->alpn) status = sst_config_add_alpn(config, (const uint8_t *)o->alpn, strlen(o->alpn));
  if (status == SST_OK) status = sst_config_set_client_certificate(config, o->client_certificate);
  return status;
}

static sst_status make_stream(const options *o, sst_config *config, sst_stream **stream) {
  const bool none = o->suspend_ms > 0 && o->role == SST_ROLE_SERVER; /* it comes with an answer */
  sst_status status = sst_stream_new(none ? NULL : config, o->role, stream);
  if (status == SST_OK && o->name) status = sst_stream_set_server_name(*stream, o->name, strlen(o->name));
  if (status == SST_OK && o->now) status = sst_stream_set_verify_time(*stream, o->now);
  return status;
}

static int connected(const options *o) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof address;
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (o->role == SST_ROLE_CLIENT) {
    address.sin_port = htons((uint16_t)strtoul(o->port, NULL, 10));
    /* Foreign servers do not tell when they listen. */
    for (int tries = 0; connect(fd, (struct sockaddr *)&address, len) != 0; tries++) {
      if (tries == 400) return -1;
      nanosleep(&(const struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
    }
    return fd;
  }
  if (bind(fd, (struct sockaddr *)&address, len) != 0 || listen(fd, 1) != 0 ||
      getsockname(fd, (struct sockaddr *)&address, &len) != 0) {
    return -1;
  }
  printf("port=%u\n", ntohs(address.sin_port));
  fflush(stdout);
  return accept(fd, NULL, NULL);
}

static sst_status run_step(const options *o, link_end *end, FILE *target, const char *step) {
  if (strcmp(step, "send") == 0) {
    size_t len = 0;
    uint8_t *data = read_file(o->send, &len);
    if (!data) return SST_ERR_SYSTEM;
    const sst_status status = link_send(end, data, len);
    free(data);
    return status;
  }
  if (strcmp(step, "close") == 0) return link_close(end);
  if (strcmp(step, "take") == 0) return link_receive(end, target, o->expect, o->until);
  return link_receive(end, target, UINT64_MAX, NULL); /* drain */
}

static void run_steps(const options *o, link_end *end, FILE *target, suspended *answers, outcome *result) {
  char steps[128];
  snprintf(steps, sizeof steps, "%s", o->steps);
  result->step = "handshake";
  result->status = o->suspend_ms > 0 ? suspended_handshake(answers, end) : link_handshake(end);
  char *rest = NULL;
  for (char *step = strtok_r(steps, ",", &rest); step && result->status >= 0; step = strtok_r(NULL, ",", &rest)) {
    static char name[16];
    snprintf(name, sizeof name, "%s", step);
    result->step = name;
    result->status = run_step(o, end, target, step);
  }
  /* The peer takes no more: what it said before tells why. */
  if (result->status == SST_ERR_SYSTEM && !end->transport_ended) {
    const sst_status last = link_receive(end, target, UINT64_MAX, NULL);
    if (last != SST_OK) result->status = last;
  }
}

static void print_text(const char *name, const char *text) {
  printf(",\"%s\":\"", name);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') putchar('\\');
    putchar((unsigned char)*text < ' ' ? ' ' : *text);
  }
  putchar('"');
}

static void print_result(const outcome *result, const link_end *end, const suspended *answers) {
  sst_error error = {.size = sizeof error, .alert_sent = -1, .alert_received = -1};
  sst_stream_info info = {.size = sizeof info};
  const uint32_t state = sst_stream_state(end->stream);
  char alpn[256] = "";
  size_t len = 0;
  if (end->stream) {
    (void)sst_stream_last_error(end->stream, &error);
    (void)sst_stream_get_info(end->stream, &info);
    (void)sst_stream_alpn(end->stream, (uint8_t *)alpn, sizeof alpn - 1, &len);
  } else if (result->setup.code != SST_OK) {
    error = result->setup;
  }
  printf("{\"status\":%d,\"code\":%d,\"alert_sent\":%d,\"alert_received\":%d,\"reasons\":%llu", (int)result->status,
         (int)error.code, (int)error.alert_sent, (int)error.alert_received, (unsigned long long)error.reasons);
  printf(",\"version\":%u,\"suite\":%u,\"group\":%u,\"peer_scheme\":%u,\"local_scheme\":%u", info.version, info.suite,
         info.group, info.peer_scheme, info.local_scheme);
  printf(",\"open\":%d,\"we_closed\":%d,\"peer_closed\":%d,\"truncated\":%d", (state & SST_STATE_OPEN) != 0,
         (state & SST_STATE_WE_CLOSED) != 0, (state & SST_STATE_PEER_CLOSED) != 0, (state & SST_STATE_TRUNCATED) != 0);
  printf(",\"sent\":%llu,\"received\":%llu,\"peer_certificates\":%zu,\"errno\":%d", (unsigned long long)end->sent,
         (unsigned long long)end->received, sst_stream_num_peer_certificates(end->stream), end->system_error);
  suspended_print(answers);
  print_text("step", result->step);
  print_text("name", sst_status_name(result->status));
  print_text("message", error.message[0] ? error.message : sst_status_text(result->status));
  print_text("alpn", alpn);
  print_text("library", sst_version_string());
  printf("}\n");
}

int main(int argc, char **argv) {
  options o;
  if (!options_parse(&o, argc, argv)) return 2;
  alarm(o.limit_s); /* whatever happens, the process ends */
  static link_end end;
  suspended answers = {.num_questions = 0};
  outcome result = {.step = "setup", .setup = {.size = sizeof result.setup}};
  sst_config *config = sst_config_new();
  FILE *target = fopen(o.receive, "wb");
  result.status = target ? set_up(&o, config, &answers, &result) : SST_ERR_SYSTEM;
  if (result.status == SST_OK) result.status = make_stream(&o, config, &end.stream);
  if (result.status != SST_OK && result.setup.code == SST_OK) (void)sst_config_last_error(config, &result.setup);
  if (result.status == SST_OK) {
    result.step = "connect";
    end.fd = connected(&o);
    if (end.fd >= 0) {
      (void)setsockopt(end.fd, IPPROTO_TCP, TCP_NODELAY, &(const int){1}, sizeof(int));
      run_steps(&o, &end, target, &answers, &result);
      link_linger(&end);
    } else {
      result.status = SST_ERR_SYSTEM;
    }
  }
  if (target) fclose(target);
  print_result(&result, &end, &answers);
  sst_stream_free(end.stream);
  suspended_release(&answers);
  sst_config_free(config);
  return sst_live_objects() == 0 ? 0 : 3;
}
