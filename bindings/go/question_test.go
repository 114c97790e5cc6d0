package securestream_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"testing"

	"securestream.example/securestream"
)

var errNotOurs = errors.New("not ours")

// leafOf is the first certificate of a file, in DER.
func leafOf(t testing.TB, name string) []byte {
	block, _ := pem.Decode(dataFile(t, name+".pem"))
	return block.Bytes
}

// shake is what the handshakes of a client and a server over TCP return.
func shake(t *testing.T, client, server *securestream.Config) (c, s *securestream.Conn, clientErr, serverErr error) {
	t.Helper()
	a, b := tcpPair(t)
	c, s = securestream.Client(a, client), securestream.Server(b, server)
	errs := together(c.Handshake, s.Handshake)
	return c, s, errs[0], errs[1]
}

func mustShow(t *testing.T, c *securestream.Conn, name string) {
	t.Helper()
	if chain := c.ConnectionState().PeerCertificates; len(chain) == 0 || !bytes.Equal(chain[0], leafOf(t, name)) {
		t.Errorf("the peer of %d certificates is not %s", len(chain), name)
	}
}

func mustBe(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, not %v", what, err, want)
	}
}

func TestGetConfigForClient_choosesByName(t *testing.T) {
	chosen := serverConfig(t)
	chosen.Credentials = []*securestream.Credential{credential(t, "server-p384")}
	chosen.NextProtos = []string{"x"}
	var seen *securestream.ClientHelloInfo
	server := serverConfig(t)
	server.NextProtos = []string{"h2"}
	server.GetConfigForClient = func(hello *securestream.ClientHelloInfo) (*securestream.Config, error) {
		seen = hello
		if hello.ServerName == "b.test" {
			return chosen, nil
		}
		return nil, nil
	}
	client := clientConfig(t)
	client.ServerName, client.VerifyName = "b.test", "server.test"
	client.NextProtos, client.MaxVersion = []string{"h2", "x"}, securestream.VersionTLS12
	c, s := openPair(t, client, server, tcpPair)
	mustShow(t, c, "server-p384")
	if state := s.ConnectionState(); state.NegotiatedProtocol != "x" || state.ServerName != "b.test" {
		t.Errorf("%+v", state)
	}
	if seen.ServerName != "b.test" || !slices.Equal(seen.SupportedProtos, client.NextProtos) ||
		!slices.Equal(seen.SupportedVersions, []uint16{securestream.VersionTLS12}) || seen.Conn != s.NetConn() ||
		!slices.Contains(seen.CipherSuites, tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256) ||
		!slices.Contains(seen.SupportedCurves, securestream.X25519) ||
		!slices.Contains(seen.SignatureSchemes, uint16(tls.ECDSAWithP256AndSHA256)) {
		t.Errorf("%+v", seen)
	}
	if got := seen.Extension(16); !bytes.Equal(got, []byte("\x00\x05\x02h2\x01x")) || seen.Extension(41) != nil {
		t.Errorf("% x", got)
	}
	other, _ := openPair(t, clientConfig(t), server, pipePair)
	mustShow(t, other, "server-p256")
}

func TestGetConfigForClient_needsNoCredentialOfTheListener(t *testing.T) {
	chosen := serverConfig(t)
	l := echoListener(t, &securestream.Config{
		Time:               testTime,
		GetConfigForClient: func(*securestream.ClientHelloInfo) (*securestream.Config, error) { return chosen, nil },
	})
	leaf, err := visit(l, clientConfig(t))
	if err != nil || !bytes.Equal(leaf, leafOf(t, "server-p256")) {
		t.Error(err)
	}
}

func TestGetConfigForClient_errorTurnsTheClientAway(t *testing.T) {
	server := &securestream.Config{GetConfigForClient: func(*securestream.ClientHelloInfo) (*securestream.Config, error) {
		return nil, errNotOurs
	}}
	_, s, clientErr, serverErr := shake(t, clientConfig(t), server)
	mustBe(t, "server", serverErr, errNotOurs)
	mustBe(t, "server, again", s.Handshake(), errNotOurs)
	mustBe(t, "client", clientErr, securestream.ErrAlertReceived-112)
	server.GetConfigForClient = func(*securestream.ClientHelloInfo) (*securestream.Config, error) {
		return new(securestream.Config), nil
	}
	_, _, clientErr, serverErr = shake(t, clientConfig(t), server.Clone())
	mustBe(t, "server", serverErr, securestream.ErrNoCredential)
	mustBe(t, "client", clientErr, securestream.ErrAlertReceived-112)
}

