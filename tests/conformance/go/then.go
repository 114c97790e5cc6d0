package main

import (
	"slices"
	"strings"

	"securestream.example/securestream"
)

// thenForms are about what is received, refused and failed (README.md, section 7).
var thenForms = []form{
	{"ROLE decrypts DATA HOW END", decrypts},
	{"DATA waits for ROLE", func(w *world, m match) {
		sameBytes("what waits", w.end(m.role()).in.waiting, get[[]byte](m, 0))
	}},
	{"N records wait for ROLE", func(w *world, m match) {
		whole, rest := records(w.end(m.role()).in.waiting)
		same("bytes behind the records", len(rest), 0)
		same("records that wait", len(whole), get[int](m, 0))
	}},
	{"ROLE is open", func(w *world, m match) { w.end(m.role()).mustBeOpen() }},
	{"ROLE is open with TLS V", func(w *world, m match) {
		e := w.end(m.role())
		e.mustBeOpen()
		same("the version", e.stream.Info().Version, get[uint16](m, 1))
	}},
	{"ROLE fails with CODE", failsWith},
	{"alert ALERTS reaches ROLE", alertReaches},
	{"ROLE sends no alert", func(w *world, m match) {
		e := w.end(m.role())
		same("the alert sent", e.errorRecord().AlertSent, -1)
		same("output that waits", e.stream.OutputSize(), 0)
	}},
	{"reasons of ROLE are LIST", reasonsAre},
	{"message of ROLE contains TEXT", func(w *world, m match) {
		message, part := w.end(m.role()).errorRecord().Message, get[string](m, 1)
		require(strings.Contains(message, part), "the message %q does not contain %q", message, part)
	}},
	{"ROLE encrypting DATA fails with CODE", func(w *world, m match) {
		e := w.end(m.role())
		wantCode("encrypt", e.once(encrypt, get[[]byte](m, 1)), get[securestream.Code](m, 2))
		same("bytes consumed", e.progress.Consumed, 0)
		same("bytes produced", e.progress.Produced, 0)
	}},
	{"ROLE decrypting fails with CODE", refused(decrypt)},
	{"ROLE shaking hands fails with CODE", refused(handshake)},
	{"ROLE closing fails with CODE", refused(closeWrite)},
	{"ROLE aborting with alert N fails with CODE", func(w *world, m match) {
		wantCode("abort", w.end(m.role()).stream.Abort(get[int](m, 1)), get[securestream.Code](m, 2))
	}},
	{"ROLE updating its keys fails with CODE", func(w *world, m match) {
		wantCode("key update", w.end(m.role()).stream.KeyUpdate(false), get[securestream.Code](m, 1))
	}},
	{"a ROLE [CLAUSES] is refused with CODE", isRefused},
}

func decrypts(w *world, m match) {
	e, how := w.end(m.role()), decrypt
	if get[bool](m, 2) {
		how = decryptInPlace
	}
	plaintext, status := e.deliver(how)
	sameBytes("the plaintext", plaintext, get[[]byte](m, 1))
	same("the last status", status, get[securestream.Status](m, 3))
}

func (e *end) mustBeOpen() {
	open := e.has(securestream.StateOpen) && !e.has(securestream.StateFailed)
	require(open, "the state is %#x: %v", e.stream.State(), e.stream.LastError())
}

func refused(c call) func(*world, match) {
	return func(w *world, m match) {
		wantCode(c.String(), w.end(m.role()).once(c, nil), get[securestream.Code](m, 1))
	}
}

// failsWith looks at the record, and at the next call of the half that the stream is in.
func failsWith(w *world, m match) {
	e, code := w.end(m.role()), get[securestream.Code](m, 1)
	same("the code of the record", named(e.errorRecord().Code), named(code))
	next := handshake
	if e.has(securestream.StateOpen) {
		next = decrypt
	}
	wantCode("the next call", e.once(next, nil), code)
}

func alertReaches(w *world, m match) {
	e := w.end(m.role())
	wantCode("flush of the other", e.other.send(flush, nil), 0)
	if !e.has(securestream.StateOpen) {
		e.shakeHands()
	}
	if e.has(securestream.StateOpen) {
		plaintext, _ := e.deliver(decrypt)
		sameBytes("the plaintext", plaintext, nil)
	}
	record := e.errorRecord()
	alert := record.AlertReceived
	require(slices.Contains(get[[]int](m, 0), alert), "alert %d was received: %v", alert, e.err)
	same("the code of the record", named(record.Code), named(securestream.ErrAlertReceived-securestream.Code(alert)))
	wantCode("the last call", e.err, record.Code)
	require(record.Is(securestream.ErrAlertReceived), "%v is not ErrAlertReceived", record)
	same("the alert sent", record.AlertSent, -1)
	same("the alert that the other has sent", e.other.errorRecord().AlertSent, alert)
}

func reasonsAre(w *world, m match) {
	want := slices.Compact(slices.Sorted(slices.Values(get[[]string](m, 1))))
	for _, name := range want {
		require(codes[name] != 0, "unknown reason '%s'", name)
	}
	var got []string
	for _, code := range w.end(m.role()).errorRecord().Reasons {
		got = append(got, strings.TrimPrefix(code.String(), "ERR_"))
	}
	slices.Sort(got)
	require(slices.Equal(got, want), "reasons: expected %v, got %v", want, got)
}

func isRefused(w *world, m match) {
	made, stream, err := makeStream(m.role(), w.version, get[[]clause](m, 1))
	if err == nil {
		stream.Close()
		made.config.Close()
	}
	wantCode("making it", err, get[securestream.Code](m, 2))
}
