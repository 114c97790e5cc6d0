package securestream

import (
	"crypto"
	"os"

	"securestream.example/securestream/internal/raw"
)

// Credential is a certificate chain and its private key. Many configs may have it.
//
// It is made from PEM, DER or PKCS#12, from slices (New…) or files (Load…). The certificates may come in any order:
// they are sent as RFC 8446, 4.4.2 wants it, without a self-signed root. Nobody is ever asked for a password, and
// nothing of what was given is kept but the parsed objects.
//
// The functions that make one fail with [ErrParse] (damaged, or a second key: the message names the place),
// [ErrNoCertificate], [ErrNoPrivateKey], [ErrKeyMismatch] (the key belongs to none of the certificates),
// [ErrUnsupportedKey] (not RSA, P-256, P-384, P-521 or Ed25519, too small, or not for signing), [ErrPasswordRequired],
// [ErrBadPassword], [ErrUnsupportedCipher], [ErrListTooLong] (more than 200 certificates), [ErrNoMemory]; those that
// load files also with the error of os.ReadFile.
type Credential struct {
	native native[raw.Credential]
	signer crypto.Signer // of NewCredentialSigner
	leaf   []byte        // of a chain whose key is elsewhere
}

// NewCredential loads a certificate chain and its private key from PEM (RFC 7468). The key is PKCS#8, PKCS#1 or SEC1,
// not encrypted: see [NewEncryptedCredential]. Where keyPEM is empty it is in chainPEM.
func NewCredential(chainPEM, keyPEM []byte) (*Credential, error) {
	return NewEncryptedCredential(chainPEM, keyPEM, "")
}

// NewEncryptedCredential is NewCredential with the password, in UTF-8, of an encrypted key. It is ignored where the key
// is plain.
func NewEncryptedCredential(chainPEM, keyPEM []byte, password string) (*Credential, error) {
	c, err := emptyCredential()
	if err != nil {
		return nil, err
	}
	err = c.load("load certificate chain", raw.Sst_credential_load_pem(c.native.ptr, chainPEM, password))
	if err == nil && len(keyPEM) > 0 {
		err = c.load("load private key", raw.Sst_credential_load_pem(c.native.ptr, keyPEM, password))
	}
	return c.unless(err)
}

// NewCredentialDER loads certificates in DER (RFC 5280), one behind the other, and a private key in DER: PKCS#8, PKCS#1
// or SEC1, not encrypted.
func NewCredentialDER(chain, key []byte) (*Credential, error) {
	c, err := emptyCredential()
	if err != nil {
		return nil, err
	}
	return c.unless(c.load("load credential", raw.Sst_credential_load_der(c.native.ptr, chain, key)))
}

// NewCredentialPKCS12 loads certificates and key from PKCS#12 (RFC 7292), of any age. The password is UTF-8; empty
// opens what was made without one, too.
func NewCredentialPKCS12(pfx []byte, password string) (*Credential, error) {
	c, err := emptyCredential()
	if err != nil {
		return nil, err
	}
	return c.unless(c.load("load PKCS#12", raw.Sst_credential_load_pkcs12(c.native.ptr, pfx, password)))
}

// LoadCredential is NewCredential from files. Where keyFile is empty the key is in chainFile.
func LoadCredential(chainFile, keyFile string) (*Credential, error) {
	return LoadEncryptedCredential(chainFile, keyFile, "")
}

// LoadEncryptedCredential is NewEncryptedCredential from files. Where keyFile is empty the key is in chainFile.
func LoadEncryptedCredential(chainFile, keyFile, password string) (*Credential, error) {
	return loadPair(chainFile, keyFile, func(chain, key []byte) (*Credential, error) {
		return NewEncryptedCredential(chain, key, password)
	})
}

// LoadCredentialDER is NewCredentialDER from files.
func LoadCredentialDER(chainFile, keyFile string) (*Credential, error) {
	return loadPair(chainFile, keyFile, NewCredentialDER)
}

// LoadCredentialPKCS12 is NewCredentialPKCS12 from a file.
func LoadCredentialPKCS12(file, password string) (*Credential, error) {
	pfx, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return NewCredentialPKCS12(pfx, password)
}

func loadPair(chainFile, keyFile string, load func(chain, key []byte) (*Credential, error)) (*Credential, error) {
	chain, err := os.ReadFile(chainFile)
	if err != nil {
		return nil, err
	}
	defer clear(chain) // it may hold the key
	var key []byte
	if keyFile != "" {
		if key, err = os.ReadFile(keyFile); err != nil {
			return nil, err
		}
		defer clear(key)
	}
	return load(chain, key)
}

func emptyCredential() (*Credential, error) {
	ptr := raw.Sst_credential_new()
	if ptr == nil {
		return nil, failure("make a credential", raw.SST_ERR_NO_MEMORY, nil)
	}
	c := new(Credential)
	c.native.own(ptr, raw.Sst_credential_free)
	return c, nil
}

// load is the error of a call that loads.
func (c *Credential) load(op string, status int32) error {
	if status == raw.SST_OK {
		return nil
	}
	return failure(op, status, func(e *raw.Error) int32 { return raw.Sst_credential_last_error(c.native.ptr, e) })
}

// unless gives c out, or frees it.
func (c *Credential) unless(err error) (*Credential, error) {
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
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

// Certificates is the chain in DER, as it is sent, leaf first.
func (c *Credential) Certificates() [][]byte { return untilNone(c.Certificate) }

// SetOCSPResponse staples an OCSP response (DER, RFC 6960) for clients who ask; empty: none. Only its shape is checked:
// [ErrParse], or [ErrListTooLong] over 32,000 bytes. [ErrFrozen] once a config has been used with the credential.
func (c *Credential) SetOCSPResponse(response []byte) error {
	return c.set("set OCSP response", func() int32 { return raw.Sst_credential_set_ocsp_response(c.native.ptr, response) })
}

// SetSignedCertificateTimestamps staples SCTs (RFC 6962, 3.3); none removes them. As [Credential.SetOCSPResponse].
func (c *Credential) SetSignedCertificateTimestamps(scts [][]byte) error {
	list, ok := timestampList(scts)
	if !ok {
		return failure("set SCTs", raw.SST_ERR_LIST_TOO_LONG, nil)
	}
	return c.set("set SCTs", func() int32 { return raw.Sst_credential_set_scts(c.native.ptr, list) })
}

func (c *Credential) set(op string, call func() int32) error {
	if !c.native.enter() {
		return failure(op, raw.SST_ERR_CLOSED, nil)
	}
	defer c.native.leave()
	return c.load(op, call())
}

// Close frees the credential, as far as no config needs it any more; then the key is wiped.
func (c *Credential) Close() error {
	c.native.close()
	return nil
}