func TestGetConfigForClient_configIsInForceAsAWhole(t *testing.T) {
	chosen := askingConfig(t)
	chosen.GetCertificate = func(hello *securestream.ClientHelloInfo) (*securestream.Credential, error) {
		return credential(t, "server-rsa2048"), nil
	}
	chosen.VerifyPeer = func(peer *securestream.PeerCertificateInfo) error { return nil }
	server := serverConfig(t)
	server.VerifyPeer = func(*securestream.PeerCertificateInfo) error { return errNotOurs }
	server.GetConfigForClient = func(*securestream.ClientHelloInfo) (*securestream.Config, error) { return chosen, nil }
	client := clientConfig(t)
	client.Credentials = []*securestream.Credential{credential(t, "client-untrusted")}
	c, s := openPair(t, client, server, tcpPair)
	mustShow(t, c, "server-rsa2048")
	mustShow(t, s, "client-untrusted")
	if s.ConnectionState().Verified {
		t.Error("who is not trusted counts as verified")
	}
}

func TestGetCertificate_choosesOnBothSides(t *testing.T) {
	server := askingConfig(t)
	server.Credentials, server.ClientCAs = nil, [][]byte{dataFile(t, "client-root.pem")}
	server.GetCertificate = func(hello *securestream.ClientHelloInfo) (*securestream.Credential, error) {
		if hello.ServerName != "server.test" {
			return nil, fmt.Errorf("the name is %q", hello.ServerName)
		}
		c := credential(t, "server-rsa2048")
		return c, nil
	}
	var request *securestream.CertificateRequestInfo
	client := clientConfig(t)
	client.GetClientCertificate = func(r *securestream.CertificateRequestInfo) (*securestream.Credential, error) {
		request = r
		return credential(t, "client-p384"), nil
	}
	c, s := openPair(t, client, server, tcpPair)
	mustShow(t, c, "server-rsa2048")
	mustShow(t, s, "client-p384")
	if len(request.AcceptableCAs) != 1 || len(request.SignatureSchemes) == 0 {
		t.Errorf("%+v", request)
	}
}

func TestGetCertificate_noneIsNone(t *testing.T) {
	server := askingConfig(t)
	server.ClientAuth = securestream.VerifyClientCertIfGiven
	client := clientConfig(t)
	client.GetClientCertificate = func(*securestream.CertificateRequestInfo) (*securestream.Credential, error) {
		return nil, nil
	}
	if _, s := openPair(t, client, server, tcpPair); s.ConnectionState().PeerCertificates != nil {
		t.Error("the client has shown something")
	}
	bare := &securestream.Config{GetCertificate: func(*securestream.ClientHelloInfo) (*securestream.Credential, error) {
		return nil, nil
	}}
	_, _, clientErr, serverErr := shake(t, clientConfig(t), bare)
	mustBe(t, "server", serverErr, securestream.ErrNoCredential)
	mustBe(t, "client", clientErr, securestream.ErrAlertReceived-40)
}

func TestVerifyPeer_judges(t *testing.T) {
	verdictItself := func(peer *securestream.PeerCertificateInfo) error { return peer.Verdict }
	yes := func(*securestream.PeerCertificateInfo) error { return nil }
	no := func(*securestream.PeerCertificateInfo) error { return errNotOurs }
	for _, row := range []struct {
		leaf    string
		judge   func(*securestream.PeerCertificateInfo) error
		client  error // nil: accepted
		alert   securestream.Code
		trusted bool
	}{
		{"server-p256", verdictItself, nil, 0, true},
		{"server-p256", yes, nil, 0, true},
		{"server-p256", no, errNotOurs, 46, false},
		{"server-expired", verdictItself, securestream.ErrCertExpired, 45, false},
		{"server-expired", yes, nil, 0, false},
		{"server-expired", no, errNotOurs, 45, false},
	} {
		var seen *securestream.PeerCertificateInfo
		client, server := clientConfig(t), serverConfig(t)
		server.Credentials = []*securestream.Credential{credential(t, row.leaf)}
		client.VerifyPeer = func(peer *securestream.PeerCertificateInfo) error { seen = peer; return row.judge(peer) }
		c, _, clientErr, serverErr := shake(t, client, server)
		if seen == nil || !bytes.Equal(seen.Chain[0], leafOf(t, row.leaf)) || seen.ServerName != "server.test" ||
			(seen.Verdict == nil) != (row.leaf == "server-p256") {
			t.Errorf("%s: %+v", row.leaf, seen)
		}
		if row.client == nil {
			mustAll(t, []error{clientErr, serverErr})
			if c.ConnectionState().Verified != row.trusted {
				t.Errorf("%s: verified is %v", row.leaf, !row.trusted)
			}
			continue
		}
		mustBe(t, row.leaf, clientErr, row.client)
		mustBe(t, row.leaf, serverErr, securestream.ErrAlertReceived-row.alert)
	}
}

func TestVerifyPeer_needsNoTrust(t *testing.T) {
	client, server := clientConfig(t), serverConfig(t)
	client.Trust = nil
	client.VerifyPeer = func(peer *securestream.PeerCertificateInfo) error {
		var verdict *securestream.Error
		if !errors.As(peer.Verdict, &verdict) || !errors.Is(verdict, securestream.ErrCertIssuerNotFound) || len(verdict.Chain) != 2 {
			return errNotOurs
		}
		return nil
	}
	openPair(t, client, server, tcpPair)
}

