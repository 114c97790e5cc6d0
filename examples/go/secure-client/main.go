// Secure-client sends a file or standard input over TLS, half-closes, and writes what comes back. Its options and exit
// codes are those of examples/c/secure-client that it has.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"securestream.example/examples/internal/transfer"
	"securestream.example/securestream"
)

const me = "secure-client"

const (
	exitGood = iota
	exitLocal
	exitNoConnection
	exitNotTrusted
	exitRefused
	exitBroken
	exitTimedOut
)

var (
	options  transfer.Options
	send     = flag.String("send", "", "file to send instead of standard input")
	output   = flag.String("output", "", "file to write to; it has its name only after the peer's close_notify")
	insecure = flag.Bool("insecure", false, "do not verify the peer: anybody in the middle passes")
	name     = flag.String("server-name", "", "name in the certificate, instead of HOST")
	summary  = flag.Bool("summary", false, "show what was negotiated, and the speed")
)

// explain says why and returns the exit code that tells it.
func explain(err error, otherwise int) int {
	transfer.Explain(me, err)
	var e *securestream.Error
	var timeout net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return exitTimedOut
	case !errors.As(err, &e):
		return otherwise
	case e.Code <= securestream.ErrCertIssuerNotFound && e.Code > securestream.ErrNegotiate:
		return exitNotTrusted
	case e.AlertReceived >= 0:
		return exitRefused
	}
	return otherwise
}

// talk sends and receives at the same time: a program that sends all before it reads can wait for ever for a peer that
// waits for it to read.
func talk(conn *securestream.Conn, source io.Reader, target *transfer.Store) int {
	begin := time.Now()
	patient := transfer.Patient{Conn: conn, Wait: options.Timeout()}
	var sent int64
	sending := make(chan error, 1)
	go func() {
		var err error
		if sent, err = io.Copy(patient, source); err == nil {
			err = conn.CloseWrite()
		}
		sending <- err
	}()
	received, err := io.Copy(target, patient)
	if err != nil {
		return explain(err, exitBroken)
	}
	if err := <-sending; err != nil {
		return explain(err, exitBroken)
	}
	if *summary {
		seconds := max(time.Since(begin).Seconds(), 0.001)
		fmt.Fprintf(os.Stderr, "%s: sent %d bytes, received %d, %.3f s, %.1f MB/s\n", me, sent, received, seconds,
			float64(sent+received)/1e6/seconds)
	}
	if err := target.Commit(); err != nil {
		return explain(err, exitLocal)
	}
	return exitGood
}

func connect(addr string) (*securestream.Conn, int) {
	ctx, cancel := context.WithTimeout(context.Background(), options.Timeout())
	defer cancel()
	transport, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, explain(err, exitNoConnection)
	}
	conn := securestream.Client(transport, &options.Config)
	if err := conn.HandshakeContext(ctx); err != nil {
		code := explain(err, exitRefused)
		transfer.Linger(transport)
		conn.Close()
		return nil, code
	}
	if *summary {
		fmt.Fprintf(os.Stderr, "%s: %s: %s\n", me, transport.RemoteAddr(), transfer.Negotiated(conn))
	}
	return conn, exitGood
}

func run() int {
	options.Define()
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintf(os.Stderr, "usage: %s [option ...] HOST PORT (-help tells more)\n", me)
		return exitLocal
	}
	if err := options.Load(); err != nil {
		return explain(err, exitLocal)
	}
	options.Config.InsecureSkipVerify = *insecure
	if options.Config.ServerName = *name; *name == "" {
		options.Config.ServerName = flag.Arg(0)
	}
	if err := options.Config.Check(securestream.RoleClient); err != nil {
		return explain(err, exitLocal)
	}
	source := os.Stdin
	if *send != "" {
		file, err := os.Open(*send)
		if err != nil {
			return explain(err, exitLocal)
		}
		source = file
	}
	target, err := transfer.Create(*output)
	if err != nil {
		return explain(err, exitLocal)
	}
	defer target.Discard()
	conn, code := connect(net.JoinHostPort(flag.Arg(0), flag.Arg(1)))
	if conn == nil {
		return code
	}
	defer conn.Close()
	return talk(conn, source, target)
}

func main() { os.Exit(run()) }
