package securestream_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"securestream.example/securestream"
)

func versions(t *testing.T, run func(*testing.T, uint16)) {
	for _, version := range []uint16{securestream.VersionTLS12, securestream.VersionTLS13} {
		t.Run(strings.ReplaceAll(securestream.VersionName(version), " ", ""), func(t *testing.T) { run(t, version) })
	}
}

func limited(c *securestream.Config, version uint16) *securestream.Config {
	c.MinVersion, c.MaxVersion = version, version
	return c
}

func TestConn_echo(t *testing.T) {
	for _, transport := range transports {
		t.Run(transport.name, func(t *testing.T) {
			versions(t, func(t *testing.T, version uint16) {
				c, s := openPair(t, limited(clientConfig(t), version), serverConfig(t), transport.pair)
				if got := c.ConnectionState(); got.Version != version || !got.HandshakeComplete || !got.Verified || len(got.PeerCertificates) != 2 {
					t.Errorf("%+v", got)
				}
				if got := s.ConnectionState(); got.ServerName != "server.test" {
					t.Errorf("%+v", got)
				}
				data := pattern(1 << 20)
				var back bytes.Buffer
				mustAll(t, together(
					func() error { _, err := io.Copy(s, s); return errors.Join(err, s.CloseWrite()) },
					func() error { _, err := c.Write(data); return errors.Join(err, c.CloseWrite()) },
					func() error { _, err := io.Copy(&back, c); return err },
				))
				if !bytes.Equal(back.Bytes(), data) {
					t.Errorf("%d bytes came back, or others", back.Len())
				}
				for _, conn := range []*securestream.Conn{c, s} {
					if err := conn.Close(); err != nil {
						t.Error(err)
					}
					if err := conn.Close(); !errors.Is(err, net.ErrClosed) {
						t.Error(err)
					}
					if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
						t.Error(err)
					}
					if _, err := conn.Write(make([]byte, 1)); !errors.Is(err, securestream.ErrClosed) {
						t.Error(err)
					}
				}
			})
		})
	}
}

func TestConn_readsOfAllSizes(t *testing.T) {
	c, s := openPair(t, clientConfig(t), serverConfig(t), tcpPair)
	data := pattern(300000)
	errs := make(chan error, 1)
	go func() { _, err := c.Write(data); errs <- err }()
	var got []byte
	for size := 1; len(got) < len(data); size = size*3%40000 + 1 {
		p := make([]byte, size)
		n, err := s.Read(p)
		if err != nil || n == 0 {
			t.Fatal(n, err)
		}
		got = append(got, p[:n]...)
	}
	if err := <-errs; err != nil || !bytes.Equal(got, data) {
		t.Error("other bytes came than were sent:", err)
	}
}

// R04: zero is not the end.
func TestConn_R04(t *testing.T) {
	c, s := openPair(t, clientConfig(t), serverConfig(t), tcpPair)
	for _, nothing := range [][]byte{nil, {}} {
		if n, err := c.Write(nothing); n != 0 || err != nil {
			t.Error("Write", n, err)
		}
		if n, err := c.Read(nothing); n != 0 || err != nil { // nothing has come, and it does not wait
			t.Error("Read", n, err)
		}
	}
	if got := c.Stream().Counter(securestream.RecordsSent); got != 0 {
		t.Error(got, "records of nothing")
	}
	if _, err := s.Write([]byte("still open")); err != nil {
		t.Fatal(err)
	}
	mustRead(t, c, []byte("still open"))
}

// C02: the two directions close apart.
func TestConn_C02(t *testing.T) {
	versions(t, func(t *testing.T, version uint16) {
		a, b := openPair(t, limited(clientConfig(t), version), serverConfig(t), tcpPair)
		if _, err := a.Write([]byte("req")); err != nil {
			t.Fatal(err)
		}
		if err := a.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if n, err := a.Write([]byte("x")); n != 0 || !errors.Is(err, securestream.ErrClosed) {
			t.Errorf("%d bytes of a late write, %v", n, err)
		}
		if req, err := io.ReadAll(b); string(req) != "req" || err != nil {
			t.Errorf("%q, %v", req, err)
		}
		for range 3 {
			if _, err := b.Write(pattern(16384)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(b.CloseWrite(), b.CloseWrite()); err != nil {
			t.Error(err)
		}
		if all, err := io.ReadAll(a); len(all) != 3*16384 || err != nil {
			t.Errorf("%d bytes, %v", len(all), err)
		}
		if n, err := a.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Error(n, err)
		}
	})
}

// cut is a transport that ends after a number of bytes.
type cut struct {
	net.Conn
	left int
}

func (c *cut) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// V04: the body is whole, the closing alert is not.
func TestConn_V04(t *testing.T) {
	for _, room := range []int{16384, 10000, 100} {
		a, b := tcpPair(t)
		transport := &cut{a, 1 << 30}
		c, s := securestream.Client(transport, clientConfig(t)), securestream.Server(b, serverConfig(t))
		mustAll(t, together(c.Handshake, s.Handshake))
		sent := int(s.Stream().Counter(securestream.WireSent))
		mustAll(t, together(func() error { _, err := s.Write(pattern(3 * 16384)); return errors.Join(err, s.CloseWrite()) }))
		transport.left = int(s.Stream().Counter(securestream.WireSent)) - sent - 24 + 3 // close_notify has 24 bytes
		var body []byte
		p := make([]byte, room)
		for len(body) < 3*16384 {
			n, err := c.Read(p)
			if n == 0 || err != nil {
				t.Fatal(n, err)
			}
			body = append(body, p[:n]...)
		}
		if !bytes.Equal(body, pattern(3*16384)) {
			t.Error("other bytes came than were sent")
		}
		for range 2 {
			n, err := c.Read(p)
			if n != 0 || !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, securestream.ErrTruncated) || errors.Is(err, io.EOF) {
				t.Error(n, err)
			}
		}
		if _, err := c.Write([]byte("still")); err != nil {
			t.Error("sending goes on after a truncation:", err)
		}
	}
}

