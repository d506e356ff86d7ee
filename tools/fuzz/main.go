// Command fuzz runs every fuzz target of this module for a while, one after the other, and prints what each did:
//
//	go run ./tools/fuzz -time 60s [-only REGEXP] [PACKAGE...]
//
// An input that fails is kept as a seed, under testdata/fuzz of its package, and the exit status is 1 then. A target
// that does fewer than -least executions a second is marked: its seeds are too large, or its target too slow, to find
// anything.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		status = 2
	}
	os.Exit(status)
}

// A target is a fuzz function.
type target struct{ pkg, name string }

// A result is what a target did.
type result struct {
	executions int64
	seconds    float64
	found      bool // an input that fails
	output     string
}

func run(ctx context.Context, args []string, out io.Writer) (status int, err error) {
	flags := flag.NewFlagSet("fuzz", flag.ContinueOnError)
	each := flags.Duration("time", time.Minute, "how long each target runs")
	only := flags.String("only", "", "run targets whose package and name match this `expression`")
	least := flags.Int64("least", 20, "executions a second below which a target is marked")
	if err := flags.Parse(args); err != nil {
		return 2, err
	}
	packages := flags.Args()
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return 2, err
	}
	targets, err := list(ctx, packages)
	if err != nil {
		return 2, err
	}
	ran := 0
	for _, t := range targets {
		if !chosen.MatchString(t.pkg + "." + t.name) {
			continue
		}
		ran++
		r, err := t.run(ctx, *each)
		if err != nil {
			return 2, err
		}
		perSecond := int64(float64(r.executions) / max(r.seconds, 1))
		note := ""
		switch {
		case r.found:
			note, status = "  FAILS", 1
		case perSecond < *least:
			note = "  slow"
		}
		fmt.Fprintf(out, "%10d executions  %7d/s  %s.%s%s\n", r.executions, perSecond, t.pkg, t.name, note)
		if r.found {
			fmt.Fprintln(out, r.output)
		}
	}
	if ran == 0 {
		return 2, errors.New("no target matches")
	}
	return status, nil
}

// list finds all targets of the packages.
func list(ctx context.Context, packages []string) ([]target, error) {
	text, err := goTest(ctx, append([]string{"-list", "^Fuzz"}, packages...)...)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	var targets []target
	var names []string
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 1 && strings.HasPrefix(fields[0], "Fuzz"):
			names = append(names, fields[0])
		case len(fields) >= 2 && fields[0] == "ok":
			for _, name := range names {
				targets = append(targets, target{fields[1], name})
			}
			names = nil
		}
	}
	return targets, nil
}

// run runs a target for a while. Inputs that reach new code are made smaller in a few steps only: with the default, a
// minute for each, targets of large inputs do little else.
func (t target) run(ctx context.Context, each time.Duration) (result, error) {
	text, err := goTest(ctx, "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", each.String(),
		"-fuzzminimizetime", "5x", t.pkg)
	if ctx.Err() != nil {
		return result{}, ctx.Err()
	}
	r := parse(text)
	r.found = err != nil
	return r, nil
}

// progress is what the fuzzer says every three seconds: "fuzz: elapsed: 3s, execs: 9876 (3291/sec), new interesting: 0
// (total: 5)".
var progress = regexp.MustCompile(`^fuzz: elapsed: (\S+), execs: (\d+) `)

func parse(text string) result {
	r := result{output: text}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		m := progress.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		elapsed, err := time.ParseDuration(m[1])
		if err != nil {
			continue
		}
		r.executions, _ = strconv.ParseInt(m[2], 10, 64)
		r.seconds = elapsed.Seconds()
	}
	return r
}

func goTest(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test"}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	err := cmd.Run()
	return out.String(), err
}
