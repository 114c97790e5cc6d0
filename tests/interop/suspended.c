#define _POSIX_C_SOURCE 200809L
#include "suspended.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "data.h"
#include "openssl_signer.h"
#include "test.h"

/* What openssl_signer.c wants of its program: here a key is a file anywhere, and what fails ends the process. */

Data data_read(const char *name, const char *extension) {
  Data data = {NULL, 0};
  (void)extension; /* name has it */
  data.bytes = read_file(name, &data.len);
  test_require(data.bytes != NULL);
  return data;
}

void test_report(const char *file, int line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s:%d: ", file, line);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

void test_require(bool holds) {
  if (!holds) _exit(4);
}

/* Without the system's libcrypto the test cannot run, and that is a failure as with any peer that lacks. */
void test_skip(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  _exit(4);
}

static void pause_ms(unsigned ms) {
  nanosleep(&(const struct timespec){.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000 * 1000}, NULL);
}

/* A TLS 1.2 client signs all messages so far, of any length. */
static sst_status sign(const suspended *answers) {
  int32_t operation = -1;
  uint16_t scheme = 0;
  uint8_t signature[1024];
  size_t len = 0;
  sst_status status = sst_stream_private_key_operation(answers->stream, &operation, &scheme, NULL, 0, &len);
  uint8_t *message = status == SST_NEED_OUTPUT ? malloc(len) : NULL;
  if (!message) return status < 0 ? status : SST_ERR_NO_MEMORY;
  status = sst_stream_private_key_operation(answers->stream, &operation, &scheme, message, len, &len);
  if (status == SST_OK) {
    const size_t signature_len = openssl_sign(answers->options->key, scheme, message, len, signature, sizeof signature);
    status = sst_stream_set_signature(answers->stream, signature, signature_len);
  }
  free(message);
  return status;
}

static sst_status choose_config(suspended *answers) {
  size_t len = 0;
  const sst_status status =
      sst_stream_server_name(answers->stream, (uint8_t *)answers->server_name, sizeof answers->server_name - 1, &len);
  return status == SST_OK ? sst_stream_set_config(answers->stream, answers->config) : status;
}

static sst_status judge(const suspended *answers) {
  sst_error verdict = {.size = sizeof verdict};
  const sst_status status = sst_stream_verdict(answers->stream, &verdict);
  if (status != SST_OK) return status;
  return verdict.code == SST_OK ? sst_stream_accept(answers->stream) : verdict.code;
}

static sst_status answer(suspended *answers) {
  switch (answers->question) {
    case SST_WANT_CLIENT_HELLO:
      return choose_config(answers);
    case SST_WANT_CERTIFICATE:
      return sst_stream_set_credential(answers->stream, answers->credential);
    case SST_WANT_CERTIFICATE_VERIFY:
      return judge(answers);
    case SST_WANT_PRIVATE_KEY_OPERATION:
      return sign(answers);
    default:
      return SST_ERR_UNSUPPORTED;
  }
}

static void *answer_later(void *context) {
  suspended *answers = context;
  pause_ms(answers->options->suspend_ms);
  const sst_status status = answer(answers);
  if (status == SST_OK) return NULL;
  fprintf(stderr, "sst_interop: %s: %s\n", sst_status_name(answers->question), sst_status_name(status));
  (void)sst_stream_reject(answers->stream, -1);
  return NULL;
}

static void join(suspended *answers) {
  if (answers->question != 0) test_require(pthread_join(answers->thread, NULL) == 0);
  answers->question = 0;
}

static void begin(suspended *answers, sst_status question) {
  test_require(answers->num_questions < sizeof answers->questions / sizeof *answers->questions);
  answers->questions[answers->num_questions++] = question;
  answers->question = question;
  test_require(pthread_create(&answers->thread, NULL, answer_later, answers) == 0);
}

sst_status suspended_set_up(suspended *answers, const options *o, sst_config *config, sst_credential *credential) {
  static const uint16_t schemes[] = {0x0403, 0x0503, 0x0603, 0x0807, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601};
  uint32_t mask = 0;
  for (sst_status question = SST_WANT_CLIENT_HELLO; question <= SST_WANT_PRIVATE_KEY_OPERATION; question++) {
    mask |= UINT32_C(1) << (question - SST_WANT_CLIENT_HELLO);
  }
  answers->options = o;
  answers->config = sst_config_ref(config);
  answers->credential = sst_credential_ref(credential);
  openssl_signer_load();
  const sst_status status = sst_config_suspend_on(config, mask);
  if (status != SST_OK) return status;
  return sst_credential_set_caller_signs(credential, schemes, sizeof schemes / sizeof *schemes);
}

sst_status suspended_handshake(suspended *answers, link_end *end) {
  answers->stream = end->stream;
  for (;;) {
    const sst_status status = link_handshake(end);
    if (answers->question != 0 && status == answers->question) {
      pause_ms(1); /* there is no answer yet */
      continue;
    }
    join(answers);
    if (status < SST_WANT_CLIENT_HELLO) return status;
    begin(answers, status);
  }
}

void suspended_print(const suspended *answers) {
  printf(",\"questions\":[");
  for (size_t i = 0; i < answers->num_questions; i++) {
    printf("%s\"%s\"", i == 0 ? "" : ",", sst_status_name(answers->questions[i]));
  }
  printf("],\"server_name\":\"%s\"", answers->server_name);
}

void suspended_release(suspended *answers) {
  sst_config_free(answers->config);
  sst_credential_free(answers->credential);
}
