// Command check tests and lints what a change touches. "make check" runs it at the root of the repository:
//
//	go run ./tools/check [-base COMMIT] [-short] [-all] [-list]
//
// The change is what differs from the commit where the branch left main: in commits, in the working tree, and in files
// that git does not know yet. The import graph says what it touches:
//
//   - A file belongs to the package of its folder, or of the nearest folder above it: test data, embedded files, SQL
//     and templ files too. All tests of these packages run, and the linter.
//   - Packages that import one of them run their short tests. A change of test files alone stays in its package.
//   - Packages whose tests read a changed file of another folder run their short tests: those of tools/docs, for one.
//
// The exit status is 1 where a step fails. All steps run, so that one run tells all.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
	}
	os.Exit(status)
}

// run returns the exit status: 0 where all steps pass, 1 where one fails, 2 where the change cannot be told.
func run(ctx context.Context, args []string, out io.Writer) (status int, err error) {
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	dir := flags.String("C", ".", "the `folder` of the module")
	base := flags.String("base", "", "compare with this `commit` instead of the one where the branch left main")
	short := flags.Bool("short", false, "run the short tests of the changed packages, too, instead of all")
	all := flags.Bool("all", false, "run the short tests of everything that reaches a changed package by its imports")
	list := flags.Bool("list", false, "print what would run, and run nothing")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0, nil
	case err != nil:
		return 2, err
	}
	root, err := filepath.Abs(*dir)
	if err != nil {
		return 2, err
	}
	c, err := changeSince(ctx, root, *base)
	if err != nil {
		return 2, err
	}
	g, err := loadGraph(ctx, root)
	if err != nil {
		return 2, err
	}
	t := g.touchedBy(c.files, *all)
	fmt.Fprintf(out, "%d files differ from %s\n", len(c.files), c.base)
	for _, part := range []struct {
		name  string
		parts []string
	}{{"changed", t.changed}, {"importing or reading them", t.importers}, {"modules", t.modules}} {
		if len(part.parts) > 0 {
			fmt.Fprintf(out, "%s: %s\n", part.name, strings.Join(part.parts, " "))
		}
	}
	for _, s := range t.steps(*short) {
		fmt.Fprintf(out, "\n== %s\n", s)
		if *list {
			continue
		}
		if err := s.run(ctx, root, out); err != nil {
			fmt.Fprintf(out, "failed: %v\n", err)
			status = 1
		}
		if ctx.Err() != nil {
			return 2, context.Cause(ctx)
		}
	}
	return status, nil
}
