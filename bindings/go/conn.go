package securestream

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"securestream.example/securestream/internal/raw"
)

// Conn is a secured connection over a net.Conn. It is a net.Conn itself.
//
// The handshake is performed by the first Read or Write, unless Handshake is called before. One goroutine may read
// while another writes; further readers and writers wait for their turn. The two sides share no lock, and a Conn that
// waits for its transport to read can be written, closed, and given a deadline.
//
// A timeout loses nothing: what the transport had not taken is kept and goes out first with the next call. That holds
// for the handshake too.
type Conn struct {
	conn   net.Conn
	role   Role
	stream *Stream
	broken error // why there is no stream
	hello  *ClientHelloInfo

	shaking      sync.Mutex // the handshake; nobody else uses in and out before it is finished
	open         atomic.Bool
	handshakeErr error // the failure that ended the handshake

	sessionKey string // under which the cache has sessions of the server; empty: there is no cache
	early      []byte // what is to be sent before the handshake has finished
	earlySent  int

	unconfirmed atomic.Bool // a server that takes early data
	gaveEarly   atomic.Bool // the last Read

	in       inbox
	out      outbox
	heard    atomic.Bool // data has come
	flushing atomic.Bool // a goroutine waits for its turn to flush
	writers  atomic.Int32
	closed   atomic.Bool

	socket syscall.RawConn // nil: the transport is no socket
	peek   func(uintptr) bool
	peeked int
}

// Client makes the client side of a connection. The config must have ServerName, or an opt-out of the check of names.
// What is wrong with the config is told by the handshake.
func Client(conn net.Conn, config *Config) *Conn {
	config = orZero(config)
	return newConn(conn, config, RoleClient, config.ServerName)
}

// Server makes the server side of a connection. What is wrong with the config is told by the handshake.
func Server(conn net.Conn, config *Config) *Conn {
	return newConn(conn, orZero(config), RoleServer, "")
}

func newConn(conn net.Conn, config *Config, role Role, serverName string) *Conn {
	c := &Conn{conn: conn, role: role}
	c.stream, c.broken = newStream(config, role, serverName, role == RoleServer && config.asksClient())
	if c.broken == nil {
		c.broken = c.stream.LeavePartial() // ciphertext stays in our buffer, none is copied
	}
	if c.broken == nil {
		c.broken = c.offerSession(config, serverName)
	}
	if transport, ok := conn.(syscall.Conn); ok && role == RoleClient {
		c.socket, _ = transport.SyscallConn()
		c.peek = c.readSocket
	}
	return c
}

// Handshake performs the handshake, if it is not finished yet.
func (c *Conn) Handshake() error { return c.HandshakeContext(context.Background()) }

// HandshakeContext is Handshake within a context. If the context ends first, the connection is closed and its error is
// returned; once the handshake is finished the context has no effect.
func (c *Conn) HandshakeContext(ctx context.Context) error {
	if c.open.Load() {
		return nil
	}
	c.shaking.Lock()
	defer c.shaking.Unlock()
	switch {
	case c.open.Load():
		return nil
	case c.broken != nil:
		return c.broken
	case c.handshakeErr != nil:
		return c.handshakeErr
	}
	stop := context.AfterFunc(ctx, func() { c.conn.Close() })
	err := c.handshake(ctx)
	ended := !stop()
	if ended {
		err = ctx.Err()
	}
	if err == nil {
		c.open.Store(true)
		return nil
	}
	var failed *Error
	var asked *answerError
	if errors.As(err, &asked) { // an error of who answers ends the handshake, whatever its type
		err = asked.error
		c.handshakeErr = err
	} else if errors.As(err, &failed) || ended {
		c.handshakeErr = err
	}
	return err
}

// handshake goes on until the stream is open, or fails. An error of the transport leaves all as it is.
func (c *Conn) handshake(ctx context.Context) error {
	defer c.in.release()
	defer c.out.release()
	if err := c.out.send(c.conn); err != nil {
		return err
	}
	for {
		p, err := c.stream.Handshake(c.in.wire(), c.out.room())
		c.in.take(p.Consumed)
		c.out.put(p.Produced)
		c.events(p.Flags)
		// One write for the whole flight. After an error it is the alert that tells the peer why.
		sent := c.out.send(c.conn)
		switch {
		case err != nil && p.Flags&HasOutput != 0 && sent == nil:
			continue
		case err != nil:
			return err
		case sent != nil && p.Status == StatusNeedInput && !isTimeout(sent):
			return c.refusedBecause(sent)
		case sent != nil:
			return sent
		case p.Status == StatusOK:
			c.in.owes = p.Flags&HasOutput != 0
			c.unconfirmed.Store(p.Flags&EarlyData != 0)
			return nil
		case p.Status == StatusNeedOutput:
			continue
		case p.Status != StatusNeedInput:
			if err := c.answer(ctx, p.Status); err != nil {
				c.refuse()
				return &answerError{err}
			}
			continue
		}
		if err := c.sendEarly(); err != nil {
			return err
		}
		if err := c.receive(); err != nil {
			return err
		}
	}
}

// refuse tells the peer that the answer was no.
func (c *Conn) refuse() {
	p, _ := c.stream.Handshake(c.in.wire(), c.out.room())
	c.out.put(p.Produced)
	_ = c.out.send(c.conn)
}

// refusedBecause looks for the alert of a peer that takes no more, and else returns the error of sending.
func (c *Conn) refusedBecause(sent error) error {
	for !c.in.eof && c.receive() == nil {
		p, err := c.stream.Handshake(c.in.wire(), c.out.room())
		c.in.take(p.Consumed)
		if err != nil {
			return err
		}
		if p.Status != StatusNeedInput {
			break
		}
	}
	return sent
}

