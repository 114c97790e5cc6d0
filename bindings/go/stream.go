package securestream

import (
	"math"
	"net"
	"sync/atomic"
	"time"

	"securestream.example/securestream/internal/raw"
)

// Stream is one side of one connection, as a state machine over buffers of the caller: a client or a server.
//
// Each call takes input, writes output, and tells in its [Progress] what it did and what the next step needs. The
// buffers in and out of a call must not overlap. After the handshake one goroutine may call {Encrypt, Encrypt2, Flush,
// CloseWrite, Abort, KeyUpdate} while another calls {Decrypt, DecryptInPlace, InputEOF}; another call at the same time
// gets [ErrBusy] and has changed nothing. Close may be called at any time.
//
// An error is of type [*Error]. It is never lost: those that end the stream come again from every later call.
type Stream struct {
	native native[raw.Stream]
	config atomic.Pointer[Config]     // for its key log, and who answers; nil: none yet
	chosen atomic.Pointer[Credential] // while the handshake waited
}

// Progress is what a call did, and what waits. It is valid also beside an error.
type Progress struct {
	Status   Status
	Consumed int   // bytes of in that may be forgotten; a repeat goes on behind them, from any buffer
	Produced int   // bytes written to out; DecryptInPlace: plaintext bytes in ranges
	Needed   int   // StatusNeedInput: bytes missing for the record in progress; StatusNeedOutput: a room that makes progress
	Waiting  int   // wire bytes to flush; after Decrypt: plaintext kept
	Flags    Flags // HasOutput ...
}

// Range is where a piece of plaintext lies.
type Range struct{ Offset, Length int }

// NewStream makes a stream. A client expects config.ServerName, and nil is the zero config. A server whose config is nil
// stops with [StatusWantClientHello] for one.
func NewStream(config *Config, role Role) (*Stream, error) {
	if role == RoleServer && config == nil {
		return newStream(new(Config), role, "", true)
	}
	config = orZero(config)
	return newStream(config, role, config.ServerName, false)
}

