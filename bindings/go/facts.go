package securestream

import (
	"unsafe"

	"securestream.example/securestream/internal/raw"
)

// Info is what was negotiated, in numbers of IANA; 0: none yet, or not used.
type Info struct {
	Version              uint16
	CipherSuite          uint16
	Group                uint16
	PeerScheme           uint16 // signature scheme of the peer's certificate
	LocalScheme          uint16 // of ours
	Resumed              bool
	Verified             bool // the peer's certificate was verified: chain, and name unless opted out
	HelloRetry           bool
	ExtendedMasterSecret bool // true with TLS 1.3 too
	EarlyDataAccepted    bool
}

// Event is a fact that needs no answer.
type Event struct {
	Kind  EventKind
	Value uint64
	Lost  uint64 // events lost before this one: at most 32 wait
	Data  []byte
}

// rawRanges shows ranges as those of the raw package, which have the same two members.
func rawRanges(ranges []Range) []raw.Range {
	return unsafe.Slice((*raw.Range)(unsafe.Pointer(unsafe.SliceData(ranges))), len(ranges))
}

// get calls a getter of variable size, with more room if it needs more.
func get(call func(*raw.Room) int32) ([]byte, int32) {
	room := raw.NewRoom(248)
	status := call(room)
	for status == raw.SST_NEED_OUTPUT {
		room = raw.NewRoom(room.Len())
		status = call(room)
	}
	if status != raw.SST_OK || room.Len() == 0 {
		return nil, status
	}
	return room.Bytes(), status
}

func (s *Stream) bytes(getter func(*raw.Stream, *raw.Room) int32) []byte {
	if !s.native.enter() {
		return nil
	}
	defer s.native.leave()
	b, _ := get(func(room *raw.Room) int32 { return getter(s.native.ptr, room) })
	return b
}

// State is what the stream has come to. Any goroutine, any time.
func (s *Stream) State() State {
	if !s.native.enter() {
		return 0
	}
	defer s.native.leave()
	return State(raw.Sst_stream_state(s.native.ptr))
}

// Info is what was negotiated.
func (s *Stream) Info() Info {
	if !s.native.enter() {
		return Info{}
	}
	defer s.native.leave()
	i := raw.StreamInfo{Size: uint32(sizeofStreamInfo)}
	raw.Sst_stream_get_info(s.native.ptr, &i)
	return Info{
		Version: i.Version, CipherSuite: i.Suite, Group: i.Group, PeerScheme: i.PeerScheme, LocalScheme: i.LocalScheme,
		Resumed:              i.Flags&raw.SST_INFO_RESUMED != 0,
		Verified:             i.Flags&raw.SST_INFO_VERIFIED != 0,
		HelloRetry:           i.Flags&raw.SST_INFO_HELLO_RETRY != 0,
		ExtendedMasterSecret: i.Flags&raw.SST_INFO_EXTENDED_MASTER_SECRET != 0,
		EarlyDataAccepted:    i.Flags&raw.SST_INFO_EARLY_DATA_ACCEPTED != 0,
	}
}

// ALPN is the protocol that ALPN chose; empty: none.
func (s *Stream) ALPN() string { return string(s.bytes(raw.Sst_stream_alpn)) }

// ServerName is the DNS name of the server name extension that a client sent: our own, or the peer's.
func (s *Stream) ServerName() string { return string(s.bytes(raw.Sst_stream_server_name)) }

// Describe is one line for logs: "TLS 1.3, TLS_AES_128_GCM_SHA256, x25519, server, verified".
func (s *Stream) Describe() string { return string(s.bytes(raw.Sst_stream_describe)) }

// PeerCertificates is the chain that the peer sent, in DER, leaf first; nil until the handshake has succeeded, or asks
// whether it is good. What was refused is in [Error.Chain].
func (s *Stream) PeerCertificates() [][]byte { return s.chain(raw.Sst_stream_peer_certificate) }

// VerifiedChain is the path from the peer's leaf to a trust anchor that verification built, in DER; nil: nothing was
// verified.
func (s *Stream) VerifiedChain() [][]byte { return s.chain(raw.Sst_stream_verified_certificate) }

// LocalCertificates is the chain that we sent, in DER, leaf first; nil: none.
func (s *Stream) LocalCertificates() [][]byte { return s.chain(raw.Sst_stream_local_certificate) }

// LocalCertificate is certificate i of what we sent, in DER; nil: there is none.
func (s *Stream) LocalCertificate(i int) []byte {
	if i < 0 || !s.native.enter() {
		return nil
	}
	defer s.native.leave()
	der, _ := get(func(room *raw.Room) int32 { return raw.Sst_stream_local_certificate(s.native.ptr, uint(i), room) })
	return der
}

// chain is what a getter of certificates has.
func (s *Stream) chain(getter func(*raw.Stream, uint, *raw.Room) int32) [][]byte {
	if !s.native.enter() {
		return nil
	}
	defer s.native.leave()
	return untilNone(func(i int) []byte {
		der, _ := get(func(room *raw.Room) int32 { return getter(s.native.ptr, uint(i), room) })
		return der
	})
}

// untilNone collects certificates up to the first that is none.
func untilNone(certificate func(int) []byte) [][]byte {
	var chain [][]byte
	for der := certificate(0); der != nil; der = certificate(len(chain)) {
		chain = append(chain, der)
	}
	return chain
}

// Counter reads a counter. Any goroutine, any time.
func (s *Stream) Counter(which Counter) uint64 {
	if !s.native.enter() {
		return 0
	}
	defer s.native.leave()
	return raw.Sst_stream_counter(s.native.ptr, int32(which))
}

// OutputSize is how many wire bytes wait. Any goroutine, any time.
func (s *Stream) OutputSize() int {
	if !s.native.enter() {
		return 0
	}
	defer s.native.leave()
	return int(raw.Sst_stream_output_size(s.native.ptr))
}

// PlaintextSize is how many bytes of plaintext are kept. Any goroutine, any time.
func (s *Stream) PlaintextSize() int {
	if !s.native.enter() {
		return 0
	}
	defer s.native.leave()
	return int(raw.Sst_stream_plaintext_size(s.native.ptr))
}

// LastError is the failure that ended the stream; nil: there is none. Any goroutine, any time.
func (s *Stream) LastError() *Error {
	if !s.native.enter() {
		return nil
	}
	defer s.native.leave()
	record := raw.Error{Size: uint32(sizeofError)}
	if raw.Sst_stream_last_error(s.native.ptr, &record) != raw.SST_OK || record.Code == raw.SST_OK {
		return nil
	}
	return s.failure("stream", record.Code)
}

// NextEvent takes the oldest event; false: none waits. Any goroutine, any time.
func (s *Stream) NextEvent() (Event, bool) {
	if !s.native.enter() {
		return Event{}, false
	}
	defer s.native.leave()
	e := raw.Event{Size: uint32(sizeofEvent)}
	room := make([]byte, 256)
	status := raw.Sst_stream_next_event(s.native.ptr, &e, room)
	for status == raw.SST_NEED_OUTPUT {
		room = make([]byte, e.Length)
		status = raw.Sst_stream_next_event(s.native.ptr, &e, room)
	}
	if status != raw.SST_OK {
		return Event{}, false
	}
	return Event{Kind: EventKind(e.Kind), Value: e.Value, Lost: e.Lost, Data: room[:e.Length]}, true
}
