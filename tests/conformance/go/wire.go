package main

import "slices"

// wire is what waits for one side (README.md, section 4).
type wire struct {
	waiting []byte
	all     []byte // whatever was put on it
}

func (w *wire) put(bytes ...byte) {
	w.waiting = append(w.waiting, bytes...)
	w.all = append(w.all, bytes...)
}

func (w *wire) take(n int) { w.waiting = w.waiting[n:] }

const headerSize = 5

// record is a whole record, its header included.
type record []byte

func (r record) kind() byte      { return r[0] }
func (r record) payload() []byte { return r[headerSize:] }

// records cuts bytes into whole records, and returns what is left.
func records(bytes []byte) (whole []record, rest []byte) {
	for len(bytes) >= headerSize {
		n := headerSize + int(bytes[3])<<8 + int(bytes[4])
		if len(bytes) < n {
			break
		}
		whole = append(whole, record(bytes[:n]))
		bytes = bytes[n:]
	}
	return whole, bytes
}

func makeRecord(kind, minor byte, payload []byte) record {
	header := []byte{kind, 3, minor, byte(len(payload) >> 8), byte(len(payload))}
	return append(header, payload...)
}

// split cuts the payloads of plain handshake records into pieces of at most n bytes.
func (w *wire) split(n int) {
	whole, rest := records(w.waiting)
	var made []byte
	for _, r := range whole {
		if r.kind() != typeHandshake || len(r.payload()) == 0 {
			made = append(made, r...)
			continue
		}
		for piece := range slices.Chunk(r.payload(), n) {
			made = append(made, makeRecord(typeHandshake, r[2], piece)...)
		}
	}
	w.waiting = append(made, rest...)
}
