#include "handle.h"

#include <securestream.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

struct handle {
  PyObject_HEAD handle_kind kind;
  bool released;
  int busy;       /* sides on which a thread is in a call without the GIL */
  unsigned users; /* threads between handle_enter and handle_leave */
  pid_t owner;
  void *pointer;
  PyThread_type_lock locks[2]; /* a stream's: held while that side is busy. All else is guarded by the GIL */
};

static PyTypeObject *types[HANDLE_KINDS];

static const char *const names[HANDLE_KINDS] = {
    "securestream._native.CredentialHandle",      "securestream._native.TrustHandle",
    "securestream._native.TicketKeysHandle",      "securestream._native.ConfigHandle",
    "securestream._native.NegotiateConfigHandle", "securestream._native.SessionHandle",
    "securestream._native.StreamHandle"};

static void free_pointer(handle_kind kind, void *pointer) {
  switch (kind) {
    case HANDLE_CREDENTIAL:
      sst_credential_free(pointer);
      return;
    case HANDLE_TRUST:
      sst_trust_free(pointer);
      return;
    case HANDLE_TICKET_KEYS:
      sst_ticket_keys_free(pointer);
      return;
    case HANDLE_CONFIG:
      sst_config_free(pointer);
      return;
    case HANDLE_NEGOTIATE_CONFIG:
      sst_negotiate_config_free(pointer);
      return;
    case HANDLE_SESSION:
      sst_session_free(pointer);
      return;
    case HANDLE_STREAM:
      sst_stream_free(pointer);
      return;
    case HANDLE_KINDS:
      return;
  }
}

static void drop(handle *h) {
  free_pointer(h->kind, h->pointer);
  h->pointer = NULL;
}

static void handle_dealloc(PyObject *object) {
  handle *h = (handle *)object;
  PyTypeObject *type = Py_TYPE(object);
  /* A daemon thread that the end of the interpreter has stopped inside a call may still hold the stream. */
  if (h->users == 0) {
    drop(h);
    for (int i = 0; i < 2; i++)
      if (h->locks[i]) PyThread_free_lock(h->locks[i]);
  }
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

int handle_add_types(PyObject *module) {
  PyType_Slot slots[] = {{Py_tp_dealloc, (void *)handle_dealloc}, {0, NULL}};
  for (int kind = 0; kind < HANDLE_KINDS; kind++) {
    PyType_Spec spec = {.name = names[kind],
                        .basicsize = sizeof(handle),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                        .slots = slots};
    if (!types[kind]) types[kind] = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!types[kind] || PyModule_AddType(module, types[kind]) != 0) return -1;
  }
  return 0;
}

static handle *allocate(handle_kind kind) {
  handle *h = (handle *)((allocfunc)PyType_GetSlot(types[kind], Py_tp_alloc))(types[kind], 0);
  if (!h) return NULL;
  h->kind = kind;
  h->owner = getpid();
  for (int i = 0; kind == HANDLE_STREAM && i < 2; i++) {
    h->locks[i] = PyThread_allocate_lock();
    if (h->locks[i]) continue;
    Py_DECREF((PyObject *)h);
    PyErr_NoMemory();
    return NULL;
  }
  return h;
}

PyObject *handle_new(handle_kind kind, void *pointer) {
  if (!pointer) Py_RETURN_NONE;
  handle *h = allocate(kind);
  if (!h)
    free_pointer(kind, pointer);
  else
    h->pointer = pointer;
  return (PyObject *)h;
}

static handle *checked(PyObject *object, handle_kind kind) {
  if (Py_TYPE(object) != types[kind]) {
    PyErr_Format(PyExc_TypeError, "a %s is needed, not %R", strrchr(names[kind], '.') + 1, (PyObject *)Py_TYPE(object));
    return NULL;
  }
  handle *h = (handle *)object;
  if (!h->released) return h;
  PyErr_Format(PyExc_ValueError, "the %s is released", strrchr(names[kind], '.') + 1);
  return NULL;
}

void *handle_pointer(PyObject *object, handle_kind kind) {
  handle *h = object == Py_None ? NULL : checked(object, kind);
  return h ? h->pointer : NULL;
}

PyObject *handle_release(PyObject *object, handle_kind kind) {
  if (object == Py_None) Py_RETURN_NONE;
  if (Py_TYPE(object) != types[kind]) return (PyObject *)checked(object, kind);
  handle *h = (handle *)object;
  h->released = true;
  if (h->users == 0) drop(h);
  Py_RETURN_NONE;
}

/* The lock is only to wait on: busy, under the GIL, says who may go on. In a forked child a busy thread may not exist,
   and the library refuses the call anyhow: no lock is touched there. */
static void wait_for(const handle *h, int sides) {
  while ((h->busy & sides) && getpid() == h->owner) {
    const PyThread_type_lock lock = h->locks[h->busy & sides & HANDLE_SENDING ? 0 : 1];
    Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(lock, WAIT_LOCK);
    PyThread_release_lock(lock);
    Py_END_ALLOW_THREADS
  }
}

static void give_up_gil(handle_turn *turn, int sides) {
  handle *h = turn->owner;
  if (getpid() != h->owner) return;
  for (int i = 0; i < 2; i++)
    if (sides & 1 << i) PyThread_acquire_lock(h->locks[i], WAIT_LOCK);
  h->busy |= sides;
  turn->sides = sides;
  turn->outside = PyEval_SaveThread();
}

void *handle_enter(handle_turn *turn, PyObject *object, int sides, size_t work) {
  handle *h = checked(object, HANDLE_STREAM);
  if (!h) return NULL;
  *turn = (handle_turn){.owner = h};
  h->users++;
  wait_for(h, sides);
  if (h->released) {
    handle_leave(turn);
    checked(object, HANDLE_STREAM);
    return NULL;
  }
  if (work >= HANDLE_MUCH) give_up_gil(turn, sides);
  return h->pointer;
}

void handle_leave(handle_turn *turn) {
  handle *h = turn->owner;
  if (turn->outside) PyEval_RestoreThread(turn->outside);
  h->busy &= ~turn->sides;
  for (int i = 0; i < 2; i++)
    if (turn->sides & 1 << i) PyThread_release_lock(h->locks[i]);
  if (--h->users == 0 && h->released) drop(h);
}
