// Package transfer has what the example client and server share.
package transfer

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"securestream.example/securestream"
)

// Options are those of both programs, named as in examples/c.
type Options struct {
	Cert, Key, CA, Min, Max string
	ALPN                    []string
	TimeoutMs               int
	Config                  securestream.Config
}

// Define adds the options to the command line.
func (o *Options) Define() {
	flag.StringVar(&o.Cert, "cert", "", "certificate chain, leaf first (PEM)")
	flag.StringVar(&o.Key, "key", "", "its private key (PEM, not encrypted)")
	flag.StringVar(&o.CA, "ca", "", "issuers to trust (PEM); a client without it trusts those of the system")
	flag.StringVar(&o.Min, "min-version", "1.2", "1.2 or 1.3")
	flag.StringVar(&o.Max, "max-version", "1.3", "1.2 or 1.3")
	flag.IntVar(&o.TimeoutMs, "timeout-ms", 30000, "for the handshake, and then for silence")
	flag.Func("alpn", "protocol for ALPN; may be repeated, best first", func(name string) error {
		o.ALPN = append(o.ALPN, name)
		return nil
	})
}

// Timeout is how long a silent peer is waited for.
func (o *Options) Timeout() time.Duration { return time.Duration(o.TimeoutMs) * time.Millisecond }

// Load makes the config of what the options name.
func (o *Options) Load() error {
	var err error
	if o.Config.MinVersion, err = version(o.Min); err != nil {
		return err
	}
	if o.Config.MaxVersion, err = version(o.Max); err != nil {
		return err
	}
	o.Config.NextProtos = o.ALPN
	if o.Cert != "" {
		credential, err := securestream.LoadCredential(o.Cert, o.Key)
		if err != nil {
			return err
		}
		o.Config.Credentials = []*securestream.Credential{credential}
	}
	if o.CA != "" {
		o.Config.Trust, err = securestream.LoadTrust(o.CA)
	}
	return err
}

func version(text string) (uint16, error) {
	switch text {
	case "1.2":
		return securestream.VersionTLS12, nil
	case "1.3":
		return securestream.VersionTLS13, nil
	}
	return 0, fmt.Errorf("'%s' is no version: 1.2 or 1.3", text)
}

// Negotiated is one line for the log.
func Negotiated(conn *securestream.Conn) string {
	line := conn.Stream().Describe()
	if protocol := conn.Stream().ALPN(); protocol != "" {
		line += ", ALPN " + protocol
	}
	return line
}

// Explain shows an error, what went with it, and what to do, in lines that begin with who. The first line names the code
// and all reasons.
func Explain(who string, err error) {
	lines := []string{err.Error()}
	var e *securestream.Error
	if errors.As(err, &e) {
		if e.Chain != nil {
			lines = append(lines, fmt.Sprintf("  certificates that were sent: %d", len(e.Chain)))
		}
		if e.AlertSent >= 0 {
			lines = append(lines, fmt.Sprintf("  alert sent: %s (%d)", securestream.AlertName(e.AlertSent), e.AlertSent))
		}
		if e.Hint() != "" {
			lines = append(lines, "  what to do: "+e.Hint())
		}
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", who, strings.Join(lines, "\n"+who+": "))
}

// Patient is a connection that waits for a silent peer only so long.
type Patient struct {
	*securestream.Conn
	Wait time.Duration
}

func (p Patient) Read(b []byte) (int, error) {
	_ = p.SetReadDeadline(time.Now().Add(p.Wait))
	return p.Conn.Read(b)
}

func (p Patient) Write(b []byte) (int, error) {
	_ = p.SetWriteDeadline(time.Now().Add(p.Wait))
	return p.Conn.Write(b)
}

// Store is a file that gets its name only when it is whole.
type Store struct {
	*os.File
	path string
}

// Create opens a store for path; "" is standard output.
func Create(path string) (*Store, error) {
	if path == "" {
		return &Store{File: os.Stdout}, nil
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return nil, err
	}
	return &Store{file, path}, file.Chmod(0o644)
}

// Commit gives the file its name.
func (s *Store) Commit() error {
	if s.path == "" {
		return nil
	}
	if err := s.Close(); err != nil {
		return err
	}
	return os.Rename(s.Name(), s.path)
}

// Discard removes what is not whole.
func (s *Store) Discard() {
	if s.path != "" {
		s.Close()
		os.Remove(s.Name())
	}
}

// Linger lets the peer read our last words: closing a socket over unread bytes would reset the connection.
func Linger(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
		_ = tcp.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.Copy(io.Discard, tcp)
	}
}
