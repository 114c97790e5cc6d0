/*
 * raw.i: the Go face of the public header, for SWIG. script/generate_go makes raw.go and raw_wrap.c from it.
 *
 * Two kinds of function come out of it:
 *  - Set-up calls, facts and answers: by SWIG, from the typemaps below. Input is copied to memory without pointers, so
 *    that cgo's pointer rules hold wherever the caller's slice lies, and the copy is wiped after the call.
 *  - The calls that move bytes: by hand, at the end of this file. They take slices as typed C pointers, which cgo does
 *    not have to search, and give their results by value, so that a call allocates nothing.
 */
%module raw
%include <stdint.i>

%begin %{
#include <securestream.h>
%}
%insert(cgo_comment_typedefs) %{
#include <securestream.h>
%}

/* Constants come as Go constants (constants.go). SWIG would make variables that are read through C when a program
   starts, and structs as objects of the C heap. */
%rename("$ignore", %$isenumitem) "";
%ignore SST_API;
%ignore sst_progress;
%ignore sst_range;
%ignore sst_slice;
%ignore sst_error;
%ignore sst_event;
%ignore sst_stream_info;
%ignore sst_session_info;
%ignore sst_negotiate_info;

/* Bound by hand below, and encryptv not at all: an array of Go pointers may not be passed to C; encrypt2 is for us. */
%ignore sst_stream_handshake;
%ignore sst_stream_encrypt;
%ignore sst_stream_encrypt2;
%ignore sst_stream_encryptv;
%ignore sst_stream_decrypt;
%ignore sst_stream_decrypt_in_place;
%ignore sst_stream_flush;
%ignore sst_stream_close;

/* Numbers. SWIG's size_t is a signed one: with uint there is no negative length. */
%typemap(gotype) int32_t, sst_status "int32"
%typemap(gotype) uint16_t "uint16"
%typemap(gotype) uint32_t "uint32"
%typemap(gotype) int64_t "int64"
%typemap(gotype) uint64_t "uint64"
%typemap(gotype) size_t "uint"
%typemap(gotype) int32_t *operation "*int32"
%typemap(gotype) uint16_t *scheme "*uint16"
%typemap(in) int32_t *operation, uint16_t *scheme %{ $1 = ($1_ltype)$input; %}

/* Static text of the library, ended by NUL. */
%typemap(gotype) const char * "string"
%typemap(imtype, out="*C.char") const char * "*C.char"
%typemap(out) const char * %{ $result = (void *)$1; %}
%typemap(goout) const char * "$result = C.GoString($1)"

/* Objects: pointers to C memory, each kind with a type of its own. */
%define OBJECT(c_type, go_type)
%typemap(gotype) c_type *, const c_type * "*go_type"
%typemap(in) c_type *, const c_type * %{ $1 = ($1_ltype)$input; %}
%typemap(out) c_type * %{ $result = $1; %}
%typemap(goout) c_type * ""
%enddef
OBJECT(sst_credential, Credential)
OBJECT(sst_trust, Trust)
OBJECT(sst_ticket_keys, TicketKeys)
OBJECT(sst_config, Config)
OBJECT(sst_negotiate_config, NegotiateConfig)
OBJECT(sst_session, Session)
OBJECT(sst_stream, Stream)
%typemap(gotype) sst_stream **NEW_STREAM "**Stream"
%typemap(in) sst_stream **NEW_STREAM %{ $1 = ($1_ltype)$input; %}

/* Structs that a call fills: Go structs of the same layout, which the compiler compares (at the end). */
%define STRUCT(c_type, go_type)
%typemap(gotype) c_type * "*go_type"
%typemap(in) c_type * %{ $1 = ($1_ltype)$input; %}
%enddef
STRUCT(sst_error, Error)
STRUCT(sst_event, Event)
STRUCT(sst_stream_info, StreamInfo)
STRUCT(sst_session_info, SessionInfo)
STRUCT(sst_negotiate_info, NegotiateInfo)

