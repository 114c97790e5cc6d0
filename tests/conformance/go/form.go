package main

import (
	"strings"
	"time"

	"securestream.example/securestream"
	"securestream.example/tests/go/support"
)

// cursor goes over the tokens of a sentence.
type cursor struct {
	tokens []token
	at     int
}

func (c *cursor) done() bool { return c.at == len(c.tokens) }

// next takes a token of one of the kinds.
func (c *cursor) next(kinds ...tokenKind) (string, bool) {
	if c.done() {
		return "", false
	}
	for _, kind := range kinds {
		if c.tokens[c.at].kind == kind {
			c.at++
			return c.tokens[c.at-1].value, true
		}
	}
	return "", false
}

// words takes these words, or nothing.
func (c *cursor) words(all string) bool {
	begin := c.at
	for w := range strings.FieldsSeq(all) {
		if c.done() || !c.tokens[c.at].is(w) {
			c.at = begin
			return false
		}
		c.at++
	}
	return true
}

// match has what the placeholders of a pattern have matched, in order.
type match []any

// get returns what placeholder i has matched.
func get[T any](m match, i int) T { return m[i].(T) }

// role returns the first ROLE.
func (m match) role() securestream.Role {
	for _, value := range m {
		if role, ok := value.(securestream.Role); ok {
			return role
		}
	}
	panic("a form without a role")
}

// placeholders are those of README.md, section 3, and what they become.
var placeholders = map[string]func(*cursor) (any, bool){
	"ROLE": func(c *cursor) (any, bool) {
		if c.words("client") {
			return securestream.RoleClient, true
		}
		return securestream.RoleServer, c.words("server")
	},
	"N": func(c *cursor) (any, bool) { return takeNumber(c) },
	"V": func(c *cursor) (any, bool) {
		if c.words("1.2") {
			return securestream.VersionTLS12, true
		}
		return securestream.VersionTLS13, c.words("1.3")
	},
	"TEXT":   func(c *cursor) (any, bool) { return c.next(word, text) },
	"LEAF":   func(c *cursor) (any, bool) { return c.next(word) },
	"LIST":   takeList,
	"CODE":   func(c *cursor) (any, bool) { return takeCode(c) },
	"ALERTS": takeAlerts,
	"TYPE":   takeType,
	"DATA":   takeData,
	"HOW":    func(c *cursor) (any, bool) { return c.words("in place"), true },
	"END":    takeEnd,
	"DAY":    takeDay,

	"QUESTION":  func(c *cursor) (any, bool) { return takeQuestion(c) },
	"QUESTIONS": takeQuestions,
}

func init() { // clauses have placeholders themselves
	placeholders["CLAUSES"] = takeClauses
	placeholders["[CLAUSES]"] = takeAnyClauses
	placeholders["ANSWER"] = takeAnswer
}

// matchPattern takes what a pattern matches, or nothing. Whether more follows is for the caller to see.
func matchPattern(pattern string, c *cursor) (match, bool) {
	begin := c.at
	m := match{}
	for part := range strings.FieldsSeq(pattern) {
		take, known := placeholders[part]
		if !known {
			if !c.words(part) {
				c.at = begin
				return nil, false
			}
			continue
		}
		value, ok := take(c)
		if !ok {
			c.at = begin
			return nil, false
		}
		m = append(m, value)
	}
	return m, true
}

func takeNumber(c *cursor) (int, bool) {
	value, ok := c.next(word)
	if !ok {
		return 0, false
	}
	return decimal(value)
}

func takeList(c *cursor) (any, bool) {
	var list []string
	for {
		value, ok := c.next(word, text)
		if !ok {
			return nil, false
		}
		list = append(list, value)
		if _, more := c.next(comma); !more {
			return list, true
		}
	}
}

// codes are those that the library has a name for.
var codes = func() map[string]securestream.Code {
	all := make(map[string]securestream.Code)
	for code := securestream.Code(-100); code > securestream.ErrAlertReceived; code-- {
		if name, found := strings.CutPrefix(code.String(), "ERR_"); found {
			all[name] = code
		}
	}
	return all
}()

func takeCode(c *cursor) (securestream.Code, bool) {
	if c.words("alert") {
		n, ok := takeNumber(c)
		return securestream.ErrAlertReceived - securestream.Code(n), ok
	}
	name, _ := c.next(word)
	code, known := codes[name]
	return code, known
}

func takeAlerts(c *cursor) (any, bool) {
	var alerts []int
	for {
		n, ok := takeNumber(c)
		if !ok {
			return nil, false
		}
		alerts = append(alerts, n)
		if !c.words("or") {
			return alerts, true
		}
	}
}

// Record types.
const (
	typeChangeCipherSpec = 20
	typeAlert            = 21
	typeHandshake        = 22
	typeApplicationData  = 23
)

func takeType(c *cursor) (any, bool) {
	name, ok := c.next(word)
	if !ok {
		return nil, false
	}
	types := map[string]byte{"change-cipher-spec": typeChangeCipherSpec, "alert": typeAlert,
		"handshake": typeHandshake, "application-data": typeApplicationData}
	if t, known := types[name]; known {
		return t, true
	}
	n, ok := decimal(name)
	return byte(n), ok && n <= 255
}

func takeData(c *cursor) (any, bool) {
	data := []byte{}
	for {
		atom, ok := takeAtom(c)
		if !ok {
			return nil, false
		}
		data = append(data, atom...)
		if !c.words("followed by") {
			return data, true
		}
	}
}

func takeAtom(c *cursor) ([]byte, bool) {
	if value, ok := c.next(text); ok {
		return []byte(value), true
	}
	if c.words("nothing") {
		return nil, true
	}
	if c.words("bytes") {
		var all []byte
		for !c.done() && c.tokens[c.at].kind == word {
			b, err := hexByte(c.tokens[c.at].value)
			if err != nil {
				break
			}
			all = append(all, b)
			c.at++
		}
		return all, len(all) > 0
	}
	n, ok := takeNumber(c)
	if !ok || !c.words("bytes of pattern") {
		return nil, false
	}
	return support.Pattern(n), true
}

// takeEnd takes how a decrypt step ends: a status.
func takeEnd(c *cursor) (any, bool) {
	switch {
	case c.words("and sees closed"):
		return securestream.StatusClosed, true
	case c.words("and sees truncated"):
		return securestream.Status(securestream.ErrTruncated), true
	case c.words("and fails with"):
		code, ok := takeCode(c)
		return securestream.Status(code), ok
	}
	return securestream.StatusNeedInput, true
}

var questions = map[string]securestream.Status{
	"client-hello": securestream.StatusWantClientHello, "certificate": securestream.StatusWantCertificate,
	"certificate-verify":    securestream.StatusWantCertificateVerify,
	"private-key-operation": securestream.StatusWantPrivateKeyOperation,
	"session":               securestream.StatusWantSession,
	"ticket-decrypt":        securestream.StatusWantTicketDecrypt,
	"early-data-retry":      securestream.StatusWantEarlyDataRetry,
}

func takeQuestion(c *cursor) (securestream.Status, bool) {
	name, _ := c.next(word)
	want, known := questions[name]
	return want, known
}

func takeQuestions(c *cursor) (any, bool) {
	var list []securestream.Status
	for {
		want, ok := takeQuestion(c)
		if !ok {
			return nil, false
		}
		list = append(list, want)
		if _, more := c.next(comma); !more {
			return list, true
		}
	}
}

func takeDay(c *cursor) (any, bool) {
	value, _ := c.next(word)
	day, err := time.Parse("2006-01-02", value)
	return day, err == nil
}
