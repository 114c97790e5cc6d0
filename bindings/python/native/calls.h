/*
 * calls.h: the calls that move bytes, and the release of handles, as functions of the raw module.
 *
 * SWIG's own wrappers would do, but these run for each record: arguments come by METH_FASTCALL, the result is one flat
 * object, and the GIL is given up where that pays.
 */
#ifndef SST_PYTHON_CALLS_H
#define SST_PYTHON_CALLS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <securestream.h>

/* Adds the functions and the type Progress to module. 0, or -1 with an exception. */
int calls_add(PyObject *module);

/* What a call did: Progress(status, consumed, produced, needed, waiting, flags). */
PyObject *calls_progress(sst_status status, const sst_progress *progress);

#endif