/* Input. */
%typemap(gotype) (const uint8_t *BYTES, size_t BYTES_LEN) "[]byte"
%typemap(imtype) (const uint8_t *BYTES, size_t BYTES_LEN) "[]byte"
%typemap(goin) (const uint8_t *BYTES, size_t BYTES_LEN) %{
	$result = append([]byte(nil), $input...)
	defer clear($result)
%}
%typemap(in) (const uint8_t *BYTES, size_t BYTES_LEN) %{
  $1 = ($1_ltype)$input.array;
  $2 = (size_t)$input.len;
%}
%typemap(gotype) (const uint8_t *MAYBE, size_t MAYBE_LEN) "[]byte"
%typemap(imtype) (const uint8_t *MAYBE, size_t MAYBE_LEN) "[]byte"
%typemap(goin) (const uint8_t *MAYBE, size_t MAYBE_LEN) %{
	if $input != nil {
		$result = append(make([]byte, 0, len($input)+1), $input...)
		defer clear($result)
	}
%}
%typemap(in) (const uint8_t *MAYBE, size_t MAYBE_LEN) %{
  $1 = ($1_ltype)$input.array;
  $2 = (size_t)$input.len;
%}
%typemap(gotype) (const char *TEXT, size_t TEXT_LEN) "string"
%typemap(imtype) (const char *TEXT, size_t TEXT_LEN) "string"
%typemap(goin) (const char *TEXT, size_t TEXT_LEN) "$result = $input"
%typemap(in) (const char *TEXT, size_t TEXT_LEN) %{
  $1 = ($1_ltype)$input.p;
  $2 = (size_t)$input.n;
%}
%typemap(gotype) (const uint16_t *NUMBERS, size_t NUM_NUMBERS) "[]uint16"
%typemap(imtype) (const uint16_t *NUMBERS, size_t NUM_NUMBERS) "[]uint16"
%typemap(goin) (const uint16_t *NUMBERS, size_t NUM_NUMBERS) "$result = append([]uint16(nil), $input...)"
%typemap(in) (const uint16_t *NUMBERS, size_t NUM_NUMBERS) %{
  $1 = ($1_ltype)$input.array;
  $2 = (size_t)$input.len;
%}

/* Output. A Room begins with the number of units that the call wrote or needs. */
%typemap(gotype) (uint8_t *GET, size_t GET_CAP, size_t *GET_LEN) "*Room"
%typemap(imtype) (uint8_t *GET, size_t GET_CAP, size_t *GET_LEN) "[]uint64"
%typemap(goin) (uint8_t *GET, size_t GET_CAP, size_t *GET_LEN) "$result = $input.words"
%typemap(in) (uint8_t *GET, size_t GET_CAP, size_t *GET_LEN) %{
  $3 = (size_t *)$input.array;
  $1 = (uint8_t *)($3 + 1);
  $2 = ((size_t)$input.len - 1) * sizeof(uint64_t);
%}
%typemap(gotype) (uint16_t *GET_NUMBERS, size_t GET_CAP, size_t *GET_LEN) "*Room"
%typemap(imtype) (uint16_t *GET_NUMBERS, size_t GET_CAP, size_t *GET_LEN) "[]uint64"
%typemap(goin) (uint16_t *GET_NUMBERS, size_t GET_CAP, size_t *GET_LEN) "$result = $input.words"
%typemap(in) (uint16_t *GET_NUMBERS, size_t GET_CAP, size_t *GET_LEN) %{
  $3 = (size_t *)$input.array;
  $1 = (uint16_t *)($3 + 1);
  $2 = ((size_t)$input.len - 1) * (sizeof(uint64_t) / sizeof(uint16_t));
%}
%typemap(gotype) (uint8_t *ROOM, size_t ROOM_CAP) "[]byte"
%typemap(imtype) (uint8_t *ROOM, size_t ROOM_CAP) "[]byte"
%typemap(goin) (uint8_t *ROOM, size_t ROOM_CAP) %{
	$result = make([]byte, len($input))
	defer func() { copy($input, $result); clear($result) }()
%}
%typemap(in) (uint8_t *ROOM, size_t ROOM_CAP) %{
  $1 = ($1_ltype)$input.array;
  $2 = (size_t)$input.len;
%}

