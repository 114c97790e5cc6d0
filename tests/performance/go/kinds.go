package main

import (
	"bytes"
	"fmt"

	"securestream.example/securestream"
	"securestream.example/tests/go/support"
)

// kind says what an op is (README.md, section 3).
type kind struct {
	begin func(*kase, *pair) work
	bytes func(*kase) int // of plaintext an op moves; 0: none
}

// work does n ops.
type work interface{ pass(n int) error }

var kinds map[string]kind

func init() {
	once := func(c *kase) int { return c.size * c.rounds }
	kinds = map[string]kind{
		"write_read": {func(c *kase, p *pair) work { return &oneWay{newLane(p.client, p.server, c.size), c.rounds, false} }, once},
		"read_write": {func(c *kase, p *pair) work { return &oneWay{newLane(p.client, p.server, c.size), c.rounds, true} }, once},
		"transfer": {func(c *kase, p *pair) work {
			return &oneWay{newLane(p.client, p.server, c.size), c.total / c.size, false}
		}, func(c *kase) int { return c.total }},
		"concurrent": {func(c *kase, p *pair) work {
			return &bothWays{newLane(p.client, p.server, c.size), newLane(p.server, p.client, c.size), c.rounds}
		}, func(c *kase) int { return 2 * c.size * c.rounds }},
		"handshake": {func(_ *kase, p *pair) work { return p }, func(*kase) int { return 0 }},
	}
}

// lane is one direction: its plaintext, its records, and what was read of them.
type lane struct {
	from, to          *securestream.Stream
	plain, wire, read []byte
}

func newLane(from, to *securestream.Stream, size int) *lane {
	return &lane{from, to, support.Pattern(size), make([]byte, from.EncryptedSize(size)), make([]byte, size+securestream.MaxRecord)}
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

// bothWays is concurrent.
type bothWays struct {
	there, back *lane
	rounds      int
}

func (w *bothWays) pass(n int) error {
	errs := make(chan error)
	for _, l := range []*lane{w.there, w.back} {
		go func() {
			for range n * w.rounds {
				if err := l.move(); err != nil {
					errs <- err
					return
				}
			}
			errs <- l.check()
		}()
	}
	first, second := <-errs, <-errs
	if first != nil {
		return first
	}
	return second
}
