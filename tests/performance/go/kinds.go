package main

import (
	"bytes"
	"fmt"

	"securestream.example/securestream"
	"securestream.example/tests/go/support"
)

// kind says what an op is (README.md, section 3).
type kind struct {
	begin  func(*kase, *party) (work, error)
	bytes  func(*kase) int // of plaintext an op moves; nil: none
	things func(*kase) int // handshakes or echoes; nil: none
}

// work does n ops.
type work interface {
	pass(n int) error
	end()
}

var kinds map[string]*kind

func init() {
	once := func(c *kase) int { return c.size * c.rounds }
	writeRead := func(p pair, c *kase) work { return &oneWay{p, newLane(p[client], p[server], c.size), c.rounds, false} }
	readWrite := func(p pair, c *kase) work { return &oneWay{p, newLane(p[client], p[server], c.size), c.rounds, true} }
	transfer := func(p pair, c *kase) work {
		return &oneWay{p, newLane(p[client], p[server], c.size), c.total / c.size, false}
	}
	concurrent := func(p pair, c *kase) work { return &bothWays{p, p.lanes(c.size), c.rounds} }
	kinds = map[string]*kind{
		"write_read": {begin: onPair(writeRead), bytes: once},
		"read_write": {begin: onPair(readWrite), bytes: once},
		"transfer":   {begin: onPair(transfer), bytes: func(c *kase) int { return c.total }},
		"concurrent": {begin: onPair(concurrent), bytes: func(c *kase) int { return 2 * once(c) }},
		"handshake":  {begin: (*kase).beginHandshakes, things: func(c *kase) int { return c.threads }},
		"resumed":    {begin: (*kase).beginResumed, things: func(*kase) int { return 1 }},
		"early":      {begin: (*kase).beginResumed, things: func(*kase) int { return 1 }},
		"echo": {begin: (*kase).beginEchoes, bytes: func(c *kase) int { return 2 * once(c) * c.threads },
			things: func(c *kase) int { return c.rounds * c.threads }},
		"idle": {begin: (*kase).beginIdle},
	}
}

// onPair begins work on one open pair.
func onPair(begin func(pair, *kase) work) func(*kase, *party) (work, error) {
	return func(c *kase, p *party) (work, error) {
		h, err := newHand(p, c.over)
		if err != nil {
			return nil, err
		}
		opened, err := h.openPair()
		if err != nil {
			return nil, err
		}
		return begin(opened, c), nil
	}
}

// lane is one direction, with its buffers.
type lane struct {
	from, to *securestream.Stream
	*buffers
}

// buffers are plaintext, its records, and what was read of them.
type buffers struct{ plain, wire, read []byte }

func newBuffers(from *securestream.Stream, size int) *buffers {
	return &buffers{support.Pattern(size), make([]byte, from.EncryptedSize(size)), make([]byte, size+securestream.MaxRecord)}
}

func newLane(from, to *securestream.Stream, size int) *lane {
	return &lane{from, to, newBuffers(from, size)}
}

// move encrypts in one call and decrypts in one.
func (l *lane) move() error {
	p, err := l.from.Encrypt(l.plain, l.wire)
	if err != nil || p.Status != securestream.StatusOK {
		return fmt.Errorf("encrypt gave %v: %w", p.Status, err)
	}
	p, err = l.to.Decrypt(l.wire[:p.Produced], l.read)
	if err != nil || p.Status != securestream.StatusNeedInput || p.Produced != len(l.plain) {
		return fmt.Errorf("decrypt gave %v and %d bytes: %w", p.Status, p.Produced, err)
	}
	return nil
}

// readNothing decrypts without input.
func (l *lane) readNothing() error {
	p, err := l.to.Decrypt(nil, l.read)
	if err != nil || p.Status != securestream.StatusNeedInput {
		return fmt.Errorf("decrypt of nothing gave %v: %w", p.Status, err)
	}
	return nil
}

// check compares what was read last with what was sent.
func (l *lane) check() error {
	if !bytes.Equal(l.plain, l.read[:len(l.plain)]) {
		return fmt.Errorf("other bytes came than were sent")
	}
	clear(l.read)
	return nil
}

// oneWay is write_read, read_write and transfer.
type oneWay struct {
	pair
	*lane
	rounds     int
	asksBefore bool
}

func (w *oneWay) pass(n int) error {
	for range n * w.rounds {
		if w.asksBefore {
			if err := w.readNothing(); err != nil {
				return err
			}
		}
		if err := w.move(); err != nil {
			return err
		}
	}
	return w.check()
}

func (w *oneWay) end() { w.close() }

// bothWays is concurrent.
type bothWays struct {
	pair
	ways   [2]*lane
	rounds int
}

func (w *bothWays) end() { w.close() }

func (w *bothWays) pass(n int) error {
	return together(2, func(i int) error {
		for range n * w.rounds {
			if err := w.ways[i].move(); err != nil {
				return err
			}
		}
		return w.ways[i].check()
	})
}