// H04: the transport ends inside the handshake.
func TestConn_H04(t *testing.T) {
	for _, after := range []int{0, 60} {
		a, b := tcpPair(t)
		client, server := securestream.Client(&cut{a, after}, clientConfig(t)), securestream.Server(b, serverConfig(t))
		begin := time.Now()
		errs := together(client.Handshake, func() error {
			go func() { time.Sleep(50 * time.Millisecond); a.(*net.TCPConn).CloseWrite() }()
			return server.Handshake()
		})
		for _, err := range errs {
			if !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, securestream.ErrHandshakeEOF) {
				t.Error(err)
			}
		}
		if again := client.Handshake(); again != errs[0] {
			t.Error("the second time it is", again)
		}
		if _, err := client.Read(make([]byte, 1)); err != errs[0] {
			t.Error("a read says", err)
		}
		if time.Since(begin) > time.Second {
			t.Error("it took", time.Since(begin))
		}
	}
}

// A01: a required client certificate is missing. The client that only writes is told too.
func TestConn_A01(t *testing.T) {
	refused := func(t *testing.T, err error, alert int) {
		t.Helper()
		var e *securestream.Error
		if !errors.As(err, &e) || e.AlertReceived != alert || !strings.Contains(err.Error(), securestream.AlertName(alert)) {
			t.Errorf("not alert %d: %v", alert, err)
		}
	}
	start := func(t *testing.T, version uint16) (c, s *securestream.Conn, errs []error) {
		a, b := tcpPair(t)
		c, s = securestream.Client(a, limited(clientConfig(t), version)), securestream.Server(b, askingConfig(t))
		errs = together(c.Handshake, s.Handshake)
		if !errors.Is(errs[1], securestream.ErrPeerCertRequired) {
			t.Error("the server:", errs[1])
		}
		return
	}
	_, _, errs := start(t, securestream.VersionTLS12)
	refused(t, errs[0], 40)

	t.Run("read", func(t *testing.T) {
		c, _, errs := start(t, securestream.VersionTLS13)
		_, err := c.Read(make([]byte, 1))
		refused(t, errors.Join(errs[0], err), 116)
		if _, err := c.Write([]byte("data")); err == nil {
			t.Error("writing goes on")
		}
	})
	t.Run("write", func(t *testing.T) {
		c, _, errs := start(t, securestream.VersionTLS13)
		time.Sleep(20 * time.Millisecond) // the alert is readable
		_, err := c.Write([]byte("data"))
		refused(t, errors.Join(errs[0], err), 116)
	})
	t.Run("close", func(t *testing.T) {
		c, _, errs := start(t, securestream.VersionTLS13)
		time.Sleep(20 * time.Millisecond)
		refused(t, errors.Join(errs[0], c.Close()), 116)
	})
	t.Run("given", func(t *testing.T) {
		client := clientConfig(t)
		client.Credentials = []*securestream.Credential{credential(t, "client-p256")}
		c, s := openPair(t, client, askingConfig(t), tcpPair)
		if chain := s.ConnectionState().PeerCertificates; len(chain) != 1 {
			t.Error(len(chain), "certificates")
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// T02: one reader and one writer. The peer answers only after it has all, and sends KeyUpdates in between.
func TestConn_T02(t *testing.T) {
	for _, transport := range transports {
		t.Run(transport.name, func(t *testing.T) {
			c, s := openPair(t, clientConfig(t), serverConfig(t), transport.pair)
			const pieces, size = 1000, 4096
			begin := time.Now()
			peer := func() error {
				p := make([]byte, size)
				for i := range pieces {
					if _, err := io.ReadFull(s, p); err != nil {
						return err
					}
					if i%100 == 50 {
						if err := s.Stream().KeyUpdate(true); err != nil {
							return err
						}
						if _, err := s.Write([]byte{1}); err != nil {
							return err
						}
					}
				}
				_, err := s.Write(pattern(size))
				rest, after := io.ReadAll(s)
				if len(rest) > 0 {
					return errors.New("more came than was sent")
				}
				return errors.Join(err, after, s.CloseWrite())
			}
			write := func() error {
				for range pieces {
					if _, err := c.Write(pattern(size)); err != nil {
						return err
					}
				}
				return c.CloseWrite()
			}
			var all []byte
			read := func() (err error) { all, err = io.ReadAll(c); return err }
			mustAll(t, together(peer, write, read))
			if len(all) != pieces/100+size || !bytes.Equal(all[pieces/100:], pattern(size)) {
				t.Errorf("%d bytes came, or others", len(all))
			}
			if got := c.Stream().Counter(securestream.KeyUpdatesReceived); got != pieces/100 {
				t.Errorf("%d KeyUpdates came", got)
			}
			if got := s.Stream().Counter(securestream.KeyUpdatesReceived); got == 0 {
				t.Error("no KeyUpdate was answered")
			}
			if took := time.Since(begin); took > 10*time.Second {
				t.Error("it took", took)
			}
		})
	}
}

// R03: a program that only reads answers a KeyUpdate.
func TestConn_R03(t *testing.T) {
	c, s := openPair(t, clientConfig(t), serverConfig(t), tcpPair)
	if err := s.Stream().KeyUpdate(true); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	mustRead(t, c, []byte("x"))
	_ = s.SetReadDeadline(time.Now().Add(5 * time.Second))
	go s.Read(make([]byte, 1)) // takes the answer
	for range 500 {
		if s.Stream().Counter(securestream.KeyUpdatesReceived) == 1 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the answer did not come")
}
