package main

import (
	"path/filepath"

	"securestream.example/securestream/sessions"
	"securestream.example/tests/go/support"
)

// resumed is the work of resumed and early.
type resumed struct{ *sessions.Resumer }

func (c *kase) beginResumed(*party) (work, error) {
	path := func(file string) string { return filepath.Join("tests", "data", file) }
	r, err := sessions.New(sessions.Settings{Version: c.version, Groups: c.groups, Chain: path(c.leaf + ".pem"),
		Key: path(c.leaf + ".key"), Anchor: path("root.pem"), VerifyTime: support.Clock().Unix(),
		Early: support.Pattern(c.size)})
	return resumed{r}, err
}

func (r resumed) pass(n int) error { return r.Pass(n) }
func (r resumed) end()             { r.Close() }
