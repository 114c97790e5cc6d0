#include "values.h"

#include <string.h>

bool values_text(PyObject *object, value_text *text) {
  text->view.obj = NULL;
  text->bytes = NULL;
  text->len = 0;
  if (object == Py_None) return true;
  if (PyUnicode_Check(object)) {
    Py_ssize_t len;
    text->bytes = PyUnicode_AsUTF8AndSize(object, &len); /* lives as long as object */
    text->len = text->bytes ? (size_t)len : 0;
    return text->bytes != NULL;
  }
  if (PyObject_GetBuffer(object, &text->view, PyBUF_SIMPLE) != 0) return false;
  text->bytes = text->view.buf;
  text->len = (size_t)text->view.len;
  return true;
}

/* A list of object's items; bytes and text are sequences too, but surely not what was meant. */
static PyObject *items(PyObject *object, const char *what) {
  if (!PyUnicode_Check(object) && !PyBytes_Check(object) && !PyByteArray_Check(object) && !PyMemoryView_Check(object))
    return PySequence_List(object);
  return PyErr_Format(PyExc_TypeError, "a sequence of %s is needed", what);
}

bool values_numbers(PyObject *object, uint16_t **numbers, size_t *num_numbers) {
  *numbers = NULL;
  *num_numbers = 0;
  PyObject *list = items(object, "numbers");
  if (!list) return false;
  const Py_ssize_t num = PyList_Size(list);
  *numbers = PyMem_Malloc((size_t)num * sizeof **numbers);
  if (!*numbers) PyErr_NoMemory();
  for (Py_ssize_t i = 0; *numbers && i < num; i++) {
    const long n = PyLong_AsLong(PyList_GetItem(list, i));
    if ((n < 0 || n > UINT16_MAX) && !PyErr_Occurred())
      PyErr_Format(PyExc_OverflowError, "%ld is not a number from 0 to 65535", n);
    if (PyErr_Occurred()) break;
    (*numbers)[i] = (uint16_t)n;
  }
  *num_numbers = (size_t)num;
  Py_DECREF(list);
  return !PyErr_Occurred();
}

bool values_slices(PyObject *object, value_slices *slices) {
  memset(slices, 0, sizeof *slices);
  PyObject *list = items(object, "buffers");
  if (!list) return false;
  const Py_ssize_t num = PyList_Size(list);
  slices->views = PyMem_Calloc((size_t)num, sizeof *slices->views);
  slices->list = PyMem_Calloc((size_t)num, sizeof *slices->list);
  if (!slices->views || !slices->list) PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < num && !PyErr_Occurred(); i++) {
    Py_buffer *view = &slices->views[i];
    if (PyObject_GetBuffer(PyList_GetItem(list, i), view, PyBUF_SIMPLE) != 0) break;
    slices->list[i] = (sst_slice){.data = view->buf, .length = (size_t)view->len};
    slices->num++;
  }
  Py_DECREF(list);
  return !PyErr_Occurred();
}

void values_drop_slices(value_slices *slices) {
  while (slices->num > 0)
    PyBuffer_Release(&slices->views[--slices->num]);
  PyMem_Free(slices->views);
  PyMem_Free(slices->list);
}

void values_room(value_room *room) {
  room->data = room->small;
  room->cap = sizeof room->small;
  room->len = 0;
  room->larger = NULL;
}

bool values_grow(value_room *room, size_t unit) {
  void *larger = room->len <= PY_SSIZE_T_MAX / unit ? PyMem_Realloc(room->larger, room->len * unit) : NULL;
  if (!larger) {
    PyErr_NoMemory();
    return false;
  }
  room->data = room->larger = larger;
  room->cap = room->len * unit;
  return true;
}

PyObject *values_list(const value_room *room) {
  const uint16_t *numbers = room->data;
  PyObject *list = PyList_New((Py_ssize_t)room->len);
  for (size_t i = 0; list && i < room->len; i++) {
    PyObject *n = PyLong_FromLong(numbers[i]);
    if (!n || PyList_SetItem(list, (Py_ssize_t)i, n) != 0) Py_CLEAR(list);
  }
  return list;
}

PyObject *values_error(const sst_error *error) {
  const size_t len = strnlen(error->message, sizeof error->message);
  PyObject *message = PyUnicode_DecodeUTF8(error->message, (Py_ssize_t)len, "replace");
  if (!message) return NULL;
  return Py_BuildValue("(iiiKLN)", (int)error->code, (int)error->alert_sent, (int)error->alert_received,
                       (unsigned long long)error->reasons, (long long)error->detail, message);
}

PyObject *values_event(const sst_event *event) {
  return Py_BuildValue("(IKKK)", (unsigned)event->kind, (unsigned long long)event->value,
                       (unsigned long long)event->lost, (unsigned long long)event->length);
}

PyObject *values_stream_info(const sst_stream_info *info) {
  return Py_BuildValue("(iiiiiI)", info->version, info->suite, info->group, info->peer_scheme, info->local_scheme,
                       (unsigned)info->flags);
}

PyObject *values_session_info(const sst_session_info *info) {
  return Py_BuildValue("(iiKKII)", info->version, info->suite, (unsigned long long)info->created_unix_s,
                       (unsigned long long)info->expires_unix_s, (unsigned)info->flags, (unsigned)info->max_early_data);
}

PyObject *values_negotiate_info(const sst_negotiate_info *info) {
  return Py_BuildValue("(iiiI)", (int)info->level, (int)info->impersonation, (int)info->mechanism,
                       (unsigned)info->flags);
}

void values_append(PyObject **result, PyObject *value) {
  PyObject *head = *result, *tuple = NULL;
  const bool is_tuple = head && PyTuple_Check(head);
  const Py_ssize_t num = is_tuple ? PyTuple_Size(head) : 1;
  if (head && value) tuple = PyTuple_New(num + 1);
  for (Py_ssize_t i = 0; tuple && i < num; i++) {
    PyObject *item = is_tuple ? PyTuple_GetItem(head, i) : head;
    Py_INCREF(item);
    PyTuple_SetItem(tuple, i, item);
  }
  Py_XDECREF(head);
  if (tuple)
    PyTuple_SetItem(tuple, num, value);
  else
    Py_XDECREF(value);
  *result = tuple;
}
