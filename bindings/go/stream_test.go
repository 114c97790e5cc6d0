package securestream_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"securestream.example/securestream"
)

// side is a stream and the wire bytes that wait for it.
type side struct {
	*securestream.Stream
	wire []byte
	peer *side
	room []byte
}

func newSides(t testing.TB, client, server *securestream.Config) (*side, *side) {
	t.Helper()
	cs, err := securestream.NewStream(client, securestream.RoleClient)
	if err != nil {
		t.Fatal(err)
	}
	ss, err := securestream.NewStream(server, securestream.RoleServer)
	if err != nil {
		t.Fatal(err)
	}
	c, s := &side{Stream: cs, room: make([]byte, 1<<17)}, &side{Stream: ss, room: make([]byte, 1<<17)}
	c.peer, s.peer = s, c
	t.Cleanup(func() { c.Close(); s.Close() })
	return c, s
}

func (s *side) shake() (securestream.Status, error) {
	p, err := s.Handshake(s.wire, s.room)
	s.wire = s.wire[p.Consumed:]
	s.peer.wire = append(s.peer.wire, s.room[:p.Produced]...)
	return p.Status, err
}

func openSides(t testing.TB, client, server *securestream.Config) (*side, *side) {
	t.Helper()
	c, s := newSides(t, client, server)
	for range 6 {
		a, err := c.shake()
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.shake()
		if err != nil {
			t.Fatal(err)
		}
		if a == securestream.StatusOK && b == securestream.StatusOK {
			return c, s
		}
	}
	t.Fatal("the handshake does not end")
	return nil, nil
}

func (s *side) send(t testing.TB, data []byte) {
	t.Helper()
	for {
		p, err := s.Encrypt(data, s.room)
		if err != nil {
			t.Fatal(err)
		}
		data = data[p.Consumed:]
		s.peer.wire = append(s.peer.wire, s.room[:p.Produced]...)
		if p.Status == securestream.StatusOK {
			return
		}
	}
}

func (s *side) receive(t testing.TB) ([]byte, securestream.Status) {
	t.Helper()
	var all []byte
	for {
		p, err := s.Decrypt(s.wire, s.room)
		if err != nil {
			t.Fatal(err)
		}
		s.wire = s.wire[p.Consumed:]
		all = append(all, s.room[:p.Produced]...)
		if p.Status != securestream.StatusNeedOutput {
			return all, p.Status
		}
	}
}

func TestStream_pair(t *testing.T) {
	client, server := clientConfig(t), serverConfig(t)
	client.NextProtos, server.NextProtos = []string{"a", "b"}, []string{"b", "a"}
	c, s := openSides(t, client, server)
	if got := c.Info(); got.Version != securestream.VersionTLS13 || !got.Verified || got.Group != securestream.X25519MLKEM768 {
		t.Errorf("the client sees %+v", got)
	}
	if c.ALPN() != "b" || s.ALPN() != "b" || s.ServerName() != "server.test" {
		t.Errorf("ALPN %q and %q, server name %q", c.ALPN(), s.ALPN(), s.ServerName())
	}
	if chain := c.PeerCertificates(); len(chain) != 2 || !bytes.Equal(chain[0], s.LocalCertificate(0)) {
		t.Errorf("%d certificates, or not those that were sent", len(chain))
	}
	if !strings.HasPrefix(c.Describe(), "TLS 1.3, TLS_") {
		t.Errorf("description %q", c.Describe())
	}
	for _, size := range []int{0, 1, 16384, 16385, 100000} {
		c.send(t, pattern(size))
		if got, _ := s.receive(t); !bytes.Equal(got, pattern(size)) {
			t.Errorf("%d bytes came as %d others", size, len(got))
		}
	}
	if got := s.Counter(securestream.BytesDecrypted); got != 1+16384+16385+100000 {
		t.Errorf("%d bytes counted", got)
	}
	if c.State() != securestream.StateOpen || c.LastError() != nil {
		t.Errorf("state %d, error %v", c.State(), c.LastError())
	}
	if got := c.EncryptedSize(-1); got <= 0 {
		t.Errorf("the size of nothing possible is %d", got)
	}
}

