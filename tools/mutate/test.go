package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// An outcome is what `go test` did.
type outcome struct {
	passed int    // tests, subtests included
	failed string // the first test that failed; the package where none did
	unread string // what the compiler says of code that does not compile
	output string // of the last package that failed
}

// event is a line of `go test -json`.
type event struct{ Action, Package, Test, Output string }

// goTest runs tests in a folder, with more flags. An error is a test run that did not take place; a test that fails is
// an outcome.
func goTest(ctx context.Context, dir string, limit time.Duration, r *row, more ...string) (outcome, error) {
	// Without symbols for debuggers, linking takes a quarter less.
	args := append([]string{"test", "-json", "-failfast", "-vet=off", "-ldflags=-s -w",
		"-timeout", limit.String()}, more...)
	if r.short {
		args = append(args, "-short")
	}
	if r.run != "" {
		args = append(args, "-run", r.run)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, r.packages...)...)
	var out, problems bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &problems
	// The go command leaves an interrupt to the tests that it runs: all of them are one group, which is told together.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what a test left behind; usually nothing, which is no error
	}
	if ctx.Err() != nil {
		return outcome{}, ctx.Err()
	}
	o := read(out.String())
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		return o, err
	case err != nil && o.failed == "" && o.unread == "":
		return o, fmt.Errorf("go test %s: %w\n%s", r.tests(), err, problems.String())
	}
	return o, nil
}

// read reads what go test prints.
func read(text string) (o outcome) {
	var broken, said strings.Builder
	whole := "" // a package that failed
	for line := range strings.Lines(text) {
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			continue // output of the go command itself
		}
		switch e.Action {
		case "pass":
			if e.Test != "" {
				o.passed++
			}
		case "fail":
			if e.Test != "" && o.failed == "" {
				o.failed = e.Test
			} else if e.Test == "" {
				whole = e.Package
			}
		case "build-output":
			broken.WriteString(e.Output)
		case "build-fail":
			o.unread = broken.String()
		case "output":
			said.WriteString(e.Output)
		}
	}
	o.output = said.String()
	if o.failed == "" && o.unread == "" {
		o.failed = whole
		if m := hung.FindStringSubmatch(o.output); m != nil {
			o.failed = m[1] + ", which hangs"
		}
	}
	return o
}

// hung is what a package says whose tests took too long: no test of it fails then.
var hung = regexp.MustCompile(`running tests:\s+(\S+) \(`)
