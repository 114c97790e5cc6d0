/*
 * securestream.i: the typemaps of Python. What comes out is the raw module securestream._native: flat functions with the
 * names of the header, and its constants. Nothing here raises for a status: that is for the layer above.
 *
 *   objects         handles that free themselves (native/handle.h); None is NULL where the header takes NULL
 *   input           any C-contiguous buffer, held through the call; text also as str, None is empty
 *   output room     any writable C-contiguous buffer
 *   lists           sequences
 *   getters         (status, bytes), or (status, [numbers]); "none" is empty
 *   structs         tuples of their members, without size and reserved, behind the status
 *   progress        Progress(status, consumed, produced, needed, waiting, flags)
 */
%module _native

%{
#include "calls.h"
#include "handle.h"
#include "values.h"
%}

%include <stdint.i>

/* Objects. */
%define HANDLE(type, kind)
%typemap(in) type * {
  $1 = handle_pointer($input, kind);
  if (!$1 && $input != Py_None) SWIG_fail;
}
%typemap(out) type * {
  $result = handle_new(kind, $1);
}
%enddef
HANDLE(sst_credential, HANDLE_CREDENTIAL)
HANDLE(sst_trust, HANDLE_TRUST)
HANDLE(sst_ticket_keys, HANDLE_TICKET_KEYS)
HANDLE(sst_config, HANDLE_CONFIG)
HANDLE(sst_negotiate_config, HANDLE_NEGOTIATE_CONFIG)
HANDLE(sst_session, HANDLE_SESSION)
HANDLE(sst_stream, HANDLE_STREAM)

%typemap(in, numinputs=0) sst_stream **NEW_STREAM (sst_stream *made) {
  made = NULL;
  $1 = &made;
}
%typemap(argout) sst_stream **NEW_STREAM {
  values_append(&$result, handle_new(HANDLE_STREAM, made$argnum));
}

/* Input. */
%typemap(arginit) (const uint8_t *BYTES, size_t BYTES_LEN) {
  view$argnum.obj = NULL;
}
%typemap(in) (const uint8_t *BYTES, size_t BYTES_LEN) (Py_buffer view) {
  if (PyObject_GetBuffer($input, &view, PyBUF_SIMPLE) != 0) SWIG_fail;
  $1 = view.buf;
  $2 = (size_t)view.len;
}
%typemap(freearg) (const uint8_t *BYTES, size_t BYTES_LEN) {
  PyBuffer_Release(&view$argnum);
}

/* None is none; a buffer without bytes is one, wherever it lies. */
%typemap(arginit) (const uint8_t *MAYBE, size_t MAYBE_LEN) {
  view$argnum.obj = NULL;
}
%typemap(in) (const uint8_t *MAYBE, size_t MAYBE_LEN) (Py_buffer view) {
  $1 = NULL;
  $2 = 0;
  if ($input != Py_None) {
    if (PyObject_GetBuffer($input, &view, PyBUF_SIMPLE) != 0) SWIG_fail;
    $1 = view.buf != NULL ? view.buf : (void *)"";
    $2 = (size_t)view.len;
  }
}
%typemap(freearg) (const uint8_t *MAYBE, size_t MAYBE_LEN) {
  PyBuffer_Release(&view$argnum);
}

%typemap(arginit) (const char *TEXT, size_t TEXT_LEN) {
  text$argnum.view.obj = NULL;
}
%typemap(in) (const char *TEXT, size_t TEXT_LEN) (value_text text) {
  if (!values_text($input, &text)) SWIG_fail;
  $1 = (char *)text.bytes;
  $2 = text.len;
}
%typemap(freearg) (const char *TEXT, size_t TEXT_LEN) {
  PyBuffer_Release(&text$argnum.view);
}

%typemap(arginit) (const uint16_t *NUMBERS, size_t NUM_NUMBERS) {
  $1 = NULL;
}
%typemap(in) (const uint16_t *NUMBERS, size_t NUM_NUMBERS) {
  if (!values_numbers($input, &$1, &$2)) SWIG_fail;
}
%typemap(freearg) (const uint16_t *NUMBERS, size_t NUM_NUMBERS) {
  PyMem_Free($1);
}

%typemap(arginit) (const sst_slice *SLICES, size_t NUM_SLICES) {
  memset(&slices$argnum, 0, sizeof slices$argnum);
}
%typemap(in) (const sst_slice *SLICES, size_t NUM_SLICES) (value_slices slices) {
  if (!values_slices($input, &slices)) SWIG_fail;
  $1 = slices.list;
  $2 = (size_t)slices.num;
}
%typemap(freearg) (const sst_slice *SLICES, size_t NUM_SLICES) {
  values_drop_slices(&slices$argnum);
}

