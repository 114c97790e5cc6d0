package securestream_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"strings"
	"testing"

	"securestream.example/securestream"
)

var (
	ocspResponse = []byte{0x30, 3, 0x0a, 1, 3} // its shape is all that counts
	timestamps   = [][]byte{[]byte("ab"), []byte("c")}
)

// foreignPairs runs f with an open connection of ours to crypto/tls, in both roles.
func foreignPairs(t *testing.T, version uint16, f func(t *testing.T, ours securestream.ConnectionState, theirs tls.ConnectionState)) {
	t.Run("client", func(t *testing.T) {
		a, b := tcpPair(t)
		ours, theirs := securestream.Client(a, clientConfig(t)), tls.Server(b, foreignServer(t, version))
		mustAll(t, together(ours.Handshake, theirs.Handshake))
		f(t, ours.ConnectionState(), theirs.ConnectionState())
	})
	t.Run("server", func(t *testing.T) {
		a, b := tcpPair(t)
		theirs, ours := tls.Client(a, foreignClient(t, version)), securestream.Server(b, serverConfig(t))
		mustAll(t, together(ours.Handshake, theirs.Handshake))
		f(t, ours.ConnectionState(), theirs.ConnectionState())
	})
}

func TestKeys_exportersAreThoseOfCryptoTLS(t *testing.T) {
	long := pattern(65535)
	versions(t, func(t *testing.T, version uint16) {
		foreignPairs(t, version, func(t *testing.T, ours securestream.ConnectionState, theirs tls.ConnectionState) {
			for _, context := range [][]byte{nil, {}, []byte("context"), long} {
				for _, length := range []int{0, 1, 32, 1000} {
					mine, err := ours.ExportKeyingMaterial("EXPERIMENTAL test", context, length)
					if err != nil {
						t.Fatal(err)
					}
					other, err := theirs.ExportKeyingMaterial("EXPERIMENTAL test", context, length)
					if err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(mine, other) {
						t.Errorf("context of %d (nil: %t), %d bytes: %x and %x", len(context), context == nil, length, mine, other)
					}
				}
			}
		})
	})
}

func TestKeys_tlsUniqueIsThatOfCryptoTLS(t *testing.T) {
	versions(t, func(t *testing.T, version uint16) {
		foreignPairs(t, version, func(t *testing.T, ours securestream.ConnectionState, theirs tls.ConnectionState) {
			if !bytes.Equal(ours.TLSUnique, theirs.TLSUnique) || (ours.TLSUnique == nil) != (version == tls.VersionTLS13) {
				t.Errorf("%x and %x", ours.TLSUnique, theirs.TLSUnique)
			}
		})
	})
}

func TestKeys_bindingsOfBothEnds(t *testing.T) {
	client, server := openPair(t, clientConfig(t), serverConfig(t), tcpPair)
	c, s := client.Stream(), server.Stream()
	key, err := c.ExportKeyingMaterial("EXPORTER-Channel-Binding", []byte{}, 32)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(c.TLSExporter(), key) || !bytes.Equal(s.TLSExporter(), key) {
		t.Errorf("tls-exporter: %x and %x, not %x", c.TLSExporter(), s.TLSExporter(), key)
	}
	leaf := sha256.Sum256(c.PeerCertificates()[0])
	if !bytes.Equal(c.TLSServerEndPoint(), leaf[:]) || !bytes.Equal(s.TLSServerEndPoint(), leaf[:]) {
		t.Errorf("tls-server-end-point: %x and %x, not %x", c.TLSServerEndPoint(), s.TLSServerEndPoint(), leaf)
	}
	before := c.TrafficSecret(false)
	if len(before) != 32 || !bytes.Equal(before, s.TrafficSecret(true)) || bytes.Equal(before, c.TrafficSecret(true)) {
		t.Errorf("traffic secrets: %x and %x", before, s.TrafficSecret(true))
	}
	if err := c.KeyUpdate(false); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(before, c.TrafficSecret(false)) {
		t.Error("the traffic secret is the old one")
	}
}

func TestKeys_wrongCalls(t *testing.T) {
	client, _ := newSides(t, clientConfig(t), serverConfig(t))
	state := new(securestream.ConnectionState)
	if _, err := state.ExportKeyingMaterial("l", nil, 1); !errors.Is(err, securestream.ErrState) {
		t.Error(err)
	}
	if _, err := client.Stream.ExportKeyingMaterial("l", nil, 1); !errors.Is(err, securestream.ErrState) {
		t.Error(err)
	}
	if client.Stream.TLSExporter() != nil || client.Stream.TrafficSecret(true) != nil {
		t.Error("there are keys before the handshake")
	}
	open, _ := openSides(t, clientConfig(t), serverConfig(t))
	for _, bad := range []struct {
		label  string
		length int
	}{{"", 1}, {strings.Repeat("l", 250), 1}, {"l", -1}, {"l", 8161}, {"l", 1 << 40}, {"master secret", 1}} {
		if _, err := open.Stream.ExportKeyingMaterial(bad.label, nil, bad.length); !errors.Is(err, securestream.ErrInvalidArgument) {
			t.Errorf("%q, %d: %v", bad.label, bad.length, err)
		}
	}
}

