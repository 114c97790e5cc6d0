package main

import "securestream.example/securestream"

// call is one of the calls that move bytes.
type call int

const (
	handshake call = iota
	encrypt
	decrypt
	decryptInPlace
	flush
	closeWrite
)

var callNames = [...]string{"handshake", "encrypt", "decrypt", "decrypt in place", "flush", "close"}

func (c call) String() string { return callNames[c] }

func (c call) takesWire() bool { return c == handshake || c == decrypt || c == decryptInPlace }

const (
	plentyRoom   = 65536
	plentyRanges = 64
)

// plenty is what the contract calls enough.
func (e *end) plenty(c call, in int) int {
	switch c {
	case decrypt:
		return in + securestream.MaxRecord
	case decryptInPlace:
		return plentyRanges
	case encrypt:
		return e.stream.EncryptedSize(in)
	}
	return plentyRoom
}

// perform makes one call, checks its progress, and puts what it produced on the wire. Plaintext is returned.
func (e *end) perform(c call, in []byte, room int) (plaintext []byte) {
	var out []byte
	if c != decryptInPlace {
		out = make([]byte, room)
	}
	switch c {
	case handshake:
		e.progress, e.err = e.stream.Handshake(in, out)
	case encrypt:
		e.progress, e.err = e.stream.Encrypt(in, out)
	case decrypt:
		e.progress, e.err = e.stream.Decrypt(in, out)
	case decryptInPlace:
		out = e.inPlace(in, room)
	case flush:
		e.progress, e.err = e.stream.Flush(out)
	case closeWrite:
		e.progress, e.err = e.stream.CloseWrite(out)
	}
	p := &e.progress
	require(p.Consumed >= 0 && p.Consumed <= len(in), "%v consumed %d of %d bytes", c, p.Consumed, len(in))
	require(p.Produced >= 0 && p.Produced <= len(out), "%v produced %d bytes in %d", c, p.Produced, len(out))
	e.check(c, len(in))
	if c == decrypt || c == decryptInPlace {
		if p.Flags&securestream.EarlyData != 0 {
			e.earlyBytes += p.Produced
		}
		return out[:p.Produced]
	}
	e.other.in.put(out[:p.Produced]...)
	return nil
}

// inPlace decrypts in a copy of in and returns what the ranges show.
func (e *end) inPlace(in []byte, room int) (out []byte) {
	buffer, ranges := append([]byte(nil), in...), make([]securestream.Range, room)
	var n int
	n, e.progress, e.err = e.stream.DecryptInPlace(buffer, ranges)
	require(n >= 0 && n <= room, "%d of %d ranges are used", n, room)
	for _, r := range ranges[:n] {
		require(r.Offset >= 0 && r.Length >= 0 && r.Offset+r.Length <= e.progress.Consumed, "a range %v behind what was consumed", r)
		out = append(out, buffer[r.Offset:][:r.Length]...)
	}
	require(len(out) == e.progress.Produced, "%d bytes in ranges, %d produced", len(out), e.progress.Produced)
	return out
}

// check compares a progress with what section 10 of the header says of every one.
func (e *end) check(c call, in int) {
	p, status := &e.progress, e.progress.Status
	same("the code of the error", named(codeOf(e.err)), named(securestream.Code(min(status, 0))))
	switch codeOf(e.err) {
	case securestream.ErrInvalidArgument, securestream.ErrBusy, securestream.ErrForked:
		require(*p == securestream.Progress{Status: status}, "%v refused, and there is progress", c)
		return
	}
	output, plaintext := e.stream.OutputSize(), e.stream.PlaintextSize()
	receives := c == decrypt || c == decryptInPlace
	waiting := output
	if receives {
		waiting = plaintext
	}
	same("what waits", p.Waiting, waiting)
	same("HAS_OUTPUT", p.Flags&securestream.HasOutput != 0, output > 0)
	same("HAS_PLAINTEXT", p.Flags&securestream.HasPlaintext != 0, plaintext > 0)
	switch status {
	case securestream.StatusOK:
		require(!receives, "%v gives OK", c)
		// Tickets of a server wait behind its handshake, and go out with what is sent next.
		require(output == 0 || c == handshake || c == encrypt && in == 0, "%v gives OK, and output waits", c)
		require(c != encrypt || p.Consumed == in, "encrypt gives OK for %d of %d bytes", p.Consumed, in)
	case securestream.StatusNeedInput:
		require(c.takesWire(), "%v needs input", c)
		require(p.Needed > 0, "%v needs input, and does not say how much", c)
		mayLeave := c == decryptInPlace || c == decrypt && e.made.leavesPartial
		require(mayLeave || p.Consumed == in, "%v needs input, and has taken %d of %d bytes", c, p.Consumed, in)
	case securestream.StatusNeedOutput:
		require(c == decryptInPlace || p.Needed > 0, "%v needs room, and does not say how much", c)
		require(c == encrypt || receives || p.Needed == output, "%v needs %d bytes of room for %d", c, p.Needed, output)
	case securestream.StatusClosed:
		require(receives, "%v gives CLOSED", c)
	case securestream.StatusWantClientHello, securestream.StatusWantCertificate,
		securestream.StatusWantCertificateVerify, securestream.StatusWantPrivateKeyOperation,
		securestream.StatusWantSession, securestream.StatusWantTicketDecrypt, securestream.StatusWantEarlyDataRetry:
		require(c == handshake, "%v stops for %v", c, status)
		require(output == 0, "%v stops for %v, and output waits", c, status)
	default:
		require(status < 0, "%v gives %v", c, status)
	}
	if receives && (status == securestream.StatusClosed || status < 0) {
		require(plaintext == 0, "%v ends by %v, and plaintext is kept", c, status)
	}
}