func TestStream_encrypt2AndInPlace(t *testing.T) {
	c, s := openSides(t, clientConfig(t), serverConfig(t))
	head, body := []byte("head"), pattern(40000)
	p, err := c.Encrypt2(head, body, c.room)
	if err != nil || p.Status != securestream.StatusOK || p.Consumed != len(head)+len(body) {
		t.Fatal(p, err)
	}
	wire := append([]byte(nil), c.room[:p.Produced]...)
	var ranges [2]securestream.Range
	var got []byte
	for at := 0; ; {
		n, p, err := s.DecryptInPlace(wire[at:], ranges[:])
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range ranges[:n] {
			got = append(got, wire[at+r.Offset:][:r.Length]...)
		}
		at += p.Consumed
		if p.Status == securestream.StatusNeedInput {
			break
		}
	}
	if !bytes.Equal(got, append(head, body...)) {
		t.Error("other bytes came than were sent")
	}
}

func TestStream_wrongCallsChangeNothing(t *testing.T) {
	c, s := newSides(t, clientConfig(t), serverConfig(t))
	if _, err := c.Encrypt([]byte("early"), c.room); !errors.Is(err, securestream.ErrState) {
		t.Error(err)
	}
	if _, err := c.Handshake(c.room[:10], c.room); !errors.Is(err, securestream.ErrInvalidArgument) {
		t.Error("overlapping buffers:", err)
	}
	if err := c.KeyUpdate(true); !errors.Is(err, securestream.ErrState) {
		t.Error(err)
	}
	if err := c.Abort(1<<32 + 40); !errors.Is(err, securestream.ErrInvalidArgument) {
		t.Error(err)
	}
	if err := (&securestream.Config{MaxFragment: 1<<32 + 512, InsecureSkipVerify: true}).Check(securestream.RoleClient); !errors.Is(err, securestream.ErrInvalidArgument) {
		t.Error(err)
	}
	if _, err := securestream.NewStream(new(securestream.Config), securestream.RoleServer); !errors.Is(err, securestream.ErrNoCredential) {
		t.Error(err)
	}
	if err := c.SetMaxFragment(-1); !errors.Is(err, securestream.ErrInvalidArgument) {
		t.Error(err)
	}
	if _, err := c.shake(); err != nil {
		t.Error(err)
	}
	s.Close()
	if err := s.Close(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := s.shake(); !errors.Is(err, securestream.ErrClosed) || !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if s.State() != 0 || s.Info() != (securestream.Info{}) || s.PeerCertificates() != nil {
		t.Error("a closed stream has facts")
	}
}

func TestErrors_tell(t *testing.T) {
	client := clientConfig(t)
	client.ServerName = "b.test"
	server := serverConfig(t)
	server.Credentials = []*securestream.Credential{credential(t, "server-expired-other")}
	c, s := newSides(t, client, server)
	_, _ = c.shake()
	_, _ = s.shake()
	_, err := c.shake()
	var e *securestream.Error
	if !errors.As(err, &e) || e.Code != securestream.ErrCertExpired || e.AlertSent != 45 || e.AlertReceived != -1 {
		t.Fatalf("%#v", err)
	}
	if !errors.Is(err, securestream.ErrCertExpired) || !errors.Is(err, securestream.ErrCertNameMismatch) || errors.Is(err, securestream.ErrCertSelfSigned) {
		t.Error("the reasons are", e.Reasons)
	}
	want := "securestream: handshake: " + e.Message + " (ERR_CERT_EXPIRED, ERR_CERT_NAME_MISMATCH)"
	if err.Error() != want || !strings.Contains(want, "server-expired-other") {
		t.Errorf("the text is %q", err)
	}
	_, err = s.shake()
	if !errors.As(err, &e) || e.AlertReceived != 45 || !errors.Is(err, securestream.ErrAlertReceived) {
		t.Fatalf("%#v", err)
	}
	if got := s.LastError(); got == nil || got.Code != e.Code {
		t.Error("the last error is", got)
	}
	for code, is := range map[securestream.Code]error{
		securestream.ErrClosed: net.ErrClosed, securestream.ErrTruncated: io.ErrUnexpectedEOF,
		securestream.ErrHandshakeEOF: io.ErrUnexpectedEOF, securestream.ErrUnsupported: errors.ErrUnsupported,
	} {
		if !errors.Is(code, is) || !errors.Is(&securestream.Error{Code: code}, is) || errors.Is(code, io.EOF) {
			t.Errorf("%v is not %v", code, is)
		}
	}
}

// H04: the transport ends inside the handshake.
func TestStream_H04(t *testing.T) {
	c, s := newSides(t, clientConfig(t), serverConfig(t))
	_, _ = c.shake()
	_, _ = s.shake()
	c.wire = c.wire[:60]
	if status, err := c.shake(); status != securestream.StatusNeedInput || err != nil {
		t.Fatal(status, err)
	}
	for _, side := range []*side{c, s} {
		side.wire = nil
		if err := side.InputEOF(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := side.shake(); !errors.Is(err, securestream.ErrHandshakeEOF) || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Error(err)
			}
		}
	}
	if c.PeerCertificates() != nil {
		t.Error("a chain that was not judged is shown")
	}
}

