// Command mutate breaks the code in one place at a time and fails where no test notices:
//
//	go run ./tools/mutate [-run REGEXP] [-list] [LIST...]
//	go run ./tools/mutate -diff COMMIT [-run REGEXP]
//	go run ./tools/mutate -random N [-only REGEXP] [-seed N] [-run REGEXP] [-list] [-short=false]
//
// The places are rows of tools/mutate/mutations/*.txt (list.go says how they are written). Each is tested with `go test
// -overlay`: the work tree is never changed. With -diff, gremlins makes mutations of the lines that changed since a
// commit. The exit status is 1 where a mutation survives or a row no longer fits the code.
//
// With -random, lines are drawn from the whole product, and each is changed by one of the operators of operators.go and
// sql.go: a condition or its boundary, a dropped statement, a returned truth, a clause of a query. The tests of the
// package run, then those of the packages that import it and whose tests execute the line: their coverage is taken
// once, when it is first needed. -only draws from a part of the product; -budget 1ns leaves out the packages that
// import it. Rows of tools/mutate/equivalents.txt are left out: they have the form of a list, and their sentences say
// why no test can notice. The exit status is 1 where tests find less than 85 % of the rest; a mutation whose tests take
// longer than -limit counts neither way, and the summary says how many did. The same seed draws the same mutations from
// the same code.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
	}
	os.Exit(status)
}

// run returns the exit status: 0 where all mutations are found, 1 where one survives or cannot be tried, 2 where
// nothing was tried.
func run(ctx context.Context, args []string, out io.Writer) (status int, err error) {
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	dir := flags.String("dir", ".", "the `folder` of the module")
	only := flags.String("run", "", "try the rows whose file or sentence matches this `expression`")
	show := flags.Bool("list", false, "print the rows and try none")
	atOnce := flags.Int("p", 2, "how many mutations are tried at the same time")
	since := flags.String("diff", "", "mutate what changed since this `commit`, and not the rows; -run chooses folders")
	draws := flags.Int("random", 0, "draw this `number` of mutations from the whole product, and try no rows; "+
		"-run chooses of these, by FILE:LINE")
	within := flags.String("only", "", "with -random: draw from the files that match this `expression`, as in ^internal/store/")
	seed := flags.Uint64("seed", 0, "draw the same as a run before that printed this `number`; 0 takes a new one")
	short := flags.Bool("short", true, "with -random: leave out what go test -short leaves out")
	budget := flags.Duration("budget", 3*time.Minute, "with -random: how long after its beginning the tests of one more "+
		"package begin for a mutation")
	limit := flags.Duration("limit", 2*time.Minute,
		"how long the tests of one mutation may run; a mutation that makes them hang is found")
	if err := flags.Parse(args); err != nil {
		return 2, err
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return 2, err
	}
	if *since != "" {
		return (&diff{*dir, *since, chosen}).all(ctx, out)
	}
	if *draws > 0 {
		from, err := regexp.Compile(*within)
		if err != nil {
			return 2, err
		}
		l := &lottery{dir: *dir, seed: cmp.Or(*seed, rand.Uint64N(1e6)+1), draws: *draws, from: from, only: chosen,
			limit: *limit, budget: *budget, short: *short, atOnce: *atOnce}
		drawn, err := l.draw(ctx)
		switch {
		case err != nil:
			return 2, err
		case *show:
			l.list(drawn, out)
			return 0, nil
		}
		return l.all(ctx, drawn, out)
	}
	names := flags.Args()
	if len(names) == 0 {
		names, err = filepath.Glob(filepath.Join(*dir, "tools", "mutate", "mutations", "*.txt"))
		if err != nil {
			return 2, err
		}
	}
	rows, err := readLists(names, chosen)
	switch {
	case err != nil:
		return 2, err
	case len(rows) == 0:
		return 2, errors.New("no row matches: -list prints what there is")
	case *show:
		for i := range rows {
			fmt.Fprintf(out, "%s  %s\n", rows[i].file, rows[i].what)
		}
		return 0, nil
	}
	scratch, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return 2, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	t := &trial{dir: *dir, scratch: scratch, limit: *limit, atOnce: max(1, *atOnce)}
	if err := t.unchanged(ctx, rows); err != nil {
		return 2, err
	}
	return t.all(ctx, rows, out)
}
