package securestream

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"

	"securestream.example/securestream/internal/raw"
)

// NewCredentialSigner makes a credential of a chain in PEM whose private key is elsewhere: in a token, in another
// process. Each handshake calls signer.Sign, which may take its time; handshakes of several connections call it at once.
//
// The key is RSA, ECDSA with P-256, P-384 or P-521, or Ed25519. Besides the errors of [NewCredential]: [ErrKeyMismatch],
// signer.Public() is not the key of the leaf.
func NewCredentialSigner(chainPEM []byte, signer crypto.Signer) (*Credential, error) {
	schemes := schemesOf(signer.Public())
	if schemes == nil {
		return nil, failure("use a signer", raw.SST_ERR_UNSUPPORTED_KEY, nil)
	}
	c, err := NewCredentialCallerSigns(chainPEM, schemes)
	if err != nil {
		return nil, err
	}
	if !isKeyOf(signer.Public(), c.leaf) {
		return c.unless(failure("use a signer", raw.SST_ERR_KEY_MISMATCH, nil))
	}
	c.signer = signer
	return c, nil
}

// NewCredentialCallerSigns makes a credential of a chain in PEM, for a [Stream] whose caller signs: it stops with
// [StatusWantPrivateKeyOperation]. schemes are those that the caller can make, best first. Besides the errors of
// [NewCredential]: [ErrBadScheme]; [ErrKeyMismatch], the leaf's key makes none of them.
func NewCredentialCallerSigns(chainPEM []byte, schemes []uint16) (*Credential, error) {
	c, err := emptyCredential()
	if err != nil {
		return nil, err
	}
	err = c.load("load certificate chain", raw.Sst_credential_load_pem(c.native.ptr, chainPEM, ""))
	if err == nil {
		err = c.load("set schemes", raw.Sst_credential_set_caller_signs(c.native.ptr, schemes))
	}
	c.leaf = c.Certificate(0)
	return c.unless(err)
}

// Numbers of IANA.
const (
	ecdsaP256SHA256, ecdsaP384SHA384, ecdsaP521SHA512 uint16 = 0x0403, 0x0503, 0x0603
	rsaPSSSHA256, rsaPSSSHA384, rsaPSSSHA512          uint16 = 0x0804, 0x0805, 0x0806
	rsaPKCS1SHA256, rsaPKCS1SHA384, rsaPKCS1SHA512    uint16 = 0x0401, 0x0501, 0x0601
	ed25519Scheme                                     uint16 = 0x0807
)

func schemesOf(key crypto.PublicKey) []uint16 {
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		switch key.Curve {
		case elliptic.P256():
			return []uint16{ecdsaP256SHA256}
		case elliptic.P384():
			return []uint16{ecdsaP384SHA384}
		case elliptic.P521():
			return []uint16{ecdsaP521SHA512}
		}
	case *rsa.PublicKey:
		return []uint16{rsaPSSSHA256, rsaPSSSHA384, rsaPSSSHA512, rsaPKCS1SHA256, rsaPKCS1SHA384, rsaPKCS1SHA512}
	case ed25519.PublicKey:
		return []uint16{ed25519Scheme}
	}
	return nil
}

func isKeyOf(key crypto.PublicKey, leaf []byte) bool {
	certificate, err := x509.ParseCertificate(leaf)
	if err != nil {
		return false
	}
	comparable, ok := key.(interface{ Equal(crypto.PublicKey) bool })
	return ok && comparable.Equal(certificate.PublicKey)
}

// signWith makes a signature as TLS has it.
func signWith(signer crypto.Signer, scheme uint16, message []byte) ([]byte, error) {
	var hash crypto.Hash // Ed25519 has none
	switch scheme {
	case ecdsaP256SHA256, rsaPSSSHA256, rsaPKCS1SHA256:
		hash = crypto.SHA256
	case ecdsaP384SHA384, rsaPSSSHA384, rsaPKCS1SHA384:
		hash = crypto.SHA384
	case ecdsaP521SHA512, rsaPSSSHA512, rsaPKCS1SHA512:
		hash = crypto.SHA512
	}
	options := crypto.SignerOpts(hash)
	switch scheme {
	case rsaPSSSHA256, rsaPSSSHA384, rsaPSSSHA512:
		options = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: hash}
	}
	if hash != 0 {
		h := hash.New()
		h.Write(message)
		message = h.Sum(nil)
	}
	return signer.Sign(rand.Reader, message, options)
}
