package main

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"securestream.example/securestream"
	"securestream.example/tests/go/support"
)

// answer posts an answer to the question of a side (README.md, section 3).
type answer func(*world, *end) error

type answerForm struct {
	pattern string
	post    func(*world, *end, match) error
}

// The first that matches counts: those with more words stand before those that begin with the same ones.
var answerForms = []answerForm{
	{"with config TEXT", func(w *world, e *end, m match) error {
		made := w.described(get[string](m, 0))
		defer made.close()
		return e.stream.SetConfig(made.config)
	}},
	{"with its own config", func(_ *world, e *end, _ match) error { return e.stream.SetConfig(e.made.config) }},
	{"with leaf LEAF whose caller signs by LIST", func(_ *world, e *end, m match) error {
		return e.show(ofCaller(get[string](m, 0), get[[]string](m, 1)))
	}},
	{"with leaf LEAF", func(_ *world, e *end, m match) error {
		return e.show(support.Credential(get[string](m, 0), get[string](m, 0), ""))
	}},
	{"with no leaf", func(_ *world, e *end, _ match) error { return e.stream.SetCredential(nil) }},
	{"with a signature of LEAF", func(_ *world, e *end, m match) error {
		scheme, message, err := e.stream.PrivateKeyOperation()
		if err != nil {
			return e.stream.SetSignature([]byte("x")) // any must be refused
		}
		signature, err := sign(get[string](m, 0), scheme, message)
		require(err == nil, "%v", err)
		return e.stream.SetSignature(signature)
	}},
	{"with signature DATA", func(_ *world, e *end, m match) error { return e.stream.SetSignature(get[[]byte](m, 0)) }},
	{"with the session", func(w *world, e *end, _ match) error { return e.stream.AnswerSession(w.session) }},
	{"with no session", func(_ *world, e *end, _ match) error { return e.stream.AnswerSession(nil) }},
	{"that the ticket is unknown", func(_ *world, e *end, _ match) error { return e.stream.IgnoreTicket() }},
	{"with the ticket opened by TEXT", func(_ *world, e *end, m match) error {
		ticket := e.stream.Ticket()
		if ticket == nil {
			return e.stream.SetTicketPlaintext([]byte("x")) // anything must be refused
		}
		return e.stream.SetTicketPlaintext(openTicket(get[string](m, 0), ticket))
	}},
	{"with ticket contents DATA", func(_ *world, e *end, m match) error {
		return e.stream.SetTicketPlaintext(get[[]byte](m, 0))
	}},
	{"that it will send again", func(_ *world, e *end, _ match) error { return e.stream.ContinueWithoutEarlyData() }},
	{"yes", func(_ *world, e *end, _ match) error { return e.stream.Accept() }},
	{"as the verdict says", func(_ *world, e *end, _ match) error { return e.stream.AcceptDefault() }},
	{"no with alert N", func(_ *world, e *end, m match) error { return e.stream.Reject(get[int](m, 0)) }},
	{"no", func(_ *world, e *end, _ match) error { return e.stream.Reject(-1) }},
}

func takeAnswer(c *cursor) (any, bool) {
	for _, form := range answerForms {
		if m, ok := matchPattern(form.pattern, c); ok {
			return answer(func(w *world, e *end) error { return form.post(w, e, m) }), true
		}
	}
	return nil, false
}

// show answers with a credential, and lets it go at once.
func (e *end) show(credential *securestream.Credential, err error) error {
	require(err == nil, "%v", err)
	defer credential.Close()
	return e.stream.SetCredential(credential)
}

// sign makes a signature with the private key of that name, which the library never sees.
func sign(name string, scheme uint16, message []byte) ([]byte, error) {
	text, err := support.File(name + ".key")
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s.key is no PEM", name)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	if key, ok := key.(ed25519.PrivateKey); ok {
		return ed25519.Sign(key, message), nil
	}
	hash, options := hashOf(scheme)
	if hash == 0 {
		return nil, fmt.Errorf("unknown scheme %#04x", scheme)
	}
	digest := hash.New()
	digest.Write(message)
	return key.(crypto.Signer).Sign(rand.Reader, digest.Sum(nil), options)
}

// hashOf reads a scheme's number: the hash in its high byte (RFC 5246, 7.4.1.4.1), or 8 and RSA-PSS (RFC 8446, 4.2.3).
func hashOf(scheme uint16) (crypto.Hash, crypto.SignerOpts) {
	hashes := map[uint16]crypto.Hash{4: crypto.SHA256, 5: crypto.SHA384, 6: crypto.SHA512}
	if scheme>>8 == 8 {
		hash := hashes[scheme&0xff]
		return hash, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: hash}
	}
	hash := hashes[scheme>>8]
	return hash, hash
}
