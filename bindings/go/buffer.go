package securestream

import (
	"io"
	"net"
	"sync"
)

// Four records of the largest size that we send, and room for an answer to KeyUpdate. More than MaxRecord.
const bufferSize = 66 << 10

type buffer [bufferSize]byte

// An idle connection holds no buffer: they lie in the pool.
var buffers = sync.Pool{New: func() any { return new(buffer) }}

// inbox holds wire bytes that came and were not taken, and plaintext that was opened in place and not read.
type inbox struct {
	mu     sync.Mutex // of the readers; held while one of them waits for the transport
	buf    *buffer
	start  int // wire bytes: buf[start:end]
	end    int
	hungry bool // the stream needs more than buf[start:end]
	eof    bool // the transport has ended
	owes   bool // the handshake has left output to flush
	err    error
	told   bool // the caller knows err

	ranges [16]Range // plaintexts in buf, of those from next to used some is not read
	next   int
	used   int
}

func (in *inbox) wire() []byte {
	if in.buf == nil {
		return nil
	}
	return in.buf[in.start:in.end]
}

func (in *inbox) take(n int) { in.start += n }

// read gives out plaintext that was opened in place.
func (in *inbox) read(p []byte) int {
	n := 0
	for n < len(p) && in.next < in.used {
		r := &in.ranges[in.next]
		copied := copy(p[n:], in.buf[r.Offset:r.Offset+r.Length])
		n += copied
		r.Offset += copied
		r.Length -= copied
		if r.Length == 0 {
			in.next++
		}
	}
	return n
}

// space moves what is there to the front and returns the room behind it. No plaintext may be left.
func (in *inbox) space() []byte {
	if in.buf == nil {
		in.buf = buffers.Get().(*buffer)
	}
	if in.start > 0 {
		in.end = copy(in.buf[:], in.buf[in.start:in.end])
		in.start = 0
	}
	return in.buf[in.end:]
}

// release gives the buffer back if nothing is in it.
func (in *inbox) release() {
	if in.buf != nil && in.start == in.end && in.next == in.used {
		buffers.Put(in.buf)
		in.buf, in.start, in.end = nil, 0, 0
	}
}

// outbox holds wire bytes that the transport has not taken.
type outbox struct {
	mu    sync.Mutex // of the writers; held while one of them waits for the transport
	buf   *buffer
	start int // buf[start:end]
	end   int
}

// room is the whole buffer; nothing may be in it.
func (out *outbox) room() []byte {
	if out.buf == nil {
		out.buf = buffers.Get().(*buffer)
	}
	return out.buf[:]
}

func (out *outbox) put(n int) { out.start, out.end = 0, n }

// send writes all to the transport. What it does not take stays.
func (out *outbox) send(conn net.Conn) error {
	for idle := 0; out.start < out.end; idle++ {
		n, err := conn.Write(out.buf[out.start:out.end])
		out.start += n
		if err != nil {
			return err
		}
		if n > 0 {
			idle = 0
		}
		if idle == 100 {
			return io.ErrNoProgress
		}
	}
	return nil
}

// release gives the buffer back if nothing is in it.
func (out *outbox) release() {
	if out.buf != nil && out.start == out.end {
		buffers.Put(out.buf)
		out.buf, out.start, out.end = nil, 0, 0
	}
}
