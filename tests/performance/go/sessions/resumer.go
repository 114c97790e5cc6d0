// Package sessions performs handshakes that resume a session, and 0-RTT, by the raw binding: package securestream has no
// calls for them yet. (A module of its own, whose path lets it import the raw binding.)
package sessions

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"securestream.example/securestream/internal/raw"
)

const (
	client = iota
	server

	roomSize = 65536
	flags    = raw.SST_INFO_RESUMED | raw.SST_INFO_EARLY_DATA_ACCEPTED
)

// Settings say what the connections are. Files are in PEM.
type Settings struct {
	Version            uint16
	Groups             []uint16
	Chain, Key, Anchor string
	VerifyTime         int64
	Early              []byte // none: no 0-RTT
}

// Resumer performs handshakes, each with the session of the one before.
type Resumer struct {
	Settings
	configs [2]*raw.Config
	streams [2]*raw.Stream
	session *raw.Session
	wires   [2][]byte // from each side
	read    []byte    // the early data that came last
	rest    []byte
}

func good(call string, status int32) error {
	if status != raw.SST_OK {
		return fmt.Errorf("%s gave %s", call, raw.Sst_status_name(status))
	}
	return nil
}

// first is the first of calls that fails.
func first(calls ...func() error) error {
	for _, call := range calls {
		if err := call(); err != nil {
			return err
		}
	}
	return nil
}

