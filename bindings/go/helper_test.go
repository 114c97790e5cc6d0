package securestream_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"securestream.example/securestream"
)

// The certificates of tests/data are judged at this time.
func testTime() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func dataFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "tests", "data", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func credential(t testing.TB, name string) *securestream.Credential {
	t.Helper()
	c, err := securestream.NewCredential(dataFile(t, name+".pem"), dataFile(t, name+".key"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func trust(t testing.TB, name string) *securestream.Trust {
	t.Helper()
	c, err := securestream.NewTrust(dataFile(t, name+".pem"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func serverConfig(t testing.TB) *securestream.Config {
	return &securestream.Config{Credentials: []*securestream.Credential{credential(t, "server-p256")}, Time: testTime}
}

func clientConfig(t testing.TB) *securestream.Config {
	return &securestream.Config{Trust: trust(t, "root"), ServerName: "server.test", Time: testTime}
}

// askingConfig is a server that demands a client certificate.
func askingConfig(t testing.TB) *securestream.Config {
	c := serverConfig(t)
	c.ClientAuth = securestream.RequireAndVerifyClientCert
	c.Trust = trust(t, "client-root")
	return c
}

// Configs of the foreign peer.
func foreignServer(t testing.TB, version uint16) *tls.Config {
	t.Helper()
	pair, err := tls.X509KeyPair(dataFile(t, "server-p256.pem"), dataFile(t, "server-p256.key"))
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: version, MaxVersion: version, Time: testTime}
}

func foreignClient(t testing.TB, version uint16) *tls.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(dataFile(t, "root.pem"))
	return &tls.Config{RootCAs: roots, ServerName: "server.test", MinVersion: version, MaxVersion: version, Time: testTime}
}

// tcpPair is two ends of a connection over TCP.
func tcpPair(t testing.TB) (net.Conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(30 * time.Second) // no test may hang
	_, _ = a.SetDeadline(end), b.SetDeadline(end)
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

func pipePair(t testing.TB) (net.Conn, net.Conn) {
	a, b := net.Pipe()
	end := time.Now().Add(30 * time.Second)
	_, _ = a.SetDeadline(end), b.SetDeadline(end)
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// transports are the kinds of connection that a Conn is tested over.
var transports = []struct {
	name string
	pair func(testing.TB) (net.Conn, net.Conn)
}{{"tcp", tcpPair}, {"pipe", pipePair}}

// together runs the functions at the same time and returns their errors.
func together(functions ...func() error) []error {
	errs := make([]error, len(functions))
	done := make(chan struct{})
	for i, f := range functions {
		go func() { errs[i] = f(); done <- struct{}{} }()
	}
	for range functions {
		<-done
	}
	return errs
}

// group waits for what it runs.
type group struct{ sync.WaitGroup }

func (g *group) run(f func()) {
	g.Add(1)
	go func() { defer g.Done(); f() }()
}

func mustAll(t testing.TB, errs []error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// openPair is a client and a server that have shaken hands.
func openPair(t testing.TB, client, server *securestream.Config, pair func(testing.TB) (net.Conn, net.Conn)) (c, s *securestream.Conn) {
	t.Helper()
	a, b := pair(t)
	c, s = securestream.Client(a, client), securestream.Server(b, server)
	mustAll(t, together(c.Handshake, s.Handshake))
	return c, s
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

func mustRead(t testing.TB, r io.Reader, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatal("other bytes came than were sent")
	}
}

// noneLeft waits until the collector has freed all objects of the library but base.
func noneLeft(t *testing.T, base int) {
	t.Helper()
	for range 200 {
		runtime.GC()
		if securestream.LiveObjects() <= base {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%d objects are left, %d at the start", securestream.LiveObjects(), base)
}
