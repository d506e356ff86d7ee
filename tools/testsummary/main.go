// Command testsummary runs "go test -json" in one module after another and prints a readable account as the tests go:
//
//	go run tools/testsummary/main.go DIR[:PACKAGE,...]... -- [go test arguments]
//
// The packages that stand behind a module begin before those of "./...": a long one that begins last runs alone at the
// end.
//
// A failing test's output appears when it fails, a report of the race detector when it is complete, a package's result
// when go test prints it. The end lists what failed and what was skipped, with reasons, and closes with a line
//
//	123 passed, 0 failed, 4 skipped
//
// A test that has subtests is counted by its subtests. A package that fails without a failing test (it does not build,
// it exits by itself) counts as one failure, so the exit status is 0 exactly when the line says "0 failed" and some
// test ran.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run is main with its surroundings as arguments; it returns the exit status. When ctx is done it interrupts go test
// and starts no further module.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	dirs, testArgs := args, []string{"./..."}
	if i := slices.Index(args, "--"); i >= 0 {
		dirs, testArgs = args[:i], args[i+1:]
	}
	if len(dirs) == 0 {
		fmt.Fprintln(stderr, "usage: testsummary DIR[:PACKAGE,...]... -- [go test arguments]")
		return 2
	}
	s := &summary{out: stdout, packages: map[string]*pkg{}}
	for _, dir := range dirs {
		if ctx.Err() != nil {
			break
		}
		before := len(s.failures)
		if err := s.test(ctx, dir, testArgs, stderr); err != nil && len(s.failures) == before {
			s.failures = append(s.failures, fmt.Sprintf("go test in %s: %v", dir, err))
		}
	}
	return s.close()
}

// An event is one line of go test -json; the fields are described in "go doc test2json" and "go help buildjson".
type event struct {
	Action      string
	Package     string
	Test        string
	Output      string
	FailedBuild string
	Elapsed     float64 // seconds
}

// A summary collects what the closing lines say.
type summary struct {
	out      io.Writer
	packages map[string]*pkg
	passed   int
	failures []string
	skips    []string
}

// A pkg is a package under test; go test runs several at a time.
type pkg struct {
	output  strings.Builder // what belongs to no test
	tests   map[string]*test
	order   []string // of the tests, as they started
	failed  int
	race    strings.Builder // a report of the race detector, until its last line has come
	inRace  bool
	blaming string // the test that ran when the report began, which need not be at fault
}

type test struct {
	output      strings.Builder
	hasSubtests bool
	failedBelow bool // a subtest has failed
	done        bool
}

// test runs go test in the module at dir and reads its events to the end.
func (s *summary) test(ctx context.Context, module string, args []string, stderr io.Writer) error {
	dir, long, hasLong := strings.Cut(module, ":")
	if all := slices.Index(args, "./..."); hasLong && all >= 0 {
		args = slices.Insert(slices.Clone(args), all, strings.Split(long, ",")...)
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, stderr
	// go test ends its children itself when interrupted; what ran until then is still worth its summary.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := s.read(events)
	return errors.Join(readErr, cmd.Wait())
}

// read consumes go test's standard output: events, one JSON object on a line, and now and then plain text.
func (s *summary) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &e) != nil {
				fmt.Fprintf(s.out, "%s", line)
			} else {
				s.handle(e)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) handle(e event) {
	if e.Action == "build-output" { // has no Package
		fmt.Fprint(s.out, e.Output)
		return
	}
	if e.Package == "" {
		return
	}
	p := s.packages[e.Package]
	if p == nil {
		p = &pkg{tests: map[string]*test{}}
		s.packages[e.Package] = p
	}
	switch e.Action {
	case "run":
		p.start(e.Test)
	case "output":
		s.output(p, e)
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.endPackage(p, e)
			delete(s.packages, e.Package)
		} else {
			s.endTest(p, e)
		}
	}
}

func (p *pkg) start(name string) *test {
	t := &test{}
	p.tests[name] = t
	p.order = append(p.order, name)
	if parent := p.parent(name); parent != nil {
		parent.hasSubtests = true
	}
	return t
}

// parent finds the test that name is a subtest of. A subtest's own name may hold slashes.
func (p *pkg) parent(name string) *test {
	for {
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			return nil
		}
		name = name[:i]
		if t := p.tests[name]; t != nil {
			return t
		}
	}
}

const raceRule = "=================="

