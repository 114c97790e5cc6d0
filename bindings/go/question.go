package securestream

import (
	"context"
	"encoding/binary"
	"net"

	"securestream.example/securestream/internal/raw"
)

// ClientHelloInfo is what a client has said of itself (RFC 8446, 4.1.2), best first. Names and meaning are those of
// crypto/tls.
type ClientHelloInfo struct {
	ServerName        string
	SupportedProtos   []string
	SupportedVersions []uint16
	CipherSuites      []uint16
	SupportedCurves   []uint16
	SignatureSchemes  []uint16
	Conn              net.Conn // the transport; nil for a [Stream]. Not to be read or written
	Message           []byte   // the whole message, without its header of 4 bytes

	ctx context.Context
}

// Context is that of the handshake.
func (h *ClientHelloInfo) Context() context.Context { return orBackground(h.ctx) }

// Extension is the body of an extension; nil: it is empty, or there is none.
func (h *ClientHelloInfo) Extension(kind uint16) []byte {
	rest := h.Message
	skip := func(lengthSize int) {
		n := 0
		for _, b := range rest[:lengthSize] {
			n = n<<8 | int(b)
		}
		rest = rest[lengthSize+n:]
	}
	if len(rest) < 34 {
		return nil
	}
	rest = rest[34:] // version, random
	skip(1)          // session id
	skip(2)          // suites
	skip(1)          // compression methods
	if len(rest) < 2 {
		return nil
	}
	for rest = rest[2:]; len(rest) >= 4; {
		found := binary.BigEndian.Uint16(rest)
		rest = rest[2:]
		body := rest[2:]
		skip(2)
		if found == kind {
			return body[: len(body)-len(rest) : len(body)-len(rest)]
		}
	}
	return nil
}

// CertificateRequestInfo is what the peer accepts. Names and meaning are those of crypto/tls.
type CertificateRequestInfo struct {
	AcceptableCAs    [][]byte // X.501 names in DER; none: any issuer
	SignatureSchemes []uint16 // best first

	ctx context.Context
}

// Context is that of the handshake.
func (r *CertificateRequestInfo) Context() context.Context { return orBackground(r.ctx) }

// PeerCertificateInfo is a peer that is to be judged. It has not proved yet that it has the key of its certificate: the
// handshake does that later.
type PeerCertificateInfo struct {
	Chain        [][]byte // in DER as the peer sent it, leaf first; x509.ParseCertificate reads it
	Verdict      error    // what the config's own rules say: nil, or an [*Error] with all reasons
	ServerName   string   // of the server name extension
	OCSPResponse []byte
	SCTs         []byte

	ctx context.Context
}

// Context is that of the handshake.
func (p *PeerCertificateInfo) Context() context.Context { return orBackground(p.ctx) }

func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// ClientHello is what the client has said, at [StatusWantClientHello]; nil: that question is not open.
func (s *Stream) ClientHello() *ClientHelloInfo {
	message := s.bytes(raw.Sst_stream_client_hello)
	if message == nil {
		return nil
	}
	h := &ClientHelloInfo{
		ServerName:        s.ServerName(),
		SupportedVersions: s.helloList(raw.SST_HELLO_VERSIONS),
		CipherSuites:      s.helloList(raw.SST_HELLO_SUITES),
		SupportedCurves:   s.helloList(raw.SST_HELLO_GROUPS),
		SignatureSchemes:  s.helloList(raw.SST_HELLO_SCHEMES),
		Message:           message,
	}
	if h.SupportedVersions == nil { // who knows TLS 1.2 at most has no list (RFC 8446, 4.2.1)
		h.SupportedVersions = []uint16{binary.BigEndian.Uint16(message)}
	}
	for _, protocol := range s.chain(raw.Sst_stream_client_hello_alpn) {
		h.SupportedProtos = append(h.SupportedProtos, string(protocol))
	}
	return h
}

func (s *Stream) helloList(which int32) []uint16 {
	return s.numbers(func(stream *raw.Stream, room *raw.Room) int32 {
		return raw.Sst_stream_client_hello_list(stream, which, room)
	})
}

// numbers is what a getter of a list has.
func (s *Stream) numbers(getter func(*raw.Stream, *raw.Room) int32) []uint16 {
	if !s.native.enter() {
		return nil
	}
	defer s.native.leave()
	room := raw.NewRoom(120)
	status := getter(s.native.ptr, room)
	if status == raw.SST_NEED_OUTPUT {
		room = raw.NewRoom(2 * room.Len())
		status = getter(s.native.ptr, room)
	}
	if status != raw.SST_OK || room.Len() == 0 {
		return nil
	}
	return room.Numbers()
}

// CertificateRequest is what the peer accepts, at [StatusWantCertificate]; empty: that question is not open.
func (s *Stream) CertificateRequest() *CertificateRequestInfo {
	return &CertificateRequestInfo{
		AcceptableCAs:    s.chain(raw.Sst_stream_accepted_ca),
		SignatureSchemes: s.numbers(raw.Sst_stream_accepted_schemes),
	}
}

