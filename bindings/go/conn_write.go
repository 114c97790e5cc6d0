package securestream

import "securestream.example/securestream/internal/raw"

// Write encrypts p and sends it. After an error of the transport, n bytes of p have been taken: a timeout may be followed
// by another Write, which goes on behind them.
//
// A TLS 1.3 client that has read nothing yet looks, without waiting, whether the server has refused its certificate; a
// client that only writes learns it here or from Close.
func (c *Conn) Write(p []byte) (int, error) {
	if err := c.Handshake(); err != nil {
		return 0, err
	}
	// Close does not wait for a Write: it closes the transport.
	c.writers.Add(1)
	defer c.writers.Add(-1)
	if c.closed.Load() {
		return 0, failure("write", raw.SST_ERR_CLOSED, nil)
	}
	if c.unheard() {
		c.look()
	}
	c.out.mu.Lock()
	n, err := c.write(p)
	c.out.release()
	c.out.mu.Unlock()
	if err != nil {
		err = c.whyNot(err)
	}
	return n, err
}

// write sends p in pieces of the buffer's size. The outbox is locked.
func (c *Conn) write(p []byte) (int, error) {
	if err := c.out.send(c.conn); err != nil {
		return 0, err
	}
	for n := 0; ; {
		done, err := c.stream.Encrypt(p[n:], c.out.room())
		c.out.put(done.Produced)
		n += done.Consumed
		if err != nil {
			return n, err
		}
		if err := c.out.send(c.conn); err != nil {
			return n, err
		}
		if done.Status == StatusOK {
			return n, nil
		}
	}
}

// whyNot explains an error of writing: the peer may have sent an alert before it stopped to read.
func (c *Conn) whyNot(err error) error {
	if _, ok := err.(*Error); ok || isTimeout(err) || c.closed.Load() {
		return err
	}
	c.look()
	if refused := c.refusal(); refused != nil {
		return refused
	}
	return err
}
