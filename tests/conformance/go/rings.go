package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"

	"securestream.example/securestream"
)

// rings are the rings of ticket keys of a case, by their names (README.md, section 3).
type rings map[string]*securestream.TicketKeys

// of makes a ring when it is first named.
func (r rings) of(name string) *securestream.TicketKeys {
	if r[name] == nil {
		ring, err := securestream.NewTicketKeys()
		require(err == nil, "%v", err)
		r[name] = ring
	}
	return r[name]
}

func (r rings) close() {
	for _, ring := range r {
		ring.Close()
	}
}

// keyOf is the key of a name: the name, padded by 0, and as secret the name again and again.
func keyOf(name string) (key securestream.TicketKey) {
	require(len(name) > 0 && len(name) <= len(key.Name), "a key of %d bytes", len(name))
	copy(key.Name[:], name)
	for i := range key.Secret {
		key.Secret[i] = name[i%len(name)]
	}
	return key
}

func keysOf(names []string) []securestream.TicketKey {
	keys := make([]securestream.TicketKey, len(names))
	for i, name := range names {
		keys[i] = keyOf(name)
	}
	return keys
}

// openTicket does as section 7 of the header says.
func openTicket(keyName string, ticket []byte) []byte {
	key := keyOf(keyName)
	require(len(ticket) > 64, "a ticket of %d bytes", len(ticket))
	sameBytes("the key of the ticket", ticket[:16], key.Name[:])
	secret, err := hkdf.Key(sha256.New, key.Secret[:], ticket[16:48], "securestream ticket", 32)
	require(err == nil, "%v", err)
	block, err := aes.NewCipher(secret)
	require(err == nil, "%v", err)
	aead, err := cipher.NewGCM(block)
	require(err == nil, "%v", err)
	plaintext, err := aead.Open(nil, make([]byte, 12), ticket[48:], nil)
	require(err == nil, "%v", err)
	return plaintext
}
