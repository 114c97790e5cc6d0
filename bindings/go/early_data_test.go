package securestream_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"securestream.example/securestream"
)

const earlyLimit = 14336

// earlyConfigs are a client and a server with a session that allows early data in the client's cache.
func earlyConfigs(t *testing.T) (client, server *securestream.Config) {
	t.Helper()
	client, server = clientConfig(t), serverConfig(t)
	client.EarlyData, server.EarlyData = true, true
	client.CurvePreferences = []uint16{securestream.X25519, securestream.CurveP256}
	server.CurvePreferences = client.CurvePreferences
	client.ClientSessionCache = securestream.NewLRUClientSessionCache(0)
	c, s := openPair(t, client, server, tcpPair)
	if _, err := s.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	mustRead(t, c, []byte("x"))
	c.Close()
	s.Close()
	return client, server
}

func earlyPair(t *testing.T, client, server *securestream.Config) (c, s *securestream.Conn) {
	a, b := tcpPair(t)
	return securestream.Client(a, client), securestream.Server(b, server)
}

type accepted struct {
	n   int
	err error
}

// handshakeEarly performs the client's handshake in a goroutine of its own.
func handshakeEarly(c *securestream.Conn, data []byte) <-chan accepted {
	done := make(chan accepted, 1)
	go func() {
		n, err := c.HandshakeEarly(context.Background(), data)
		done <- accepted{n, err}
	}()
	return done
}

func mustBeEarly(t *testing.T, s *securestream.Conn, want string, early bool) {
	t.Helper()
	mustRead(t, s, []byte(want))
	if s.ReadEarly() != early {
		t.Errorf("%q is early: %v", want, s.ReadEarly())
	}
}

func TestHandshakeEarly_isAnsweredBeforeTheConfirmation(t *testing.T) {
	client, server := earlyConfigs(t)
	c, s := earlyPair(t, client, server)
	done := handshakeEarly(c, []byte("early"))
	mustBeEarly(t, s, "early", true)
	if _, err := s.Write([]byte("answer")); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got != (accepted{5, nil}) {
		t.Fatal(got)
	}
	mustBeEarly(t, c, "answer", false)
	if _, err := c.Write([]byte("later")); err != nil {
		t.Fatal(err)
	}
	mustBeEarly(t, s, "later", false)
	if !c.Stream().Info().EarlyDataAccepted || !s.Stream().Info().EarlyDataAccepted {
		t.Error("not accepted")
	}
	if _, err := c.HandshakeEarly(context.Background(), nil); !errors.Is(err, securestream.ErrState) {
		t.Error(err)
	}
	c.Close()
	if _, err := s.Read(make([]byte, 1)); err != io.EOF {
		t.Error(err)
	}
	s.Close()
}

func TestHandshakeEarly_callerSendsTheRest(t *testing.T) {
	for _, size := range []int{1, earlyLimit, earlyLimit + 1, 50_000} {
		client, server := earlyConfigs(t)
		c, s := earlyPair(t, client, server)
		data := pattern(size)
		done := handshakeEarly(c, data)
		if err := s.Handshake(); err != nil {
			t.Fatal(err)
		}
		got := <-done
		if got != (accepted{min(size, earlyLimit), nil}) {
			t.Fatal(got)
		}
		go func() { _, _ = c.Write(data[got.n:]) }()
		mustRead(t, s, data)
		c.Close()
		s.Close()
	}
}

func TestHandshakeEarly_refusedDataComesOnce(t *testing.T) {
	for name, change := range map[string]func(client, server *securestream.Config){
		"off":        func(_, server *securestream.Config) { server.EarlyData = false },
		"retry":      func(_, server *securestream.Config) { server.CurvePreferences = []uint16{securestream.CurveP256} },
		"other keys": func(_, server *securestream.Config) { server.TicketKeys, _ = securestream.NewTicketKeys() },
		"no session": func(client, _ *securestream.Config) { client.ClientSessionCache.Get("server.test") },
	} {
		t.Run(name, func(t *testing.T) {
			client, server := earlyConfigs(t)
			server = server.Clone()
			change(client, server)
			c, s := earlyPair(t, client, server)
			done := handshakeEarly(c, []byte("request"))
			if err := s.Handshake(); err != nil {
				t.Fatal(err)
			}
			got := <-done
			if got != (accepted{0, nil}) {
				t.Fatal(got)
			}
			if _, err := c.Write([]byte("request")[got.n:]); err != nil {
				t.Fatal(err)
			}
			if err := c.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			mustBeEarly(t, s, "request", false)
			if _, err := s.Read(make([]byte, 1)); err != io.EOF {
				t.Error(err)
			}
		})
	}
}

func TestConn_closesBeforeTheConfirmation(t *testing.T) {
	client, server := earlyConfigs(t)
	c, s := earlyPair(t, client, server)
	done := handshakeEarly(c, []byte("early"))
	mustBeEarly(t, s, "early", true)
	if _, err := s.Write([]byte("answer")); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	if got := <-done; got != (accepted{5, nil}) {
		t.Fatal(got)
	}
	mustRead(t, c, []byte("answer"))
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestConn_readsAndWritesBeforeTheConfirmation(t *testing.T) {
	client, server := earlyConfigs(t)
	c, s := earlyPair(t, client, server)
	done := handshakeEarly(c, []byte("early"))
	mustBeEarly(t, s, "early", true)
	big := pattern(2_000_000)
	var running group
	running.run(func() {
		if _, err := s.Write(big); err != nil {
			t.Error(err)
		}
	})
	running.run(func() {
		b := make([]byte, 5)
		if _, err := io.ReadFull(s, b); err != nil || string(b) != "later" || s.ReadEarly() {
			t.Error(err, string(b))
		}
	})
	if got := <-done; got != (accepted{5, nil}) {
		t.Fatal(got)
	}
	if _, err := c.Write([]byte("later")); err != nil {
		t.Fatal(err)
	}
	mustRead(t, c, big)
	running.Wait()
	c.Close()
	s.Close()
}

func TestConn_endBeforeTheConfirmationIsAnError(t *testing.T) {
	client, server := earlyConfigs(t)
	c, s := earlyPair(t, client, server)
	done := handshakeEarly(c, []byte("early"))
	_ = c.NetConn().SetReadDeadline(time.Now().Add(time.Millisecond)) // it does not see the server's flight
	if got := <-done; got.err == nil {
		t.Skip("the client was faster")
	}
	c.NetConn().Close()
	mustBeEarly(t, s, "early", true)
	if _, err := s.Read(make([]byte, 1)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}
