// Heapdrift finds native memory leaks in what the Windows tools recorded, and remembers them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"heapdrift/internal/apart"
	"heapdrift/worker/task"
)

func main() {
	apart.Main(task.Apart())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}
