package securestream_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"

	"securestream.example/securestream"
)

var reloadNames = []string{"server-p256", "server-rsa2048", "server-ed25519", "server-p384"}

// echoListener gives back what comes, until the test ends.
func echoListener(t *testing.T, config *securestream.Config) *securestream.Listener {
	l := must[*securestream.Listener](t)(securestream.Listen("tcp", "127.0.0.1:0", config))
	var serving group
	serving.run(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.run(func() {
				if _, err := io.Copy(conn, conn); err != nil {
					t.Error("the server:", err)
				}
				conn.Close()
			})
		}
	})
	t.Cleanup(func() { l.Close(); serving.Wait() })
	return l
}

// says sends text and wants it back.
func says(conn *securestream.Conn, text string) error {
	if _, err := conn.Write([]byte(text)); err != nil {
		return err
	}
	back := make([]byte, len(text))
	if _, err := io.ReadFull(conn, back); err != nil {
		return err
	}
	if string(back) != text {
		return fmt.Errorf("%q came back for %q", back, text)
	}
	return nil
}

// visit connects, says something, closes, and returns the leaf that it saw.
func visit(l *securestream.Listener, client *securestream.Config) ([]byte, error) {
	conn, err := securestream.Dial("tcp", l.Addr().String(), client)
	if err != nil {
		return nil, err
	}
	leaf := conn.ConnectionState().PeerCertificates[0]
	return leaf, errors.Join(says(conn, "hello"), conn.Close())
}

func TestListener_fiftyReloadsUnderLoad(t *testing.T) {
	client := clientConfig(t)
	l := echoListener(t, serverConfig(t))
	var renewed []*securestream.Credential
	for _, name := range reloadNames {
		renewed = append(renewed, credential(t, name))
	}
	old := must[*securestream.Conn](t)(securestream.Dial("tcp", l.Addr().String(), client))
	defer old.Close()

	var load group
	var visits [3]atomic.Int64
	done := make(chan struct{})
	for i := range visits {
		load.run(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				leaf, err := visit(l, client)
				known := func(c *securestream.Credential) bool { return bytes.Equal(leaf, c.Certificate(0)) }
				if err != nil || !known(renewed[0]) && !known(renewed[1]) && !known(renewed[2]) && !known(renewed[3]) {
					t.Error("under load:", err)
				}
				visits[i].Add(1)
			}
		})
	}
	for n := range 50 {
		next := l.Config().Clone()
		next.Credentials = renewed[n%len(renewed) : n%len(renewed)+1]
		if err := l.SetConfig(next); err != nil {
			t.Fatal(err)
		}
		if leaf, err := visit(l, client); err != nil || !bytes.Equal(leaf, next.Credentials[0].Certificate(0)) {
			t.Fatal("who comes after a reload has not the new certificate:", err)
		}
		if err := says(old, "still here"); err != nil {
			t.Fatal("who came before does not live on:", err)
		}
	}
	close(done)
	load.Wait()
	for i := range visits {
		if visits[i].Load() == 0 {
			t.Error("no load")
		}
	}
	wantChain(t, "of the old connection", old.ConnectionState().PeerCertificates, derChain(t, "server-p256"))
}

func TestListener_unusableConfigLeavesTheOld(t *testing.T) {
	l := echoListener(t, serverConfig(t))
	good := l.Config()
	for _, wrong := range []*securestream.Config{nil, clientConfig(t)} {
		if err := l.SetConfig(wrong); !errors.Is(err, securestream.ErrNoCredential) {
			t.Error(err)
		}
	}
	if l.Config() != good {
		t.Error("another config")
	}
	if _, err := visit(l, clientConfig(t)); err != nil {
		t.Error(err)
	}
}

func TestListener_acceptedBeforeKeepsItsConfig(t *testing.T) {
	l := must[*securestream.Listener](t)(securestream.Listen("tcp", "127.0.0.1:0", serverConfig(t)))
	defer l.Close()
	seen := make(chan [][]byte, 1)
	go func() {
		conn, err := securestream.Dial("tcp", l.Addr().String(), clientConfig(t))
		if err != nil {
			t.Error(err)
			seen <- nil
			return
		}
		seen <- conn.ConnectionState().PeerCertificates
		conn.Close()
	}()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	next := l.Config().Clone()
	next.Credentials = []*securestream.Credential{credential(t, "server-p384")}
	mustAll(t, []error{l.SetConfig(next), conn.(*securestream.Conn).Handshake()})
	wantChain(t, "seen", <-seen, derChain(t, "server-p256"))
}

func TestListener_replacedConfigsAreFreed(t *testing.T) {
	base := securestream.LiveObjects()
	func() {
		l := must[*securestream.Listener](t)(securestream.Listen("tcp", "127.0.0.1:0", serverConfig(t)))
		defer l.Close()
		for range 20 {
			next := l.Config().Clone()
			next.Credentials = []*securestream.Credential{credential(t, "server-p384")}
			mustAll(t, []error{l.SetConfig(next)})
		}
	}()
	noneLeft(t, base)
}
