package securestream_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"securestream.example/securestream"
)

var bothVersions = []uint16{securestream.VersionTLS12, securestream.VersionTLS13}

// wantingConfig is a client that wants sessions and takes them itself.
func wantingConfig(t testing.TB, version uint16) *securestream.Config {
	c := clientConfig(t)
	c.MaxVersion = version
	c.Report = 1 << securestream.EventSession
	return c
}

// resumes tells whether a connection with this session is resumed, and gives the session that comes of it.
func resumes(t *testing.T, client, server *securestream.Config, offered *securestream.Session) (bool, *securestream.Session) {
	t.Helper()
	a, b := tcpPair(t)
	c, s := securestream.Client(a, client), securestream.Server(b, server)
	defer c.Close()
	defer s.Close()
	if err := c.Stream().SetSession(offered); err != nil {
		t.Fatal(err)
	}
	mustAll(t, together(c.Handshake, s.Handshake))
	if _, err := s.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	mustRead(t, c, []byte("x"))
	state := c.ConnectionState()
	if state.DidResume != s.ConnectionState().DidResume || !state.Verified || len(state.PeerCertificates) == 0 {
		t.Errorf("resumed: %v, %v; verified: %v", state.DidResume, s.ConnectionState().DidResume, state.Verified)
	}
	return state.DidResume, c.Stream().TakeSession()
}

func mustResume(t *testing.T, client, server *securestream.Config, offered *securestream.Session, want bool) *securestream.Session {
	t.Helper()
	got, session := resumes(t, client, server, offered)
	if got != want {
		t.Errorf("resumed: %v", got)
	}
	return session
}

// The time that had passed since the handshake when the ticket came is gone.
func lasts(info securestream.SessionInfo, most time.Duration) bool {
	lasts := info.Expires.Sub(info.Created)
	return lasts <= most && lasts >= most-30*time.Second
}

func TestSession_isResumedOnce(t *testing.T) {
	for _, version := range bothVersions {
		client, server := wantingConfig(t, version), serverConfig(t)
		session := mustResume(t, client, server, nil, false)
		info := session.Info()
		if info.Version != version || securestream.CipherSuiteName(info.CipherSuite) == "unknown" || info.MaxEarlyData != 0 ||
			!lasts(info, 2*time.Hour) || time.Since(info.Created).Abs() > time.Minute {
			t.Errorf("%+v", info)
		}
		parsed, err := securestream.ParseSession(session.Bytes())
		if err != nil || !bytes.Equal(parsed.Bytes(), session.Bytes()) {
			t.Fatal(err)
		}
		mustResume(t, client, server, session, true)
		mustResume(t, client, server, session, false)
		mustResume(t, client, server, parsed, true)
		if err := session.SetReusable(true); err != nil {
			t.Fatal(err)
		}
		mustResume(t, client, server, session, true)
		mustResume(t, client, server, session, true)
	}
}

func TestParseSession_refusesDamage(t *testing.T) {
	data := mustResume(t, wantingConfig(t, 0), serverConfig(t), nil, false).Bytes()
	data[len(data)/2] ^= 1
	for _, wrong := range [][]byte{nil, data} {
		_, err := securestream.ParseSession(wrong)
		mustBe(t, "parse", err, securestream.ErrBadSession)
	}
}

func TestTicketKeys_areSharedRotatedReplaced(t *testing.T) {
	keys, err := securestream.NewTicketKeys()
	if err != nil {
		t.Fatal(err)
	}
	one, two, other := serverConfig(t), serverConfig(t), serverConfig(t)
	one.TicketKeys, two.TicketKeys = keys, keys
	client := wantingConfig(t, 0)
	first := func() *securestream.Session { return mustResume(t, client, one, nil, false) }
	mustResume(t, client, two, first(), true)
	mustResume(t, client, other, first(), false)
	session := first()
	if err := keys.Rotate(); err != nil {
		t.Fatal(err)
	}
	mustResume(t, client, two, session, true)
	session = first()
	key := securestream.TicketKey{Name: [16]byte{1}, Secret: [64]byte{2}}
	if err := keys.Replace(key); err != nil {
		t.Fatal(err)
	}
	mustResume(t, client, two, session, false)
	session = first()
	if other.TicketKeys, err = securestream.NewTicketKeys(key); err != nil {
		t.Fatal(err)
	}
	mustResume(t, client, other.Clone(), session, true)
	mustBe(t, "a name twice", keys.Replace(key, key), securestream.ErrBadTicketKeys)
	session = first()
	key.Expires = time.Now().Add(-time.Hour)
	if err := keys.Replace(key); err != nil {
		t.Fatal(err)
	}
	mustResume(t, client, two, session, false)
}

func TestClone_sharesTheRing(t *testing.T) {
	client, server := wantingConfig(t, 0), serverConfig(t)
	session := mustResume(t, client, server, nil, false)
	mustResume(t, client, server.Clone(), session, true)
}

