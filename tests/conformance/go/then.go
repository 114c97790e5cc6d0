package main

import (
	"errors"
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
	{"ROLE has no reasons", func(w *world, m match) {
		same("the number of reasons", len(w.end(m.role()).errorRecord().Reasons), 0)
	}},
	{"message of ROLE contains TEXT", func(w *world, m match) {
		contains("the message", w.end(m.role()).errorRecord().Message, get[string](m, 1))
	}},
	{"hint of ROLE contains TEXT", func(w *world, m match) {
		contains("the hint", w.end(m.role()).errorRecord().Hint(), get[string](m, 1))
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
	{"a ROLE [CLAUSES] is refused with CODE", func(w *world, m match) { isRefused(w, m) }},
	{"a ROLE [CLAUSES] is refused with CODE and says TEXT", func(w *world, m match) {
		contains("the message", isRefused(w, m).Message, get[string](m, 3))
	}},
	{"the old connection carries DATA", func(w *world, m match) {
		require(w.client.old != nil, "there is no old connection")
		w.client.old.carries(get[[]byte](m, 0))
		w.server.old.carries(get[[]byte](m, 0))
	}},
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
	sameReasons(w.end(m.role()).errorRecord().Reasons, get[[]string](m, 1))
}

// sameReasons compares sets.
func sameReasons(reasons []securestream.Code, names []string) {
	want := slices.Compact(slices.Sorted(slices.Values(names)))
	for _, name := range want {
		require(codes[name] != 0, "unknown reason '%s'", name)
	}
	var got []string
	for _, code := range reasons {
		got = append(got, strings.TrimPrefix(code.String(), "ERR_"))
	}
	slices.Sort(got)
	require(slices.Equal(got, want), "reasons: expected %v, got %v", want, got)
}

// isRefused returns the first failure of making such a config and stream.
func isRefused(w *world, m match) *securestream.Error {
	made, err := newMaking(m.role(), w.version, w.rings, get[[]clause](m, 1))
	defer made.close()
	if err == nil {
		var stream *securestream.Stream
		if stream, err = made.newStream(); err == nil {
			stream.Close()
		}
	}
	wantCode("making it", err, get[securestream.Code](m, 2))
	var refusal *securestream.Error
	errors.As(err, &refusal)
	return refusal
}

// carries sends data to the other side, which decrypts just this.
func (e *end) carries(data []byte) {
	wantCode("encrypt", e.send(encrypt, data), 0)
	plaintext, status := e.other.deliver(decrypt)
	sameBytes("the plaintext", plaintext, data)
	same("the last status", status, securestream.StatusNeedInput)
}

func contains(what, all, part string) {
	require(strings.Contains(all, part), "%s %q does not contain %q", what, all, part)
}
