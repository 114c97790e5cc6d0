/*
 * values.h: values of Python as values of C, and back. For the typemaps of securestream.i.
 */
#ifndef SST_PYTHON_VALUES_H
#define SST_PYTHON_VALUES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <securestream.h>
#include <stdbool.h>

/* Text of a str (as UTF-8), of bytes, or of another buffer; None is empty. What is held is given up by values_drop. */
typedef struct value_text {
  Py_buffer view;
  const char *bytes;
  size_t len;
} value_text;

bool values_text(PyObject *object, value_text *text);

/* A sequence of numbers 0 to 65535. *numbers is of PyMem. */
bool values_numbers(PyObject *object, uint16_t **numbers, size_t *num_numbers);

/* A sequence of buffers, held. */
typedef struct value_slices {
  Py_ssize_t num;
  Py_buffer *views;
  sst_slice *list;
} value_slices;

bool values_slices(PyObject *object, value_slices *slices);
void values_drop_slices(value_slices *slices);

/* Room for a getter: first on the stack, then as large as the library says. */
typedef struct value_room {
  void *data;
  size_t cap;   /* bytes */
  size_t len;   /* units, from the library */
  void *larger; /* of PyMem */
  uint64_t small[64];
} value_room;

void values_room(value_room *room);
/* Makes room for len units; false with an exception. */
bool values_grow(value_room *room, size_t unit);
/* What was written, as a list of numbers. */
PyObject *values_list(const value_room *room);

PyObject *values_error(const sst_error *error);
PyObject *values_event(const sst_event *event);
PyObject *values_stream_info(const sst_stream_info *info);
PyObject *values_session_info(const sst_session_info *info);
PyObject *values_negotiate_info(const sst_negotiate_info *info);

/* Makes *result a tuple that ends in value; takes both references. */
void values_append(PyObject **result, PyObject *value);

#endif
