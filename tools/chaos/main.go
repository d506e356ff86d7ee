// Command chaos runs two servers and two workers on PostgreSQL, redis-server and an S3 server, sends them a fixed set
// of evidence while it kills, freezes and starves what it can, and compares every report with that of a calm run:
//
//	go run ./tools/chaos -for 2m [-seed N] [-binary heapdrift] [-old heapdrift-of-the-last-release]
//
// It fails where an upload that was accepted is lost or doubled, where a job has not ended a minute after the storm, or
// where a report differs by a byte. It prints what it does, and keeps the logs of all processes where it fails.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	var o options
	flag.DurationVar(&o.storm, "for", 2*time.Minute, "how long the storm lasts")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "of the evidence's order and of the events")
	flag.StringVar(&o.binary, "binary", "", "heapdrift; it is built when empty")
	flag.StringVar(&o.old, "old", "", "an older heapdrift, which runs the second server and worker until the storm ends")
	flag.IntVar(&o.runs, "runs", 24, "runs that are sent in a row, again and again under new names while the storm lasts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

type options struct {
	storm       time.Duration
	seed        uint64
	binary, old string
	runs        int
	lenient     bool // 500 is tried again; else it ends the storm, for outages answer 503 or 507
}

func run(ctx context.Context, o options) error {
	c, err := newCalm(ctx, o)
	if err != nil {
		return err
	}
	if err := c.endure(ctx, o); err != nil {
		return err
	}
	return c.delete()
}

// A calm is what storms are compared with: the outcome of a round in which nothing goes wrong.
type calm struct {
	dir     string // of the logs
	binary  string
	reports map[string]outcome
}

// newCalm builds heapdrift, where o names none, and takes the outcome of the evidence in a calm round.
func newCalm(ctx context.Context, o options) (*calm, error) {
	dir, err := os.MkdirTemp("", "heapdrift-chaos-*")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // PostgreSQL has an account of its own
		return nil, err
	}
	c := &calm{dir: dir, binary: o.binary}
	if c.binary == "" {
		c.binary = filepath.Join(dir, "heapdrift")
		// Linking takes half of the time without what debuggers read.
		if out, err := exec.CommandContext(ctx, "go", "build", "-ldflags=-w", "-o", c.binary,
			"./cmd/heapdrift").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build: %w\n%s", err, out)
		}
	}
	fmt.Println("logs in", dir)
	c.reports, err = round(ctx, filepath.Join(dir, "calm"), options{binary: c.binary, seed: o.seed, runs: o.runs})
	if err != nil {
		return nil, fmt.Errorf("the calm round: %w", err)
	}
	return c, nil
}

// endure sends the same evidence in a storm, in an order of its own, and deletes the storm's logs where the outcome is
// that of the calm round.
func (c *calm) endure(ctx context.Context, o options) error {
	o.binary = c.binary
	fmt.Println("seed", o.seed)
	dir := filepath.Join(c.dir, fmt.Sprintf("storm-%d", o.seed))
	got, err := round(ctx, dir, o)
	if err != nil {
		return fmt.Errorf("the storm: %w; logs are in %s", err, c.dir)
	}
	if err := compare(c.reports, got, o.old == ""); err != nil {
		return fmt.Errorf("%w; logs are in %s", err, c.dir)
	}
	of := "the reports"
	if o.old != "" { // which writes reports of its own
		of = "the states"
	}
	fmt.Printf("%d runs have %s of the calm round: 0 lost, 0 doubled, 0 stuck\n", len(got), of)
	return os.RemoveAll(dir)
}

// delete deletes the program that newCalm built, and all logs.
func (c *calm) delete() error { return os.RemoveAll(c.dir) }
