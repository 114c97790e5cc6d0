package securestream

import (
	"context"
	"net"
	"sync/atomic"
)

// Dialer makes client connections.
type Dialer struct {
	NetDialer *net.Dialer // nil: the zero value
	Config    *Config     // nil: the zero value
}

// Dial connects to addr ("host:port") and performs the handshake. Unless config has ServerName, the host is expected.
func Dial(network, addr string, config *Config) (*Conn, error) {
	return (&Dialer{Config: config}).dial(context.Background(), network, addr)
}

// DialContext is Dial within a context, which has no effect once the connection is made. The net.Conn is a *Conn.
func (d *Dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := d.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (d *Dialer) dial(ctx context.Context, network, addr string) (*Conn, error) {
	config, dialer := orZero(d.Config), d.NetDialer
	if dialer == nil {
		dialer = new(net.Dialer)
	}
	if err := config.Check(RoleClient); err != nil {
		return nil, err
	}
	name := config.ServerName
	if name == "" {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		name = host
	}
	transport, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := newConn(transport, config, RoleClient, name)
	if err := c.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Listen listens for connections. It fails if a server cannot be made of config.
func Listen(network, laddr string, config *Config) (*Listener, error) {
	config = orZero(config)
	if err := config.Check(RoleServer); err != nil {
		return nil, err
	}
	inner, err := net.Listen(network, laddr)
	if err != nil {
		return nil, err
	}
	return NewListener(inner, config), nil
}

// NewListener secures what inner accepts.
func NewListener(inner net.Listener, config *Config) *Listener {
	l := &Listener{Listener: inner}
	l.config.Store(orZero(config))
	return l
}

// Listener is a net.Listener whose connections are secured.
type Listener struct {
	net.Listener
	config atomic.Pointer[Config]
}

// Accept waits for a connection, but not for its handshake. The net.Conn is a *Conn.
func (l *Listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return Server(conn, l.config.Load()), nil
}

// Config is what the next connection has.
func (l *Listener) Config() *Config { return l.config.Load() }

// SetConfig gives the connections to come another config: that is how a certificate is reloaded. Connections that are
// accepted already live on with theirs. If a server cannot be made of config it fails as [Config.Check], and the old
// one stays. Any goroutine, any time.
func (l *Listener) SetConfig(config *Config) error {
	config = orZero(config)
	if err := config.Check(RoleServer); err != nil {
		return err
	}
	l.config.Store(config)
	return nil
}
