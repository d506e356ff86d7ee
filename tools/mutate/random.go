package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// share is how many of a hundred random mutations the tests have to find; those that are known to change nothing do not
// count.
const share = 85

// A lottery draws mutations from the whole product and tries them.
type lottery struct {
	dir    string
	seed   uint64
	draws  int
	from   *regexp.Regexp // the files that lines are drawn from
	only   *regexp.Regexp // of the mutations that were drawn, by file and line, which are tried
	limit  time.Duration  // of the tests of one package
	budget time.Duration  // of one mutation: a package whose turn comes later is not tested
	short  bool           // go test -short
	atOnce int

	reach reach
	sound sync.Map // tests that are known to pass without a mutation
}

// A draw is a mutation that was drawn.
type draw struct {
	row
	home   string // the import path of its package
	line   int
	reason string // why no test can notice it; "" where one should
}

// draw draws lines, and of each line one of its mutations.
func (l *lottery) draw(ctx context.Context) ([]draw, error) {
	p, err := readProduct(ctx, l.dir)
	if err != nil {
		return nil, err
	}
	places, err := p.places()
	if err != nil {
		return nil, err
	}
	places = slices.DeleteFunc(places, func(at place) bool { return !l.from.MatchString(at.file) })
	l.reach.covered = p.covered()
	equivalents, err := l.equivalents()
	if err != nil {
		return nil, err
	}
	var list []draw
	random := rand.New(rand.NewPCG(l.seed, 0))
	for _, i := range random.Perm(len(places))[:min(l.draws, len(places))] {
		at := &places[i]
		e := at.edits[random.IntN(len(at.edits))]
		d := draw{row: rowOf(at.file, at.code, e)}
		d.short, d.home, d.line = l.short, at.of.ImportPath, 1+strings.Count(at.code[:e.from], "\n")
		if at.of.hasTests() {
			d.packages = append(d.packages, at.of.ImportPath)
		}
		d.packages = append(d.packages, at.of.importers...)
		mutated := at.code[:e.from] + e.with + at.code[e.to:]
		for k := range equivalents {
			if other := &equivalents[k]; other.file == at.file {
				if same, _, err := other.apply(at.code); err == nil && same == mutated {
					d.reason = other.what
				}
			}
		}
		if l.only.MatchString(d.at) {
			list = append(list, d)
		}
	}
	return list, nil
}

// equivalents reads the list of mutations that change nothing that anybody could notice; each says why.
func (l *lottery) equivalents() ([]row, error) {
	name := filepath.Join(l.dir, "tools", "mutate", "equivalents.txt")
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parse(name, string(text))
}

// list prints what would be drawn.
func (l *lottery) list(draws []draw, out io.Writer) {
	fmt.Fprintf(out, "seed %d\n", l.seed)
	for i := range draws {
		d := &draws[i]
		fmt.Fprintf(out, "%s  %s\n%s", d.at, d.what, change(&d.row))
		if d.reason != "" {
			fmt.Fprintf(out, "    equivalent: %s\n", d.reason)
		}
	}
}

// A tally counts what became of the draws.
type tally struct{ killed, survived, timedOut, broken, equivalent int }

