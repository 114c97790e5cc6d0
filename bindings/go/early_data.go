package securestream

import (
	"context"
	"time"

	"securestream.example/securestream/internal/raw"
)

// HandshakeEarly performs the handshake and sends with the first flight what the session allows of data, if the config has
// EarlyData. An attacker can replay it. It returns how many bytes have reached the server: all that went out early, or
// none. Nothing is sent twice; the caller sends the rest:
//
//	n, err := conn.HandshakeEarly(ctx, request)
//	if err == nil {
//		_, err = conn.Write(request[n:])
//	}
//
// After a timeout it may be called again, with the same data. For clients; the handshake must not be finished ([ErrState]).
func (c *Conn) HandshakeEarly(ctx context.Context, data []byte) (int, error) {
	if c.role != RoleClient || c.open.Load() {
		return 0, failure("handshake", raw.SST_ERR_STATE, nil)
	}
	c.shaking.Lock()
	c.early = data
	c.shaking.Unlock()
	err := c.HandshakeContext(ctx)
	if err != nil || !c.stream.Info().EarlyDataAccepted {
		return 0, err
	}
	return c.earlySent, nil
}

// sendEarly sends early data behind the hello. The handshake has the outbox.
func (c *Conn) sendEarly() error {
	for {
		rest := c.early[min(c.earlySent, len(c.early)):]
		size := min(len(rest), c.stream.EarlyDataLeft())
		if size == 0 {
			return nil
		}
		p, err := c.stream.Encrypt(rest[:size], c.out.room())
		c.out.put(p.Produced)
		c.earlySent += p.Consumed
		if err != nil {
			return err
		}
		if err := c.out.send(c.conn); err != nil {
			return err
		}
	}
}

// ReadEarly tells of a server whether what the last Read gave came as 0-RTT data. It may be an attacker's copy of what a
// client has said before: only what may be done twice should be done for it.
func (c *Conn) ReadEarly() bool { return c.gaveEarly.Load() }

// lockEarly takes the turn of the writers, for a call of the reader: until the client has confirmed the handshake the
// stream is for one goroutine. It returns what gives the turn back.
func (c *Conn) lockEarly() func() {
	if !c.unconfirmed.Load() {
		return func() {}
	}
	c.out.mu.Lock()
	return c.out.mu.Unlock
}

// confirm forgets what comes until the client has confirmed the handshake, but not for longer than a moment: close_notify
// goes out behind that.
func (c *Conn) confirm() {
	if !c.unconfirmed.Load() || !c.in.mu.TryLock() {
		return
	}
	defer c.in.mu.Unlock()
	in := &c.in
	deadline := time.Now().Add(goodbye)
	_ = c.conn.SetReadDeadline(deadline)
	for c.unconfirmed.Load() && in.err == nil && time.Now().Before(deadline) {
		in.next = in.used
		if !in.hungry {
			c.openSome(nil)
		} else if c.receive() != nil {
			return
		}
	}
	in.next = in.used
}

// keepSession gives what has come to who the config names.
func (c *Conn) keepSession(config *Config, id []byte) {
	ofClient := c.role == RoleClient && config.ClientSessionCache != nil && c.sessionKey != ""
	ofServer := c.role == RoleServer && config.StoreSession != nil
	if !ofClient && !ofServer {
		return
	}
	session := c.stream.TakeSession()
	switch {
	case session == nil:
	case ofClient:
		config.ClientSessionCache.Put(c.sessionKey, session)
	default:
		config.StoreSession(id, session)
	}
}

// offerSession takes a session out of the config's cache.
func (c *Conn) offerSession(config *Config, serverName string) error {
	if c.role != RoleClient || config.ClientSessionCache == nil || serverName == "" {
		return nil
	}
	c.sessionKey = serverName
	session, ok := config.ClientSessionCache.Get(serverName)
	if !ok || session == nil {
		return nil
	}
	return c.stream.SetSession(session)
}

func (c *Conn) findSession(config *Config) error {
	if config.FindSession == nil {
		return nobodyAnswers(StatusWantSession)
	}
	session, err := config.FindSession(c.stream.SessionID())
	if err != nil {
		return err
	}
	return c.stream.AnswerSession(session)
}

func (c *Conn) openTicket(config *Config) error {
	if config.OpenTicket == nil {
		return nobodyAnswers(StatusWantTicketDecrypt)
	}
	plaintext, err := config.OpenTicket(c.stream.Ticket())
	if err != nil {
		return err
	}
	if plaintext == nil {
		return c.stream.IgnoreTicket()
	}
	return c.stream.SetTicketPlaintext(plaintext)
}