/* Room of the caller. */
%typemap(arginit) (uint8_t *ROOM, size_t ROOM_CAP) {
  room$argnum.obj = NULL;
}
%typemap(in) (uint8_t *ROOM, size_t ROOM_CAP) (Py_buffer room) {
  if (PyObject_GetBuffer($input, &room, PyBUF_WRITABLE) != 0) SWIG_fail;
  $1 = room.buf;
  $2 = (size_t)room.len;
}
%typemap(freearg) (uint8_t *ROOM, size_t ROOM_CAP) {
  PyBuffer_Release(&room$argnum);
}

%apply (uint8_t *ROOM, size_t ROOM_CAP) { (uint8_t *BUFFER, size_t BUFFER_LEN) };
%typemap(in) (sst_range *RANGES, size_t NUM_RANGES, size_t *RANGES_USED) {
  functions_that_fill_ranges_are_written_in_native_calls_c;
}

/* Getters: the call is made again when the library says that it needs more room. Their other arguments are handles and
   numbers, which may be looked at twice. */
%define GETTER(unit, value, type, name)
%typemap(arginit) (type *name, size_t GET_CAP, size_t *GET_LEN) {
  values_room(&room$argnum);
}
%typemap(in, numinputs=0, noblock=1) (type *name, size_t GET_CAP, size_t *GET_LEN) (value_room room) {
again:
  $1 = room.data;
  $2 = room.cap / unit;
  $3 = &room.len;
}
%typemap(argout, noblock=1) (type *name, size_t GET_CAP, size_t *GET_LEN) {
  if (result == SST_NEED_OUTPUT) {
    Py_CLEAR($result);
    if (!values_grow(&room$argnum, unit)) SWIG_fail;
    goto again;
  }
  if (result != SST_OK) room$argnum.len = 0;
  values_append(&$result, value);
}
%typemap(freearg) (type *name, size_t GET_CAP, size_t *GET_LEN) {
  PyMem_Free(room$argnum.larger);
}
%enddef
GETTER(1, PyBytes_FromStringAndSize(room$argnum.data, (Py_ssize_t)room$argnum.len), uint8_t, GET)
GETTER(2, values_list(&room$argnum), uint16_t, GET_NUMBERS)

%typemap(in, numinputs=0) int32_t *operation (int32_t number) {
  number = 0;
  $1 = &number;
}
%typemap(in, numinputs=0) uint16_t *scheme (uint16_t number) {
  number = 0;
  $1 = &number;
}
%typemap(argout) int32_t *operation, uint16_t *scheme {
  values_append(&$result, PyLong_FromLong(number$argnum));
}

/* Structs that are filled. */
%define FILLED(type)
%typemap(in, numinputs=0) sst_ ## type * (sst_ ## type filled) {
  memset(&filled, 0, sizeof filled);
  filled.size = sizeof filled;
  $1 = &filled;
}
%typemap(argout) sst_ ## type * {
  values_append(&$result, values_ ## type(&filled$argnum));
}
%ignore sst_ ## type;
%enddef
FILLED(error)
FILLED(event)
FILLED(stream_info)
FILLED(session_info)
FILLED(negotiate_info)

%typemap(in, numinputs=0) sst_progress *PROGRESS (sst_progress done) {
  $1 = &done;
}
%typemap(argout) sst_progress *PROGRESS {
  Py_CLEAR($result);
  $result = calls_progress(result, &done$argnum);
}
%ignore sst_progress;
%ignore sst_range;
%ignore sst_slice;

/* Calls that take their turn, beside those of native/calls.c. */
%define TURN(function, sides, work)
%exception function {
  handle_turn turn;
  if (!handle_enter(&turn, swig_obj[0], sides, work)) SWIG_fail;
  $action
  handle_leave(&turn);
}
%enddef
TURN(sst_stream_encryptv, HANDLE_SENDING, HANDLE_MUCH)
TURN(sst_stream_abort, HANDLE_SENDING, 0)
TURN(sst_stream_key_update, HANDLE_SENDING, 0)
TURN(sst_stream_input_eof, HANDLE_RECEIVING, 0)

/* Those of native/calls.c. */
%ignore sst_stream_handshake;
%ignore sst_stream_encrypt;
%ignore sst_stream_encrypt2;
%ignore sst_stream_decrypt;
%ignore sst_stream_decrypt_in_place;
%ignore sst_stream_flush;
%ignore sst_stream_close;
%ignore sst_credential_free;
%ignore sst_trust_free;
%ignore sst_ticket_keys_free;
%ignore sst_config_free;
%ignore sst_negotiate_config_free;
%ignore sst_session_free;
%ignore sst_stream_free;

%init %{
  if (handle_add_types(m) != 0 || calls_add(m) != 0) return -1;
%}

%include "../../abi/securestream.i"
