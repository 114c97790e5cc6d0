package securestream_test

import (
	"io"
	"strconv"
	"testing"

	"securestream.example/securestream"
)

// What one crossing to C costs: calls that have next to nothing to do.
func BenchmarkCrossing(b *testing.B) {
	c, _ := openSides(b, clientConfig(b), serverConfig(b))
	room := make([]byte, 1000)
	b.Run("Flush", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = c.Flush(room)
		}
	})
	b.Run("DecryptNothing", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = c.Decrypt(nil, room)
		}
	})
	b.Run("State", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = c.State()
		}
	})
	b.Run("Info", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = c.Info()
		}
	})
	b.Run("ALPN", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = c.ALPN()
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	for _, size := range []int{100, 1024, 16384} {
		c, s := openSides(b, clientConfig(b), serverConfig(b))
		data, wire, plain := pattern(size), make([]byte, 20000), make([]byte, 20000)
		ranges := make([]securestream.Range, 4)
		b.Run("EncryptDecrypt/"+strconv.Itoa(size), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				p, _ := c.Encrypt(data, wire)
				if d, err := s.Decrypt(wire[:p.Produced], plain); err != nil || d.Produced != size {
					b.Fatal(d, err)
				}
			}
		})
		b.Run("EncryptDecryptInPlace/"+strconv.Itoa(size), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				p, _ := c.Encrypt(data, wire)
				if _, d, err := s.DecryptInPlace(wire[:p.Produced], ranges); err != nil || d.Produced != size {
					b.Fatal(d, err)
				}
			}
		})
	}
}

func BenchmarkHandshake(b *testing.B) {
	client, server := clientConfig(b), serverConfig(b)
	b.ReportAllocs()
	for b.Loop() {
		c, s := openSides(b, client, server)
		c.Close()
		s.Close()
	}
}

func BenchmarkConn(b *testing.B) {
	for _, size := range []int{100, 16384, 1 << 20} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			c, s := openPair(b, clientConfig(b), serverConfig(b), tcpPair)
			go io.Copy(io.Discard, s)
			data := pattern(size)
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, err := c.Write(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
