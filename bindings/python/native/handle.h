/*
 * handle.h: the objects of the library as Python objects.
 *
 * A handle owns one reference (a stream: the stream) and drops it when it is collected, or earlier by handle_release. It
 * has no attribute and no method: it is what the functions of the raw module take and give.
 */
#ifndef SST_PYTHON_HANDLE_H
#define SST_PYTHON_HANDLE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef enum handle_kind {
  HANDLE_CREDENTIAL,
  HANDLE_TRUST,
  HANDLE_TICKET_KEYS,
  HANDLE_CONFIG,
  HANDLE_NEGOTIATE_CONFIG,
  HANDLE_SESSION,
  HANDLE_STREAM,
  HANDLE_KINDS
} handle_kind;

/* The two sides of a stream, as in section 1 of the header. A handshake takes both. */
enum { HANDLE_SENDING = 1, HANDLE_RECEIVING = 2 };

typedef struct handle handle;

/* Makes the types, once, and adds them to module. 0, or -1 with an exception. */
int handle_add_types(PyObject *module);

/* A new handle that owns pointer; None for NULL. Without memory pointer is freed. */
PyObject *handle_new(handle_kind kind, void *pointer);

/* The pointer inside; NULL for None. Else NULL with an exception: another type, or released. */
void *handle_pointer(PyObject *object, handle_kind kind);

/* Frees what object owns now; while another thread is in a call on it, when that has ended. Again, and None: nothing. */
PyObject *handle_release(PyObject *object, handle_kind kind);

/*
 * A turn is one call on a stream. With work from 4 KiB on it gives up the GIL, for less costs less than that; a second
 * thread on the same side then waits until the first is back. Between handle_enter and handle_leave the stream is not
 * freed. handle_enter returns the stream, or NULL with an exception.
 */
enum { HANDLE_MUCH = 4096 };

typedef struct handle_turn {
  handle *owner;
  int sides;              /* that are marked as busy */
  PyThreadState *outside; /* NULL: the GIL is held */
} handle_turn;

void *handle_enter(handle_turn *turn, PyObject *object, int sides, size_t work);
void handle_leave(handle_turn *turn);

#endif