// New makes the configs and a first connection, which resumes nothing.
func New(s Settings) (*Resumer, error) {
	r := &Resumer{Settings: s, read: make([]byte, len(s.Early)+raw.SST_RECORD_MAX), rest: make([]byte, raw.SST_RECORD_MAX)}
	for side := range r.wires {
		r.wires[side] = make([]byte, roomSize)
		r.configs[side] = raw.Sst_config_new()
	}
	err := first(func() error { return r.configure(client) }, func() error { return r.configure(server) }, r.addCredential,
		r.addTrust, r.connect)
	if err == nil && s.Version == raw.SST_TLS1_2 {
		// A TLS 1.2 server gives no new ticket for one that its newest key opens.
		err = good("set reusable", raw.Sst_session_set_reusable(r.session, 1))
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close frees all.
func (r *Resumer) Close() {
	r.freeStreams()
	raw.Sst_session_free(r.session)
	for side := range r.configs {
		raw.Sst_config_free(r.configs[side])
	}
}

func (r *Resumer) configure(side int) error {
	c := r.configs[side]
	err := first(
		func() error { return good("set versions", raw.Sst_config_set_versions(c, r.Version, r.Version)) },
		func() error { return good("set groups", raw.Sst_config_set_groups(c, r.Groups)) })
	if err == nil && side == client {
		err = good("report", raw.Sst_config_report(c, 1<<raw.SST_EVENT_SESSION))
	}
	if err == nil && len(r.Early) > 0 {
		err = good("set early data", raw.Sst_config_set_early_data(c, 1))
	}
	return err
}

func (r *Resumer) addCredential() error {
	credential := raw.Sst_credential_new()
	defer raw.Sst_credential_free(credential)
	for _, path := range []string{r.Chain, r.Key} {
		pem, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := good("load credential", raw.Sst_credential_load_pem(credential, pem, "")); err != nil {
			return err
		}
	}
	return good("add credential", raw.Sst_config_add_credential(r.configs[server], credential))
}

func (r *Resumer) addTrust() error {
	trust := raw.Sst_trust_new()
	defer raw.Sst_trust_free(trust)
	pem, err := os.ReadFile(r.Anchor)
	if err != nil {
		return err
	}
	if err := good("load trust", raw.Sst_trust_load_pem(trust, pem)); err != nil {
		return err
	}
	return good("set trust", raw.Sst_config_set_trust(r.configs[client], trust))
}

func (r *Resumer) freeStreams() {
	for side, s := range r.streams {
		raw.Sst_stream_free(s)
		r.streams[side] = nil
	}
}

func (r *Resumer) makeStreams() error {
	for side, role := range []int32{raw.SST_ROLE_CLIENT, raw.SST_ROLE_SERVER} {
		var s *raw.Stream // C writes to it: it may not lie in an object of Go's that has pointers
		if err := good("make a stream", raw.Sst_stream_new(r.configs[side], role, &s)); err != nil {
			return err
		}
		r.streams[side] = s
		if err := good("set verify time", raw.Sst_stream_set_verify_time(r.streams[side], r.VerifyTime)); err != nil {
			return err
		}
	}
	if r.session != nil {
		if err := good("set session", raw.Sst_stream_set_session(r.streams[client], r.session)); err != nil {
			return err
		}
	}
	return good("set server name", raw.Sst_stream_set_server_name(r.streams[client], "server.test"))
}

// Pass makes n connections and looks at the early data of the last.
func (r *Resumer) Pass(n int) error {
	for range n {
		if err := r.connect(); err != nil {
			return err
		}
	}
	if !bytes.Equal(r.Early, r.read[:len(r.Early)]) {
		return errors.New("other bytes came than were sent")
	}
	clear(r.read)
	return nil
}

func (r *Resumer) connect() error {
	defer r.freeStreams()
	if err := r.makeStreams(); err != nil {
		return err
	}
	shake, wanted := r.shake, uint32(0)
	if r.session != nil {
		wanted = raw.SST_INFO_RESUMED
		if len(r.Early) > 0 {
			shake, wanted = r.shakeEarly, flags
		}
	}
	return first(shake, func() error { return r.check(wanted) }, r.keepSession)
}

func (r *Resumer) check(wanted uint32) error {
	for _, s := range r.streams {
		info := raw.StreamInfo{Size: uint32(unsafe.Sizeof(raw.StreamInfo{}))}
		if err := good("get info", raw.Sst_stream_get_info(s, &info)); err != nil {
			return err
		}
		if info.Flags&flags != wanted {
			return fmt.Errorf("a stream has the flags %x, not %x", info.Flags&flags, wanted)
		}
	}
	return nil
}

// shake performs a handshake: what a side has sent is the other's input.
func (r *Resumer) shake() error {
	var open [2]bool
	var sent [2]int
	for turn := 0; !open[client] || !open[server]; turn++ {
		if turn == 4 {
			return errors.New("the handshake does not end")
		}
		for side := range r.streams {
			if open[side] {
				continue
			}
			other := 1 - side
			p := raw.Sst_stream_handshake(r.streams[side], r.wires[other][:sent[other]], r.wires[side])
			if p.Status != raw.SST_OK && p.Status != raw.SST_NEED_INPUT || p.Consumed != sent[other] {
				return fmt.Errorf("handshake gave %s", raw.Sst_status_name(p.Status))
			}
			open[side], sent[side], sent[other] = p.Status == raw.SST_OK, p.Produced, 0
		}
	}
	return nil
}

func expect(call string, p raw.Result, status int32, early uint32) error {
	if p.Status != status || p.Flags&raw.SST_EARLY_DATA != early {
		return fmt.Errorf("%s gave %s with flags %x", call, raw.Sst_status_name(p.Status), p.Flags)
	}
	return nil
}

// opened is what a decrypt call gave that took all of n bytes.
func opened(call string, p raw.Result, n, plain int, early uint32) error {
	if p.Consumed != n || p.Produced != plain {
		return fmt.Errorf("%s took %d of %d bytes and gave %d", call, p.Consumed, n, p.Produced)
	}
	return expect(call, p, raw.SST_NEED_INPUT, early)
}

// shakeEarly performs a handshake with early data. The server finishes it in the call that reads the end of that data
// (RFC 8446, 4.5).
func (r *Resumer) shakeEarly() error {
	const early = raw.SST_EARLY_DATA
	hello := raw.Sst_stream_handshake(r.streams[client], nil, r.wires[client])
	if err := expect("the client's handshake", hello, raw.SST_NEED_INPUT, early); err != nil {
		return err
	}
	data := raw.Sst_stream_encrypt(r.streams[client], r.Early, r.wires[client][hello.Produced:])
	if err := expect("encrypt", data, raw.SST_OK, early); err != nil {
		return err
	}
	flight := r.wires[client][:hello.Produced+data.Produced]
	answer := raw.Sst_stream_handshake(r.streams[server], flight, r.wires[server])
	if err := expect("the server's handshake", answer, raw.SST_OK, early); err != nil {
		return err
	}
	came := raw.Sst_stream_decrypt(r.streams[server], flight[answer.Consumed:], r.read)
	if err := opened("decrypt of early data", came, len(flight)-answer.Consumed, len(r.Early), early); err != nil {
		return err
	}
	last := raw.Sst_stream_handshake(r.streams[client], r.wires[server][:answer.Produced], r.wires[client])
	if err := expect("the client's handshake", last, raw.SST_OK, 0); err != nil {
		return err
	}
	end := raw.Sst_stream_decrypt(r.streams[server], r.wires[client][:last.Produced], r.rest)
	if err := opened("decrypt of the end of early data", end, last.Produced, 0, 0); err != nil {
		return err
	}
	return r.readTickets(r.wires[server][last.Consumed:answer.Produced])
}

func (r *Resumer) readTickets(in []byte) error {
	if len(in) == 0 {
		return nil
	}
	return opened("decrypt of tickets", raw.Sst_stream_decrypt(r.streams[client], in, r.rest), len(in), 0, 0)
}

// keepSession takes the session for the next connection. TLS 1.3 sends tickets behind the handshake; in TLS 1.2 they are
// a part of it.
func (r *Resumer) keepSession() error {
	if r.Version == raw.SST_TLS1_3 {
		sent := raw.Sst_stream_flush(r.streams[server], r.wires[server])
		if err := expect("flush", sent, raw.SST_OK, 0); err != nil {
			return err
		}
		if err := r.readTickets(r.wires[server][:sent.Produced]); err != nil {
			return err
		}
	} else if r.session != nil {
		return nil
	}
	session := raw.Sst_stream_take_session(r.streams[client])
	if session == nil {
		return errors.New("no session came")
	}
	raw.Sst_session_free(r.session)
	r.session = session
	return nil
}
