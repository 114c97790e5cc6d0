package main

import "securestream.example/securestream"

// form is a sentence that a step may be, and what it does.
type form struct {
	pattern string
	do      func(*world, match)
}

var givenForms = []form{
	{"a ROLE [CLAUSES]", addClauses},
	{"the ROLE CLAUSES", addClauses},
	{"a config TEXT [CLAUSES]", func(w *world, m match) { w.describe(get[string](m, 0), get[[]clause](m, 1)) }},
	{"ROLE gets N bytes a call", setChunk},
	{"ROLE has room for N bytes", setRoom},
}

func addClauses(w *world, m match) {
	e := w.end(m.role())
	e.clauses = append(e.clauses, get[[]clause](m, 1)...)
}

func setChunk(w *world, m match) { w.end(m.role()).chunk = get[int](m, 1) }
func setRoom(w *world, m match)  { w.end(m.role()).room = get[int](m, 1) }

// whenForms are those of README.md, section 6, but for the wire.
var whenForms = []form{
	{"both shake hands", func(w *world, _ match) { w.bothShakeHands() }},
	{"ROLE shakes hands", func(w *world, m match) { w.end(m.role()).shakeHands() }},
	{"ROLE encrypts DATA", func(w *world, m match) {
		wantCode("encrypt", w.end(m.role()).send(encrypt, get[[]byte](m, 1)), 0)
	}},
	{"ROLE flushes", func(w *world, m match) { wantCode("flush", w.end(m.role()).send(flush, nil), 0) }},
	{"ROLE flushes N bytes", func(w *world, m match) {
		e, n := w.end(m.role()), get[int](m, 1)
		e.perform(flush, nil, n)
		same("the status of flush", e.progress.Status, securestream.StatusNeedOutput)
		same("the bytes flushed", e.progress.Produced, n)
	}},
	{"ROLE closes", func(w *world, m match) { wantCode("close", w.end(m.role()).send(closeWrite, nil), 0) }},
	{"ROLE aborts with alert N", func(w *world, m match) {
		wantCode("abort", w.end(m.role()).stream.Abort(get[int](m, 1)), 0)
	}},
	{"ROLE updates its keys", func(w *world, m match) {
		wantCode("key update", w.end(m.role()).stream.KeyUpdate(false), 0)
	}},
	{"ROLE updates its keys and asks for more", func(w *world, m match) {
		wantCode("key update", w.end(m.role()).stream.KeyUpdate(true), 0)
	}},
	{"the transport to ROLE ends", func(w *world, m match) {
		wantCode("end of input", w.end(m.role()).stream.InputEOF(), 0)
	}},
	{"ROLE reloads CLAUSES", func(w *world, m match) { w.end(m.role()).reload(get[[]clause](m, 1)) }},
	{"ROLE answers ANSWER", func(w *world, m match) {
		wantCode("the answer", get[answer](m, 1)(w, w.end(m.role())), 0)
	}},
	{"both connect anew", func(w *world, _ match) { w.makeAnew() }},
	{"ROLE gets N bytes a call", setChunk},
	{"ROLE has room for N bytes", setRoom},
}

// turn lets a side go on with its handshake, and reports whether it has come further.
func (e *end) turn() bool {
	if e.handshakeOver {
		return false
	}
	waited, sent := len(e.in.waiting), len(e.other.in.all)
	e.shakeHands()
	return e.handshakeOver || len(e.in.waiting) < waited || len(e.other.in.all) > sent
}

func (w *world) bothShakeHands() {
	for !w.client.handshakeOver || !w.server.handshakeOver {
		client, server := w.client.turn(), w.server.turn()
		if client || server {
			continue
		}
		const mayStall = securestream.StateFailed | securestream.StateSuspended
		require(w.client.has(mayStall) || w.server.has(mayStall), "stall: both sides wait for input")
		return
	}
}

// wireForms change what waits.
var wireForms = []form{
	{"the wire to ROLE gets DATA", func(w *world, m match) { w.end(m.role()).in.put(get[[]byte](m, 1)...) }},
	{"the wire to ROLE gets a plain TYPE record with DATA", func(w *world, m match) {
		data := get[[]byte](m, 2)
		require(len(data) <= 0xffff, "a record of %d bytes", len(data))
		w.end(m.role()).in.put(makeRecord(get[byte](m, 1), 3, data)...)
	}},
	{"the wire to ROLE gets a sealed TYPE record with DATA", func(w *world, m match) {
		w.end(m.role()).forge(get[byte](m, 1), get[[]byte](m, 2), 1)
	}},
	{"the wire to ROLE gets N sealed TYPE records with DATA", func(w *world, m match) {
		w.end(m.role()).forge(get[byte](m, 2), get[[]byte](m, 3), get[int](m, 1))
	}},
	{"the wire to ROLE loses everything", func(w *world, m match) { w.end(m.role()).in.waiting = nil }},
	{"the wire to ROLE is cut after N bytes", func(w *world, m match) {
		w.end(m.role()).in.cut(get[int](m, 1))
	}},
	{"the wire to ROLE is cut in half", func(w *world, m match) {
		in := &w.end(m.role()).in
		require(len(in.waiting) >= 2, "%d bytes have no halves", len(in.waiting))
		in.cut(len(in.waiting) / 2)
	}},
	{"the wire to ROLE is cut after N bytes of the last record", func(w *world, m match) {
		w.end(m.role()).in.cutLast(get[int](m, 1))
	}},
	{"the last byte to ROLE is changed", func(w *world, m match) {
		in := &w.end(m.role()).in
		require(len(in.waiting) > 0, "nothing waits")
		in.waiting[len(in.waiting)-1] ^= 1
	}},
	{"the wire to ROLE is split into records of N bytes", func(w *world, m match) {
		require(get[int](m, 1) > 0, "records of no bytes")
		w.end(m.role()).in.split(get[int](m, 1))
	}},
}

func (w *wire) cut(n int) {
	require(n <= len(w.waiting), "cut after %d bytes: %d wait", n, len(w.waiting))
	w.waiting = w.waiting[:n]
}

func (w *wire) cutLast(n int) {
	whole, rest := records(w.waiting)
	require(len(whole) > 0, "no whole record waits")
	last := whole[len(whole)-1]
	require(n < len(last), "cut after %d bytes: the last record has %d", n, len(last))
	w.cut(len(w.waiting) - len(rest) - len(last) + n)
}
