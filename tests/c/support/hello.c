#include "hello.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

typedef struct Reader {
  const uint8_t *at, *end;
} Reader;

static const uint8_t *take(Reader *reader, size_t len) {
  if ((size_t)(reader->end - reader->at) < len) FAIL("the ClientHello is cut off");
  reader->at += len;
  return reader->at - len;
}

static size_t number(Reader *reader, size_t bytes) {
  const uint8_t *at = take(reader, bytes);
  size_t value = 0;
  for (size_t i = 0; i < bytes; i++)
    value = value << 8 | at[i];
  return value;
}

/* A vector behind its length of so many bytes. */
static Reader vector(Reader *reader, size_t bytes) {
  const size_t len = number(reader, bytes);
  const uint8_t *at = take(reader, len);
  return (Reader){at, at + len};
}

static Data join_records(const uint8_t *bytes, size_t len) {
  Data joined = {test_allocate(len), 0};
  for (size_t at = 0; len - at >= RECORD_HEADER && bytes[at] == RECORD_HANDSHAKE;) {
    const size_t payload = (size_t)bytes[at + 3] << 8 | bytes[at + 4];
    if (len - at - RECORD_HEADER < payload) break;
    memcpy(joined.bytes + joined.len, bytes + at + RECORD_HEADER, payload);
    joined.len += payload;
    at += RECORD_HEADER + payload;
  }
  return joined;
}

Hello hello_read(const uint8_t *bytes, size_t len) {
  Hello hello = {.message = join_records(bytes, len)};
  Reader message = {hello.message.bytes, hello.message.bytes + hello.message.len};
  if (number(&message, 1) != 1) FAIL("not a ClientHello");
  Reader body = vector(&message, 3);
  take(&body, 2);
  hello.random = take(&body, 32);
  vector(&body, 1);
  const Reader suites = vector(&body, 2);
  hello.suites = suites.at;
  hello.suites_len = (size_t)(suites.end - suites.at);
  vector(&body, 1);
  const Reader extensions = vector(&body, 2);
  hello.extensions = extensions.at;
  hello.extensions_len = (size_t)(extensions.end - extensions.at);
  return hello;
}

void hello_free(Hello *hello) {
  free(hello->message.bytes);
}

const uint8_t *hello_extension(const Hello *hello, uint16_t type, size_t *len) {
  Reader all = {hello->extensions, hello->extensions + hello->extensions_len};
  while (all.at < all.end) {
    const size_t found = number(&all, 2);
    const Reader body = vector(&all, 2);
    if (found != type) continue;
    *len = (size_t)(body.end - body.at);
    return body.at;
  }
  return NULL;
}

bool hello_server_name(const Hello *hello, char *name, size_t cap) {
  size_t len = 0;
  const uint8_t *body = hello_extension(hello, EXTENSION_SERVER_NAME, &len);
  if (body == NULL) return false;
  Reader extension = {body, body + len};
  Reader list = vector(&extension, 2);
  if (number(&list, 1) != 0) FAIL("not a host name");
  const Reader host = vector(&list, 2);
  const size_t host_len = (size_t)(host.end - host.at);
  if (host_len >= cap || list.at != list.end) FAIL("more than one host name, or a long one");
  memcpy(name, host.at, host_len);
  name[host_len] = '\0';
  return true;
}

size_t hello_list(const Hello *hello, int type, uint16_t *list, size_t cap) {
  Reader numbers = {hello->suites, hello->suites + hello->suites_len};
  if (type >= 0) {
    size_t len = 0;
    const uint8_t *body = hello_extension(hello, (uint16_t)type, &len);
    if (body == NULL) return 0;
    Reader extension = {body, body + len};
    numbers = vector(&extension, type == EXTENSION_SUPPORTED_VERSIONS ? 1 : 2);
  }
  size_t count = 0;
  for (; numbers.at < numbers.end && count < cap; count++)
    list[count] = (uint16_t)number(&numbers, 2);
  return count;
}

Data reframe(const uint8_t *bytes, size_t len, size_t payload) {
  const Data joined = join_records(bytes, len);
  Data out = {test_allocate(joined.len * (RECORD_HEADER + 1)), 0};
  for (size_t at = 0; at < joined.len; at += payload) {
    const size_t part = joined.len - at < payload ? joined.len - at : payload;
    const uint8_t header[RECORD_HEADER] = {RECORD_HANDSHAKE, 3, 1, (uint8_t)(part >> 8), (uint8_t)part};
    memcpy(out.bytes + out.len, header, sizeof header);
    memcpy(out.bytes + out.len + sizeof header, joined.bytes + at, part);
    out.len += sizeof header + part;
  }
  free(joined.bytes);
  return out;
}
