package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"strings"

	"securestream.example/securestream"
)

// forger seals records that a side could have sealed (README.md, section 8).
type forger struct {
	openedAt int // bytes on the side's outgoing wire when its handshake gave OK
	secret   []byte
	sequence uint64
}

// suite is what keys are derived and records sealed by.
type suite struct {
	hash    func() hash.Hash
	keySize int
	aead    func(key []byte) (cipher.AEAD, error)
}

var suites = map[uint16]suite{
	0x1301: {sha256.New, 16, gcm},
	0x1302: {sha512.New384, 32, gcm},
	0x1303: {sha256.New, 32, func(key []byte) (cipher.AEAD, error) { return newChaCha(key), nil }},
}

func gcm(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// expand is HKDF-Expand-Label with an empty context (RFC 8446, 7.1).
func (s suite) expand(secret []byte, label string, size int) []byte {
	label = "tls13 " + label
	info := append([]byte{byte(size >> 8), byte(size), byte(len(label))}, label...)
	key, err := hkdf.Expand(s.hash, secret, string(append(info, 0)), size)
	require(err == nil, "HKDF: %v", err)
	return key
}

// trafficSecret finds the first traffic secret of a side in either key log.
func (e *end) trafficSecret() []byte {
	label := "CLIENT_TRAFFIC_SECRET_0"
	if e.role == securestream.RoleServer {
		label = "SERVER_TRAFFIC_SECRET_0"
	}
	for _, line := range append(append([]string(nil), e.keyLog...), e.other.keyLog...) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == label {
			secret, err := hex.DecodeString(words[2])
			require(err == nil, "%s: %v", label, err)
			return secret
		}
	}
	fail("no key log has a line %s", label)
	return nil
}

// forge puts records on the wire to e that the other could have sealed.
func (e *end) forge(kind byte, data []byte, count int) {
	from := e.other
	s, known := suites[from.stream.Info().CipherSuite]
	require(known && from.stream.Info().Version == securestream.VersionTLS13, "records are forged over TLS 1.3 only")
	require(from.open, "the handshake of %s has not finished", from.name)
	same("key updates sent by "+from.name, from.stream.Counter(securestream.KeyUpdatesSent), 0)
	f := &from.forger
	if f.secret == nil {
		f.secret = from.trafficSecret()
		whole, _ := records(e.in.all[f.openedAt:])
		f.sequence = uint64(len(whole))
	}
	for range count {
		e.in.put(s.seal(f, kind, data)...)
		if kind == typeHandshake && len(data) > 0 && data[0] == 24 {
			f.secret, f.sequence = s.expand(f.secret, "traffic upd", len(f.secret)), 0
		}
	}
}

// seal makes a record (RFC 8446, 5.2).
func (s suite) seal(f *forger, kind byte, data []byte) record {
	aead, err := s.aead(s.expand(f.secret, "key", s.keySize))
	require(err == nil, "%v", err)
	nonce := s.expand(f.secret, "iv", aead.NonceSize())
	low := nonce[len(nonce)-8:]
	binary.BigEndian.PutUint64(low, binary.BigEndian.Uint64(low)^f.sequence)
	f.sequence++

	content := append(append([]byte(nil), data...), kind)
	size := len(content) + aead.Overhead()
	require(len(data) <= 16384, "%d bytes do not fit a record", len(data))
	header := []byte{typeApplicationData, 3, 3, byte(size >> 8), byte(size)}
	return aead.Seal(header, nonce, content, header)
}
