package securestream

import (
	"os"

	"securestream.example/securestream/internal/raw"
)

// Credential is a certificate chain and its private key. Many configs may have it.
type Credential struct{ native native[raw.Credential] }

// NewCredential loads a certificate chain, leaf first, and its private key from PEM (RFC 7468). The two may be the same
// text. Keys are PKCS#8, PKCS#1 or SEC1, not encrypted: see [NewEncryptedCredential].
func NewCredential(chainPEM, keyPEM []byte) (*Credential, error) {
	return NewEncryptedCredential(chainPEM, keyPEM, "")
}

// NewEncryptedCredential is NewCredential with the password of a key in encrypted PKCS#8. It is ignored where the key is
// plain.
func NewEncryptedCredential(chainPEM, keyPEM []byte, password string) (*Credential, error) {
	ptr := raw.Sst_credential_new()
	if ptr == nil {
		return nil, failure("make a credential", raw.SST_ERR_NO_MEMORY, nil)
	}
	c := new(Credential)
	c.native.own(ptr, raw.Sst_credential_free)
	get := func(e *raw.Error) int32 { return raw.Sst_credential_last_error(ptr, e) }
	if status := raw.Sst_credential_load_pem(ptr, chainPEM, password); status != raw.SST_OK {
		defer c.Close()
		return nil, failure("load certificate chain", status, get)
	}
	if status := raw.Sst_credential_load_pem(ptr, keyPEM, password); status != raw.SST_OK {
		defer c.Close()
		return nil, failure("load private key", status, get)
	}
	return c, nil
}

// LoadCredential is NewCredential from files.
func LoadCredential(chainFile, keyFile string) (*Credential, error) {
	chain, err := os.ReadFile(chainFile)
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, err
	}
	defer clear(key)
	return NewCredential(chain, key)
}

// Certificate is certificate i of the chain in DER, as it is sent; 0 is the leaf. Nil: there is none.
func (c *Credential) Certificate(i int) []byte {
	if i < 0 || !c.native.enter() {
		return nil
	}
	defer c.native.leave()
	der, _ := get(func(room *raw.Room) int32 { return raw.Sst_credential_certificate(c.native.ptr, uint(i), room) })
	return der
}

// Close frees the credential, as far as no config needs it any more; then the key is wiped.
func (c *Credential) Close() error {
	c.native.close()
	return nil
}