// R07: more than 2 GiB in one slice. Nothing of it is touched but what a call takes.
func TestStream_R07(t *testing.T) {
	const size = 2<<30 + 4096
	huge, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		t.Skip("no address space for it: ", err)
	}
	defer syscall.Munmap(huge)
	c, s := openSides(t, clientConfig(t), serverConfig(t))
	p, err := c.Encrypt(huge, c.room)
	if err != nil || p.Status != securestream.StatusNeedOutput || p.Consumed == 0 || p.Consumed%16384 != 0 {
		t.Fatal(p, err)
	}
	if c.EncryptedSize(size) <= size {
		t.Error("the size has wrapped around")
	}
	s.wire = append(s.wire, c.room[:p.Produced]...)
	d, err := s.Decrypt(s.wire, huge)
	if err != nil || d.Produced != p.Consumed || d.Status != securestream.StatusNeedInput {
		t.Fatal(d, err)
	}
	// The wire bytes at the end of a huge buffer, and as its beginning.
	p, err = c.Encrypt([]byte("end"), huge[size-4096:])
	if err != nil {
		t.Fatal(err)
	}
	copy(huge, huge[size-4096:][:p.Produced])
	if d, err = s.Decrypt(huge[:p.Produced], s.room); err != nil || string(s.room[:d.Produced]) != "end" {
		t.Fatal(d, err)
	}
}

// B03: the config becomes unreachable, the collector runs between all calls, a constructor fails half-way.
func TestStream_B03(t *testing.T) {
	base := securestream.LiveObjects()
	func() {
		c, s := newSides(t, clientConfig(t), serverConfig(t))
		for range 6 {
			runtime.GC()
			_, err := c.shake()
			runtime.GC()
			_, err2 := s.shake()
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
		}
		runtime.GC()
		c.send(t, []byte("still here"))
		runtime.GC()
		if got, _ := s.receive(t); string(got) != "still here" {
			t.Errorf("%q came", got)
		}
		c.Close()
		s.Close()
	}()
	for _, spoil := range []func(*securestream.Config){
		func(c *securestream.Config) { c.MinVersion = 7 },
		func(c *securestream.Config) { c.NextProtos = []string{"good", ""} },
		func(c *securestream.Config) { c.CurvePreferences = []uint16{1} },
		func(c *securestream.Config) { c.Credentials = nil },
		func(c *securestream.Config) { c.Credentials[0].Close() },
		func(c *securestream.Config) { c.ClientCAs = [][]byte{[]byte("no certificate")} },
	} {
		config := serverConfig(t)
		spoil(config)
		if s, err := securestream.NewStream(config, securestream.RoleServer); err == nil || s != nil {
			t.Error("a bad config makes a stream")
		}
		runtime.GC()
	}
	bad := clientConfig(t)
	bad.ServerName = "b cher.test"
	if _, err := securestream.NewStream(bad, securestream.RoleClient); !errors.Is(err, securestream.ErrBadHost) {
		t.Error(err)
	}
	bad = nil
	noneLeft(t, base)
}
