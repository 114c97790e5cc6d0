package securestream

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"

	"securestream.example/securestream/internal/raw"
)

// Error is a failure with its reasons.
type Error struct {
	// Op is what failed: "handshake", "read", "load certificate chain".
	Op string
	// Code is the number of the failure. When a certificate has several faults it is the first in the order chain,
	// time, name, others.
	Code Code
	// Message names the thing: "certificate 2 of 3: bad base64 at line 7".
	Message string
	// AlertSent and AlertReceived are the alerts that went with the failure; -1: none.
	AlertSent, AlertReceived int
	// Reasons has all the faults of a certificate: a caller who could live with one sees whether there is another.
	// errors.Is finds each.
	Reasons []Code
	// Chain has the certificates that were refused, in DER as the peer sent them, leaf first: with a code of a
	// certificate (ErrCert…), ErrKeyUsage, or ErrRejected by who judged it. It is for messages and logs: anybody can send it, and nothing in it may be
	// trusted.
	Chain [][]byte
	// Detail is an errno, HRESULT or GSS major status, where there is one.
	Detail int64
}

// Error is one line: what failed, why, the name of the code, and the other reasons if there are several.
func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "securestream: %s: %s (%s", e.Op, e.Message, e.Code.String())
	for _, reason := range e.Reasons {
		if reason != e.Code {
			text.WriteString(", " + reason.String())
		}
	}
	text.WriteString(")")
	if e.AlertReceived >= 0 {
		fmt.Fprintf(&text, ", alert received: %s (%d)", AlertName(e.AlertReceived), e.AlertReceived)
	}
	return text.String()
}

// Hint is [Code.Hint] of the code: what to do, for the person who reads it.
func (e *Error) Hint() string { return e.Code.Hint() }

// Is reports whether target is the code of the failure, one of its reasons, or what [Code.Is] relates to the code. With
// [ErrSystem] it is also what Detail, an errno, is: fs.ErrNotExist, fs.ErrPermission.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	if !ok {
		return e.Code.Is(target) || e.Code == ErrSystem && e.Detail > 0 && syscall.Errno(e.Detail).Is(target)
	}
	if e.Code == code || e.Code.Is(code) {
		return true
	}
	for _, reason := range e.Reasons {
		if reason == code {
			return true
		}
	}
	return false
}

// failure makes the error of a status; get copies the record of the object that failed, if it keeps one.
func failure(op string, status int32, get func(*raw.Error) int32) *Error {
	record := raw.Error{AlertSent: -1, AlertReceived: -1}
	if get != nil {
		record.Size = uint32(sizeofError)
		get(&record)
	}
	e := &Error{Op: op, Code: Code(status), AlertSent: -1, AlertReceived: -1}
	if record.Code != status {
		// The code is of a kind that leaves no record.
		e.Message = raw.Sst_status_text(status)
		return e
	}
	e.AlertSent, e.AlertReceived, e.Detail = int(record.AlertSent), int(record.AlertReceived), record.Detail
	text, _, _ := bytes.Cut(record.Message[:], []byte{0})
	e.Message = string(text)
	if e.Message == "" {
		e.Message = raw.Sst_status_text(status)
	}
	for bit := range 64 {
		if record.Reasons>>bit&1 == 1 {
			e.Reasons = append(e.Reasons, ErrCertIssuerNotFound-Code(bit))
		}
	}
	return e
}
