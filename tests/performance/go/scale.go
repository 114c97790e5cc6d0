package main

// handshakes is the work of handshake: on each thread a hand of its own, beside streams that are open.
type handshakes struct {
	party *party
	fresh bool
	hands []*hand
	idle  crowd
}

func (c *kase) beginHandshakes(p *party) (work, error) {
	w := &handshakes{party: p, fresh: c.freshConfigs}
	for range c.threads {
		h, err := newHand(p, c.over)
		if err != nil {
			return nil, err
		}
		w.hands = append(w.hands, h)
	}
	return w, w.idle.open(p, c.streams/2)
}

// open grows the crowd without a transport.
func (c *crowd) open(p *party, pairs int) error {
	h, err := newHand(p, "memory")
	if err != nil {
		return err
	}
	return c.grow(h, pairs)
}

func (w *handshakes) end() {
	for _, h := range w.hands {
		h.free()
	}
	w.idle.close()
}

func (w *handshakes) pass(n int) error {
	return together(len(w.hands), func(i int) error {
		for range n {
			if w.fresh {
				w.party.renew()
			}
			p, err := w.hands[i].shake()
			p.close()
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// echoes is the work of echo: on each thread between a pair of its own, beside streams that are open.
type echoes struct {
	lanes       [][2]*lane
	rounds      int
	pairs, idle crowd
}

func (c *kase) beginEchoes(p *party) (work, error) {
	w := &echoes{rounds: c.rounds}
	if err := w.pairs.open(p, c.threads); err != nil {
		return nil, err
	}
	for i := range w.pairs {
		w.lanes = append(w.lanes, w.pairs[i].lanes(c.size))
	}
	return w, w.idle.open(p, c.streams/2)
}

func (w *echoes) end() {
	w.pairs.close()
	w.idle.close()
}

func (w *echoes) pass(n int) error {
	return together(len(w.lanes), func(i int) error {
		there, back := w.lanes[i][0], w.lanes[i][1]
		for range n * w.rounds {
			if err := there.move(); err != nil {
				return err
			}
			if err := back.move(); err != nil {
				return err
			}
		}
		if err := there.check(); err != nil {
			return err
		}
		return back.check()
	})
}

// together makes n calls at once, the first on this goroutine.
func together(n int, call func(i int) error) error {
	errs := make(chan error, n)
	for i := range n - 1 {
		go func() { errs <- call(i + 1) }()
	}
	errs <- call(0)
	var first error
	for range n {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}