// all tries the draws, several at a time, and prints what became of each; the exit status is 1 where the tests find too
// few.
func (l *lottery) all(ctx context.Context, draws []draw, out io.Writer) (status int, err error) {
	scratch, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return 2, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	l.reach = reach{dir: l.dir, scratch: scratch, covered: l.reach.covered, limit: l.limit, short: l.short,
		known: map[string]*profile{}}
	t := &trial{dir: l.dir, scratch: scratch, limit: l.limit}
	fmt.Fprintf(out, "seed %d\n", l.seed)
	begun := time.Now()
	verdicts := make([]chan verdict, len(draws))
	for i := range verdicts {
		verdicts[i] = make(chan verdict, 1)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	free := make(chan struct{}, max(1, l.atOnce))
	go func() {
		for i := range draws {
			free <- struct{}{}
			go func() {
				if draws[i].reason == "" && ctx.Err() == nil {
					verdicts[i] <- l.try(ctx, t, &draws[i], i)
				} else {
					verdicts[i] <- verdict{}
				}
				<-free
			}()
		}
	}()
	var n tally
	for i := range draws {
		v := <-verdicts[i]
		switch {
		case ctx.Err() != nil:
			return 1, fmt.Errorf("stopped: %d of %d mutations were not tried", len(draws)-i, len(draws))
		case v.err != nil && !errors.Is(v.err, errDoesNotBuild) && !errors.Is(v.err, errTooSlow):
			return 2, v.err
		}
		n.note(&draws[i], &v, out)
	}
	fmt.Fprintf(out, "%d drawn with seed %d, in %s: %s", len(draws), l.seed, time.Since(begun).Round(time.Second), n)
	if n.tooFew() {
		return 1, nil
	}
	return 0, nil
}

// decided is how many draws tests found or missed. The percentage is of them: a draw whose tests timed out is neither.
func (n tally) decided() int { return n.killed + n.survived }

func (n tally) percent() float64 { return 100 * float64(n.killed) / float64(max(1, n.decided())) }

func (n tally) tooFew() bool { return n.decided() > 0 && n.percent() < share }

// String is the summary: every count, and which of them the percentage leaves out.
func (n tally) String() string {
	text := fmt.Sprintf("%d killed, %d survived, %d timed out, %d did not build, %d equivalent\n"+
		"tests find %.0f %% of %d (at least %d %% is asked for)", n.killed, n.survived, n.timedOut, n.broken, n.equivalent,
		n.percent(), n.decided(), share)
	if n.timedOut > 0 {
		text += fmt.Sprintf("; timed out and counted neither way: %d (-limit gives them longer)", n.timedOut)
	}
	return text + "\n"
}

// note counts a verdict and prints it.
func (n *tally) note(d *draw, v *verdict, out io.Writer) {
	switch {
	case d.reason != "":
		n.equivalent++
		fmt.Fprintf(out, "equivalent  %s  %s  (%s)\n", d.at, d.what, d.reason)
	case errors.Is(v.err, errDoesNotBuild):
		n.broken++
		fmt.Fprintf(out, "no build    %s  %s\n", d.at, d.what)
	case v.err != nil:
		n.timedOut++
		fmt.Fprintf(out, "timed out   %s  %s  (%s)\n", d.at, d.what, v.err)
	case v.killer != "":
		n.killed++
		fmt.Fprintf(out, "killed      %s  %s  (%s, %.1f s)\n", d.at, d.what, v.killer, v.took.Seconds())
	default:
		n.survived++
		fmt.Fprintf(out, "SURVIVED    %s  %s  (%.1f s)\n%s", d.at, d.what, v.took.Seconds(), change(&d.row))
	}
}

var (
	errDoesNotBuild = errors.New("the mutation does not compile")
	errTooSlow      = errors.New("tests take longer than -limit, and the one that was running does not hang")
)

// try runs the tests of the package and then those of each that imports it and executes the line, until one fails.
func (l *lottery) try(ctx context.Context, t *trial, d *draw, number int) (v verdict) {
	begun := time.Now()
	defer func() { v.took = time.Since(begun) }()
	overlay, _, err := t.write(&d.row, number)
	if err != nil {
		return verdict{err: err}
	}
	if !slices.Contains(d.packages, d.home) { // no test of it would compile it
		cmd := exec.CommandContext(ctx, "go", "build", "-o", os.DevNull, "-overlay", overlay, d.home)
		cmd.Dir = l.dir
		if err := cmd.Run(); err != nil {
			return verdict{err: errDoesNotBuild}
		}
	}
	for _, path := range d.packages {
		if path != d.home && time.Since(begun) > l.budget {
			break
		}
		if path != d.home && !l.reach.executes(ctx, path, d.home+"/"+filepath.Base(d.file), d.line) {
			continue
		}
		if v, decided := l.tryIn(ctx, overlay, path); decided {
			return v
		}
	}
	return verdict{}
}

// tryIn runs the tests of one package with a mutation; they decide where one fails, or where nothing can be said.
func (l *lottery) tryIn(ctx context.Context, overlay, path string) (v verdict, decided bool) {
	tests := &row{packages: []string{path}, short: l.short}
	mutated := func() (outcome, error) {
		return goTest(ctx, l.dir, l.limit, tests, "-count=1", "-overlay", overlay)
	}
	o, err := mutated()
	switch {
	case err != nil:
		return verdict{err: err}, true
	case o.unread != "":
		return verdict{err: errDoesNotBuild}, true
	case o.failed == "":
		return verdict{}, false
	}
	name, hangs := strings.CutSuffix(o.failed, ", which hangs")
	if name, _, _ = strings.Cut(name, "/"); strings.HasPrefix(name, "Test") {
		tests.run = "^" + name + "$"
	}
	if hangs { // or the machine is slow: the test that was running when the time was up tells
		switch alone, err := mutated(); {
		case err != nil:
			return verdict{err: err}, true
		case alone.failed == "":
			return verdict{err: fmt.Errorf("%w: %s", errTooSlow, path)}, true
		}
	}
	// A test that fails without the mutation too has not noticed it.
	if _, known := l.sound.Load(tests.tests()); !known {
		switch same, err := goTest(ctx, l.dir, l.limit, tests, "-count=1"); {
		case err != nil:
			return verdict{err: err}, true
		case cmp.Or(same.failed, same.unread) != "":
			fmt.Fprintf(os.Stderr, "%s: %s fails without a mutation, too: it counts as passed\n", path, same.failed)
			return verdict{}, false
		}
		l.sound.Store(tests.tests(), true)
	}
	return verdict{killer: path[strings.IndexByte(path, '/')+1:] + " " + o.failed}, true
}
