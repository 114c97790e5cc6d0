// Pair lets a client and a server talk in one process, without a socket: slices stand for the wire.
//
//	pair CERT KEY CA NAME [TIME]
//
// CERT and KEY are the server's chain and key, CA is what the client trusts, NAME must be in the certificate. TIME
// (seconds since 1970) is when certificates are judged, instead of now. All files are PEM.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"securestream.example/securestream"
)

// side is a stream and the wire bytes that wait for it.
type side struct {
	*securestream.Stream
	inbox []byte
	peer  *side
}

// moved gives what a call has written to the peer, and forgets what it has taken.
func (s *side) moved(p securestream.Progress, room []byte) {
	s.inbox = s.inbox[p.Consumed:]
	s.peer.inbox = append(s.peer.inbox, room[:p.Produced]...)
}

func (s *side) handshake() (bool, error) {
	room := make([]byte, 1<<16)
	for {
		p, err := s.Handshake(s.inbox, room)
		s.moved(p, room) // also after an error: it is the alert that tells the peer why
		if err != nil || p.Status != securestream.StatusNeedOutput {
			return p.Status == securestream.StatusOK, err
		}
	}
}

func (s *side) write(data []byte) error {
	room := make([]byte, s.EncryptedSize(len(data))) // always enough
	p, err := s.Encrypt(data, room)
	s.peer.inbox = append(s.peer.inbox, room[:p.Produced]...)
	return err
}

// read returns all that has come, and whether the peer has closed.
func (s *side) read() ([]byte, bool, error) {
	room := make([]byte, len(s.inbox)+securestream.MaxRecord) // never leaves a rest
	p, err := s.Decrypt(s.inbox, room)
	s.inbox = s.inbox[p.Consumed:]
	return room[:p.Produced], p.Status == securestream.StatusClosed, err
}

func (s *side) close() error {
	room := make([]byte, 1<<10)
	p, err := s.CloseWrite(room)
	s.peer.inbox = append(s.peer.inbox, room[:p.Produced]...)
	return err
}

func newSides(args []string) (client, server *side, err error) {
	credential, err := securestream.LoadCredential(args[0], args[1])
	if err != nil {
		return nil, nil, err
	}
	trust, err := securestream.LoadTrust(args[2])
	if err != nil {
		return nil, nil, err
	}
	ours := &securestream.Config{Credentials: []*securestream.Credential{credential}, NextProtos: []string{"echo"}}
	theirs := &securestream.Config{Trust: trust, ServerName: args[3], NextProtos: []string{"echo"}}
	if len(args) > 4 {
		seconds, err := strconv.ParseInt(args[4], 10, 64)
		if err != nil {
			return nil, nil, err
		}
		theirs.Time = func() time.Time { return time.Unix(seconds, 0) }
	}
	c, err := securestream.NewStream(theirs, securestream.RoleClient)
	if err != nil {
		return nil, nil, err
	}
	s, err := securestream.NewStream(ours, securestream.RoleServer)
	if err != nil {
		return nil, nil, err
	}
	client, server = &side{Stream: c}, &side{Stream: s}
	client.peer, server.peer = server, client
	return client, server, nil
}

func talk(client, server *side) error {
	for open := 0; open < 2; {
		open = 0
		for _, s := range []*side{client, server} {
			done, err := s.handshake()
			if err != nil {
				return err
			}
			if done {
				open++
			}
		}
	}
	fmt.Printf("client: %s, ALPN %s\n", client.Describe(), client.ALPN())
	fmt.Printf("server: %s, ALPN %s\n", server.Describe(), server.ALPN())

	for _, message := range [][]byte{[]byte("hello"), nil, bytes.Repeat([]byte("x"), 100000), []byte("good bye")} {
		if err := client.write(message); err != nil {
			return err
		}
		came, _, err := server.read()
		if err != nil {
			return err
		}
		if err := server.write(came); err != nil {
			return err
		}
		echo, _, err := client.read()
		if err != nil {
			return err
		}
		if !bytes.Equal(echo, message) {
			return errors.New("the echo is another text")
		}
		fmt.Printf("echo: %d bytes\n", len(echo))
	}

	for _, s := range []*side{client, server} {
		if err := s.close(); err != nil {
			return err
		}
		if rest, closed, err := s.peer.read(); err != nil || !closed || len(rest) > 0 {
			return fmt.Errorf("the peer did not see the close: %v", err)
		}
	}
	fmt.Println("closed on both sides")
	return nil
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 5 {
		log.Fatal("usage: pair CERT KEY CA NAME [TIME]")
	}
	client, server, err := newSides(os.Args[1:])
	if err != nil {
		log.Fatal(err)
	}
	if err := talk(client, server); err != nil {
		log.Fatal(err)
	}
	client.Close()
	server.Close()
}
