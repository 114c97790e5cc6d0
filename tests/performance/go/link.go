package main

import (
	"fmt"
	"io"
	"syscall"
)

const roomSize = 65536

// link is how the bytes of a handshake go from side to side.
type link interface {
	connect() error
	disconnect()
	free()
	room(side int) []byte // for what a side sends
	send(side, n int) error
	receive(side int) ([]byte, error)
}

func newLink(over string) (link, error) {
	memory := throughMemory{rooms: [2][]byte{make([]byte, roomSize), make([]byte, roomSize)}}
	if over == "memory" {
		return &memory, nil
	}
	sockets := overSockets{throughMemory: memory, in: make([]byte, roomSize)}
	switch over {
	case "pipe":
		return &sockets, nil
	case "ipv4":
		return newTCP(sockets, syscall.AF_INET, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	default:
		return newTCP(sockets, syscall.AF_INET6, &syscall.SockaddrInet6{Addr: [16]byte{15: 1}})
	}
}

// throughMemory: what a side has sent is the other's input.
type throughMemory struct {
	rooms, waiting [2][]byte
}

func (m *throughMemory) connect() error       { return nil }
func (m *throughMemory) disconnect()          {}
func (m *throughMemory) free()                {}
func (m *throughMemory) room(side int) []byte { return m.rooms[side] }

func (m *throughMemory) send(side, n int) error {
	m.waiting[1-side] = m.rooms[side][:n]
	return nil
}

func (m *throughMemory) receive(side int) ([]byte, error) {
	in := m.waiting[side]
	m.waiting[side] = nil
	if len(in) == 0 {
		return nil, fmt.Errorf("nothing was sent")
	}
	return in, nil
}

// overSockets is a connected pair of blocking sockets: of AF_UNIX.
type overSockets struct {
	throughMemory
	in []byte
	fd [2]int
}

func (s *overSockets) connect() (err error) {
	s.fd, err = syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	return err
}

func (s *overSockets) disconnect() {
	for _, fd := range s.fd {
		syscall.Close(fd)
	}
}

func (s *overSockets) send(side, n int) error {
	if n == 0 {
		return nil
	}
	written, err := syscall.Write(s.fd[side], s.rooms[side][:n])
	if err == nil && written != n {
		err = io.ErrShortWrite
	}
	return err
}

func (s *overSockets) receive(side int) ([]byte, error) {
	n, err := syscall.Read(s.fd[side], s.in)
	for err == syscall.EINTR { // the runtime's own signals
		n, err = syscall.Read(s.fd[side], s.in)
	}
	if err == nil && n == 0 {
		err = io.ErrUnexpectedEOF
	}
	return s.in[:max(n, 0)], err
}

// overTCP is one on the loopback.
type overTCP struct {
	overSockets
	family, listener int
	address          syscall.Sockaddr
}

func newTCP(sockets overSockets, family int, loopback syscall.Sockaddr) (link, error) {
	t := &overTCP{overSockets: sockets, family: family}
	var err error
	if t.listener, err = syscall.Socket(family, syscall.SOCK_STREAM, 0); err != nil {
		return nil, err
	}
	if err = syscall.Bind(t.listener, loopback); err != nil {
		return nil, err
	}
	if err = syscall.Listen(t.listener, 1); err != nil {
		return nil, err
	}
	t.address, err = syscall.Getsockname(t.listener)
	return t, err
}

func (t *overTCP) free() { syscall.Close(t.listener) }

func (t *overTCP) connect() (err error) {
	if t.fd[client], err = syscall.Socket(t.family, syscall.SOCK_STREAM, 0); err != nil {
		return err
	}
	if err = syscall.Connect(t.fd[client], t.address); err != nil {
		return err
	}
	if t.fd[server], _, err = syscall.Accept(t.listener); err != nil {
		return err
	}
	for _, fd := range t.fd {
		if err = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1); err != nil {
			return err
		}
	}
	return nil
}
