package main

import (
	"fmt"
	"strconv"
	"strings"
)

type tokenKind int

const (
	word tokenKind = iota
	text           // a string
	comma
)

// token is a word, a string or a comma of a line (README.md, section 1).
type token struct {
	kind  tokenKind
	value string
}

const blanks = " \t"

var escapes = map[byte]byte{'"': '"', '\\': '\\', 'r': '\r', 'n': '\n', 't': '\t'}

// cut cuts a line into tokens.
func cut(line string) ([]token, error) {
	var tokens []token
	for line = strings.TrimLeft(line, blanks); line != ""; line = strings.TrimLeft(line, blanks) {
		switch line[0] {
		case ',':
			tokens = append(tokens, token{comma, ","})
			line = line[1:]
		case '"':
			value, rest, err := cutString(line[1:])
			if err != nil {
				return nil, err
			}
			tokens = append(tokens, token{text, value})
			line = rest
		default:
			end := strings.IndexAny(line, blanks+`",`)
			if end < 0 {
				end = len(line)
			}
			tokens = append(tokens, token{word, line[:end]})
			line = line[end:]
		}
	}
	return tokens, nil
}

// cutString reads up to the closing quote and returns what stands behind it.
func cutString(line string) (value, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case '"':
			return b.String(), line[i+1:], nil
		case '\\':
			c, used, err := escape(line[i+1:])
			if err != nil {
				return "", "", err
			}
			b.WriteByte(c)
			i += used
		default:
			b.WriteByte(c)
		}
	}
	return "", "", fmt.Errorf("a string without its closing quote")
}

// escape reads what stands behind a backslash.
func escape(s string) (c byte, used int, err error) {
	if s != "" {
		if c, known := escapes[s[0]]; known {
			return c, 1, nil
		}
		if s[0] == 'x' && len(s) >= 3 {
			if c, err := hexByte(s[1:3]); err == nil {
				return c, 3, nil
			}
		}
	}
	return 0, 0, fmt.Errorf("an unknown escape in a string")
}

func hexByte(s string) (byte, error) {
	if len(s) != 2 || strings.Trim(s, "0123456789abcdefABCDEF") != "" {
		return 0, fmt.Errorf("'%s' is no byte", s)
	}
	n, err := strconv.ParseUint(s, 16, 8)
	return byte(n), err
}

func (t token) is(value string) bool { return t.kind == word && t.value == value }

func decimal(s string) (int, bool) {
	if s == "" || len(s) > 9 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}
