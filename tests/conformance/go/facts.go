package main

import (
	"slices"
	"strings"

	"securestream.example/securestream"
	"securestream.example/tests/go/support"
)

// factForms are about what a stream says of itself (README.md, section 7).
var factForms = []form{
	{"state of ROLE is LIST", stateIs},
	{"ROLE uses suite TEXT", fact("the suite", func(e *end) string {
		return securestream.CipherSuiteName(e.stream.Info().CipherSuite)
	})},
	{"ROLE uses group TEXT", fact("the group", func(e *end) string { return securestream.GroupName(e.stream.Info().Group) })},
	{"ROLE signs by TEXT", fact("our scheme", func(e *end) string { return schemeName(e.stream.Info().LocalScheme) })},
	{"ROLE is shown a signature by TEXT", fact("the peer's scheme", func(e *end) string {
		return schemeName(e.stream.Info().PeerScheme)
	})},
	{"ROLE uses protocol TEXT", fact("the protocol", func(e *end) string { return e.stream.ALPN() })},
	{"ROLE uses no protocol", func(w *world, m match) { same("the protocol", w.end(m.role()).stream.ALPN(), "") }},
	{"ROLE knows the server name TEXT", fact("the server name", func(e *end) string { return e.stream.ServerName() })},
	{"ROLE knows no server name", func(w *world, m match) {
		same("the server name", w.end(m.role()).stream.ServerName(), "")
	}},
	{"ROLE has N peer certificates", chainHas((*end).peerChain)},
	{"peer certificate N of ROLE is LEAF", certificateIs((*end).peerChain)},
	{"sent certificate N of ROLE is LEAF", func(w *world, m match) {
		sameCertificate(w.end(m.role()).stream.LocalCertificate(get[int](m, 0)), get[string](m, 2))
	}},
	{"ROLE has sent N certificates", chainHas((*end).sentChain)},
	{"verified chain of ROLE has N certificates", chainHas((*end).verifiedChain)},
	{"verified certificate N of ROLE is LEAF", certificateIs((*end).verifiedChain)},
	{"refused chain of ROLE has N certificates", chainHas((*end).refusedChain)},
	{"refused certificate N of ROLE is LEAF", certificateIs((*end).refusedChain)},
	{"ROLE has verified its peer", flag("verified", verified, true)},
	{"ROLE has not verified its peer", flag("verified", verified, false)},
	{"ROLE saw a retry", flag("a retry", retried, true)},
	{"ROLE saw no retry", flag("a retry", retried, false)},
	{"ROLE has output waiting", flag("output waits", outputWaits, true)},
	{"ROLE has no output waiting", flag("output waits", outputWaits, false)},
	{"ROLE has sent N records", counts(securestream.RecordsSent)},
	{"ROLE has sent N key updates", counts(securestream.KeyUpdatesSent)},
	{"ROLE has received N key updates", counts(securestream.KeyUpdatesReceived)},
	{"ROLE reports alert N", func(w *world, m match) {
		w.end(m.role()).reports(securestream.EventAlertReceived, uint64(get[int](m, 1)))
	}},
	{"ROLE reports new sending keys", func(w *world, m match) { w.end(m.role()).reports(securestream.EventKeysUpdated, 0) }},
	{"ROLE reports new receiving keys", func(w *world, m match) { w.end(m.role()).reports(securestream.EventKeysUpdated, 1) }},
	{"ROLE reports nothing more", func(w *world, m match) {
		event, waits := w.end(m.role()).nextEvent()
		require(!waits, "there is an event %+v", event)
	}},
	{"key log of ROLE has N lines", func(w *world, m match) {
		same("lines of the key log", len(w.end(m.role()).keyLog), get[int](m, 1))
	}},
	{"key log of ROLE has a line TEXT", func(w *world, m match) {
		lines, label := w.end(m.role()).keyLog, get[string](m, 1)
		found := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, label+" ") })
		require(found, "none of %d lines has the label %s", len(lines), label)
	}},
}

func fact(what string, of func(*end) string) func(*world, match) {
	return func(w *world, m match) { same(what, of(w.end(m.role())), get[string](m, 1)) }
}

func flag(what string, of func(*end) bool, want bool) func(*world, match) {
	return func(w *world, m match) { same(what, of(w.end(m.role())), want) }
}

func counts(which securestream.Counter) func(*world, match) {
	return func(w *world, m match) {
		same("the counter", w.end(m.role()).stream.Counter(which), uint64(get[int](m, 1)))
	}
}

func verified(e *end) bool    { return e.stream.Info().Verified }
func retried(e *end) bool     { return e.stream.Info().HelloRetry }
func outputWaits(e *end) bool { return e.stream.OutputSize() > 0 }

func schemeName(scheme uint16) string {
	if scheme == 0 {
		return "none"
	}
	return securestream.SchemeName(scheme)
}

func stateIs(w *world, m match) {
	bits := map[string]securestream.State{"new": 0, "handshake": securestream.StateHandshake,
		"suspended": securestream.StateSuspended, "open": securestream.StateOpen, "we-closed": securestream.StateWeClosed,
		"peer-closed": securestream.StatePeerClosed, "truncated": securestream.StateTruncated,
		"failed": securestream.StateFailed, "ended-early": securestream.StateEndedEarly}
	var want securestream.State
	for _, name := range get[[]string](m, 1) {
		bit, known := bits[name]
		require(known, "unknown state '%s'", name)
		want |= bit
	}
	same("the state", w.end(m.role()).stream.State(), want)
}

func (e *end) peerChain() [][]byte     { return e.stream.PeerCertificates() }
func (e *end) sentChain() [][]byte     { return e.stream.LocalCertificates() }
func (e *end) verifiedChain() [][]byte { return e.stream.VerifiedChain() }
func (e *end) refusedChain() [][]byte  { return e.errorRecord().Chain }

// chainHas has the places ROLE and N.
func chainHas(of func(*end) [][]byte) func(*world, match) {
	return func(w *world, m match) { same("certificates", len(of(w.end(m.role()))), get[int](m, 1)) }
}

// certificateIs has the places N, ROLE and LEAF.
func certificateIs(of func(*end) [][]byte) func(*world, match) {
	return func(w *world, m match) {
		chain, i := of(w.end(m.role())), get[int](m, 0)
		require(i < len(chain), "there are %d", len(chain))
		sameCertificate(chain[i], get[string](m, 2))
	}
}

func sameCertificate(got []byte, leaf string) {
	want, err := support.Certificate(leaf)
	require(err == nil, "%v", err)
	sameBytes("the certificate", got, want)
}

func (e *end) reports(kind securestream.EventKind, value uint64) {
	event, waits := e.nextEvent()
	require(waits, "no event waits")
	same("the event", event.Kind, kind)
	same("its value", event.Value, value)
}
