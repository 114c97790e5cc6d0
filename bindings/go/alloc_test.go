package securestream_test

import (
	"io"
	"net"
	"testing"

	"securestream.example/securestream"
)

// zero asserts that f allocates nothing in steady state.
func zero(t *testing.T, name string, f func()) {
	t.Helper()
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool forget")
	}
	if n := testing.AllocsPerRun(200, f); n != 0 {
		t.Errorf("%s: %v allocations a call", name, n)
	}
}

func TestAllocations_stream(t *testing.T) {
	c, s := openSides(t, clientConfig(t), serverConfig(t))
	data, wire, plain := pattern(16384), make([]byte, 40000), make([]byte, 20000)
	ranges := make([]securestream.Range, 4)
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	encrypt := func() {
		p, err := c.Encrypt(data, wire)
		check(err)
		n = p.Produced
	}
	zero(t, "Encrypt and Decrypt", func() {
		encrypt()
		_, err := s.Decrypt(wire[:n], plain)
		check(err)
	})
	zero(t, "Encrypt2 and DecryptInPlace", func() {
		p, err := c.Encrypt2(data[:5], data[5:], wire)
		check(err)
		_, _, err = s.DecryptInPlace(wire[:p.Produced], ranges)
		check(err)
	})
	zero(t, "Flush", func() {
		_, err := c.Flush(wire)
		check(err)
	})
	zero(t, "Handshake after the handshake", func() {
		_, err := c.Handshake(nil, wire)
		check(err)
	})
	zero(t, "State, OutputSize, Counter", func() {
		_, _, _ = c.State(), c.OutputSize(), c.Counter(securestream.BytesEncrypted)
	})
	zero(t, "CloseWrite", func() {
		_, err := c.CloseWrite(wire)
		check(err)
	})
}

func TestAllocations_conn(t *testing.T) {
	for _, size := range []int{100, 16384, 200000} {
		c, s := openPair(t, clientConfig(t), serverConfig(t), tcpPair)
		data, got := pattern(size), make([]byte, size)
		go func() {
			p := make([]byte, 200000)
			for {
				if _, err := io.ReadFull(s, p[:size]); err != nil {
					return
				}
				if _, err := s.Write(p[:size]); err != nil {
					return
				}
			}
		}()
		zero(t, "Write and Read", func() {
			if _, err := c.Write(data); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(c, got); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A client that only writes looks for a refusal each time. That costs nothing either.
func TestAllocations_onlyWriting(t *testing.T) {
	c, s := openPair(t, clientConfig(t), serverConfig(t), tcpPair)
	go io.Copy(io.Discard, net.Conn(s))
	zero(t, "Write", func() {
		if _, err := c.Write([]byte("data")); err != nil {
			t.Fatal(err)
		}
	})
}
