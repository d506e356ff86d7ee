// Heapdrift finds native memory leaks in what Windows tools recorded, and remembers them.
//
// In come a subcommand with its flags, variables of the environment that begin with HEAPDRIFT_, and files. Out go a
// server, a worker, or text and files; the exit status tells scripts how it ended. One file holds one subcommand.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"heapdrift/internal/resumer"
)

func main() {
	resumer.Main()
	runTask()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}
