package securestream_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"securestream.example/securestream"
)

func TestConn_timeoutsLoseNothing(t *testing.T) {
	c, s := openPair(t, clientConfig(t), serverConfig(t), pipePair)
	_ = s.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := s.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	_ = s.SetReadDeadline(time.Now().Add(20 * time.Second))
	data := pattern(200000)
	reader := func() error {
		time.Sleep(30 * time.Millisecond)
		got := make([]byte, len(data))
		if _, err := io.ReadFull(s, got); err != nil {
			return err
		}
		if !bytes.Equal(got, data) {
			return errors.New("other bytes came than were sent")
		}
		_, err := io.ReadAll(s)
		return err
	}
	timeouts := 0
	writer := func() error {
		for at := 0; at < len(data); {
			_ = c.SetWriteDeadline(time.Now().Add(5 * time.Millisecond))
			n, err := c.Write(data[at:])
			if at += n; errors.Is(err, os.ErrDeadlineExceeded) {
				timeouts++
			} else if err != nil {
				return err
			}
		}
		_ = c.SetWriteDeadline(time.Now().Add(20 * time.Second))
		return c.CloseWrite() // sends what the last timeout has left
	}
	mustAll(t, together(reader, writer))
	if timeouts == 0 {
		t.Error("nothing timed out")
	}
}

func TestConn_handshakeTimeoutCanGoOn(t *testing.T) {
	a, b := tcpPair(t)
	c, s := securestream.Client(a, clientConfig(t)), securestream.Server(b, serverConfig(t))
	_ = c.SetDeadline(time.Now().Add(10 * time.Millisecond))
	if err := c.Handshake(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	mustAll(t, together(c.Handshake, s.Handshake))

	a, _ = tcpPair(t)
	c = securestream.Client(a, clientConfig(t))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := c.HandshakeContext(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Error("the transport is open:", err)
	}
}

func TestConn_closeWakesReaderAndWriter(t *testing.T) {
	for _, transport := range transports {
		c, _ := openPair(t, clientConfig(t), serverConfig(t), transport.pair)
		var group sync.WaitGroup
		large := make([]byte, 16<<20)
		group.Add(2)
		go func() {
			defer group.Done()
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
				t.Error(transport.name, err)
			}
		}()
		go func() {
			defer group.Done()
			if _, err := c.Write(large); !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
				t.Error(transport.name, err)
			}
		}()
		time.Sleep(50 * time.Millisecond)
		begin := time.Now()
		c.Close()
		group.Wait()
		if time.Since(begin) > time.Second {
			t.Error(transport.name, "Close has waited for the writer")
		}
	}
}

// V14: connections that are dropped without Close.
func TestConn_V14(t *testing.T) {
	base := securestream.LiveObjects()
	func() {
		client, server := clientConfig(t), serverConfig(t)
		for i := range 100 {
			a, b := net.Pipe()
			c, s := securestream.Client(a, client), securestream.Server(b, server)
			switch i % 3 {
			case 0: // in the handshake
				_ = c.SetDeadline(time.Now().Add(time.Millisecond))
				if err := c.Handshake(); err == nil {
					t.Fatal("a handshake with nobody")
				}
			case 1: // open
				mustAll(t, together(c.Handshake, s.Handshake))
			case 2: // failed
				go io.Copy(io.Discard, b)
				go b.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
				if err := c.Handshake(); !errors.Is(err, securestream.ErrNotTLS) {
					t.Error(err)
				}
			}
		}
	}()
	runtime.GC()
	runtime.GC()
	noneLeft(t, base)
}

func TestConn_keyLog(t *testing.T) {
	var log bytes.Buffer
	client := clientConfig(t)
	client.KeyLogWriter = &log
	openPair(t, client, serverConfig(t), tcpPair)
	lines := strings.Split(strings.TrimSuffix(log.String(), "\n"), "\n")
	if len(lines) != 5 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if fields := strings.Fields(line); len(fields) != 3 || len(fields[1]) != 64 {
			t.Errorf("line %q", line)
		}
	}
}

func TestDialAndListen(t *testing.T) {
	l, err := securestream.Listen("tcp", "127.0.0.1:0", serverConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer conn.Close(); io.Copy(conn, conn) }()
		}
	}()
	config := clientConfig(t)
	config.ServerName = "" // the address is in the certificate
	c, err := securestream.Dial("tcp", l.Addr().String(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	mustRead(t, c, []byte("hello"))

	config = clientConfig(t)
	config.ServerName = "other.test"
	if _, err := securestream.Dial("tcp", l.Addr().String(), config); !errors.Is(err, securestream.ErrCertNameMismatch) {
		t.Error(err)
	}
	if _, err := securestream.Listen("tcp", "127.0.0.1:0", new(securestream.Config)); !errors.Is(err, securestream.ErrNoCredential) {
		t.Error(err)
	}
	config = clientConfig(t)
	config.ServerName = "" // X06: a client without a name
	a, _ := tcpPair(t)
	if err := securestream.Client(a, config).Handshake(); !errors.Is(err, securestream.ErrNoExpectedName) {
		t.Error(err)
	}
}
