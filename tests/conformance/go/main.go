// Scenarios runs the scenarios of tests/conformance from Go (README.md, section 9).
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"

	"securestream.example/securestream"
)

// step is a line that was understood.
type step struct {
	line line
	do   func(*world)
}

// understand finds the form of every line.
func (c kase) understand() []step {
	forms := map[string][]form{"given": givenForms, "when": slices.Concat(whenForms, wireForms, resumingForms), "then": slices.Concat(thenForms, factForms, questionForms, sessionForms)}
	var steps []step
	for _, l := range c.lines {
		at := fmt.Sprintf("%s.scn:%d", c.name, l.number)
		sentence, err := c.sentence(l)
		require(err == nil, "%s: %v", at, err)
		tokens, err := cut(sentence)
		require(err == nil, "%s: %v: %s", at, err, sentence)
		do := find(forms[l.verb], tokens)
		require(do != nil, "%s: unknown step: %s %s", at, l.verb, sentence)
		steps = append(steps, step{l, do})
	}
	return steps
}

func find(forms []form, tokens []token) func(*world) {
	for _, f := range forms {
		c := &cursor{tokens: tokens}
		if m, ok := matchPattern(f.pattern, c); ok && c.done() {
			return func(w *world) { f.do(w, m) }
		}
	}
	return nil
}

// take takes all steps with new objects, and lets these go.
func (c kase) take(steps []step) {
	w := newWorld(c.values)
	defer func() {
		w.close()
		runtime.GC()
	}()
	for _, s := range steps {
		s.take(w, c.name)
	}
}

// take takes a step, and says where a failure was.
func (s step) take(w *world, name string) {
	defer func() {
		switch f := recover().(type) {
		case nil:
		case failure:
			fail("%s.scn:%d: %s", name, s.line.number, f)
		default:
			panic(f)
		}
	}()
	if s.line.verb != "given" {
		w.make()
	}
	s.do(w)
	w.takeEvents()
}

// run returns what failed; empty: nothing.
func (c kase) run() (message string) {
	defer func() {
		switch f := recover().(type) {
		case nil:
		case failure:
			message = string(f)
		default:
			message = fmt.Sprintf("%s.scn: the driver fails: %v\n%s", c.name, f, debug.Stack())
		}
	}()
	steps := c.understand()
	objects, bytes := securestream.LiveObjects(), 0
	for i := range c.repeat {
		c.take(steps)
		if i == 0 {
			bytes = securestream.AllocatedBytes()
		}
	}
	same(c.name+".scn: objects that live", securestream.LiveObjects(), objects)
	now := securestream.AllocatedBytes()
	require(now <= bytes, "%s.scn: %d bytes are allocated, %d after the first run", c.name, now, bytes)
	return ""
}

func runAll(scenarios []*scenario) int {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	code := 0
	for _, s := range scenarios {
		for _, c := range s.cases() {
			message, result := c.run(), "pass"
			if message != "" {
				result, code = "fail", 1
			}
			err := out.Encode(struct {
				Scenario string `json:"scenario"`
				Variant  string `json:"variant"`
				Result   string `json:"result"`
				Message  string `json:"message"`
			}{s.name, c.variant, result, message})
			if err != nil {
				return 2
			}
		}
	}
	return code
}

func runOne(scenarios []*scenario, name string) int {
	for _, s := range scenarios {
		for _, c := range s.cases() {
			if s.name+"."+c.variant != name {
				continue
			}
			if message := c.run(); message != "" {
				fmt.Println(message)
				return 1
			}
			return 0
		}
	}
	fmt.Fprintf(os.Stderr, "no case '%s'\n", name)
	return 1
}

func list(scenarios []*scenario) int {
	for _, s := range scenarios {
		for _, c := range s.cases() {
			fmt.Printf("%s.%s\n", s.name, c.variant)
		}
	}
	return 0
}

func perform(arguments []string) int {
	folder := filepath.Join("tests", "conformance")
	if len(arguments) > 1 && arguments[0] == "--in" {
		folder, arguments = arguments[1], arguments[2:]
	}
	scenarios, err := readScenarios(folder)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	switch {
	case len(arguments) == 1 && arguments[0] == "--list":
		return list(scenarios)
	case len(arguments) == 2 && arguments[0] == "--run":
		return runOne(scenarios, arguments[1])
	case len(arguments) == 1 && arguments[0] == "--run-all":
		return runAll(scenarios)
	}
	fmt.Fprintln(os.Stderr, "usage: run [--in FOLDER] --list | --run CASE | --run-all")
	return 2
}

func main() {
	runtime.LockOSThread() // BoringSSL keeps some bytes for each thread that has called it, which a leak is not
	os.Exit(perform(os.Args[1:]))
}