// ---- what is stapled ----

// stapling is a server whose leaf demands a staple, if name is refused/staple.
func stapling(t *testing.T, name string) *securestream.Config {
	c := credential(t, name)
	mustAll(t, []error{c.SetOCSPResponse(ocspResponse), c.SetSignedCertificateTimestamps(timestamps)})
	config := serverConfig(t)
	config.Credentials = []*securestream.Credential{c}
	return config
}

func expectStaples(t *testing.T, response []byte, scts [][]byte) {
	t.Helper()
	if !bytes.Equal(response, ocspResponse) || len(scts) != 2 || !bytes.Equal(scts[0], timestamps[0]) || !bytes.Equal(scts[1], timestamps[1]) {
		t.Errorf("stapled: %x, %x", response, scts)
	}
}

func TestKeys_clientSeesWhatIsStapled(t *testing.T) {
	client, server := openPair(t, clientConfig(t), stapling(t, "refused/staple"), tcpPair)
	got, none := client.ConnectionState(), server.ConnectionState()
	expectStaples(t, got.OCSPResponse, got.SignedCertificateTimestamps)
	if none.OCSPResponse != nil || none.SignedCertificateTimestamps != nil {
		t.Errorf("a server sees %x, %x", none.OCSPResponse, none.SignedCertificateTimestamps)
	}
}

func TestKeys_cryptoTLSSeesWhatIsStapled(t *testing.T) {
	versions(t, func(t *testing.T, version uint16) {
		a, b := tcpPair(t)
		theirs, ours := tls.Client(a, foreignClient(t, version)), securestream.Server(b, stapling(t, "server-p256"))
		mustAll(t, together(ours.Handshake, theirs.Handshake))
		got := theirs.ConnectionState()
		expectStaples(t, got.OCSPResponse, got.SignedCertificateTimestamps)
	})
}

func TestKeys_whatCryptoTLSStaplesIsSeen(t *testing.T) {
	versions(t, func(t *testing.T, version uint16) {
		a, b := tcpPair(t)
		foreign := foreignServer(t, version)
		pair, err := tls.X509KeyPair(dataFile(t, "refused/staple.pem"), dataFile(t, "refused/staple.key"))
		if err != nil {
			t.Fatal(err)
		}
		pair.OCSPStaple, pair.SignedCertificateTimestamps = ocspResponse, timestamps
		foreign.Certificates = []tls.Certificate{pair}
		ours, theirs := securestream.Client(a, clientConfig(t)), tls.Server(b, foreign)
		mustAll(t, together(ours.Handshake, theirs.Handshake))
		got := ours.ConnectionState()
		expectStaples(t, got.OCSPResponse, got.SignedCertificateTimestamps)
	})
}

func TestKeys_mustStapleIsEnforced(t *testing.T) {
	config := serverConfig(t)
	config.Credentials = []*securestream.Credential{credential(t, "refused/staple")}
	a, b := tcpPair(t)
	client, server := securestream.Client(a, clientConfig(t)), securestream.Server(b, config)
	errs := together(client.Handshake, server.Handshake)
	if !errors.Is(errs[0], securestream.ErrCertStapleMissing) {
		t.Error(errs[0])
	}
}

func TestKeys_whatCannotBeStapledIsRefused(t *testing.T) {
	c := credential(t, "server-p256")
	if err := c.SetOCSPResponse([]byte("junk")); !errors.Is(err, securestream.ErrParse) {
		t.Error(err)
	}
	if err := c.SetSignedCertificateTimestamps([][]byte{nil}); !errors.Is(err, securestream.ErrParse) {
		t.Error(err)
	}
	if err := c.SetSignedCertificateTimestamps([][]byte{make([]byte, 70000)}); !errors.Is(err, securestream.ErrListTooLong) {
		t.Error(err)
	}
	if err := c.SetSignedCertificateTimestamps([][]byte{make([]byte, 40000), make([]byte, 40000)}); !errors.Is(err, securestream.ErrListTooLong) {
		t.Error(err)
	}
	mustAll(t, []error{c.SetSignedCertificateTimestamps(nil)})
	c.Close()
	if err := c.SetOCSPResponse(nil); !errors.Is(err, securestream.ErrClosed) {
		t.Error(err)
	}
}
