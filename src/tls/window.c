#include "tls/window.h"

#include <pthread.h>
#include <string.h>

#include "memory.h"

/* BoringSSL reads a header, then exactly the record's body, and never ahead. So what it has read says where the record
   in progress stands. */
static void track(sst__tls *tls, const uint8_t *data, size_t size) {
  if (tls->body_left > 0) {
    const size_t body = (size_t)tls->header[3] << 8 | tls->header[4];
    for (size_t i = 0; body == sizeof tls->short_body && i < size && i < tls->body_left; i++) {
      tls->short_body[body - tls->body_left + i] = data[i];
    }
    tls->body_left -= size < tls->body_left ? size : tls->body_left;
  } else {
    for (size_t i = 0; i < size && tls->header_len < SST__HEADER_LEN; i++)
      tls->header[tls->header_len++] = data[i];
    if (tls->header_len < SST__HEADER_LEN) return;
    tls->body_left = (size_t)tls->header[3] << 8 | tls->header[4];
  }
  if (tls->body_left == 0) tls->header_len = 0;
}

/* What came before the stream had a config, for its own SSL. */
static int read_again(sst__tls *tls, uint8_t *out, size_t len) {
  const size_t left = tls->taken_len - tls->taken_used;
  const size_t size = left < len ? left : len;
  memcpy(out, tls->taken + tls->taken_used, size);
  track(tls, out, size);
  tls->taken_used += size;
  if (tls->taken_used == tls->taken_len) {
    sst__free(tls->taken);
    tls->taken = NULL;
    tls->taken_len = tls->taken_used = 0;
    tls->reads_again = false;
  }
  return (int)size;
}

static int window_read(BIO *bio, char *out, int len) {
  sst__tls *tls = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (len <= 0) return 0;
  if (tls->reads_again) return read_again(tls, (uint8_t *)out, (size_t)len);
  sst__input *in = tls->in;
  const size_t left = in == NULL ? 0 : in->len - in->used;
  if (left == 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const size_t size = left < (size_t)len ? left : (size_t)len;
  memcpy(out, in->data + in->used, size);
  track(tls, in->data + in->used, size);
  in->used += size;
  return (int)size;
}

/* Takes everything: a BIO that asked for a retry would lose an alert for ever. */
static int window_write(BIO *bio, const char *data, int len) {
  sst__tls *tls = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (len <= 0) return 0;
  if (tls->wire == NULL || !sst__output_write(tls->wire, (const uint8_t *)data, (size_t)len)) {
    tls->no_memory = true;
    return -1;
  }
  return len;
}

static long window_control(BIO *bio, int command, long number, void *pointer) {
  (void)bio, (void)number, (void)pointer;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

static pthread_mutex_t method_lock = PTHREAD_MUTEX_INITIALIZER;
static BIO_METHOD *made_method;

/* Made once in a process and never freed. Not pthread_once: a try that found no memory may be repeated. */
static const BIO_METHOD *window_method(void) {
  pthread_mutex_lock(&method_lock);
  if (made_method == NULL) {
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "securestream window");
    if (method != NULL) {
      BIO_meth_set_read(method, window_read);
      BIO_meth_set_write(method, window_write);
      BIO_meth_set_ctrl(method, window_control);
      made_method = method;
    }
  }
  pthread_mutex_unlock(&method_lock);
  return made_method;
}

bool sst__window_attach(sst__tls *tls) {
  const BIO_METHOD *method = window_method();
  BIO *bio = method == NULL ? NULL : BIO_new(method);
  if (bio == NULL) return false;
  BIO_set_data(bio, tls);
  BIO_set_init(bio, 1);
  SSL_set_bio(tls->ssl, bio, bio);
  return true;
}
