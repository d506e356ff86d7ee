package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/hdsnap"
	"heapdrift/internal/livesnapshot"
	"heapdrift/internal/record"
	"heapdrift/internal/record/collect"
	"heapdrift/internal/record/target"
)

// heapReader takes snapshots by the program's own reader of heaps. It suspends a process for at most limit, and writes
// labels and the unit of work into its files.
func heapReader(limit time.Duration, labels record.Labels, unit string) collect.TakeSnapshot {
	return func(ctx context.Context, p target.Info, path string, work *float64) (collect.Cost, error) {
		c, cost, err := livesnapshot.Take(ctx, p.PID, livesnapshot.Options{PauseLimit: limit})
		if err != nil {
			return collect.Cost{}, err
		}
		if c.Shape == capture.ShapeFacts {
			return collect.Cost{}, fmt.Errorf("%w of %s, PID %d; record with --evidence umdh or dump", collect.ErrNoHeap,
				p.Image, p.PID)
		}
		run := livesnapshot.Run{Project: labels.Project, Build: labels.Build, Branch: labels.Branch, Commit: labels.Commit,
			Scenario: labels.Scenario, WorkUnit: unit}
		if work != nil {
			run.Work = new(int64(math.Round(*work))) // recording.json has the fraction
		}
		h := cost.Header(&run)
		write := func(w io.Writer) error { return hdsnap.Write(w, h, c) }
		if err := writeOutput(path, nil, write); err != nil {
			return collect.Cost{}, err
		}
		// The recording asks the file for its size.
		out := collect.Cost{Pause: cost.Pause, Took: cost.Total}
		if cost.Unguarded != nil {
			out.Notes = append(out.Notes, unguarded(cost.Unguarded))
		}
		for _, w := range c.Warnings {
			out.Notes = append(out.Notes, w.Message)
		}
		return out, nil
	}
}

// unguarded says that a kill of this program during the pause would have left the process suspended.
func unguarded(why error) string {
	return fmt.Sprintf("nothing would resume the process if heapdrift were killed during the pause: %v", why)
}
