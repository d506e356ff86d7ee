// Command mutate breaks the code in one place at a time and fails where no test notices:
//
//	go run ./tools/mutate [-run REGEXP] [-list] [LIST...]
//	go run ./tools/mutate -diff COMMIT [-run REGEXP]
//
// The places are rows of tools/mutate/mutations/*.txt (list.go says how they are written). Each is tested with `go test
// -overlay`: the work tree is never changed. With -diff, gremlins makes mutations of the lines that changed since a
// commit. The exit status is 1 where a mutation survives or a row no longer fits the code.
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
