package securestream

import (
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"securestream.example/securestream/internal/raw"
)

// maxPlaintext is the most that one record holds (RFC 8446, 5.1).
const maxPlaintext = 1 << 14

// Read reads decrypted bytes. It returns io.EOF at the peer's close_notify, and an error that is io.ErrUnexpectedEOF
// (by errors.Is) if the transport ended without it. All that came before is given out first.
func (c *Conn) Read(p []byte) (int, error) {
	if err := c.Handshake(); err != nil {
		return 0, err
	}
	if len(p) == 0 {
		return 0, nil
	}
	c.in.mu.Lock()
	n, err := c.read(p)
	c.in.release()
	c.in.mu.Unlock()
	return n, err
}

// read returns when there is something to give, or the end. The inbox is locked.
func (c *Conn) read(p []byte) (int, error) {
	in := &c.in
	for {
		if n := in.read(p); n > 0 {
			return n, nil
		}
		if c.closed.Load() {
			return 0, failure("read", raw.SST_ERR_CLOSED, nil)
		}
		if in.err != nil {
			in.told = true
			return 0, in.err
		}
		if !in.hungry {
			if n := c.openSome(p); n > 0 {
				return n, nil
			}
			continue
		}
		if in.owes { // tickets of a server that has sent nothing yet
			in.owes = false
			c.flushSoon(false)
		}
		if err := c.receive(); err != nil {
			return 0, err
		}
	}
}

// openSome makes one call that opens what has come: to p if that has room for any record, in place otherwise, so that
// small reads cross to C once for many records. It returns what it wrote to p.
func (c *Conn) openSome(p []byte) int {
	in := &c.in
	var done Progress
	var err error
	written := 0
	leave := c.lockEarly()
	if len(p) >= maxPlaintext {
		done, err = c.stream.Decrypt(in.wire(), p)
		written = done.Produced
	} else {
		base := in.start
		in.next = 0
		in.used, done, err = c.stream.DecryptInPlace(in.wire(), in.ranges[:])
		for i := range in.used {
			in.ranges[i].Offset += base
		}
	}
	leave()
	in.take(done.Consumed)
	if early := done.Flags&EarlyData != 0; early || c.gaveEarly.Load() || c.unconfirmed.Load() {
		c.gaveEarly.Store(early)
		c.unconfirmed.Store(early)
	}
	if done.Produced > 0 && !c.heard.Load() {
		c.heard.Store(true)
	}
	c.events(done.Flags)
	if done.Flags&HasOutput != 0 {
		c.flushSoon(err != nil && !errors.Is(err, ErrTruncated))
	}
	in.hungry = done.Status == StatusNeedInput
	switch {
	case err != nil:
		in.err = err
	case done.Status == StatusClosed:
		in.err = io.EOF
	}
	return written
}

// receive waits for the transport. Its end is told to the stream, which knows whether that is the end of the data.
func (c *Conn) receive() error {
	in := &c.in
	n, err := c.conn.Read(in.space())
	return c.received(n, err)
}

func (c *Conn) received(n int, err error) error {
	in := &c.in
	in.end += n
	switch {
	case n > 0:
		in.hungry = false
		return nil // an error comes again
	case err == io.EOF:
		in.hungry, in.eof = false, true
		defer c.lockEarly()()
		return c.stream.InputEOF()
	}
	return err
}

// flushSoon lets a goroutine send what the stream owes the peer: an answer to KeyUpdate, tickets, the alert of a failure.
// The reader itself must not wait for the transport to write: a peer that only writes would then wait for ever.
func (c *Conn) flushSoon(last bool) {
	if last {
		// Nothing else will be sent. A peer that does not read must not hold the goroutine.
		_ = c.conn.SetWriteDeadline(time.Now().Add(goodbye))
	}
	if c.flushing.CompareAndSwap(false, true) {
		go c.flush()
	}
}

func (c *Conn) flush() {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	defer c.out.release()
	c.flushing.Store(false)
	for c.out.send(c.conn) == nil {
		p, err := c.stream.Flush(c.out.room())
		c.out.put(p.Produced)
		if err != nil || p.Produced == 0 {
			return
		}
	}
}

// unheard tells whether a refusal by the server may still come: a TLS 1.3 client is finished before the server has
// judged its certificate, and only something that was decrypted says that it is content (RFC 8446, 4.4.2.4).
func (c *Conn) unheard() bool { return c.role == RoleClient && !c.heard.Load() }

// look opens what has come, without waiting, unless a reader does that.
func (c *Conn) look() {
	if c.socket == nil || !c.in.mu.TryLock() {
		return
	}
	defer c.in.mu.Unlock()
	defer c.in.release()
	in := &c.in
	if in.err != nil || in.next < in.used || c.socket.Read(c.peek) != nil {
		return
	}
	if c.peeked > 0 {
		in.end += c.peeked
		c.openSome(nil)
	}
}

// readSocket reads what the socket has. It tells the runtime that this was all, whatever came.
func (c *Conn) readSocket(fd uintptr) bool {
	c.peeked, _ = syscall.Read(int(fd), c.in.space())
	return true
}

// lookLast looks for a refusal before the transport is closed, and returns it if the caller does not know it.
func (c *Conn) lookLast() error {
	if c.unheard() {
		if c.socket != nil {
			c.look()
		} else if c.in.mu.TryLock() {
			_ = c.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
			if c.receive() == nil {
				c.openSome(nil)
			}
			c.in.mu.Unlock()
		}
	}
	return c.refusal()
}

// refusal is a failure that was read and that the caller does not know; nil: none.
func (c *Conn) refusal() error {
	if !c.in.mu.TryLock() {
		return nil
	}
	defer c.in.mu.Unlock()
	var failed *Error
	if c.in.told || !errors.As(c.in.err, &failed) || failed.AlertReceived < 0 {
		return nil
	}
	c.in.told = true
	return failed
}

var _ net.Conn = (*Conn)(nil)