// repeat is what calls of one step know of each other.
type repeat struct {
	e     *end
	call  call
	held  int // bytes of the wire that the last call was given and did not consume
	asked int // room that it needs; 0: the usual one
}

func (r *repeat) room(in int) int {
	asked := r.asked
	r.asked = 0
	switch {
	case asked > 0:
		return asked
	case r.e.room == all:
		return r.e.plenty(r.call, in)
	}
	return r.e.room
}

// input is what the next call gets of the wire.
func (r *repeat) input() []byte {
	waiting := r.e.in.waiting
	if r.e.chunk == all {
		return waiting
	}
	return waiting[:min(len(waiting), r.held+r.e.chunk)]
}

// blocked notes that a call had too little room.
func (r *repeat) blocked(room int) {
	p := &r.e.progress
	if r.call == decryptInPlace {
		require(p.Consumed > 0, "stall: %d ranges are not enough", room)
		return
	}
	require(r.e.room != all, "%v needs %d bytes of room; it had plenty: %d", r.call, p.Needed, room)
	if p.Consumed > 0 || p.Produced > 0 {
		return
	}
	require(p.Needed > room, "stall: %v needs %d bytes of room, and had %d", r.call, p.Needed, room)
	r.asked = p.Needed
}

// deliver repeats a call with what waits for the side, and returns the plaintext and the last status.
func (e *end) deliver(c call) (plaintext []byte, status securestream.Status) {
	r := repeat{e: e, call: c}
	for again := false; ; {
		in := r.input()
		room := r.room(len(in))
		plaintext = append(plaintext, e.perform(c, in, room)...)
		p := &e.progress
		e.in.take(p.Consumed)
		moved := p.Consumed > 0 || p.Produced > 0 || len(in) > r.held
		r.held = len(in) - p.Consumed
		if p.Status == securestream.StatusNeedOutput {
			r.blocked(room)
			again = false
			continue
		}
		if p.Status != securestream.StatusNeedInput || len(e.in.waiting) <= r.held {
			return plaintext, p.Status
		}
		require(moved || !again, "stall: a repeated %v takes nothing of %d bytes", c, len(in))
		again = true
	}
}

// send repeats a call that takes no wire input, until data is consumed and nothing waits.
func (e *end) send(c call, data []byte) error {
	r := repeat{e: e, call: c}
	for {
		room := r.room(len(data))
		e.perform(c, data, room)
		data = data[e.progress.Consumed:]
		if e.progress.Status != securestream.StatusNeedOutput {
			return e.err
		}
		r.blocked(room)
	}
}

// shakeHands performs the handshake as far as it goes, the rest of an alert included.
func (e *end) shakeHands() {
	_, status := e.deliver(handshake)
	code := securestream.Code(min(status, 0))
	for r := (repeat{e: e, call: handshake}); code != 0 && e.progress.Flags&securestream.HasOutput != 0; {
		room := r.room(0)
		e.perform(handshake, nil, room)
		wantCode("handshake, for the rest of the alert", e.err, code)
		require(e.progress.Produced > 0 || room == 0, "stall: the rest of the alert does not come")
		if e.progress.Produced == 0 {
			r.asked = e.progress.Waiting
		}
	}
	e.handshakeOver = e.handshakeOver || status == securestream.StatusOK || status < 0
	if status == securestream.StatusOK && !e.open {
		e.open = true
		e.forger.openedAt = len(e.other.in.all)
	}
}

// once makes one call without wire input, with plenty of room.
func (e *end) once(c call, in []byte) error {
	e.perform(c, in, e.plenty(c, len(in)))
	return e.err
}
