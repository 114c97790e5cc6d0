// Performance measures the cases of tests/performance from Go (README.md, section 6).
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// result is a line that is printed (README.md, section 5). The library's allocations are those that C counts.
type result struct {
	Case                   string   `json:"case"`
	Language               string   `json:"language"`
	NsPerOp                float64  `json:"ns_per_op"`
	NsMedian               float64  `json:"ns_median"`
	Ops                    int      `json:"ops"`
	LibraryAllocations     *float64 `json:"library_allocations"`
	LibraryBytes           *float64 `json:"library_bytes"`
	LanguageAllocations    *float64 `json:"language_allocations"`
	LanguageBytes          *float64 `json:"language_bytes"`
	BytesPerS              *float64 `json:"bytes_per_s"`
	PerS                   *float64 `json:"per_s"`
	BytesPerClient         *float64 `json:"bytes_per_client"`
	BytesPerServer         *float64 `json:"bytes_per_server"`
	LanguageBytesPerStream *float64 `json:"language_bytes_per_stream"`
	PeakRSS                *float64 `json:"peak_rss"`
}

const (
	passes    = 10
	fewPasses = 3 // where one op takes longer than a pass should
	warmUp    = 50 * time.Millisecond
)

// begin makes what is measured.
func (c *kase) begin() (work, error) {
	p, err := c.party()
	if err != nil {
		return nil, err
	}
	return kinds[c.kind].begin(c, p)
}

// timed is what an op of a pass takes.
func timed(w work, n int) (time.Duration, error) {
	begin := time.Now()
	err := w.pass(n)
	return time.Since(begin), err
}

// warmedUp repeats single ops and returns what the quickest took.
func warmedUp(w work) (best time.Duration, err error) {
	best = time.Hour
	for begin := time.Now(); ; {
		took, err := timed(w, 1)
		if err != nil {
			return 0, err
		}
		best = min(best, took)
		if time.Since(begin) >= warmUp {
			return best, nil
		}
	}
}

// measure does what README.md, section 4, says.
func (c *kase) measure(ms int) (*result, error) {
	w, err := c.begin()
	if err != nil {
		return nil, err
	}
	defer w.end()
	r := &result{Case: c.name, Language: "Go"}
	if held, ok := w.(*idle); ok {
		err = r.weighed(held, c.streams/2)
	} else {
		err = r.repeated(w, ms)
	}
	r.BytesPerS, r.PerS = r.perSecond(kinds[c.kind].bytes, c), r.perSecond(kinds[c.kind].things, c)
	return r, err
}

func (r *result) perSecond(inOp func(*kase) int, c *kase) *float64 {
	if inOp == nil {
		return nil
	}
	rate := float64(inOp(c)) * 1e9 / r.NsPerOp
	return &rate
}

func (r *result) repeated(w work, ms int) error {
	once, err := warmedUp(w)
	if err != nil {
		return err
	}
	pass := time.Duration(ms) * time.Millisecond / passes
	n, count := max(1, int(pass/max(once, 1))), passes
	if once > pass {
		count = fewPasses
	}
	taken := make([]float64, count)
	for i := range taken {
		took, err := timed(w, n)
		if err != nil {
			return err
		}
		taken[i] = float64(took.Nanoseconds()) / float64(n)
	}
	slices.Sort(taken)
	r.NsPerOp, r.NsMedian, r.Ops = taken[0], taken[count/2], n
	return r.count(w, n)
}

// weighed makes one pass, of n pairs.
func (r *result) weighed(w *idle, n int) error {
	took, err := timed(w, n)
	if err != nil {
		return err
	}
	r.NsPerOp = float64(took.Nanoseconds()) / float64(n)
	r.NsMedian, r.Ops = r.NsPerOp, n
	w.weigh(r)
	return nil
}

// count counts what the runtime allocates in a pass.
func (r *result) count(w work, n int) error {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := w.pass(n)
	runtime.ReadMemStats(&after)
	allocations := float64(after.Mallocs-before.Mallocs) / float64(n)
	bytes := float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	r.LanguageAllocations, r.LanguageBytes = &allocations, &bytes
	return err
}

func run(cases []*kase, ms int) int {
	code := 0
	for _, c := range cases {
		r, err := c.measure(ms)
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(r)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", c.name, err)
			code = 1
		}
	}
	return code
}

func runNamed(cases []*kase, names []string, ms int) int {
	code := 0
	for _, name := range names {
		at := slices.IndexFunc(cases, func(c *kase) bool { return c.name == name })
		if at < 0 {
			fmt.Fprintf(os.Stderr, "no case '%s'\n", name)
			code = 1
			continue
		}
		code = max(code, run(cases[at:at+1], ms))
	}
	return code
}

func perform(arguments []string) int {
	ms := 500
	if len(arguments) > 1 && arguments[0] == "--ms" {
		n, err := strconv.Atoi(arguments[1])
		if err != nil || n < 1 {
			fmt.Fprintf(os.Stderr, "--ms: no number of milliseconds: %s\n", arguments[1])
			return 2
		}
		ms, arguments = n, arguments[2:]
	}
	cases, err := readCases()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	switch {
	case len(arguments) == 1 && arguments[0] == "--list":
		for _, c := range cases {
			fmt.Println(c.name)
		}
		return 0
	case len(arguments) > 1 && arguments[0] == "--run":
		return runNamed(cases, arguments[1:], ms)
	case len(arguments) == 1 && arguments[0] == "--run-all":
		return run(slices.DeleteFunc(cases, func(c *kase) bool { return c.long }), ms)
	}
	fmt.Fprintln(os.Stderr, "usage: run [--ms N] --list | --run CASE ... | --run-all")
	return 2
}

func main() { os.Exit(perform(os.Args[1:])) }
