package securestream_test

import (
	"bytes"
	"encoding/pem"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"securestream.example/securestream"
)

func dataPath(name string) string { return filepath.Join("..", "..", "tests", "data", name) }

// derChain is the certificates of a file in PEM, in its order.
func derChain(t testing.TB, name string) [][]byte {
	t.Helper()
	var chain [][]byte
	for rest := dataFile(t, name+".pem"); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return chain
		}
		if block.Type == "CERTIFICATE" {
			chain = append(chain, block.Bytes)
		}
	}
}

func wantChain(t testing.TB, what string, got, want [][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d certificates, not %d", what, len(got), len(want))
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("%s: certificate %d is another one", what, i)
		}
	}
}

// must is for functions that give a value or an error.
func must[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// X13.
func TestCredential_pkcs12OfEveryAge(t *testing.T) {
	want := derChain(t, "server-chain")
	for _, cipher := range []string{"aes256", "3des", "rc2-40", "plain"} {
		for kind, password := range map[string]string{"pw": "pw", "utf8": "pä", "empty": "", "null": ""} {
			name := "p12-" + cipher + "-" + kind + ".p12"
			bytes := must[*securestream.Credential](t)(securestream.NewCredentialPKCS12(dataFile(t, name), password))
			file := must[*securestream.Credential](t)(securestream.LoadCredentialPKCS12(dataPath(name), password))
			wantChain(t, name, bytes.Certificates(), want)
			wantChain(t, name, file.Certificates(), want)
		}
	}
	for _, row := range []struct {
		name, password string
		code           securestream.Code
	}{
		{"aes256-pw", "wrong", securestream.ErrBadPassword},
		{"aes256-pw", "", securestream.ErrPasswordRequired},
		{"rc2-128", "pw", securestream.ErrUnsupportedCipher},
		{"no-mac", "pw", securestream.ErrParse},
		{"trailing", "pw", securestream.ErrParse},
		{"cut", "pw", securestream.ErrParse},
		{"two-keys", "pw", securestream.ErrParse},
		{"no-key", "pw", securestream.ErrNoPrivateKey},
	} {
		c, err := securestream.NewCredentialPKCS12(dataFile(t, "p12-"+row.name+".p12"), row.password)
		if c != nil || !errors.Is(err, row.code) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

func TestCredential_DER(t *testing.T) {
	want := derChain(t, "server-chain")
	for _, key := range []string{"server-chain.key.der", "server-chain-sec1.key.der"} {
		bytes := must[*securestream.Credential](t)(securestream.NewCredentialDER(dataFile(t, "server-chain.der"), dataFile(t, key)))
		file := must[*securestream.Credential](t)(securestream.LoadCredentialDER(dataPath("server-chain.der"), dataPath(key)))
		wantChain(t, key, bytes.Certificates(), want)
		wantChain(t, key, file.Certificates(), want)
	}
	chain, key := dataFile(t, "server-chain.der"), dataFile(t, "server-chain.key.der")
	for _, row := range []struct {
		what       string
		chain, key []byte
		code       securestream.Code
	}{
		{"cut", chain[:len(chain)-1], key, securestream.ErrParse},
		{"encrypted", chain, dataFile(t, "server-chain-encrypted.key.der"), securestream.ErrPasswordRequired},
		{"of another", chain, dataFile(t, "server-rsa2048-pkcs1.key.der"), securestream.ErrKeyMismatch},
		{"nothing", nil, nil, securestream.ErrNoCertificate},
	} {
		if c, err := securestream.NewCredentialDER(row.chain, row.key); c != nil || !errors.Is(err, row.code) {
			t.Errorf("%s: %v", row.what, err)
		}
	}
}

// X08, X11, X12.
func TestCredential_PEM(t *testing.T) {
	want := derChain(t, "server-chain")
	all := must[*securestream.Credential](t)(securestream.LoadCredential(dataPath("server-chain-all.pem"), ""))
	wantChain(t, "all in one", all.Certificates(), want)
	shuffled := must[*securestream.Credential](t)(securestream.LoadCredential(dataPath("server-chain-shuffled.pem"), dataPath("server-chain.key")))
	wantChain(t, "shuffled", shuffled.Certificates(), want)
	windows := bytes.ReplaceAll(dataFile(t, "server-chain-all.pem"), []byte("\n"), []byte("\r\n"))
	wantChain(t, "CRLF", must[*securestream.Credential](t)(securestream.NewCredential(append([]byte("\xef\xbb\xbf"), windows...), nil)).Certificates(), want)

	for _, key := range []string{"old-ec-aes128", "old-ec-3des", "odd-encrypted-aes256", "odd-encrypted-pkcs12-3des"} {
		load := func(password string) (*securestream.Credential, error) {
			return securestream.LoadEncryptedCredential(dataPath("server-p256.pem"), dataPath(key+".key"), password)
		}
		wantChain(t, key, must[*securestream.Credential](t)(load("secret")).Certificates(), derChain(t, "server-p256"))
		if _, err := load(""); !errors.Is(err, securestream.ErrPasswordRequired) {
			t.Error(key, err)
		}
		if _, err := load("wrong"); !errors.Is(err, securestream.ErrBadPassword) || !strings.Contains(err.Error(), "private key") {
			t.Error(key, err)
		}
	}
	for code, key := range map[securestream.Code]string{
		securestream.ErrKeyMismatch: "server-p384", securestream.ErrUnsupportedKey: "odd-ed448",
		securestream.ErrUnsupportedCipher: "odd-encrypted-camellia",
	} {
		_, err := securestream.NewEncryptedCredential(dataFile(t, "server-p256.pem"), dataFile(t, key+".key"), "secret")
		if !errors.Is(err, code) || code.Hint() == "" {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestCredential_missingFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	good := dataPath("server-p256.pem")
	loads := map[string]func() error{
		"chain":    func() error { _, err := securestream.LoadCredential(missing, ""); return err },
		"key":      func() error { _, err := securestream.LoadCredential(good, missing); return err },
		"DER":      func() error { _, err := securestream.LoadCredentialDER(missing, missing); return err },
		"PKCS12":   func() error { _, err := securestream.LoadCredentialPKCS12(missing, "pw"); return err },
		"trust":    func() error { _, err := securestream.LoadTrust(dataPath("root.pem"), missing); return err },
		"DER file": func() error { return trust(t, "root").AddDERFile(missing) },
		"CRL file": func() error { return trust(t, "root").AddCRLFile(missing) },
	}
	base := securestream.LiveObjects()
	for name, load := range loads {
		var path *fs.PathError
		if err := load(); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &path) || path.Path != missing {
			t.Errorf("%s: %v", name, err)
		}
	}
	noneLeft(t, base)
}

func TestCredential_smallKeyNeedsItsOptOut(t *testing.T) {
	config := &securestream.Config{Credentials: []*securestream.Credential{credential(t, "server-rsa1024")}}
	if err := config.Check(securestream.RoleServer); !errors.Is(err, securestream.ErrUnsupportedKey) {
		t.Error(err)
	}
	config = config.Clone()
	config.MinRSABits = 1024
	if err := config.Check(securestream.RoleServer); err != nil {
		t.Error(err)
	}
}

func TestCredential_failedLoadsFreeAll(t *testing.T) {
	base := securestream.LiveObjects()
	for range 20 {
		_, _ = securestream.NewCredential(nil, nil)
		_, _ = securestream.NewCredentialDER(nil, nil)
		_, _ = securestream.NewCredentialPKCS12(nil, "")
		_, _ = securestream.NewTrust([]byte("nothing"))
	}
	if n := securestream.LiveObjects(); n != base { // at once, without the collector
		t.Errorf("%d objects are left", n-base)
	}
}