/* Only the calls below have these. A new function that has them does not compile, until it is bound by hand too. */
%typemap(gotype) (uint8_t *BUFFER, size_t BUFFER_LEN) "boundByHand"
%typemap(gotype) (sst_range *RANGES, size_t NUM_RANGES, size_t *RANGES_USED) "boundByHand"
%typemap(gotype) (const sst_slice *SLICES, size_t NUM_SLICES) "boundByHand"
%typemap(gotype) sst_progress *PROGRESS "boundByHand"

%include "securestream.i"

/* The objects, and the structs that C fills. The constants at the end do not compile if a size or a place differs. */
%insert(go_wrapper) %{
// The objects lie in C memory; Go sees only their addresses.
type (
	Credential      struct{ _ byte }
	Trust           struct{ _ byte }
	TicketKeys      struct{ _ byte }
	Config          struct{ _ byte }
	NegotiateConfig struct{ _ byte }
	Session         struct{ _ byte }
	Stream          struct{ _ byte }
)

// Error is sst_error.
type Error struct {
	Size          uint32
	Code          int32
	AlertSent     int32
	AlertReceived int32
	Reasons       uint64
	Detail        int64
	Message       [512]byte
}

// Event is sst_event.
type Event struct {
	Size   uint32
	Kind   uint32
	Value  uint64
	Lost   uint64
	Length uint
}

// StreamInfo is sst_stream_info.
type StreamInfo struct {
	Size        uint32
	Version     uint16
	Suite       uint16
	Group       uint16
	PeerScheme  uint16
	LocalScheme uint16
	Reserved    uint16
	Flags       uint32
}

// SessionInfo is sst_session_info.
type SessionInfo struct {
	Size         uint32
	Version      uint16
	Suite        uint16
	CreatedUnixS uint64
	ExpiresUnixS uint64
	Flags        uint32
	MaxEarlyData uint32
}

// NegotiateInfo is sst_negotiate_info.
type NegotiateInfo struct {
	Size          uint32
	Level         int32
	Impersonation int32
	Mechanism     int32
	Flags         uint32
	Reserved      uint32
}

// Range is sst_range: where a piece of plaintext lies.
type Range struct {
	Offset int
	Length int
}

// Result is a status and an sst_progress. All sizes fit an int: they are at most those of a Go slice, but for Needed,
// which saturates.
type Result struct {
	Consumed int
	Produced int
	Needed   int
	Waiting  int
	Flags    uint32
	Status   int32
}

// Room is where a getter of variable size writes.
type Room struct{ words []uint64 }

// NewRoom makes room for n bytes.
func NewRoom(n int) *Room { return &Room{make([]uint64, 1+(n+7)/8)} }

// Len is how many units the call has written, or needs.
func (r *Room) Len() int { return int(r.words[0]) }

// Bytes is what the call has written. It shares the room's memory.
func (r *Room) Bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&r.words[0])), 8*len(r.words))[8 : 8+r.Len()]
}

// Numbers is what a getter of a list has written. It shares the room's memory.
func (r *Room) Numbers() []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(&r.words[0])), 4*len(r.words))[4 : 4+r.Len()]
}