func TestSessionLifetime_isThatOfTheConfig(t *testing.T) {
	server := serverConfig(t)
	server.SessionLifetime = time.Minute
	info := mustResume(t, wantingConfig(t, 0), server, nil, false).Info()
	if !lasts(info, time.Minute) {
		t.Errorf("%+v", info)
	}
	server = serverConfig(t)
	server.SessionLifetime = -1
	if mustResume(t, wantingConfig(t, 0), server, nil, false) != nil {
		t.Error("there is a session")
	}
	server = serverConfig(t)
	server.SessionLifetime = 8 * 24 * time.Hour
	mustBe(t, "lifetime", server.Check(securestream.RoleServer), securestream.ErrInvalidArgument)
}

func TestClientSessionCache_isUsed(t *testing.T) {
	for _, version := range bothVersions {
		client := clientConfig(t)
		client.MaxVersion = version
		client.ClientSessionCache = securestream.NewLRUClientSessionCache(0)
		server := serverConfig(t)
		var resumed []bool
		for range 3 {
			c, s := openPair(t, client, server, tcpPair)
			if _, err := s.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			mustRead(t, c, []byte("x"))
			resumed = append(resumed, c.ConnectionState().DidResume)
			c.Close()
			s.Close()
		}
		// TLS 1.2 sends no new ticket when it resumes.
		if want := []bool{false, true, version == securestream.VersionTLS13}; !slices.Equal(resumed, want) {
			t.Errorf("%s: %v", securestream.VersionName(version), resumed)
		}
	}
}

func TestLRUClientSessionCache_givesEachSessionOnce(t *testing.T) {
	cache := securestream.NewLRUClientSessionCache(2)
	client, server := wantingConfig(t, 0), serverConfig(t)
	var sessions []*securestream.Session
	for range 3 {
		sessions = append(sessions, mustResume(t, client, server, nil, false))
		cache.Put("a", sessions[len(sessions)-1])
	}
	mustGet := func(key string, want *securestream.Session) {
		t.Helper()
		if got, ok := cache.Get(key); got != want || ok != (want != nil) {
			t.Errorf("another session of %s", key)
		}
	}
	mustGet("b", nil)
	mustGet("a", sessions[2])
	mustGet("a", sessions[1])
	mustGet("a", nil)
	if err := sessions[0].SetReusable(true); err != nil {
		t.Fatal(err)
	}
	cache.Put("a", sessions[0])
	mustGet("a", sessions[0])
	mustGet("a", sessions[0])
}

func TestOpenTicket_isAsked(t *testing.T) {
	client, server := wantingConfig(t, 0), serverConfig(t)
	session := mustResume(t, client, serverConfig(t), nil, false)
	asked := 0
	server.OpenTicket = func(ticket []byte) ([]byte, error) {
		asked++
		if len(ticket) == 0 || !bytes.Contains(session.Bytes(), ticket) {
			t.Error("another ticket")
		}
		return nil, nil
	}
	mustResume(t, client, server, session, false)
	mustResume(t, client, server, nil, false)
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	broken := errors.New("no")
	server = serverConfig(t)
	server.OpenTicket = func([]byte) ([]byte, error) { return nil, broken }
	session = mustResume(t, client, serverConfig(t), nil, false)
	a, b := tcpPair(t)
	c, s := securestream.Client(a, client), securestream.Server(b, server)
	if err := c.Stream().SetSession(session); err != nil {
		t.Fatal(err)
	}
	if errs := together(c.Handshake, s.Handshake); errs[0] == nil || errs[1] != broken {
		t.Error(errs)
	}
}

// Who gives a TLS 1.3 server's tickets to its client: its first write, its first read that would wait, its close.
func TestConn_sendsTickets(t *testing.T) {
	cases := map[string]func(s *securestream.Conn){
		"write": func(s *securestream.Conn) { _, _ = s.Write([]byte("x")) },
		"read":  func(s *securestream.Conn) { _, _ = s.Read(make([]byte, 1)) },
		"close": func(s *securestream.Conn) { s.Close() },
	}
	for name, do := range cases {
		t.Run(name, func(t *testing.T) {
			client := wantingConfig(t, 0)
			c, s := openPair(t, client, serverConfig(t), tcpPair)
			if s.Stream().OutputSize() == 0 {
				t.Fatal("no ticket waits")
			}
			go do(s)
			var session *securestream.Session
			for end := time.Now().Add(10 * time.Second); session == nil && time.Now().Before(end); {
				_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
				_, err := c.Read(make([]byte, 1))
				var timeout net.Error
				if err != nil && !errors.Is(err, io.EOF) && (!errors.As(err, &timeout) || !timeout.Timeout()) {
					t.Fatal(err)
				}
				session = c.Stream().TakeSession()
			}
			if session == nil {
				t.Fatal("no ticket came")
			}
			c.Close()
		})
	}
}