func TestQuestion_thatNobodyAnswersEndsTheHandshake(t *testing.T) {
	server := serverConfig(t)
	server.SuspendOn = []securestream.Status{securestream.StatusWantCertificateVerify, securestream.StatusWantCertificate}
	_, _, clientErr, serverErr := shake(t, clientConfig(t), server)
	mustBe(t, "server", serverErr, securestream.ErrUnsupported)
	mustBe(t, "client", clientErr, securestream.ErrAlertReceived-40)
}

func TestSuspendOn_takesQuestionsOnly(t *testing.T) {
	for _, wrong := range []securestream.Status{securestream.StatusOK, securestream.StatusWantClientHello + 20, -1000} {
		config := serverConfig(t)
		config.SuspendOn = []securestream.Status{wrong}
		mustBe(t, wrong.String(), config.Check(securestream.RoleServer), securestream.ErrInvalidArgument)
	}
}

type contextKey struct{}

func TestQuestion_hasTheContextOfTheHandshake(t *testing.T) {
	ctx := context.WithValue(context.Background(), contextKey{}, "here")
	client, server := clientConfig(t), askingConfig(t)
	server.GetConfigForClient = func(h *securestream.ClientHelloInfo) (*securestream.Config, error) {
		if h.Context() != ctx {
			return nil, errNotOurs
		}
		return nil, nil
	}
	client.GetClientCertificate = func(r *securestream.CertificateRequestInfo) (*securestream.Credential, error) {
		if r.Context() != ctx {
			return nil, errNotOurs
		}
		return credential(t, "client-p256"), nil
	}
	client.VerifyPeer = func(p *securestream.PeerCertificateInfo) error {
		if p.Context() != ctx {
			return errNotOurs
		}
		return p.Verdict
	}
	a, b := tcpPair(t)
	c, s := securestream.Client(a, client), securestream.Server(b, server)
	mustAll(t, together(func() error { return c.HandshakeContext(ctx) }, func() error { return s.HandshakeContext(ctx) }))
}

// Streams

// carry moves the bytes of a handshake until both sides are done or one stops.
func carry(t *testing.T, client, server *securestream.Stream, toServer *[]byte, toClient *[]byte) {
	t.Helper()
	step := func(s *securestream.Stream, in, out *[]byte) bool {
		room := make([]byte, 1<<16)
		p, err := s.Handshake(*in, room)
		if err != nil {
			t.Fatal(err)
		}
		*in, *out = (*in)[p.Consumed:], append(*out, room[:p.Produced]...)
		return p.Produced > 0
	}
	for {
		a := step(client, toClient, toServer)
		if b := step(server, toServer, toClient); !a && !b {
			return
		}
	}
}

func TestStream_isAnsweredFromAnotherGoroutine(t *testing.T) {
	asking := clientConfig(t)
	asking.SuspendOn = []securestream.Status{securestream.StatusWantCertificateVerify}
	client := must[*securestream.Stream](t)(securestream.NewStream(asking, securestream.RoleClient))
	server := must[*securestream.Stream](t)(securestream.NewStream(nil, securestream.RoleServer))
	defer client.Close()
	defer server.Close()
	var toServer, toClient []byte
	carry(t, client, server, &toServer, &toClient)
	if server.State() != securestream.StateHandshake|securestream.StateSuspended || server.ClientHello() == nil {
		t.Fatalf("the state is %#x", server.State())
	}
	mustAll(t, together(func() error { return server.SetConfig(serverConfig(t)) }))
	carry(t, client, server, &toServer, &toClient)
	peer := must[*securestream.PeerCertificateInfo](t)(client.PeerCertificate())
	if peer.Verdict != nil {
		t.Error(peer.Verdict)
	}
	errs := together(client.AcceptDefault, client.AcceptDefault, client.AcceptDefault)
	taken := slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, securestream.ErrState) })
	if len(taken) != 1 || taken[0] != nil {
		t.Errorf("of three answers %v were taken", taken)
	}
	carry(t, client, server, &toServer, &toClient)
	if !client.Info().Verified {
		t.Error("not verified")
	}
	mustBe(t, "late", client.Accept(), securestream.ErrState)
	mustBe(t, "late", client.Reject(-1), securestream.ErrState)
	mustBe(t, "no alert", client.Reject(256), securestream.ErrInvalidArgument)
	mustBe(t, "late", client.SetCredential(nil), securestream.ErrState)
	mustBe(t, "late", client.SetSignature([]byte("x")), securestream.ErrState)
	mustBe(t, "late", client.SetConfig(serverConfig(t)), securestream.ErrState)
}

func TestAnswers_leaveNothing(t *testing.T) {
	base := securestream.LiveObjects()
	t.Run("choices", TestGetConfigForClient_configIsInForceAsAWhole)
	t.Run("signers", TestSigner_ofTheChainThatIsSentIsAsked)
	t.Run("streams", TestStream_isAnsweredFromAnotherGoroutine)
	noneLeft(t, base)
}