// events takes what the stream reports.
func (c *Conn) events(flags Flags) {
	if flags&HasEvent == 0 {
		return
	}
	for {
		event, ok := c.stream.NextEvent()
		if !ok {
			return
		}
		config := c.stream.config.Load()
		if event.Kind == EventKeyLog && config.KeyLogWriter != nil {
			config.writeKeyLog(event.Data)
		}
		if event.Kind == EventSession {
			c.keepSession(config, event.Data)
		}
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// CloseWrite sends close_notify and leaves the receiving side open.
//
// It returns [ErrClosed] after Close. Writing after it returns [ErrClosed]; reading goes on until the peer closes
// (RFC 8446, 6.1). Before the handshake is finished it returns [ErrState].
func (c *Conn) CloseWrite() error {
	if c.closed.Load() {
		return failure("close", raw.SST_ERR_CLOSED, nil)
	}
	if !c.open.Load() {
		return failure("close", raw.SST_ERR_STATE, nil)
	}
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	return c.sendClose()
}

// sendClose sends close_notify behind what waits, or after a failure the alert. The outbox is locked.
func (c *Conn) sendClose() error {
	defer c.out.release()
	if err := c.out.send(c.conn); err != nil {
		return err
	}
	for {
		p, err := c.stream.CloseWrite(c.out.room())
		c.out.put(p.Produced)
		if err != nil {
			return err
		}
		if err := c.out.send(c.conn); err != nil {
			return err
		}
		if p.Status == StatusOK {
			return nil
		}
	}
}

const goodbye = 5 * time.Second

// Close sends close_notify, if no Write is in progress, and closes the transport. It waits for the transport to take
// the close_notify for 5 seconds at most.
//
// A TLS 1.3 client that has read nothing looks, without waiting, whether the server has refused its certificate, and
// returns that.
func (c *Conn) Close() error {
	if !c.closed.CompareAndSwap(false, true) {
		return failure("close", raw.SST_ERR_CLOSED, nil)
	}
	var refused error
	if c.open.Load() {
		refused = c.lookLast()
		c.confirm()
		if c.writers.Load() == 0 {
			_ = c.conn.SetWriteDeadline(time.Now().Add(goodbye))
			c.out.mu.Lock()
			_ = c.sendClose()
			c.out.mu.Unlock()
		}
	}
	err := c.conn.Close()
	if c.stream != nil {
		c.stream.Close()
	}
	if refused != nil {
		return refused
	}
	return err
}

// NetConn is the transport. Reading or writing it breaks the connection.
func (c *Conn) NetConn() net.Conn { return c.conn }

// Stream is the state machine of the connection, for its facts. Nil: the config could not be used.
func (c *Conn) Stream() *Stream { return c.stream }

// LocalAddr is that of the transport.
func (c *Conn) LocalAddr() net.Addr { return c.conn.LocalAddr() }

// RemoteAddr is that of the transport.
func (c *Conn) RemoteAddr() net.Addr { return c.conn.RemoteAddr() }

// SetDeadline is SetReadDeadline and SetWriteDeadline.
func (c *Conn) SetDeadline(t time.Time) error { return c.conn.SetDeadline(t) }

// SetReadDeadline ends waiting for the transport to read. The handshake reads and writes.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.conn.SetReadDeadline(t) }

// SetWriteDeadline ends waiting for the transport to write. The handshake reads and writes.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.conn.SetWriteDeadline(t) }

// ConnectionState is what was negotiated.
type ConnectionState struct {
	Version            uint16
	HandshakeComplete  bool
	DidResume          bool
	CipherSuite        uint16
	CurveID            uint16
	NegotiatedProtocol string
	ServerName         string
	Verified           bool     // the peer's certificate was verified
	PeerCertificates   [][]byte // in DER as the peer sent it, leaf first; x509.ParseCertificate reads it
	VerifiedChain      [][]byte // in DER: from the peer's leaf to a trust anchor; nil: nothing was verified

	SignedCertificateTimestamps [][]byte // that the server stapled, unchecked
	OCSPResponse                []byte   // that the server stapled, unchecked
	TLSUnique                   []byte   // the channel binding tls-unique (RFC 5929, 3); nil with TLS 1.3

	stream *Stream
}

// ExportKeyingMaterial is [Stream.ExportKeyingMaterial].
func (s *ConnectionState) ExportKeyingMaterial(label string, context []byte, length int) ([]byte, error) {
	if s.stream == nil {
		return nil, failure("export key", raw.SST_ERR_STATE, nil)
	}
	return s.stream.ExportKeyingMaterial(label, context, length)
}

// ConnectionState tells what was negotiated; nothing before the handshake is finished.
func (c *Conn) ConnectionState() ConnectionState {
	if !c.open.Load() {
		return ConnectionState{}
	}
	i := c.stream.Info()
	return ConnectionState{
		Version: i.Version, HandshakeComplete: i.Version != 0, DidResume: i.Resumed, CipherSuite: i.CipherSuite,
		CurveID: i.Group, NegotiatedProtocol: c.stream.ALPN(), ServerName: c.stream.ServerName(), Verified: i.Verified,
		PeerCertificates: c.stream.PeerCertificates(), VerifiedChain: c.stream.VerifiedChain(),
		SignedCertificateTimestamps: c.stream.SignedCertificateTimestamps(), OCSPResponse: c.stream.OCSPResponse(),
		TLSUnique: c.stream.TLSUnique(), stream: c.stream,
	}
}
