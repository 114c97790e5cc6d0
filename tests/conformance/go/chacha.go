package main

import (
	"encoding/binary"
	"errors"
	"math/big"
	"math/bits"
	"slices"
)

// chaCha is the AEAD of RFC 8439, which the standard library does not offer: for machines without AES instructions,
// where it is negotiated. It seals test records only, and takes no care of timing.
type chaCha struct{ key [8]uint32 }

func newChaCha(key []byte) *chaCha {
	c := new(chaCha)
	for i := range c.key {
		c.key[i] = binary.LittleEndian.Uint32(key[4*i:])
	}
	return c
}

func (c *chaCha) NonceSize() int { return 12 }
func (c *chaCha) Overhead() int  { return 16 }

func (c *chaCha) Open(_, _, _, _ []byte) ([]byte, error) { return nil, errors.ErrUnsupported }

// Seal is that of cipher.AEAD (RFC 8439, 2.8).
func (c *chaCha) Seal(dst, nonce, plaintext, additional []byte) []byte {
	sealed := make([]byte, len(plaintext))
	for at := 0; at < len(plaintext); at += 64 {
		stream := c.block(nonce, uint32(1+at/64))
		for i := at; i < min(at+64, len(plaintext)); i++ {
			sealed[i] = plaintext[i] ^ stream[i-at]
		}
	}
	message := pad(slices.Clone(additional))
	message = pad(append(message, sealed...))
	message = binary.LittleEndian.AppendUint64(message, uint64(len(additional)))
	message = binary.LittleEndian.AppendUint64(message, uint64(len(plaintext)))
	first := c.block(nonce, 0)
	tag := poly1305(first[:32], message)
	return append(append(slices.Clone(dst), sealed...), tag...)
}

func pad(b []byte) []byte { return append(b, make([]byte, -len(b)&15)...) }

// block is 64 bytes of key stream (RFC 8439, 2.3).
func (c *chaCha) block(nonce []byte, counter uint32) [64]byte {
	begin := [16]uint32{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}
	copy(begin[4:], c.key[:])
	begin[12] = counter
	for i := range 3 {
		begin[13+i] = binary.LittleEndian.Uint32(nonce[4*i:])
	}
	s := begin
	quarter := func(a, b, c, d int) {
		s[a] += s[b]
		s[d] = bits.RotateLeft32(s[d]^s[a], 16)
		s[c] += s[d]
		s[b] = bits.RotateLeft32(s[b]^s[c], 12)
		s[a] += s[b]
		s[d] = bits.RotateLeft32(s[d]^s[a], 8)
		s[c] += s[d]
		s[b] = bits.RotateLeft32(s[b]^s[c], 7)
	}
	for range 10 {
		for i := range 4 {
			quarter(i, 4+i, 8+i, 12+i)
		}
		for i := range 4 {
			quarter(i, 4+(i+1)%4, 8+(i+2)%4, 12+(i+3)%4)
		}
	}
	var out [64]byte
	for i := range s {
		binary.LittleEndian.PutUint32(out[4*i:], s[i]+begin[i])
	}
	return out
}

// poly1305 is the tag of a message (RFC 8439, 2.5).
func poly1305(key, message []byte) []byte {
	number := func(b []byte) *big.Int {
		b = slices.Clone(b)
		slices.Reverse(b)
		return new(big.Int).SetBytes(b)
	}
	clamp := slices.Clone(key[:16])
	for _, i := range []int{3, 7, 11, 15} {
		clamp[i] &= 15
	}
	for _, i := range []int{4, 8, 12} {
		clamp[i] &= 252
	}
	prime := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 130), big.NewInt(5))
	r, sum := number(clamp), new(big.Int)
	for piece := range slices.Chunk(message, 16) {
		sum.Add(sum, number(append(slices.Clone(piece), 1)))
		sum.Mod(sum.Mul(sum, r), prime)
	}
	sum.Add(sum, number(key[16:]))
	sum.And(sum, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1)))
	tag := sum.FillBytes(make([]byte, 16))
	slices.Reverse(tag)
	return tag
}
