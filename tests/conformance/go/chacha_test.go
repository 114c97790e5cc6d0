package main

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// The vector of RFC 8439, 2.8.2.
func TestChaCha_sealsAsInTheRFC(t *testing.T) {
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	key := unhex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f")
	nonce, additional := unhex("070000004041424344454647"), unhex("50515253c0c1c2c3c4c5c6c7")
	plaintext := []byte("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.")
	want := unhex("d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b1a71de0a9e06" +
		"0b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc3ff4def08e4b7a9de576d26586cec64b" +
		"61161ae10b594f09e26a7e902ecbd0600691")
	if got := newChaCha(key).Seal([]byte("head"), nonce, plaintext, additional); !bytes.Equal(got, append([]byte("head"), want...)) {
		t.Errorf("%x", got)
	}
}
