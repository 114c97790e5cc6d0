// Go's crypto/tls as a peer: the flags and the steps of sst_interop, one line of JSON as result
// (tests/interop/README.md).
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"strings"
	"time"
)

type options struct {
	port, version, cert, key, ca, name, alpn, send, receive, steps, clientAuth string
	expect                                                                     int64
}

type result struct {
	Open            bool   `json:"open"`
	Closed          bool   `json:"closed"`
	Alert           int    `json:"alert"`
	Error           string `json:"error"`
	Version         string `json:"version"`
	ALPN            string `json:"alpn"`
	PeerCertificate bool   `json:"peer_certificate"`
	Sent            int64  `json:"sent"`
	Received        int64  `json:"received"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func parse() (o options) {
	flags := flag.NewFlagSet("peer", flag.ExitOnError)
	for name, place := range map[string]*string{
		"port": &o.port, "version": &o.version, "cert": &o.cert, "key": &o.key, "ca": &o.ca, "name": &o.name,
		"alpn": &o.alpn, "send": &o.send, "receive": &o.receive, "steps": &o.steps, "client-auth": &o.clientAuth,
	} {
		flags.StringVar(place, name, "", "")
	}
	flags.Int64Var(&o.expect, "expect", 1<<62, "")
	check(flags.Parse(os.Args[2:]))
	return o
}

func config(o options) *tls.Config {
	c := &tls.Config{ServerName: o.name}
	if o.version != "" {
		c.MinVersion = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}[o.version]
		c.MaxVersion = c.MinVersion
	}
	if o.cert != "" {
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		check(err)
		c.Certificates = []tls.Certificate{pair}
	}
	if o.ca != "" {
		pem, err := os.ReadFile(o.ca)
		check(err)
		c.RootCAs = x509.NewCertPool()
		c.RootCAs.AppendCertsFromPEM(pem)
		c.ClientCAs = c.RootCAs
	}
	if o.alpn != "" {
		c.NextProtos = []string{o.alpn}
	}
	switch o.clientAuth {
	case "request":
		c.ClientAuth = tls.VerifyClientCertIfGiven
	case "require":
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return c
}

func connect(server bool, o options) (net.Conn, error) {
	if !server {
		return net.Dial("tcp", "127.0.0.1:"+o.port)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Printf("port=%d\n", listener.Addr().(*net.TCPAddr).Port)
	return listener.Accept()
}

// take appends to target until limit bytes have come or close_notify did.
func take(conn *tls.Conn, target io.Writer, limit int64, r *result) error {
	n, err := io.Copy(target, io.LimitReader(conn, limit))
	r.Received += n
	// io.EOF, which io.Copy hides, is close_notify here: without it the error is io.ErrUnexpectedEOF.
	r.Closed = err == nil && n < limit
	return err
}

func steps(conn *tls.Conn, o options, r *result) error {
	target, err := os.Create(o.receive)
	check(err)
	defer target.Close()
	if err := conn.Handshake(); err != nil {
		return err
	}
	state := conn.ConnectionState()
	r.Open, r.ALPN, r.PeerCertificate = true, state.NegotiatedProtocol, len(state.PeerCertificates) > 0
	r.Version = tls.VersionName(state.Version)
	for _, step := range strings.Split(o.steps, ",") {
		var err error
		switch step {
		case "send":
			data, failed := os.ReadFile(o.send)
			check(failed)
			var n int
			n, err = conn.Write(data)
			r.Sent += int64(n)
		case "close":
			err = conn.CloseWrite()
		case "take":
			err = take(conn, target, o.expect, r)
		case "drain":
			err = take(conn, target, 1<<62, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func main() {
	o := parse()
	server := os.Args[1] == "server"
	plain, err := connect(server, o)
	check(err)
	check(plain.SetDeadline(time.Now().Add(30 * time.Second)))
	var conn *tls.Conn
	if server {
		conn = tls.Server(plain, config(o))
	} else {
		conn = tls.Client(plain, config(o))
	}
	r := result{Alert: -1}
	if err := steps(conn, o, &r); err != nil {
		r.Error = err.Error()
		var remote *net.OpError
		// The type of an alert is not exported; it is a number.
		if errors.As(err, &remote) && remote.Op == "remote error" && reflect.ValueOf(remote.Err).CanUint() {
			r.Alert = int(reflect.ValueOf(remote.Err).Uint())
		}
	}
	check(json.NewEncoder(os.Stdout).Encode(r))
	plain.Close()
}
