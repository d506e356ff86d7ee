package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
)

// sendAtOnce is how many files are on their way at once.
const sendAtOnce = 4

// symbolsAdd sends PDBs and images to a server, a line each in the order in which they were found. What the server has
// is not sent again.
func symbolsAdd(ctx context.Context, args []string, s streams) (int, error) {
	c, err := loadConfig()
	if err != nil {
		return exitUsage, err
	}
	set := flag.NewFlagSet("symbols add", flag.ContinueOnError)
	address := set.String("url", c.serverURL(), "address of the `server` (default $HEAPDRIFT_URL)")
	paths, err := parse(set, args, s)
	if err != nil {
		return exitUsage, err
	}
	if len(paths) == 0 {
		return exitUsage, &usageError{"no files or directories given"}
	}
	server, err := newSymbolServer(*address, rand.Text())
	if err != nil {
		return exitUsage, err
	}
	server.token = c.Token
	files, err := findSymbols(ctx, paths)
	if err != nil {
		return exitInput, err
	}
	sum := symbolSum{out: s.out}
	if err := server.sendAll(ctx, files, sum.add); err != nil {
		return exitInput, err
	}
	return sum.print()
}

// serverURL is the server that commands talk to.
func (c config) serverURL() string {
	if c.URL != "" {
		return c.URL
	}
	return "http://" + browsable(c.Listen)
}

// sendAll sends files, a few at once, and reports what became of each in their order.
func (s *symbolServer) sendAll(ctx context.Context, files []symbolCandidate,
	report func(symbolCandidate, symbolOutcome)) error {
	outcomes := make([]chan symbolOutcome, len(files))
	for i := range outcomes {
		outcomes[i] = make(chan symbolOutcome, 1)
	}
	next := make(chan int, len(files))
	for i := range files {
		next <- i
	}
	close(next)
	for range sendAtOnce {
		go func() {
			for i := range next {
				outcomes[i] <- s.send(ctx, files[i])
			}
		}()
	}
	for i, f := range files {
		select {
		case o := <-outcomes[i]:
			report(f, o)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// A symbolOutcome is what became of one file.
type symbolOutcome struct {
	state string // added, known, refused or failed
	text  string
}

// A symbolSum prints outcomes and counts them.
type symbolSum struct {
	out                           io.Writer
	added, known, refused, failed int
	wrong                         bool // a file that was asked for by its name was refused
}

func (n *symbolSum) add(f symbolCandidate, o symbolOutcome) {
	switch o.state {
	case "added":
		n.added++
	case "known":
		n.known++
	case "refused":
		n.refused++
		n.wrong = n.wrong || f.named
	default:
		n.failed++
	}
	fmt.Fprintf(n.out, "%-8s %s  %s\n", o.state, f.path, o.text)
}

// print prints the counts and returns the exit code. A refused file of a directory is no failure, because nobody named
// it.
func (n *symbolSum) print() (int, error) {
	if _, err := fmt.Fprintf(n.out, "%d added, %d known, %d refused, %d failed\n", n.added, n.known,
		n.refused, n.failed); err != nil {
		return exitInput, fmt.Errorf("write: %w", err)
	}
	if n.failed > 0 || n.wrong {
		return exitInput, nil
	}
	return exitOK, nil
}
