package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"time"
)

const record, roomOfRecord, flightRoom = 16384, 16384 + 512, 65536

// clock is that of tests/data.
var clock = time.Unix(1767225600, 0)

// configs are made once, as users do.
type configs struct{ client, server *tls.Config }

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// newConfigs: with sessions, the server sends tickets (one a handshake, as crypto/tls does), and clients resume the
// newest session.
func newConfigs(data, leaf string, sessions bool) *configs {
	common := tls.Config{
		MinVersion: tls.VersionTLS13, MaxVersion: tls.VersionTLS13, CurvePreferences: []tls.CurveID{tls.X25519},
		SessionTicketsDisabled: !sessions, DynamicRecordSizingDisabled: true, Time: func() time.Time { return clock },
	}
	c := &configs{common.Clone(), common.Clone()}
	path := filepath.Join(data, leaf)
	c.server.Certificates = []tls.Certificate{must(tls.LoadX509KeyPair(path+".pem", path+".key"))}
	c.client.ServerName = "server.test"
	if sessions {
		c.client.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	}
	c.client.RootCAs = x509.NewCertPool()
	if !c.client.RootCAs.AppendCertsFromPEM(must(os.ReadFile(filepath.Join(data, "root.pem")))) {
		log.Fatal("root.pem holds no certificate")
	}
	return c
}

// end is one end of a pipe in memory. Reading waits for the other goroutine by handing the processor to it.
type end struct {
	in, out  *wire
	waitless bool // reading nothing times out
}

// wire is what one side has written and the other not read.
type wire struct {
	bytes []byte
	taken int
	more  chan struct{}
}

func newWire() *wire { return &wire{bytes: make([]byte, 0, flightRoom), more: make(chan struct{}, 1)} }

func (w *wire) put(b []byte) {
	if w.taken == len(w.bytes) {
		w.bytes, w.taken = w.bytes[:0], 0
	}
	w.bytes = append(w.bytes, b...)
	select {
	case w.more <- struct{}{}:
	default:
	}
}

func (e *end) Read(b []byte) (int, error) {
	for e.in.taken == len(e.in.bytes) {
		if e.waitless {
			return 0, os.ErrDeadlineExceeded
		}
		if _, open := <-e.in.more; !open {
			return 0, io.EOF
		}
	}
	n := copy(b, e.in.bytes[e.in.taken:])
	e.in.taken += n
	return n, nil
}

func (e *end) Write(b []byte) (int, error) {
	e.out.put(b)
	return len(b), nil
}

func (e *end) Close() error                     { return nil }
func (e *end) LocalAddr() net.Addr              { return nil }
func (e *end) RemoteAddr() net.Addr             { return nil }
func (e *end) SetDeadline(time.Time) error      { return nil }
func (e *end) SetReadDeadline(time.Time) error  { return nil }
func (e *end) SetWriteDeadline(time.Time) error { return nil }

// pair is a client and a server after a full handshake.
type pair struct{ client, server *tls.Conn }

func (c *configs) open() (*pair, error) {
	toServer, toClient := newWire(), newWire()
	p := &pair{
		tls.Client(&end{in: toClient, out: toServer}, c.client), tls.Server(&end{in: toServer, out: toClient}, c.server)}
	done := make(chan error, 1)
	go func() { done <- p.server.Handshake() }()
	if err := p.client.Handshake(); err != nil {
		return nil, err
	}
	if err := <-done; err != nil {
		return nil, err
	}
	state := p.client.ConnectionState()
	if state.CipherSuite != tls.TLS_AES_128_GCM_SHA256 || state.Version != tls.VersionTLS13 {
		return nil, errors.New("another suite or version")
	}
	return p, nil
}

// resume makes a connection that resumes the one before, or (the first) does not. The client reads its ticket.
func (c *configs) resume(resumes bool) error {
	p, err := c.open()
	if err != nil {
		return err
	}
	if p.client.ConnectionState().DidResume != resumes || p.server.ConnectionState().DidResume != resumes {
		return errors.New("resumed, or not, against expectation")
	}
	p.client.NetConn().(*end).waitless = true
	if _, err := p.client.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("the client read something else than a ticket: %w", err)
	}
	return nil
}

// move writes plain on one side and reads it on the other.
func move(from, to *tls.Conn, plain, read []byte) error {
	if _, err := from.Write(plain); err != nil {
		return err
	}
	_, err := io.ReadFull(to, read)
	return err
}

// dropWires frees the room of the transport, which is not crypto/tls's.
func (p *pair) dropWires() {
	for _, conn := range []*tls.Conn{p.client, p.server} {
		e := conn.NetConn().(*end)
		e.in.bytes, e.in.taken = nil, 0
	}
}
