package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// scenario is a file (README.md, section 1).
type scenario struct {
	name     string // of the file, without .scn
	variants []variants
	repeat   int
	lines    []line
}

type variants struct {
	name   string
	values []string
}

type line struct {
	number   int // in the file
	verb     string
	sentence string // as it stands there
}

// kase is one choice of a value for each name of variants.
type kase struct {
	*scenario
	variant string
	values  map[string]string
}

// readScenarios reads every .scn of a folder, by name.
func readScenarios(folder string) ([]*scenario, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.scn"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no scenarios in %s", folder)
	}
	all := make([]*scenario, len(paths))
	for i, path := range paths {
		all[i] = &scenario{name: strings.TrimSuffix(filepath.Base(path), ".scn"), repeat: 1}
		if err := all[i].read(path); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b *scenario) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

func (s *scenario) read(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if strings.Trim(s.name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return fmt.Errorf("%s: a name has the characters a-z, 0-9 and _", path)
	}
	title, prose := false, true
	for i, text := range strings.Split(string(content), "\n") {
		first, rest := firstWord(text)
		switch {
		case strings.HasPrefix(first, "#"):
		case !title:
			title = first != ""
			if !title {
				return fmt.Errorf("%s:%d: line 1 is the title", path, i+1)
			}
		case first == "":
			prose = false
		case !prose:
			if err := s.add(i+1, first, rest); err != nil {
				return fmt.Errorf("%s:%d: %w", path, i+1, err)
			}
		}
	}
	if len(s.lines) == 0 {
		return fmt.Errorf("%s: there are no steps", path)
	}
	if err := s.check(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func firstWord(line string) (first, rest string) {
	line = strings.Trim(line, blanks)
	end := strings.IndexAny(line, blanks)
	if end < 0 {
		return line, ""
	}
	return line[:end], strings.TrimLeft(line[end:], blanks)
}

// add takes a line that is a header or a step.
func (s *scenario) add(number int, first, rest string) error {
	if first == "variants:" || first == "repeat:" {
		if len(s.lines) > 0 {
			return fmt.Errorf("every header line stands before the first step")
		}
		if first == "variants:" {
			return s.addVariants(rest)
		}
		n, ok := decimal(rest)
		if !ok || n == 0 {
			return fmt.Errorf("repeat: needs a number")
		}
		s.repeat = n
		return nil
	}
	before := "given"
	if len(s.lines) > 0 {
		before = s.lines[len(s.lines)-1].verb
	} else if first == "and" {
		return fmt.Errorf("'and' stands behind another step")
	}
	verb := first
	if first == "and" {
		verb = before
	}
	switch {
	case verb != "given" && verb != "when" && verb != "then":
		return fmt.Errorf("'%s' is no verb", first)
	case verb == "given" && before != "given":
		return fmt.Errorf("given steps come first")
	case rest == "":
		return fmt.Errorf("a verb without a sentence")
	}
	s.lines = append(s.lines, line{number, verb, rest})
	return nil
}

func (s *scenario) addVariants(rest string) error {
	tokens, err := cut(rest)
	if err != nil {
		return err
	}
	if len(tokens) < 2 || len(tokens)%2 != 0 || tokens[0].kind != word {
		return fmt.Errorf("variants: needs a name and values")
	}
	at := slices.IndexFunc(s.variants, func(v variants) bool { return v.name == tokens[0].value })
	if at < 0 {
		at = len(s.variants)
		s.variants = append(s.variants, variants{name: tokens[0].value})
	}
	for i, t := range tokens[1:] {
		if (t.kind == comma) != (i%2 == 1) {
			return fmt.Errorf("values are separated by commas")
		}
		if t.kind != comma {
			s.variants[at].values = append(s.variants[at].values, t.value)
		}
	}
	return nil
}

// check finds names that two cases have, and values that mean nothing.
func (s *scenario) check() error {
	seen := make(map[string]bool)
	for _, c := range s.cases() {
		if seen[c.variant] {
			return fmt.Errorf("two cases are called %s", c.variant)
		}
		seen[c.variant] = true
		_, chunk := amount(c.values["chunk"], "whole")
		_, room := amount(c.values["room"], "plenty")
		version := c.values["version"]
		if !chunk || !room || version != "" && version != "1.2" && version != "1.3" {
			return fmt.Errorf("a value of version, chunk or room that means nothing, in %s", c.variant)
		}
	}
	return nil
}

// cases are all choices; the value of the last name changes first.
func (s *scenario) cases() []kase {
	all := []kase{{scenario: s, variant: "once", values: map[string]string{}}}
	for i, v := range s.variants {
		var more []kase
		for _, c := range all {
			for _, value := range v.values {
				next := kase{s, valueName(v.name, value), map[string]string{v.name: value}}
				for name, chosen := range c.values {
					next.values[name] = chosen
				}
				if i > 0 {
					next.variant = c.variant + "_" + next.variant
				}
				more = append(more, next)
			}
		}
		all = more
	}
	return all
}

// valueName is what stands for a value in the name of a case (section 2).
func valueName(name, value string) string {
	_, number := decimal(value)
	switch {
	case name == "version" && value == "1.2":
		return "tls12"
	case name == "version" && value == "1.3":
		return "tls13"
	case name == "chunk" && value == "byte":
		return "bytewise"
	case (name == "chunk" || name == "room") && number:
		return name + "_" + value
	}
	var b strings.Builder
	other := false
	for _, c := range []byte(value) {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		plain := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		if plain {
			b.WriteByte(c)
		} else if !other {
			b.WriteByte('_')
		}
		other = !plain
	}
	return b.String()
}

// sentence puts the chosen values in place of <name>.
func (c kase) sentence(l line) (string, error) {
	var b strings.Builder
	rest := l.sentence
	for {
		before, behind, found := strings.Cut(rest, "<")
		name, after, closed := strings.Cut(behind, ">")
		if !found || !closed {
			b.WriteString(rest)
			return b.String(), nil
		}
		value, known := c.values[name]
		if !known {
			return "", fmt.Errorf("no variants: line has the name <%s>", name)
		}
		b.WriteString(before + value)
		rest = after
	}
}
