package securestream_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"testing"

	"securestream.example/securestream"
)

// half is what both kinds of connection have.
type half interface {
	net.Conn
	CloseWrite() error
	Handshake() error
}

// exchange sends in both directions at once and closes each.
func exchange(t *testing.T, a, b half) {
	t.Helper()
	mustAll(t, together(a.Handshake, b.Handshake))
	data := pattern(300000)
	var atA, atB []byte
	send := func(h half) func() error {
		return func() error { _, err := h.Write(data); return errors.Join(err, h.CloseWrite()) }
	}
	mustAll(t, together(send(a), send(b),
		func() (err error) { atA, err = io.ReadAll(a); return err },
		func() (err error) { atB, err = io.ReadAll(b); return err }))
	if !bytes.Equal(atA, data) || !bytes.Equal(atB, data) {
		t.Errorf("%d and %d bytes came, or others", len(atA), len(atB))
	}
}

// B01 too: crypto/tls and the library in one process, at the same time.
func TestForeign_cryptoTLS(t *testing.T) {
	versions(t, func(t *testing.T, version uint16) {
		for _, transport := range transports {
			t.Run(transport.name, func(t *testing.T) {
				a, b := transport.pair(t)
				exchange(t, securestream.Client(a, clientConfig(t)), tls.Server(b, foreignServer(t, version)))
				a, b = transport.pair(t)
				exchange(t, tls.Client(a, foreignClient(t, version)), securestream.Server(b, serverConfig(t)))
			})
		}
	})
}

func TestForeign_clientCertificates(t *testing.T) {
	versions(t, func(t *testing.T, version uint16) {
		a, b := tcpPair(t)
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(dataFile(t, "client-root.pem"))
		server := foreignServer(t, version)
		server.ClientAuth, server.ClientCAs = tls.RequireAndVerifyClientCert, roots
		client := clientConfig(t)
		client.Credentials = []*securestream.Credential{credential(t, "client-p256")}
		exchange(t, securestream.Client(a, client), tls.Server(b, server))

		a, b = tcpPair(t)
		pair, err := tls.X509KeyPair(dataFile(t, "client-rsa2048.pem"), dataFile(t, "client-rsa2048.key"))
		if err != nil {
			t.Fatal(err)
		}
		foreign := foreignClient(t, version)
		foreign.Certificates = []tls.Certificate{pair}
		exchange(t, tls.Client(a, foreign), securestream.Server(b, askingConfig(t)))
	})
}

// X02, the part of crypto/tls: kinds of keys that both know.
func TestForeign_X02(t *testing.T) {
	for _, kind := range []string{"rsa2048", "p256", "p384", "p521", "ed25519"} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			groups := []uint16{securestream.X25519, securestream.CurveP256, securestream.CurveP384, securestream.CurveP521}
			pair, err := tls.X509KeyPair(dataFile(t, "server-"+kind+".pem"), dataFile(t, "server-"+kind+".key"))
			if err != nil {
				t.Fatal(err)
			}
			server := foreignServer(t, version)
			server.Certificates = []tls.Certificate{pair}
			client := clientConfig(t)
			client.CurvePreferences = groups
			a, b := tcpPair(t)
			exchange(t, securestream.Client(a, client), tls.Server(b, server))

			ours := serverConfig(t)
			ours.CurvePreferences = groups
			ours.Credentials = []*securestream.Credential{credential(t, "server-"+kind)}
			a, b = tcpPair(t)
			exchange(t, tls.Client(a, foreignClient(t, version)), securestream.Server(b, ours))
		}
	}
}
