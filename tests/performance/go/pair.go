package main

import (
	"fmt"

	"securestream.example/securestream"
	"securestream.example/tests/go/support"
)

// party is what the pairs of a case are made of.
type party struct {
	clientConfig, serverConfig *securestream.Config
}

func (c *kase) party() (*party, error) {
	common := securestream.Config{MinVersion: c.version, MaxVersion: c.version, CurvePreferences: c.groups, Time: support.Clock,
		MinRSABits: c.minimumRSA}
	p := &party{common.Clone(), common.Clone()}
	p.clientConfig.ServerName = "server.test"
	if err := addCredential(p.serverConfig, c.leaf); err != nil {
		return nil, err
	}
	var err error
	if p.clientConfig.Trust, err = support.Trust("root"); err != nil {
		return nil, err
	}
	if c.client != "" {
		p.serverConfig.ClientAuth = securestream.RequireAndVerifyClientCert
		if p.serverConfig.Trust, err = support.Trust("client-root"); err != nil {
			return nil, err
		}
		if err := addCredential(p.clientConfig, c.client); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// renew makes new configs in the place of the old ones; credentials and trust stay.
func (p *party) renew() {
	for _, config := range []**securestream.Config{&p.clientConfig, &p.serverConfig} {
		old := *config
		*config = old.Clone()
		old.Close()
	}
}

func addCredential(config *securestream.Config, name string) error {
	credential, err := support.Credential(name, name, "")
	config.Credentials = []*securestream.Credential{credential}
	return err
}

const (
	client = iota
	server
)

// pair is a client and a server (README.md, section 2).
type pair [2]*securestream.Stream

func (p *pair) close() {
	for _, s := range p {
		if s != nil {
			s.Close()
		}
	}
}

func (p *pair) lanes(size int) [2]*lane {
	return [2]*lane{newLane(p[client], p[server], size), newLane(p[server], p[client], size)}
}

// hand performs handshakes, one at a time, each with new streams over a new connection.
type hand struct {
	*party
	link
	echo *buffers // of openPair
}

func newHand(p *party, over string) (*hand, error) {
	l, err := newLink(over)
	return &hand{party: p, link: l}, err
}

// shake makes two streams and performs their handshake. What it gives is to be closed beside an error too.
func (h *hand) shake() (p pair, err error) {
	if p[client], err = securestream.NewStream(h.clientConfig, securestream.RoleClient); err != nil {
		return p, err
	}
	if p[server], err = securestream.NewStream(h.serverConfig, securestream.RoleServer); err != nil {
		return p, err
	}
	if err := h.connect(); err != nil {
		return p, err
	}
	defer h.disconnect()
	var open [2]bool
	for turn := range 4 {
		for side, s := range p {
			if !open[side] {
				if open[side], err = h.turn(s, side, turn > 0 || side == server); err != nil {
					return p, err
				}
			}
		}
		if open[client] && open[server] {
			return p, nil
		}
	}
	return p, fmt.Errorf("the handshake does not end")
}

// turn gives a side what has come until it answers or is open. A client's first has no input.
func (h *hand) turn(s *securestream.Stream, side int, reads bool) (open bool, err error) {
	for {
		var in []byte
		if reads {
			if in, err = h.receive(side); err != nil {
				return false, err
			}
		}
		p, err := s.Handshake(in, h.room(side))
		if err == nil && p.Status != securestream.StatusOK && p.Status != securestream.StatusNeedInput || p.Consumed != len(in) {
			err = fmt.Errorf("handshake gave %v, with %d of %d bytes consumed", p.Status, p.Consumed, len(in))
		}
		if err != nil {
			return false, err
		}
		if open = p.Status == securestream.StatusOK; open || p.Produced > 0 {
			return open, h.send(side, p.Produced)
		}
	}
}

// openPair is an open pair that has sent and read 16 KiB in each direction.
func (h *hand) openPair() (pair, error) {
	p, err := h.shake()
	if err != nil {
		return p, err
	}
	if h.echo == nil {
		h.echo = newBuffers(p[server], 16384) // a ticket of the server's waits
	}
	for side := range p {
		l := lane{p[side], p[1-side], h.echo}
		if err := l.move(); err != nil {
			return p, err
		}
		if err := l.check(); err != nil {
			return p, err
		}
	}
	return p, nil
}
