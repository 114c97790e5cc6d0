package securestream_test

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"sync/atomic"
	"testing"

	"securestream.example/securestream"
)

// signer is a private key outside of the library, which counts what it signs.
type signer struct {
	crypto.Signer
	used atomic.Int32
	err  error
}

func (s *signer) Sign(random io.Reader, digest []byte, options crypto.SignerOpts) ([]byte, error) {
	s.used.Add(1)
	if s.err != nil {
		return nil, s.err
	}
	return s.Signer.Sign(random, digest, options)
}

func newSigner(t testing.TB, name string) *signer {
	block, _ := pem.Decode(dataFile(t, name+".key"))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return &signer{Signer: key.(crypto.Signer)}
}

func signing(t testing.TB, name string, s crypto.Signer) *securestream.Credential {
	c, err := securestream.NewCredentialSigner(dataFile(t, name+".pem"), s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSigner_signsWithEachKindOfKey(t *testing.T) {
	for _, version := range []uint16{securestream.VersionTLS12, securestream.VersionTLS13} {
		for _, kind := range []string{"p256", "p384", "ed25519", "rsa2048"} {
			ours, theirs := newSigner(t, "client-"+kind), newSigner(t, "server-"+kind)
			client, server := clientConfig(t), askingConfig(t)
			client.Credentials = []*securestream.Credential{signing(t, "client-"+kind, ours)}
			server.Credentials = []*securestream.Credential{signing(t, "server-"+kind, theirs)}
			client.MaxVersion = version
			c, s := openPair(t, client, server, tcpPair)
			mustShow(t, c, "server-"+kind)
			mustShow(t, s, "client-"+kind)
			if ours.used.Load() != 1 || theirs.used.Load() != 1 {
				t.Errorf("%s: %d and %d signatures", kind, ours.used.Load(), theirs.used.Load())
			}
		}
	}
}

func TestSigner_ofTheChainThatIsSentIsAsked(t *testing.T) {
	right, wrong := newSigner(t, "server-p256"), newSigner(t, "server-other")
	other, good := signing(t, "server-other", wrong), signing(t, "server-p256", right)
	several := serverConfig(t)
	several.Credentials = []*securestream.Credential{good, other}
	chosen := serverConfig(t)
	chosen.Credentials = []*securestream.Credential{other}
	chosen.GetCertificate = func(*securestream.ClientHelloInfo) (*securestream.Credential, error) { return good, nil }
	for _, server := range []*securestream.Config{several, chosen} {
		c, _ := openPair(t, clientConfig(t), server, pipePair)
		mustShow(t, c, "server-p256")
	}
	if right.used.Load() != 2 || wrong.used.Load() != 0 {
		t.Errorf("%d and %d signatures", right.used.Load(), wrong.used.Load())
	}
}

func TestSigner_errorEndsTheHandshake(t *testing.T) {
	broken := newSigner(t, "server-p256")
	broken.err = errNotOurs
	server := serverConfig(t)
	server.Credentials = []*securestream.Credential{signing(t, "server-p256", broken)}
	_, _, clientErr, serverErr := shake(t, clientConfig(t), server)
	mustBe(t, "server", serverErr, errNotOurs)
	mustBe(t, "client", clientErr, securestream.ErrAlertReceived-80)
}

func TestSigner_ofAnotherKeyIsRefused(t *testing.T) {
	_, err := securestream.NewCredentialSigner(dataFile(t, "server-p256.pem"), newSigner(t, "server-other"))
	mustBe(t, "another key", err, securestream.ErrKeyMismatch)
	_, err = securestream.NewCredentialSigner(dataFile(t, "server-p256.pem"), newSigner(t, "server-ed25519"))
	mustBe(t, "another kind", err, securestream.ErrKeyMismatch)
	_, err = securestream.NewCredentialCallerSigns(dataFile(t, "server-p256.pem"), []uint16{1})
	mustBe(t, "no scheme", err, securestream.ErrBadScheme)
	_, err = securestream.NewCredentialCallerSigns(dataFile(t, "server-p256.key"), []uint16{0x0403})
	if err == nil {
		t.Error("a key without a chain was taken")
	}
}

func TestSigner_servesCryptoTLS(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		a, b := tcpPair(t)
		server := serverConfig(t)
		server.Credentials = []*securestream.Credential{signing(t, "server-rsa2048", newSigner(t, "server-rsa2048"))}
		server.GetConfigForClient = func(*securestream.ClientHelloInfo) (*securestream.Config, error) { return nil, nil }
		mustAll(t, together(tls.Client(a, foreignClient(t, version)).Handshake, securestream.Server(b, server).Handshake))
	}
}