// newStream makes a stream of a config, or, with later, one of a server that asks for its config.
func newStream(config *Config, role Role, serverName string, later bool) (*Stream, error) {
	var from *raw.Config
	var lastError func(*raw.Error) int32
	if !later {
		built, err := config.build(role)
		if err != nil {
			return nil, err
		}
		if !built.native.enter() {
			return nil, failure("make a stream", raw.SST_ERR_CLOSED, nil)
		}
		defer built.native.leave()
		from, lastError = built.native.ptr, built.lastError
	}
	var ptr *raw.Stream
	if status := raw.Sst_stream_new(from, int32(role), &ptr); status != raw.SST_OK {
		return nil, failure("make a stream", status, lastError)
	}
	s := new(Stream)
	s.config.Store(config)
	s.native.own(ptr, raw.Sst_stream_free)
	if err := s.setUp(config, role, serverName); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// setUp sets what a stream is told before its first byte.
func (s *Stream) setUp(config *Config, role Role, serverName string) error {
	if role == RoleClient && serverName != "" {
		if status := raw.Sst_stream_set_server_name(s.native.ptr, serverName); status != raw.SST_OK {
			return failure("set server name", status, nil)
		}
	}
	if config.VerifyName != "" {
		if status := raw.Sst_stream_set_verify_name(s.native.ptr, config.VerifyName); status != raw.SST_OK {
			return failure("set verify name", status, nil)
		}
	}
	if config.Time != nil {
		return s.SetVerifyTime(config.Time())
	}
	return nil
}

// Close frees the stream and sends nothing: a peer that was not sent close_notify sees a truncation. Calls in progress
// end first; later ones give [ErrClosed].
func (s *Stream) Close() error {
	if !s.native.close() {
		return net.ErrClosed
	}
	return nil
}

// LeavePartial lets [Stream.Decrypt] leave a record that has not come whole in the caller's buffer, which must then hold
// [MaxRecord] bytes. Before the first byte.
func (s *Stream) LeavePartial() error {
	return s.call("set options", func() int32 {
		return raw.Sst_stream_set_options(s.native.ptr, raw.SST_OPTION_LEAVE_PARTIAL)
	})
}

// SetVerifyTime sets the time at which certificates are judged. Before the first byte.
func (s *Stream) SetVerifyTime(t time.Time) error {
	return s.call("set verify time", func() int32 { return raw.Sst_stream_set_verify_time(s.native.ptr, t.Unix()) })
}

// SetMaxFragment sets the most plaintext in a record that is sent: 512 to 16,384. Before the first byte.
func (s *Stream) SetMaxFragment(n int) error {
	if n < 0 || n > math.MaxInt32 {
		return failure("set maximal fragment", raw.SST_ERR_INVALID_ARGUMENT, nil)
	}
	return s.call("set maximal fragment", func() int32 { return raw.Sst_stream_set_max_fragment(s.native.ptr, uint32(n)) })
}

// Handshake performs the handshake. A client's first call takes no input. The messages of one step lie in one piece, to
// be sent by one write. It takes no byte beyond the handshake. When it fails, the alert that tells the peer why is in
// out. A status StatusWant… is a question: a getter tells more ([Stream.ClientHello], [Stream.CertificateRequest],
// [Stream.PeerCertificate], [Stream.PrivateKeyOperation]), one answer is given, any time later, and Handshake is called
// again.
func (s *Stream) Handshake(in, out []byte) (Progress, error) {
	if !s.native.enter() {
		return s.gone("handshake")
	}
	r := raw.Sst_stream_handshake(s.native.ptr, in, out)
	return s.done("handshake", &r)
}

// Encrypt seals plaintext into whole records; what waits to be sent goes first.
func (s *Stream) Encrypt(in, out []byte) (Progress, error) {
	if !s.native.enter() {
		return s.gone("encrypt")
	}
	r := raw.Sst_stream_encrypt(s.native.ptr, in, out)
	return s.done("encrypt", &r)
}

// Encrypt2 is Encrypt over head and body as if they stood one behind the other.
func (s *Stream) Encrypt2(head, body, out []byte) (Progress, error) {
	if !s.native.enter() {
		return s.gone("encrypt")
	}
	r := raw.Sst_stream_encrypt2(s.native.ptr, head, body, out)
	return s.done("encrypt", &r)
}

// Decrypt opens records. StatusClosed is the clean end of the data; it and errors come when all plaintext before them
// has been given out. Output of HasOutput should be flushed by the sending side.
func (s *Stream) Decrypt(in, out []byte) (Progress, error) {
	if !s.native.enter() {
		return s.gone("decrypt")
	}
	r := raw.Sst_stream_decrypt(s.native.ptr, in, out)
	return s.done("decrypt", &r)
}

// DecryptInPlace opens the whole records in buf and lists in ranges where their plaintexts lie; n ranges are valid.
// Bytes outside of them and before Consumed are lost. A record that is not whole stays.
func (s *Stream) DecryptInPlace(buf []byte, ranges []Range) (n int, p Progress, err error) {
	if !s.native.enter() {
		p, err = s.gone("decrypt")
		return 0, p, err
	}
	r, n := raw.Sst_stream_decrypt_in_place(s.native.ptr, buf, rawRanges(ranges))
	p, err = s.done("decrypt", &r)
	return n, p, err
}

// Flush writes the wire bytes that wait: the rest of a flight, an alert, an answer to KeyUpdate.
func (s *Stream) Flush(out []byte) (Progress, error) {
	if !s.native.enter() {
		return s.gone("flush")
	}
	r := raw.Sst_stream_flush(s.native.ptr, out)
	return s.done("flush", &r)
}

// CloseWrite ends our sending with close_notify, which is written to out behind what waits (RFC 8446, 6.1). Receiving
// goes on.
func (s *Stream) CloseWrite(out []byte) (Progress, error) {
	if !s.native.enter() {
		return s.gone("close")
	}
	r := raw.Sst_stream_close(s.native.ptr, out)
	return s.done("close", &r)
}

// InputEOF says that no wire byte will come after those that the caller holds.
func (s *Stream) InputEOF() error {
	return s.call("end of input", func() int32 { return raw.Sst_stream_input_eof(s.native.ptr) })
}

// Abort ends the stream with a fatal alert, 1 to 255, that waits for Flush.
func (s *Stream) Abort(alert int) error {
	if alert < 1 || alert > 255 {
		return failure("abort", raw.SST_ERR_INVALID_ARGUMENT, nil)
	}
	return s.call("abort", func() int32 { return raw.Sst_stream_abort(s.native.ptr, int32(alert)) })
}

// KeyUpdate changes our sending keys and, if request is set, asks the peer to change its own (RFC 8446, 4.6.3). The
// message waits for Flush or goes out with the next Encrypt. TLS 1.3 only.
func (s *Stream) KeyUpdate(request bool) error {
	ask := int32(0)
	if request {
		ask = 1
	}
	return s.call("key update", func() int32 { return raw.Sst_stream_key_update(s.native.ptr, ask) })
}

// EncryptedSize is room that is always enough to encrypt n bytes in one call. It saturates.
func (s *Stream) EncryptedSize(n int) int {
	if n < 0 || !s.native.enter() {
		return math.MaxInt
	}
	defer s.native.leave()
	return int(min(raw.Sst_stream_encrypted_size(s.native.ptr, uint(n)), math.MaxInt))
}

// done ends a call: it translates the result and makes the error.
func (s *Stream) done(op string, r *raw.Result) (Progress, error) {
	p := Progress{Status(r.Status), r.Consumed, r.Produced, r.Needed, r.Waiting, Flags(r.Flags)}
	if r.Status >= 0 {
		s.native.leave()
		return p, nil
	}
	defer s.native.leave()
	return p, s.failure(op, r.Status)
}

// failure makes the error of a status of this stream, with the chain that was refused. Inside of a call.
func (s *Stream) failure(op string, status int32) *Error {
	e := failure(op, status, func(e *raw.Error) int32 { return raw.Sst_stream_last_error(s.native.ptr, e) })
	if e.Code.isCertificate() || e.Code == ErrRejected {
		e.Chain = s.chain(raw.Sst_stream_refused_certificate)
	}
	return e
}

func (s *Stream) gone(op string) (Progress, error) {
	return Progress{Status: Status(ErrClosed)}, failure(op, raw.SST_ERR_CLOSED, nil)
}

// call is for calls that move no bytes.
func (s *Stream) call(op string, do func() int32) error {
	if !s.native.enter() {
		return failure(op, raw.SST_ERR_CLOSED, nil)
	}
	defer s.native.leave()
	if status := do(); status != raw.SST_OK {
		return s.failure(op, status)
	}
	return nil
}