const (
	_ = -(unsafe.Sizeof(Error{}) ^ C.sizeof_sst_error)
	_ = -(unsafe.Offsetof(Error{}.Message) ^ unsafe.Offsetof(C.sst_error{}.message))
	_ = -(unsafe.Offsetof(Error{}.Reasons) ^ unsafe.Offsetof(C.sst_error{}.reasons))
	_ = -(unsafe.Offsetof(Error{}.AlertReceived) ^ unsafe.Offsetof(C.sst_error{}.alert_received))
	_ = -(unsafe.Sizeof(Event{}) ^ C.sizeof_sst_event)
	_ = -(unsafe.Offsetof(Event{}.Lost) ^ unsafe.Offsetof(C.sst_event{}.lost))
	_ = -(unsafe.Offsetof(Event{}.Length) ^ unsafe.Offsetof(C.sst_event{}.length))
	_ = -(unsafe.Sizeof(StreamInfo{}) ^ C.sizeof_sst_stream_info)
	_ = -(unsafe.Offsetof(StreamInfo{}.LocalScheme) ^ unsafe.Offsetof(C.sst_stream_info{}.local_scheme))
	_ = -(unsafe.Offsetof(StreamInfo{}.Flags) ^ unsafe.Offsetof(C.sst_stream_info{}.flags))
	_ = -(unsafe.Sizeof(SessionInfo{}) ^ C.sizeof_sst_session_info)
	_ = -(unsafe.Offsetof(SessionInfo{}.MaxEarlyData) ^ unsafe.Offsetof(C.sst_session_info{}.max_early_data))
	_ = -(unsafe.Sizeof(NegotiateInfo{}) ^ C.sizeof_sst_negotiate_info)
	_ = -(unsafe.Offsetof(NegotiateInfo{}.Mechanism) ^ unsafe.Offsetof(C.sst_negotiate_info{}.mechanism))
	_ = -(unsafe.Sizeof(Range{}) ^ C.sizeof_sst_range)
	_ = -(unsafe.Offsetof(Range{}.Length) ^ unsafe.Offsetof(C.sst_range{}.length))
	_ = -(unsafe.Sizeof(uint(0)) ^ C.sizeof_size_t)
)
%}

/* The calls that move bytes. noescape and nocallback hold: the library keeps no pointer and calls nobody back. */
%insert(cgo_comment_typedefs) %{
typedef struct sst_go_result {
  sst_progress progress;
  sst_status status;
} sst_go_result;

typedef struct sst_go_ranges {
  sst_go_result result;
  size_t used;
} sst_go_ranges;

#define SST_GO_CALL(call, ...)                               \
  sst_go_result r;                                           \
  r.status = call(stream, __VA_ARGS__, &r.progress);         \
  return r

static inline sst_go_result sst_go_handshake(sst_stream *stream, const uint8_t *in, size_t in_len, uint8_t *out,
                                             size_t out_cap) {
  SST_GO_CALL(sst_stream_handshake, in, in_len, out, out_cap);
}
static inline sst_go_result sst_go_encrypt(sst_stream *stream, const uint8_t *in, size_t in_len, uint8_t *out,
                                           size_t out_cap) {
  SST_GO_CALL(sst_stream_encrypt, in, in_len, out, out_cap);
}
static inline sst_go_result sst_go_encrypt2(sst_stream *stream, const uint8_t *head, size_t head_len,
                                            const uint8_t *body, size_t body_len, uint8_t *out, size_t out_cap) {
  SST_GO_CALL(sst_stream_encrypt2, head, head_len, body, body_len, out, out_cap);
}
static inline sst_go_result sst_go_decrypt(sst_stream *stream, const uint8_t *in, size_t in_len, uint8_t *out,
                                           size_t out_cap) {
  SST_GO_CALL(sst_stream_decrypt, in, in_len, out, out_cap);
}
static inline sst_go_ranges sst_go_decrypt_in_place(sst_stream *stream, uint8_t *buf, size_t buf_len,
                                                    sst_range *ranges, size_t num_ranges) {
  sst_go_ranges r;
  r.result.status = sst_stream_decrypt_in_place(stream, buf, buf_len, ranges, num_ranges, &r.used, &r.result.progress);
  return r;
}
static inline sst_go_result sst_go_flush(sst_stream *stream, uint8_t *out, size_t out_cap) {
  SST_GO_CALL(sst_stream_flush, out, out_cap);
}
static inline sst_go_result sst_go_close(sst_stream *stream, uint8_t *out, size_t out_cap) {
  SST_GO_CALL(sst_stream_close, out, out_cap);
}

#cgo noescape sst_go_handshake
#cgo noescape sst_go_encrypt
#cgo noescape sst_go_encrypt2
#cgo noescape sst_go_decrypt
#cgo noescape sst_go_decrypt_in_place
#cgo noescape sst_go_flush
#cgo noescape sst_go_close
#cgo nocallback sst_go_handshake
#cgo nocallback sst_go_encrypt
#cgo nocallback sst_go_encrypt2
#cgo nocallback sst_go_decrypt
#cgo nocallback sst_go_decrypt_in_place
#cgo nocallback sst_go_flush
#cgo nocallback sst_go_close
%}

