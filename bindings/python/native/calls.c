#include "calls.h"

#include <limits.h>
#include <stdbool.h>

#include "handle.h"

enum {
  RANGES = 64,        /* of decrypt_in_place, without an allocation */
  RANGES_MAX = 65536, /* per call */
  VIEWS = 3,
};

static PyTypeObject *progress_type;

static PyStructSequence_Field progress_fields[] = {
    {"status", "SST_x: what the next step needs"},
    {"consumed", "bytes of the input that may be forgotten"},
    {"produced", "bytes written to the output"},
    {"needed", "bytes of input that are missing, or a room that makes progress"},
    {"waiting", "wire bytes to flush; after decrypt: plaintext kept"},
    {"flags", "SST_HAS_x"},
    {NULL, NULL}};

static PyObject *number(size_t n) {
  return n <= LONG_MAX ? PyLong_FromLong((long)n) : PyLong_FromSize_t(n);
}

/* False: there is no value, because there was no memory for it. */
static bool set(PyObject *sequence, Py_ssize_t index, PyObject *value) {
  if (value) PyStructSequence_SetItem(sequence, index, value);
  return value != NULL;
}

PyObject *calls_progress(sst_status status, const sst_progress *progress) {
  PyObject *result = PyStructSequence_New(progress_type);
  if (!result) return NULL;
  if (set(result, 0, PyLong_FromLong(status)) && set(result, 1, number(progress->consumed)) &&
      set(result, 2, number(progress->produced)) && set(result, 3, number(progress->needed)) &&
      set(result, 4, number(progress->waiting)) && set(result, 5, PyLong_FromUnsignedLong(progress->flags)))
    return result;
  Py_DECREF(result);
  return NULL;
}

/* One call: its turn on the stream, the buffers held while it runs, and what it did. */
typedef struct call {
  handle_turn turn;
  sst_stream *stream;
  int num_views;
  Py_buffer views[VIEWS];
  sst_progress progress;
} call;

static bool has_arguments(const char *name, Py_ssize_t given, Py_ssize_t wanted) {
  if (given != wanted) PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", name, wanted, given);
  return given == wanted;
}

static void release_views(call *c) {
  while (c->num_views > 0)
    PyBuffer_Release(&c->views[--c->num_views]);
}

/* Holds objects as buffers, the last one for writing. Where it fails nothing is held. */
static bool hold(call *c, PyObject *const *objects, int num_objects) {
  c->num_views = 0;
  for (int i = 0; i < num_objects; i++) {
    const int flags = i == num_objects - 1 ? PyBUF_WRITABLE : PyBUF_SIMPLE;
    if (PyObject_GetBuffer(objects[i], &c->views[i], flags) != 0) {
      release_views(c);
      return false;
    }
    c->num_views++;
  }
  return true;
}

/* Takes the turn for work of so many bytes; between it and end the GIL may be given up. */
static bool begin(call *c, PyObject *stream, int sides, size_t work) {
  c->stream = handle_enter(&c->turn, stream, sides, work);
  if (!c->stream) release_views(c);
  return c->stream != NULL;
}

static void end(call *c) {
  handle_leave(&c->turn);
  release_views(c);
}

static PyObject *finish(call *c, sst_status status) {
  end(c);
  return calls_progress(status, &c->progress);
}

#define LENGTH(c, i) (size_t)(c).views[i].len
#define VIEW(c, i) (c).views[i].buf, LENGTH(c, i) /* as pointer and length */

static PyObject *call_handshake(PyObject *module, PyObject *const *args, Py_ssize_t n) {
  call c;
  (void)module;
  if (!has_arguments("sst_stream_handshake", n, 3)) return NULL;
  if (!hold(&c, args + 1, 2) || !begin(&c, args[0], HANDLE_SENDING | HANDLE_RECEIVING, HANDLE_MUCH)) return NULL;
  return finish(&c, sst_stream_handshake(c.stream, VIEW(c, 0), VIEW(c, 1), &c.progress));
}

static PyObject *call_encrypt(PyObject *module, PyObject *const *args, Py_ssize_t n) {
  call c;
  (void)module;
  if (!has_arguments("sst_stream_encrypt", n, 3)) return NULL;
  if (!hold(&c, args + 1, 2) || !begin(&c, args[0], HANDLE_SENDING, LENGTH(c, 0))) return NULL;
  return finish(&c, sst_stream_encrypt(c.stream, VIEW(c, 0), VIEW(c, 1), &c.progress));
}

static PyObject *call_encrypt2(PyObject *module, PyObject *const *args, Py_ssize_t n) {
  call c;
  (void)module;
  if (!has_arguments("sst_stream_encrypt2", n, 4)) return NULL;
  if (!hold(&c, args + 1, 3) || !begin(&c, args[0], HANDLE_SENDING, LENGTH(c, 0) + LENGTH(c, 1))) return NULL;
  return finish(&c, sst_stream_encrypt2(c.stream, VIEW(c, 0), VIEW(c, 1), VIEW(c, 2), &c.progress));
}

static PyObject *call_decrypt(PyObject *module, PyObject *const *args, Py_ssize_t n) {
  call c;
  (void)module;
  if (!has_arguments("sst_stream_decrypt", n, 3)) return NULL;
  if (!hold(&c, args + 1, 2) || !begin(&c, args[0], HANDLE_RECEIVING, LENGTH(c, 0))) return NULL;
  return finish(&c, sst_stream_decrypt(c.stream, VIEW(c, 0), VIEW(c, 1), &c.progress));
}