// output keeps a line until it is known whether anybody wants to read it. Lines of the race detector are wanted
// always, and in one piece: go test gives them to whichever test printed last, and that one may well pass.
func (s *summary) output(p *pkg, e event) {
	line := e.Output
	switch {
	case isFraming(line):
	case strings.HasPrefix(line, "WARNING: DATA RACE"):
		p.inRace, p.blaming = true, e.Test
		p.race.WriteString(line)
		return
	case p.inRace && strings.HasPrefix(line, raceRule):
		s.flushRace(p, e.Package)
		return
	case p.inRace:
		p.race.WriteString(line)
		return
	}
	if e.Test == "" {
		p.output.WriteString(line)
		return
	}
	t := p.tests[e.Test]
	if t == nil {
		t = p.start(e.Test)
	}
	t.output.WriteString(line)
}

func (s *summary) flushRace(p *pkg, name string) {
	if !p.inRace {
		return
	}
	fmt.Fprintf(s.out, "--- RACE: %s %s\n%s", name, p.blaming, p.race.String())
	p.race.Reset()
	p.inRace = false
}

// isFraming tells the lines by which a test binary says which test is speaking or has ended.
func isFraming(line string) bool {
	trimmed := strings.TrimLeft(line, " ")
	for _, prefix := range []string{"=== ", "--- PASS: ", "--- FAIL: ", "--- SKIP: ", "--- BENCH: "} {
		if strings.HasPrefix(trimmed, prefix) {
			return true
		}
	}
	return false
}

// text is what the test itself said.
func (t *test) text() string {
	var text strings.Builder
	for line := range strings.Lines(t.output.String()) {
		if !isFraming(line) && line != raceRule+"\n" {
			text.WriteString(line)
		}
	}
	return text.String()
}

func (s *summary) endTest(p *pkg, e event) {
	t := p.tests[e.Test]
	if t == nil {
		t = p.start(e.Test)
	}
	t.done = true
	switch e.Action {
	case "pass":
		if !t.hasSubtests {
			s.passed++
		}
	case "skip":
		s.skips = append(s.skips, fmt.Sprintf("%s %s: %s", e.Package, e.Test, reason(t.text())))
	case "fail":
		s.fail(p, t, e.Package, e.Test, fmt.Sprintf("%.2fs", e.Elapsed))
	}
	t.output.Reset() // a long run need not hold what nobody will read
}

// fail prints a failed test and counts it, unless it failed only because a subtest did.
func (s *summary) fail(p *pkg, t *test, pkgName, name, ending string) {
	if parent := p.parent(name); parent != nil {
		parent.failedBelow = true
	}
	p.failed++
	text := t.text()
	if t.failedBelow && text == "" {
		return
	}
	fmt.Fprintf(s.out, "--- FAIL: %s %s (%s)\n%s", pkgName, name, ending, text)
	if !t.failedBelow {
		s.failures = append(s.failures, pkgName+" "+name)
	}
}

func (s *summary) endPackage(p *pkg, e event) {
	s.flushRace(p, e.Package)
	if e.Action == "skip" { // no test files
		return
	}
	if e.Action == "fail" {
		for _, name := range slices.Backward(p.order) { // subtests before their parents
			if t := p.tests[name]; !t.done {
				s.fail(p, t, e.Package, name, "did not finish")
			}
		}
	}
	for line := range strings.Lines(p.output.String()) {
		result := strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "FAIL\t")
		if result || e.Action == "fail" && line != "PASS\n" && line != "FAIL\n" && line != raceRule+"\n" {
			fmt.Fprint(s.out, line)
		}
	}
	if e.Action == "fail" && p.failed == 0 {
		why := "failed outside its tests"
		if e.FailedBuild != "" {
			why = "does not build"
		}
		s.failures = append(s.failures, e.Package+" "+why)
	}
}

var logLine = regexp.MustCompile(`^\s*[^\s:]+\.go:\d+: (.*)`)

// reason is what a skipped test logged last, with its continuation lines, on one line.
func reason(text string) string {
	words := ""
	for line := range strings.Lines(text) {
		if m := logLine.FindStringSubmatch(line); m != nil {
			words = m[1]
		} else if words != "" {
			words += " " + strings.TrimSpace(line)
		}
	}
	if words == "" {
		return "no reason given"
	}
	return strings.TrimSpace(words)
}

// close prints the lists and the closing line, and returns the exit status.
func (s *summary) close() int {
	if len(s.skips) > 0 {
		slices.Sort(s.skips)
		fmt.Fprintf(s.out, "\nskipped:\n  %s\n", strings.Join(s.skips, "\n  "))
	}
	if len(s.failures) > 0 {
		fmt.Fprintf(s.out, "\nfailed:\n  %s\n", strings.Join(s.failures, "\n  "))
	}
	ran := s.passed + len(s.failures) + len(s.skips)
	if ran == 0 {
		fmt.Fprintln(s.out, "\nno test ran")
	}
	fmt.Fprintf(s.out, "\n%d passed, %d failed, %d skipped\n", s.passed, len(s.failures), len(s.skips))
	if len(s.failures) > 0 || ran == 0 {
		return 1
	}
	return 0
}
