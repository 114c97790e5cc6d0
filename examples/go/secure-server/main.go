// Secure-server serves many clients at once over TLS: it echoes, stores what comes, or gives a file. Its options are those
// of examples/c/secure-server that it has.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"securestream.example/examples/internal/transfer"
	"securestream.example/securestream"
)

const me = "secure-server"

var (
	options transfer.Options
	echo    = flag.Bool("echo", false, "give back what comes")
	receive = flag.String("receive", "", "store what comes in this file, or in one file for each client in this folder")
	send    = flag.String("send", "", "give this file to each client")
	bind    = flag.String("bind", "127.0.0.1", "address to listen on")
	port    = flag.String("port", "0", "port to listen on; 0: a free one")
	once    = flag.Bool("once", false, "serve one connection, then end")
)

// serve speaks with one client, up to the close_notify of both sides.
func serve(conn transfer.Patient, number int) error {
	switch {
	case *echo:
		if _, err := io.Copy(conn, conn); err != nil {
			return err
		}
	case *receive != "":
		if err := store(conn, number); err != nil {
			return err
		}
	default:
		file, err := os.Open(*send)
		if err != nil {
			return err
		}
		defer file.Close()
		if _, err := io.Copy(conn, file); err != nil {
			return err
		}
	}
	if err := conn.CloseWrite(); err != nil {
		return err
	}
	// A client to which all was sent may go without a word.
	_, err := io.Copy(io.Discard, conn)
	if *send != "" && errors.Is(err, securestream.ErrTruncated) {
		return nil
	}
	return err
}

func store(conn transfer.Patient, number int) error {
	path := *receive
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, fmt.Sprintf("client-%d", number))
	}
	file, err := transfer.Create(path)
	if err != nil {
		return err
	}
	n, err := io.Copy(file, conn)
	if err != nil {
		file.Discard()
		return err
	}
	fmt.Fprintf(os.Stderr, "client %d: stored %d bytes in %s\n", number, n, path)
	return file.Commit()
}

func handle(conn net.Conn, number int) error {
	defer conn.Close()
	secure := securestream.Server(conn, &options.Config)
	who := fmt.Sprintf("client %d (%s)", number, conn.RemoteAddr())
	_ = secure.SetDeadline(time.Now().Add(options.Timeout()))
	err := secure.Handshake()
	if err == nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", who, transfer.Negotiated(secure))
		err = serve(transfer.Patient{Conn: secure, Wait: options.Timeout()}, number)
	}
	if err != nil {
		transfer.Explain(who, err)
		_ = secure.CloseWrite() // an alert that waits
		transfer.Linger(conn)   // the client reads it
	}
	secure.Close()
	return err
}

func run() error {
	options.Define()
	flag.Parse()
	if flag.NArg() != 0 || options.Cert == "" || options.Key == "" || !*echo && *receive == "" && *send == "" {
		return errors.New("usage: --cert FILE --key FILE (--echo | --receive PATH | --send FILE) [option ...]")
	}
	if err := options.Load(); err != nil {
		return err
	}
	if options.CA != "" {
		options.Config.ClientAuth = securestream.RequireAndVerifyClientCert
	}
	if err := options.Config.Check(securestream.RoleServer); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(*bind, *port))
	if err != nil {
		return err
	}
	fmt.Printf("listening on %s\n", listener.Addr())
	for number := 1; ; number++ {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		if *once {
			listener.Close()
			if handle(conn, number) != nil {
				os.Exit(2)
			}
			return nil
		}
		go handle(conn, number)
	}
}

func main() {
	if err := run(); err != nil {
		transfer.Explain(me, err)
		os.Exit(1)
	}
}
