package main

import (
	"bytes"
	"errors"
	"fmt"

	"securestream.example/securestream"
)

// end is a side of a case: its stream, the wire to it, and what has been seen of it.
type end struct {
	name     string
	role     securestream.Role
	other    *end
	clauses  []clause
	made     *making
	stream   *securestream.Stream
	old      *end // of the connection before this one
	in       wire // to this side; what it produces goes to other.in
	chunk    int  // bytes a call; all: what waits
	room     int  // bytes a call; all: plenty
	progress securestream.Progress
	err      error // of the last call

	handshakeOver, open bool
	events              []securestream.Event // not yet looked at
	keyLog              []string
	sessions            int    // that came
	earlyBytes          int    // of plaintext that came as 0-RTT data
	forger              forger // of records that this side could have sealed
}

// all stands for chunk whole and for room plenty.
const all = -1

// world is what a case has while its steps run.
type world struct {
	client, server end
	configs        map[string][]clause // that answers can bring
	rings          rings
	session        *securestream.Session // the newest that came
	version        uint16
	made           bool
}

// failure ends a case.
type failure string

func fail(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }

func require(holds bool, format string, args ...any) {
	if !holds {
		fail(format, args...)
	}
}

// same requires that two values are equal.
func same[T comparable](what string, got, want T) {
	require(got == want, "%s: expected %v, got %v", what, want, got)
}

func sameBytes(what string, got, want []byte) {
	require(bytes.Equal(got, want), "%s: expected %d bytes %q, got %d bytes %q", what, len(want), short(want), len(got), short(got))
}

func short(b []byte) []byte { return b[:min(len(b), 32)] }

func amount(value, everything string) (n int, ok bool) {
	switch {
	case value == "" || value == everything:
		return all, true
	case value == "byte" && everything == "whole":
		return 1, true
	}
	return decimal(value)
}

func newWorld(values map[string]string) *world {
	w := &world{rings: make(rings)}
	w.client = end{name: "client", role: securestream.RoleClient, other: &w.server}
	w.server = end{name: "server", role: securestream.RoleServer, other: &w.client}
	for _, e := range []*end{&w.client, &w.server} {
		e.chunk, _ = amount(values["chunk"], "whole")
		e.room, _ = amount(values["room"], "plenty")
	}
	switch values["version"] {
	case "1.2":
		w.version = securestream.VersionTLS12
	case "1.3":
		w.version = securestream.VersionTLS13
	}
	return w
}

func (w *world) end(role securestream.Role) *end {
	if role == securestream.RoleServer {
		return &w.server
	}
	return &w.client
}

// make makes both streams, once.
func (w *world) make() {
	if w.made {
		return
	}
	w.made = true
	for _, e := range []*end{&w.client, &w.server} {
		var err error
		e.made, err = newMaking(e.role, w.version, w.rings, e.clauses)
		if err == nil {
			e.stream, err = e.made.newStream()
		}
		require(err == nil, "the %s cannot be made: %v", e.name, err)
	}
}

func (w *world) describe(name string, clauses []clause) {
	_, known := w.configs[name]
	require(!known, "there is a config '%s' already", name)
	if w.configs == nil {
		w.configs = make(map[string][]clause)
	}
	w.configs[name] = clauses
}

// described makes the config that an answer brings. The caller closes it.
func (w *world) described(name string) *making {
	clauses, known := w.configs[name]
	require(known, "there is no config '%s'", name)
	made, err := newMaking(securestream.RoleServer, w.version, w.rings, clauses)
	require(err == nil, "config '%s' cannot be made: %v", name, err)
	require(!made.saysStream, "config '%s' has clauses of a stream", name)
	return made
}

// makeAnew makes both streams once more; those that there are become the old ones.
func (w *world) makeAnew() {
	ends := []*end{&w.client, &w.server}
	for _, e := range ends {
		if e.old != nil {
			e.old.stream.Close()
		}
		old := *e
		*e = end{name: e.name, role: e.role, other: e.other, made: e.made, old: &old, chunk: e.chunk, room: e.room}
	}
	w.client.old.other, w.server.old.other = w.server.old, w.client.old
	for _, e := range ends {
		e.old.old = nil
		var err error
		e.stream, err = e.made.newStream()
		require(err == nil, "the %s cannot be made: %v", e.name, err)
	}
}

// reload gives the side another config, for streams to come.
func (e *end) reload(clauses []clause) {
	next, err := e.made.reload(clauses)
	e.made = next
	require(err == nil, "the %s cannot be reloaded: %v", e.name, err)
}

// close lets everything go.
func (w *world) close() {
	for _, e := range []*end{&w.client, &w.server} {
		if e.old != nil {
			e.old.stream.Close()
		}
		if e.stream != nil {
			e.stream.Close()
		}
		e.made.close()
	}
	if w.session != nil {
		w.session.Close()
	}
	w.rings.close()
}

// takeEvents takes what events wait, after each step.
func (w *world) takeEvents() {
	for _, e := range []*end{&w.client, &w.server} {
		if e.stream != nil {
			w.takeSessions(e)
		}
		for e.stream != nil {
			event, ok := e.stream.NextEvent()
			if !ok {
				break
			}
			same("events lost by "+e.name, event.Lost, 0)
			if event.Kind == securestream.EventKeyLog {
				e.keyLog = append(e.keyLog, string(event.Data))
			} else if event.Kind != securestream.EventSession {
				e.events = append(e.events, event)
			}
		}
		if e.stream != nil {
			same("counter of lost events of "+e.name, e.stream.Counter(securestream.EventsLost), 0)
		}
	}
}

// nextEvent is the next event that is no key-log line.
func (e *end) nextEvent() (securestream.Event, bool) {
	if len(e.events) == 0 {
		return securestream.Event{}, false
	}
	event := e.events[0]
	e.events = e.events[1:]
	return event, true
}

// has reports whether the state has a bit.
func (e *end) has(bit securestream.State) bool { return e.stream.State()&bit != 0 }

// errorRecord is the stream's record; of a stream that has not failed one without code and alerts.
func (e *end) errorRecord() *securestream.Error {
	if record := e.stream.LastError(); record != nil {
		return record
	}
	return &securestream.Error{AlertSent: -1, AlertReceived: -1}
}

// codeOf is the code of an error; 0: there is none. An error of another type fails the case.
func codeOf(err error) securestream.Code {
	if err == nil {
		return 0
	}
	var e *securestream.Error
	require(errors.As(err, &e), "an error without a code: %v", err)
	require(errors.Is(err, e.Code), "the error is not its own code: %v", err)
	return e.Code
}

// wantCode requires the code of an error; 0: none.
func wantCode(what string, err error, want securestream.Code) {
	if got := codeOf(err); got != want {
		fail("%s: expected %s, got %s: %v", what, named(want), named(got), err)
	}
}

func named(code securestream.Code) string { return fmt.Sprintf("%s (%d)", code.String(), int(code)) }
