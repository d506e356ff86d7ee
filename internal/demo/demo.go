// Package demo loads a demo project: a small service whose builds leak in known ways, as UMDH would have logged it.
// The logs are made here, so everybody sees the same numbers, and what the pages say can be checked against the table
// in process.go.
package demo

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"heapdrift/internal/intake"
	"heapdrift/internal/store"
)

// Project is the demo project's name.
const Project = "shopd"

const scenario = "soak-60min"

// Load uploads the demo evidence through the same door as everybody's, waits for the results and returns the path of
// the report to open. It does nothing where the evidence is there already.
func Load(ctx context.Context, in *intake.Intake, s *store.Store) (path string, err error) {
	var run int64
	for _, build := range builds {
		for k := range snapshots {
			var log bytes.Buffer
			build.write(&log, k)
			e, err := in.Accept(ctx, store.Target{Project: Project, Build: build.name, Branch: "main", Scenario: scenario}, fmt.Sprintf("shopd-%d.log", k+1), &log)
			if err != nil {
				return "", fmt.Errorf("demo: %w", err)
			}
			run = e.RunID
		}
	}
	for {
		r, err := s.RunByID(ctx, run)
		if err != nil {
			return "", fmt.Errorf("demo: %w", err)
		}
		switch r.State() {
		case "ready":
			return fmt.Sprintf("/runs/%d", run), nil
		case "failed":
			return "", fmt.Errorf("demo: the demo evidence was not read: %s", r.Error)
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
