package securestream_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"securestream.example/securestream"
)

func TestTrust_forms(t *testing.T) {
	store := trust(t, "root")
	mustAll(t, []error{
		store.AddPEM(dataFile(t, "client-root.pem")), store.AddDER(dataFile(t, "roots.der")), store.AddDERFile(dataPath("roots.der")),
		store.AddCRL(dataFile(t, "crl-both.der")), store.AddCRLFile(dataPath("crl-root.pem")),
	})
	if n := store.NumAnchors(); n != 2 {
		t.Error(n, "anchors")
	}
	if n := must[*securestream.Trust](t)(securestream.LoadTrust(dataPath("root.pem"), dataPath("client-root.pem"))).NumAnchors(); n != 2 {
		t.Error(n, "anchors")
	}
	cut := dataFile(t, "roots.der")[1:]
	for what, err := range map[string]error{
		"no PEM": store.AddPEM([]byte("nothing")), "cut DER": store.AddDER(cut), "no list": store.AddCRL([]byte("nothing")),
	} {
		if !errors.Is(err, securestream.ErrParse) && !errors.Is(err, securestream.ErrNoCertificate) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if n := store.NumAnchors(); n != 2 {
		t.Error("a call that failed has added something")
	}
}

func TestTrust_inUseIsFrozen(t *testing.T) {
	store := trust(t, "root")
	if err := (&securestream.Config{Trust: store}).Check(securestream.RoleClient); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		store.AddPEM(dataFile(t, "root.pem")), store.AddDER(nil), store.AddCRL(nil), store.AddSystem(), store.AllowPartialChain(),
	} {
		if !errors.Is(err, securestream.ErrFrozen) {
			t.Error(err)
		}
	}
	store.Close()
	if err := store.AddPEM(nil); !errors.Is(err, securestream.ErrClosed) {
		t.Error(err)
	}
}

// refusal is the error of a client that must refuse the server.
func refusal(t *testing.T, client, server *securestream.Config) *securestream.Error {
	t.Helper()
	c, s := newSides(t, client, server)
	_, _ = c.shake()
	_, _ = s.shake()
	_, err := c.shake()
	var failed *securestream.Error
	if !errors.As(err, &failed) {
		t.Fatalf("not refused: %v", err)
	}
	return failed
}

func TestTrust_revocationLists(t *testing.T) {
	server := serverConfig(t)
	server.Credentials = []*securestream.Credential{credential(t, "server-revoked")}
	for _, row := range []struct {
		lists []string
		code  securestream.Code
	}{
		{[]string{"both.der"}, securestream.ErrCertRevoked},
		{[]string{"root.pem", "intermediate-revokes.pem"}, securestream.ErrCertRevoked},
		{[]string{"root-revokes.pem", "intermediate.pem"}, securestream.ErrCertRevoked},
		{[]string{"root.pem"}, securestream.ErrCertCRL},
		{[]string{"root.pem", "intermediate-expired.pem"}, securestream.ErrCertCRL},
		{[]string{"root.pem", "intermediate-future.pem"}, securestream.ErrCertCRL},
		{[]string{"root.pem", "wrong-signer.pem"}, securestream.ErrCertCRL},
		{[]string{"root.pem", "intermediate.pem"}, 0},
	} {
		client := clientConfig(t)
		for _, list := range row.lists {
			mustAll(t, []error{client.Trust.AddCRLFile(dataPath("crl-" + list))})
		}
		if row.code == 0 {
			openSides(t, client, server)
		} else if err := refusal(t, client, server); err.Code != row.code {
			t.Errorf("%v: %v", row.lists, err)
		}
	}
}

func TestTrust_partialChain(t *testing.T) {
	client := clientConfig(t)
	client.Trust = trust(t, "intermediate")
	if err := refusal(t, client, serverConfig(t)); err.Code != securestream.ErrCertIssuerNotFound {
		t.Error(err)
	}
	client = client.Clone()
	client.Trust = trust(t, "intermediate")
	mustAll(t, []error{client.Trust.AllowPartialChain()})
	c, _ := openSides(t, client, serverConfig(t))
	wantChain(t, "verified", c.VerifiedChain(), c.PeerCertificates())
}

func TestTrust_verifiedChain(t *testing.T) {
	client, server := clientConfig(t), askingConfig(t)
	server.Credentials = []*securestream.Credential{credential(t, "server-chain")}
	client.Credentials = []*securestream.Credential{credential(t, "client-p256")}
	c, s := openPair(t, client, server, tcpPair)
	mustRead(t, reader(t, s, c), []byte("x")) // the server has judged the client
	ours, theirs := c.ConnectionState(), s.ConnectionState()
	wantChain(t, "client's", ours.VerifiedChain, append(derChain(t, "server-chain"), derChain(t, "root")...))
	wantChain(t, "server's", theirs.VerifiedChain, append(derChain(t, "client-p256"), derChain(t, "client-root")...))
	wantChain(t, "sent", s.Stream().LocalCertificates(), ours.PeerCertificates)

	client = client.Clone()
	client.InsecureSkipVerify = true
	c, _ = openPair(t, client, serverConfig(t), tcpPair)
	if state := c.ConnectionState(); state.VerifiedChain != nil || len(state.PeerCertificates) != 2 || state.Verified {
		t.Error(state)
	}
}

