package main

import (
	"fmt"

	"securestream.example/securestream"
	"securestream.example/tests/go/support"
)

// pair is a client and a server (README.md, section 2). As work it is handshake.
type pair struct {
	clientConfig, serverConfig securestream.Config
	client, server             *securestream.Stream
	toClient, toServer         []byte // rooms
}

func (c *kase) pair() (*pair, error) {
	p := &pair{toClient: make([]byte, 65536), toServer: make([]byte, 65536)}
	common := securestream.Config{MinVersion: c.version, MaxVersion: c.version, CurvePreferences: c.groups, Time: support.Clock,
		MinRSABits: c.minimumRSA}
	p.clientConfig, p.serverConfig = *common.Clone(), *common.Clone()
	p.clientConfig.ServerName = "server.test"
	if err := addCredential(&p.serverConfig, c.leaf); err != nil {
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
		if err := addCredential(&p.clientConfig, c.client); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func addCredential(config *securestream.Config, name string) error {
	credential, err := support.Credential(name, name, "")
	config.Credentials = []*securestream.Credential{credential}
	return err
}

// step gives a side all of in; open: its handshake is finished.
func step(s *securestream.Stream, in, room []byte) (out []byte, open bool, err error) {
	p, err := s.Handshake(in, room)
	if err == nil && p.Status != securestream.StatusOK && p.Status != securestream.StatusNeedInput || p.Consumed != len(in) {
		err = fmt.Errorf("handshake gave %v, with %d of %d bytes consumed", p.Status, p.Consumed, len(in))
	}
	return room[:p.Produced], p.Status == securestream.StatusOK, err
}

// open makes both streams and performs the handshake.
func (p *pair) open() (err error) {
	if p.client, err = securestream.NewStream(&p.clientConfig, securestream.RoleClient); err != nil {
		return err
	}
	if p.server, err = securestream.NewStream(&p.serverConfig, securestream.RoleServer); err != nil {
		return err
	}
	var toClient, toServer []byte
	var clientOpen, serverOpen bool
	for range 4 {
		if !clientOpen {
			if toServer, clientOpen, err = step(p.client, toClient, p.toServer); err != nil {
				return err
			}
		}
		if !serverOpen {
			if toClient, serverOpen, err = step(p.server, toServer, p.toClient); err != nil {
				return err
			}
		}
		if clientOpen && serverOpen {
			return nil
		}
	}
	return fmt.Errorf("the handshake does not end")
}

func (p *pair) close() {
	for _, s := range []*securestream.Stream{p.client, p.server} {
		if s != nil {
			s.Close()
		}
	}
}

// echo sends and reads 16 KiB in each direction.
func (p *pair) echo() error {
	for _, l := range []*lane{newLane(p.client, p.server, 16384), newLane(p.server, p.client, 16384)} {
		if err := l.move(); err != nil {
			return err
		}
		if err := l.check(); err != nil {
			return err
		}
	}
	return nil
}

func (p *pair) pass(n int) error {
	for range n {
		if err := p.open(); err != nil {
			return err
		}
		p.close()
	}
	return nil
}
