package securestream_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"securestream.example/securestream"
)

// X03, X07, X09, and the alerts that they allow.
var wrongCertificates = []struct {
	leaf    string
	reasons []securestream.Code // the first is the code
	alerts  []int
}{
	{"server-expired", []securestream.Code{securestream.ErrCertExpired}, []int{45}},
	{"server-not-yet-valid", []securestream.Code{securestream.ErrCertNotYetValid}, []int{45}},
	{"server-expired-other", []securestream.Code{securestream.ErrCertExpired, securestream.ErrCertNameMismatch}, []int{45}},
	{"server-not-yet-valid-other", []securestream.Code{securestream.ErrCertNotYetValid, securestream.ErrCertNameMismatch}, []int{45}},
	{"server-other", []securestream.Code{securestream.ErrCertNameMismatch}, []int{42, 46}},
	{"server-cn-only", []securestream.Code{securestream.ErrCertNameMismatch}, []int{42, 46}},
	{"server-self-signed", []securestream.Code{securestream.ErrCertSelfSigned}, []int{48}},
	{"server-untrusted", []securestream.Code{securestream.ErrCertIssuerNotFound}, []int{48}},
	{"server-no-issuer", []securestream.Code{securestream.ErrCertIssuerNotFound}, []int{48}},
	{"server-rsa1024", []securestream.Code{securestream.ErrCertWeakKey}, []int{42}},
	{"eku-client", []securestream.Code{securestream.ErrCertPurpose}, []int{43, 46}},
	{"eku-any", []securestream.Code{securestream.ErrCertPurpose}, []int{43, 46}},
	{"eku-code", []securestream.Code{securestream.ErrCertPurpose}, []int{43, 46}},
}

func TestRefusal_toldWhole(t *testing.T) {
	versions(t, func(t *testing.T, version uint16) {
		for _, row := range wrongCertificates {
			t.Run(row.leaf, func(t *testing.T) {
				server := serverConfig(t)
				server.Credentials = []*securestream.Credential{credential(t, row.leaf)}
				server.MaxVersion, server.MinRSABits = version, 1024
				a, b := tcpPair(t)
				c, s := securestream.Client(a, clientConfig(t)), securestream.Server(b, server)
				errs := together(c.Handshake, s.Handshake)
				var ours, theirs *securestream.Error
				if !errors.As(errs[0], &ours) || !errors.As(errs[1], &theirs) {
					t.Fatal(errs)
				}
				if ours.Code != row.reasons[0] || !slices.Equal(ours.Reasons, row.reasons) {
					t.Errorf("%v, with the reasons %v", ours, ours.Reasons)
				}
				for _, reason := range row.reasons {
					if !errors.Is(errs[0], reason) {
						t.Errorf("%v is not %v", errs[0], reason)
					}
				}
				if errors.Is(errs[0], securestream.ErrCertBadSignature) {
					t.Error("it is a reason that it has not")
				}
				if !slices.Contains(row.alerts, ours.AlertSent) || ours.AlertReceived != -1 || theirs.AlertReceived != ours.AlertSent {
					t.Errorf("alerts: %d sent, %d received", ours.AlertSent, theirs.AlertReceived)
				}
				if ours.Hint() == "" || strings.Contains(ours.Error(), ours.Hint()) || theirs.Hint() == "" {
					t.Errorf("hints: %q, %q", ours.Hint(), theirs.Hint())
				}
				wantChain(t, "refused", ours.Chain, derChain(t, row.leaf))
				wantChain(t, "refused, in LastError", c.Stream().LastError().Chain, derChain(t, row.leaf))
				if theirs.Chain != nil || c.Stream().PeerCertificates() != nil || c.Stream().VerifiedChain() != nil {
					t.Error("a chain where none belongs")
				}
			})
		}
	})
}