// reader has one byte that from sends to to.
func reader(t *testing.T, from, to *securestream.Conn) *securestream.Conn {
	t.Helper()
	if _, err := from.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	return to
}

// alone runs a test of this package in a process of its own, for which the system's store is another one.
func alone(t *testing.T, environment ...string) bool {
	t.Helper()
	if os.Getenv("SST_TEST_ALONE") == t.Name() {
		return true
	}
	program := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	program.Env = append(os.Environ(), append(environment, "SSL_CERT_DIR=", "SST_TEST_ALONE="+t.Name())...)
	output, err := program.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, output)
	}
	return false
}

func rootOfSystem() string { return "SSL_CERT_FILE=" + dataPath("root.pem") }

func TestSystemTrust_clientsTakeIt(t *testing.T) {
	if !alone(t, rootOfSystem()) {
		return
	}
	l := must[*securestream.Listener](t)(securestream.Listen("tcp", "127.0.0.1:0", serverConfig(t)))
	defer l.Close()
	system := must[*securestream.Trust](t)(securestream.SystemTrust())
	for _, config := range []*securestream.Config{{}, {Trust: system}} {
		config.ServerName, config.Time = "server.test", testTime
		go func() {
			if conn, err := l.Accept(); err == nil {
				_, _ = conn.Write([]byte("hello"))
				conn.Close()
			}
		}()
		conn := must[*securestream.Conn](t)(securestream.Dial("tcp", l.Addr().String(), config))
		mustRead(t, conn, []byte("hello"))
		wantChain(t, "anchor", conn.ConnectionState().VerifiedChain[2:], derChain(t, "root"))
		conn.Close()
	}
	server := serverConfig(t)
	server.Credentials = []*securestream.Credential{credential(t, "server-untrusted")}
	if err := refusal(t, &securestream.Config{ServerName: "server.test", Time: testTime}, server); err.Code != securestream.ErrCertIssuerNotFound {
		t.Error(err)
	}
}

func TestSystemTrust_serversNever(t *testing.T) {
	if !alone(t, rootOfSystem()) {
		return
	}
	both := serverConfig(t)
	both.ClientAuth, both.ServerName = securestream.RequireAndVerifyClientCert, "server.test"
	openSides(t, both, serverConfig(t))
	if err := both.Check(securestream.RoleServer); !errors.Is(err, securestream.ErrNoTrust) {
		t.Error(err)
	}
}

func TestSystemTrust_readOnceAndShared(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "bundle.pem")
	if !alone(t, "SSL_CERT_FILE="+bundle) {
		return
	}
	bundle = os.Getenv("SSL_CERT_FILE") // in a folder that is gone
	mustAll(t, []error{os.MkdirAll(filepath.Dir(bundle), 0o755), os.WriteFile(bundle, dataFile(t, "root.pem"), 0o644)})
	base := securestream.LiveObjects()
	var wait group
	stores := make([]*securestream.Trust, 16)
	for i := range stores {
		wait.run(func() { stores[i], _ = securestream.SystemTrust() })
	}
	wait.Wait()
	mustAll(t, []error{os.RemoveAll(filepath.Dir(bundle))})
	for _, store := range stores {
		if store.NumAnchors() != 1 {
			t.Error(store.NumAnchors(), "anchors")
		}
		if err := store.AddPEM(dataFile(t, "client-root.pem")); !errors.Is(err, securestream.ErrFrozen) {
			t.Error("the shared store can be changed:", err)
		}
		store.Close() // the others keep it
	}
	if n := must[*securestream.Trust](t)(securestream.SystemTrust()).NumAnchors(); n != 1 {
		t.Error(n, "anchors")
	}
	if n := securestream.LiveObjects() - base; n != 1 {
		t.Error(n, "objects, and not the store alone")
	}
}

func TestSystemTrust_noneNamesTheWayOut(t *testing.T) {
	if !alone(t, "SSL_CERT_FILE=/nowhere/bundle.pem") {
		return
	}
	_, err := securestream.Dial("tcp", "127.0.0.1:1", nil)
	if !errors.Is(err, securestream.ErrSystem) || !errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	for _, part := range []string{"/nowhere/bundle.pem", "Config.Trust", "SSL_CERT_FILE"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v: without %s", err, part)
		}
	}
	if err := (&securestream.Config{InsecureSkipVerify: true}).Check(securestream.RoleClient); err != nil {
		t.Error(err)
	}
	empty := filepath.Join(t.TempDir(), "empty.pem")
	mustAll(t, []error{os.WriteFile(empty, nil, 0o644)})
	t.Setenv("SSL_CERT_FILE", empty)
	if _, err := securestream.SystemTrust(); !errors.Is(err, securestream.ErrNoCertificate) || !strings.Contains(err.Error(), "Config.Trust") {
		t.Error(err)
	}
	t.Setenv("SSL_CERT_FILE", dataPath("root.pem"))
	own := trust(t, "client-root")
	if err := own.AddSystem(); err != nil || own.NumAnchors() != 2 {
		t.Error(err, own.NumAnchors())
	}
	if err := new(securestream.Config).Check(securestream.RoleClient); err != nil {
		t.Error("the next call does not try again:", err)
	}
}