%insert(go_wrapper) %{
func bytePointer(b []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(b)) }

func (s *Stream) c() *C.sst_stream { return (*C.sst_stream)(unsafe.Pointer(s)) }

// size shows a size_t; what does not fit an int (a saturated one) is the largest int.
func size(n C.size_t) int { return int(min(n, 1<<63-1)) }

func result(r *C.sst_go_result) Result {
	p := &r.progress
	return Result{size(p.consumed), size(p.produced), size(p.needed), size(p.waiting), uint32(p.flags), int32(r.status)}
}

// Sst_stream_handshake calls sst_stream_handshake.
func Sst_stream_handshake(stream *Stream, in, out []byte) Result {
	r := C.sst_go_handshake(stream.c(), bytePointer(in), C.size_t(len(in)), bytePointer(out), C.size_t(len(out)))
	return result(&r)
}

// Sst_stream_encrypt calls sst_stream_encrypt.
func Sst_stream_encrypt(stream *Stream, in, out []byte) Result {
	r := C.sst_go_encrypt(stream.c(), bytePointer(in), C.size_t(len(in)), bytePointer(out), C.size_t(len(out)))
	return result(&r)
}

// Sst_stream_encrypt2 calls sst_stream_encrypt2.
func Sst_stream_encrypt2(stream *Stream, head, body, out []byte) Result {
	r := C.sst_go_encrypt2(stream.c(), bytePointer(head), C.size_t(len(head)), bytePointer(body), C.size_t(len(body)),
		bytePointer(out), C.size_t(len(out)))
	return result(&r)
}

// Sst_stream_decrypt calls sst_stream_decrypt.
func Sst_stream_decrypt(stream *Stream, in, out []byte) Result {
	r := C.sst_go_decrypt(stream.c(), bytePointer(in), C.size_t(len(in)), bytePointer(out), C.size_t(len(out)))
	return result(&r)
}

// Sst_stream_decrypt_in_place calls sst_stream_decrypt_in_place and returns how many ranges it has filled.
func Sst_stream_decrypt_in_place(stream *Stream, buf []byte, ranges []Range) (Result, int) {
	r := C.sst_go_decrypt_in_place(stream.c(), bytePointer(buf), C.size_t(len(buf)),
		(*C.sst_range)(unsafe.Pointer(unsafe.SliceData(ranges))), C.size_t(len(ranges)))
	return result(&r.result), int(r.used)
}

// Sst_stream_flush calls sst_stream_flush.
func Sst_stream_flush(stream *Stream, out []byte) Result {
	r := C.sst_go_flush(stream.c(), bytePointer(out), C.size_t(len(out)))
	return result(&r)
}

// Sst_stream_close calls sst_stream_close.
func Sst_stream_close(stream *Stream, out []byte) Result {
	r := C.sst_go_close(stream.c(), bytePointer(out), C.size_t(len(out)))
	return result(&r)
}
%}