// X03: our own server refuses such a leaf when it is loaded, so it is a foreign one.
func TestRefusal_keyUsage(t *testing.T) {
	versions(t, func(t *testing.T, version uint16) {
		for _, leaf := range []string{"ku-encipherment", "ku-certsign"} {
			for _, verify := range []bool{true, false} {
				pair := must[tls.Certificate](t)(tls.LoadX509KeyPair(dataPath(leaf+".pem"), dataPath(leaf+".key")))
				server := foreignServer(t, version)
				server.Certificates = []tls.Certificate{pair}
				client := clientConfig(t)
				client.InsecureSkipVerify = !verify
				a, b := tcpPair(t)
				c, s := securestream.Client(a, client), tls.Server(b, server)
				errs := together(c.Handshake, func() error { _, err := s.Read(make([]byte, 1)); return err })
				var failed *securestream.Error
				if !errors.As(errs[0], &failed) || failed.Code != securestream.ErrKeyUsage || failed.Reasons != nil {
					t.Fatal(errs[0])
				}
				if !slices.Contains([]int{42, 43, 47}, failed.AlertSent) || errs[1] == nil || failed.Hint() == "" {
					t.Error(failed.AlertSent, errs[1], failed.Hint())
				}
				wantChain(t, "refused", failed.Chain, derChain(t, leaf))
			}
		}
	})
}

func TestRefusal_ofAClient(t *testing.T) {
	client := clientConfig(t)
	client.Credentials = []*securestream.Credential{credential(t, "client-untrusted")}
	a, b := tcpPair(t)
	c, s := securestream.Client(a, client), securestream.Server(b, askingConfig(t))
	errs := together(func() error { _, err := c.Read(make([]byte, 1)); return err }, s.Handshake)
	var theirs, ours *securestream.Error
	if !errors.As(errs[1], &theirs) || theirs.Code != securestream.ErrCertIssuerNotFound {
		t.Fatal(errs)
	}
	wantChain(t, "refused", theirs.Chain, derChain(t, "client-untrusted"))
	if !errors.As(errs[0], &ours) || ours.Code != securestream.ErrAlertReceived-48 || ours.Chain != nil {
		t.Error(errs[0])
	}
}

func TestRefusal_optOuts(t *testing.T) {
	small := serverConfig(t)
	small.Credentials, small.MinRSABits = []*securestream.Credential{credential(t, "server-rsa1024")}, 1024
	client := clientConfig(t)
	client.MinRSABits = 1024
	openSides(t, client, small)

	other := serverConfig(t)
	other.Credentials = []*securestream.Credential{credential(t, "server-other")}
	client = clientConfig(t)
	client.VerifyChainOnly = true
	openSides(t, client, other)
}

// signedBySHA1 is an issuer, and a leaf with its key that it has signed by SHA-1. Go does not, so the signature is put in.
func signedBySHA1(t *testing.T) (anchor, leaf, key []byte) {
	t.Helper()
	issuer := must[*rsa.PrivateKey](t)(rsa.GenerateKey(rand.Reader, 2048))
	own := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := func(name string, ca bool) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"server.test"},
			NotBefore: testTime().Add(-time.Hour), NotAfter: testTime().Add(time.Hour), BasicConstraintsValid: true, IsCA: ca,
		}
	}
	above := template("issuer", true)
	anchor = must[[]byte](t)(x509.CreateCertificate(rand.Reader, above, above, &issuer.PublicKey, issuer))
	signed := must[[]byte](t)(x509.CreateCertificate(rand.Reader, template("leaf", false), above, &own.PublicKey, issuer))

	sha256RSA, sha1RSA := []byte("\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b"), []byte("\x2a\x86\x48\x86\xf7\x0d\x01\x01\x05")
	before := must[*x509.Certificate](t)(x509.ParseCertificate(signed))
	digest := sha1.Sum(bytes.ReplaceAll(before.RawTBSCertificate, sha256RSA, sha1RSA))
	signature := must[[]byte](t)(rsa.SignPKCS1v15(rand.Reader, issuer, crypto.SHA1, digest[:]))
	leaf = bytes.ReplaceAll(bytes.ReplaceAll(signed, sha256RSA, sha1RSA), before.Signature, signature)
	return anchor, leaf, must[[]byte](t)(x509.MarshalPKCS8PrivateKey(own))
}

func TestRefusal_SHA1(t *testing.T) {
	anchor, leaf, key := signedBySHA1(t)
	server, client := serverConfig(t), clientConfig(t)
	server.Credentials = []*securestream.Credential{must[*securestream.Credential](t)(securestream.NewCredentialDER(leaf, key))}
	mustAll(t, []error{client.Trust.AddDER(anchor)})
	failed := refusal(t, client, server)
	if !slices.Equal(failed.Reasons, []securestream.Code{securestream.ErrCertWeakDigest}) || failed.AlertSent != 42 {
		t.Error(failed)
	}
	wantChain(t, "refused", failed.Chain, [][]byte{leaf})
	client = client.Clone()
	client.AllowSHA1 = true
	openSides(t, client, server)
}