static PyObject *call_flush(PyObject *module, PyObject *const *args, Py_ssize_t n) {
  call c;
  (void)module;
  if (!has_arguments("sst_stream_flush", n, 2)) return NULL;
  if (!hold(&c, args + 1, 1) || !begin(&c, args[0], HANDLE_SENDING, 0)) return NULL;
  return finish(&c, sst_stream_flush(c.stream, VIEW(c, 0), &c.progress));
}

static PyObject *call_close(PyObject *module, PyObject *const *args, Py_ssize_t n) {
  call c;
  (void)module;
  if (!has_arguments("sst_stream_close", n, 2)) return NULL;
  if (!hold(&c, args + 1, 1) || !begin(&c, args[0], HANDLE_SENDING, 0)) return NULL;
  return finish(&c, sst_stream_close(c.stream, VIEW(c, 0), &c.progress));
}

/* ((offset, length), ...) */
static PyObject *list_ranges(const sst_range *ranges, size_t used) {
  PyObject *result = PyTuple_New((Py_ssize_t)used);
  for (size_t i = 0; result && i < used; i++) {
    PyObject *pair = PyTuple_New(2), *offset = number(ranges[i].offset), *length = number(ranges[i].length);
    if (!pair || !offset || !length) {
      Py_XDECREF(pair);
      Py_XDECREF(offset);
      Py_XDECREF(length);
      Py_CLEAR(result);
      break;
    }
    PyTuple_SetItem(pair, 0, offset);
    PyTuple_SetItem(pair, 1, length);
    PyTuple_SetItem(result, (Py_ssize_t)i, pair);
  }
  return result;
}

static PyObject *in_place(PyObject *stream, PyObject *const *buffer, sst_range *ranges, size_t num_ranges) {
  call c;
  size_t used = 0;
  if (!hold(&c, buffer, 1) || !begin(&c, stream, HANDLE_RECEIVING, LENGTH(c, 0))) return NULL;
  const sst_status status = sst_stream_decrypt_in_place(c.stream, VIEW(c, 0), ranges, num_ranges, &used, &c.progress);
  end(&c);
  PyObject *list = list_ranges(ranges, used);
  PyObject *done = list ? calls_progress(status, &c.progress) : NULL;
  PyObject *result = done ? PyTuple_Pack(2, done, list) : NULL;
  Py_XDECREF(done);
  Py_XDECREF(list);
  return result;
}

static PyObject *call_decrypt_in_place(PyObject *module, PyObject *const *args, Py_ssize_t n) {
  (void)module;
  if (!has_arguments("sst_stream_decrypt_in_place", n, 3)) return NULL;
  const size_t num_ranges = PyLong_AsSize_t(args[2]);
  if (PyErr_Occurred()) return NULL;
  sst_range few[RANGES];
  if (num_ranges <= RANGES) return in_place(args[0], args + 1, few, num_ranges);
  if (num_ranges > RANGES_MAX) return PyErr_Format(PyExc_ValueError, "more than %d ranges", RANGES_MAX);
  sst_range *many = PyMem_Malloc(num_ranges * sizeof *many);
  if (!many) return PyErr_NoMemory();
  PyObject *result = in_place(args[0], args + 1, many, num_ranges);
  PyMem_Free(many);
  return result;
}

#define RELEASE(type, kind)                                             \
  static PyObject *release_##type(PyObject *module, PyObject *object) { \
    (void)module;                                                       \
    return handle_release(object, kind);                                \
  }
RELEASE(credential, HANDLE_CREDENTIAL)
RELEASE(trust, HANDLE_TRUST)
RELEASE(ticket_keys, HANDLE_TICKET_KEYS)
RELEASE(config, HANDLE_CONFIG)
RELEASE(negotiate_config, HANDLE_NEGOTIATE_CONFIG)
RELEASE(session, HANDLE_SESSION)
RELEASE(stream, HANDLE_STREAM)

#define FAST(name, function, text) {name, (PyCFunction)(void (*)(void))function, METH_FASTCALL, text}

static PyMethodDef methods[] = {FAST("sst_stream_handshake", call_handshake, "(stream, in, out) -> Progress"),
                                FAST("sst_stream_encrypt", call_encrypt, "(stream, in, out) -> Progress"),
                                FAST("sst_stream_encrypt2", call_encrypt2, "(stream, head, body, out) -> Progress"),
                                FAST("sst_stream_decrypt", call_decrypt, "(stream, in, out) -> Progress"),
                                FAST("sst_stream_decrypt_in_place", call_decrypt_in_place,
                                     "(stream, buf, num_ranges) -> (Progress, ((offset, length), ...))"),
                                FAST("sst_stream_flush", call_flush, "(stream, out) -> Progress"),
                                FAST("sst_stream_close", call_close, "(stream, out) -> Progress"),
                                {"sst_credential_free", release_credential, METH_O, "(credential) -> None"},
                                {"sst_trust_free", release_trust, METH_O, "(trust) -> None"},
                                {"sst_ticket_keys_free", release_ticket_keys, METH_O, "(keys) -> None"},
                                {"sst_config_free", release_config, METH_O, "(config) -> None"},
                                {"sst_negotiate_config_free", release_negotiate_config, METH_O, "(config) -> None"},
                                {"sst_session_free", release_session, METH_O, "(session) -> None"},
                                {"sst_stream_free", release_stream, METH_O, "(stream) -> None"},
                                {NULL, NULL, 0, NULL}};

int calls_add(PyObject *module) {
  PyStructSequence_Desc description = {.name = "securestream._native.Progress",
                                       .doc = "What a call did.",
                                       .fields = progress_fields,
                                       .n_in_sequence = 6};
  if (!progress_type) progress_type = PyStructSequence_NewType(&description);
  if (!progress_type || PyModule_AddType(module, progress_type) != 0) return -1;
  return PyModule_AddFunctions(module, methods);
}