// PeerCertificate is the peer that is to be judged, at [StatusWantCertificateVerify]. [ErrState]: that question is not
// open.
func (s *Stream) PeerCertificate() (*PeerCertificateInfo, error) {
	verdict := raw.Error{Size: uint32(sizeofError)}
	err := s.call("verdict", func() int32 { return raw.Sst_stream_verdict(s.native.ptr, &verdict) })
	if err != nil {
		return nil, err
	}
	p := &PeerCertificateInfo{Chain: s.PeerCertificates(), ServerName: s.ServerName(),
		OCSPResponse: s.bytes(raw.Sst_stream_ocsp_response), SCTs: s.bytes(raw.Sst_stream_scts)}
	if verdict.Code != raw.SST_OK {
		e := failure("verify", verdict.Code, func(e *raw.Error) int32 { *e = verdict; return raw.SST_OK })
		e.Chain = p.Chain
		p.Verdict = e
	}
	return p, nil
}

// PrivateKeyOperation is what is to be signed, at [StatusWantPrivateKeyOperation]: the whole message, not hashed, under
// a signature scheme, by the key of [Stream.LocalCertificates]. [ErrState]: that question is not open.
func (s *Stream) PrivateKeyOperation() (scheme uint16, message []byte, err error) {
	var operation int32
	err = s.call("private key operation", func() int32 {
		var status int32
		message, status = get(func(room *raw.Room) int32 {
			return raw.Sst_stream_private_key_operation(s.native.ptr, &operation, &scheme, room)
		})
		return status
	})
	return scheme, message, err
}

// SetConfig answers [StatusWantClientHello] with a whole config: nothing of an earlier one stays in force, but VerifyName
// and Time, which belong to the stream. [ErrState]: that question is not open, or answered already. Any goroutine; so
// the other answers.
func (s *Stream) SetConfig(config *Config) error {
	config = orZero(config)
	if s.State()&StateSuspended == 0 {
		return failure("set config", raw.SST_ERR_STATE, nil)
	}
	built, err := config.build(RoleServer)
	if err != nil {
		return err
	}
	if !built.native.enter() {
		return failure("set config", raw.SST_ERR_CLOSED, nil)
	}
	defer built.native.leave()
	err = s.answer("set config", func() int32 { return raw.Sst_stream_set_config(s.native.ptr, built.native.ptr) })
	if err == nil {
		s.config.Store(config)
	}
	return err
}

// SetCredential answers [StatusWantCertificate]. Nil is none: a client shows no certificate, a server fails. It is sent
// whatever issuers the peer accepts.
func (s *Stream) SetCredential(credential *Credential) error {
	var ptr *raw.Credential
	if credential != nil {
		if !credential.native.enter() {
			return failure("set credential", raw.SST_ERR_CLOSED, nil)
		}
		defer credential.native.leave()
		ptr = credential.native.ptr
	}
	err := s.answer("set credential", func() int32 { return raw.Sst_stream_set_credential(s.native.ptr, ptr) })
	if err == nil {
		s.chosen.Store(credential)
	}
	return err
}

// Accept answers [StatusWantCertificateVerify] with yes, whatever the verdict. Only who is good by the verdict counts as
// verified.
func (s *Stream) Accept() error {
	return s.answer("accept", func() int32 { return raw.Sst_stream_accept(s.native.ptr) })
}

// AcceptDefault answers [StatusWantCertificateVerify] with the verdict.
func (s *Stream) AcceptDefault() error {
	return s.answer("accept", func() int32 { return raw.Sst_stream_accept_default(s.native.ptr) })
}

// SetSignature answers [StatusWantPrivateKeyOperation] with a signature as TLS has it (ECDSA: DER, RFC 3279).
func (s *Stream) SetSignature(signature []byte) error {
	return s.answer("set signature", func() int32 { return raw.Sst_stream_set_signature(s.native.ptr, signature) })
}

// Reject answers any question with no: the next Handshake fails with [ErrRejected], and alert (1 to 255) goes to the
// peer; -1: the one that is usual for the question.
func (s *Stream) Reject(alert int) error {
	if alert < -1 || alert > 255 {
		return failure("reject", raw.SST_ERR_INVALID_ARGUMENT, nil)
	}
	return s.answer("reject", func() int32 { return raw.Sst_stream_reject(s.native.ptr, int32(alert)) })
}

// answer is call, for statuses that leave no record.
func (s *Stream) answer(op string, post func() int32) error {
	if !s.native.enter() {
		return failure(op, raw.SST_ERR_CLOSED, nil)
	}
	defer s.native.leave()
	if status := post(); status != raw.SST_OK {
		return failure(op, status, nil)
	}
	return nil
}
