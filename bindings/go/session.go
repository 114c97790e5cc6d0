package securestream

import (
	"sync"
	"time"
	"unsafe"

	"securestream.example/securestream/internal/raw"
)

// Session lets a client resume: a shorter handshake with the same peer. It is immutable, may be shared, and holds secrets.
//
// By default it is used once, so that nobody can link connections (RFC 8446, C.4): after a handshake has offered it, the
// next one is a full one.
type Session struct {
	native   native[raw.Session]
	reusable bool
	mu       sync.Mutex
}

// SessionInfo tells of a session.
type SessionInfo struct {
	Version      uint16
	CipherSuite  uint16
	Created      time.Time
	Expires      time.Time
	MaxEarlyData int // bytes; 0: no 0-RTT
}

func ownSession(ptr *raw.Session) *Session {
	if ptr == nil {
		return nil
	}
	s := new(Session)
	s.native.own(ptr, raw.Sst_session_free)
	return s
}

// ParseSession makes a session of [Session.Bytes], which must come from a place that only the owner can write.
// [ErrBadSession]: damaged, of another version of the library, or no session.
func ParseSession(data []byte) (*Session, error) {
	s := ownSession(raw.Sst_session_new())
	if s == nil {
		return nil, failure("parse session", raw.SST_ERR_NO_MEMORY, nil)
	}
	if status := raw.Sst_session_load(s.native.ptr, data); status != raw.SST_OK {
		err := failure("parse session", status, func(e *raw.Error) int32 {
			return raw.Sst_session_last_error(s.native.ptr, e)
		})
		s.Close()
		return nil, err
	}
	return s, nil
}

// Bytes is the session as bytes, to be kept as a secret; nil: it is closed. That it was used, or may be used again, is in
// them.
func (s *Session) Bytes() []byte {
	if !s.native.enter() {
		return nil
	}
	defer s.native.leave()
	data, _ := get(func(room *raw.Room) int32 { return raw.Sst_session_to_bytes(s.native.ptr, room) })
	return data
}

// Info tells of the session.
func (s *Session) Info() SessionInfo {
	if !s.native.enter() {
		return SessionInfo{}
	}
	defer s.native.leave()
	i := raw.SessionInfo{Size: uint32(unsafe.Sizeof(raw.SessionInfo{}))}
	if raw.Sst_session_get_info(s.native.ptr, &i) != raw.SST_OK {
		return SessionInfo{}
	}
	return SessionInfo{Version: i.Version, CipherSuite: i.Suite, Created: time.Unix(int64(i.CreatedUnixS), 0),
		Expires: time.Unix(int64(i.ExpiresUnixS), 0), MaxEarlyData: int(i.MaxEarlyData)}
}

// SetReusable lets the session be used more than once, also after its first use.
func (s *Session) SetReusable(on bool) error {
	if !s.native.enter() {
		return failure("set reusable", raw.SST_ERR_CLOSED, nil)
	}
	defer s.native.leave()
	flag := int32(0)
	if on {
		flag = 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if status := raw.Sst_session_set_reusable(s.native.ptr, flag); status != raw.SST_OK {
		return failure("set reusable", status, nil)
	}
	s.reusable = on
	return nil
}

func (s *Session) isReusable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reusable
}

// Close frees the session. A stream that was given it keeps it alive.
func (s *Session) Close() error {
	if !s.native.close() {
		return failure("close", raw.SST_ERR_CLOSED, nil)
	}
	return nil
}

// ClientSessionCache keeps the sessions of clients, by the name of the server. Any goroutine.
type ClientSessionCache interface {
	// Get gives a session for a connection to the server; false: there is none.
	Get(sessionKey string) (session *Session, ok bool)
	// Put keeps a session.
	Put(sessionKey string, session *Session)
}

type lruSessionCache struct {
	mu       sync.Mutex
	capacity int
	entries  []cachedSession // the newest last
}

type cachedSession struct {
	key     string
	session *Session
}

