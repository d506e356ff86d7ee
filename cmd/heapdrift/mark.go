package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"heapdrift/internal/record"
)

// mark tells a recording that its program has done work, and returns after the snapshot.
func mark(ctx context.Context, args []string, s streams) (int, error) {
	set := flag.NewFlagSet("mark", flag.ContinueOnError)
	dir := set.String("dir", "", "`folder` of the recording (default: the one that takes marks)")
	wait := set.Duration("wait", 2*time.Minute, "how long to wait for the snapshot")
	rest, err := parse(set, args, s)
	if err != nil {
		return exitUsage, err
	}
	if len(rest) > 1 {
		return exitUsage, &usageError{"takes one number: the work done so far"}
	}
	work, err := record.ParseMark(strings.Join(rest, ""))
	if err != nil {
		return exitUsage, &usageError{err.Error()}
	}
	if *dir == "" {
		if *dir, err = record.FindRecording(); err != nil {
			return exitInput, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, *wait)
	defer cancel()
	recording, err := record.Mark(ctx, *dir, work)
	if err != nil {
		return exitInput, err
	}
	fmt.Fprintf(s.out, "snapshot %d taken\n", len(recording.Snapshots))
	return exitOK, nil
}
