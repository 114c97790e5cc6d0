package main

import (
	"time"

	"securestream.example/securestream"
)

// resumingForms are about sessions and the keys of their tickets (README.md, section 6).
var resumingForms = []form{
	{"both connect anew with the session", func(w *world, _ match) {
		w.connectWith(w.theSession())
	}},
	{"both connect anew with the session from bytes", func(w *world, _ match) {
		session, err := securestream.ParseSession(w.theSession().Bytes())
		require(err == nil, "%v", err)
		defer session.Close()
		w.connectWith(session)
	}},
	{"the session may be used again", func(w *world, _ match) {
		wantCode("set reusable", w.theSession().SetReusable(true), 0)
	}},
	{"ticket keys TEXT are rotated", func(w *world, m match) {
		wantCode("rotate", w.rings.of(get[string](m, 0)).Rotate(), 0)
	}},
	{"ticket keys TEXT are replaced by LIST", func(w *world, m match) {
		wantCode("replace", w.rings.of(get[string](m, 0)).Replace(keysOf(get[[]string](m, 1))...), 0)
	}},
	{"ticket keys TEXT are taken away", func(w *world, m match) {
		wantCode("replace", w.rings.of(get[string](m, 0)).Replace(), 0)
	}},
}

// sessionForms are about what came of that, and 0-RTT (section 7).
var sessionForms = []form{
	{"ROLE has resumed", flag("resumed", resumed, true)},
	{"ROLE has not resumed", flag("resumed", resumed, false)},
	{"early data of ROLE was accepted", flag("early data accepted", earlyAccepted, true)},
	{"early data of ROLE was not accepted", flag("early data accepted", earlyAccepted, false)},
	{"ROLE reports that early data was accepted", func(w *world, m match) {
		w.end(m.role()).reports(securestream.EventEarlyData, 1)
	}},
	{"ROLE reports that early data was refused", func(w *world, m match) {
		w.end(m.role()).reports(securestream.EventEarlyData, 0)
	}},
	{"ROLE may encrypt N bytes early", func(w *world, m match) {
		same("bytes left", w.end(m.role()).stream.EarlyDataLeft(), get[int](m, 1))
	}},
	{"ROLE decrypts early DATA HOW", func(w *world, m match) {
		e, how := w.end(m.role()), decrypt
		if get[bool](m, 2) {
			how = decryptInPlace
		}
		before := e.earlyBytes
		plaintext, status := e.deliver(how)
		sameBytes("the plaintext", plaintext, get[[]byte](m, 1))
		same("bytes that came early", e.earlyBytes-before, len(plaintext))
		same("the last status", status, securestream.StatusNeedInput)
	}},
	{"ROLE has got N sessions", func(w *world, m match) { same("sessions", w.end(m.role()).sessions, get[int](m, 1)) }},
	{"the session lasts N seconds", func(w *world, m match) {
		info := w.theSession().Info()
		lasts, most := info.Expires.Sub(info.Created), time.Duration(get[int](m, 0))*time.Second
		same("the time", lasts <= most && lasts >= most-30*time.Second, true)
	}},
	{"the session allows N bytes of early data", func(w *world, m match) {
		same("bytes", w.theSession().Info().MaxEarlyData, get[int](m, 0))
	}},
	{"the session is of TLS V", func(w *world, m match) {
		same("the version", w.theSession().Info().Version, get[uint16](m, 0))
	}},
	{"ROLE has a ticket to open", flag("a ticket", hasTicket, true)},
	{"ROLE has no ticket to open", flag("a ticket", hasTicket, false)},
}

func resumed(e *end) bool       { return e.stream.Info().Resumed }
func earlyAccepted(e *end) bool { return e.stream.Info().EarlyDataAccepted }
func hasTicket(e *end) bool     { return len(e.stream.Ticket()) > 0 }

func (w *world) theSession() *securestream.Session {
	require(w.session != nil, "there is no session")
	return w.session
}

func (w *world) connectWith(session *securestream.Session) {
	w.makeAnew()
	wantCode("set session", w.client.stream.SetSession(session), 0)
}

// takeSessions takes what has come; the newest stands for all.
func (w *world) takeSessions(e *end) {
	for session := e.stream.TakeSession(); session != nil; session = e.stream.TakeSession() {
		if w.session != nil {
			w.session.Close()
		}
		w.session = session
		e.sessions++
	}
}
