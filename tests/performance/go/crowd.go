package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"securestream.example/securestream"
)

// crowd is pairs that stay open and idle.
type crowd []pair

// grow opens n pairs more.
func (c *crowd) grow(h *hand, n int) error {
	for range n {
		p, err := h.openPair()
		*c = append(*c, p)
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *crowd) close() {
	for i := range *c {
		(*c)[i].close()
	}
}

// idle is the work of idle streams. The first pair stays open: what all streams share is not counted.
type idle struct {
	*hand
	first, crowd crowd
	before       uint64 // bytes of Go's heap in use
}

func (c *kase) beginIdle(p *party) (work, error) {
	h, err := newHand(p, c.over)
	if err != nil {
		return nil, err
	}
	w := &idle{hand: h, crowd: make(crowd, 0, c.streams/2)}
	err = w.first.grow(h, 1)
	w.before = goHeap()
	return w, err
}

func (w *idle) pass(n int) error { return w.crowd.grow(w.hand, n) }

func (w *idle) end() {
	w.first.close()
	w.crowd.close()
}

// weigh tells what the streams hold, and frees them.
func (w *idle) weigh(r *result) {
	r.PeakRSS = peakRSS()
	n := float64(len(w.crowd))
	language := (float64(goHeap()) - float64(w.before)) / (2 * n)
	r.LanguageBytesPerStream = &language
	for side, bytes := range []**float64{&r.BytesPerClient, &r.BytesPerServer} {
		before := securestream.AllocatedBytes()
		for _, p := range w.crowd {
			p[side].Close()
		}
		each := float64(before-securestream.AllocatedBytes()) / n
		*bytes = &each
	}
}

func goHeap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// peakRSS is the most that the process has held; nil: the system does not tell. What getrusage gives is no less than
// what the program was that started this one; VmHWM is of this one alone.
func peakRSS() *float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil
	}
	for text := range strings.Lines(string(status)) {
		words := strings.Fields(text)
		if len(words) > 1 && words[0] == "VmHWM:" {
			kilobytes, err := strconv.ParseFloat(words[1], 64)
			if err != nil {
				return nil
			}
			bytes := kilobytes * 1024
			return &bytes
		}
	}
	return nil
}
