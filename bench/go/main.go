// Bench_go is crypto/tls behind the line protocol of bench/ (README.md): bench_go DATA.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"log"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// job does n ops.
type job func(n int) error

// cpuTime is that of the process: the garbage collector's threads work for crypto/tls too.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func newJob(data, kind, argument string) job {
	switch kind {
	case "move":
		return newMove(data, must(strconv.Atoi(argument)))
	case "resumed":
		c := newConfigs(data, argument, true)
		must(0, c.resume(false))
		return func(n int) error {
			for range n {
				if err := c.resume(true); err != nil {
					return err
				}
			}
			return nil
		}
	case "handshake":
		c := newConfigs(data, argument, false)
		return func(n int) error {
			for range n {
				if _, err := c.open(); err != nil {
					return err
				}
			}
			return nil
		}
	}
	log.Fatalf("no kind %s", kind)
	return nil
}

func newMove(data string, size int) job {
	p := must(newConfigs(data, "server-p256", false).open())
	plain, read := make([]byte, size), make([]byte, size)
	for i := range plain {
		plain[i] = byte(i*31 + i/251)
	}
	return func(n int) error {
		for range n {
			if err := move(p.client, p.server, plain, read); err != nil {
				return err
			}
		}
		if !bytes.Equal(plain, read) {
			return fmt.Errorf("other bytes came than were sent")
		}
		clear(read)
		return nil
	}
}

// mallocs is what the runtime has allocated so far.
func mallocs() uint64 {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return now.Mallocs
}

func live() uint64 {
	var now runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&now)
	return now.HeapAlloc
}

// idle prints the bytes of a pair of streams after handshake and echo: the heap does not tell whose they are.
func idle(data, leaf string, n int) {
	c := newConfigs(data, leaf, false)
	plain, read := make([]byte, record), make([]byte, record)
	pairs := make([]*pair, n)
	before := live()
	for i := range pairs {
		pairs[i] = must(c.open())
		for _, err := range []error{move(pairs[i].client, pairs[i].server, plain, read),
			move(pairs[i].server, pairs[i].client, plain, read)} {
			if err != nil {
				log.Fatal(err)
			}
		}
		pairs[i].dropWires()
	}
	fmt.Printf("%.1f\n", float64(live()-before)/float64(n))
	runtime.KeepAlive(pairs)
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: bench_go DATA")
	}
	jobs := map[string]job{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) != 5 || words[1] != "go" {
			log.Fatalf("not a request: %s", lines.Text())
		}
		n := must(strconv.Atoi(words[4]))
		if words[0] == "idle" {
			idle(os.Args[1], words[3], n)
			continue
		}
		name := words[2] + " " + words[3]
		if jobs[name] == nil {
			jobs[name] = newJob(os.Args[1], words[2], words[3])
		}
		before, allocated := cpuTime(), mallocsIf(words[0] == "count")
		if err := jobs[name](n); err != nil {
			log.Fatal(err)
		}
		if words[0] == "count" {
			fmt.Printf("%.4f\n", float64(mallocs()-allocated)/float64(n))
		} else {
			fmt.Println((cpuTime() - before).Nanoseconds())
		}
	}
}

// mallocsIf is mallocs, which stops the world, where it is asked for.
func mallocsIf(wanted bool) uint64 {
	if !wanted {
		return 0
	}
	return mallocs()
}
