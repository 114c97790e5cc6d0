package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"securestream.example/securestream"
	"securestream.example/tests/go/support"
)

// kase is a line of cases.txt (README.md, section 1).
type kase struct {
	name, kind                      string
	version                         uint16
	groups                          []uint16
	leaf, client                    string
	over                            string
	minimumRSA, size, rounds, total int
	threads, streams                int
	freshConfigs, long              bool
}

func readCases() ([]*kase, error) {
	content, err := os.ReadFile(filepath.Join("tests", "performance", "cases.txt"))
	if err != nil {
		return nil, err
	}
	var cases []*kase
	for text := range strings.Lines(string(content)) {
		words := strings.Fields(text)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		c, err := readCase(words)
		if err != nil {
			return nil, fmt.Errorf("cases.txt: %s: %w", words[0], err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

func readCase(words []string) (*kase, error) {
	if len(words) < 2 || kinds[words[1]] == nil {
		return nil, fmt.Errorf("no kind that is known")
	}
	c := &kase{name: words[0], kind: words[1], version: securestream.VersionTLS13,
		groups: []uint16{securestream.X25519, securestream.CurveP256}, leaf: "server-p256",
		over: "memory", rounds: 1, threads: 1}
	for _, pair := range words[2:] {
		key, value, _ := strings.Cut(pair, "=")
		if err := c.set(key, value); err != nil {
			return nil, fmt.Errorf("%s: %w", pair, err)
		}
	}
	if fault := c.fault(); fault != "" {
		return nil, errors.New(fault)
	}
	return c, nil
}

const mostThreads = 16

// fault is what section 1 does not allow; "": nothing.
func (c *kase) fault() string {
	handshake, echo, idle := c.kind == "handshake", c.kind == "echo", c.kind == "idle"
	sized := !handshake && !idle && c.kind != "resumed"
	resumes := c.kind == "resumed" || c.kind == "early"
	threads := 1
	if (handshake || echo) && !c.freshConfigs {
		threads = mostThreads
	}
	switch {
	case sized != (c.size > 0):
		return "size"
	case resumes && (c.client != "" || c.minimumRSA != 0):
		return "resumption"
	case c.kind == "transfer" && (c.total == 0 || c.total%c.size != 0):
		return "total is no multiple of size"
	case !handshake && (c.over != "memory" || c.freshConfigs):
		return "no handshake"
	case c.threads > threads:
		return "threads"
	case c.streams%2 != 0 || c.streams > 0 && !handshake && !echo && !idle || idle && c.streams == 0:
		return "streams"
	}
	return ""
}

func (c *kase) set(key, value string) (err error) {
	switch key {
	case "version":
		versions := map[string]uint16{"1.2": securestream.VersionTLS12, "1.3": securestream.VersionTLS13}
		if c.version = versions[value]; c.version == 0 {
			return fmt.Errorf("no version")
		}
	case "groups":
		c.groups, err = support.Numbers(support.Groups, strings.Split(value, ","))
	case "leaf":
		c.leaf = value
	case "client":
		c.client = value
	case "minimum_rsa":
		c.minimumRSA, err = number(value)
	case "size":
		c.size, err = number(value)
	case "rounds":
		c.rounds, err = number(value)
	case "total":
		c.total, err = number(value)
	case "threads":
		c.threads, err = number(value)
	case "streams":
		c.streams, err = number(value)
	case "over":
		if c.over = value; !slices.Contains([]string{"memory", "pipe", "ipv4", "ipv6"}, value) {
			return errors.New("no transport")
		}
	case "configs":
		if c.freshConfigs = value == "fresh"; !c.freshConfigs && value != "shared" {
			return errors.New("shared or fresh")
		}
	case "run":
		if c.long = value == "long"; !c.long {
			return errors.New("long")
		}
	default:
		return fmt.Errorf("unknown key")
	}
	return err
}

func number(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err == nil && n < 1 {
		err = fmt.Errorf("not above 0")
	}
	return n, err
}