// NewLRUClientSessionCache makes a cache of so many sessions, 64 if capacity is less than 1: the oldest goes. Get takes
// the newest one of a server out of it; one that is reusable stays.
func NewLRUClientSessionCache(capacity int) ClientSessionCache {
	if capacity < 1 {
		capacity = 64
	}
	return &lruSessionCache{capacity: capacity}
}

func (l *lruSessionCache) Get(sessionKey string) (*Session, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.entries) - 1; i >= 0; i-- {
		if l.entries[i].key == sessionKey {
			session := l.entries[i].session
			if !session.isReusable() {
				l.entries = append(l.entries[:i], l.entries[i+1:]...)
			}
			return session, true
		}
	}
	return nil, false
}

func (l *lruSessionCache) Put(sessionKey string, session *Session) {
	if session == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, cachedSession{sessionKey, session})
	if excess := len(l.entries) - l.capacity; excess > 0 {
		l.entries = append([]cachedSession(nil), l.entries[excess:]...)
	}
}

// SetSession gives a client the session to resume; nil: none. Before the first byte. One that does not fit is not offered,
// and the handshake is a full one: [Info] tells.
func (s *Stream) SetSession(session *Session) error {
	var ptr *raw.Session
	if session != nil {
		if !session.native.enter() {
			return failure("set session", raw.SST_ERR_CLOSED, nil)
		}
		defer session.native.leave()
		ptr = session.native.ptr
	}
	return s.call("set session", func() int32 { return raw.Sst_stream_set_session(s.native.ptr, ptr) })
}

// TakeSession is the newest session that has come and was not taken yet; nil: there is none. Only of a config that reports
// [EventSession] or has a ClientSessionCache. In TLS 1.3 sessions come with what is read after the handshake. Any
// goroutine, any time.
func (s *Stream) TakeSession() *Session {
	if !s.native.enter() {
		return nil
	}
	defer s.native.leave()
	return ownSession(raw.Sst_stream_take_session(s.native.ptr))
}

// EarlyDataLeft is how many bytes of 0-RTT data a client may encrypt now, before the handshake has finished.
func (s *Stream) EarlyDataLeft() int {
	if !s.native.enter() {
		return 0
	}
	defer s.native.leave()
	return int(raw.Sst_stream_early_data_left(s.native.ptr))
}

// SessionID is the id of a session that a TLS 1.2 client asks for, at [StatusWantSession]; nil: that question is not open.
func (s *Stream) SessionID() []byte { return s.bytes(raw.Sst_stream_session_id) }

// Ticket is a ticket that no key opens, at [StatusWantTicketDecrypt]; nil: that question is not open.
func (s *Stream) Ticket() []byte { return s.bytes(raw.Sst_stream_ticket) }

// AnswerSession answers [StatusWantSession]. Nil: it is not known, and the handshake is a full one.
func (s *Stream) AnswerSession(session *Session) error {
	var ptr *raw.Session
	if session != nil {
		if !session.native.enter() {
			return failure("answer session", raw.SST_ERR_CLOSED, nil)
		}
		defer session.native.leave()
		ptr = session.native.ptr
	}
	return s.answer("answer session", func() int32 { return raw.Sst_stream_answer_session(s.native.ptr, ptr) })
}

// SetTicketPlaintext answers [StatusWantTicketDecrypt] with what is in the ticket: section 7 of the header tells how to
// open one.
func (s *Stream) SetTicketPlaintext(plaintext []byte) error {
	return s.answer("set ticket plaintext", func() int32 {
		return raw.Sst_stream_set_ticket_plaintext(s.native.ptr, plaintext)
	})
}

// IgnoreTicket answers [StatusWantTicketDecrypt]: it cannot be used, and the handshake is a full one.
func (s *Stream) IgnoreTicket() error {
	return s.answer("ignore ticket", func() int32 { return raw.Sst_stream_ignore_ticket(s.native.ptr) })
}

// ContinueWithoutEarlyData answers [StatusWantEarlyDataRetry]: the early data has reached nobody, and the caller sends it
// again when the handshake has finished.
func (s *Stream) ContinueWithoutEarlyData() error {
	return s.answer("continue", func() int32 { return raw.Sst_stream_continue_without_early_data(s.native.ptr) })
}
